//! Runs a program under many schedules, each with its own ledger.

use fiber_core::{Fiber, Handle, Outcome};
use fiber_test::{Explore, Failure};

use crate::ledger::{Ledger, TICK};

/// Schedules of the portfolio, and as many with a cancellation from outside, with one from inside, and with slices of several binds: some
/// seconds in all.
const SCHEDULES: u64 = if cfg!(debug_assertions) { 150 } else { 1000 };

/// The enumeration stops at this number of schedules.
const MOST_ENUMERATED: u64 = 20_000;

/// Binds of a slice, if fibers continue for several: enough for some of the explored programs, and not for all.
const SLICE: u32 = 4;

/// A program that is cancelled from inside is cancelled within fewer ticks than this.
const LATEST: u64 = 6;

/// Within this many ticks everything is over, including detached fibers.
const LONGEST: u32 = 1_000_000;

/// A program to be explored, and its allowed outcomes.
pub(crate) struct Exploration<T, F> {
    program: F,
    is_expected: fn(&Outcome<T>) -> bool,
    schedules: u64,
    preemptions: Option<u32>,
    may_be_unobserved: bool,
}

/// Explores a program, which ends with a success unless it is cancelled.
pub(crate) fn explore<T, F>(program: F) -> Exploration<T, F>
where
    T: Send + 'static,
    F: Fn(&Ledger) -> Fiber<T> + Sync,
{
    Exploration {
        program,
        is_expected: Outcome::is_success,
        schedules: SCHEDULES,
        preemptions: Some(1),
        may_be_unobserved: false,
    }
}

impl<T, F> Exploration<T, F>
where
    T: Send + 'static,
    F: Fn(&Ledger) -> Fiber<T> + Sync,
{
    /// Sets its allowed outcomes, unless it is cancelled.
    pub(crate) fn ends_with(self, is_expected: fn(&Outcome<T>) -> bool) -> Self {
        Exploration { is_expected, ..self }
    }

    /// Sets the bound of the enumeration; the default is 1.
    pub(crate) fn preemptions(self, most: u32) -> Self {
        Exploration { preemptions: Some(most), ..self }
    }

    /// The schedules are too many to be enumerated even without a preemption.
    pub(crate) fn not_enumerated(self) -> Self {
        Exploration { preemptions: None, ..self }
    }

    pub(crate) fn schedules(self, schedules: u64) -> Self {
        Exploration { schedules, ..self }
    }

    /// In some schedules a failure rightly stays unobserved.
    pub(crate) fn may_be_unobserved(self) -> Self {
        Exploration { may_be_unobserved: true, ..self }
    }

    /// Explores in all ways.
    ///
    /// # Panics
    /// If a schedule breaks a rule.
    #[track_caller]
    pub(crate) fn check(self) {
        self.try_check().unwrap_or_else(|failure| panic!("{failure}"));
    }

    /// Explores in all ways.
    ///
    /// # Errors
    /// The smallest schedule that breaks a rule.
    ///
    /// # Panics
    /// If the enumeration is not complete.
    #[track_caller]
    pub(crate) fn try_check(self) -> Result<(), Failure> {
        let schedules = |explore: Explore| self.of(explore.schedules(self.schedules));
        schedules(Explore::default()).try_check(|| self.alone())?;
        schedules(Explore::cancel_everywhere().program_only()).try_check(|| self.alone())?;
        schedules(Explore::default()).try_check(|| self.cancelled())?;
        schedules(Explore::default().as_production(SLICE)).try_check(|| self.cancelled())?;
        if let Some(most) = self.preemptions {
            let enumeration = Explore::exhaustive().preemptions(most).schedules(MOST_ENUMERATED);
            let explored = self.of(enumeration).try_check(|| self.alone())?;
            assert!(explored.is_complete(), "more than {MOST_ENUMERATED} schedules with {most} preemptions");
        }
        Ok(())
    }

    fn of(&self, explore: Explore) -> Explore {
        let explore = explore.no_regressions();
        if self.may_be_unobserved { explore.may_be_unobserved() } else { explore }
    }

    /// The program, and then a check of what it has left behind.
    fn alone(&self) -> Fiber<()> {
        let ledger = Ledger::default();
        closed(&ledger, self.watched(&ledger))
    }

    /// The program, which another fiber cancels at some time.
    fn cancelled(&self) -> Fiber<()> {
        let ledger = Ledger::default();
        let (program, end) = (self.watched(&ledger), ledger.clone());
        let later = Fiber::random_u64().bind(|number| Fiber::delay((number % LATEST) as u32 * TICK));
        let cancelled = program.fork().bind(move |handle: Handle<()>| {
            let both = later.bind(move |()| handle.cancel().map(move |()| handle));
            both.bind(move |handle| {
                end.program_has_ended();
                handle.outcome()
            })
        });
        let outcome = cancelled.bind(|outcome| match outcome {
            Outcome::Cancelled => Fiber::success(()).boxed(),
            outcome => Fiber::from_outcome(outcome).boxed(),
        });
        closed(&ledger, outcome.boxed())
    }

    /// The program unchanged: when its fiber has ended, nothing of it runs.
    fn watched(&self, ledger: &Ledger) -> Fiber<()> {
        let (program, is_expected) = ((self.program)(ledger), self.is_expected);
        let (starts, ends) = (ledger.clone(), ledger.clone());
        let whole = Fiber::current().bind(move |context| {
            starts.program_is(context);
            Fiber::scope(move |_| program)
        });
        let watched = whole.map_outcome(move |outcome| {
            ends.program_has_ended();
            match outcome {
                Outcome::Cancelled => Outcome::Cancelled,
                outcome => {
                    // A failure during a cancellation is allowed.
                    let is_right =
                        is_expected(&outcome) || !outcome.is_success() && ends.is_program_cancelled();
                    ends.check(is_right, &format!("ended with {}", in_words(&outcome)));
                    Outcome::Success(())
                }
            }
        });
        watched.boxed()
    }
}

/// Closes the ledger after the end, when everything else is also over.
fn closed(ledger: &Ledger, program: Fiber<()>) -> Fiber<()> {
    let ledger = ledger.clone();
    program.ensure(Fiber::delay(LONGEST * TICK).map(move |()| ledger.close())).boxed()
}

fn in_words<T>(outcome: &Outcome<T>) -> String {
    match outcome {
        Outcome::Success(_) => "a success that was not expected".to_owned(),
        Outcome::Failure(error) => format!("the failure {error:?}"),
        Outcome::Panicked(panic) => format!("the {panic:?}"),
        Outcome::Cancelled => "a cancellation".to_owned(),
    }
}
