//! Records the [`Trace`] while the machine runs.

use std::collections::BTreeMap;

use fiber_core::error::Frame;
use fiber_core::scheduler::{Fate, Fates, Subject, Task, TaskKind, WaitsFor};
use fiber_core::{Context, Instant};

use crate::machine::{Entry, Fibers, Lane as Number};
use crate::primitive::{Dependency, Primitive, Site, Wanted};
use crate::trace::{Cause, Effect, Lane, Trace, Turn};

/// Later turns are only counted: no reader needs them, and a test may run for ever. About a hundred megabytes.
const MAX_TURNS: usize = 500_000;

#[derive(Debug, Default)]
pub(crate) struct Recorder {
    trace: Trace,
    /// Where fibers yielded, by lane, until they continue.
    paused: BTreeMap<u32, Frame>,
    /// The indices of primitives in the trace, by their keys.
    primitives: BTreeMap<usize, usize>,
    /// Whether effects are those of the fiber of the last turn, or come from outside.
    is_in_turn: bool,
}

impl Recorder {
    pub(crate) fn trace(&self) -> &Trace {
        &self.trace
    }

    pub(crate) fn take_trace(&mut self) -> Trace {
        std::mem::take(&mut self.trace)
    }

    pub(crate) fn put_trace(&mut self, trace: Trace) {
        self.trace = trace;
    }

    pub(crate) fn created(&mut self, context: &Context, lane: Number, parent: Number) {
        self.trace.lanes.push(Lane {
            id: context.id(),
            name: context.name().map(str::to_owned),
            site: context.fork_site(),
            parent: parent.index(),
        });
        if let Some(lane) = lane.index() {
            self.effect(Effect::Fork(lane));
        }
    }

    /// A turn begins.
    pub(crate) fn begin(
        &mut self,
        fibers: &Fibers,
        at: Instant,
        entry: &Entry,
        choice: usize,
        choices: usize,
    ) {
        let context = entry.task.context();
        let waited = || context.and_then(|context| fibers.last_wait(context));
        let cause = match cause(entry.task.kind()) {
            Cause::Timer if waited().is_some_and(|(what, _)| what == WaitsFor::Computation) => {
                Cause::Computed
            }
            cause => cause,
        };
        let paused_at = self.paused.remove(&entry.lane.0).filter(|_| cause == Cause::Continue);
        let (operator, site) = match cause {
            Cause::Start => ("start", context.map(Context::fork_site)),
            Cause::Continue => paused_at.map_or(("go on", None), |at| (at.operator(), Some(at.location()))),
            Cause::TimeOut => ("timeout", context.map(Context::fork_site)),
            Cause::Blocking => ("blocking", None),
            Cause::Wake | Cause::Cancel | Cause::Timer | Cause::Computed => {
                waited().map_or(("wake", None), |(what, site)| (operator(what), Some(site)))
            }
        };
        // If no turn made it possible, time or an event from outside did.
        let since = entry.by().map(|turn| turn as usize);
        let effects = Vec::new();
        self.push(Turn {
            at,
            lane: entry.lane.index(),
            cause,
            operator,
            site,
            since,
            ready: Some(entry.ready).filter(|ready| *ready < at),
            choice,
            choices,
            effects,
        });
    }

    fn push(&mut self, turn: Turn) {
        self.note_fates();
        if self.is_full() {
            self.trace.left_out += 1;
        } else {
            self.trace.turns.push(turn);
        }
        self.is_in_turn = true;
    }

    fn is_full(&self) -> bool {
        self.trace.turns.len() == MAX_TURNS
    }

    pub(crate) fn end_turn(&mut self) {
        self.note_fates();
        self.is_in_turn = false;
    }

    /// Notes what has become of items since the last call, if that is [recorded](Fates).
    fn note_fates(&mut self) {
        Fates::take(|fate| match fate {
            Fate::Taken { of, count, unit, site } => {
                let primitive = self.primitive(&of);
                self.effect(Effect::Take { primitive, count, unit, site });
            }
            Fate::Dropped { of, count, unit, why } => {
                let primitive = self.primitive(&of);
                self.effect(Effect::Lose { primitive, count, unit, why });
            }
            Fate::Unwanted => self.loser().into_iter().for_each(|lane| self.effect(Effect::Discard(lane))),
            _ => {}
        });
    }

    /// The loser of a race of the fiber of this turn, which has succeeded too: of its fibers, the one that has ended last.
    fn loser(&self) -> Option<usize> {
        let winner = self.trace.turns.last()?.lane?;
        let effects = self.trace.turns.iter().rev().flat_map(|turn| turn.effects.iter().rev());
        let ended = effects.filter_map(|effect| match effect {
            Effect::End(lane, outcome) if outcome == "success" => Some(*lane),
            _ => None,
        });
        ended.into_iter().find(|lane| self.trace.lanes[*lane].parent == Some(winner))
    }

    /// The fiber of the last turn also has the next one.
    pub(crate) fn go_on(&mut self, at: Instant, lane: Number, bind: Frame, choice: usize, choices: usize) {
        self.push(Turn {
            at,
            lane: lane.index(),
            cause: Cause::Continue,
            operator: bind.operator(),
            site: Some(bind.location()),
            since: self.trace.turns.len().checked_sub(1),
            ready: None,
            choice,
            choices,
            effects: Vec::new(),
        });
    }

    /// A task becomes runnable. `rest_of`: it continues a fiber that yields here.
    pub(crate) fn scheduled(&mut self, task: &Task, lane: Number, rest_of: Option<Frame>) {
        if let Some(frame) = rest_of {
            self.paused.insert(lane.0, frame);
        }
        let is_wake = matches!(cause(task.kind()), Cause::Wake | Cause::Cancel);
        if let Some(index) = lane.index().filter(|_| is_wake) {
            self.effect(Effect::Wake(index));
        }
    }

    /// `at`: the primitive, the number of permits requested, and the fibers that hold some.
    pub(crate) fn waits(
        &mut self,
        what: WaitsFor,
        site: Site,
        on: Option<Number>,
        at: Option<(&Subject, usize, Vec<Number>)>,
    ) {
        // A scope shares the lane of the fiber that opened it, which is not the fiber that is awaited.
        let on = on.filter(|_| what != WaitsFor::Forks);
        let at = at.map(|(of, permits, holders)| {
            let mut held_by: Vec<usize> = holders.into_iter().filter_map(Number::index).collect();
            held_by.dedup();
            Box::new(Wanted { primitive: self.primitive(of), permits, held_by })
        });
        self.effect(Effect::Wait { what, site: Some(site), on: on.and_then(Number::index), at });
    }

    pub(crate) fn acquires(&mut self, lane: Number, of: &Subject, permits: usize, site: Site) {
        let primitive = self.primitive(of);
        self.effect(Effect::Acquire { lane: lane.index(), primitive, permits, site });
    }

    pub(crate) fn releases(&mut self, of: &Subject, permits: usize) {
        let primitive = self.primitive(of);
        self.effect(Effect::Release { primitive, permits });
    }

    /// The index of the primitive in the trace.
    pub(crate) fn primitive(&mut self, of: &Subject) -> usize {
        let all = &mut self.trace.primitives;
        *self.primitives.entry(of.key()).or_insert_with(|| {
            all.push(Primitive::of(of));
            all.len() - 1
        })
    }

    /// The name of the primitive in the trace.
    pub(crate) fn name(&self, of: &Subject) -> String {
        match self.primitives.get(&of.key()) {
            Some(primitive) => self.trace.name(*primitive),
            None => Primitive::of(of).to_string(),
        }
    }

    /// Records which fiber waits for which, when nothing can run any more.
    pub(crate) fn depends(&mut self, dependencies: Vec<Dependency>) {
        self.trace.dependencies = dependencies;
    }

    pub(crate) fn cancelled(&mut self, lane: Number) {
        if let Some(lane) = lane.index() {
            self.effect(Effect::Cancel(lane));
        }
    }

    pub(crate) fn finalizer(&mut self, frame: Frame) {
        self.effect(Effect::Finalizer { operator: frame.operator(), site: frame.location() });
    }

    pub(crate) fn ends(&mut self, lane: Number, outcome: String) {
        if let Some(lane) = lane.index() {
            self.effect(Effect::End(lane, outcome));
        }
    }

    pub(crate) fn timer(&mut self, now: Instant, at: Instant) {
        self.effect(Effect::Timer { after: at - now, at });
    }

    pub(crate) fn draws(&mut self, number: u64) {
        self.effect(Effect::Draw(number));
    }

    pub(crate) fn fault(&mut self, text: String) {
        self.effect(Effect::Fault(text));
    }

    pub(crate) fn event(&mut self, name: String) {
        self.effect(Effect::Event(name));
    }

    fn effect(&mut self, effect: Effect) {
        if self.is_full() && self.trace.left_out > 0 {
            return;
        }
        match self.trace.turns.last_mut().filter(|_| self.is_in_turn) {
            Some(turn) => turn.effects.push(effect),
            None => self.trace.outside.push((self.trace.turns.len(), effect)),
        }
    }
}

fn cause(kind: TaskKind) -> Cause {
    match kind {
        TaskKind::Start => Cause::Start,
        TaskKind::Wake => Cause::Wake,
        TaskKind::Cancel => Cause::Cancel,
        TaskKind::Timer => Cause::Timer,
        TaskKind::TimeOut => Cause::TimeOut,
        TaskKind::Continue => Cause::Continue,
        // The machine shares no borrowed tasks, so the latter is never seen.
        TaskKind::Blocking | TaskKind::Compute => Cause::Blocking,
    }
}

/// The operator of a wait.
fn operator(what: WaitsFor) -> &'static str {
    match what {
        WaitsFor::Nothing | WaitsFor::Other => "wait",
        WaitsFor::Timer => "delay",
        WaitsFor::Computation => "compute",
        WaitsFor::Fiber => "join",
        WaitsFor::Children => "children",
        WaitsFor::Forks => "await_all",
        WaitsFor::Callback => "callback",
        WaitsFor::Blocking => "blocking",
        WaitsFor::Future => "future",
        WaitsFor::Lock => "lock",
        WaitsFor::Permits => "acquire",
        WaitsFor::Item => "recv",
        WaitsFor::Room => "send",
        WaitsFor::Signal => "signal",
        WaitsFor::Data => "read",
        WaitsFor::Sending => "write",
        WaitsFor::Connection => "connect",
        WaitsFor::Never => "never",
        WaitsFor::Either => "race",
    }
}
