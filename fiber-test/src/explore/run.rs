//! One run of a program under one schedule, and what came of it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use fiber_core::{Context, Fiber, Instant, Outcome, Run, Scheduler};

use super::problem::Problem;
use super::quiet::quietly;
use crate::machine::{Cpus, Detail, Limits, Machine, State};
use crate::report::Report;
use crate::schedule::Schedule;
use crate::strategy::Strategy;
use crate::trace::{Site, Trace};

/// How a program is to be run.
pub(crate) struct Plan {
    pub(crate) strategy: Strategy,
    /// Where the program's random numbers start.
    pub(crate) seed: u64,
    /// The turn before which the program is cancelled.
    pub(crate) cancel_at: Option<u32>,
}

/// What came of a run.
pub(crate) struct Ran {
    pub(crate) problem: Option<Problem>,
    /// What was decided, if it is kept.
    pub(crate) schedule: Option<Schedule>,
    pub(crate) turns: u32,
    /// The strategy, with what it has learnt.
    pub(crate) strategy: Strategy,
    pub(crate) trace: Option<Trace>,
}

/// What is the same in all runs of an exploration.
#[derive(Clone, Default)]
pub(crate) struct Settings {
    /// Simulated workers, and the binds of a slice.
    pub(crate) cpus: Option<(usize, u32)>,
    pub(crate) may_leak: bool,
    pub(crate) may_hold: bool,
    pub(crate) may_be_unobserved: bool,
    pub(crate) turns_per_instant: Option<usize>,
    pub(crate) inspect: Option<Inspect>,
}

/// The calls that set them, as a test writes them. Without the one of `inspect`, which takes a closure.
impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((workers, budget)) = self.cpus {
            write!(f, ".as_production({budget}).virtual_cpus({workers})")?;
        }
        if let Some(most) = self.turns_per_instant {
            write!(f, ".turns_per_instant({most})")?;
        }
        if self.may_leak {
            f.write_str(".may_leak()")?;
        }
        if self.may_hold {
            f.write_str(".may_hold()")?;
        }
        if self.may_be_unobserved {
            f.write_str(".may_be_unobserved()")?;
        }
        Ok(())
    }
}

/// What looks at the trace of every run, and panics if it does not like it.
pub(crate) type Inspect = Arc<dyn Fn(&Trace) + Send + Sync>;

/// What is kept of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Keep {
    /// The schedules that broke the program.
    Failures,
    /// All schedules.
    Schedules,
    /// All schedules and traces.
    Traces,
}

/// Runs programs one after the other on one machine, which costs less than a new one for each.
pub(crate) struct Runner {
    settings: Settings,
    keep: Keep,
    /// Where the test explores the program.
    site: Site,
    machine: Option<Arc<Machine>>,
}

impl Runner {
    pub(crate) fn new(settings: Settings, keep: Keep, site: Site) -> Self {
        let keep = if settings.inspect.is_some() { Keep::Traces } else { keep };
        Runner { settings, keep, site, machine: None }
    }

    pub(crate) fn run<T, R, F>(&mut self, program: &F, plan: Plan) -> Ran
    where
        T: Send + 'static,
        R: Run<Out = T>,
        F: Fn() -> Fiber<T, R>,
    {
        let Plan { strategy, seed, cancel_at } = plan;
        let machine = self.machine.take().unwrap_or_else(|| self.new_machine());
        machine.state().restart(strategy, seed, cancel_at);
        machine.restart_network();
        let root = Context::root(machine.clone());
        let problem = quietly(|| self.judge(&machine, &root, program, cancel_at.is_some()));
        let mut state = machine.state();
        state.end_turn();
        let trace = state.trace().cloned();
        drop(state);
        let problem = problem.or_else(|| self.inspect(trace.as_ref()));
        let mut state = machine.state();
        let ran = Ran {
            schedule: (problem.is_some() || self.keep >= Keep::Schedules)
                .then(|| state.schedule(seed, cancel_at)),
            turns: state.turns(),
            strategy: std::mem::replace(&mut state.strategy, Strategy::Fifo),
            trace,
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
            quietly(|| machine.close(&root));
        }
        ran
    }

    fn new_machine(&self) -> Arc<Machine> {
        let mut state = State::new(Strategy::Fifo, 0);
        state.limits = Limits::of_exploration();
        if let Some(most) = self.settings.turns_per_instant {
            state.limits.turns_per_instant = most;
        }
        if let Some((workers, budget)) = self.settings.cpus {
            state.simulate(Cpus::new(workers, budget));
        }
        let machine = Machine::new(state);
        machine.note(if self.keep == Keep::Traces { Detail::Turns } else { Detail::Fibers });
        machine
    }

    /// Runs the program to its end, and says what is wrong.
    fn judge<T, R, F>(
        &self,
        machine: &Machine,
        root: &Context,
        program: &F,
        may_be_cancelled: bool,
    ) -> Option<Problem>
    where
        T: Send + 'static,
        R: Run<Out = T>,
        F: Fn() -> Fiber<T, R>,
    {
        let fiber = match catch_unwind(AssertUnwindSafe(program)) {
            Ok(fiber) => fiber,
            Err(panic) => return Some(Problem::panicked(machine.now(), message(&*panic))),
        };
        let handle = root.spawn_from(fiber, self.site);
        while !handle.is_finished() {
            if may_be_cancelled && machine.state().take_stop() {
                machine.state().end_turn();
                handle.cancel_now();
            }
            match machine.turn(Instant::FAR_FUTURE, true) {
                Ok(true) => {}
                Ok(false) => return Some(Problem::deadlock(machine.deadlock())),
                Err(report) => return Some(Problem::livelock(report)),
            }
        }
        let at = machine.now();
        let wrong = match handle.try_outcome() {
            // To drop the value is the program's code.
            Ok(Outcome::Success(value)) => catch_unwind(AssertUnwindSafe(|| drop(value)))
                .err()
                .map(|panic| Problem::panicked(at, message(&*panic))),
            Ok(Outcome::Cancelled) if may_be_cancelled => None,
            Ok(Outcome::Cancelled) => Some(Problem::cancelled(at)),
            Ok(Outcome::Failure(error)) => Some(Problem::failed(at, error.to_string())),
            Ok(Outcome::Panicked(panic)) => Some(Problem::panicked(at, panic.message().to_owned())),
            Err(_) => None,
        };
        wrong.or_else(|| self.judge_rest(machine))
    }

    /// What the program has left behind.
    fn judge_rest(&self, machine: &Machine) -> Option<Problem> {
        let Settings { may_leak, may_hold, may_be_unobserved, .. } = self.settings;
        // What may be left behind may go on for ever.
        let ended = machine.now();
        if !may_leak && let Err(report) = run_on(machine) {
            return Some(Problem::endless_rest(ended, &report));
        }
        let state = machine.state();
        let unobserved = state.unobserved.first().cloned();
        let (at, live) = (state.timeline.now(), state.fibers.len());
        let is_held = !state.holdings.is_empty();
        drop(state);
        match unobserved {
            Some(failure) if !may_be_unobserved => Some(Problem::unobserved(at, failure)),
            _ if may_leak => None,
            _ if live > 0 => machine.leak(|_| false).map(Problem::leak),
            _ if is_held && !may_hold => machine.leak(|_| true).map(Problem::leak),
            _ => None,
        }
    }

    fn inspect(&self, trace: Option<&Trace>) -> Option<Problem> {
        let (inspect, trace) = (self.settings.inspect.as_ref()?, trace?);
        let at = trace.turns.last().map_or(Instant::EPOCH, |turn| turn.at);
        let claimed = quietly(|| catch_unwind(AssertUnwindSafe(|| inspect(trace))));
        claimed.err().map(|panic| Problem::panicked(at, message(&*panic)))
    }
}

/// Runs until nothing can run any more: what ends by itself is no leak.
fn run_on(machine: &Machine) -> Result<(), Report> {
    while machine.turn(Instant::FAR_FUTURE, true)? {}
    Ok(())
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
