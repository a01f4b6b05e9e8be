//! The simulated machine that fibers run on: virtual time, the fibers that can run, and who decides among them.
//!
//! A *turn* is what one fiber does between two scheduling points: its start, a bind, a wait. Before every turn the
//! [`Strategy`](crate::strategy::Strategy) chooses among those that can run. At a bind the fiber that comes to it is one of them, and if it is chosen
//! it goes on without leaving the host's stack.

mod arrivals;
mod cancellations;
mod census;
mod cpus;
pub(crate) mod cuts;
mod decisions;
#[cfg(feature = "direct")]
mod direct;
#[cfg(not(feature = "direct"))]
#[path = "no_direct.rs"]
mod direct;
mod draws;
mod events;
mod faults;
mod fibers;
mod holdings;
mod lane;
mod lateness;
mod limits;
mod mishaps;
mod notes;
mod numbers;
mod places;
mod ready;
mod snapshots;
mod state;
mod steps;
mod surroundings;
mod timeline;

pub(crate) use cancellations::{PlannedCancellation, Target};
pub(crate) use census::Census;
pub(crate) use cpus::{Cpus, POOL_BUDGET, WORKERS};
pub(crate) use decisions::Counts;
pub(crate) use faults::{Aim, OpenFaults, PlannedFault};
pub(crate) use fibers::{At, Blocked, Fibers};
pub(crate) use holdings::Holding;
pub(crate) use lane::Lane;
pub(crate) use lateness::Lateness;
pub(crate) use limits::Limits;
pub(crate) use places::Place;
pub(crate) use ready::{Choices, Entry};
pub(crate) use state::{Course, Next, State};
pub(crate) use steps::{Footprint, Step, Steps, TaskId, both, may_change};
pub(crate) use surroundings::Surroundings;

use std::any::Any;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, SystemTime};

use crate::words::counted;
use fiber_core::scheduler::footprint::touch_unknown;
use fiber_core::scheduler::fs::Files;
use fiber_core::scheduler::net::Net;
use fiber_core::scheduler::{
    Checkpoint, Ending, Event, Scheduler, SwitchPoint, Task, TaskRunner, TimerKey, Unobserved, Wakeup,
    Worker, serve,
};
use fiber_core::{Context, Instant, error};
use parking_lot::{Mutex, MutexGuard};

use crate::fault::FaultKind;
use crate::report::{Report, Rest};
use crate::text::text_of;
use crate::wait_graph::Snapshot;
use arrivals::Driven;
use holdings::Used;

/// The scheduler that fibers see.
pub(crate) struct Machine {
    me: Weak<Machine>,
    state: Mutex<State>,
    detail: AtomicU8,
    /// Made for the first program that asks for it.
    network: OnceLock<Arc<dyn Surroundings>>,
    new_network: NewNetwork,
}

/// Makes the network of a machine.
type NewNetwork = fn(Weak<Machine>) -> Arc<dyn Surroundings>;

/// What the machine notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Detail {
    /// Which fibers there are: enough to explore with.
    Fibers,
    /// And the parts of fibers that combinators have made.
    Parts,
    /// And what they and their parts wait for: enough for a report.
    Waits,
    /// And every turn.
    Turns,
}

impl Machine {
    pub(crate) fn new(state: State, new_network: NewNetwork) -> Arc<Self> {
        Arc::new_cyclic(|me| Machine {
            me: me.clone(),
            state: Mutex::new(state),
            detail: AtomicU8::new(Detail::Waits as u8),
            network: OnceLock::new(),
            new_network,
        })
    }

    /// The network of its programs.
    pub(crate) fn network(&self) -> &Arc<dyn Surroundings> {
        touch_unknown("the simulated network");
        self.state().mishaps.has_network();
        self.network.get_or_init(|| (self.new_network)(self.me.clone()))
    }

    /// The network becomes as new, for another run.
    pub(crate) fn restart_network(&self) {
        self.network.get().into_iter().for_each(|network| network.restart());
    }

    /// From now on this is noted.
    pub(crate) fn note(&self, detail: Detail) {
        if detail == Detail::Turns {
            self.state().notes.record();
        }
        // Relaxed, here and where it is read: a trace that begins a moment later is as good.
        self.detail.store(detail as u8, Ordering::Relaxed);
    }

    /// The same, unless more is noted.
    pub(crate) fn note_at_least(&self, detail: Detail) {
        if self.detail() < detail {
            self.note(detail);
        }
    }

    fn detail(&self) -> Detail {
        match self.detail.load(Ordering::Relaxed) {
            0 => Detail::Fibers,
            1 => Detail::Parts,
            2 => Detail::Waits,
            _ => Detail::Turns,
        }
    }

    #[inline(never)]
    fn created(&self, context: &Context, parent: &Context) {
        if context.is_structure() && self.detail() == Detail::Fibers {
            // It shares what is known of its fiber.
            context.set_tag(parent.tag());
        } else {
            self.state().created(context, parent);
        }
    }

    #[inline(never)]
    fn ended(&self, context: &Context) {
        if context.is_structure() && self.detail() == Detail::Fibers {
            return;
        }
        // Dropped after the lock: a context may hold values of the program.
        let ended = self.state().fibers.remove(context);
        drop(ended);
    }

    /// The machine that a fiber runs on, if it is one.
    pub(crate) fn of(scheduler: &dyn Scheduler) -> Option<&Machine> {
        (scheduler as &dyn Any).downcast_ref()
    }

    fn key(&self) -> arrivals::Key {
        std::ptr::from_ref(self).cast()
    }

    #[inline]
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        arrivals::hand_over(self.key(), |task| state.push(task));
        state
    }

    /// While the result lives, this thread drives the machine, and keeps what is scheduled until it takes the lock.
    pub(crate) fn driven_here(&self) -> impl Sized {
        Driven::here(self.key(), || drop(self.state()))
    }

    /// Gives turns to fibers until `is_over`. `false`: before that, none can run until `end`.
    ///
    /// # Errors
    /// A livelock.
    pub(crate) fn drive(
        &self,
        end: Instant,
        may_advance: bool,
        mut is_over: impl FnMut() -> bool,
    ) -> Result<bool, Report> {
        loop {
            match self.take_turns(end, may_advance, &mut is_over)? {
                None => return Ok(true),
                Some(Next::Nothing) => return Ok(false),
                Some(Next::Turn(_)) => unreachable!("it was taken"),
                // Outside of any turn.
                Some(Next::Cancel(context)) => context.cancel(),
                Some(Next::Fault(turn, aim)) => self.inflict(turn, aim),
                Some(Next::ChooseFault(kinds)) => self.choose_fault(&kinds),
            }
        }
    }

    /// Takes turns until something else is to be done, or it is over.
    fn take_turns(
        &self,
        end: Instant,
        may_advance: bool,
        is_over: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Next>, Report> {
        direct::Here::with(|here| {
            let _driven = self.driven_here();
            let thread = Thread { machine: self, here };
            serve(&thread, SERVES_ALL, || {
                let mut runner = TaskRunner::on(&thread);
                while !is_over() {
                    let mut state = self.state();
                    let next = state.next(end, may_advance)?;
                    let has_steps = state.notes.steps().is_some();
                    drop(state);
                    let Next::Turn(task) = next else { return Ok(Some(next)) };
                    runner.run(task);
                    if has_steps {
                        self.end_step();
                    }
                }
                Ok(None)
            })
        })
    }

    /// What is touched from now on, until the next turn, is touched from outside.
    #[cold]
    fn end_step(&self) {
        if let Some(steps) = self.state().notes.steps_mut() {
            steps.end();
        }
    }

    fn pause(&self, at: error::Frame) -> Checkpoint {
        let mut state = self.state();
        if state.mishaps.are_planned() && state.is_in_turn() {
            let kinds = state.open_faults();
            if !kinds.is_empty() {
                drop(state);
                self.choose_fault(&kinds);
                state = self.state();
            }
        }
        state.pause(at)
    }

    /// Without the lock of the state: the network has locks of its own.
    #[cold]
    fn choose_fault(&self, kinds: &[FaultKind]) {
        let possible = self.network.get().map_or_else(Vec::new, |network| network.possible(kinds));
        self.state().choose_fault(possible);
    }

    /// A program without a network has nothing to break.
    #[cold]
    fn inflict(&self, turn: u32, aim: Aim) {
        let fault = self.network.get().and_then(|network| network.inflict(turn, aim));
        if let Some(fault) = fault {
            self.state().mishaps.faults.note(fault);
        }
    }

    /// How many bytes of these the network transfers at once. `None`: all.
    pub(crate) fn choose_cut(&self, bytes: usize) -> Option<usize> {
        if bytes > 1 { self.state().choose_cut(bytes) } else { None }
    }

    /// One of so many outcomes of a crash of a disk.
    pub(crate) fn choose_loss(&self, outcomes: usize) -> usize {
        self.state().choose_loss(outcomes)
    }

    /// Where the fiber runs whose turn it is.
    pub(crate) fn here(&self) -> Place {
        self.state().here()
    }

    /// From now on, the fiber and all that it makes run there.
    pub(crate) fn put(&self, context: &Context, place: Place) {
        self.state().put(context, place);
    }

    /// The fibers that run on a host.
    pub(crate) fn fibers_at(&self, host: usize) -> Vec<Context> {
        self.state().fibers_at(host)
    }

    /// A fault of the network, for the trace.
    pub(crate) fn fault(&self, text: impl FnOnce() -> String) {
        if self.detail() == Detail::Turns {
            // Without the lock: the text asks the network.
            let text = text();
            self.state().fault(text);
        }
    }

    pub(crate) fn restart_limits(&self) {
        let before = self.state().restart_limits();
        drop(before);
    }

    /// Nothing can run. If timers are pending, the test has to move the time.
    pub(crate) fn deadlock(&self) -> Report {
        let (at, snapshot) = self.snapshot();
        let next = self.state().timeline.next_instant();
        let network = self.network.get().map_or_else(Vec::new, |network| network.condition());
        Report::deadlock(at, next, &snapshot, self.items(), network)
    }

    /// What has not ended or was not given back, if there is anything. `is_leaked`: whether this is an error, though it
    /// is held and nothing else is left.
    pub(crate) fn leak(&self, is_leaked: impl Fn(&Holding) -> bool) -> Option<Report> {
        let state = self.state();
        let timers: Vec<String> =
            state.timeline.timers().map(|(at, task)| format!("timer at {at}: {task:?}")).collect();
        let is_left = state.fibers.len() > 0 || !timers.is_empty();
        let held = if is_left { Vec::new() } else { state.holdings.held() };
        drop(state);
        if !is_left && !held.iter().any(is_leaked) {
            return None;
        }
        let (at, snapshot) = self.snapshot();
        Some(Report::leak(at, &snapshot, Rest { timers, items: self.items() }))
    }

    fn snapshot(&self) -> (Instant, Snapshot) {
        let mut state = self.state();
        let snapshot = state.snapshot();
        state.record_dependencies(&snapshot);
        (state.timeline.now(), snapshot)
    }

    /// The primitives that have items in them.
    fn items(&self) -> Vec<String> {
        let used = self.state().holdings.all_used();
        let names = self.state().names(used.iter().map(|used| &used.what));
        let items = used.into_iter().filter_map(|Used { what, contents }| {
            // Without the lock: the last owner of a primitive drops values of the program.
            let items = contents.upgrade().map_or(0, |contents| contents.items());
            let name = names.get(&what.key())?;
            (items > 0).then(|| format!("{} in {name}", counted(items, "item")))
        });
        items.collect()
    }

    /// Cancels all fibers of `root` and runs their finalizers.
    pub(crate) fn close(&self, root: &Context) {
        root.cancel();
        self.restart_limits();
        // A livelock ends it, too: what is left is thrown away.
        let _ = self.drive(Instant::FAR_FUTURE, true, || false);
        // Only a program that hangs or runs without end has anything left. Its fibers own the machine that owns them.
        let left = self.state().fibers.contexts();
        left.iter().for_each(Context::abandon);
        self.throw_away_tasks();
        let fibers = self.state().fibers.clear();
        drop(fibers);
        let held = self.state().holdings.clear();
        drop(held);
    }

    /// Until there are none: one that is thrown away may schedule those that wait for its fiber.
    fn throw_away_tasks(&self) {
        loop {
            let tasks = self.state().clear();
            if tasks.is_empty() {
                return;
            }
            drop(tasks);
        }
    }

    /// Lets a fiber compute for `cost`: it keeps its simulated worker as long.
    pub(crate) fn compute(&self, cost: Duration, wakeup: Wakeup) {
        self.state().compute(cost, Task::fire(wakeup));
    }

    /// The named event of a program.
    pub(crate) fn event(&self, name: String) {
        self.state().event(name);
    }
}

/// The thread of a turn. It decides about the order of borrowed tasks, and has stacks for direct fibers.
struct Thread<'a> {
    machine: &'a Machine,
    #[cfg_attr(not(feature = "direct"), expect(dead_code, reason = "only direct fibers have stacks"))]
    here: direct::Here<'a>,
}

impl Worker for Thread<'_> {
    fn choose(&self, count: usize) -> Option<usize> {
        Some(if count > 1 { self.machine.state().choose_task(count) } else { 0 })
    }

    #[cfg(feature = "direct")]
    fn stacks(&self, scheduler: &dyn Scheduler) -> Option<&fiber_core::scheduler::Stacks> {
        let is_own = Machine::of(scheduler).is_some_and(|machine| std::ptr::eq(machine, self.machine));
        self.here.stacks().filter(|_| is_own)
    }
}

/// The key of a thread that runs borrowed tasks for whichever pool they are meant for.
const SERVES_ALL: u64 = 0;

impl Scheduler for Machine {
    fn schedule(&self, task: Task) {
        if let Some(task) = arrivals::keep(self.key(), task) {
            self.state().push(task);
        }
    }

    fn schedule_at(&self, at: Instant, task: Task) -> TimerKey {
        self.state().set_timer(at, task)
    }

    fn cancel_timer(&self, key: TimerKey) -> bool {
        // The task is dropped after the lock: that may run code of the program.
        let cancelled = self.state().timeline.cancel(key);
        cancelled.is_some()
    }

    fn now(&self) -> Instant {
        self.state().timeline.now()
    }

    fn utc_now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + (self.now() - Instant::EPOCH)
    }

    fn random_u64(&self) -> u64 {
        self.state().draw_random()
    }

    fn schedule_blocking(&self, task: Task) {
        self.schedule(task);
    }

    /// Every bind is a turn.
    fn budget(&self) -> u32 {
        1
    }

    fn checkpoint(&self, _: &Context, at: SwitchPoint) -> Checkpoint {
        match at {
            SwitchPoint::Bind(frame) => self.pause(frame),
            // Every fiber starts with a turn of its own.
            SwitchPoint::Branch => Checkpoint::Yield,
        }
    }

    fn net(&self) -> Option<&dyn Net> {
        Some(self.network().net())
    }

    #[cfg(feature = "direct")]
    fn has_stacks(&self) -> bool {
        direct::Here::has_stacks()
    }

    fn files(&self) -> Option<Arc<dyn Files>> {
        self.network.get()?.files()
    }

    #[inline]
    fn observe(&self, context: &Context, event: Event<'_>) {
        match event {
            Event::Created { parent } => self.created(context, parent),
            Event::Ended => self.ended(context),
            // Most programs that are explored come to no other event that is noted.
            Event::Waits { .. }
            | Event::Guarded(_)
            | Event::Finalizer(_)
            | Event::Cancelled
            | Event::Outcome(_)
                if self.detail() < Detail::Waits => {}
            _ => self.noted(context, event),
        }
    }

    fn unobserved(&self, failure: &Unobserved) {
        // Without the lock: to print an error is the program's code.
        let text = text_of(failure);
        let mut state = self.state();
        let at = state.timeline.now();
        state.unobserved.push(state::Lost { at, is_panic: failure.is_panic(), text });
    }
}

impl Machine {
    #[inline(never)]
    fn noted(&self, context: &Context, event: Event<'_>) {
        match event {
            Event::Yields(frame) => self.state().yields(context, frame),
            Event::Acquires { .. } | Event::Releases { .. } | Event::Uses { .. } => self.uses(context, event),
            Event::Waits { what, site, on, at, asks } => {
                let at = at.map(|of| (of, asks as usize));
                let before = self.state().waits(context, what, site, on, at);
                drop(before);
            }
            Event::Guarded(frame) => self.state().fibers.guarded(context, frame),
            Event::Finalizer(frame) => self.state().finalizer(context, frame),
            _ if self.detail() < Detail::Turns => {}
            Event::Cancelled => self.state().cancelled(context),
            Event::Outcome(ending) => self.ends(context, ending),
            _ => {}
        }
    }

    /// What a program without primitives never comes to.
    #[cold]
    fn uses(&self, context: &Context, event: Event<'_>) {
        match event {
            Event::Acquires { of, permits, site } => {
                self.state().acquires(context, of, permits, site);
            }
            Event::Releases { of, permits, site } => {
                let before = self.state().releases(context, of, permits, site);
                drop(before);
            }
            Event::Uses { of, contents } => self.state().holdings.used(of, contents),
            _ => {}
        }
    }

    fn ends(&self, context: &Context, ending: Ending<'_>) {
        // Without the lock: to print an error is the program's code.
        let text = match ending {
            Ending::Success => "success".to_owned(),
            Ending::Failure(error) => format!("failure: {}", text_of(error)),
            Ending::Panicked(panic) => text_of(panic),
            Ending::Cancelled => "cancelled".to_owned(),
        };
        self.state().ends(context, text);
    }
}
