//! Mutexes: one holder at a time, in the order of requests, until the fiber that holds it has ended.
#![allow(clippy::disallowed_methods, reason = "foreign threads are what is tested")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use fiber_core::sync::{Mutex, RwLock, Semaphore, Watch};
use fiber_core::{Error, Fiber, Resource, fiber};
use fiber_sched::Pool;
use fiber_test::TestScheduler;

use crate::everywhere::{enumerate, explore, forget_after, run_with_an_event_between, with_a_victim};

/// For each thread and fiber.
const ROUNDS: usize = 1000;

const TICK: Duration = Duration::from_secs(1);

/// A counter behind a mutex. No other holder changes it between the two steps of one, and it counts every holder that
/// completes.
#[derive(Clone)]
struct Counter {
    mutex: Mutex<usize>,
    ends: Arc<AtomicUsize>,
}

impl Counter {
    fn new() -> Self {
        Counter { mutex: Mutex::new(0), ends: Arc::default() }
    }

    fn count(&self) -> Fiber<()> {
        let ends = self.ends.clone();
        self.mutex
            .with(move |mut guard| {
                let before = *guard;
                Fiber::yield_now().map(move |()| {
                    assert_eq!(*guard, before, "another thread or fiber has the lock");
                    *guard += 1;
                    ends.fetch_add(1, Ordering::Relaxed);
                })
            })
            .boxed()
    }

    /// The same with a guard alone.
    fn count_by_guard(&self) -> Fiber<()> {
        let ends = self.ends.clone();
        let lock = self.mutex.lock();
        fiber! {
            let! mut guard = lock;
            let before = *guard;
            do! Fiber::yield_now();
            assert_eq!(*guard, before, "another thread or fiber has the lock");
            *guard += 1;
            ends.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn check(&self) {
        assert!(!self.mutex.is_locked());
        // The fast path without a queue works again.
        let count = *self.mutex.try_lock().expect("the lock is free");
        assert_eq!(count, self.ends.load(Ordering::Relaxed));
    }
}

#[test]
fn the_lock_is_with_one_at_a_time_and_never_lost_whoever_is_cancelled_when() {
    explore(|| {
        let counter = Counter::new();
        let all = vec![counter.count(), counter.count_by_guard(), counter.count()];
        with_a_victim(all).map(move |_| counter.check())
    });
}

#[test]
fn the_lock_is_never_lost_in_any_schedule_of_two_fibers() {
    enumerate(2, || {
        let counter = Counter::new();
        with_a_victim(vec![counter.count(), counter.count_by_guard()]).map(move |_| counter.check())
    });
}

#[test]
fn the_lock_goes_to_those_who_asked_first() {
    let (mutex, test) = (Mutex::new(Vec::new()), TestScheduler::new());
    for n in 0..5 {
        let push = mutex.with(move |mut order| Fiber::delay(TICK).map(move |()| order.push(n)));
        drop(test.spawn(push));
        test.run_for(Duration::ZERO);
    }
    assert!(mutex.try_lock().is_none());
    test.run_until_idle();
    assert_eq!(*mutex.try_lock().unwrap(), [0, 1, 2, 3, 4]);
}

#[test]
fn nobody_gets_ahead_of_those_who_wait_although_the_lock_is_free() {
    let (mutex, test) = (Mutex::new(()), TestScheduler::new());
    let guard = mutex.try_lock();
    let waiter = test.spawn(mutex.lock());
    test.run_for(Duration::ZERO);
    drop(guard);
    assert!(mutex.try_lock().is_none(), "the lock is on its way to the waiter");
    test.run_until_idle();
    drop(waiter.outcome());
    assert!(mutex.try_lock().is_some());
}

#[test]
fn a_waiter_that_is_cancelled_passes_the_lock_on() {
    let (mutex, test) = (Mutex::new(()), TestScheduler::new());
    let guard = mutex.try_lock();
    let first = test.spawn(mutex.lock());
    test.run_for(Duration::ZERO);
    let second = test.spawn(mutex.lock());
    test.run_for(Duration::ZERO);
    first.cancel_now();
    drop(guard);
    test.run_until_idle();
    assert!(first.outcome().is_cancelled());
    assert!(second.outcome().is_success());
}

#[test]
fn with_holds_the_lock_until_the_fiber_has_ended_with_its_finalizers() {
    let (mutex, test) = (Mutex::new(()), TestScheduler::new());
    let held = mutex.with(|guard| {
        drop(guard);
        Fiber::delay(TICK).ensure(Fiber::delay(TICK))
    });
    let handle = test.spawn(held);
    test.run_for(Duration::ZERO);
    assert!(mutex.is_locked(), "the guard is gone, but not the fiber");
    handle.cancel_now();
    test.run_for(TICK / 2);
    assert!(mutex.is_locked(), "its finalizer runs");
    test.run_until_idle();
    assert!(handle.outcome().is_cancelled());
    assert!(!mutex.is_locked());
}

#[test]
fn with_holds_the_lock_until_the_guard_is_gone_if_that_outlives_the_fiber() {
    let mutex = Mutex::new(7);
    let guard = TestScheduler::new().run(mutex.with(Fiber::success)).unwrap();
    assert!(mutex.is_locked());
    assert_eq!(*guard, 7);
    drop(guard);
    assert!(!mutex.is_locked());
    // Both halves are there again.
    drop(TestScheduler::new().run(mutex.with(Fiber::success)).unwrap());
    assert!(!mutex.is_locked());
}

#[test]
fn with_releases_the_lock_of_a_fiber_that_never_starts() {
    let (mutex, test) = (Mutex::new(()), TestScheduler::new());
    let guard = mutex.try_lock();
    let waits = test.spawn(mutex.with(|_guard| Fiber::<()>::never()));
    test.run_for(Duration::ZERO);
    waits.cancel_now();
    drop(guard);
    test.run_until_idle();
    assert!(!mutex.is_locked());
}

#[test]
fn a_blocking_closure_holds_the_lock_until_it_has_really_ended() {
    let mutex = Mutex::new(0);
    let (begun, has_begun) = std::sync::mpsc::channel();
    let (end, may_end) = std::sync::mpsc::channel::<()>();
    let closure = mutex.with(move |mut guard| {
        Fiber::blocking(move || {
            begun.send(()).unwrap();
            may_end.recv().unwrap();
            *guard += 1;
        })
    });
    let pool = Pool::new();
    let handle = pool.spawn(closure);
    has_begun.recv().unwrap();
    handle.cancel_now();
    assert!(pool.run(handle.outcome()).unwrap().is_cancelled());
    assert!(mutex.try_lock().is_none(), "the fiber has ended, but not its closure");
    end.send(()).unwrap();
    assert_eq!(*mutex.blocking_lock(), 1);
}

/// Locks, and panics in one of several ways.
fn panics(mutex: &Mutex<u8>, how: &str) -> Fiber<()> {
    match how {
        "with a guard" => mutex.lock().map(|_guard| panic!("on purpose")).boxed(),
        "in a fiber that is held for" => mutex.with(|_guard| Fiber::lazy(|| panic!("on purpose"))).boxed(),
        "after the guard is gone" => mutex
            .with(|guard| {
                drop(guard);
                Fiber::lazy(|| panic!("on purpose"))
            })
            .boxed(),
        "while the fiber is made" => mutex.with(|_guard| -> Fiber<()> { panic!("on purpose") }).boxed(),
        "before the fiber goes on" => mutex
            .with(|guard| {
                Fiber::lazy(move || {
                    let _guard = guard;
                    panic!("on purpose")
                })
                .catch_panic(|_| Fiber::delay(TICK))
            })
            .boxed(),
        _ => unreachable!(),
    }
}

#[test]
fn the_next_holder_is_told_about_a_panic_and_the_one_after_that_is_not() {
    std::panic::set_hook(Box::new(|_| {}));
    let ways = [
        "with a guard",
        "in a fiber that is held for",
        "after the guard is gone",
        "while the fiber is made",
        "before the fiber goes on",
    ];
    for how in ways {
        let (mutex, test) = (Mutex::new(1), TestScheduler::new());
        assert!(!mutex.try_lock().unwrap().previous_holder_panicked());
        drop(test.run(panics(&mutex, how)));
        let next = mutex.try_lock().expect("the lock is free");
        assert!(next.previous_holder_panicked(), "{how}");
        assert!(next.previous_holder_panicked(), "the answer stays");
        drop(next);
        assert!(!mutex.try_lock().unwrap().previous_holder_panicked(), "{how}");
    }
}

#[test]
fn a_failure_or_a_cancellation_is_no_panic() {
    let (mutex, test) = (Mutex::new(1), TestScheduler::new());
    drop(test.run(mutex.with(|_guard| Fiber::<()>::fail(Error::msg("no")))));
    assert!(!mutex.try_lock().unwrap().previous_holder_panicked());
    let handle = test.spawn(mutex.with(|_guard| Fiber::<()>::never()));
    test.run_until_idle();
    handle.cancel_now();
    test.run_until_idle();
    assert!(!mutex.try_lock().unwrap().previous_holder_panicked());
}

#[test]
fn a_fiber_whose_scheduler_forgets_it_passes_the_lock_on() {
    let mutex = Mutex::new(());
    let guard = mutex.try_lock();
    forget_after(mutex.lock(), || ());
    forget_after(mutex.with(|_guard| Fiber::success(())), || drop(guard));
    assert!(!mutex.is_locked());
    forget_after(mutex.with(|_guard| Fiber::<()>::never()), || assert!(mutex.is_locked()));
    assert!(!mutex.is_locked(), "a holder that is forgotten releases the lock");
    assert!(!mutex.try_lock().unwrap().previous_holder_panicked());
}

#[test]
fn a_description_can_run_many_times() {
    let mutex = Mutex::new(0);
    let add = mutex.lock().map(|mut guard| *guard += 1);
    let test = TestScheduler::new();
    for _ in 0..3 {
        assert!(test.run(add.clone()).is_success());
    }
    assert_eq!(*mutex.try_lock().unwrap(), 3);
}

#[test]
fn the_value_is_dropped_with_the_last_handle_or_guard() {
    let (value, mutex) = (Arc::new(()), Mutex::new(None));
    *mutex.try_lock().unwrap() = Some(value.clone());
    let guard = mutex.try_lock();
    drop(mutex);
    assert_eq!(Arc::strong_count(&value), 2);
    drop(guard);
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn the_wait_for_a_resource_can_be_cancelled_and_what_was_acquired_before_is_released() {
    let (mutex, semaphore, test) = (Mutex::new(()), Semaphore::new(1), TestScheduler::new());
    let guard = mutex.try_lock();
    let released = Arc::new(AtomicBool::new(false));
    let first = Resource::new(Fiber::success(released.clone()), |released| {
        Fiber::lazy(move || released.store(true, Ordering::Relaxed))
    });
    let all = first.zip(semaphore.acquire_resource(1)).zip(mutex.lock_resource());
    let handle = test.spawn(all.using(|_| Fiber::success(())));
    test.run_for(Duration::ZERO);
    assert_eq!(semaphore.available(), 0);
    handle.cancel_now();
    test.run_until_idle();
    assert!(handle.outcome().is_cancelled(), "although the lock is still held");
    assert!(released.load(Ordering::Relaxed));
    assert_eq!(semaphore.available(), 1);
    drop(guard);
    assert!(!mutex.is_locked());
}

#[test]
fn a_resource_in_an_uncancelable_region_is_waited_for() {
    let (mutex, test) = (Mutex::new(()), TestScheduler::new());
    let guard = mutex.try_lock();
    let handle = test.spawn(mutex.lock_resource().using(|_| Fiber::success(())).uncancelable());
    test.run_for(Duration::ZERO);
    handle.cancel_now();
    test.run_for(TICK);
    assert!(handle.is_pending());
    drop(guard);
    test.run_until_idle();
    assert!(handle.outcome().is_success());
}

#[test]
fn a_resource_is_never_lost_whoever_is_cancelled_when() {
    explore(|| {
        let counter = Counter::new();
        let by_resource = |counter: &Counter| {
            let ends = counter.ends.clone();
            counter.mutex.lock_resource().using(move |mut guard| {
                let before = *guard;
                Fiber::yield_now().map(move |()| {
                    assert_eq!(*guard, before);
                    *guard += 1;
                    ends.fetch_add(1, Ordering::Relaxed);
                })
            })
        };
        let all = vec![by_resource(&counter), counter.count(), by_resource(&counter)];
        with_a_victim(all).map(move |_| counter.check())
    });
}

#[test]
fn threads_and_fibers_wait_in_one_queue() {
    let counter = Counter::new();
    let pool = Pool::builder().workers(2).build();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    *counter.mutex.blocking_lock() += 1;
                    counter.ends.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let fibers: Vec<_> = (0..4)
            .map(|n| {
                let counter = counter.clone();
                Fiber::for_each(0..ROUNDS, move |round| match (n + round) % 2 {
                    0 => counter.count(),
                    _ => counter.count_by_guard(),
                })
            })
            .collect();
        assert!(pool.run(Fiber::parallel(fibers)).is_success());
    });
    assert_eq!(counter.ends.load(Ordering::Relaxed), 6 * ROUNDS);
    counter.check();
}

#[test]
fn a_lock_that_is_released_while_a_fiber_begins_to_wait_is_not_missed() {
    let mutex = Mutex::new(());
    let guard = mutex.try_lock();
    assert!(run_with_an_event_between(mutex.lock(), move || drop(guard)).is_success());
    assert!(!mutex.is_locked());
}

#[test]
fn by_default_locks_and_settings_have_the_default_of_their_value() {
    #[derive(Default)]
    struct Service {
        names: Mutex<Vec<String>>,
        total: RwLock<u32>,
        level: Watch<Option<u8>>,
    }
    let service = Service::default();
    assert!(service.names.try_lock().unwrap().is_empty());
    assert_eq!(*service.total.try_read().unwrap(), 0);
    assert_eq!(service.level.get(), None);
}
