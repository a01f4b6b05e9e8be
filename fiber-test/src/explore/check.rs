//! The start of an exploration: the schedules that it runs, its limits, and what happens with a failure.

use std::panic::Location;

use fiber_core::{Fiber, Run};

use super::builder::{Explore, Mode};
use super::cancel_everywhere::CancelEverywhere;
use super::enumeration::Enumeration;
use super::environment::{Count, Environment};
use super::failure::{Failure, analyze};
use super::kinds::Search;
use super::panic_hook;
use super::pictures;
use super::portfolio::Portfolio;
use super::program::Program;
use super::reduction::Reduction;
use super::regressions::{Fingerprint, RegressionFile, Regressions, test_name};
use super::run::{Keep, Runner};
use super::search::{Explored, Found, Limits, replay, search};
use super::source::{Given, OfRecording, Planned, Source};
use super::workers::with_workers;
use crate::machine::Course;
use crate::primitive::Site;
use crate::schedule::Schedule;
use crate::strategy::{Recorded, Strategy};

/// The number of schedules of the portfolio, unless the test sets another one.
const MAX_SCHEDULES: u64 = 1_000;

/// The number of schedules of an enumeration before it counts as too long.
const MAX_ENUMERATED: u64 = 1_000_000;

/// The number of turns of all schedules together, unless the test sets a number of schedules or a time: two seconds in a debug
/// build, and the same number on every machine.
const MAX_TURNS: u64 = 1_000_000;

impl Explore {
    /// Explores, beginning with the schedules that broke the program in an earlier run. They are saved in a file beside the test,
    /// `name-of-the-file.fiber-regressions`, which belongs in version control. A schedule that no longer breaks the program, because the program has
    /// changed, is reported as [stale](Explored::stale_regressions).
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    ///
    /// let explored = Explore::default().check(|| Fiber::success(1).zip(Fiber::success(2)));
    /// assert!(explored.is_complete());
    /// ```
    ///
    /// The environment variables `FIBER_TEST_REPLAY`, `_SEED`, `_SCHEDULES`, `_SECONDS`, `_THREADS` and `_REGRESSIONS` override the settings of the
    /// test. A summary of the exploration is printed; the test harness shows it for a failing test, and for all tests with `--show-output`.
    ///
    /// # Panics
    /// With the report of the smallest schedule that breaks the program, if there is one. Also if an exhaustive exploration has left schedules out.
    #[track_caller]
    pub fn check<T, R, F>(&self, program: F) -> Explored
    where
        T: Send + 'static,
        R: Run<Out = T>,
        F: Fn() -> Fiber<T, R> + Sync,
    {
        self.clone().steered(Environment::of_process()).check_program(Location::caller(), &program)
    }

    #[track_caller]
    fn check_program(&self, site: Site, program: &dyn Program) -> Explored {
        let kept = self.regressions.locate(site, &self.key());
        let mut source = self.source();
        let again = kept.as_ref().map_or(Ok(0), |file| self.run_again(file, site, program));
        let explored = again.and_then(|stale| {
            let explored = self.explore(&mut *source, self.threads, site, program)?;
            Ok(explored.with_stale(stale))
        });
        match explored {
            Ok(explored) => {
                assert!(
                    !explored.is_undeclared(),
                    "an order drawn at random showed something that the reduced exploration had not seen: some step touches state without saying so. Say it with fiber_test::touch(key), or leave reduced() out"
                );
                if let (Mode::Exhaustive { is_reduced, .. }, true) = (&self.mode, explored.is_broken_off()) {
                    let or = if *is_reduced {
                        "fibers had spun for too long (leave reduced() out), or "
                    } else {
                        ""
                    };
                    panic!(
                        "not all schedules were explored, only {}: {or}the program decides something by itself; look for real time or threads, HashMap order, addresses, and state that outlives a run",
                        explored.schedules()
                    );
                }
                if let (Mode::Exhaustive { is_reduced, .. }, false) = (&self.mode, explored.is_at_end()) {
                    let instead = if *is_reduced { " instead of reduced()" } else { "" };
                    panic!(
                        "not all schedules were explored, only {}: bound them with preemptions(n){instead}, or raise schedules(n) or within(time)",
                        explored.schedules()
                    );
                }
                println!("{}: {explored}", test_name().as_deref().unwrap_or("explored"));
                explored
            }
            Err(failure) => {
                let command = self.command(&failure).unwrap_or_default();
                let fingerprint = Fingerprint::of(failure.trace(), failure.schedule());
                let kept =
                    kept.and_then(|kept| kept.keep(failure.schedule(), fingerprint)).unwrap_or_default();
                let pictures = pictures::save(&failure, self.pictures.as_deref()).unwrap_or_default();
                panic!("{failure}{command}{kept}{pictures}");
            }
        }
    }

    /// Runs the saved schedules. Returns how many of them are stale, and prints them.
    fn run_again(&self, file: &RegressionFile, site: Site, program: &dyn Program) -> Result<u64, Failure> {
        panic_hook::install();
        let mut runner = Runner::new(program, &self.settings, Keep::Traces, site);
        let mut stale = 0;
        for (number, kept) in (1..).zip(file.load()) {
            let execution = runner.run(replay(&kept.schedule));
            if execution.problem.is_some() {
                let found = Found { execution, search: Search::Regression, number };
                return Err(analyze(program, &self.settings, site, self.seed, found, self.within));
            }
            let fingerprint = Fingerprint::of(&execution.trace.unwrap_or_default(), &kept.schedule);
            if let Some(message) = file.stale(&kept, fingerprint) {
                println!("{message}");
                stale += 1;
            }
        }
        Ok(stale)
    }

    /// Like [`check`](Explore::check), but returns the failure, for property tests and other callers that examine it. Saves no regressions.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::{Explore, ProblemKind};
    ///
    /// let forgets_to_resume = || Fiber::<()>::callback(std::mem::forget);
    /// let failure = Explore::default().try_check(forgets_to_resume).unwrap_err();
    /// assert_eq!(failure.problem().kind(), ProblemKind::Deadlock);
    /// assert_eq!(failure.replay(), "Explore::replay(\"\")");
    /// ```
    ///
    /// # Errors
    /// The smallest schedule that breaks the program.
    #[track_caller]
    pub fn try_check<T, R, F>(&self, program: F) -> Result<Explored, Failure>
    where
        T: Send + 'static,
        R: Run<Out = T>,
        F: Fn() -> Fiber<T, R> + Sync,
    {
        let steered = self.clone().steered(Environment::of_process());
        steered.explore(&mut *steered.source(), steered.threads, Location::caller(), &program)
    }

    fn explore(
        &self,
        source: &mut dyn Source,
        threads: usize,
        site: Site,
        program: &dyn Program,
    ) -> Result<Explored, Failure> {
        panic_hook::install();
        let limits = self.limits();
        let searched =
            with_workers(threads, program, &self.settings, site, |run_all| search(source, limits, run_all));
        searched.map_err(|found| analyze(program, &self.settings, site, self.seed, *found, self.within))
    }

    /// Applies the settings of the environment.
    fn steered(mut self, environment: Environment) -> Self {
        if matches!(self.mode, Mode::Given(..)) {
            return self;
        }
        let Environment { replay, seed, schedules, time, threads, has_no_regressions } = environment;
        self.schedules = match schedules {
            // As many as the time allows.
            None => self.schedules.filter(|_| time.is_none()),
            Some(Count::Exactly(count)) => Some(count),
            Some(Count::Times(times)) => Some(self.limits().schedules.saturating_mul(times)),
        };
        self.seed = seed.unwrap_or(self.seed);
        self.within = time.or(self.within);
        self.threads = threads.unwrap_or(self.threads);
        if has_no_regressions || replay.is_some() {
            self.regressions = Regressions::Off;
        }
        if let Some(schedule) = replay {
            self.mode = Mode::Given(schedule);
        }
        self
    }

    /// The source of the schedules.
    #[track_caller]
    fn source(&self) -> Box<dyn Source> {
        self.assert_reducible();
        self.assert_drawn();
        let most = self.limits().schedules.min(MAX_ENUMERATED);
        let portfolio = Portfolio::new(self.seed, self.only, most)
            .with_lateness(self.settings.lateness.is_some())
            .with_faults(self.faults)
            .with_mishaps(self.has_mishaps);
        match &self.mode {
            Mode::Portfolio => Box::new(portfolio),
            Mode::Exhaustive { is_reduced: true, .. } => Box::new(Reduction::new(self.seed)),
            Mode::Exhaustive { preemptions, .. } => {
                let faults = self.faults.map(|faults| faults.open()).unwrap_or_default();
                Box::new(Enumeration::new(self.seed, *preemptions).with_faults(faults))
            }
            Mode::CancelEverywhere { is_program_only } => {
                let others = portfolio.cancelled(*is_program_only);
                Box::new(CancelEverywhere::new(self.seed, *is_program_only, others))
            }
            Mode::Given(schedule) => Box::new(Given(Some(given(Search::Given, schedule)))),
            Mode::Recorded(recording) => {
                let strategy = Strategy::Recorded(Box::new(Recorded::new(recording)));
                let course = Course { strategy, seed: self.seed, ..Course::default() };
                let planned = Some(Planned { course, search: Search::Recorded, open: None });
                Box::new(OfRecording { planned, followed: None })
            }
        }
    }

    fn limits(&self) -> Limits {
        let is_open = self.schedules.is_none() && self.within.is_none();
        let usual = match self.mode {
            _ if self.within.is_some() => u64::MAX,
            Mode::Exhaustive { .. } => MAX_ENUMERATED,
            // The same schedule again would show nothing new.
            Mode::Portfolio if self.only.is_some_and(Search::is_without_chance) => 1,
            _ => MAX_SCHEDULES,
        };
        let has_turns = is_open && matches!(self.mode, Mode::Portfolio | Mode::CancelEverywhere { .. });
        Limits {
            schedules: self.schedules.unwrap_or(usual),
            turns: if has_turns { MAX_TURNS } else { u64::MAX },
            time: self.within,
        }
    }

    /// Distinguishes the regressions of one exploration from those of others in the same test. A schedule with a cancellation or a fault means
    /// nothing to an exploration without them.
    fn key(&self) -> String {
        let mode = match self.mode {
            Mode::CancelEverywhere { .. } => "cancel_everywhere",
            _ if self.has_mishaps => "explore.mishaps()",
            _ => "explore",
        };
        let faults = if self.faults.is_some() { ".faults(..)" } else { "" };
        let inspect = if self.settings.inspect.is_some() { ".inspect(..)" } else { "" };
        format!("{mode}{}{faults}{inspect}", self.settings)
    }

    /// The command that runs the schedule of a failure again, if the test is known.
    fn command(&self, failure: &Failure) -> Option<String> {
        let test = test_name()?;
        let package = std::env::var("CARGO_PKG_NAME").ok()?;
        let schedule = failure.schedule();
        Some(format!(
            "\n\nFIBER_TEST_REPLAY='{schedule}' cargo test -p {package} {test} -- --exact --nocapture"
        ))
    }
}

fn given(search: Search, schedule: &Schedule) -> Planned {
    Planned { course: replay(schedule), search, open: None }
}
