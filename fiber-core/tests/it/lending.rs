//! Branches on the stack of one thread, while others steal them: with real threads, and small enough for Miri.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::SystemTime;

use fiber_core::scheduler::{BranchDeque, Checkpoint, Scheduler, SwitchPoint, Task, TimerKey, Worker};
use fiber_core::{Context, Error, Fiber, Handle, Instant, Outcome, Run, dataflow};

/// Tasks that any thread may run. Timers are due at once.
#[derive(Default)]
struct Tasks(Mutex<VecDeque<Task>>);

impl Tasks {
    fn next(&self) -> Option<Task> {
        self.0.lock().unwrap().pop_front()
    }
}

impl Scheduler for Tasks {
    fn schedule(&self, task: Task) {
        self.0.lock().unwrap().push_back(task);
    }

    fn schedule_at(&self, _: Instant, task: Task) -> TimerKey {
        self.schedule(task);
        TimerKey::new(0)
    }

    fn cancel_timer(&self, _: TimerKey) -> bool {
        false
    }

    fn now(&self) -> Instant {
        Instant::EPOCH
    }

    fn utc_now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn random_u64(&self) -> u64 {
        0
    }

    fn schedule_blocking(&self, task: Task) {
        self.schedule(task);
    }

    fn budget(&self) -> u32 {
        4
    }

    fn checkpoint(&self, _: &Context, _: SwitchPoint) -> Checkpoint {
        thread::yield_now();
        Checkpoint::Continue(4)
    }
}

/// A thread that runs tasks.
#[derive(Default)]
struct Thread(BranchDeque);

impl Worker for Thread {
    fn branches(&self) -> Option<&BranchDeque> {
        Some(&self.0)
    }
}

/// Runs a fiber on this thread, whose branches other threads steal.
fn run<T: Send + 'static, R: Run<Out = T>>(thieves: usize, fiber: Fiber<T, R>) -> Outcome<T> {
    let tasks = Arc::new(Tasks::default());
    let root = Context::root(tasks.clone());
    let owner = Thread::default();
    let is_over = AtomicBool::new(false);
    let outcome = thread::scope(|scope| {
        for _ in 0..thieves {
            let (tasks, stealer, is_over) = (&tasks, owner.0.stealer(), &is_over);
            scope.spawn(move || {
                let thief = Thread::default();
                while !is_over.load(Ordering::Relaxed) {
                    match stealer.steal().or_else(|| tasks.next()) {
                        Some(task) => task.run_on(&thief),
                        None => thread::yield_now(),
                    }
                }
            });
        }
        let mut handle: Handle<T> = root.spawn(fiber);
        let outcome = loop {
            match handle.try_outcome() {
                Ok(outcome) => break outcome,
                Err(running) => handle = running,
            }
            match tasks.next() {
                Some(task) => task.run_on(&owner),
                None => thread::yield_now(),
            }
        };
        is_over.store(true, Ordering::Relaxed);
        outcome
    });
    close(&root, &tasks);
    outcome
}

/// Cancels the remaining fibers and runs them to their ends.
fn close(root: &Context, tasks: &Tasks) {
    root.cancel();
    while let Some(task) = tasks.next() {
        task.run();
    }
}

/// Some binds, which leave time to steal a branch beside them.
fn binds(number: u32) -> Fiber<u32> {
    (0..6).fold(Fiber::success(number).boxed(), |fiber, _| {
        fiber
            .bind(|number| {
                thread::yield_now();
                Fiber::success(number)
            })
            .boxed()
    })
}

/// Miri takes a second for a millisecond of work.
const ROUNDS: u32 = if cfg!(miri) { 3 } else { 50 };

fn tree(depth: u32) -> Fiber<u32> {
    if depth == 0 {
        return binds(1);
    }
    tree(depth - 1).zip(tree(depth - 1)).bind(|(left, right)| Fiber::success(left + right)).boxed()
}

#[test]
fn a_tree_of_zips_is_taken_by_two_threads() {
    for _ in 0..ROUNDS {
        assert_eq!(run(2, tree(4)).unwrap(), 16);
    }
}

#[test]
fn the_items_of_a_parallel_are_taken_by_two_threads() {
    for round in 0..ROUNDS {
        let items = Fiber::parallel((0..10).map(|number| binds(number).zip(binds(number))));
        let limit = 1 + round as usize % 4;
        let expected: Vec<_> = (0..10).map(|number| (number, number)).collect();
        assert_eq!(run(2, items.limit(limit)).unwrap(), expected);
    }
}

#[test]
fn the_items_behind_one_that_waits_are_taken_by_two_threads() {
    for _ in 0..ROUNDS {
        let waits = |number| Fiber::yield_now().bind(move |()| binds(number)).boxed();
        let items = (0..10).map(move |number| if number % 3 == 0 { waits(number) } else { binds(number) });
        assert_eq!(run(2, Fiber::parallel(items)).unwrap(), Vec::from_iter(0..10));
    }
}

#[test]
fn two_items_behind_one_that_waits_run_at_the_same_time() {
    let meeting = Arc::new(Barrier::new(2));
    let meets = move |number| {
        let meeting = meeting.clone();
        Fiber::lazy(move || {
            meeting.wait();
            number
        })
    };
    let items = (0..3).map(move |number| match number {
        0 => Fiber::yield_now().map(|()| 0).boxed(),
        number => meets(number).boxed(),
    });
    assert_eq!(run(1, Fiber::parallel(items)).unwrap(), [0, 1, 2]);
}

#[test]
fn the_steps_of_a_dataflow_are_taken_by_two_threads() {
    for round in 0..ROUNDS {
        let flow = dataflow! {
            let a = binds(1);
            let b = binds(2);
            let c = tree(2);
            let d = binds(a + b);
            let e = tree(1).map(move |leaves| leaves + c);
            let text = Fiber::lazy(|| "text".to_owned());
            let length = binds(text.len() as u32).map(move |length| length + d);
            let kept = Fiber::success(text);
            return (length, e, kept)
        };
        assert_eq!(run(2, flow).unwrap(), (7, 6, "text".to_owned()));
        let fails = round % 3;
        let step = move |number: u32| {
            binds(number)
                .try_map(move |number| if number == fails { Err(Error::msg("failed")) } else { Ok(number) })
        };
        let flow = dataflow! {
            let a = step(0);
            let b = step(1);
            let c = step(2 + a);
            return a + b + c
        };
        assert!(run(2, flow).is_failure());
    }
}

#[test]
fn races_that_are_taken_are_won_once() {
    for _ in 0..ROUNDS {
        let race = || binds(1).race(binds(2).bind(|number| Fiber::lazy(move || number)));
        let races = Fiber::parallel((0..4).map(move |_| race()));
        assert_eq!(run(2, races).unwrap().len(), 4);
    }
}

thread_local! {
    static THREAD: Thread = Thread::default();
}

fn run_next(tasks: &Tasks) {
    THREAD.with(|thread| tasks.next().expect("a task").run_on(thread));
}

/// The thread runs a task of one scheduler inside a task of another one.
#[test]
fn a_branch_that_becomes_a_task_goes_to_its_own_scheduler() {
    let (outer, inner) = (Arc::new(Tasks::default()), Arc::new(Tasks::default()));
    let (root, inner_root) = (Context::root(outer.clone()), Context::root(inner.clone()));
    let inner_fiber = inner_root.spawn(tree(3));
    let tasks = inner.clone();
    let lends = Fiber::lazy(move || run_next(&tasks)).zip(Fiber::success(()));
    let fiber = root.spawn(lends);
    run_next(&outer);
    // The checkpoints of the inner fiber made a task of the outer one's branch.
    run_next(&outer);
    assert!(fiber.is_finished());
    while let Some(task) = inner.next() {
        task.run();
    }
    assert_eq!(inner_fiber.try_outcome().expect("the fiber has ended").unwrap(), 8);
    close(&root, &outer);
    close(&inner_root, &inner);
}

/// Each item reaches several checkpoints, which make tasks of helpers.
#[test]
#[cfg_attr(
    miri,
    ignore = "locals lie anywhere there, so the items go on from the bottom of the stack, in turns of their own"
)]
fn a_parallel_waits_for_no_helper_that_nobody_has_started() {
    let tasks = Arc::new(Tasks::default());
    let root = Context::root(tasks.clone());
    let fiber = root.spawn(Fiber::parallel((0..5).map(|_| tree(3))));
    run_next(&tasks);
    assert!(fiber.is_finished());
    close(&root, &tasks);
}
