//! Programs made of all combinators at random, cancelled at a random moment: the rules that hold for every one of them.
//!
//! A [`Program`] is a printable tree, which proptest shrinks. [`Builder`] makes a fiber of it, and notes in the [`World`]
//! whatever breaks a rule:
//!
//! * A program ends, also when it is cancelled, and leaves no fiber, timer or task.
//! * Nothing of it runs after its end; nor of a branch, a timeout's body or a cancelled fiber after that has ended.
//! * A finalizer begins and ends once for every start of what it belongs to, and nothing cancels it half-way.
//! * A failure or panic is seen: by a handler, in the outcome or suppressed into it, or by the hook for unobserved ones.
//! * Only what was cancelled ends as cancelled.

mod support;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fiber_core::{Fiber, Handle, Outcome, Panic, Resume};
use fiber_test::TestScheduler;
use proptest::prelude::*;
use support::Steps;

/// Cases of each test: some seconds in all, in a debug build.
const CASES: u32 = 4000;

/// Programs that are cancelled at each of their turns, and how many turns of one that is at the most.
const SWEPT: u32 = 200;
const MOST_TURNS: usize = 500;

/// The unit of the programs' sleeps.
const TICK: Duration = Duration::from_millis(1);

/// No program of this size has anything left to do after so many ticks, unless it waits for ever.
const LONGEST: u32 = 10_000;

/// A program that gives a number.
#[derive(Clone, Debug)]
enum Program {
    Succeed,
    Fail,
    Panic,
    /// Waits for ever; where no cancellation could end that, it yields instead.
    Never,
    Yield,
    Sleep(u32),
    Block,
    /// A callback that another branch resumes after some ticks.
    HandOver(u32),
    /// A callback that nobody resumes.
    Forgotten,
    Bind(Box<Program>, Box<Program>),
    Tap(Box<Program>, Box<Program>),
    Repeat(u8, Box<Program>),
    Catch(Box<Program>, Box<Program>),
    CatchPanic(Box<Program>, Box<Program>),
    /// Answers to everything, cancellation included, with a success.
    Heal(Box<Program>),
    Ensure(Box<Program>, Box<Program>),
    OnOutcome(Box<Program>, Box<Program>),
    Uncancelable(Box<Program>),
    Timeout(u32, Box<Program>),
    TimeoutTo(u32, Box<Program>, Box<Program>),
    Zip(Box<Program>, Box<Program>),
    Race(Box<Program>, Box<Program>),
    RaceAll(Vec<Program>),
    Parallel(usize, Vec<Program>),
    Await(Box<Program>),
    /// Forks the first, runs the second, and joins.
    ForkJoin(Box<Program>, Box<Program>),
    /// Forks the first, runs the second, and forgets the handle.
    ForkForget(Box<Program>, Box<Program>),
    /// Forks the first, runs the second, cancels, and looks at the outcome.
    ForkCancel(Box<Program>, Box<Program>),
    /// Forks; one branch joins the fiber while another one cancels it after some yields.
    ForkFight(u8, Box<Program>),
}

fn program() -> impl Strategy<Value = Program> {
    let leaf = prop_oneof![
        3 => Just(Program::Succeed),
        2 => Just(Program::Fail),
        1 => Just(Program::Panic),
        2 => Just(Program::Never),
        3 => Just(Program::Yield),
        4 => (0..8u32).prop_map(Program::Sleep),
        1 => Just(Program::Block),
        1 => (0..4u32).prop_map(Program::HandOver),
        1 => Just(Program::Forgotten),
    ];
    leaf.prop_recursive(6, 40, 4, |inner| {
        let one = inner.clone().prop_map(Box::new).boxed();
        let two = (one.clone(), one.clone()).boxed();
        let many = prop::collection::vec(inner, 0..5).boxed();
        prop_oneof![
            3 => two.clone().prop_map(|(a, b)| Program::Bind(a, b)),
            1 => two.clone().prop_map(|(a, b)| Program::Tap(a, b)),
            1 => (0..4u8, one.clone()).prop_map(|(n, a)| Program::Repeat(n, a)),
            1 => two.clone().prop_map(|(a, b)| Program::Catch(a, b)),
            1 => two.clone().prop_map(|(a, b)| Program::CatchPanic(a, b)),
            1 => one.clone().prop_map(Program::Heal),
            3 => two.clone().prop_map(|(a, b)| Program::Ensure(a, b)),
            1 => two.clone().prop_map(|(a, b)| Program::OnOutcome(a, b)),
            2 => one.clone().prop_map(Program::Uncancelable),
            2 => (0..10u32, one.clone()).prop_map(|(t, a)| Program::Timeout(t, a)),
            1 => (0..10u32, two.clone()).prop_map(|(t, (a, b))| Program::TimeoutTo(t, a, b)),
            2 => two.clone().prop_map(|(a, b)| Program::Zip(a, b)),
            2 => two.clone().prop_map(|(a, b)| Program::Race(a, b)),
            1 => many.clone().prop_map(Program::RaceAll),
            2 => (1..4usize, many).prop_map(|(limit, all)| Program::Parallel(limit, all)),
            1 => one.clone().prop_map(Program::Await),
            2 => two.clone().prop_map(|(a, b)| Program::ForkJoin(a, b)),
            1 => two.clone().prop_map(|(a, b)| Program::ForkForget(a, b)),
            2 => two.prop_map(|(a, b)| Program::ForkCancel(a, b)),
            1 => (0..6u8, one).prop_map(|(turns, a)| Program::ForkFight(turns, a)),
        ]
    })
}

/// What the parts of a running program leave behind.
#[derive(Default)]
struct World {
    next: AtomicU32,
    /// The failures and panics that happened, and those that somebody saw.
    raised: Mutex<BTreeSet<u32>>,
    seen: Mutex<BTreeSet<u32>>,
    finalizers: Mutex<Vec<Arc<Finalizer>>>,
    broken: Mutex<Vec<String>>,
}

/// How often something with a finalizer was started, and its finalizer began and ended.
#[derive(Debug, Default)]
struct Finalizer {
    started: AtomicU32,
    begun: AtomicU32,
    ended: AtomicU32,
}

/// The error that a program raises.
#[derive(Debug)]
struct Raised(u32);

/// What the message of a [`Raised`] begins with, as an error or as a panic.
const MARK: &str = "raised #";

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MARK}{};", self.0)
    }
}

impl std::error::Error for Raised {}

impl World {
    fn raise(&self) -> Raised {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.raised.lock().unwrap().insert(id);
        Raised(id)
    }

    /// Takes note of every [`Raised`] that a message names.
    fn see(&self, message: &str) {
        let ids = message.split(MARK).skip(1).filter_map(|rest| rest.split(';').next()?.parse::<u32>().ok());
        self.seen.lock().unwrap().extend(ids);
    }

    fn see_panic(&self, panic: &Panic) {
        self.see(&format!("{panic:?}"));
    }

    fn see_outcome<T>(&self, outcome: &Outcome<T>) {
        match outcome {
            Outcome::Failure(error) => self.see(&format!("{error:?}")),
            Outcome::Panicked(panic) => self.see_panic(panic),
            Outcome::Success(_) | Outcome::Cancelled => {}
        }
    }

    fn broken(&self, rule: impl Into<String>) {
        self.broken.lock().unwrap().push(rule.into());
    }

    /// Everything that is wrong after the end.
    fn complaints(&self, unobserved: &[String]) -> Vec<String> {
        unobserved.iter().for_each(|report| self.see(report));
        let mut complaints = self.broken.lock().unwrap().clone();
        let (raised, seen) = (self.raised.lock().unwrap(), self.seen.lock().unwrap());
        let vanished: Vec<_> = raised.difference(&seen).collect();
        if !vanished.is_empty() {
            complaints.push(format!("nobody saw {vanished:?}; unobserved: {unobserved:?}"));
        }
        for finalizer in &*self.finalizers.lock().unwrap() {
            let [started, begun, ended] =
                [&finalizer.started, &finalizer.begun, &finalizer.ended].map(|n| n.load(Ordering::Relaxed));
            // What was cancelled before it started may have its finalizer run, or not.
            if begun > 1 || begun != ended || started > begun {
                complaints.push(format!("{finalizer:?}"));
            }
        }
        complaints
    }
}

/// A part of the program that ends before what is around it does.
#[derive(Clone, Default)]
struct Part(Option<Arc<PartState>>);

#[derive(Default)]
struct PartState {
    has_ended: AtomicBool,
    around: Part,
}

impl Part {
    fn inside(&self) -> Part {
        Part(Some(Arc::new(PartState { has_ended: AtomicBool::new(false), around: self.clone() })))
    }

    fn end(&self) {
        if let Some(state) = &self.0 {
            state.has_ended.store(true, Ordering::Relaxed);
        }
    }

    fn has_ended(&self) -> bool {
        let mut at = self;
        while let Some(state) = &at.0 {
            if state.has_ended.load(Ordering::Relaxed) {
                return true;
            }
            at = &state.around;
        }
        false
    }
}

/// What may end a wait at some place of a program.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    /// The cancellation of the whole program.
    Everything,
    /// Not that, but perhaps a race or a timeout around; so a wait has to end by itself.
    Perhaps,
    /// Nothing: an uncancelable region is around, with nothing in between.
    Nothing,
}

/// Makes fibers of programs.
#[derive(Clone)]
struct Builder {
    world: Arc<World>,
    part: Part,
    reach: Reach,
}

impl Builder {
    /// The whole program: when its fiber ends, nothing of it runs any more.
    fn whole(world: &Arc<World>, program: Program) -> Fiber<u32> {
        let builder = Builder { world: world.clone(), part: Part::default(), reach: Reach::Everything };
        builder.limited(LONGEST * 100, program)
    }

    /// As seen from a part of its own.
    fn inside(&self) -> Self {
        let reach = if self.reach == Reach::Everything { Reach::Everything } else { Reach::Perhaps };
        Builder { part: self.part.inside(), reach, ..self.clone() }
    }

    fn with_reach(&self, reach: Reach) -> Self {
        Builder { reach, ..self.clone() }
    }

    fn limited(&self, ticks: u32, program: Program) -> Fiber<u32> {
        let inside = self.inside().with_reach(Reach::Everything);
        let part = inside.part.clone();
        let limited = inside.fiber(program).timeout(ticks * TICK);
        self.ends(part, limited.boxed())
    }

    /// Notes that `part` has ended when the fiber has.
    fn ends<T: Send + 'static>(&self, part: Part, fiber: Fiber<T>) -> Fiber<T> {
        fiber
            .map_outcome(move |outcome| {
                part.end();
                outcome
            })
            .boxed()
    }

    /// Code of the program runs.
    fn runs(&self) {
        if self.part.has_ended() {
            self.world.broken("something ran after the end of the part that it belongs to");
        }
    }

    /// The fiber, which is made when it runs: each run is a program of its own.
    fn fiber(&self, program: Program) -> Fiber<u32> {
        let builder = self.clone();
        Fiber::defer(move || {
            builder.runs();
            builder.make(program)
        })
        .boxed()
    }

    fn make(&self, program: Program) -> Fiber<u32> {
        use Program::*;
        match program {
            Succeed => Fiber::success(1).boxed(),
            Fail => self.with_world(|world| Fiber::try_lazy(move || Err(world.raise())).boxed()),
            Panic => self.with_world(|world| {
                Fiber::lazy(move || std::panic::panic_any(world.raise().to_string())).boxed()
            }),
            Never if self.reach == Reach::Everything => self.waits(Fiber::never().boxed()),
            Never | Yield => self.waits(Fiber::yield_now().map(|()| 1).boxed()),
            Sleep(ticks) => self.waits(Fiber::delay(ticks * TICK).map(|()| 1).boxed()),
            Block => self.waits(Fiber::blocking(|| 1).boxed()),
            HandOver(ticks) => self.hand_over(ticks),
            Forgotten => self.waits(Fiber::callback(drop).catch(|_| Fiber::success(1)).boxed()),
            Bind(first, then) => {
                let then = self.fiber(*then);
                self.fiber(*first).bind(move |n| then.map(move |m: u32| n.wrapping_add(m))).boxed()
            }
            Tap(first, then) => {
                let then = self.fiber(*then);
                self.fiber(*first).tap(move |_| then).boxed()
            }
            Repeat(rounds, body) => self.repeat(rounds, *body),
            Catch(body, handler) => {
                let (world, handler) = (self.world.clone(), self.fiber(*handler));
                self.fiber(*body)
                    .catch(move |error| {
                        world.see(&format!("{error:?}"));
                        handler
                    })
                    .boxed()
            }
            CatchPanic(body, handler) => {
                let (world, handler) = (self.world.clone(), self.fiber(*handler));
                self.fiber(*body)
                    .catch_panic(move |panic| {
                        world.see_panic(&panic);
                        handler
                    })
                    .boxed()
            }
            Heal(body) => {
                let builder = self.clone();
                self.fiber(*body).map_outcome(move |outcome| builder.observed(&outcome)).boxed()
            }
            Ensure(body, finalizer) => {
                let (body, finalizer) = self.finalized(*body, *finalizer);
                body.ensure(finalizer).boxed()
            }
            OnOutcome(body, finalizer) => {
                let (body, finalizer) = self.finalized(*body, *finalizer);
                body.on_outcome(move |_| finalizer).boxed()
            }
            Uncancelable(body) => self.with_reach(Reach::Nothing).fiber(*body).uncancelable().boxed(),
            Timeout(ticks, body) => self.limited(ticks, *body),
            TimeoutTo(ticks, body, fallback) => {
                let inside = self.inside().with_reach(Reach::Everything);
                let body = inside.fiber(*body).timeout_option(ticks * TICK);
                let fallback = self.fiber(*fallback);
                self.ends(inside.part, body.boxed())
                    .bind(move |value| match value {
                        Some(n) => Fiber::success(n).boxed(),
                        None => fallback,
                    })
                    .boxed()
            }
            Zip(left, right) => {
                let inside = self.inside();
                let both = inside.fiber(*left).zip(inside.fiber(*right));
                self.ends(inside.part, both.map(|(n, m)| n.wrapping_add(m)).boxed())
            }
            Race(left, right) => {
                let inside = self.inside();
                let first = inside.fiber(*left).race(inside.fiber(*right));
                self.ends(inside.part, first.map(|either| either.into_inner()).boxed())
            }
            RaceAll(all) => {
                let inside = self.inside();
                let all: Vec<_> = all.into_iter().map(|program| inside.fiber(program)).collect();
                self.ends(inside.part, Fiber::race_all(all).boxed())
            }
            Parallel(limit, all) => {
                let inside = self.inside();
                let part = inside.part.clone();
                let all = all.into_iter().map(move |program| {
                    inside.runs();
                    inside.fiber(program)
                });
                let sum = Fiber::parallel(all).limit(limit).map(|all| all.len() as u32);
                self.ends(part, sum.boxed())
            }
            Await(body) => self.awaits(self.inside().fiber(*body)),
            ForkJoin(child, meanwhile) => self.fork(*child, *meanwhile, |_, _, handle| handle.join().boxed()),
            ForkForget(child, meanwhile) => self.fork(*child, *meanwhile, |_, _, handle| {
                drop(handle);
                Fiber::success(1).boxed()
            }),
            ForkCancel(child, meanwhile) => self.fork(*child, *meanwhile, |builder, part, handle| {
                let cancelled = handle.cancel().map(move |()| part.end()).boxed();
                cancelled.bind(move |()| builder.observe(handle)).boxed()
            }),
            ForkFight(turns, child) => self.fork(*child, Succeed, move |builder, part, handle| {
                let end = handle.cancel().map(move |()| part.end());
                let cancel = Fiber::for_each(0..turns, |_| Fiber::yield_now()).bind(move |()| end);
                builder.observe(handle).zip(cancel).map(|(n, ())| n).boxed()
            }),
        }
    }

    fn with_world(&self, make: impl FnOnce(Arc<World>) -> Fiber<u32>) -> Fiber<u32> {
        make(self.world.clone())
    }

    /// A wait that no cancellation may end where none reaches it.
    fn waits(&self, wait: Fiber<u32>) -> Fiber<u32> {
        if self.reach != Reach::Nothing {
            return wait;
        }
        let world = self.world.clone();
        wait.map_outcome(move |outcome| {
            if outcome.is_cancelled() {
                world.broken("a cancellation reached into an uncancelable region");
            }
            outcome
        })
        .boxed()
    }

    fn hand_over(&self, ticks: u32) -> Fiber<u32> {
        let slot: Arc<Mutex<Option<Resume<u32>>>> = Arc::default();
        let waits = Fiber::callback({
            let slot = slot.clone();
            move |resume| *slot.lock().unwrap() = Some(resume)
        });
        let resumes = Fiber::delay(ticks * TICK).bind(|()| Fiber::yield_now()).map(move |()| {
            if let Some(resume) = slot.lock().unwrap().take() {
                resume.success(1);
            }
        });
        // One is resumed, or both are cancelled; if the other branch comes first there is nobody to be resumed.
        self.waits(waits.timeout_option(LONGEST * TICK).zip(resumes).map(|_| 1).boxed())
    }

    fn repeat(&self, rounds: u8, body: Program) -> Fiber<u32> {
        let builder = self.clone();
        Fiber::iterate(rounds, move |left| {
            let Some(left) = left.checked_sub(1) else {
                return Fiber::success(ControlFlow::Break(1)).boxed();
            };
            builder.fiber(body.clone()).map(move |_| ControlFlow::Continue(left)).boxed()
        })
        .boxed()
    }

    /// A body and its finalizer, both of which count.
    fn finalized(&self, body: Program, finalizer: Program) -> (Fiber<u32>, Fiber<()>) {
        let counts = Arc::new(Finalizer::default());
        self.world.finalizers.lock().unwrap().push(counts.clone());
        let (builder, started) = (self.clone(), counts.clone());
        let body = Fiber::defer(move || {
            started.started.fetch_add(1, Ordering::Relaxed);
            builder.fiber(body)
        });
        let builder = self.with_reach(Reach::Nothing);
        let ended = counts.clone();
        let finalizer = Fiber::defer(move || {
            counts.begun.fetch_add(1, Ordering::Relaxed);
            builder.fiber(finalizer)
        })
        .map_outcome(move |outcome| {
            ended.ended.fetch_add(1, Ordering::Relaxed);
            outcome.map(drop)
        });
        (body.boxed(), finalizer.boxed())
    }

    /// An awaited fiber is a part of the one that awaits it.
    fn awaits(&self, body: Fiber<u32>) -> Fiber<u32> {
        let fiber = Fiber::from_future(async move { body.await }).boxed();
        let (world, reach) = (self.world.clone(), self.reach);
        fiber
            .map_outcome(move |outcome| {
                let is_cancelled =
                    matches!(&outcome, Outcome::Failure(error) if error.is::<fiber_core::error::Cancelled>());
                if is_cancelled && reach == Reach::Nothing {
                    world.broken("a cancellation reached what an uncancelable region awaits");
                }
                outcome
            })
            .boxed()
    }

    /// Forks `child`, runs `meanwhile`, and then what `end` makes of the handle and the child's part.
    fn fork<F>(&self, child: Program, meanwhile: Program, end: F) -> Fiber<u32>
    where
        F: FnOnce(Builder, Part, Handle<u32>) -> Fiber<u32> + Send + 'static,
    {
        let builder = self.clone();
        let inside = self.inside();
        let part = inside.part.clone();
        let meanwhile = self.fiber(meanwhile);
        let forked = inside.fiber(child).fork();
        forked.bind(move |handle| meanwhile.bind(move |_| end(builder, part, handle))).boxed()
    }

    fn observe(self, handle: Handle<u32>) -> Fiber<u32> {
        handle.outcome().map(move |outcome| self.observed(&outcome).unwrap()).boxed()
    }

    fn observed(&self, outcome: &Outcome<u32>) -> Outcome<u32> {
        self.world.see_outcome(outcome);
        Outcome::Success(1)
    }
}

/// When a program is cancelled from outside.
#[derive(Clone, Copy, Debug)]
enum Moment {
    AfterTicks(u32),
    AfterTurns(usize),
}

fn moment() -> impl Strategy<Value = Moment> {
    prop_oneof![(0..20u32).prop_map(Moment::AfterTicks), (0..60usize).prop_map(Moment::AfterTurns)]
}

/// Panics are part of the programs, and not worth a message.
fn quiet() {
    std::panic::set_hook(Box::new(|info| {
        let is_planned = info.payload().downcast_ref::<String>().is_some_and(|text| text.starts_with(MARK));
        if !is_planned {
            eprintln!("{info}");
        }
    }));
}

fn check(
    world: &World,
    outcome: &Outcome<u32>,
    was_cancelled: bool,
    unobserved: &[String],
) -> Result<(), TestCaseError> {
    world.see_outcome(outcome);
    let complaints = world.complaints(unobserved);
    prop_assert!(complaints.is_empty(), "{complaints:#?}");
    prop_assert!(was_cancelled || !outcome.is_cancelled(), "cancelled by nobody");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    /// A switch at every bind, in an order that a seed decides.
    #[test]
    fn every_rule_holds_on_the_virtual_timeline(program in program(), seed in any::<u64>(), at in moment()) {
        quiet();
        let test = TestScheduler::with_seed(seed);
        let world = Arc::new(World::default());
        let spawned = test.spawn(Builder::whole(&world, program));
        let was_pending = match at {
            Moment::AfterTicks(ticks) => {
                test.run_for(ticks * TICK);
                let is_pending = spawned.is_pending();
                spawned.cancel_now();
                is_pending
            }
            Moment::AfterTurns(turns) => {
                let target = spawned.into_handle();
                let cancel = target.cancel();
                let canceller = Fiber::for_each(0..turns, |_| Fiber::yield_now()).bind(move |()| cancel);
                let canceller = test.run(canceller.map(move |()| target)).unwrap();
                prop_assert!(canceller.is_finished(), "the fiber has not ended when its cancellation has");
                test.run_for(Duration::ZERO);
                test.assert_no_leaks();
                let outcome = canceller.try_outcome().unwrap();
                return check(&world, &outcome, true, &test.unobserved());
            }
        };
        // Not until the last timer: one that is left is a leak.
        (0..LONGEST).take_while(|_| spawned.is_pending()).for_each(|_| test.run_for(TICK));
        let outcome = spawned.try_outcome();
        prop_assert!(outcome.is_ok(), "the program has not ended");
        test.assert_no_leaks();
        check(&world, &outcome.unwrap(), was_pending, &test.unobserved())?;
    }

    /// Many binds in one turn, so that branches run inline and are claimed back.
    #[test]
    fn every_rule_holds_with_long_turns(program in program(), seed in any::<u64>(), budget in 1..200u32, turns in 0..40usize) {
        quiet();
        cancelled_after(turns, program, seed, budget)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: SWEPT, failure_persistence: None, ..ProptestConfig::default() })]

    /// The same program, cancelled before its first turn, its second, and so on to its last: inside finalizers too.
    #[test]
    fn every_rule_holds_wherever_a_program_is_cancelled(program in program(), seed in any::<u64>()) {
        quiet();
        for turns in 0..MOST_TURNS {
            if !cancelled_after(turns, program.clone(), seed, 1)? {
                break;
            }
        }
    }
}

/// Runs a program for so many turns, cancels it, and checks its end. `false`: it had ended before.
fn cancelled_after(turns: usize, program: Program, seed: u64, budget: u32) -> Result<bool, TestCaseError> {
    let steps = Steps::new(seed, budget);
    let world = Arc::new(World::default());
    let handle = steps.spawn(Builder::whole(&world, program));
    steps.run(turns);
    let was_pending = !handle.is_finished();
    handle.cancel_now();
    steps.run(usize::MAX);
    prop_assert!(handle.is_finished(), "the program has not ended");
    prop_assert_eq!(steps.live_fibers(), 0);
    check(&world, &handle.try_outcome().unwrap(), was_pending, &steps.unobserved())?;
    Ok(was_pending)
}
