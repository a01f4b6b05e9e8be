//! Random races whose sides send, receive and acquire, cancelled at a random moment: an item that was sent is received once, or left; what
//! loses gives and takes nothing; and nothing is left behind, neither a fiber, nor an item, nor a permit.
//!
//! Some strands run one race after the other, over the same channels. A side is a single wait in one of several forms, a race of sides, or a
//! program that gives and takes nothing. In each race, there is a delay, so each program ends.
//!
//! A race one of whose losers may wait after its loss is a program itself: the race around it may drop what it gives. Such an item may be
//! lost, but it is not received twice.

#![allow(
    clippy::disallowed_methods,
    reason = "a thread waits for programs on a pool, and tells when one hangs"
)]

use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use fiber_core::sync::{Channel, Permit, Receiver, Semaphore, Sender};
use fiber_core::{Either, Error, Fiber, LocalKey, Outcome, Run, fiber, race};
use fiber_sched::{Pool, Settings};
use fiber_test::TestScheduler;
use proptest::prelude::*;

use crate::config;
use crate::support::{Answer, Call, Steps};

/// Programs of each test: some seconds in all, in a debug build.
const CASES: u32 = 2000;

/// The same on threads, where every delay is a real one.
const ON_THREADS: u32 = 500;

/// A moody scheduler drops one of this many tasks.
const MOOD: u64 = 16;

const WATCHDOG: Duration = Duration::from_secs(30);
const HOUR: Duration = Duration::from_secs(3600);
const TICK: Duration = Duration::from_micros(1);

/// The greatest number of ticks and turns.
const LONGEST: u32 = 8;

static LOCAL: LocalKey<u32> = LocalKey::new(|| 0);

/// The programs' own panics are not printed.
const PLANNED: &str = "planned";

/// A single wait.
#[derive(Clone, Copy, Debug)]
enum Wait {
    Send(usize),
    Receive(usize),
    Acquire,
    Delay(u32),
}

#[derive(Clone, Debug)]
enum Side {
    /// Of these waits, in this form.
    Waits(Form, Wait),
    /// A race of two waits that keep their types.
    Both(Wait, Wait),
    /// A race of up to four.
    Arms(Arms),
    Race(Kind, Vec<Side>),
    Turns(u32),
    Fails(u32),
    Panics(u32),
    /// A fiber of its own.
    Forks(u32),
    /// Waits after it has lost.
    Cleans(Cleaning, u32),
    Never,
}

/// Those that take part in a race.
#[derive(Clone, Copy, Debug)]
struct Arms {
    send: Option<usize>,
    receive: Option<usize>,
    acquires: bool,
    delay: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Boxed,
    Named,
    Block,
    Awaited,
    Limited,
    WithLocal,
    Direct,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Chain,
    All,
    FirstSuccess,
    Hedge(u32),
}

#[derive(Clone, Copy, Debug)]
enum Cleaning {
    Plainly,
    WithinALimit,
    InARace,
    InAZip,
    /// Gives to another strand, or takes from one.
    Sends(usize),
    Receives(usize),
}

/// One race, which ends after this many ticks at the latest.
#[derive(Clone, Debug)]
struct Round {
    side: Side,
    ends: u32,
    /// A limit around it.
    limit: Option<u32>,
}

#[derive(Clone, Debug)]
struct Program {
    /// Of each channel; `None` is no limit.
    capacities: [Option<usize>; 2],
    strands: Vec<Vec<Round>>,
}

fn side() -> impl Strategy<Value = Side> {
    let wait = || {
        prop_oneof![
            4 => (0..2usize).prop_map(Wait::Send),
            4 => (0..2usize).prop_map(Wait::Receive),
            1 => Just(Wait::Acquire),
            1 => (0..LONGEST).prop_map(Wait::Delay),
        ]
    };
    let form = prop::sample::select(vec![
        Form::Boxed,
        Form::Named,
        Form::Block,
        Form::Awaited,
        Form::Limited,
        Form::WithLocal,
        Form::Direct,
    ]);
    let cleaning = prop_oneof![
        Just(Cleaning::Plainly),
        Just(Cleaning::WithinALimit),
        Just(Cleaning::InARace),
        Just(Cleaning::InAZip),
        (0..2usize).prop_map(Cleaning::Sends),
        (0..2usize).prop_map(Cleaning::Receives),
    ];
    let kind = prop_oneof![
        2 => Just(Kind::Chain),
        1 => Just(Kind::All),
        1 => Just(Kind::FirstSuccess),
        1 => (0..3u32).prop_map(Kind::Hedge),
    ];
    let channel = || prop::option::weighted(0.7, 0..2usize);
    let arms = (channel(), channel(), any::<bool>(), prop::option::weighted(0.2, 0..LONGEST))
        .prop_map(|(send, receive, acquires, delay)| Side::Arms(Arms { send, receive, acquires, delay }));
    let leaf = prop_oneof![
        12 => (form, wait()).prop_map(|(form, wait)| Side::Waits(form, wait)),
        3 => (wait(), wait()).prop_map(|(left, right)| Side::Both(left, right)),
        3 => arms,
        2 => (0..LONGEST).prop_map(Side::Turns),
        1 => (0..LONGEST).prop_map(Side::Fails),
        1 => (0..LONGEST).prop_map(Side::Panics),
        1 => (0..LONGEST).prop_map(Side::Forks),
        2 => (cleaning, 0..LONGEST).prop_map(|(cleaning, ticks)| Side::Cleans(cleaning, ticks)),
        1 => Just(Side::Never),
    ];
    leaf.prop_recursive(3, 12, 4, move |side| {
        (kind.clone(), prop::collection::vec(side, 1..4)).prop_map(|(kind, sides)| Side::Race(kind, sides))
    })
}

fn program() -> impl Strategy<Value = Program> {
    let capacity =
        || prop_oneof![3 => Just(Some(0)), 3 => Just(Some(1)), 1 => Just(Some(2)), 1 => Just(None)];
    let round = (side(), 0..4 * LONGEST, prop::option::weighted(0.2, 0..2 * LONGEST))
        .prop_map(|(side, ends, limit)| Round { side, ends, limit });
    let strand = prop::collection::vec(round, 1..5);
    ([capacity(), capacity()], prop::collection::vec(strand, 1..5))
        .prop_map(|(capacities, strands)| Program { capacities, strands })
}

/// What is sent. It is counted by its references.
struct Item(u32, #[expect(dead_code, reason = "counts the items that are left")] Arc<()>);

/// What a race has given.
enum Won {
    Sent(usize, u32),
    Received(usize, Item),
    Acquired(#[expect(dead_code, reason = "given back by its drop")] Permit),
    Nothing,
}

/// The numbers of the items that were sent over each channel, and of those that were received.
#[derive(Default)]
struct Ledger {
    next: u32,
    sent: [Vec<u32>; 2],
    received: [Vec<u32>; 2],
    /// Those that a side has sent or received in a race which is a program.
    at_risk: Vec<u32>,
}

impl Side {
    /// Whether it may wait after it has lost.
    fn outlasts(&self) -> bool {
        match self {
            Side::Cleans(..) | Side::Forks(_) => true,
            Side::Race(_, sides) => sides.iter().any(Side::outlasts),
            Side::Waits(..)
            | Side::Both(..)
            | Side::Arms(_)
            | Side::Turns(_)
            | Side::Fails(_)
            | Side::Panics(_)
            | Side::Never => false,
        }
    }
}

struct World {
    channels: [(Sender<Item>, Receiver<Item>); 2],
    permits: Semaphore,
    items: Arc<()>,
    ledger: Mutex<Ledger>,
    /// Whether the scheduler has stacks for direct fibers. Otherwise they would block its only thread.
    has_stacks: bool,
}

impl World {
    fn new(capacities: [Option<usize>; 2], has_stacks: bool) -> Arc<Self> {
        let channels = capacities.map(|capacity| match capacity {
            Some(0) => Channel::rendezvous(),
            Some(capacity) => Channel::bounded(capacity),
            None => Channel::unbounded(),
        });
        let (permits, items, ledger) = (Semaphore::new(1), Arc::default(), Mutex::default());
        Arc::new(World { channels, permits, items, ledger, has_stacks })
    }

    /// All strands.
    fn whole(self: &Arc<Self>, program: Program) -> Fiber<()> {
        let strand = |rounds: Vec<Round>| {
            let world = self.clone();
            Fiber::for_each(rounds, move |round| world.round(round))
        };
        Fiber::parallel(program.strands.into_iter().map(strand).collect::<Vec<_>>()).map(drop).boxed()
    }

    fn round(self: &Arc<Self>, Round { side, ends, limit }: Round) -> Fiber<()> {
        let world = self.clone();
        let race = self.side(side, false).race(Fiber::delay(ends * TICK)).map(move |won| match won {
            Either::Left(won) => world.record(won),
            Either::Right(()) => {}
        });
        let race = match limit {
            Some(limit) => race.timeout(limit * TICK).boxed(),
            None => race.boxed(),
        };
        let goes_on = |outcome| match outcome {
            Outcome::Cancelled => Outcome::Cancelled,
            Outcome::Success(()) | Outcome::Failure(_) | Outcome::Panicked(_) => Outcome::Success(()),
        };
        race.map_outcome(goes_on).boxed()
    }

    /// Records what a side has sent or received that may be lost.
    fn risk(&self, won: &Won) {
        if let Won::Sent(_, number) | Won::Received(_, Item(number, _)) = won {
            self.ledger.lock().unwrap().at_risk.push(*number);
        }
    }

    fn record(&self, won: Won) {
        let mut ledger = self.ledger.lock().unwrap();
        match won {
            Won::Sent(channel, number) => ledger.sent[channel].push(number),
            Won::Received(channel, item) => ledger.received[channel].push(item.0),
            Won::Acquired(_) | Won::Nothing => {}
        }
    }

    /// `is_at_risk`: it is in a race that is a program.
    fn side(self: &Arc<Self>, side: Side, is_at_risk: bool) -> Fiber<Won> {
        let world = self.clone();
        let risk = move |won| {
            world.risk(&won);
            won
        };
        match side {
            Side::Waits(..) | Side::Both(..) | Side::Arms(_) if is_at_risk => {
                self.side(side, false).map(risk).boxed()
            }
            Side::Waits(Form::Direct, wait) if !self.has_stacks => self.wait(wait),
            Side::Waits(form, wait) => formed(form, self.wait(wait)),
            Side::Both(left, right) => match left {
                Wait::Send(channel) => self.race_with(self.send(channel), right),
                Wait::Receive(channel) => self.race_with(self.receive(channel), right),
                Wait::Acquire => self.race_with(self.acquire(), right),
                Wait::Delay(ticks) => self.race_with(delay(ticks), right),
            },
            Side::Arms(arms) => self.race_of(arms),
            Side::Race(kind, sides) => {
                let outlast = sides.iter().filter(|side| side.outlasts()).count();
                let side = |side: Side| {
                    let others = outlast - usize::from(side.outlasts());
                    self.side(side, is_at_risk || others > 0)
                };
                race(kind, sides.into_iter().map(side).collect())
            }
            Side::Turns(turns) => yields(turns).map(|()| Won::Nothing).boxed(),
            Side::Fails(turns) => yields(turns).bind(|()| Fiber::fail(Error::msg(PLANNED))).boxed(),
            Side::Panics(turns) => yields(turns).map(|()| std::panic::panic_any(PLANNED)).boxed(),
            Side::Forks(turns) => {
                yields(turns).fork().bind(|fork| fork.join()).map(|()| Won::Nothing).boxed()
            }
            Side::Cleans(cleaning, ticks) => never().ensure(self.cleans(cleaning, ticks)).boxed(),
            Side::Never => never(),
        }
    }

    fn cleans(self: &Arc<Self>, cleaning: Cleaning, ticks: u32) -> Fiber<()> {
        let delay = Fiber::delay(ticks * TICK);
        match cleaning {
            Cleaning::Plainly => delay.boxed(),
            Cleaning::WithinALimit => delay.timeout(HOUR).boxed(),
            Cleaning::InARace => delay.named("a branch").race(never()).map(drop).boxed(),
            Cleaning::InAZip => delay.boxed().zip(yields(ticks)).map(drop).boxed(),
            Cleaning::Sends(channel) => self.recorded(self.send(channel), ticks),
            Cleaning::Receives(channel) => self.recorded(self.receive(channel), ticks),
        }
    }

    fn recorded(self: &Arc<Self>, wait: Fiber<Won, impl Run<Out = Won>>, ticks: u32) -> Fiber<()> {
        let world = self.clone();
        let record = move |won: Option<Won>| won.into_iter().for_each(|won| world.record(won));
        wait.timeout_option(ticks * TICK).map(record).boxed()
    }

    fn wait(&self, wait: Wait) -> Fiber<Won> {
        match wait {
            Wait::Send(channel) => self.send(channel).boxed(),
            Wait::Receive(channel) => self.receive(channel).boxed(),
            Wait::Acquire => self.acquire().boxed(),
            Wait::Delay(ticks) => delay(ticks).boxed(),
        }
    }

    fn race_with<R: Run<Out = Won>>(&self, left: Fiber<Won, R>, right: Wait) -> Fiber<Won> {
        match right {
            Wait::Send(channel) => left.race(self.send(channel)).map(Either::into_inner).boxed(),
            Wait::Receive(channel) => left.race(self.receive(channel)).map(Either::into_inner).boxed(),
            Wait::Acquire => left.race(self.acquire()).map(Either::into_inner).boxed(),
            Wait::Delay(ticks) => left.race(delay(ticks)).map(Either::into_inner).boxed(),
        }
    }

    fn race_of(self: &Arc<Self>, Arms { send, receive, acquires, delay: ticks }: Arms) -> Fiber<Won> {
        let world = self.clone();
        race! {
            won = world.send(channel), if let Some(channel) = send => won,
            won = world.receive(channel), if let Some(channel) = receive => won,
            won = world.acquire(), if acquires => won,
            won = delay(ticks), if let Some(ticks) = ticks => won,
        }
    }

    fn send(&self, channel: usize) -> Fiber<Won, impl Run<Out = Won> + use<>> {
        let mut ledger = self.ledger.lock().unwrap();
        let number = ledger.next;
        ledger.next += 1;
        let item = Item(number, self.items.clone());
        self.channels[channel].0.send(item).map(move |()| Won::Sent(channel, number))
    }

    fn receive(&self, channel: usize) -> Fiber<Won, impl Run<Out = Won> + use<>> {
        self.channels[channel].1.recv().map(move |item| Won::Received(channel, item))
    }

    fn acquire(&self) -> Fiber<Won, impl Run<Out = Won> + use<>> {
        self.permits.acquire(1).map(Won::Acquired)
    }

    /// Called when the program has ended, but perhaps not by itself.
    fn is_left(&self) -> Result<(), TestCaseError> {
        while self.channels.iter().any(|(_, receiver)| receiver.try_recv().is_ok()) {}
        prop_assert_eq!(self.permits.available(), 1);
        prop_assert_eq!(Arc::strong_count(&self.items), 1, "items are left");
        Ok(())
    }

    /// Called when the program has ended: what is wrong.
    fn complaints(self: Arc<Self>) -> Vec<String> {
        let mut complaints = Vec::new();
        let ledger = std::mem::take(&mut *self.ledger.lock().unwrap());
        for (channel, (mut sent, mut received)) in ledger.sent.into_iter().zip(ledger.received).enumerate() {
            received
                .extend(std::iter::from_fn(|| self.channels[channel].1.try_recv().ok()).map(|item| item.0));
            sent.sort_unstable();
            received.sort_unstable();
            if received.windows(2).any(|pair| pair[0] == pair[1]) {
                complaints.push(format!("channel {channel}: {received:?} were received"));
            }
            let is_safe = |number: &u32| !ledger.at_risk.contains(number);
            sent.retain(is_safe);
            received.retain(is_safe);
            if sent != received {
                complaints
                    .push(format!("channel {channel}: {sent:?} were sent, {received:?} received or left"));
            }
        }
        let (permits, items) = (self.permits.available(), Arc::strong_count(&self.items) - 1);
        if permits != 1 || items != 0 {
            complaints.push(format!("{permits} permits, and {items} items are left"));
        }
        match Arc::strong_count(&self) {
            1 => {}
            count => complaints.push(format!("{count} references to the world")),
        }
        complaints
    }
}

fn never() -> Fiber<Won> {
    Fiber::never().boxed()
}

fn yields(turns: u32) -> Fiber<()> {
    Fiber::for_each(0..turns, |_| Fiber::yield_now()).boxed()
}

fn delay(ticks: u32) -> Fiber<Won, impl Run<Out = Won> + use<>> {
    Fiber::delay(ticks * TICK).map(|()| Won::Nothing)
}

fn formed(form: Form, wait: Fiber<Won>) -> Fiber<Won> {
    match form {
        Form::Boxed => wait,
        Form::Named => wait.named("side").boxed(),
        Form::Block => fiber! {
            let! won = wait;
            won
        },
        Form::Awaited => Fiber::block(move || async move { wait.await }).boxed(),
        Form::Limited => wait.timeout(HOUR).boxed(),
        Form::WithLocal => wait.with_local(&LOCAL, 1).boxed(),
        Form::Direct => Fiber::direct(|fiber| fiber.wait(wait)).boxed(),
    }
}

fn race(kind: Kind, sides: Vec<Fiber<Won>>) -> Fiber<Won> {
    match kind {
        Kind::Chain => {
            let race = |all: Fiber<Won>, side| all.race(side).map(Either::into_inner).boxed();
            sides.into_iter().reduce(race).unwrap()
        }
        Kind::All => Fiber::race_all(sides).boxed(),
        Kind::FirstSuccess => Fiber::first_success(sides).boxed(),
        Kind::Hedge(ticks) => {
            let attempts = u32::try_from(sides.len()).unwrap();
            let mut sides = sides.into_iter();
            Fiber::hedge(ticks * TICK, attempts, move || sides.next().unwrap()).boxed()
        }
    }
}

fn quiet() {
    std::panic::set_hook(Box::new(|info| {
        if info.payload_as_str() != Some(PLANNED) {
            eprintln!("{info}");
        }
    }));
}

fn run_on_one_thread(program: Program, steps: &Steps, turns: usize) -> Result<(), TestCaseError> {
    quiet();
    let world = World::new(program.capacities, false);
    let handle = steps.spawn(world.whole(program));
    steps.run(turns);
    handle.cancel_now();
    steps.run(usize::MAX);
    prop_assert!(handle.is_finished(), "the program has not ended");
    prop_assert_eq!(steps.live_fibers(), 0);
    drop(handle);
    let complaints = world.complaints();
    prop_assert!(complaints.is_empty(), "{complaints:#?}");
    Ok(())
}

proptest! {
    #![proptest_config(config(CASES))]

    #[test]
    fn races_lose_nothing_in_any_order(program in program(), seed in any::<u64>(), turns in 0..400usize) {
        run_on_one_thread(program, &Steps::new(seed, 1 + (seed % 4) as u32), turns)?;
    }

    #[test]
    fn races_lose_nothing_where_sides_are_lent(program in program(), seed in any::<u64>(), turns in 0..400usize) {
        run_on_one_thread(program, &Steps::lending(seed), turns)?;
    }

    #[test]
    fn races_lose_nothing_on_the_virtual_timeline(program in program(), seed in any::<u64>(), ticks in 0..10 * LONGEST) {
        quiet();
        let test = TestScheduler::with_seed(seed);
        let world = World::new(program.capacities, true);
        let spawned = test.spawn(world.whole(program));
        test.run_for(ticks * TICK);
        spawned.cancel_now();
        test.run_for(HOUR / 2);
        prop_assert!(!spawned.is_pending(), "the program has not ended");
        drop(spawned);
        test.assert_no_leaks();
        drop(test);
        let complaints = world.complaints();
        prop_assert!(complaints.is_empty(), "{complaints:#?}");
    }
}

/// A program of which the scheduler has dropped a part ends, and leaves nothing behind. Items may be lost with the fibers that have taken
/// them.
fn ends_in_part(program: Program, steps: &Steps, turns: usize) -> Result<(), TestCaseError> {
    quiet();
    let world = World::new(program.capacities, false);
    let handle = steps.spawn(world.whole(program));
    steps.run(turns);
    handle.cancel_now();
    steps.run(usize::MAX);
    prop_assert!(handle.is_finished(), "the program has not ended");
    steps.close();
    prop_assert_eq!(steps.live_fibers(), 0);
    drop(handle);
    world.is_left()
}

proptest! {
    #![proptest_config(config(CASES))]

    #[test]
    fn races_end_on_a_scheduler_that_throws_tasks_away(program in program(), seed in any::<u64>(), turns in 0..400usize) {
        let mut random = seed;
        let whim = move |call| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let drops = matches!(call, Call::Schedule | Call::ScheduleAt) && (random >> 32).is_multiple_of(MOOD);
            if drops { Answer::Drop } else { Answer::Properly }
        };
        ends_in_part(program, &Steps::with_whim(seed, 1 + (seed % 4) as u32, Box::new(whim)), turns)?;
    }

    #[test]
    fn races_end_with_their_scheduler(program in program(), seed in any::<u64>(), ticks in 0..4 * LONGEST) {
        quiet();
        let test = TestScheduler::with_seed(seed);
        let world = World::new(program.capacities, true);
        let handle = test.context().spawn(world.whole(program));
        test.run_for(ticks * TICK);
        drop(test);
        prop_assert!(handle.is_finished(), "the program has not ended");
        drop(handle);
        world.is_left()?;
    }
}

proptest! {
    #![proptest_config(config(ON_THREADS))]

    #[test]
    fn races_lose_nothing_on_pools(program in program(), workers in prop::sample::select(vec![0, 1, 2]), ticks in 0..20 * LONGEST) {
        quiet();
        let world = World::new(program.capacities, true);
        let whole = world.whole(program);
        let (sender, ended) = mpsc::channel();
        let pool = POOLS[workers].clone();
        let handle = pool.spawn(whole.timeout(ticks * TICK).map_outcome(move |outcome| {
            let _ = sender.send(());
            outcome
        }));
        prop_assert!(ended.recv_timeout(WATCHDOG).is_ok(), "the program has not ended");
        drop(handle);
        // The fiber drops its last references after it has sent.
        let is_free = || Arc::strong_count(&world) == 1 && Arc::strong_count(&world.items) >= 1;
        (0..100_000).take_while(|_| !is_free()).for_each(|_| thread::yield_now());
        let complaints = world.complaints();
        prop_assert!(complaints.is_empty(), "{complaints:#?}");
    }
}

static POOLS: std::sync::LazyLock<[Arc<Pool>; 3]> = std::sync::LazyLock::new(|| {
    [1, 2, 4].map(|workers| {
        Arc::new(Pool::builder().workers(workers).settings(Settings::new().on_unobserved(|_| ())).build())
    })
});
// ---- schedules in which a side has lost an item ----

#[test]
fn a_race_in_a_side_that_has_lost_gives_back_no_race_around_it() {
    let w = |x| Side::Waits(Form::Boxed, x);
    let round = |side, ends| Round { side, ends, limit: None };
    let program = Program {
        capacities: [Some(2), Some(0)],
        strands: vec![
            vec![
                round(Side::Race(Kind::Hedge(0), vec![w(Wait::Acquire), w(Wait::Send(0))]), 0),
                round(Side::Race(Kind::All, vec![Side::Race(Kind::All, vec![Side::Turns(0)])]), 0),
                round(
                    Side::Race(
                        Kind::Hedge(1),
                        vec![
                            Side::Cleans(Cleaning::Plainly, 0),
                            Side::Race(Kind::Chain, vec![w(Wait::Send(1))]),
                        ],
                    ),
                    1,
                ),
            ],
            vec![round(Side::Race(Kind::Chain, vec![Side::Turns(1)]), 0)],
            vec![
                round(Side::Turns(4), 1),
                round(
                    Side::Race(
                        Kind::Chain,
                        vec![
                            Side::Race(
                                Kind::Chain,
                                vec![Side::Cleans(Cleaning::Plainly, 1), w(Wait::Send(0))],
                            ),
                            Side::Race(Kind::Chain, vec![w(Wait::Send(0))]),
                            w(Wait::Receive(0)),
                        ],
                    ),
                    0,
                ),
            ],
        ],
    };
    run_on_one_thread(program, &Steps::lending(4629439259145331476), 14).unwrap();
}

#[test]
fn a_cancelled_race_all_leaves_the_race_to_the_side_that_holds_it() {
    let w = |x| Side::Waits(Form::Boxed, x);
    let program = Program {
        capacities: [Some(0), Some(1)],
        strands: vec![
            vec![Round {
                side: Side::Race(Kind::All, vec![w(Wait::Send(0)), Side::Turns(0)]),
                ends: 0,
                limit: None,
            }],
            vec![Round {
                side: Side::Race(
                    Kind::All,
                    vec![
                        Side::Race(Kind::All, vec![w(Wait::Receive(0)), w(Wait::Send(1))]),
                        w(Wait::Send(0)),
                        w(Wait::Send(0)),
                    ],
                ),
                ends: 0,
                limit: Some(0),
            }],
        ],
    };
    run_on_one_thread(program, &Steps::lending(4294680546407227423), 1).unwrap();
}
