//! What the machine knows, under its one lock.

use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

use fiber_core::error::Frame;
use fiber_core::scheduler::{Checkpoint, Task, TaskKind, TimerKey};
use fiber_core::{Context, Instant};

use super::cancellations::PlannedCancellation;
use super::cpus::Cpus;
use super::decisions::Decisions;
use super::faults::{Aim, OpenFaults, PlannedFault};
use super::fibers::Fibers;
use super::holdings::Holdings;
use super::lane::Lane;
use super::lateness::Lateness;
use super::limits::Limits;
use super::mishaps::Mishaps;
use super::notes::Notes;
use super::numbers::Numbers;
use super::places::Places;
use super::ready::{Choices, Entry};
use super::steps::{Steps, TaskId};
use super::timeline::{Due, Timeline};
use crate::fault::FaultKind;
use crate::random::SplitMix64;
use crate::recorder::Recorder;
use crate::report::Report;
use crate::schedule::Schedule;
use crate::strategy::{Decision, Strategy};
use crate::trace::Trace;

/// An unobserved failure.
#[derive(Clone)]
pub(crate) struct Lost {
    /// When nobody could observe it any more.
    pub(crate) at: Instant,
    pub(crate) is_panic: bool,
    pub(crate) text: String,
}

pub(crate) struct State {
    pub(crate) timeline: Timeline,
    pub(crate) fibers: Fibers,
    pub(crate) holdings: Holdings,
    pub(crate) limits: Limits,
    pub(crate) unobserved: Vec<Lost>,
    pub(crate) mishaps: Mishaps,
    pub(super) places: Places,
    pub(crate) decisions: Decisions,
    pub(crate) numbers: Numbers,
    pub(crate) notes: Notes,
    ready: VecDeque<Entry>,
    pub(super) cpus: Option<Cpus>,
    /// The fiber whose turn it is.
    pub(super) current: Option<Lane>,
    /// Something has become able to run since the last choice.
    has_arrivals: bool,
    /// A bind was paused for this choice.
    chosen: Option<Chosen>,
    /// The rest of the fiber whose turn it is will be scheduled next, from here.
    pub(super) pausing: Option<Frame>,
}

/// What comes next.
pub(crate) enum Next {
    Turn(Task),
    /// To be cancelled before the next turn.
    Cancel(Context),
    /// To happen to the network before this turn.
    Fault(u32, Aim),
    /// One may be chosen of these kinds.
    ChooseFault(Vec<FaultKind>),
    /// Nothing can run.
    Nothing,
}

/// What a machine is to do in its next run.
#[derive(Default)]
pub(crate) struct Course {
    pub(crate) strategy: Strategy,
    /// Where the program's random numbers start.
    pub(crate) seed: u64,
    pub(crate) cancellations: Vec<PlannedCancellation>,
    pub(crate) faults: Vec<PlannedFault>,
    /// Those that the strategy chooses.
    pub(crate) open_faults: OpenFaults,
    /// Who may be late draws it from this. Without, the strategy decides.
    pub(crate) lateness: Option<SplitMix64>,
    /// Whether it is noted who has which turn.
    pub(crate) has_census: bool,
    /// Where to note what steps touch, if anywhere.
    pub(crate) steps: Option<Box<Steps>>,
}

/// A decision: a place among those that can run.
#[derive(Clone, Copy)]
struct Chosen {
    place: usize,
    choice: usize,
    choices: usize,
}

impl State {
    pub(crate) fn new(strategy: Strategy, seed: u64) -> Self {
        State {
            timeline: Timeline::new(),
            fibers: Fibers::default(),
            holdings: Holdings::default(),
            limits: Limits::default(),
            unobserved: Vec::new(),
            mishaps: Mishaps::default(),
            places: Places::default(),
            decisions: Decisions::new(strategy),
            numbers: Numbers::new(seed),
            notes: Notes::default(),
            ready: VecDeque::new(),
            cpus: None,
            current: None,
            has_arrivals: false,
            chosen: None,
            pausing: None,
        }
    }

    pub(crate) fn simulate(&mut self, cpus: Cpus) {
        self.cpus = Some(cpus);
    }

    /// How many workers are simulated.
    pub(crate) fn workers(&self) -> Option<usize> {
        self.cpus.as_ref().map(Cpus::workers)
    }

    pub(crate) fn slice_budget(&self) -> Option<u32> {
        self.cpus.as_ref().map(Cpus::budget)
    }

    pub(crate) fn trace(&self) -> Option<&Trace> {
        self.notes.recorder().map(Recorder::trace)
    }

    pub(crate) fn take_trace(&mut self) -> Option<Trace> {
        self.notes.recorder_mut().map(Recorder::take_trace)
    }

    pub(crate) fn put_trace(&mut self, trace: Trace) {
        if let Some(recorder) = self.notes.recorder_mut() {
            recorder.put_trace(trace);
        }
    }

    /// Becomes as new, for another run; everything has ended.
    pub(crate) fn restart(&mut self, course: Course) {
        let Course { strategy, seed, cancellations, faults, open_faults, lateness, has_census, steps } =
            course;
        self.timeline.reset();
        self.fibers.reset();
        drop(self.limits.restart(Instant::EPOCH, 0));
        self.unobserved.clear();
        self.mishaps.restart(cancellations, faults, open_faults, lateness);
        self.places.clear();
        self.decisions.restart(strategy);
        self.numbers.restart(seed);
        self.notes.restart(steps, has_census);
        self.cpus.iter_mut().for_each(Cpus::reset);
        self.current = None;
        self.has_arrivals = false;
        self.chosen = None;
    }

    /// What was decided since [`restart`](State::restart).
    pub(crate) fn schedule(&self, seed: u64) -> Schedule {
        Schedule {
            deviations: self.decisions.deviations(),
            cancellations: self.mishaps.cancellations.happened().to_vec(),
            faults: self.mishaps.faults.happened().to_vec(),
            seed: if self.decisions.counts().has_drawn { seed } else { 0 },
        }
    }

    /// Whether everything has ended, and nothing is to happen.
    pub(crate) fn is_at_rest(&self) -> bool {
        let is_empty = self.ready.is_empty() && self.fibers.len() == 0;
        is_empty && self.timeline.next_instant().is_none() && !self.mishaps.are_planned()
    }

    /// Whether no task is queued, not even one without effect.
    pub(crate) fn has_no_task(&self) -> bool {
        self.ready.is_empty()
    }

    /// How many tasks can run and have an effect on a fiber.
    pub(crate) fn runnable(&self) -> usize {
        let is_of_fiber = |entry: &&Entry| entry.task.context().is_some() && !entry.task.is_void();
        self.ready.iter().filter(is_of_fiber).count()
    }

    /// Everything that was ever scheduled and has not run.
    pub(crate) fn clear(&mut self) -> Vec<Task> {
        let mut tasks = self.timeline.reset();
        tasks.extend(self.ready.drain(..).map(|entry| entry.task));
        tasks
    }

    /// The limits count anew. Returns what is to be dropped without any lock.
    pub(crate) fn restart_limits(&mut self) -> impl Sized + use<> {
        self.limits.restart(self.timeline.now(), self.fibers.len())
    }

    pub(crate) fn draw_random(&mut self) -> u64 {
        let number = self.numbers.random(self.current, &mut self.decisions);
        if let Some(recorder) = self.notes.recorder_mut() {
            recorder.draws(number);
        }
        number
    }

    /// Which of several borrowed tasks runs next.
    pub(crate) fn choose_task(&mut self, count: usize) -> usize {
        self.numbers.task(count, self.current, &mut self.decisions)
    }

    /// How many bytes of these the network transfers at once. `None`: all.
    pub(crate) fn choose_cut(&mut self, bytes: usize) -> Option<usize> {
        self.numbers.cut(bytes, &mut self.decisions)
    }

    /// One of so many outcomes of a crash of a disk.
    pub(crate) fn choose_loss(&mut self, outcomes: usize) -> usize {
        self.numbers.loss(outcomes, &mut self.decisions)
    }

    /// Whether a fiber has the turn, and not a thread of the program's own.
    pub(crate) fn is_in_turn(&self) -> bool {
        self.current.is_some()
    }

    /// The kinds of faults of which one may be chosen before the next turn.
    #[inline]
    pub(crate) fn open_faults(&self) -> Vec<FaultKind> {
        self.mishaps.faults.open(self.decisions.turn())
    }

    /// One of these faults happens before the next turn, or none.
    #[cold]
    pub(crate) fn choose_fault(&mut self, mut possible: Vec<(FaultKind, Vec<String>)>) {
        let turn = self.decisions.turn();
        match self.decisions.choose_fault(possible.len()) {
            None => self.mishaps.faults.pass(turn),
            Some(at) => {
                let (kind, hosts) = possible.swap_remove(at);
                self.mishaps.faults.choose(turn, kind, hosts);
            }
        }
    }

    pub(crate) fn set_timer(&mut self, at: Instant, task: Task) -> TimerKey {
        if let Some(recorder) = self.notes.recorder_mut() {
            recorder.timer(self.timeline.now(), at);
        }
        self.timeline.push_at(at, task, 0)
    }

    /// Moves the clock, and makes runnable what is due.
    pub(crate) fn advance_to(&mut self, instant: Instant) {
        self.has_arrivals = true;
        let State { timeline, ready, fibers, decisions, notes, .. } = self;
        let since = decisions.turn();
        let mut steps = notes.steps_mut();
        steps.iter_mut().for_each(|steps| steps.begin_round());
        timeline.advance_to(instant, |Due { at, task, slice }| {
            let lane = task.context().map_or(Lane::NONE, |context| fibers.lane(context));
            let id = steps.as_mut().map_or(TaskId::default(), |steps| steps.scheduled(&task));
            ready.push_back(Entry { task, lane, since, is_of_turn: false, ready: at, slice, id });
        });
    }

    /// What comes next. [`Next::Nothing`]: none can run until `end`.
    // Inlined where it is called, as `pause` and `created` are, though that is in another file: the result is large.
    #[inline]
    pub(crate) fn next(&mut self, end: Instant, may_advance: bool) -> Result<Next, Report> {
        self.end_turn();
        if self.mishaps.are_planned()
            && let Some(next) = self.mishap()
        {
            return Ok(next);
        }
        let chosen = match self.chosen.take() {
            Some(chosen) => chosen,
            None => loop {
                if let Some(chosen) = self.decide(None) {
                    break chosen;
                }
                let now = self.timeline.now();
                match self.timeline.next_instant() {
                    Some(next) if next <= now || may_advance && next <= end => self.advance_to(next),
                    _ => return Ok(Next::Nothing),
                }
            },
        };
        self.limits.count(self.timeline.now(), self.fibers.len());
        if self.limits.is_suspicious() {
            // Before the task leaves the queue: to drop it is the program's code.
            self.limits.check(self.ready[chosen.place].task.context(), self.fibers.len())?;
        }
        // Before the entry leaves the queue: as a whole, it would be moved through memory.
        if let Some(cpus) = &mut self.cpus {
            cpus.begin(self.ready[chosen.place].slice);
        }
        if let Some(notes) = self.notes.kept() {
            let (entry, by) = (&self.ready[chosen.place], (chosen.choice, chosen.choices));
            notes.begin_turn(&self.fibers, self.timeline.now(), entry, by);
        }
        let entry = match chosen.place {
            0 => self.ready.pop_front(),
            place => self.ready.remove(place),
        };
        let Entry { task, lane, .. } = entry.expect("a choice of those that can run");
        self.begin_turn(lane, chosen);
        Ok(Next::Turn(task))
    }

    /// What goes wrong before the next turn.
    #[cold]
    fn mishap(&mut self) -> Option<Next> {
        let Mishaps { cancellations, faults, .. } = &mut self.mishaps;
        let turn = self.decisions.turn();
        while cancellations.is_due(turn) {
            if let Some(context) = cancellations.take(turn, &self.fibers) {
                return Some(Next::Cancel(context));
            }
        }
        if let Some(aim) = faults.take(turn) {
            return Some(Next::Fault(turn, aim));
        }
        let kinds = faults.open(turn);
        if kinds.is_empty() { None } else { Some(Next::ChooseFault(kinds)) }
    }

    /// The fiber whose turn it was has waited or ended.
    pub(crate) fn end_turn(&mut self) {
        if self.current.take().is_none() {
            return;
        }
        if let Some(cpus) = &mut self.cpus {
            cpus.end();
        }
        if let Some(recorder) = self.notes.recorder_mut() {
            recorder.end_turn();
        }
    }

    /// Chooses among those that can run and the one that is paused. `None`: there are none.
    // Inlined, because the result is large: it would be passed through memory, once for each turn.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn decide(&mut self, paused: Option<Lane>) -> Option<Chosen> {
        if self.mishaps.lateness.is_some() || self.cpus.is_some() {
            return self.decide_with_care(paused);
        }
        let has_arrivals = mem::take(&mut self.has_arrivals);
        let (turn, ready, steps) = (self.decisions.turn(), &self.ready, self.notes.steps());
        let choices =
            Choices { turn, has_arrivals, ready, eligible: None, paused, may_be_later: false, steps };
        let count = choices.len();
        if count == 0 {
            return None;
        }
        match self.decisions.choose(&choices) {
            Decision::Take(choice) => Some(Chosen { place: choice, choice, choices: count }),
            Decision::Later => unreachable!("time may not pass"),
        }
    }

    /// The same, if some tasks may not be chosen, or time may pass instead.
    #[cold]
    fn decide_with_care(&mut self, paused: Option<Lane>) -> Option<Chosen> {
        let paused_at = self.timeline.now();
        loop {
            let may_be_later =
                self.mishaps.lateness.is_some() && self.may_be_later(paused.map(|_| paused_at));
            let eligible = self.cpus.as_mut().and_then(|cpus| cpus.eligible(&self.ready));
            let has_arrivals = mem::take(&mut self.has_arrivals);
            let (turn, ready, steps) = (self.decisions.turn(), &self.ready, self.notes.steps());
            let choices = Choices { turn, has_arrivals, ready, eligible, paused, may_be_later, steps };
            let count = choices.len();
            if count == 0 {
                return None;
            }
            let is_drawn = may_be_later && self.mishaps.lateness.as_mut().is_some_and(Lateness::draw);
            let decision = match is_drawn {
                true => Decision::Later,
                false => self.decisions.choose(&choices),
            };
            match decision {
                Decision::Take(choice) => {
                    // The paused one has no place.
                    let place = eligible.map_or(Some(choice), |all| all.get(choice).map(|at| *at as usize));
                    return Some(Chosen { place: place.unwrap_or(self.ready.len()), choice, choices: count });
                }
                Decision::Later => self.let_time_pass(),
            }
        }
    }

    /// Whether the next timer comes before any runnable fiber is too late.
    #[cold]
    fn may_be_later(&self, paused_at: Option<Instant>) -> bool {
        let Some(next) = self.timeline.next_instant() else { return false };
        let first = self.ready.iter().map(|entry| entry.ready).chain(paused_at).min();
        first.is_some_and(|first| self.mishaps.may_overtake(first, next))
    }

    #[cold]
    fn let_time_pass(&mut self) {
        let next = self.timeline.next_instant().expect("there is a timer to wait for");
        self.decisions.let_time_pass();
        self.advance_to(next);
    }

    #[inline]
    fn begin_turn(&mut self, lane: Lane, Chosen { choice, choices, .. }: Chosen) {
        self.decisions.begin_turn(lane, choice, choices);
        self.current = Some(lane);
    }

    /// The fiber of `context` has come to a bind.
    #[inline]
    pub(crate) fn pause(&mut self, at: Frame) -> Checkpoint {
        // Within one turn one fiber runs; outside of any, a thread of the program's own has called in.
        let is_interrupted = self.mishaps.are_due(self.decisions.turn());
        let lane = match self.current {
            // What the step touches has to be known before the next choice, so the step has to be over.
            Some(lane) if !is_interrupted && !self.limits.is_suspicious() && self.notes.steps().is_none() => {
                lane
            }
            _ => {
                self.pausing = Some(at);
                return Checkpoint::Yield;
            }
        };
        if let Some(cpus) = &mut self.cpus {
            cpus.spend();
        }
        let chosen = self.decide(Some(lane)).expect("at least the one that is paused");
        if chosen.choice + 1 < chosen.choices {
            self.chosen = Some(chosen);
            self.pausing = Some(at);
            return Checkpoint::Yield;
        }
        if let Some(cpus) = &mut self.cpus {
            cpus.go_on();
        }
        self.limits.count(self.timeline.now(), self.fibers.len());
        if let Some(notes) = self.notes.kept() {
            notes.go_on(self.timeline.now(), lane, at, (chosen.choice, chosen.choices));
        }
        self.begin_turn(lane, chosen);
        Checkpoint::Continue(1)
    }

    /// A task can run from now on.
    pub(crate) fn push(&mut self, task: Task) {
        let rest_of = self.pausing.take().filter(|_| task.kind() == TaskKind::Continue);
        // Not the lane of the turn, even if the task is the rest of its step: a fiber that a block awaits may have moved apart.
        let lane = self.lane_of(&task);
        let slice = match &mut self.cpus {
            Some(cpus) if rest_of.is_some() => cpus.keep(),
            _ => 0,
        };
        let id = match self.notes.kept() {
            Some(notes) => notes.scheduled(&task, lane, rest_of),
            None => TaskId::default(),
        };
        let (since, is_of_turn) = (self.decisions.turn(), self.current.is_some());
        let ready = self.timeline.now();
        self.ready.push_back(Entry { task, lane, since, is_of_turn, ready, slice, id });
        self.has_arrivals = true;
    }

    fn lane_of(&self, task: &Task) -> Lane {
        task.context().map_or(Lane::NONE, |context| self.fibers.lane(context))
    }

    pub(crate) fn compute(&mut self, cost: Duration, task: Task) {
        let slice = self.cpus.as_mut().map_or(0, Cpus::keep);
        let until = self.timeline.now() + cost;
        self.timeline.push_at(until, task, slice);
    }
}
