//! Children end before their parent does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use crate::support::{Counter, Queue};
use fiber_core::scheduler::{Event, Scheduler, Task, TimerKey};
use fiber_core::{Context, Error, Fiber, Handle, Instant};
use fiber_test::TestScheduler;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_fork_is_cancelled_and_awaited_when_its_parent_ends() {
    let test = TestScheduler::new();
    let finalized = Counter::default();
    let child = Fiber::<()>::never().ensure(Fiber::delay(3 * SECOND)).ensure(finalized.count());
    let parent = test.spawn(child.fork().bind(|_| Fiber::delay(SECOND)).map(|()| "done"));
    test.run_for(2 * SECOND);
    assert!(parent.is_pending(), "the child's finalizer has not ended");
    test.run_until_idle();
    assert_eq!(parent.outcome().unwrap(), "done");
    assert_eq!(finalized.get(), 1);
    assert_eq!(test.now().as_nanos(), 4_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn a_fork_in_a_branch_belongs_to_the_branch() {
    let test = TestScheduler::new();
    let branch = Fiber::<()>::never().fork().bind(|_| Fiber::delay(SECOND));
    let fiber = branch.zip(Fiber::delay(2 * SECOND)).bind(|_| Fiber::delay(SECOND));
    let fiber = test.spawn(fiber);
    test.run_for(SECOND + SECOND / 2);
    // The spawned fiber, the zip, and its second branch.
    assert_eq!(test.live_fibers(), 3);
    test.run_until_idle();
    assert!(fiber.outcome().is_success());
    test.assert_no_leaks();
}

#[test]
fn a_fork_in_a_timeout_belongs_to_the_timeout() {
    let test = TestScheduler::new();
    let body = Fiber::<()>::never().ensure(Fiber::delay(SECOND)).fork().bind(|_| Fiber::yield_now());
    let outcome = test.run(body.timeout(60 * SECOND));
    assert!(outcome.is_success());
    assert_eq!(test.now().as_nanos(), 1_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn a_fork_in_a_timeout_that_ends_without_waiting_is_awaited_too() {
    let test = TestScheduler::new();
    let body = Fiber::success(()).fork().map(|_| ());
    assert!(test.run(body.timeout(60 * SECOND)).is_success());
    test.assert_no_leaks();
}

#[test]
fn grandchildren_end_before_children() {
    let test = TestScheduler::new();
    let grandchild = Fiber::<()>::never().ensure(Fiber::delay(2 * SECOND));
    let child = grandchild.fork().bind(|_| Fiber::<()>::never()).ensure(Fiber::delay(SECOND));
    let parent = child.fork().bind(|_| Fiber::delay(SECOND));
    assert!(test.run(parent).is_success());
    // One second of work; then both finalizers, side by side.
    assert_eq!(test.now().as_nanos(), 3_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn dropping_a_handle_changes_nothing() {
    let test = TestScheduler::new();
    let counter = Counter::default();
    let child = Fiber::delay(SECOND).bind({
        let counter = counter.clone();
        move |()| counter.count()
    });
    let parent = child.fork().map(drop).bind(|()| Fiber::delay(2 * SECOND));
    assert!(test.run(parent).is_success());
    assert_eq!(counter.get(), 1);
}

#[test]
fn a_failure_that_nobody_joins_reaches_the_hook_with_its_fork_site() {
    let test = TestScheduler::new();
    let child = Fiber::<()>::fail(Error::msg("lost")).named("worker");
    let parent = child.fork().map(drop).bind(|()| Fiber::delay(SECOND));
    assert!(test.run(parent).is_success());
    let reports = test.unobserved();
    assert_eq!(reports.len(), 1);
    assert!(
        reports[0].contains("lost")
            && reports[0].contains("\"worker\"")
            && reports[0].contains("structure.rs")
    );
}

#[test]
fn a_report_tells_what_was_suppressed() {
    let test = TestScheduler::new();
    let child = Fiber::<()>::fail(Error::msg("first")).ensure(Fiber::fail(Error::msg("second")));
    assert!(test.run(child.fork().map(drop).bind(|()| Fiber::delay(SECOND))).is_success());
    assert!(test.unobserved()[0].ends_with("suppressed: second"), "{:?}", test.unobserved());
}

#[test]
fn a_failure_that_is_joined_is_not_reported() {
    let test = TestScheduler::new();
    let fiber = Fiber::<()>::fail(Error::msg("seen")).fork().bind(|child| child.join());
    assert!(test.run(fiber).is_failure());
    assert!(test.unobserved().is_empty());
}

#[test]
fn ids_are_paths_in_the_tree_of_fibers() {
    let test = TestScheduler::new();
    let id = |handle: &fiber_core::Handle<()>| handle.context().id();
    let grandchildren = Fiber::success(()).fork().map(move |a| id(&a));
    let fiber = Fiber::success(()).fork().bind(move |first| {
        let first = id(&first);
        grandchildren.fork().bind(|child| child.join()).map(move |second| (first, second))
    });
    let zero = test.run(Fiber::success(()));
    assert!(zero.is_success());
    assert_eq!(test.run(fiber).unwrap(), ("1.0".to_owned(), "1.1.0".to_owned()));
}

#[test]
fn a_thousand_children_that_come_and_go_leave_nothing_under_a_long_lived_parent() {
    let test = TestScheduler::new();
    let fiber = Fiber::for_each(0..1000, |_| Fiber::yield_now().fork().bind(|child| child.join()));
    let spawned = test.spawn(fiber.bind(|()| Fiber::<()>::never()));
    test.run_until_idle();
    assert_eq!(spawned.context().live_children(), 0);
    assert_eq!(test.live_fibers(), 1);
}

/// Spawns a fiber below each fiber that is about to end, at the last moment at which code from outside can.
#[derive(Default)]
struct SpawnsAtTheEnd {
    queue: Queue,
    has_run: Counter,
    has_begun: AtomicBool,
    /// In the turn of the ending fiber.
    is_here: bool,
    spawned: Mutex<Option<Handle<()>>>,
}

impl Scheduler for SpawnsAtTheEnd {
    fn schedule(&self, task: Task) {
        self.queue.schedule(task);
    }
    fn schedule_at(&self, at: Instant, task: Task) -> TimerKey {
        self.queue.schedule_at(at, task)
    }
    fn cancel_timer(&self, key: TimerKey) -> bool {
        self.queue.cancel_timer(key)
    }
    fn now(&self) -> Instant {
        self.queue.now()
    }
    fn utc_now(&self) -> SystemTime {
        self.queue.utc_now()
    }
    fn random_u64(&self) -> u64 {
        self.queue.random_u64()
    }
    fn schedule_blocking(&self, task: Task) {
        self.queue.schedule_blocking(task);
    }
    fn observe(&self, context: &Context, event: Event<'_>) {
        // The spawned fiber also ends, which does not count.
        if matches!(event, Event::Outcome(_)) && !self.has_begun.swap(true, Ordering::Relaxed) {
            let spawned = if self.is_here {
                context.spawn_here(self.has_run.count())
            } else {
                context.spawn(self.has_run.count())
            };
            *self.spawned.lock().unwrap() = Some(spawned);
        }
    }
}

#[test]
fn a_fiber_spawned_from_outside_below_one_that_is_ending_never_runs() {
    for is_here in [false, true] {
        spawned_below_one_that_is_ending_never_runs(is_here);
    }
}

fn spawned_below_one_that_is_ending_never_runs(is_here: bool) {
    let scheduler = Arc::new(SpawnsAtTheEnd { is_here, ..SpawnsAtTheEnd::default() });
    let root = Context::root(scheduler.clone());
    let parent = root.spawn(Fiber::success(7));
    scheduler.queue.drain();
    let spawned = scheduler.spawned.lock().unwrap().take().expect("the parent has ended");
    assert!(spawned.try_outcome().expect("it ended at once").is_cancelled());
    assert_eq!(scheduler.has_run.get(), 0);
    let late = parent.context().spawn(scheduler.has_run.count());
    assert!(late.try_outcome().expect("it ended at once").is_cancelled());
    assert_eq!((scheduler.has_run.get(), root.live_children()), (0, 0));
    root.cancel();
}

#[test]
fn the_join_of_a_fork_whose_parent_has_ended_says_which_parent() {
    let test = TestScheduler::new();
    let slow = || Fiber::delay(Duration::from_secs(1));
    let message = |joined: Fiber<()>| {
        let error = test.run(joined).failure().unwrap();
        assert!(error.is::<fiber_core::error::Cancelled>());
        error.to_string()
    };
    let zipped = slow().fork().zip(slow().fork()).bind(|(_, b)| b.join()).boxed();
    assert_eq!(message(zipped), "the branch of `zip` that forked it has ended: the fiber was cancelled");
    let all = Fiber::parallel([slow().fork(), slow().fork()]).bind(|mut all| all.remove(0).join()).boxed();
    assert_eq!(message(all), "the branch of `parallel` that forked it has ended: the fiber was cancelled");
    let limited = slow().fork().timeout(Duration::from_secs(9)).bind(|child| child.join()).boxed();
    assert_eq!(message(limited), "the body of `timeout` that forked it has ended: the fiber was cancelled");
    let of_a_child =
        slow().fork().fork().bind(|child| child.join()).bind(|grandchild| grandchild.join()).boxed();
    assert_eq!(message(of_a_child), "the fiber that forked it has ended: the fiber was cancelled");
    let by_hand = slow().fork().bind(|child| {
        child.cancel_now();
        child.join()
    });
    assert_eq!(message(by_hand.boxed()), "the fiber was cancelled");
}
