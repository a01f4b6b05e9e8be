//! Watches: a watcher sees the latest value, each at most once, and certainly the last one.

use std::ops::ControlFlow;
use std::time::Duration;

use fiber_core::sync::{Closed, Watch, Watcher};
use fiber_core::{Fiber, Outcome, Run};
use fiber_test::{Spawned, TestScheduler};

use crate::everywhere::{explore, with_a_victim};

fn begin<T: Send + 'static>(test: &TestScheduler, fiber: Fiber<T, impl Run<Out = T>>) -> Spawned<T> {
    let spawned = test.spawn(fiber);
    test.run_for(Duration::ZERO);
    spawned
}

fn ended<T: Send + 'static>(test: &TestScheduler, spawned: Spawned<T>) -> Outcome<T> {
    test.run_until_idle();
    spawned.outcome()
}

#[test]
fn a_watcher_waits_for_a_value_that_it_has_not_seen() {
    let (test, watch) = (TestScheduler::new(), Watch::new(0));
    let watcher = watch.watch();
    assert!(!watcher.has_changed());
    let waiting = begin(&test, watcher.changed());
    assert!(waiting.is_pending());
    watch.set(1);
    assert_eq!(ended(&test, waiting).unwrap(), 1);
    assert!(!watcher.has_changed(), "it has been seen");
    watch.set(2);
    watch.set(3);
    assert!(watcher.has_changed());
    assert_eq!(test.run(watcher.changed()).unwrap(), 3, "the latest");
    assert!(begin(&test, watcher.changed()).is_pending());
}

#[test]
fn what_was_got_counts_as_seen() {
    let watch = Watch::new("old");
    let watcher = watch.watch();
    watch.set("new");
    assert_eq!((watch.get(), watcher.get()), ("new", "new"));
    assert!(!watcher.has_changed());
}

#[test]
fn each_watcher_sees_for_itself() {
    let (test, watch) = (TestScheduler::new(), Watch::new(0));
    let first = watch.watch();
    watch.set(1);
    let copy = first.clone();
    let late = watch.watch();
    assert_eq!(test.run(first.changed()).unwrap(), 1);
    assert!(copy.has_changed(), "a copy has seen what the original had, and not what it sees later");
    assert!(!late.has_changed(), "it begins with the present value");
}

#[test]
fn an_update_sees_the_value_that_it_replaces() {
    let watch = Watch::new(0_u64);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..1000).for_each(|_| watch.update(|n| n + 1)));
        }
    });
    assert_eq!(watch.get(), 4000);
}

#[test]
fn the_last_value_is_seen_after_the_last_setter_has_gone() {
    let (test, watch) = (TestScheduler::new(), Watch::new(0));
    let [seen, waits] = [watch.watch(), watch.watch()];
    let waiting = begin(&test, waits.changed());
    let other = watch.clone();
    drop(watch);
    assert!(!seen.is_closed());
    other.set(1);
    drop(other);
    assert!(seen.is_closed());
    assert_eq!(ended(&test, waiting).unwrap(), 1);
    assert_eq!(test.run(seen.changed()).unwrap(), 1);
    assert!(test.run(seen.changed()).failure().unwrap().is::<Closed>());
    assert_eq!(seen.get(), 1);
}

#[test]
fn those_who_wait_are_told_when_the_last_setter_goes() {
    let (test, watch) = (TestScheduler::new(), Watch::new(0));
    let watcher = watch.watch();
    let waiting = begin(&test, watcher.changed());
    drop(watch);
    assert!(ended(&test, waiting).failure().unwrap().is::<Closed>());
}

#[test]
fn a_value_on_its_way_to_a_fiber_that_is_cancelled_counts_as_not_seen() {
    let (test, watch) = (TestScheduler::new(), Watch::new(0));
    let watcher = watch.watch();
    let waiting = begin(&test, watcher.changed());
    watch.set(1);
    waiting.cancel_now();
    assert!(ended(&test, waiting).is_cancelled());
    assert_eq!(test.run(watcher.changed()).unwrap(), 1);
}

/// Two watchers and two setters, one of which is cancelled: a watcher sees ever newer values, and finally the last one.
#[test]
fn the_last_value_is_seen_by_everyone_whoever_is_cancelled_when() {
    explore(|| {
        let watch = Watch::new(0_u32);
        let see_all = |watcher: Watcher<u32>| {
            Fiber::iterate((watcher, 0), |(watcher, last)| {
                watcher.changed().map_outcome(move |outcome| match outcome {
                    Outcome::Success(value) => {
                        assert!(value > last, "{value} after {last}");
                        Outcome::Success(ControlFlow::Continue((watcher, value)))
                    }
                    Outcome::Failure(_) => Outcome::Success(ControlFlow::Break(last)),
                    Outcome::Panicked(panic) => Outcome::Panicked(panic),
                    Outcome::Cancelled => Outcome::Cancelled,
                })
            })
            .boxed()
        };
        let set = || {
            let watch = watch.clone();
            Fiber::for_each(0..2, move |_| {
                let watch = watch.clone();
                Fiber::lazy(move || watch.update(|n| n + 1))
            })
            .map(|()| 0)
            .boxed()
        };
        let fibers = vec![see_all(watch.watch()), see_all(watch.watch()), set(), set()];
        let last = watch.watch();
        drop(watch);
        with_a_victim(fibers).map(move |outcomes| {
            let seen = outcomes.into_iter().take(2).filter_map(Outcome::success);
            seen.for_each(|seen| assert_eq!(seen, last.get()));
        })
    });
}

#[test]
fn threads_watch_too() {
    let watch = Watch::new(0);
    let watcher = watch.watch();
    let seen = std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            let seen: Vec<i32> = std::iter::from_fn(|| watcher.blocking_changed().ok()).collect();
            assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
            seen.last().copied()
        });
        (1..=1000).for_each(|n| watch.set(n));
        drop(watch);
        thread.join().unwrap()
    });
    assert_eq!(seen, Some(1000));
}
