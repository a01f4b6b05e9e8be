//! The tested programs: printable trees, which proptest shrinks.

use proptest::prelude::*;

use crate::operators::{Operator, operator};

/// A program with a number for its value.
#[derive(Clone, Debug)]
pub(crate) enum Program {
    Succeed,
    Fail,
    Panic,
    /// Waits for ever; where no cancellation could end that, it yields instead.
    Never,
    Yield,
    Sleep(u32),
    /// This many binds, without a wait.
    Spin(u32),
    Block,
    /// A callback that another branch resumes after some ticks.
    HandOver(u32),
    /// A callback that is never resumed.
    Forgotten,
    /// Compares the value that the fiber carries with the expected one.
    ReadLocal,
    WithLocal(u32, Box<Program>),
    Bind(Box<Program>, Box<Program>),
    /// The same in a block.
    InBlock(Box<Program>, Box<Program>),
    Tap(Box<Program>, Box<Program>),
    Repeat(u8, Box<Program>),
    /// Owns a bomb, in a value that the engine drops when the body has ended.
    Armed(Owned, Box<Program>),
    /// Has a bomb for its value while the body runs; defuses it after a success.
    Keep(Box<Program>),
    /// Two branches, with bombs for values, which are defused if they come out.
    Loot(Gather, Box<Program>, Box<Program>),
    /// Starts the fibers of an iterator that owns a bomb in parallel.
    Stream(usize, Vec<Program>),
    /// Repeats after a failure, up to this many times, with pauses of this many ticks.
    Retry(u8, u32, Box<Program>),
    /// Repeats after a success, likewise.
    Again(u8, u32, Box<Program>),
    Catch(Box<Program>, Box<Program>),
    /// Catches, and ignores the error.
    Overlook(Box<Program>, Box<Program>),
    CatchPanic(Box<Program>, Box<Program>),
    /// Turns every outcome into a success, including a cancellation.
    Heal(Box<Program>),
    Ensure(Box<Program>, Box<Program>),
    OnOutcome(Box<Program>, Box<Program>),
    OnCancel(Box<Program>, Box<Program>),
    OnFailure(Box<Program>, Box<Program>),
    /// Acquires the first, uses it in the second, and releases it in the third.
    Bracket(Box<Program>, Box<Program>, Box<Program>),
    /// Acquires the first and then the third, uses both in the second, and releases each in the third.
    Resources(Box<Program>, Box<Program>, Box<Program>),
    /// Acquires the first, whose value cannot be cloned, and releases it in the second. As a resource, or in a bracket.
    Brittle(bool, Box<Program>, Box<Program>),
    Uncancelable(Box<Program>),
    /// An uncancelable region that may restore parts of itself.
    Region(Box<Program>),
    /// A part of the [`Program::Region`] around, if there is one.
    Restore(Box<Program>),
    Timeout(u32, Box<Program>),
    TimeoutOption(u32, Box<Program>),
    TimeoutTo(u32, Box<Program>, Box<Program>),
    /// With a limit, and a grace period after it.
    Grace(u32, u32, Box<Program>),
    Deadline(u32, Box<Program>),
    Zip(Box<Program>, Box<Program>),
    Race(Box<Program>, Box<Program>),
    RaceWith(Box<Program>, Box<Program>),
    RaceAll(Vec<Program>),
    FirstSuccess(Vec<Program>),
    /// With a pause and a number of attempts.
    Hedge(u32, u32, Box<Program>),
    Parallel(usize, Vec<Program>),
    Disconnect(Box<Program>),
    Await(Box<Program>),
    /// Awaits both at the same time.
    AwaitBoth(Box<Program>, Box<Program>),
    /// Awaits the first of two, and drops the future of the other.
    AwaitFirst(Box<Program>, Box<Program>),
    /// May await all forks of the scope.
    Scope(bool, Box<Program>),
    /// Forks the first, runs the second, and then uses the handle.
    Fork(Owner, Ending, Box<Program>, Box<Program>),
    /// Forks; one branch joins the fiber while another one cancels it after some yields.
    ForkFight(u8, Box<Program>),
    /// An operator that is built on others.
    With(Operator, Box<Program>, Box<Program>),
}

/// The owner of a bomb.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Owned {
    /// The closure of a `map`, which is called, or skipped.
    Closure,
    /// A handler, likewise.
    Handler,
    /// The closure of a loop.
    Loop,
    /// A block, which ends or is stopped.
    Block,
    /// Several parts of the description that runs next.
    Next,
    /// Likewise, after its time has passed.
    Late,
}

/// How two values are combined.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Gather {
    Zip,
    Parallel,
    /// One of them wins.
    Race,
}

/// The owner of a forked fiber.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Owner {
    /// The fiber that forks.
    Fiber,
    /// The enclosing scope; the fiber, if there is none.
    Scope,
    /// The scheduler: the fiber is detached.
    Nobody,
}

/// What is done with the handle of a forked fiber.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ending {
    Join,
    Forget,
    /// Cancels, and observes the outcome.
    Cancel,
}

/// Enough for a timeout of some ticks to expire meanwhile, if time advances at checkpoints.
const MOST_SPINS: u32 = 30;

/// Programs whose sleeps are shorter than `ticks`, and their timeouts not much longer.
pub(crate) fn program(ticks: u32) -> impl Strategy<Value = Program> {
    let limit = 0..ticks + ticks / 4;
    leaf(ticks).prop_recursive(6, 40, 4, move |inner| {
        let one = inner.clone().prop_map(Box::new).boxed();
        let two = (one.clone(), one.clone()).boxed();
        let many = prop::collection::vec(inner, 0..5).boxed();
        prop_oneof![
            8 => in_sequence(&one, &two),
            4 => with_bombs(&one, &two, &many),
            8 => with_finalizers(&one, &two),
            5 => with_limits(limit.clone(), &one, &two),
            8 => with_branches(ticks, &one, &two, &many),
            7 => with_forks(&one, &two),
            8 => (operator(ticks), two).prop_map(|(with, (a, b))| Program::With(with, a, b)),
        ]
    })
}

fn leaf(ticks: u32) -> impl Strategy<Value = Program> {
    prop_oneof![
        3 => Just(Program::Succeed),
        2 => Just(Program::Fail),
        1 => Just(Program::Panic),
        2 => Just(Program::Never),
        3 => Just(Program::Yield),
        4 => (0..ticks).prop_map(Program::Sleep),
        1 => (1..MOST_SPINS).prop_map(Program::Spin),
        1 => Just(Program::Block),
        1 => (0..4u32).prop_map(Program::HandOver),
        1 => Just(Program::Forgotten),
        1 => Just(Program::ReadLocal),
    ]
}

type One = BoxedStrategy<Box<Program>>;
type Two = BoxedStrategy<(Box<Program>, Box<Program>)>;

fn in_sequence(one: &One, two: &Two) -> impl Strategy<Value = Program> + use<> {
    prop_oneof![
        3 => two.clone().prop_map(|(a, b)| Program::Bind(a, b)),
        2 => two.clone().prop_map(|(a, b)| Program::InBlock(a, b)),
        1 => two.clone().prop_map(|(a, b)| Program::Tap(a, b)),
        1 => (0..4u8, one.clone()).prop_map(|(n, a)| Program::Repeat(n, a)),
        1 => (0..4u8, 0..4u32, one.clone()).prop_map(|(n, pause, a)| Program::Retry(n, pause, a)),
        1 => (0..3u8, 0..4u32, one.clone()).prop_map(|(n, pause, a)| Program::Again(n, pause, a)),
        1 => two.clone().prop_map(|(a, b)| Program::Catch(a, b)),
        1 => two.clone().prop_map(|(a, b)| Program::Overlook(a, b)),
        1 => two.clone().prop_map(|(a, b)| {
            let fails = Box::new(Program::Ensure(Box::new(Program::Fail), a));
            Program::Overlook(fails, b)
        }),
        1 => two.clone().prop_map(|(a, b)| Program::CatchPanic(a, b)),
        1 => one.clone().prop_map(Program::Heal),
        1 => (1..9u32, one.clone()).prop_map(|(n, a)| Program::WithLocal(n, a)),
    ]
}

fn with_bombs(
    one: &One,
    two: &Two,
    many: &BoxedStrategy<Vec<Program>>,
) -> impl Strategy<Value = Program> + use<> {
    let owned = [Owned::Closure, Owned::Handler, Owned::Loop, Owned::Block, Owned::Next, Owned::Late];
    let owned = prop::sample::select(owned.to_vec());
    let gather = prop_oneof![Just(Gather::Zip), Just(Gather::Parallel), Just(Gather::Race)];
    prop_oneof![
        2 => (owned, one.clone()).prop_map(|(owned, a)| Program::Armed(owned, a)),
        1 => (1..4usize, many.clone()).prop_map(|(limit, all)| Program::Stream(limit, all)),
        2 => one.clone().prop_map(Program::Keep),
        2 => (gather, two.clone()).prop_map(|(gather, (a, b))| Program::Loot(gather, a, b)),
    ]
}

fn with_finalizers(one: &One, two: &Two) -> impl Strategy<Value = Program> + use<> {
    let three = (one.clone(), two.clone());
    prop_oneof![
        3 => two.clone().prop_map(|(a, b)| Program::Ensure(a, b)),
        1 => two.clone().prop_map(|(a, b)| Program::OnOutcome(a, b)),
        1 => two.clone().prop_map(|(a, b)| Program::OnCancel(a, b)),
        1 => two.clone().prop_map(|(a, b)| Program::OnFailure(a, b)),
        2 => three.clone().prop_map(|(a, (b, c))| Program::Bracket(a, b, c)),
        1 => three.prop_map(|(a, (b, c))| Program::Resources(a, b, c)),
        1 => (any::<bool>(), two.clone()).prop_map(|(is, (a, b))| Program::Brittle(is, a, b)),
        2 => one.clone().prop_map(Program::Uncancelable),
        2 => one.clone().prop_map(Program::Region),
        3 => one.clone().prop_map(Program::Restore),
    ]
}

fn with_limits(limit: std::ops::Range<u32>, one: &One, two: &Two) -> impl Strategy<Value = Program> + use<> {
    prop_oneof![
        2 => (limit.clone(), one.clone()).prop_map(|(t, a)| Program::Timeout(t, a)),
        1 => (limit.clone(), one.clone()).prop_map(|(t, a)| Program::TimeoutOption(t, a)),
        1 => (limit.clone(), two.clone()).prop_map(|(t, (a, b))| Program::TimeoutTo(t, a, b)),
        1 => (limit.clone(), limit.clone(), one.clone()).prop_map(|(t, g, a)| Program::Grace(t, g, a)),
        2 => (limit, one.clone()).prop_map(|(t, a)| Program::Deadline(t, a)),
    ]
}

fn with_branches(
    ticks: u32,
    one: &One,
    two: &Two,
    many: &BoxedStrategy<Vec<Program>>,
) -> impl Strategy<Value = Program> + use<> {
    prop_oneof![
        2 => two.clone().prop_map(|(a, b)| Program::Zip(a, b)),
        2 => two.clone().prop_map(|(a, b)| Program::Race(a, b)),
        1 => two.clone().prop_map(|(a, b)| Program::RaceWith(a, b)),
        1 => many.clone().prop_map(Program::RaceAll),
        1 => many.clone().prop_map(Program::FirstSuccess),
        1 => (0..ticks, 1..4u32, one.clone()).prop_map(|(t, n, a)| Program::Hedge(t, n, a)),
        2 => (1..4usize, many.clone()).prop_map(|(limit, all)| Program::Parallel(limit, all)),
        1 => one.clone().prop_map(Program::Disconnect),
        1 => one.clone().prop_map(Program::Await),
        1 => two.clone().prop_map(|(a, b)| Program::AwaitBoth(a, b)),
        1 => two.clone().prop_map(|(a, b)| Program::AwaitFirst(a, b)),
    ]
}

fn with_forks(one: &One, two: &Two) -> impl Strategy<Value = Program> + use<> {
    let owner = prop_oneof![3 => Just(Owner::Fiber), 4 => Just(Owner::Scope), 2 => Just(Owner::Nobody)];
    let ending = prop_oneof![Just(Ending::Join), Just(Ending::Forget), Just(Ending::Cancel)].boxed();
    prop_oneof![
        6 => (owner, ending.clone(), two.clone()).prop_map(|(of, end, (a, b))| Program::Fork(of, end, a, b)),
        2 => (any::<bool>(), one.clone()).prop_map(|(awaits, a)| Program::Scope(awaits, a)),
        3 => (any::<bool>(), ending, two.clone()).prop_map(|(awaits, end, (a, b))| {
            Program::Scope(awaits, Box::new(Program::Fork(Owner::Scope, end, a, b)))
        }),
        1 => (0..6u8, one.clone()).prop_map(|(turns, a)| Program::ForkFight(turns, a)),
    ]
}
