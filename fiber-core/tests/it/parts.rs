//! Parts of a fiber without a context: how signals from outside reach them, while other threads steal branches that are lent beside them.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Counter, Queue, Steps};
use fiber_core::error::{Abandoned, DeadlineExceeded};
use fiber_core::scheduler::{BranchDeque, TaskKind, WaitsFor, Worker};
use fiber_core::{Context, DumpedState, Error, Fiber, Instant, Outcome, Run};

const SECOND: Duration = Duration::from_secs(1);

/// Runs a fiber whose branches other threads steal, in an order that a seed decides.
fn run<T: Send + 'static, R: Run<Out = T>>(seed: u64, fiber: Fiber<T, R>) -> Outcome<T> {
    let steps = Steps::lending(seed);
    let handle = steps.spawn(fiber);
    steps.run(usize::MAX);
    assert_eq!(steps.live_fibers(), 0);
    handle.try_outcome().expect("the fiber has ended")
}

fn counts(counter: &Counter, times: u32) -> Fiber<()> {
    (0..times).fold(Fiber::success(()).boxed(), |fiber, _| {
        let next = counter.count();
        fiber.bind(move |()| next).boxed()
    })
}

#[test]
fn a_region_in_a_part_is_not_reached_by_the_cancellation_of_a_context_that_was_made_later() {
    let mut has_begun = 0;
    for seed in 0..500 {
        let counter = Counter::default();
        let region = counts(&counter, 20).zip(Fiber::success(())).uncancelable();
        // The thread that steals the right side makes the context of the race, and wins it.
        run(seed, region.race(Fiber::success(()))).unwrap();
        // It runs completely, or it was dropped before it began.
        assert!([0, 20].contains(&counter.get()), "seed {seed}: {} of 20", counter.get());
        has_begun += usize::from(counter.get() > 0);
    }
    assert!(has_begun > 100);
}

#[test]
fn a_deadline_in_a_region_counts_also_after_the_one_around_the_region() {
    for seed in 0..20 {
        let until = |seconds| Instant::EPOCH + seconds * SECOND;
        let late = || Fiber::delay(60 * SECOND).with_deadline(until(2));
        let regions =
            [late().uncancelable().boxed(), late().zip(Fiber::success(())).uncancelable().map(drop).boxed()];
        for region in regions {
            let outcome = run(seed, region.with_deadline(until(1)));
            assert!(outcome.failure().unwrap().is::<DeadlineExceeded>(), "seed {seed}");
        }
    }
}

/// Branches that their owner runs itself use one place one after the other.
#[test]
fn a_branch_has_nothing_of_the_one_that_ended_in_its_place() {
    for seed in 0..50 {
        let steps = Steps::lending(seed);
        let first = Fiber::success(()).uncancelable().named("first");
        let second = Fiber::<()>::never();
        let pair = first.clone().zip(second.clone()).map(drop);
        let all = Fiber::parallel([first.boxed(), second.boxed()]).map(drop);
        let handles = [steps.spawn(pair), steps.spawn(all)];
        steps.run(usize::MAX);
        let dump = steps.context().dump();
        let waiting = dump
            .fibers()
            .filter(|fiber| matches!(fiber.state(), DumpedState::Waiting { what: WaitsFor::Never, .. }));
        assert_eq!(
            waiting.map(|fiber| fiber.name()).collect::<Vec<_>>(),
            [None, None],
            "seed {seed}\n{dump}"
        );
        steps.context().cancel();
        steps.run(usize::MAX);
        assert!(handles.into_iter().all(|handle| handle.try_outcome().unwrap().is_cancelled()));
    }
}

struct Lends(BranchDeque);

impl Worker for Lends {
    fn branches(&self) -> Option<&BranchDeque> {
        Some(&self.0)
    }
}

/// The thief makes a node around both branches while the first one runs.
#[test]
fn a_branch_is_reached_by_the_cancellation_of_a_node_that_was_made_before_it_began() {
    let (lends, queue, counter) = (Lends(BranchDeque::new()), Arc::new(Queue::default()), Counter::default());
    let stolen = Arc::new(Mutex::new(None));
    let (stealer, thief, last) = (lends.0.stealer(), stolen.clone(), counter.count());
    let first = Fiber::lazy(move || *thief.lock().unwrap() = stealer.steal());
    let second = Fiber::lazy(move || {
        let fails = stolen.lock().unwrap().take().expect("the right side is lent");
        fails.run();
    });
    let left = Fiber::parallel([first.boxed(), second.bind(move |()| last).boxed()]);
    let root = Context::root(queue.clone());
    let zip = left.zip(Fiber::<()>::fail(Error::msg("no")));
    let outcome = root.run_here(zip, &lends).unwrap_or_else(|handle| {
        queue.drain();
        handle.try_outcome().expect("it has ended")
    });
    assert_eq!(outcome.failure().unwrap().to_string(), "no");
    assert_eq!(counter.get(), 0, "the second branch went on after its end");
    root.cancel();
}

#[test]
fn a_parallel_whose_helper_is_thrown_away_fails_instead_of_ending_without_its_items() {
    let queue = Arc::new(Queue::default());
    let root = Context::root(queue.clone());
    let rounds = || {
        Fiber::iterate(0, |round: u32| {
            Fiber::success(if round < 100 {
                ControlFlow::Continue(round + 1)
            } else {
                ControlFlow::Break(())
            })
        })
    };
    let fiber = root.spawn(Fiber::parallel((0..100).map(move |_| rounds())));
    queue.pop().expect("the start of the fiber").run();
    let mut is_thrown_away = false;
    while let Some(task) = queue.pop() {
        if task.kind() == TaskKind::Start {
            is_thrown_away = true;
            drop(task);
        } else {
            task.run();
        }
    }
    assert!(is_thrown_away);
    let outcome = fiber.try_outcome().expect("the fiber has ended");
    assert!(outcome.failure().unwrap().is::<Abandoned>());
    root.cancel();
}
