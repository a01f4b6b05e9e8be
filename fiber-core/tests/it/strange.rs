//! Descriptions and futures that keep no rule: their fibers end somehow, and no others.

use std::future::poll_fn;
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use fiber_core::scheduler::{Cx, Step};
use fiber_core::{Error, Fiber, Run};
use fiber_sched::Pool;
use fiber_test::TestScheduler;

const TICK: Duration = Duration::from_micros(100);

/// Waits twice at the same time.
struct Twice;

impl Run for Twice {
    type Out = ();

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, ()> {
        let _ = Fiber::delay(TICK).into_run().run(cx);
        Fiber::delay(TICK).into_run().run(cx)
    }
}

#[test]
fn a_description_that_waits_twice_at_the_same_time_ends_its_fiber() {
    let test = TestScheduler::new();
    let (outcome, other) = (test.spawn(Fiber::new(Twice)), test.spawn(Fiber::delay(TICK)));
    test.run_until_idle();
    assert!(!outcome.outcome().is_success());
    assert!(other.outcome().is_success());

    let pool = Pool::builder().workers(2).build();
    for _ in 0..1000 {
        let strange = pool.spawn(Fiber::new(Twice));
        assert!(pool.run(Fiber::delay(TICK)).is_success());
        assert!(!fiber_sched::block_on(strange).is_success());
    }
}

#[test]
fn a_waker_that_is_borrowed_from_a_poll_works_on_other_threads() {
    let pool = Pool::builder().workers(1).build();
    for _ in 0..100 {
        let mut polls = 0;
        let future = poll_fn(move |task| {
            polls += 1;
            let waker = task.waker();
            thread::scope(|threads| {
                threads.spawn(|| waker.wake_by_ref());
                threads.spawn(|| [waker.clone(), waker.clone()].into_iter().for_each(Waker::wake));
                waker.wake_by_ref();
            });
            if polls < 3 { Poll::Pending } else { Poll::Ready(Ok::<_, Error>(polls)) }
        });
        assert_eq!(pool.run(Fiber::from_future(future)).unwrap(), 3);
    }
}
