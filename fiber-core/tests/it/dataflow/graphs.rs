//! Random graphs, in the structure of the macro's expansion.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use fiber_core::__macro_support::flow::{self, Graph, Handover};
use fiber_core::{Error, Fiber, Instant, Outcome};
use fiber_test::{Explore, TestScheduler};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::SECOND;
use crate::support::{Queue, Steps};

/// The number of steps of a graph.
const COUNT: usize = 10;

/// Steps, each of which needs some earlier ones, takes some seconds, and may fail.
#[derive(Clone, Debug)]
struct Random {
    needs: Vec<BTreeSet<usize>>,
    seconds: Vec<u32>,
    fails: Option<usize>,
    /// In each pair, the second step moves a value that the first one borrows.
    handovers: [(usize, usize); 2],
}

fn random(may_fail: bool) -> impl Strategy<Value = Random> {
    let needs = prop::collection::vec(prop::bits::u16::masked(0x3ff), COUNT);
    let sparse = prop::collection::vec(prop::bits::u16::masked(0x3ff), COUNT);
    let seconds = prop::collection::vec(0..5_u32, COUNT);
    let fails = if may_fail { prop::option::of(0..COUNT).boxed() } else { Just(None).boxed() };
    let pair = || (0..COUNT - 1).prop_flat_map(|from| (Just(from), from + 1..COUNT));
    (needs, sparse, seconds, fails, pair(), pair()).prop_map(|(needs, sparse, seconds, fails, one, other)| {
        let of = |(step, bits): (usize, u16)| (0..step).filter(|before| bits >> before & 1 == 1).collect();
        let bits = needs.iter().zip(sparse).map(|(a, b)| a & b);
        Random { needs: bits.enumerate().map(of).collect(), seconds, fails, handovers: [one, other] }
    })
}

/// The events of the steps.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Entries>>);

#[derive(Default)]
struct Entries {
    made: Vec<(usize, Option<Instant>)>,
    ended: Vec<usize>,
    /// The steps whose finalizers have run.
    released: Vec<usize>,
}

impl Random {
    /// Each value is one plus the sum of its inputs.
    fn fiber(&self, log: &Log) -> Fiber<u64> {
        let needs = std::array::from_fn(|step| self.needs[step].len() as u16);
        let next = std::array::from_fn(|step| {
            let next =
                (0..COUNT).filter(|after| self.needs[*after].contains(&step)).map(|after| after as u16);
            &*Vec::leak(next.collect())
        });
        let graph: &'static Graph<COUNT> = Box::leak(Box::new(Graph { needs, next }));
        let handovers =
            self.handovers.map(|(from, to)| Handover { from: from as u16, to: to as u16, is_moved: true });
        let values = vec![0_u64; COUNT];
        let step = |step: usize| {
            let (needs, log) = (self.needs[step].clone(), log.clone());
            let (seconds, fails) = (self.seconds[step], self.fails == Some(step));
            let make = move |values: &mut Vec<u64>| {
                let value = 1 + needs.iter().map(|before| values[*before]).sum::<u64>();
                log.0.lock().unwrap().made.push((step, None));
                Ok(flow::made(run(step, seconds, fails, value, log), put))
            };
            flow::step(&values, make)
        };
        let steps: Vec<_> = (0..COUNT).map(step).collect();
        let gives = std::marker::PhantomData;
        let end = flow::end(gives, &values, |values: &mut Vec<u64>| Ok(values.iter().sum()));
        flow::dataflow(
            gives,
            graph,
            handovers,
            (steps, end),
            values,
            |index, start| start.run(move |(steps, _)| &mut steps[index]),
            |values, (_, end)| end.make(values),
        )
    }

    /// When the steps start and end.
    fn times(&self) -> [(u64, u64); COUNT] {
        let mut times = [(0, 0); COUNT];
        for step in 0..COUNT {
            let inputs = self.needs[step].iter().map(|before| times[*before].1);
            let borrowers =
                self.handovers.iter().filter(|(_, to)| *to == step).map(|(from, _)| times[*from].0);
            let start = inputs.chain(borrowers).max().unwrap_or(0);
            times[step] = (start, start + u64::from(self.seconds[step]));
        }
        times
    }

    fn sum(&self) -> u64 {
        let mut values = [0; COUNT];
        for step in 0..COUNT {
            values[step] = 1 + self.needs[step].iter().map(|before| values[*before]).sum::<u64>();
        }
        values.iter().sum()
    }

    /// Whether `step` depends on `before`, perhaps indirectly.
    fn is_behind(&self, step: usize, before: usize) -> bool {
        let waits_for = |to: usize| {
            let borrowers = self.handovers.iter().filter(move |(_, end)| *end == to).map(|(from, _)| *from);
            self.needs[to].iter().copied().chain(borrowers).collect::<Vec<_>>()
        };
        self.needs[step].contains(&before)
            || waits_for(step).into_iter().any(|middle| middle > before && self.is_behind(middle, before))
    }
}

#[expect(clippy::ptr_arg, reason = "the values of this program are a vector")]
fn put(values: &mut Vec<u64>, (step, value): (usize, u64)) {
    values[step] = value;
}

fn run(step: usize, seconds: u32, fails: bool, value: u64, log: Log) -> Fiber<(usize, u64)> {
    let (started, released) = (log.clone(), log.clone());
    let wait = if seconds == 0 { Fiber::success(()).boxed() } else { Fiber::delay(seconds * SECOND).boxed() };
    Fiber::now()
        .bind(move |now| {
            for entry in started.0.lock().unwrap().made.iter_mut().filter(|(made, _)| *made == step) {
                entry.1 = Some(now);
            }
            wait
        })
        .try_map(move |()| if fails { Err(Error::msg(format!("step {step}"))) } else { Ok(value) })
        .map(move |value| {
            log.0.lock().unwrap().ended.push(step);
            (step, value)
        })
        .ensure(Fiber::lazy(move || released.0.lock().unwrap().released.push(step)))
        .boxed()
}

/// Runs a fiber whose branches are lent; a seed decides which of them other threads steal.
fn where_lent(fiber: Fiber<u64>, seed: u64) -> Outcome<u64> {
    let steps = Steps::lending(seed);
    let handle = steps.spawn(fiber);
    steps.run(usize::MAX);
    assert_eq!(steps.live_fibers(), 0);
    handle.try_outcome().expect("the fiber has ended")
}

proptest! {
    #[test]
    fn the_wall_time_is_the_critical_path(graph in random(false)) {
        let (test, log) = (TestScheduler::new(), Log::default());
        let sum = test.run(graph.fiber(&log));
        let times = graph.times();
        prop_assert_eq!(sum.unwrap(), graph.sum());
        let path = times.iter().map(|(_, end)| *end).max().unwrap_or(0);
        prop_assert_eq!(test.now().as_nanos(), path * 1_000_000_000);
        test.assert_no_leaks();
        let entries = log.0.lock().unwrap();
        prop_assert_eq!(entries.made.len(), COUNT);
        for (step, start) in &entries.made {
            let start = start.expect("it has run").as_nanos();
            prop_assert_eq!(start, times[*step].0 * 1_000_000_000, "start of step {}", step);
        }
    }

    #[test]
    fn any_number_of_binds_in_a_turn_and_any_order_give_the_same(graph in random(false), seed: u64) {
        let ready = Random { seconds: vec![0; COUNT], ..graph.clone() };
        for flow in [&graph, &ready] {
            prop_assert_eq!(Queue::run(flow.fiber(&Log::default())).unwrap(), graph.sum());
            prop_assert_eq!(where_lent(flow.fiber(&Log::default()), seed).unwrap(), graph.sum());
        }
    }

    #[test]
    fn a_failure_stops_the_rest(graph in random(true), seed: u64) {
        let test = TestScheduler::with_seed(seed);
        let log = Log::default();
        let outcome = test.run(graph.fiber(&log));
        test.assert_no_leaks();
        check(&graph, &log, &outcome)?;
        let log = Log::default();
        check(&graph, &log, &Queue::run(graph.fiber(&log)))?;
        let log = Log::default();
        check(&graph, &log, &where_lent(graph.fiber(&log), seed))?;
    }
}

/// Steps that have started have ended, and their finalizers have run; steps that depend on a failure have not started.
fn check(graph: &Random, log: &Log, outcome: &Outcome<u64>) -> Result<(), TestCaseError> {
    let entries = log.0.lock().unwrap();
    let begun = entries.made.iter().filter(|(_, start)| start.is_some()).count();
    prop_assert_eq!(entries.released.len(), begun);
    match graph.fails {
        None => prop_assert!(matches!(outcome, Outcome::Success(sum) if *sum == graph.sum())),
        Some(failed) => {
            let Outcome::Failure(error) = outcome else { panic!("{outcome:?}") };
            prop_assert_eq!(error.to_string(), format!("step {failed}"));
            for (step, _) in &entries.made {
                prop_assert!(!graph.is_behind(*step, failed), "step {} is behind {}", step, failed);
            }
            prop_assert!(!entries.ended.contains(&failed));
        }
    }
    Ok(())
}

#[test]
fn under_all_schedules_and_cancellations() {
    let runner = &mut proptest::test_runner::TestRunner::deterministic();
    let strategy = random(true);
    for _ in 0..6 {
        let graph = strategy.new_tree(runner).unwrap().current();
        let small = Explore::default().schedules(200).no_regressions();
        for explore in [small, Explore::cancel_everywhere().schedules(200).no_regressions()] {
            let graph = graph.clone();
            let fails = graph.fails.is_some();
            let program = move || {
                let (log, graph) = (Log::default(), graph.clone());
                let fiber = graph.fiber(&log);
                fiber
                    .on_outcome(move |outcome| {
                        let entries = log.0.lock().unwrap();
                        let begun = entries.made.iter().filter(|(_, start)| start.is_some()).count();
                        assert_eq!(entries.released.len(), begun, "finalizers");
                        assert!(fails || outcome.is_cancelled() || outcome.is_success());
                        let failed = graph.fails.unwrap_or(COUNT);
                        assert!(!entries.made.iter().any(|(step, _)| graph.is_behind(*step, failed)));
                        Fiber::success(())
                    })
                    .catch(|_| Fiber::success(0))
            };
            explore.check(program);
        }
    }
}
