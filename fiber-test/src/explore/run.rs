//! One run of a program under one schedule, and its result.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time;

use fiber_core::scheduler::footprint::Listening;
use fiber_core::scheduler::{Fates, Scheduler};
use fiber_core::{Context, Instant, Outcome, Panic};

use super::panic_hook::quietly;
use super::problem::Problem;
use super::program::{Program, Started};
use super::settings::Settings;
use crate::machine::{Census, Counts, Course, Cpus, Detail, Lateness, Limits, Machine, State, Steps};
use crate::network;
use crate::primitive::Site;
use crate::schedule::Schedule;
use crate::strategy::{Followed, Strategy};
use crate::text::panic_message;
use crate::trace::Trace;

/// The result of a run.
pub(crate) struct Execution {
    pub(crate) problem: Option<Problem>,
    /// The decisions, if they are kept.
    pub(crate) schedule: Option<Schedule>,
    pub(crate) counts: Counts,
    /// The turns until the program had ended. The fibers that it left behind may have had more.
    pub(crate) turns_to_end: u32,
    /// The fiber of each turn, if requested.
    pub(crate) census: Option<Census>,
    /// The strategy, with the information that it has collected.
    pub(crate) strategy: Strategy,
    pub(crate) trace: Option<Trace>,
    /// The footprints of the steps, if requested.
    pub(crate) steps: Option<Box<Steps>>,
}

impl Execution {
    /// How far it has followed a recording, if it had one.
    pub(crate) fn followed(&self) -> Option<Followed> {
        match &self.strategy {
            Strategy::Recorded(recorded) => Some(recorded.followed()),
            _ => None,
        }
    }
}

/// The results of runs that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Keep {
    /// The schedules that broke the program.
    Failures,
    /// All schedules.
    Schedules,
    /// All schedules and traces.
    Traces,
}

/// The turns between two looks at the clock, which takes as long as a turn.
const TURNS_PER_LOOK: u32 = 64;

/// Tells when the time of a run is over.
struct Clock {
    until: Option<time::Instant>,
    turns: u32,
    is_over: bool,
}

impl Clock {
    /// Called after each turn.
    #[inline]
    fn is_over(&mut self) -> bool {
        self.until.is_some() && self.looks()
    }

    #[cold]
    fn looks(&mut self) -> bool {
        self.turns += 1;
        self.is_over |= self.turns.is_multiple_of(TURNS_PER_LOOK) && is_past(self.until);
        self.is_over
    }
}

/// Problems while the program is torn down are not reported.
fn tear_down(machine: &Machine, root: &Context) {
    let torn_down = quietly(|| catch_unwind(AssertUnwindSafe(|| machine.close(root))));
    drop(torn_down.map_err(Panic::new));
}

/// Whether the time is over, if there is a limit.
pub(super) fn is_past(until: Option<time::Instant>) -> bool {
    until.is_some_and(|until| time::Instant::now() >= until)
}

/// Runs a program again and again on one machine, which costs less than a new one for each run.
pub(crate) struct Runner<'a> {
    program: &'a dyn Program,
    settings: &'a Settings,
    keep: Keep,
    /// Where the test explores the program.
    site: Site,
    machine: Option<Arc<Machine>>,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(program: &'a dyn Program, settings: &'a Settings, keep: Keep, site: Site) -> Self {
        Runner { program, settings, keep, site, machine: None }
    }

    pub(crate) fn run(&mut self, course: Course) -> Execution {
        self.run_until(course, None).expect("it is run to its end")
    }

    /// `None`: its time was over.
    pub(crate) fn run_until(&mut self, course: Course, until: Option<time::Instant>) -> Option<Execution> {
        if is_past(until) {
            return None;
        }
        let mut clock = Clock { until, turns: 0, is_over: false };
        let machine = self.machine.take().unwrap_or_else(|| self.new_machine());
        let seed = course.seed;
        let _listening = course.steps.is_some().then(Listening::begin);
        // A footprint and fates are recorded by different runs.
        let _fates = (self.keep == Keep::Traces && course.steps.is_none()).then(Fates::listen);
        if course.steps.is_some() {
            machine.note_at_least(Detail::Parts);
        }
        machine.state().restart(course);
        machine.restart_network();
        let root = Context::root(machine.clone());
        let mut turns_to_end = 0;
        let judged = quietly(|| {
            catch_unwind(AssertUnwindSafe(|| self.judge(&machine, &root, &mut turns_to_end, &mut clock)))
                .unwrap_or_else(|panic| Some(Problem::panicked(machine.now(), panic_message(panic))))
        });
        if clock.is_over {
            tear_down(&machine, &root);
            return None;
        }
        let problem = judged.or_else(|| self.inspect(&machine));
        let mut state = machine.state();
        state.end_turn();
        let is_kept = problem.is_some() || self.keep >= Keep::Schedules;
        let execution = Execution {
            schedule: is_kept.then(|| state.schedule(seed)),
            counts: state.decisions.counts(),
            turns_to_end,
            census: state.notes.take_census(),
            strategy: mem::take(&mut state.decisions.strategy),
            steps: state.notes.take_steps(),
            trace: if self.keep == Keep::Traces || self.settings.has_pairs {
                state.take_trace()
            } else {
                None
            },
            problem,
        };
        let is_clean =
            state.fibers.len() == 0 && state.has_no_task() && state.timeline.next_instant().is_none();
        let held = state.holdings.clear();
        drop(state);
        drop(held);
        if is_clean {
            // The root and the last fibers that have ended below it keep each other alive until it is cancelled.
            root.cancel();
            self.machine = Some(machine);
        } else {
            tear_down(&machine, &root);
        }
        Some(execution)
    }

    fn new_machine(&self) -> Arc<Machine> {
        let mut state = State::new(Strategy::Fifo, 0);
        state.limits = Limits::of_exploration();
        if let Some(most) = self.settings.turns_per_instant {
            state.limits.allow_turns_per_instant(most);
        }
        if let Some((workers, budget)) = self.settings.cpus {
            state.simulate(Cpus::new(workers, budget));
        }
        state.mishaps.lateness = self.settings.lateness.map(Lateness::new);
        state.numbers.below = self.settings.draws;
        let machine = network::machine(state);
        let Settings { inspect, has_pairs, .. } = self.settings;
        let is_recorded = self.keep == Keep::Traces || inspect.is_some() || *has_pairs;
        machine.note(if is_recorded { Detail::Turns } else { Detail::Fibers });
        machine
    }

    /// Runs the program to its end, and returns the problem, if any.
    fn judge(
        &self,
        machine: &Machine,
        root: &Context,
        turns_to_end: &mut u32,
        clock: &mut Clock,
    ) -> Option<Problem> {
        let mut problem = None;
        let _driven = machine.driven_here();
        self.program.start(root, self.site, &mut |started| {
            problem = self.judge_started(machine, started, turns_to_end, clock);
        });
        problem
    }

    fn judge_started(
        &self,
        machine: &Machine,
        started: &mut dyn Started,
        turns_to_end: &mut u32,
        clock: &mut Clock,
    ) -> Option<Problem> {
        match machine.drive(Instant::FAR_FUTURE, true, || started.is_finished() || clock.is_over()) {
            Ok(true) if clock.is_over => return None,
            Ok(true) => {}
            Ok(false) => return Some(Problem::deadlock(machine.deadlock())),
            Err(report) => return Some(Problem::livelock(report)),
        }
        let state = machine.state();
        *turns_to_end = state.decisions.turn();
        let at = state.timeline.now();
        let may_be_cancelled = !state.mishaps.cancellations.happened().is_empty();
        let may_fail = may_fail(&state);
        drop(state);
        match started.outcome() {
            Outcome::Success(()) => None,
            Outcome::Cancelled if may_be_cancelled => None,
            Outcome::Cancelled => Some(Problem::cancelled(at)),
            Outcome::Failure(_) if may_fail => None,
            Outcome::Failure(error) => Some(Problem::failed(at, &error)),
            Outcome::Panicked(panic) => Some(Problem::panicked(at, panic.message().to_owned())),
        }
        .or_else(|| self.judge_rest(machine, clock))
    }

    /// Checks what the program has left behind.
    fn judge_rest(&self, machine: &Machine, clock: &mut Clock) -> Option<Problem> {
        let Settings { may_leak, may_hold, may_be_unobserved, .. } = *self.settings;
        let mut state = machine.state();
        // Fibers that may be left behind may run for ever. All that can run: what ends by itself is no leak.
        if !may_leak && !state.is_at_rest() {
            let ended = state.timeline.now();
            drop(state);
            match machine.drive(Instant::FAR_FUTURE, true, || clock.is_over()) {
                Ok(true) => return None,
                Ok(false) => {}
                Err(report) => return Some(Problem::endless_rest(ended, &report)),
            }
            state = machine.state();
        }
        let may_fail = may_fail(&state);
        let unobserved = state.unobserved.iter().find(|lost| lost.is_panic || !may_fail).cloned();
        let (live, is_held) = (state.fibers.len(), !state.holdings.is_empty());
        drop(state);
        match unobserved {
            Some(lost) if !may_be_unobserved => Some(Problem::unobserved(lost.at, lost.text)),
            _ if may_leak => None,
            _ if live > 0 => machine.leak(|_| false).map(Problem::leak),
            _ if is_held && !may_hold => machine.leak(|_| true).map(Problem::leak),
            _ => None,
        }
    }

    /// Passes the trace to the closure of the test, which may reject it.
    fn inspect(&self, machine: &Machine) -> Option<Problem> {
        let inspect = self.settings.inspect.as_ref()?;
        // Taken out of the state, because the closure may take long.
        let mut state = machine.state();
        state.end_turn();
        let trace = state.take_trace()?;
        drop(state);
        let at = trace.turns.last().map_or(Instant::EPOCH, |turn| turn.at);
        let claimed = quietly(|| catch_unwind(AssertUnwindSafe(|| inspect(&trace))));
        machine.state().put_trace(trace);
        claimed.err().map(|panic| Problem::claimed(at, panic_message(panic)))
    }
}

/// Whether a fiber may fail, because it may wait for another one that was cancelled alone.
fn may_fail(state: &State) -> bool {
    state.mishaps.cancellations.happened().iter().any(|one| one.fiber.is_some())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    use fiber_core::Fiber;

    use super::*;

    /// Far more than there is time for.
    const ROUNDS: u32 = 20_000;

    /// The time is over after some turns. What the program holds is dropped, and the next run is as if this one had not been.
    #[test]
    fn a_run_ends_in_the_middle_when_its_time_is_over() {
        let (rounds, ends) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let program = || {
            let (rounds, ends) = (rounds.clone(), ends.clone());
            let loops = Fiber::for_each(0..ROUNDS, move |_| {
                rounds.fetch_add(1, SeqCst);
                Fiber::yield_now()
            });
            loops.ensure(Fiber::lazy(move || ends.fetch_add(1, SeqCst)).map(drop))
        };
        let settings = Settings::default();
        let mut runner = Runner::new(&program, &settings, Keep::Failures, std::panic::Location::caller());
        // Again if the time was over before the first turn.
        while rounds.load(SeqCst) == 0 {
            let soon = time::Instant::now() + time::Duration::from_micros(100);
            assert!(runner.run_until(Course::default(), Some(soon)).is_none());
        }
        let cut = rounds.swap(0, SeqCst);
        assert!((1..ROUNDS).contains(&cut), "{cut} rounds");
        assert_eq!(ends.load(SeqCst), 1, "its finalizer has run");
        assert!(runner.run(Course::default()).problem.is_none());
        assert_eq!((rounds.load(SeqCst), ends.load(SeqCst)), (ROUNDS, 2));
    }
}
