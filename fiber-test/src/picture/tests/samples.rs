//! Sample traces: small ones that are written by hand, and large ones of a simulated program.

use std::panic::Location;

use fiber_core::Instant;
use fiber_core::scheduler::WaitsFor;

use crate::primitive::{Dependency, Primitive, Site, Wanted};
use crate::trace::{Cause, Effect, Lane, Trace, Turn};

/// The caller's place.
#[track_caller]
pub(super) fn here() -> Site {
    Location::caller()
}

pub(super) fn lane(id: &str, name: Option<&str>, parent: Option<usize>) -> Lane {
    Lane { id: id.to_owned(), name: name.map(str::to_owned), site: here(), parent }
}

/// A turn of the first fiber in the queue.
#[track_caller]
pub(super) fn turn(lane: usize, cause: Cause, operator: &'static str, since: Option<usize>) -> Turn {
    Turn {
        at: Instant::EPOCH,
        lane: Some(lane),
        cause,
        operator,
        site: Some(here()),
        since,
        ready: None,
        choice: 0,
        choices: 2,
        effects: Vec::new(),
    }
}

impl Turn {
    pub(super) fn did(mut self, effects: impl IntoIterator<Item = Effect>) -> Self {
        self.effects.extend(effects);
        self
    }

    fn out_of_turn(mut self, choice: usize) -> Self {
        self.choice = choice;
        self
    }

    fn at_place(mut self, site: Site) -> Self {
        self.site = Some(site);
        self
    }
}

pub(super) fn wait(what: WaitsFor, on: Option<usize>) -> Effect {
    Effect::Wait { what, site: Some(here()), on, at: None }
}

pub(super) fn success(lane: usize) -> Effect {
    Effect::End(lane, "success".to_owned())
}

fn trace(lanes: Vec<Lane>, turns: Vec<Turn>) -> Trace {
    Trace { lanes, turns, ..Trace::default() }
}

/// Two fibers, six turns: both read before one writes. In the passing schedule, they alternate.
pub(super) fn lost_update() -> (Trace, Trace, (usize, usize)) {
    let lanes = vec![lane("0", Some("main"), None), lane("0.1", Some("deposit"), Some(0))];
    let fork = here();
    let read = here();
    let write = here();
    let read_too = here();
    let write_too = here();
    let join = here();
    let failing = vec![
        turn(0, Cause::Start, "fork", None).at_place(fork).did([Effect::Fork(1)]),
        turn(0, Cause::Continue, "map", Some(0)).at_place(read),
        turn(1, Cause::Start, "map", Some(0)).at_place(read_too),
        turn(0, Cause::Continue, "bind", Some(1)).at_place(write).did([wait(WaitsFor::Fiber, Some(1))]),
        turn(1, Cause::Continue, "bind", Some(2)).at_place(write_too).did([Effect::Wake(0), success(1)]),
        turn(0, Cause::Wake, "join", Some(4))
            .at_place(join)
            .did([Effect::End(0, "panic: v is 1, not 2".to_owned())]),
    ];
    let passing = vec![
        turn(0, Cause::Start, "fork", None).at_place(fork).did([Effect::Fork(1)]),
        turn(0, Cause::Continue, "map", Some(0)).at_place(read),
        turn(0, Cause::Continue, "bind", Some(1))
            .at_place(write)
            .out_of_turn(1)
            .did([wait(WaitsFor::Fiber, Some(1))]),
        turn(1, Cause::Start, "map", Some(0)).at_place(read_too),
        turn(1, Cause::Continue, "bind", Some(3)).at_place(write_too).did([Effect::Wake(0), success(1)]),
        turn(0, Cause::Wake, "join", Some(4)).at_place(join).did([success(0)]),
    ];
    (trace(lanes.clone(), failing), trace(lanes, passing), (2, 3))
}

/// Two transfers that take two locks in opposite orders, with an event, a time-out, a finalizer, a cancel that reaches a
/// child, an end by another's turn, and a wake-up from outside.
pub(super) fn deadlock() -> Trace {
    let lanes = vec![
        lane("0", Some("main"), None),
        lane("0.1", Some("there"), Some(0)),
        lane("0.2", Some("back"), Some(0)),
        lane("0.3", Some("watch"), Some(0)),
        lane("0.3.1", None, Some(3)),
    ];
    let second = Instant::from_nanos(1_000_000_000);
    let timed = |mut turn: Turn| {
        turn.at = second;
        turn
    };
    let outside = Turn { lane: None, site: None, ..turn(0, Cause::Blocking, "wake-up", None) };
    let finalizer = Effect::Finalizer { operator: "ensure", site: here() };
    let turns = vec![
        turn(0, Cause::Start, "fork", None).did([
            Effect::Fork(1),
            Effect::Fork(2),
            Effect::Fork(3),
            wait(WaitsFor::Children, None),
        ]),
        turn(2, Cause::Start, "acquire", Some(0)).out_of_turn(1).did([Effect::Event("took b".to_owned())]),
        turn(1, Cause::Start, "acquire", Some(0)).did([wait(WaitsFor::Callback, None)]),
        turn(3, Cause::Start, "fork", Some(0)).did([Effect::Fork(4), wait(WaitsFor::Timer, None)]),
        turn(4, Cause::Start, "never", Some(3)).did([wait(WaitsFor::Never, None)]),
        outside.did([Effect::Wake(1)]),
        turn(1, Cause::Wake, "acquire", Some(5)).did([wait(WaitsFor::Fiber, Some(2))]),
        turn(2, Cause::Continue, "acquire", Some(1)).did([wait(WaitsFor::Fiber, Some(1))]),
        timed(turn(3, Cause::TimeOut, "with_timeout", None)).did([Effect::Cancel(4), finalizer]),
        timed(turn(3, Cause::Continue, "ensure", Some(8))).did([
            Effect::End(4, "cancelled".to_owned()),
            Effect::End(3, "failure: \"too <late>\" & so on".to_owned()),
        ]),
    ];
    trace(lanes, turns)
}

/// Two fibers that each hold one of two locks and wait for the other; a third waits for the first lock.
pub(super) fn circle() -> Trace {
    let site = here();
    let lanes = ["there", "back", "late"].map(|name| lane(name, Some(name), None));
    let lock = |name: &str| Primitive { kind: "Mutex", name: Some(name.to_owned()), site, permits: None };
    let acquires = |lane, primitive| Effect::Acquire { lane: Some(lane), primitive, permits: 1, site };
    let waits = |primitive, holder| Effect::Wait {
        what: WaitsFor::Lock,
        site: Some(site),
        on: None,
        at: Some(Box::new(Wanted { primitive, permits: 1, held_by: vec![holder] })),
    };
    let turns = vec![
        turn(0, Cause::Start, "start", None).did([acquires(0, 0)]),
        turn(1, Cause::Start, "start", None).did([acquires(1, 1), waits(0, 0)]),
        turn(2, Cause::Start, "start", None).did([waits(0, 0)]),
        turn(0, Cause::Continue, "bind", Some(0)).did([waits(1, 1)]),
    ];
    let depends = |from, to, primitive, is_of_cycle| Dependency { from, to, primitive, is_of_cycle };
    Trace {
        primitives: vec![lock("a"), lock("b")],
        outside: Vec::new(),
        dependencies: vec![
            depends(0, 1, Some(1), true),
            depends(1, 0, Some(0), true),
            depends(2, 0, Some(0), false),
            // Visible from the open ends.
            depends(2, 1, None, false),
        ],
        ..trace(lanes.into(), turns)
    }
}

/// What the fibers of a simulated program are doing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    CanRun { cause: Cause, since: Option<usize> },
    Sleeps { until: u64 },
    Waits,
    Ended,
}

/// A program of fibers that fork, sleep, wait for each other, cancel and end, at random, with every kind of effect.
struct Program {
    /// The state of a linear congruential generator (Knuth, MMIX).
    random: u64,
    lanes: Vec<Lane>,
    states: Vec<State>,
    /// The runnable fibers, in the order in which they became runnable.
    queue: Vec<usize>,
    turns: Vec<Turn>,
    now: u64,
    most_lanes: usize,
    /// From each of these turns on, one that is not the first in the queue runs, once.
    deviations: Vec<usize>,
}

/// The operators of the simulated program.
const OPERATORS: [&str; 6] = ["bind", "map", "try_map", "with_timeout", "on_error_resume", "repeat"];
const NAMES: [&str; 7] =
    ["ledger", "payments", "mailer", "audit", "gateway", "cache", "billing-retry-worker"];

/// The trace of a simulated program with this many fibers and turns.
pub(super) fn simulate(seed: u64, lanes: usize, turns: usize, deviations: &[usize]) -> Trace {
    let mut program = Program {
        random: seed,
        lanes: vec![lane("0", Some("main"), None)],
        states: vec![State::CanRun { cause: Cause::Start, since: None }],
        queue: vec![0],
        turns: Vec::new(),
        now: 0,
        most_lanes: lanes,
        deviations: deviations.to_vec(),
    };
    while program.turns.len() < turns && program.step() {}
    trace(program.lanes, program.turns)
}

impl Program {
    fn below(&mut self, bound: usize) -> usize {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.random >> 33) % bound as u64) as usize
    }

    /// One turn. Returns whether any fiber could run.
    fn step(&mut self) -> bool {
        if self.queue.is_empty() && !self.advance() {
            return false;
        }
        let choices = self.queue.len();
        let choice = self.deviate(choices);
        let lane = self.queue.remove(choice);
        let State::CanRun { cause, since } = self.states[lane] else { return true };
        let operator = OPERATORS[self.below(OPERATORS.len())];
        let site = if self.below(2) == 0 { here() } else { self.lanes[lane].site };
        let effects = self.act(lane);
        let at = Instant::from_nanos(self.now);
        self.turns.push(Turn {
            at,
            lane: Some(lane),
            cause,
            operator,
            site: Some(site),
            since,
            ready: None,
            choice,
            choices,
            effects,
        });
        true
    }

    /// The last in the queue if it is time for a deviation and there are several, otherwise the first.
    fn deviate(&mut self, choices: usize) -> usize {
        match self.deviations.first() {
            Some(from) if *from <= self.turns.len() && choices > 1 => {
                self.deviations.remove(0);
                choices - 1
            }
            _ => 0,
        }
    }

    /// Advances time to the next timer.
    fn advance(&mut self) -> bool {
        let timers = self.states.iter().filter_map(|state| match state {
            State::Sleeps { until } => Some(*until),
            _ => None,
        });
        let Some(next) = timers.min() else { return false };
        self.now = next;
        for lane in 0..self.states.len() {
            if self.states[lane] == (State::Sleeps { until: next }) {
                self.enable(lane, Cause::Timer, None);
            }
        }
        true
    }

    fn enable(&mut self, lane: usize, cause: Cause, since: Option<usize>) {
        self.states[lane] = State::CanRun { cause, since };
        self.queue.push(lane);
    }

    fn act(&mut self, lane: usize) -> Vec<Effect> {
        let turn = self.turns.len();
        let mut effects = Vec::new();
        if self.lanes.len() < self.most_lanes && self.below(3) == 0 {
            effects.push(self.fork(lane));
        }
        if self.below(3) == 0 {
            effects.extend(self.release(lane));
        }
        match if lane == 0 { 8 } else { self.below(9) } {
            0 | 1 => {
                let pause = [1_000_000, 250_000_000, 2_000_000_000][self.below(3)];
                self.states[lane] = State::Sleeps { until: self.now + pause };
                effects.push(wait(WaitsFor::Timer, None));
            }
            2 => {
                self.states[lane] = State::Waits;
                effects.push(wait(WaitsFor::Callback, None));
            }
            3 if self.below(3) == 0 => {
                self.states[lane] = State::Ended;
                effects.push(Effect::Finalizer { operator: "ensure", site: here() });
                effects.push(success(lane));
            }
            4 if self.below(3) == 0 => {
                effects.push(Effect::Event("paid".to_owned()));
                self.enable(lane, Cause::Continue, Some(turn));
            }
            8 if turn % 2 == 1 => {
                self.states[lane] = State::Sleeps { until: self.now + 100_000_000 };
                effects.push(wait(WaitsFor::Timer, None));
            }
            _ => self.enable(lane, Cause::Continue, Some(turn)),
        }
        effects
    }

    fn fork(&mut self, parent: usize) -> Effect {
        let made = self.lanes.len();
        let nth = self.lanes.iter().filter(|lane| lane.parent == Some(parent)).count() + 1;
        let id = format!("{}.{nth}", self.lanes[parent].id);
        let name = NAMES.get(self.below(NAMES.len() + 3)).copied();
        self.lanes.push(lane(&id, name, Some(parent)));
        self.states.push(State::Ended);
        self.enable(made, Cause::Start, Some(self.turns.len()));
        Effect::Fork(made)
    }

    /// Wakes or cancels a waiting fiber.
    fn release(&mut self, own: usize) -> Option<Effect> {
        let waits = |lane: &usize| *lane != own && self.states[*lane] == State::Waits;
        let waiting = (0..self.states.len()).find(waits)?;
        let (cause, effect) = match self.below(4) {
            0 => (Cause::Cancel, Effect::Cancel(waiting)),
            _ => (Cause::Wake, Effect::Wake(waiting)),
        };
        self.enable(waiting, cause, Some(self.turns.len()));
        Some(effect)
    }
}
