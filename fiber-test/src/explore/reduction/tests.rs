//! Random programs: the reduced enumeration shows everything that all orders show.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::Poll;
use std::time::Duration;

use fiber_core::scheduler::footprint::{Access, Object, touch, touch_read};
use fiber_core::sync::{
    Barrier, Broadcast, Cache, Channel, Latch, Mutex, Notify, Promise, Receiver, Ref, RwLock, Semaphore,
    Sender, Subscriber, Watch, Watcher,
};
use fiber_core::{CancelToken, Context, Error, Fiber, Outcome, dataflow};
use parking_lot::Mutex as Lock;
use proptest::prelude::*;
use proptest::strategy::Strategy as Any;
use proptest::test_runner::RngSeed;

use super::causes::{Causes, is_named};
use super::{Open, Planned, Reduction, Search, Source};
use crate::explore::enumeration::Enumeration;
use crate::explore::program::Program;
use crate::explore::run::Execution;
use crate::explore::run::{Keep, Runner};
use crate::explore::settings::Settings;
use crate::machine::{Course, Steps};
use crate::random::SplitMix64;
use crate::strategy::RandomWalk;

/// The state that the fibers of a program share.
#[derive(Clone)]
struct World {
    refs: [Ref<u32>; 2],
    mutex: Mutex<u32>,
    rw: RwLock<u32>,
    semaphore: Semaphore,
    channel: (Sender<u32>, Receiver<u32>),
    rendezvous: (Sender<u32>, Receiver<u32>),
    promise: Promise<u32>,
    notify: Notify,
    latch: Latch,
    barrier: Barrier,
    broadcast: Broadcast<u32>,
    subscriber: Arc<Subscriber<u32>>,
    watch: Watch<u32>,
    watcher: Watcher<u32>,
    cache: Cache<u32, u32>,
    token: Arc<CancelToken>,
    declared: Arc<AtomicU32>,
    /// The fibers that run.
    fibers: Arc<(Object, Lock<Vec<Context>>)>,
}

impl World {
    fn new() -> Self {
        let (broadcast, watch) = (Broadcast::lossless(1), Watch::new(0));
        World {
            refs: [Ref::new(0), Ref::new(0)],
            mutex: Mutex::new(0),
            rw: RwLock::new(0),
            semaphore: Semaphore::new(2),
            channel: Channel::bounded(1),
            rendezvous: Channel::rendezvous(),
            promise: Promise::new(),
            notify: Notify::new(),
            latch: Latch::new(2),
            barrier: Barrier::new(2),
            subscriber: Arc::new(broadcast.subscribe()),
            broadcast,
            watcher: watch.watch(),
            watch,
            cache: Cache::new(1),
            token: Arc::new(CancelToken::new()),
            declared: Arc::default(),
            fibers: Arc::new((Object::new(), Lock::default())),
        }
    }
}

#[derive(Clone, Debug)]
enum Op {
    Read(usize),
    Add(usize, u32),
    Lock(u32),
    Share,
    Exclude(u32),
    Permits(usize),
    Send(u32),
    Receive,
    TrySend(u32),
    TryReceive,
    Close,
    Hand(u32),
    Take,
    Complete(u32),
    Await,
    NotifyOne,
    NotifyAll,
    Notified,
    CountDown,
    Opened,
    Meet,
    Publish(u32),
    Hear,
    Set(u32),
    Changed,
    CancelToken,
    TokenCancelled,
    Touch(u32),
    TouchRead,
    Delay(u64),
    Yield,
    Cancel(usize),
    Fail,
    Timeout(u64, Box<Op>),
    Race(Box<Op>, Box<Op>),
    Zip(Box<Op>, Box<Op>),
    Both(Box<Op>, Box<Op>),
    Fork(Box<Op>),
    Detach(Box<Op>),
    Scope(Box<Op>, Box<Op>),
    Ensure(Box<Op>, Box<Op>),
    Shielded(Box<Op>),
    Limited(Box<Op>, Box<Op>, Box<Op>),
    Block(Box<Op>, Box<Op>),
    Polled(Box<Op>, Box<Op>),
    Cached(Box<Op>),
    Holding(Box<Op>),
    Blocking(u32),
    Dataflow(Box<Op>, Box<Op>, Box<Op>),
}

const MILLIS: fn(u64) -> Duration = Duration::from_millis;

impl Op {
    fn fiber(self, world: &World) -> Fiber<u32> {
        let w = world.clone();
        match self {
            Op::Read(at) => w.refs[at].read().map(|value| *value).boxed(),
            Op::Add(at, more) => w.refs[at].modify(move |value| (value + more, *value)).boxed(),
            Op::Lock(more) => w
                .mutex
                .with(move |mut value| {
                    Fiber::yield_now().map(move |()| {
                        *value += more;
                        *value
                    })
                })
                .boxed(),
            Op::Share => w.rw.with_read(|value| Fiber::yield_now().map(move |()| *value)).boxed(),
            Op::Exclude(more) => {
                w.rw.write()
                    .map(move |mut value| {
                        *value += more;
                        *value
                    })
                    .boxed()
            }
            Op::Permits(count) => w.semaphore.with_permits(count, Fiber::yield_now().map(|()| 1)).boxed(),
            Op::Send(item) => w.channel.0.send(item).map(|()| 1).boxed(),
            Op::Receive => w.channel.1.recv().boxed(),
            Op::TrySend(item) => Fiber::lazy(move || u32::from(w.channel.0.try_send(item).is_ok())).boxed(),
            Op::TryReceive => Fiber::lazy(move || w.channel.1.try_recv().unwrap_or(99)).boxed(),
            Op::Close => Fiber::lazy(move || u32::from(w.channel.0.close())).boxed(),
            Op::Hand(item) => w.rendezvous.0.send(item).map(|()| 1).boxed(),
            Op::Take => w.rendezvous.1.recv().boxed(),
            Op::Complete(value) => Fiber::lazy(move || u32::from(w.promise.success(value))).boxed(),
            Op::Await => w.promise.wait().boxed(),
            Op::NotifyOne => Fiber::lazy(move || {
                w.notify.notify_one();
                1
            })
            .boxed(),
            Op::NotifyAll => Fiber::lazy(move || {
                w.notify.notify_all();
                1
            })
            .boxed(),
            Op::Notified => w.notify.wait().map(|()| 1).boxed(),
            Op::CountDown => Fiber::lazy(move || u32::from(w.latch.count_down())).boxed(),
            Op::Opened => w.latch.wait().map(|()| 1).boxed(),
            Op::Meet => w.barrier.wait().map(u32::from).boxed(),
            Op::Publish(value) => w.broadcast.send(value).map(|()| 1).boxed(),
            Op::Hear => w.subscriber.recv().boxed(),
            Op::Set(value) => Fiber::lazy(move || {
                w.watch.set(value);
                1
            })
            .boxed(),
            Op::Changed => w.watcher.changed().boxed(),
            Op::CancelToken => Fiber::lazy(move || {
                w.token.cancel();
                1
            })
            .boxed(),
            Op::TokenCancelled => w.token.cancelled().map(|()| 1).boxed(),
            Op::Touch(more) => Fiber::lazy(move || {
                touch("declared");
                w.declared.fetch_add(more, SeqCst)
            })
            .boxed(),
            Op::TouchRead => Fiber::lazy(move || {
                touch_read("declared");
                w.declared.load(SeqCst)
            })
            .boxed(),
            Op::Delay(millis) => Fiber::delay(MILLIS(millis)).map(|()| 1).boxed(),
            Op::Yield => Fiber::yield_now().map(|()| 1).boxed(),
            Op::Cancel(at) => Fiber::lazy(move || {
                w.fibers.0.touch(Access::Read);
                let fiber = w.fibers.1.lock().get(at).cloned();
                fiber.inspect(Context::cancel).map_or(0, |_| 1)
            })
            .boxed(),
            Op::Fail => Fiber::fail(Error::msg("no")).boxed(),
            Op::Timeout(millis, op) => {
                op.fiber(&w).timeout_option(MILLIS(millis)).map(|value| value.unwrap_or(77)).boxed()
            }
            Op::Race(one, other) => Fiber::race_all([one.fiber(&w), other.fiber(&w)]).boxed(),
            Op::Zip(one, other) => {
                one.fiber(&w).zip(other.fiber(&w)).map(|(one, other)| one * 10 + other).boxed()
            }
            Op::Both(one, other) => one.fiber(&w).bind(move |_| other.fiber(&w)).boxed(),
            Op::Fork(op) => {
                op.fiber(&w).fork().bind(|handle| handle.outcome()).map(|outcome| seen(&outcome)).boxed()
            }
            Op::Detach(op) => op.fiber(&w).catch(|_| Fiber::success(5)).detach().map(|_| 1).boxed(),
            Op::Scope(one, other) => Fiber::scope(move |scope| {
                let other = other.fiber(&w).catch(|_| Fiber::success(5));
                let after = scope.clone();
                scope
                    .fork(one.fiber(&w).catch(|_| Fiber::success(5)))
                    .bind(move |_| other)
                    .bind(move |value| after.await_all().map(move |()| value))
            })
            .boxed(),
            Op::Ensure(op, last) => {
                op.fiber(&w).ensure(last.fiber(&w).map(drop).catch(|_| Fiber::success(()))).boxed()
            }
            Op::Shielded(op) => op.fiber(&w).uncancelable().boxed(),
            Op::Limited(one, two, three) => Fiber::parallel([one.fiber(&w), two.fiber(&w), three.fiber(&w)])
                .limit(2)
                .map(|all| all.into_iter().fold(0, |sum, value| sum * 10 + value))
                .boxed(),
            Op::Block(one, other) => Fiber::block(async move || {
                let one = one.fiber(&w).await?;
                Ok::<u32, Error>(one * 10 + other.fiber(&w).await?)
            })
            .boxed(),
            Op::Polled(one, other) => Fiber::block(async move || {
                let (one, other) = (one.fiber(&w), other.fiber(&w));
                let (mut one, mut other) = (Box::pin(async { one.await }), Box::pin(async { other.await }));
                poll_fn(|cx| match one.as_mut().poll(cx) {
                    Poll::Pending => other.as_mut().poll(cx),
                    ready => ready,
                })
                .await
            })
            .boxed(),
            Op::Cached(op) => {
                let value = op.fiber(&w);
                w.cache.get(1, move || value).map(|value| *value).boxed()
            }
            // What the operation forks may hold the permit for longer.
            Op::Holding(op) => {
                let op = op.fiber(&w);
                w.semaphore.with_permits(1, op.fork().bind(Fiber::success)).map(|_| 1).boxed()
            }
            Op::Dataflow(one, two, three) => {
                let (one, two, three) = (one.fiber(&w), two.fiber(&w), three.fiber(&w));
                let all = dataflow! {
                    let a = one;
                    let b = two;
                    let c = three.map(move |c| a * 10 + c);
                    b * 100 + c
                };
                all.boxed()
            }
            Op::Blocking(value) => Fiber::blocking(move || value).boxed(),
        }
    }
}

fn seen(outcome: &Outcome<u32>) -> u32 {
    match outcome {
        Outcome::Success(value) => *value,
        Outcome::Failure(_) => 1_001,
        Outcome::Panicked(_) => 1_002,
        Outcome::Cancelled => 1_003,
    }
}

fn simple() -> impl Any<Value = Op> {
    prop_oneof![
        (0..2_usize).prop_map(Op::Read),
        (0..2_usize, 1..3_u32).prop_map(|(at, more)| Op::Add(at, more)),
        (1..3_u32).prop_map(Op::Lock),
        Just(Op::Share),
        (1..3_u32).prop_map(Op::Exclude),
        (1..3_usize).prop_map(Op::Permits),
        (1..4_u32).prop_map(Op::Send),
        Just(Op::Receive),
        (1..4_u32).prop_map(Op::TrySend),
        Just(Op::TryReceive),
        Just(Op::Close),
        (1..4_u32).prop_map(Op::Hand),
        Just(Op::Take),
        (1..4_u32).prop_map(Op::Complete),
        Just(Op::Await),
        Just(Op::NotifyOne),
        Just(Op::NotifyAll),
        Just(Op::Notified),
        Just(Op::CountDown),
        Just(Op::Opened),
        Just(Op::Meet),
        (1..4_u32).prop_map(Op::Publish),
        Just(Op::Hear),
        (1..4_u32).prop_map(Op::Set),
        Just(Op::Changed),
        Just(Op::CancelToken),
        Just(Op::TokenCancelled),
        (1..3_u32).prop_map(Op::Touch),
        Just(Op::TouchRead),
        (0..3_u64).prop_map(Op::Delay),
        Just(Op::Yield),
        (0..3_usize).prop_map(Op::Cancel),
        Just(Op::Fail),
        (0..3_u32).prop_map(Op::Blocking),
    ]
}

fn op() -> impl Any<Value = Op> {
    simple().prop_recursive(2, 6, 3, |op| {
        let two = || (op.clone(), op.clone()).prop_map(|(one, other)| (Box::new(one), Box::new(other)));
        prop_oneof![
            (0..3_u64, op.clone()).prop_map(|(millis, op)| Op::Timeout(millis, Box::new(op))),
            two().prop_map(|(one, other)| Op::Race(one, other)),
            two().prop_map(|(one, other)| Op::Zip(one, other)),
            two().prop_map(|(one, other)| Op::Both(one, other)),
            op.clone().prop_map(|op| Op::Fork(Box::new(op))),
            op.clone().prop_map(|op| Op::Detach(Box::new(op))),
            two().prop_map(|(one, other)| Op::Scope(one, other)),
            two().prop_map(|(one, other)| Op::Ensure(one, other)),
            op.clone().prop_map(|op| Op::Shielded(Box::new(op))),
            (two(), op.clone()).prop_map(|((one, two), three)| Op::Limited(one, two, Box::new(three))),
            two().prop_map(|(one, other)| Op::Block(one, other)),
            two().prop_map(|(one, other)| Op::Polled(one, other)),
            op.clone().prop_map(|op| Op::Cached(Box::new(op))),
            op.clone().prop_map(|op| Op::Holding(Box::new(op))),
            (two(), op.clone()).prop_map(|((one, two), three)| Op::Dataflow(one, two, Box::new(three))),
        ]
    })
}

/// The fibers, and whether they are forks.
#[derive(Clone, Debug)]
struct Described {
    fibers: Vec<Vec<Op>>,
    are_forks: bool,
}

fn described() -> impl Any<Value = Described> {
    let fibers = prop::collection::vec(prop::collection::vec(op(), 1..=3), 2..=3);
    (fibers, any::<bool>()).prop_map(|(fibers, are_forks)| Described { fibers, are_forks })
}

/// Dropped after the run: the last drop of each has an effect, and `Arc` does not declare it.
type Kept = (Arc<Subscriber<u32>>, Arc<CancelToken>);

/// Runs all of them, and records what they have seen.
fn program(described: &Described, seen_by_all: &Arc<Lock<String>>, kept: &Lock<Vec<Kept>>) -> Fiber<()> {
    let world = World::new();
    kept.lock().push((world.subscriber.clone(), world.token.clone()));
    let note = {
        let (world, seen_by_all) = (world.clone(), seen_by_all.clone());
        move |outcomes: Option<Vec<String>>| {
            let World { refs, mutex, channel, declared, watch, .. } = &world;
            // Detached fibers may still run.
            touch_read("declared");
            let values = [*refs[0].load(), *refs[1].load(), declared.load(SeqCst), watch.get()];
            let locked = mutex.try_lock().map(|value| *value);
            *seen_by_all.lock() = format!("{outcomes:?} {values:?} {locked:?} {}", channel.0.len());
        }
    };
    let fibers = described.fibers.clone().into_iter().map({
        let world = world.clone();
        move |ops| {
            let none = Fiber::success(Vec::new()).boxed();
            ops.into_iter().fold(none, |before, op| {
                let world = world.clone();
                let next = move |mut log: Vec<u32>| {
                    op.fiber(&world).map(move |value| {
                        log.push(value);
                        log
                    })
                };
                before.bind(next).boxed()
            })
        }
    });
    let text = |outcome: Outcome<Vec<u32>>| match outcome {
        Outcome::Success(log) => format!("{log:?}"),
        Outcome::Failure(error) => error.to_string(),
        Outcome::Panicked(_) => "panicked".to_owned(),
        Outcome::Cancelled => "cancelled".to_owned(),
    };
    let fibers: Vec<_> = fibers.collect();
    let outcomes = if described.are_forks {
        let mut handles = Fiber::success(Vec::new()).boxed();
        for fiber in fibers {
            let running = world.fibers.clone();
            handles = handles
                .bind(move |mut handles| {
                    fiber.fork().map(move |handle| {
                        running.0.touch(Access::Write);
                        running.1.lock().push(handle.context().clone());
                        handles.push(handle);
                        handles
                    })
                })
                .boxed();
        }
        let all = handles.bind(move |handles| {
            Fiber::parallel(handles.into_iter().map(move |handle| handle.outcome().map(text)))
        });
        all.boxed()
    } else {
        let running = world.fibers.clone();
        let all = Fiber::parallel(fibers.into_iter().map(move |fiber| {
            let running = running.clone();
            let known = Fiber::current().map(move |context| {
                running.0.touch(Access::Write);
                running.1.lock().push(context);
            });
            known.bind(move |()| fiber).attempt_outcome(text)
        }));
        all.boxed()
    };
    drop(world);
    // A run ends with its program, so the program must end last, and must not fail.
    let ended = outcomes.fork().bind(|program| program.outcome());
    ended.map(move |outcome| note(outcome.success())).boxed()
}

trait AttemptOutcome {
    fn attempt_outcome(self, text: fn(Outcome<Vec<u32>>) -> String) -> Fiber<String>;
}

impl<R: fiber_core::Run<Out = Vec<u32>>> AttemptOutcome for Fiber<Vec<u32>, R> {
    fn attempt_outcome(self, text: fn(Outcome<Vec<u32>>) -> String) -> Fiber<String> {
        let caught =
            self.map(move |log| text(Outcome::Success(log))).catch(|error| Fiber::success(error.to_string()));
        caught.boxed()
    }
}

/// The results of all runs of a source: what the fibers saw, and the traces.
#[derive(Debug, Default)]
struct Seen {
    ends: BTreeSet<String>,
    /// With their steps.
    traces: BTreeMap<u64, String>,
    runs: u64,
    is_complete: bool,
    is_named: bool,
}

const MOST_RUNS: u64 = 600;

fn run_all(source: &mut dyn Source, described: &Described, most: u64) -> Seen {
    let seen_by_all = Arc::new(Lock::new(String::new()));
    let kept = Arc::new(Lock::new(Vec::new()));
    let program = {
        let seen_by_all = seen_by_all.clone();
        let kept = kept.clone();
        let described = described.clone();
        move || program(&described, &seen_by_all, &kept)
    };
    let settings = Settings::default();
    let mut runner =
        Runner::new(&program as &dyn Program, &settings, Keep::Failures, std::panic::Location::caller());
    let mut causes = Causes::default();
    let mut seen = Seen { is_named: true, ..Seen::default() };
    while seen.runs < most {
        let Some(Planned { mut course, open, search, .. }) = source.next() else { break };
        course.steps.get_or_insert_default();
        seen_by_all.lock().clear();
        kept.lock().clear();
        let mut execution = runner.run(course);
        seen.runs += 1;
        let problem = execution.problem.as_ref().map(|problem| problem.kind());
        let end = format!("{problem:?} {}", std::mem::take(&mut *seen_by_all.lock()));
        if search == Search::RandomWalk && source.reduced().is_some() {
            // Runs that only check do not count as seen.
            source.learn(open, &mut execution);
            continue;
        }
        let is_new = !matches!(&execution.strategy, crate::strategy::Strategy::Guide(guide) if guide.redundant_from.is_some());
        if let Some(steps) = execution.steps.as_ref().filter(|_| is_new) {
            causes.learn(steps, steps.all().len(), steps.all().len());
            seen.is_named &= is_named(steps.all());
            seen.ends.insert(end);
            seen.traces.entry(causes.trace()).or_insert_with(|| text(steps));
        }
        source.learn(open, &mut execution);
    }
    seen.is_complete = source.is_complete();
    seen
}

fn text(steps: &Steps) -> String {
    let mut text = String::new();
    for (at, step) in steps.all().iter().enumerate() {
        let footprint: Vec<_> = steps
            .footprint(step)
            .iter()
            .map(|(object, access)| format!("{access:?} {:x}", object & 0xffff))
            .collect();
        let (task, lane, maker) = (step.task.0 & 0xffff, step.lane.0, step.maker);
        writeln!(text, "{at} {task:x} of {lane} at {} by {maker:?}: {}", step.at, footprint.join(", "))
            .expect("a string takes all");
    }
    text
}

/// Random walks.
struct Walks(SplitMix64);

impl Source for Walks {
    fn next(&mut self) -> Option<Planned> {
        let walk = RandomWalk::new(self.0.split());
        let course = Course { strategy: crate::strategy::Strategy::RandomWalk(walk), ..Course::default() };
        Some(Planned { course, search: Search::RandomWalk, open: None })
    }

    fn learn(&mut self, _: Option<Open>, _: &mut Execution) {}

    fn is_complete(&self) -> bool {
        false
    }
}

/// Every end and every run of all orders, and of random orders, has to be among the reduced ones.
fn compare(described: &Described) -> Result<(), TestCaseError> {
    let reduced = run_all(&mut Reduction::new(0), described, 2 * MOST_RUNS);
    prop_assume!(reduced.is_complete || reduced.runs < 2 * MOST_RUNS);
    prop_assert!(reduced.is_complete, "the checks of the reduced exploration have found something");
    let walked = run_all(&mut Walks(SplitMix64::new(1)), described, 60);
    let all = run_all(&mut Enumeration::new(0, None), described, MOST_RUNS);
    for seen in [&walked, &all] {
        let missed: Vec<_> = seen.ends.difference(&reduced.ends).collect();
        prop_assert!(missed.is_empty(), "missed {missed:?}\nof {:?}", reduced.ends);
        let missed = seen.traces.iter().find(|(trace, _)| !reduced.traces.contains_key(trace));
        if let Some((_, missed)) = missed {
            let some: String = reduced.traces.values().take(3).map(|text| format!("\n{text}")).collect();
            prop_assert!(false, "this trace is missed\n{missed}of{some}");
        }
    }
    Ok(())
}

/// The same few programs in every run of the tests, each of which takes about a second; `.ci/run` tries four times as many.
/// `PROPTEST_CASES` and `PROPTEST_RNG_SEED` select others.
fn config() -> ProptestConfig {
    let mut config =
        ProptestConfig { failure_persistence: None, max_global_rejects: u32::MAX, ..Default::default() };
    let is_given = |name: &str| std::env::var_os(name).is_some();
    if !is_given("PROPTEST_CASES") {
        config.cases = 8;
    }
    if !is_given("PROPTEST_RNG_SEED") {
        config.rng_seed = RngSeed::Fixed(0);
    }
    config
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_run_is_equivalent_to_a_reduced_one(described in described()) {
        compare(&described)?;
    }
}

/// A branch that loses a race touches less than one that runs before the other has won. If it sleeps, and was only seen to run
/// after the other, nothing shows that it depends on a third fiber.
#[test]
fn what_a_step_touches_after_another_one_is_not_what_it_touches_before() {
    let race = || Op::Race(Box::new(Op::Complete(1)), Box::new(Op::Send(1)));
    let zip = || Op::Zip(Box::new(Op::Complete(1)), Box::new(Op::Send(1)));
    for fibers in
        [vec![vec![race()], vec![Op::Complete(1)], vec![Op::Send(1)]], vec![vec![race()], vec![zip()]]]
    {
        for are_forks in [false, true] {
            compare(&Described { fibers: fibers.clone(), are_forks }).expect("nothing is missed");
        }
    }
}
