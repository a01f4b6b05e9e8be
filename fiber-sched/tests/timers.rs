//! The real clock: a few tests that really wait.

use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use fiber_core::Fiber;
use fiber_sched::{CurrentThread, Pool, block_on};

const LONG: Duration = Duration::from_secs(3600);

#[test]
fn a_delay_is_never_early() {
    let pool = Pool::builder().workers(2).build();
    let here = CurrentThread::new();
    for micros in [0, 1, 50, 999, 1_000, 3_210] {
        let duration = Duration::from_micros(micros);
        for run in [&|fiber| pool.run(fiber), &|fiber| here.run(fiber)] as [&dyn Fn(Fiber<()>) -> _; 2] {
            let start = Instant::now();
            assert!(run(Fiber::delay(duration).boxed()).is_success());
            assert!(start.elapsed() >= duration);
        }
    }
}

#[test]
fn a_thousand_delays_are_never_early() {
    let pool = Pool::builder().workers(2).build();
    let delays = (0..1_000u64).map(|n| {
        let duration = Duration::from_micros(n * 7919 % 20_000);
        let timed = move |start| {
            Fiber::delay(duration).bind(move |()| Fiber::now().map(move |end| end - start >= duration))
        };
        Fiber::now().bind(timed)
    });
    assert!(pool.run(Fiber::parallel(delays)).unwrap().into_iter().all(|is_late_enough| is_late_enough));
}

#[test]
fn timers_fire_in_the_order_of_their_time() {
    let pool = Pool::builder().workers(1).build();
    let order = Arc::new(Mutex::new(Vec::new()));
    let handles: Vec<_> = [40u64, 10, 60, 20]
        .map(|millis| {
            let order = order.clone();
            let push = move |()| order.lock().unwrap().push(millis);
            pool.spawn(Fiber::delay(Duration::from_millis(millis)).map(push))
        })
        .into();
    handles.into_iter().for_each(|handle| assert!(block_on(handle).is_success()));
    assert_eq!(*order.lock().unwrap(), [10, 20, 40, 60]);
}

#[test]
fn an_earlier_timer_wakes_the_thread_that_sleeps_for_a_later_one() {
    let pool = Pool::builder().workers(1).build();
    let later = pool.spawn(Fiber::delay(LONG));
    let start = Instant::now();
    assert!(pool.run(Fiber::delay(Duration::from_millis(1))).is_success());
    assert!(start.elapsed() < LONG / 2);
    later.cancel_now();
    assert!(block_on(later).is_cancelled());
}

#[test]
fn the_cancel_of_a_long_timer_ends_at_once_and_drops_what_it_held() {
    let pool = Pool::builder().workers(1).build();
    let held = Arc::new(());
    let value = held.clone();
    let (sender, receiver) = mpsc::channel();
    let sleep = Fiber::lazy(move || sender.send(()).unwrap())
        .bind(move |()| Fiber::delay(LONG).map(move |()| drop(value)));
    let handle = pool.spawn(sleep);
    receiver.recv().unwrap();
    let start = Instant::now();
    assert!(
        pool.run(Fiber::yield_now().bind(move |()| handle.cancel().bind(move |()| handle.outcome())))
            .unwrap()
            .is_cancelled()
    );
    assert!(start.elapsed() < LONG / 2);
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn a_cancelled_timer_is_gone_and_a_fired_one_cannot_be_cancelled() {
    // The loser's timer is cancelled with it; the winner's has fired.
    let pool = Pool::builder().workers(2).build();
    for _ in 0..200 {
        let race = Fiber::delay(Duration::from_micros(50)).race(Fiber::delay(LONG));
        assert!(pool.run(race).is_success());
    }
}

#[test]
fn a_delay_beyond_all_time_waits() {
    let pool = Pool::builder().workers(1).build();
    let handle = pool.spawn(Fiber::delay(Duration::MAX));
    assert!(pool.run(Fiber::delay(Duration::from_millis(1))).is_success());
    assert!(!handle.is_finished());
}

#[test]
fn a_timeout_of_something_that_waits_is_over_in_time() {
    let here = CurrentThread::new();
    let start = Instant::now();
    assert!(here.run(Fiber::<()>::never().timeout(Duration::from_millis(2))).is_failure());
    assert!(start.elapsed() >= Duration::from_millis(2));
}
