//! Fibers and branches that have not started are taken back: run inline or dropped, never waited for. Here the scheduler runs nothing,
//! as if all its workers were busy; everything that ends does so on the thread of the test.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Counter, Steps, Tireless};
use fiber_core::error::TimedOut;
use fiber_core::{Context, Fiber, Handle, Outcome, Run, Scope};
use fiber_test::TestScheduler;

const SECOND: Duration = Duration::from_secs(1);

/// Cancels a fiber when it is dropped.
struct CancelOnDrop(Context);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Makes a closure own the value.
fn hold<T>(_: &T) {}

#[track_caller]
fn ends_here<T: Send + 'static, R: Run<Out = T>>(fiber: Fiber<T, R>) -> Outcome<T> {
    let scheduler = Tireless::new();
    let handle = scheduler.context().spawn_here(fiber);
    let outcome = handle.try_outcome().expect("it has ended without the help of others");
    assert_eq!(scheduler.live_fibers(), 0);
    scheduler.close();
    outcome
}

#[test]
fn parallel_with_a_limit_runs_ready_fibers_itself() {
    for limit in [1, 2, 7, 1000] {
        let squares = Fiber::parallel((0..300).map(|n| Fiber::lazy(move || n * n))).limit(limit);
        let expected: Vec<i32> = (0..300).map(|n| n * n).collect();
        assert_eq!(ends_here(squares).unwrap(), expected);
    }
}

#[test]
fn a_fork_is_cancelled_before_anybody_has_started_it() {
    let started = Counter::default();
    let fork = started.count().ensure(started.count()).fork();
    let outcome = ends_here(fork.bind(|child| child.cancel().bind(move |()| child.outcome())));
    assert!(outcome.unwrap().is_cancelled());
    assert_eq!(started.get(), 0);
}

#[test]
fn the_end_of_a_fiber_drops_the_forks_that_nobody_has_started() {
    let started = Counter::default();
    let (first, second) = (started.count(), started.count());
    ends_here(first.fork().bind(|_| second.fork()).map(drop)).unwrap();
    assert_eq!(started.get(), 0);
}

#[test]
fn the_end_of_a_scope_drops_the_forks_that_nobody_has_started() {
    let started = Counter::default();
    let fork = started.count();
    ends_here(Fiber::scope(move |scope: Scope| scope.fork(fork).map(drop))).unwrap();
    assert_eq!(started.get(), 0);
}

#[test]
fn a_timeout_does_not_wait_for_what_nobody_has_started() {
    let scheduler = Tireless::new();
    let waits = Fiber::<()>::never().fork().bind(|_| Fiber::<()>::never());
    let handle = scheduler.context().spawn_here(waits.timeout(SECOND));
    while !handle.is_finished() && scheduler.run_timer() {}
    // The wake-up of the fiber itself.
    scheduler.drain_some(10);
    assert!(handle.try_outcome().unwrap().failure().unwrap().is::<TimedOut>());
    scheduler.close();
}

#[test]
fn a_child_of_a_fiber_that_nobody_has_started_ends_before_it() {
    let scheduler = Tireless::new();
    let parent = scheduler.spawn(Fiber::success(()));
    let finalized = Counter::default();
    let child = parent.context().spawn_here(Fiber::<()>::never().ensure(finalized.count()));
    parent.cancel_now();
    assert!(!parent.is_finished());
    scheduler.drain_some(100);
    assert_eq!(finalized.get(), 1);
    assert!(child.try_outcome().unwrap().is_cancelled());
    assert!(parent.try_outcome().unwrap().is_cancelled());
    assert_eq!(scheduler.live_fibers(), 0);
}

#[test]
fn a_chain_of_a_hundred_thousand_that_nobody_has_started_is_cancelled() {
    let scheduler = Tireless::new();
    let first = scheduler.spawn(Fiber::success(()));
    let mut last = first.context().clone();
    for _ in 0..100_000 {
        last = last.spawn(Fiber::success(())).context().clone();
    }
    first.cancel_now();
    while scheduler.drain_some(1) {}
    assert!(first.try_outcome().unwrap().is_cancelled());
    assert_eq!(scheduler.live_fibers(), 0);
}

#[test]
fn a_hundred_thousand_drops_that_cancel_the_next_fiber_do_not_nest() {
    let scheduler = Tireless::new();
    let mut next: Handle<()> = scheduler.spawn(Fiber::success(()));
    for _ in 0..100_000 {
        let guard = CancelOnDrop(next.context().clone());
        next = scheduler.spawn(Fiber::lazy(move || hold(&guard)));
    }
    next.cancel_now();
    while scheduler.drain_some(1) {}
    assert_eq!(scheduler.live_fibers(), 0);
}

#[test]
fn a_fiber_that_nested_drops_spawn_below_one_that_has_ended_ends() {
    struct SpawnOnDrop {
        next: CancelOnDrop,
        ended: Context,
        spawned: Arc<Mutex<Vec<Handle<()>>>>,
    }
    impl Drop for SpawnOnDrop {
        fn drop(&mut self) {
            self.next.0.cancel();
            self.spawned.lock().unwrap().push(self.ended.spawn(Fiber::success(())));
        }
    }
    let scheduler = Tireless::new();
    let ended = scheduler.spawn(Fiber::success(())).context().clone();
    while scheduler.drain_some(1) {}
    let spawned = Arc::<Mutex<Vec<_>>>::default();
    let mut first = scheduler.spawn(Fiber::success(()));
    for _ in 0..100 {
        let next = CancelOnDrop(first.context().clone());
        let guard = SpawnOnDrop { next, ended: ended.clone(), spawned: spawned.clone() };
        first = scheduler.spawn(Fiber::lazy(move || hold(&guard)));
    }
    first.cancel_now();
    while scheduler.drain_some(1) {}
    let spawned = std::mem::take(&mut *spawned.lock().unwrap());
    assert_eq!(spawned.len(), 100);
    assert!(spawned.into_iter().all(|handle| handle.try_outcome().is_ok_and(|it| it.is_cancelled())));
    assert_eq!(scheduler.live_fibers(), 0);
}

#[test]
fn a_panic_in_the_drop_of_one_does_not_keep_others_from_being_cancelled() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in drop")
        }
    }
    let scheduler = Tireless::new();
    let handles: Vec<_> = (0..10)
        .map(|_| {
            let bomb = Bomb;
            scheduler.spawn(Fiber::lazy(move || hold(&bomb)))
        })
        .collect();
    scheduler.context().cancel();
    assert!(handles.into_iter().all(|handle| handle.try_outcome().unwrap().is_panicked()));
    assert_eq!(scheduler.live_fibers(), 0);
}

#[test]
fn what_a_dropped_closure_holds_is_dropped_without_a_lock() {
    struct Look(Arc<Mutex<Option<Scope>>>);
    impl Drop for Look {
        fn drop(&mut self) {
            assert!(self.0.lock().unwrap().as_ref().is_none_or(|scope| scope.live_forks() > 0));
        }
    }
    let place = Arc::new(Mutex::new(None));
    let look = Look(place.clone());
    let body = move |scope: Scope| {
        *place.lock().unwrap() = Some(scope.clone());
        scope.fork(Fiber::lazy(move || hold(&look))).map(drop)
    };
    ends_here(Fiber::scope(body)).unwrap();
}

#[test]
fn a_refused_checkpoint_is_not_asked_for_again_by_the_branches_beside() {
    let ready = || (0..100).map(|_| Fiber::success(()));
    let of = |fiber: Fiber<()>| {
        let steps = Steps::new(0, 1);
        let handle = steps.spawn(fiber);
        steps.run(1);
        let asked = steps.checkpoints();
        steps.run(usize::MAX);
        assert!(handle.is_finished());
        asked
    };
    assert_eq!(of(Fiber::parallel(ready()).map(drop).boxed()), 1);
    assert_eq!(of(Fiber::parallel(ready()).limit(3).map(drop).boxed()), 1);
    assert_eq!(of(Fiber::race_all(ready()).boxed()), 1);
    assert_eq!(of(Fiber::first_success(ready()).boxed()), 1);
    assert_eq!(of(Fiber::success(()).zip(Fiber::success(())).map(drop).boxed()), 1);
    assert_eq!(of(Fiber::success(()).race(Fiber::success(())).map(drop).boxed()), 1);
    assert_eq!(of(Fiber::success(()).disconnect().boxed()), 1);
}

#[test]
fn on_the_virtual_timeline_a_fork_that_was_cancelled_before_its_turn_ends_at_once() {
    let test = TestScheduler::new();
    let handle = test.spawn(Fiber::<()>::never());
    handle.cancel_now();
    assert!(handle.try_outcome().unwrap().is_cancelled());
    test.run_until_idle();
    test.assert_no_leaks();
}
