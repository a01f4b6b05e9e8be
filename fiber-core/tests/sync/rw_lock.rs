//! Locks for readers and writers: many readers or one writer, in the order of requests.
#![allow(clippy::disallowed_methods, reason = "foreign threads are what is tested")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fiber_core::Fiber;
use fiber_core::sync::RwLock;
use fiber_sched::Pool;
use fiber_test::TestScheduler;
use parking_lot::Mutex;
use proptest::prelude::*;

use crate::everywhere::{enumerate, explore, forget_after, with_a_victim};

/// For each thread and fiber.
const ROUNDS: usize = 1000;

const TICK: Duration = Duration::from_secs(1);

/// Two numbers that are equal except during a write.
#[derive(Clone)]
struct Pair {
    lock: RwLock<(usize, usize)>,
    ends: Arc<AtomicUsize>,
}

impl Pair {
    fn new() -> Self {
        Pair { lock: RwLock::new((0, 0)), ends: Arc::default() }
    }

    fn write(&self) -> Fiber<()> {
        let ends = self.ends.clone();
        let write = self.lock.with_write(move |mut pair| {
            let torn = Fiber::lazy(move || {
                pair.0 += 1;
                pair
            });
            let whole = torn.bind(|mut pair| Fiber::yield_now().map(move |()| pair.1 += 1));
            // Either both steps or none.
            whole.uncancelable().map(move |()| {
                ends.fetch_add(1, Ordering::Relaxed);
            })
        });
        write.boxed()
    }

    fn read(&self) -> Fiber<()> {
        self.lock
            .with_read(|pair| {
                let before = *pair;
                Fiber::yield_now().map(move |()| {
                    assert_eq!(pair.0, pair.1, "a write is in progress");
                    assert_eq!(*pair, before, "a write has happened");
                })
            })
            .boxed()
    }

    fn check(&self) {
        let pair = *self.lock.try_write().expect("the lock is free");
        assert_eq!(pair.0, pair.1);
    }
}

#[test]
fn a_writer_is_alone_and_the_lock_is_never_lost_whoever_is_cancelled_when() {
    explore(|| {
        let pair = Pair::new();
        let all = vec![pair.read(), pair.write(), pair.read(), pair.write()];
        with_a_victim(all).map(move |_| pair.check())
    });
}

#[test]
fn the_lock_is_never_lost_in_any_schedule_of_two_fibers() {
    enumerate(2, || {
        let pair = Pair::new();
        with_a_victim(vec![pair.read(), pair.write()]).map(move |_| pair.check())
    });
}

/// Spawns a reader or writer that holds the lock for a second, and records when it begins.
fn spawn(test: &TestScheduler, lock: &RwLock<()>, begins: &Arc<Mutex<Vec<(char, u64)>>>, who: char) {
    let begins = begins.clone();
    let section = Fiber::now()
        .map(move |now| begins.lock().push((who, now.as_nanos() / 1_000_000_000)))
        .bind(|()| Fiber::delay(TICK));
    if who.is_uppercase() {
        drop(test.spawn(lock.with_write(|_| section)));
    } else {
        drop(test.spawn(lock.with_read(|_| section)));
    }
    test.run_for(Duration::ZERO);
}

/// When each of the fibers begins to hold the lock, in seconds: capital letters write.
fn begins(who: &str) -> Vec<(char, u64)> {
    let (lock, test, begins) = (RwLock::new(()), TestScheduler::new(), Arc::default());
    who.chars().for_each(|who| spawn(&test, &lock, &begins, who));
    test.run_until_idle();
    std::mem::take(&mut *begins.lock())
}

#[test]
fn readers_are_together_and_a_writer_is_served_before_readers_who_came_later() {
    assert_eq!(begins("abWcd"), [('a', 0), ('b', 0), ('W', 1), ('c', 2), ('d', 2)]);
    assert_eq!(begins("VaWb"), [('V', 0), ('a', 1), ('W', 2), ('b', 3)]);
}

proptest! {
    #[test]
    fn the_lock_goes_to_those_who_asked_first(who in "[a-zA-Z]{1,12}") {
        let mut expected = Vec::new();
        let mut before = None;
        let mut at = 0;
        for who in who.chars() {
            if before.is_some_and(|before: char| before.is_uppercase() || who.is_uppercase()) {
                at += 1;
            }
            expected.push((who, at));
            before = Some(who);
        }
        prop_assert_eq!(begins(&who), expected);
    }
}

#[test]
fn readers_behind_a_writer_that_is_cancelled_are_served_at_once() {
    let (lock, test) = (RwLock::new(()), TestScheduler::new());
    let reader = lock.try_read();
    let writer = test.spawn(lock.write());
    test.run_for(Duration::ZERO);
    let behind = test.spawn(lock.read());
    test.run_for(Duration::ZERO);
    assert!(behind.is_pending());
    assert!(lock.try_read().is_none(), "no reader overtakes the writer");
    writer.cancel_now();
    test.run_until_idle();
    assert!(behind.outcome().is_success());
    drop(reader);
}

#[test]
fn with_read_and_with_write_hold_the_lock_until_the_fiber_has_ended() {
    let (lock, test) = (RwLock::new(1), TestScheduler::new());
    let reads = test.spawn(lock.with_read(|guard| {
        drop(guard);
        Fiber::delay(TICK)
    }));
    test.run_for(Duration::ZERO);
    assert!(lock.try_write().is_none() && lock.try_read().is_some());
    let writes = test.spawn(lock.with_write(|guard| {
        drop(guard);
        Fiber::delay(TICK)
    }));
    test.run_for(TICK);
    assert!(lock.try_read().is_none(), "the guard is gone, but not the fiber");
    test.run_until_idle();
    assert!(reads.outcome().is_success() && writes.outcome().is_success());
    assert!(lock.try_write().is_some());
}

#[test]
fn a_guard_that_outlives_its_fiber_holds_the_lock() {
    let (lock, test) = (RwLock::new(1), TestScheduler::new());
    let read = test.run(lock.with_read(Fiber::success)).unwrap();
    assert!(lock.try_write().is_none());
    drop(read);
    let mut write = test.run(lock.with_write(Fiber::success)).unwrap();
    assert!(lock.try_read().is_none());
    *write = 2;
    drop(write);
    assert_eq!(*lock.try_read().unwrap(), 2);
    assert!(lock.try_write().is_some());
}

#[test]
fn all_are_told_about_a_writer_that_panicked_until_the_next_one_has_written() {
    std::panic::set_hook(Box::new(|_| {}));
    let (lock, test) = (RwLock::new(1), TestScheduler::new());
    drop(test.run(lock.with_read(|_| Fiber::<()>::lazy(|| panic!("on purpose")))));
    assert!(!lock.try_read().unwrap().previous_holder_panicked(), "a reader changes nothing");
    drop(test.run(lock.with_write(|_| Fiber::<()>::lazy(|| panic!("on purpose")))));
    assert!(lock.try_read().unwrap().previous_holder_panicked());
    assert!(lock.try_read().unwrap().previous_holder_panicked());
    drop(lock.try_write());
    assert!(!lock.try_read().unwrap().previous_holder_panicked());
}

#[test]
fn a_fiber_whose_scheduler_forgets_it_passes_the_lock_on() {
    let lock = RwLock::new(());
    let reader = lock.try_read();
    forget_after(lock.write(), || assert!(lock.try_read().is_none()));
    assert!(lock.try_read().is_some());
    forget_after(lock.write(), || drop(reader));
    forget_after(lock.with_read(|_| Fiber::<()>::never()), || assert!(lock.try_write().is_none()));
    assert!(lock.try_write().is_some());
}

#[test]
fn resources_hold_the_lock_while_they_are_used() {
    let (lock, test) = (RwLock::new(1), TestScheduler::new());
    let reads = test.spawn(lock.read_resource().using(|guard| Fiber::delay(TICK).map(move |()| *guard)));
    let writes = test.spawn(lock.write_resource().using(|mut guard| Fiber::lazy(move || *guard += 1)));
    test.run_for(TICK / 2);
    assert!(lock.try_write().is_none());
    test.run_until_idle();
    assert!(reads.outcome().success() == Some(1) && writes.outcome().is_success());
    assert_eq!(*lock.try_read().unwrap(), 2);
}

#[test]
fn threads_and_fibers_wait_in_one_queue() {
    let pair = Pair::new();
    let pool = Pool::builder().workers(2).build();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..ROUNDS {
                let mut guard = pair.lock.blocking_write();
                guard.0 += 1;
                guard.1 += 1;
                pair.ends.fetch_add(1, Ordering::Relaxed);
            }
        });
        scope.spawn(|| {
            for _ in 0..ROUNDS {
                let guard = pair.lock.blocking_read();
                assert_eq!(guard.0, guard.1);
            }
        });
        let fibers: Vec<_> = (0..4)
            .map(|n| {
                let pair = pair.clone();
                Fiber::for_each(0..ROUNDS, move |_| if n % 2 == 0 { pair.read() } else { pair.write() })
            })
            .collect();
        assert!(pool.run(Fiber::parallel(fibers)).is_success());
    });
    assert_eq!(pair.ends.load(Ordering::Relaxed), 3 * ROUNDS);
    assert_eq!(*pair.lock.try_read().unwrap(), (3 * ROUNDS, 3 * ROUNDS));
}
