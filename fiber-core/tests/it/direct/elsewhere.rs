//! Waits at places where a `&Direct` gets only through a thread-local: they panic or work, whatever the place is.

use super::{Log, SECOND};
use fiber_core::scheduler::{Checkpoint, Scheduler, Stacks, SwitchPoint, Task, TimerKey, Worker};
use fiber_core::{Context, Direct, Error, Fiber, Instant, Outcome, StackSupply, compute};
use fiber_sched::{AffinityPool, Pool};
use fiber_test::TestScheduler;
use scoped_tls_hkt::scoped_thread_local;
use std::panic::catch_unwind;
use std::sync::{Arc, mpsc};
use std::time::{Duration, SystemTime};

scoped_thread_local!(static DIRECT: for<'a> &'a Direct<'a>);

const TICK: Duration = Duration::from_millis(1);

/// Waits with the `Direct` of whichever function has set it on this thread.
fn wait(fiber: Fiber<u32>) -> Result<u32, Error> {
    DIRECT.with(|d| d.wait(fiber))
}

fn sleep(time: Duration) -> Fiber<u32> {
    Fiber::delay(time).map(|()| 1).boxed()
}

/// A function that waits for `fiber`, whose code finds its `Direct`.
fn waits_for(fiber: Fiber<u32>) -> Fiber<u32> {
    Fiber::direct(move |d| DIRECT.set(d, || d.wait(fiber))).boxed()
}

#[track_caller]
fn assert_panicked<T: std::fmt::Debug>(outcome: Outcome<T>, message: &str) {
    let Outcome::Panicked(panic) = &outcome else { panic!("it has to panic: {outcome:?}") };
    assert!(panic.message().contains(message), "{outcome:?}");
}

/// Panics when it is dropped.
struct Bomb(Log);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.add("dropped");
        panic!("a drop");
    }
}

const NESTED: &str = "inside of another wait";

#[test]
fn a_wait_in_a_closure_of_the_fiber_that_is_waited_for_panics() {
    let nested = || Fiber::lazy(|| wait(sleep(SECOND)).unwrap());
    assert_panicked(TestScheduler::new().run(waits_for(nested().boxed())), NESTED);
    // Without a box, the closure runs on the stack of the function in any case.
    let plain = Fiber::direct(move |d| DIRECT.set(d, || d.wait(nested())));
    assert_panicked(TestScheduler::new().run(plain), NESTED);
    let ready = Fiber::lazy(|| wait(Fiber::success(2).boxed()).unwrap());
    assert_panicked(TestScheduler::new().run(waits_for(ready.boxed())), NESTED);
}

#[test]
fn a_wait_in_a_closure_that_runs_while_the_function_is_suspended_panics() {
    let nested = Fiber::delay(SECOND).map(|()| wait(sleep(SECOND)).unwrap());
    assert_panicked(TestScheduler::new().run(waits_for(nested.boxed())), NESTED);
    // The worker of an affinity pool runs the closure too, which finds what the function has set on that thread.
    let pool = AffinityPool::builder().workers(1).pinned(false).build();
    let nested = Fiber::delay(TICK).map(|()| wait(sleep(TICK)).unwrap());
    assert_panicked(pool.run(waits_for(nested.boxed())), NESTED);
}

#[test]
fn a_wait_of_another_fiber_while_the_function_is_suspended_panics() {
    let test = TestScheduler::new();
    let function = test.spawn(waits_for(sleep(2 * SECOND)));
    let other = test.spawn(Fiber::delay(SECOND).map(|()| wait(sleep(SECOND)).unwrap()));
    let third = test.spawn(Fiber::delay(SECOND).bind(|()| Fiber::direct(|_| wait(sleep(SECOND)))));
    test.run_until_idle();
    assert_panicked(other.outcome(), NESTED);
    assert_panicked(third.outcome(), NESTED);
    assert_eq!(function.outcome().unwrap(), 1);
}

#[test]
fn after_a_wait_that_panicked_the_function_can_wait_again() {
    let fiber = Fiber::direct(|d| {
        let nested = Fiber::lazy(|| wait(sleep(SECOND)).is_ok()).catch_panic(|_| Fiber::success(false));
        let nested = DIRECT.set(d, || d.wait(nested))?;
        Ok((nested, d.wait(sleep(SECOND))?))
    });
    let (outcome, time) = TestScheduler::new().run_timed(fiber);
    assert_eq!((outcome.unwrap(), time), ((false, 1), SECOND));
}

#[test]
fn the_fiber_of_a_wait_that_panics_is_dropped_and_may_panic_itself() {
    let log = Log::default();
    let bomb = Bomb(log.clone());
    let nested = Fiber::lazy(move || {
        let held = Fiber::lazy(move || drop(bomb)).map(|()| 1).boxed();
        wait(held).unwrap()
    });
    assert_panicked(TestScheduler::new().run(waits_for(nested.boxed())), NESTED);
    assert_eq!(log.all(), ["dropped"]);
}

#[test]
fn whether_it_is_cancelled_can_be_asked_anywhere() {
    let ask = || DIRECT.with(|d| d.is_cancelled());
    let asks = Fiber::lazy(ask).map(u32::from).boxed();
    assert_eq!(TestScheduler::new().run(waits_for(asks)).unwrap(), 0);
    // Nothing is known of a function that is suspended.
    let later = Fiber::delay(SECOND).map(move |()| u32::from(ask())).boxed();
    assert!(TestScheduler::new().run(waits_for(later)).is_success());
}

const UNORDERED: &str = "has borrowed its thread";

#[test]
fn a_wait_in_a_fiber_of_another_scheduler_on_the_same_stack_panics() {
    let pool = Pool::builder().workers(1).build();
    let fiber = Fiber::direct(|d| {
        let inner = DIRECT.set(d, || TestScheduler::new().run(Fiber::lazy(|| wait(sleep(TICK)))));
        assert_panicked(inner, UNORDERED);
        let (sender, tasks) = mpsc::channel();
        let root = Context::root(Arc::new(Queue(sender)));
        let inner = root.spawn(Fiber::lazy(|| wait(sleep(TICK))));
        let block = root.spawn(Fiber::block(|| async { wait(sleep(TICK)) }));
        DIRECT.set(d, || tasks.try_iter().for_each(Task::run));
        assert_panicked(inner.try_outcome().expect("it has run"), UNORDERED);
        assert_panicked(block.try_outcome().expect("it has run"), UNORDERED);
        // The function itself goes on, in its own context.
        d.wait(sleep(TICK))?;
        let inside = d.wait(Fiber::current())?.id();
        Ok(Context::current().map(|fiber| fiber.id()) == Some(inside))
    });
    assert!(pool.run(fiber).unwrap());
}

#[test]
fn a_wait_in_a_closure_of_a_join_panics_unless_it_is_ready() {
    let pool = Pool::builder().workers(1).build();
    let join = |fiber: fn() -> Fiber<u32>| {
        Fiber::direct(move |d| DIRECT.set(d, || compute::join(|| wait(fiber()), || 1).0))
    };
    assert_eq!(pool.run(join(|| Fiber::success(2).boxed())).unwrap(), 2);
    assert_panicked(pool.run(join(|| sleep(TICK))), UNORDERED);
    // The lists of the thread are as they were.
    let sum = Fiber::lazy(|| compute::join(|| compute::join(|| 1, || 2), || compute::join(|| 3, || 4)));
    assert_eq!(pool.run(sum).unwrap(), ((1, 2), (3, 4)));
}

#[test]
fn what_a_wait_that_panics_has_started_is_dropped_and_may_panic_itself() {
    let (pool, log) = (Pool::builder().workers(1).build(), Log::default());
    let bomb = Bomb(log.clone());
    let fiber = Fiber::direct(move |d| {
        let held = sleep(TICK).map(move |n| n + u32::from(bomb.0.all().is_empty())).boxed();
        DIRECT.set(d, || compute::join(|| wait(held), || 1).0)
    });
    assert_panicked(pool.run(fiber), UNORDERED);
    assert_eq!(log.all(), ["dropped"]);
}

#[test]
fn a_drop_that_waits_holds_up_no_other_drop_of_its_thread() {
    struct Waits(Log);
    impl Drop for Waits {
        fn drop(&mut self) {
            self.0.add("waits");
            assert_eq!(wait(sleep(2 * SECOND)).unwrap(), 1);
            self.0.add("waited");
        }
    }
    /// Boxed, so that its drop may be put off.
    fn holds<D: Send + 'static>(held: D) -> Fiber<u32> {
        let held = Fiber::lazy(move || drop(held)).boxed();
        Fiber::success(()).bind(move |()| held).map(|()| 1).boxed()
    }
    let (test, log) = (TestScheduler::new(), Log::default());
    let (waits, inside, outside) = (Waits(log.clone()), log.clone(), log.clone());
    let function = test.spawn(Fiber::direct(move |d| {
        DIRECT.set(d, || drop(holds(waits)));
        drop(holds(inside.on_drop("after")));
        Ok(())
    }));
    test.run_for(SECOND);
    drop(holds(outside.on_drop("between")));
    test.run_until_idle();
    drop(holds(outside.on_drop("late")));
    assert!(function.outcome().is_success());
    let expected = ["waits", "between dropped", "waited", "after dropped", "late dropped"];
    assert_eq!(log.all(), expected);
}

/// A thread of a scheduler whose checkpoints run code of the program.
struct Curious {
    tasks: mpsc::Sender<Task>,
    stacks: Stacks,
    log: Log,
}

impl Worker for Curious {
    fn stacks(&self, _: &dyn Scheduler) -> Option<&Stacks> {
        Some(&self.stacks)
    }

    fn schedule(&self, _: &dyn Scheduler, task: Task) {
        self.tasks.send(task).ok();
    }

    fn checkpoint(&self, _: &dyn Scheduler, _: &Context, _: SwitchPoint) -> Checkpoint {
        let waited = catch_unwind(|| wait(Fiber::yield_now().map(|()| 1).boxed()));
        self.log.add(format!("waited: {}", waited.is_ok()));
        Checkpoint::Continue(1)
    }
}

struct Queue(mpsc::Sender<Task>);

#[rustfmt::skip]
impl Scheduler for Queue {
    fn schedule(&self, task: Task) { self.0.send(task).ok(); }
    fn schedule_at(&self, _: Instant, task: Task) -> TimerKey { self.schedule(task); TimerKey::new(0) }
    fn cancel_timer(&self, _: TimerKey) -> bool { false }
    fn now(&self) -> Instant { Instant::EPOCH }
    fn utc_now(&self) -> SystemTime { SystemTime::UNIX_EPOCH }
    fn random_u64(&self) -> u64 { 4 }
    fn schedule_blocking(&self, task: Task) { self.schedule(task); }
    fn budget(&self) -> u32 { 1 }
}

#[test]
fn a_wait_in_a_checkpoint_panics() {
    let ((sender, tasks), log) = (mpsc::channel(), Log::default());
    let root = Context::root(Arc::new(Queue(sender.clone())));
    let to_here = sender.clone();
    let stacks = Stacks::new(StackSupply::default(), move |task| _ = to_here.send(task));
    let thread = Curious { tasks: sender, stacks, log: log.clone() };
    let handle = root.spawn(Fiber::direct(|d| {
        DIRECT.set(d, || {
            d.wait(Fiber::success(1))?;
            d.wait(Fiber::success(2))
        })
    }));
    while let Ok(task) = tasks.try_recv() {
        task.run_on(&thread);
    }
    assert_eq!(handle.try_outcome().unwrap().unwrap(), 2);
    assert!(!log.all().is_empty() && log.all().iter().all(|line| line == "waited: false"), "{:?}", log.all());
}
