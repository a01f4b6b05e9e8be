//! What the machine knows, under its one lock.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::time::Duration;

use fiber_core::error::Frame;
use fiber_core::scheduler::{Checkpoint, Subject, Task, TaskKind, TimerKey, WaitsFor};
use fiber_core::{Context, Instant};

use super::cancellations::PlannedCancellation;
use super::census::Census;
use super::cpus::Cpus;
use super::cuts::{self, Cuts};
use super::draws::Draws;
use super::faults::{Aim, OpenFaults, PlannedFault};
use super::fibers::Fibers;
use super::holdings::Holdings;
use super::lane::Lane;
use super::lateness::Lateness;
use super::limits::Limits;
use super::mishaps::Mishaps;
use super::places::{Place, Places};
use super::ready::{Choices, Entry};
use super::steps::{Steps, TaskId};
use super::timeline::{Due, Timeline};
use crate::fault::FaultKind;
use crate::primitive::Site;
use crate::primitive::{Dependency, Primitive};
use crate::random::{SplitMix64, mix};
use crate::recorder::Recorder;
use crate::report::Report;
use crate::schedule::{Deviation, MAX_NUMBER, Schedule};
use crate::strategy::{Decision, FAIRNESS_BOUND, Strategy};
use crate::trace::Trace;
use crate::wait_graph::{Snapshot, WaitGraph};

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
    places: Places,
    pub(crate) census: Option<Census>,
    pub(crate) strategy: Strategy,
    ready: VecDeque<Entry>,
    cpus: Option<Cpus>,
    /// The number of the turn to come.
    turn: u32,
    /// The fiber whose turn it is.
    current: Option<Lane>,
    /// Something has become able to run since the last choice.
    has_arrivals: bool,
    /// For how many turns a fiber that can run may be passed over.
    fairness_bound: u32,
    /// A bind was paused for this choice.
    chosen: Option<Chosen>,
    /// The rest of the fiber whose turn it is will be scheduled next, from here.
    pausing: Option<Frame>,
    deviations: Option<Vec<Deviation>>,
    count: Counts,
    draws: Draws,
    cuts: Cuts,
    /// Random numbers are below this, and each is a choice.
    pub(crate) draws_below: Option<u32>,
    /// How many were drawn since the last choice.
    drawn: u32,
    recorder: Option<Box<Recorder>>,
    /// What the steps touch, if that is noted.
    pub(crate) steps: Option<Box<Steps>>,
}

/// What a run teaches about the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub(crate) turns: u32,
    /// Turns with something to choose.
    pub(crate) contended: u32,
    /// How many schedules there are, as far as this one shows: the product of all choices. Its mean over a random walk is their number.
    pub(crate) orders: f64,
    /// Tells one order of turns from another: a hash of who had each of them.
    pub(crate) order: u64,
    /// Whether a random number was drawn.
    pub(crate) has_drawn: bool,
    /// Whether a choice was forced, since a fiber was passed over for too long.
    pub(crate) is_forced: bool,
    /// Whether there were more ways to break the network than can be chosen from.
    pub(crate) leaves_out: bool,
}

impl Default for Counts {
    fn default() -> Self {
        Counts {
            turns: 0,
            contended: 0,
            orders: 1.0,
            order: 0,
            has_drawn: false,
            is_forced: false,
            leaves_out: false,
        }
    }
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
            census: None,
            strategy,
            ready: VecDeque::new(),
            cpus: None,
            turn: 0,
            current: None,
            has_arrivals: false,
            fairness_bound: FAIRNESS_BOUND,
            chosen: None,
            pausing: None,
            deviations: None,
            count: Counts::default(),
            draws: Draws::new(seed),
            cuts: Cuts::new(seed),
            draws_below: None,
            drawn: 0,
            recorder: None,
            steps: None,
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

    pub(crate) fn record(&mut self) {
        self.recorder = Some(Box::default());
    }

    pub(crate) fn trace(&self) -> Option<&Trace> {
        self.recorder.as_deref().map(Recorder::trace)
    }

    pub(crate) fn take_trace(&mut self) -> Option<Trace> {
        self.recorder.as_deref_mut().map(Recorder::take_trace)
    }

    pub(crate) fn put_trace(&mut self, trace: Trace) {
        if let Some(recorder) = &mut self.recorder {
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
        self.census = has_census.then(Census::default);
        self.strategy = strategy;
        self.cpus.iter_mut().for_each(Cpus::reset);
        self.turn = 0;
        self.current = None;
        self.has_arrivals = false;
        self.fairness_bound = FAIRNESS_BOUND;
        self.chosen = None;
        self.count = Counts::default();
        self.draws.restart(seed);
        self.cuts = Cuts::new(seed);
        self.drawn = 0;
        self.deviations.get_or_insert_default().clear();
        self.steps = steps;
        self.steps.iter_mut().for_each(|steps| steps.clear());
        if let Some(recorder) = &mut self.recorder {
            **recorder = Recorder::default();
        }
    }

    /// What was decided since [`restart`](State::restart).
    pub(crate) fn schedule(&self, seed: u64) -> Schedule {
        Schedule {
            deviations: self.deviations.clone().unwrap_or_default(),
            cancellations: self.mishaps.cancellations.happened().to_vec(),
            faults: self.mishaps.faults.happened().to_vec(),
            seed: if self.count.has_drawn { seed } else { 0 },
        }
    }

    /// What the run has taught so far.
    pub(crate) fn counts(&self) -> Counts {
        Counts { turns: self.turn, is_forced: self.fairness_bound < FAIRNESS_BOUND, ..self.count }
    }

    /// How many turns there were.
    pub(crate) fn turns(&self) -> u32 {
        self.turn
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
        let drawn = self.draws.draw(self.current);
        let number = match self.draws_below {
            Some(most) => u64::from(self.choose_number(most, drawn)),
            None => {
                self.count.has_drawn = true;
                drawn
            }
        };
        if let Some(recorder) = &mut self.recorder {
            recorder.draws(number);
        }
        number
    }

    /// Which of several borrowed tasks runs next. It is chosen as a random number is that the strategy enumerates. Without chance, it is the
    /// first one.
    pub(crate) fn choose_task(&mut self, count: usize) -> usize {
        let most = u32::try_from(count).unwrap_or(u32::MAX);
        // In any case, so that the random numbers of the fiber are the same under each strategy.
        let drawn = self.draws.draw(self.current);
        let drawn = if self.strategy.is_without_chance() { 0 } else { drawn };
        self.choose_number(most, drawn) as usize
    }

    /// How many bytes of these the network transfers at once. `None`: all.
    pub(crate) fn choose_cut(&mut self, bytes: usize) -> Option<usize> {
        let choices = cuts::choices(bytes);
        let (drawn, weight) =
            if self.strategy.is_without_chance() { (0, f64::from(choices)) } else { self.cuts.draw(choices) };
        let choice = self.choose_number(choices, u64::from(drawn));
        // The other choices were not as likely.
        self.count.orders *= weight / f64::from(choices);
        if choice > 0 {
            self.count.order = mix(self.count.order ^ !u64::from(choice));
        }
        cuts::length(choice, bytes)
    }

    /// One of so many outcomes of a crash of a disk. Without chance, it is the first one.
    pub(crate) fn choose_loss(&mut self, outcomes: usize) -> usize {
        let most = u32::try_from(outcomes).unwrap_or(MAX_NUMBER).min(MAX_NUMBER);
        let drawn = if self.strategy.is_without_chance() { 0 } else { self.cuts.any(most) };
        self.choose_number(most, u64::from(drawn)) as usize
    }

    /// Whether a fiber has the turn, and not a thread of the program's own.
    pub(crate) fn is_in_turn(&self) -> bool {
        self.current.is_some()
    }

    /// The kinds of faults of which one may be chosen before the next turn.
    #[inline]
    pub(crate) fn open_faults(&self) -> Vec<FaultKind> {
        self.mishaps.faults.open(self.turn)
    }

    /// One of these faults happens before the next turn, or none. A schedule has it among its faults, and not among its numbers.
    #[cold]
    pub(crate) fn choose_fault(&mut self, mut possible: Vec<(FaultKind, Vec<String>)>) {
        if possible.len() >= MAX_NUMBER as usize {
            possible.truncate(MAX_NUMBER as usize - 1);
            self.count.leaves_out = true;
        }
        let number = if possible.is_empty() { 0 } else { self.next_number(possible.len() as u32 + 1, 0).1 };
        // When the schedule is replayed, this is no number, and must not count as one.
        self.drawn -= u32::from(!possible.is_empty());
        match number.checked_sub(1) {
            None => self.mishaps.faults.pass(self.turn),
            Some(at) => {
                let (kind, hosts) = possible.swap_remove(at as usize);
                self.mishaps.faults.choose(self.turn, kind, hosts);
            }
        }
    }

    /// Which number since the last choice it is, and the number.
    fn next_number(&mut self, most: u32, drawn: u64) -> (u32, u32) {
        let nth = self.drawn;
        self.drawn += 1;
        self.count.orders *= f64::from(most);
        let number = match &mut self.strategy {
            Strategy::Script(script) => script.number(self.turn, nth, most),
            Strategy::Guide(guide) => guide.number(most),
            Strategy::Follow(follow) => {
                follow.number(self.turn, nth, most).unwrap_or((drawn % u64::from(most)) as u32)
            }
            _ => (drawn % u64::from(most)) as u32,
        };
        (nth, number)
    }

    /// A number is a choice of the strategy, if it enumerates; otherwise it is what was drawn.
    #[cold]
    fn choose_number(&mut self, most: u32, drawn: u64) -> u32 {
        let (nth, number) = self.next_number(most, drawn);
        if number > 0
            && let Some(deviations) = &mut self.deviations
        {
            deviations.push(Deviation::number(self.turn, nth, number));
        }
        number
    }

    pub(crate) fn set_timer(&mut self, at: Instant, task: Task) -> TimerKey {
        if let Some(recorder) = &mut self.recorder {
            recorder.timer(self.timeline.now(), at);
        }
        self.timeline.push_at(at, task, 0)
    }

    /// Moves the clock, and makes runnable what is due.
    pub(crate) fn advance_to(&mut self, instant: Instant) {
        self.has_arrivals = true;
        let State { timeline, ready, fibers, turn, steps, .. } = self;
        steps.iter_mut().for_each(|steps| steps.begin_round());
        timeline.advance_to(instant, |Due { at, task, slice }| {
            let lane = task.context().map_or(Lane::NONE, |context| fibers.lane(context));
            let id = steps.as_mut().map_or(TaskId::default(), |steps| steps.scheduled(&task));
            ready.push_back(Entry { task, lane, since: *turn, is_of_turn: false, ready: at, slice, id });
        });
    }

    /// What comes next. [`Next::Nothing`]: none can run until `end`.
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
        if let Some(recorder) = &mut self.recorder {
            let entry = &self.ready[chosen.place];
            recorder.begin(&self.fibers, self.timeline.now(), entry, chosen.choice, chosen.choices);
        }
        if let Some(steps) = &mut self.steps {
            let entry = &self.ready[chosen.place];
            steps.begin(entry.id, entry.lane, entry.by(), self.timeline.now());
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
        while cancellations.is_due(self.turn) {
            if let Some(context) = cancellations.take(self.turn, &self.fibers) {
                return Some(Next::Cancel(context));
            }
        }
        if let Some(aim) = faults.take(self.turn) {
            return Some(Next::Fault(self.turn, aim));
        }
        let kinds = faults.open(self.turn);
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
        if let Some(recorder) = &mut self.recorder {
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
        let (turn, ready, steps) = (self.turn, &self.ready, self.steps.as_deref());
        let choices =
            Choices { turn, has_arrivals, ready, eligible: None, paused, may_be_later: false, steps };
        let count = choices.len();
        if count == 0 {
            return None;
        }
        match self.strategy.choose(&choices, &mut self.fairness_bound) {
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
            let (turn, ready) = (self.turn, &self.ready);
            let steps = self.steps.as_deref();
            let choices = Choices { turn, has_arrivals, ready, eligible, paused, may_be_later, steps };
            let count = choices.len();
            if count == 0 {
                return None;
            }
            let is_drawn = may_be_later && self.mishaps.lateness.as_mut().is_some_and(Lateness::draw);
            let decision = match is_drawn {
                true => Decision::Later,
                false => self.strategy.choose(&choices, &mut self.fairness_bound),
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
        if let Some(deviations) = &mut self.deviations {
            deviations.push(Deviation { turn: self.turn, choice: Deviation::LATER });
        }
        self.advance_to(next);
    }

    #[inline]
    fn begin_turn(&mut self, lane: Lane, Chosen { choice, choices, .. }: Chosen) {
        if choice > 0
            && let Some(deviations) = &mut self.deviations
        {
            deviations.push(Deviation { turn: self.turn, choice: choice as u32 });
        }
        if choices > 1 {
            self.count.contended += 1;
            self.count.orders *= choices as f64;
        }
        self.drawn = 0;
        self.count.order = mix(self.count.order ^ (u64::from(lane.0) + 1));
        if let Some(census) = &mut self.census {
            census.turn(lane);
        }
        self.turn += 1;
        self.current = Some(lane);
    }

    /// The fiber of `context` has come to a bind.
    pub(crate) fn pause(&mut self, at: Frame) -> Checkpoint {
        // Within one turn one fiber runs; outside of any, a thread of the program's own has called in.
        let is_interrupted = self.mishaps.are_due(self.turn);
        let lane = match self.current {
            // What the step touches has to be known before the next choice, so the step has to be over.
            Some(lane) if !is_interrupted && !self.limits.is_suspicious() && self.steps.is_none() => lane,
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
        if let Some(recorder) = &mut self.recorder {
            recorder.go_on(self.timeline.now(), lane, at, chosen.choice, chosen.choices);
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
        if let Some(recorder) = &mut self.recorder {
            recorder.scheduled(&task, lane, rest_of);
        }
        let is_of_turn = self.current.is_some();
        let id = self.steps.as_mut().map_or(TaskId::default(), |steps| steps.scheduled(&task));
        let ready = self.timeline.now();
        self.ready.push_back(Entry { task, lane, since: self.turn, is_of_turn, ready, slice, id });
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

    pub(crate) fn created(&mut self, context: &Context, parent: &Context) {
        let (lane, above) = self.fibers.insert(context, parent);
        if let Some(steps) = &mut self.steps {
            steps.created(context, lane, parent);
        }
        if context.is_structure() {
            return;
        }
        self.strategy.created(lane, above);
        if let Strategy::Recorded(recorded) = &mut self.strategy {
            recorded.created(context.id());
        }
        self.draws.created(above);
        // What is detached is below the root, and runs where it was made.
        let maker = self.current.filter(|lane| lane.index().is_some());
        self.places.created(lane, maker.unwrap_or(above));
        if let Some(census) = &mut self.census {
            census.created(context, lane);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.created(context, lane, above);
        }
    }

    /// Returns what is to be dropped without any lock.
    pub(crate) fn waits(
        &mut self,
        context: &Context,
        what: WaitsFor,
        site: Site,
        on: Option<&Context>,
        at: Option<(&Subject, usize)>,
    ) -> Option<impl Sized + use<>> {
        if let Some(recorder) = &mut self.recorder {
            let on = on.map(|on| self.fibers.lane(on));
            let at = at.map(|(of, permits)| (of, permits, self.holdings.holders(of)));
            recorder.waits(what, site, on, at);
        }
        self.fibers.waits(context, what, site, on, at)
    }

    pub(crate) fn acquires(&mut self, context: &Context, of: &Subject, permits: usize, site: Site) {
        let by = self.fibers.fiber(context);
        if let Some(recorder) = &mut self.recorder {
            recorder.acquires(by.1, of, permits, site);
        }
        self.holdings.acquired(context, by, of, permits, site);
    }

    /// Returns what is to be dropped without any lock.
    pub(crate) fn releases(
        &mut self,
        context: &Context,
        of: &Subject,
        permits: usize,
        site: Site,
    ) -> Option<impl Sized + use<>> {
        if let Some(recorder) = &mut self.recorder {
            recorder.releases(of, permits);
        }
        self.holdings.released(context, of, permits, site)
    }

    /// All that waits and is held now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let (blocked, held) = (self.fibers.blocked(), self.holdings.held());
        let wanted = blocked.iter().filter_map(|one| Some(&one.at.as_ref()?.of));
        let names = self.names(held.iter().map(|holding| &holding.of).chain(wanted));
        Snapshot { blocked, held, names }
    }

    /// Those of one name get numbers: as in the trace, if there is one.
    pub(crate) fn names<'a>(&self, subjects: impl Iterator<Item = &'a Subject>) -> BTreeMap<usize, String> {
        let subjects: BTreeMap<usize, &Subject> = subjects.map(|of| (of.key(), of)).collect();
        if let Some(recorder) = &self.recorder {
            return subjects.into_iter().map(|(key, of)| (key, recorder.name(of))).collect();
        }
        let all: Vec<Primitive> = subjects.values().map(|of| Primitive::of(of)).collect();
        subjects.into_keys().enumerate().map(|(at, key)| (key, Primitive::name_in(&all, at))).collect()
    }

    /// Notes in the trace who waits for whom.
    pub(crate) fn record_dependencies(&mut self, snapshot: &Snapshot) {
        let Some(recorder) = &mut self.recorder else { return };
        let graph = WaitGraph::new(snapshot);
        let cycle = graph.cycle();
        let dependencies = graph.all_links().filter_map(|link| {
            let (from, to, of) = graph.ends(&link);
            let (from, to) = (from.index()?, to.index()?);
            let is_of_cycle = cycle.contains(&link);
            let primitive = of.map(|of| recorder.primitive(of));
            (from != to || is_of_cycle).then_some(Dependency { from, to, primitive, is_of_cycle })
        });
        let mut dependencies: Vec<Dependency> = dependencies.collect();
        dependencies.dedup();
        recorder.depends(dependencies);
    }

    pub(crate) fn yields(&mut self, context: &Context, at: Frame) {
        self.pausing = Some(at);
        // Its slice is over.
        if let Some(cpus) = &mut self.cpus {
            cpus.end();
        }
        let lane = self.fibers.lane(context);
        self.strategy.yielded(lane);
    }

    pub(crate) fn cancelled(&mut self, context: &Context) {
        if let Some(recorder) = &mut self.recorder
            && !context.is_structure()
        {
            recorder.cancelled(self.fibers.lane(context));
        }
    }

    pub(crate) fn finalizer(&mut self, context: &Context, frame: Frame) {
        self.fibers.finalizer_begins(context, frame);
        if let Some(recorder) = &mut self.recorder {
            recorder.finalizer(frame);
        }
    }

    pub(crate) fn ends(&mut self, context: &Context, outcome: String) {
        if let Some(recorder) = &mut self.recorder {
            recorder.ends(self.fibers.lane(context), outcome);
        }
    }

    pub(crate) fn here(&self) -> Place {
        self.places.of(self.current.unwrap_or(Lane::NONE))
    }

    pub(crate) fn put(&mut self, context: &Context, place: Place) {
        self.places.put(self.fibers.lane(context), place);
    }

    pub(crate) fn fibers_at(&self, host: usize) -> Vec<Context> {
        let mut all = self.fibers.contexts();
        all.retain(|context| {
            !context.is_structure() && usize::from(self.places.of(self.fibers.lane(context)).host) == host
        });
        all
    }

    pub(crate) fn fault(&mut self, text: String) {
        if let Some(recorder) = &mut self.recorder {
            recorder.fault(text);
        }
    }

    pub(crate) fn event(&mut self, name: String) {
        if let Some(recorder) = &mut self.recorder {
            recorder.event(name);
        }
    }
}
