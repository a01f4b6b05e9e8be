//! Semaphores: no permit is lost or duplicated, and the queue is served in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fiber_core::sync::{Notify, Semaphore, TooManyPermits};
use fiber_core::{Fiber, fiber};
use fiber_test::TestScheduler;
use parking_lot::Mutex;

use crate::everywhere::{enumerate, explore, with_a_victim};

/// For each thread and fiber.
const ROUNDS: usize = 1000;

const TICK: Duration = Duration::from_secs(1);

/// The number of permits in use, which may not exceed `most`.
#[derive(Clone)]
struct Inside {
    permits: Arc<AtomicUsize>,
    most: usize,
}

/// Permits in use, until its drop.
struct Use {
    inside: Inside,
    permits: usize,
}

impl Inside {
    fn at_most(most: usize) -> Self {
        Inside { permits: Arc::default(), most }
    }

    /// A fiber that uses permits for two steps.
    fn section(&self, permits: usize) -> Fiber<()> {
        let inside = self.clone();
        let enter = Fiber::lazy(move || {
            let before = inside.permits.fetch_add(permits, Ordering::Relaxed);
            assert!(before + permits <= inside.most, "{} permits are in use", before + permits);
            Use { inside, permits }
        });
        enter.bind(|usage| Fiber::yield_now().map(move |()| drop(usage))).boxed()
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        self.inside.permits.fetch_sub(self.permits, Ordering::Relaxed);
    }
}

/// Three fibers that need the same permits, one of which is cancelled. In the end, all permits are released.
fn contended() -> Fiber<()> {
    let semaphore = Semaphore::new(2);
    let inside = Inside::at_most(2);
    let needs = [1, 2, 1].map(|count| semaphore.with_permits(count, inside.section(count)).boxed());
    with_a_victim(needs.into())
        .map(move |_| {
            assert_eq!(semaphore.available(), 2);
            // The fast path without a queue works again.
            assert!(semaphore.try_acquire(2).is_some());
        })
        .boxed()
}

#[test]
fn no_permit_is_lost_or_doubled_whoever_is_cancelled_when() {
    explore(contended);
}

#[test]
fn no_permit_is_lost_or_doubled_in_any_schedule_of_two_fibers() {
    enumerate(2, || {
        let semaphore = Semaphore::new(1);
        let inside = Inside::at_most(1);
        let both = (0..2).map(|_| semaphore.with_permits(1, inside.section(1)).boxed()).collect();
        with_a_victim(both).map(move |_| assert_eq!(semaphore.available(), 1))
    });
}

#[test]
fn permits_go_to_those_who_asked_first_also_if_others_ask_for_less() {
    let (semaphore, order) = (Semaphore::new(2), Arc::new(Mutex::new(Vec::new())));
    let test = TestScheduler::new();
    let asks = |name: &'static str, count| {
        let order = order.clone();
        let section = Fiber::lazy(move || order.lock().push(name)).bind(|()| Fiber::delay(TICK));
        drop(test.spawn(semaphore.with_permits(count, section)));
        test.run_for(Duration::ZERO);
    };
    asks("one", 1);
    asks("two", 2);
    asks("three", 1);
    assert_eq!(*order.lock(), ["one"], "a permit is free, but it is for the second");
    assert!(semaphore.try_acquire(1).is_none(), "a `try_acquire` overtakes no waiter");
    test.run_until_idle();
    assert_eq!(*order.lock(), ["one", "two", "three"]);
}

#[test]
fn the_next_is_served_at_once_when_a_large_request_leaves_the_queue() {
    let (semaphore, test) = (Semaphore::new(2), TestScheduler::new());
    let held = semaphore.try_acquire(1);
    let large = test.spawn(semaphore.acquire(2));
    test.run_for(Duration::ZERO);
    let small = test.spawn(semaphore.acquire(1));
    test.run_for(Duration::ZERO);
    assert!(small.is_pending());
    large.cancel_now();
    test.run_until_idle();
    assert!(!small.is_pending());
    drop(held);
}

#[test]
fn a_request_for_more_than_there_are_fails() {
    let semaphore = Semaphore::new(2);
    let error = fiber_sched::run(semaphore.acquire(3)).failure().unwrap();
    assert_eq!(error.downcast_ref::<TooManyPermits>().map(|error| (error.asked, error.total)), Some((3, 2)));
    assert_eq!(error.to_string(), "3 permits were asked for, but the semaphore has only 2");
}

#[test]
fn a_side_that_asks_for_more_than_there_are_fails_also_if_another_side_holds_the_race() {
    enumerate(2, || {
        let (semaphore, notify) = (Semaphore::new(2), Notify::new());
        let program = notify.wait().bind(|()| Fiber::<()>::never());
        let race = program.race(semaphore.acquire(3)).attempt();
        race.zip(Fiber::lazy(move || notify.notify_one())).map(move |(race, ())| {
            assert!(race.is_err_and(|error| error.is::<TooManyPermits>()));
            assert!(semaphore.try_acquire(2).is_some());
        })
    });
}

#[test]
fn forks_hold_the_permits_of_the_fiber_that_forks_them() {
    let (semaphore, test) = (Semaphore::new(1), TestScheduler::new());
    let section = Fiber::delay(2 * TICK).detach().map(drop);
    let handle = test.spawn(semaphore.with_permits(1, section));
    test.run_for(TICK);
    assert!(!handle.is_pending());
    assert_eq!(semaphore.available(), 0);
    test.run_until_idle();
    assert_eq!(semaphore.available(), 1);
}

#[test]
fn a_blocking_closure_holds_the_permits_until_it_has_really_ended() {
    let semaphore = Semaphore::new(1);
    let (begun, has_begun) = std::sync::mpsc::channel();
    let (end, may_end) = std::sync::mpsc::channel::<()>();
    let closure = Fiber::blocking(move || {
        begun.send(()).unwrap();
        may_end.recv().unwrap();
    });
    let pool = fiber_sched::Pool::new();
    let handle = pool.spawn(semaphore.with_permits(1, closure));
    has_begun.recv().unwrap();
    handle.cancel_now();
    assert!(pool.run(handle.outcome()).unwrap().is_cancelled());
    assert_eq!(semaphore.available(), 0, "the fiber has ended, but not its closure");
    end.send(()).unwrap();
    assert!(semaphore.blocking_acquire(1).is_ok());
}

#[test]
fn a_blocking_closure_that_never_begins_holds_nothing() {
    let (semaphore, test) = (Semaphore::new(1), TestScheduler::new());
    let both = test.spawn(semaphore.with_permits(1, Fiber::blocking(|| ())).race(Fiber::success(())));
    test.run_until_idle();
    assert!(!both.is_pending());
    assert_eq!(semaphore.available(), 1);
}

#[test]
fn a_fiber_whose_scheduler_forgets_it_passes_its_permits_on() {
    let (semaphore, test) = (Semaphore::new(1), TestScheduler::new());
    let permit = semaphore.try_acquire(1).unwrap();
    {
        let dropped = TestScheduler::new();
        drop(dropped.spawn(semaphore.acquire(1)));
        dropped.run_for(Duration::ZERO);
    }
    let next = test.spawn(semaphore.acquire(1));
    test.run_for(Duration::ZERO);
    drop(permit);
    test.run_until_idle();
    assert!(!next.is_pending());
}

#[test]
fn threads_and_fibers_wait_in_one_queue() {
    let semaphore = Semaphore::new(3);
    let used = Arc::new(AtomicUsize::new(0));
    let pool = fiber_sched::Pool::new();
    std::thread::scope(|scope| {
        for count in [1, 2] {
            scope.spawn({
                let (semaphore, used) = (&semaphore, &used);
                move || {
                    for _ in 0..ROUNDS {
                        let permit = semaphore.blocking_acquire(count).unwrap();
                        assert!(used.fetch_add(permit.count(), Ordering::Relaxed) + count <= 3);
                        used.fetch_sub(count, Ordering::Relaxed);
                    }
                }
            });
        }
        let fibers: Vec<_> = (0..4)
            .map(|n| {
                let (semaphore, used) = (semaphore.clone(), used.clone());
                Fiber::for_each(0..ROUNDS, move |_| {
                    let (semaphore, used) = (semaphore.clone(), used.clone());
                    fiber! {
                        let! permit = semaphore.acquire(1 + n % 3);
                        let before = used.fetch_add(permit.count(), Ordering::Relaxed);
                        assert!(before + permit.count() <= 3);
                        do! Fiber::yield_now();
                        used.fetch_sub(permit.count(), Ordering::Relaxed);
                    }
                })
            })
            .collect();
        assert!(pool.run(Fiber::parallel(fibers)).is_success());
    });
    assert_eq!(semaphore.available(), 3);
}
