//! Rate limiters: never too many operations in a period, in order, and no token is lost.

use std::time::Duration;

use fiber_core::sync::RateLimiter;
use fiber_core::{Fiber, Instant, fiber};
use fiber_sched::Pool;
use fiber_test::TestScheduler;
use proptest::prelude::*;

use crate::everywhere::{explore, with_a_victim};

const SECOND: Duration = Duration::from_secs(1);

proptest! {
    #[test]
    fn each_begins_when_a_bucket_that_is_counted_out_has_a_token_and_not_later(
        operations in 1..5_u32,
        gaps in prop::collection::vec(0..1500_u64, 1..40),
    ) {
        let limiter = RateLimiter::new(operations, SECOND);
        let asks = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) });
        let asks: Vec<Instant> = asks.map(|at| Instant::EPOCH + Duration::from_millis(at)).collect();
        let fibers = asks.clone().into_iter().map(move |at| {
            let limiter = limiter.clone();
            Fiber::until(at).bind(move |()| limiter.limited(Fiber::now()))
        });
        let begun = TestScheduler::new().run(Fiber::parallel(fibers)).unwrap();
        let interval = SECOND / operations;
        // The model: a bucket that is updated step by step.
        let (mut tokens, mut counted_at) = (f64::from(operations), Instant::EPOCH);
        for (asked, begun) in asks.into_iter().zip(begun) {
            prop_assert!(begun >= asked);
            let came = (begun - counted_at).as_secs_f64() / interval.as_secs_f64();
            tokens = (tokens + came).min(f64::from(operations));
            counted_at = begun;
            prop_assert!(tokens > 0.999, "it began without a token");
            let had_to_wait = begun > asked;
            prop_assert!(!had_to_wait || tokens < 1.001, "it waited longer than it had to");
            tokens -= 1.0;
        }
    }
}

#[test]
fn one_who_is_cancelled_while_it_waits_takes_no_token() {
    explore(|| {
        let limiter = RateLimiter::new(1, SECOND);
        let asks = (0..3).map(|_| limiter.limited(Fiber::now()).boxed()).collect();
        let began = Fiber::now();
        began.bind(move |start| {
            with_a_victim(asks).map(move |outcomes| {
                let mut begun: Vec<Instant> =
                    outcomes.into_iter().filter_map(|outcome| outcome.success()).collect();
                begun.sort();
                for (n, at) in begun.iter().enumerate() {
                    // A fiber that was cancelled after it got its token has used it.
                    assert!(*at == start + n as u32 * SECOND || *at == start + (n as u32 + 1) * SECOND);
                }
            })
        })
    });
}

#[test]
fn those_who_ask_first_begin_first() {
    let limiter = RateLimiter::new(1, SECOND);
    let test = TestScheduler::new();
    let numbers = std::sync::Arc::new(parking_lot::Mutex::new(Vec::new()));
    let asks = (0..5).map(|n| {
        let numbers = numbers.clone();
        limiter.limited(Fiber::lazy(move || numbers.lock().push(n)))
    });
    assert!(test.run(Fiber::parallel(asks.collect::<Vec<_>>())).is_success());
    assert_eq!(*numbers.lock(), [0, 1, 2, 3, 4]);
    assert_eq!(test.now().as_nanos(), 4_000_000_000);
}

#[test]
fn attempts_at_the_same_time_do_not_turn_each_other_away() {
    const EACH: u32 = 20_000;
    let limiter = RateLimiter::new(2 * EACH, Duration::from_secs(1_000_000));
    let attempts = move |_| {
        let limiter = limiter.clone();
        fiber! {
            let mut begun = 0;
            for _ in 0..EACH {
                let! may = limiter.try_acquire();
                begun += u32::from(may);
            }
            begun
        }
    };
    let pool = Pool::builder().workers(2).build();
    let begun = pool.run(Fiber::parallel((0..2).map(attempts))).unwrap();
    assert_eq!(begun, [EACH, EACH]);
}

#[test]
fn a_period_that_no_clock_can_tell_limits_all_the_same() {
    let (limiter, test) = (RateLimiter::new(1, Duration::MAX), TestScheduler::new());
    assert!(test.run(limiter.try_acquire()).unwrap());
    assert!(!test.run(limiter.try_acquire()).unwrap());
}

#[test]
fn an_attempt_does_not_wait_and_does_not_get_ahead() {
    let (limiter, test) = (RateLimiter::new(1, SECOND), TestScheduler::new());
    assert!(test.run(limiter.try_acquire()).unwrap());
    assert!(!test.run(limiter.try_acquire()).unwrap());
    let waits = test.spawn(limiter.acquire());
    test.run_for(SECOND / 2);
    assert!(!test.run(limiter.try_acquire()).unwrap(), "one waits");
    test.run_until_idle();
    assert!(waits.outcome().is_success());
}

#[test]
fn one_who_wakes_late_has_not_begun_before() {
    let test = TestScheduler::new().virtual_cpus(1);
    let limiter = RateLimiter::new(1, Duration::from_millis(100));
    let asks = Fiber::parallel((0..4).map(move |_| limiter.limited(Fiber::now())));
    // The only processor computes until 170 ms, so whoever may begin at 100 ms begins then.
    let computes =
        Fiber::delay(Duration::from_millis(90)).bind(|()| fiber_test::compute(Duration::from_millis(80)));
    let (begun, ()) = test.run(asks.zip(computes)).unwrap();
    let millis: Vec<u64> = begun.iter().map(|at| at.as_nanos() / 1_000_000).collect();
    assert_eq!(millis, [0, 170, 270, 370]);
}
