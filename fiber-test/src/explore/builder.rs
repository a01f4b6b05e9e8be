//! The settings of an exploration.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fiber_core::Recording;

use super::faults::Faults;
use super::kinds::Search;
use super::regressions::Regressions;
use super::settings::Settings;
use crate::machine::{POOL_BUDGET, WORKERS};
use crate::schedule::{ParseScheduleError, Schedule, assert_is_bound};
use crate::trace::Trace;

/// How late a fiber is in the mishaps: a quantum of a pool, which promises no order below it.
const MISHAP_LATENESS: Duration = Duration::from_millis(2);

/// Runs a program under many schedules, and reports the smallest one that breaks it.
///
/// A schedule decides which fiber runs after every bind and wait, which random numbers are drawn, and, in some explorations, which fibers are
/// cancelled. It breaks the program if that panics or fails, hangs (deadlock or livelock), leaves fibers behind, or if a failure of one of
/// its fibers stays unobserved.
///
/// The program is a function that makes everything anew, so that no run sees anything of another one. It runs on the thread of the
/// test. The same seed explores the same schedules with the same results, on any number of [threads](Explore::threads).
///
/// ```should_panic
/// use fiber_core::Fiber;
/// use fiber_test::Explore;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
///
/// // Two fibers that read, then write: one update may be lost.
/// fn count() -> Fiber<()> {
///     let value = Arc::new(AtomicU32::new(0));
///     let increment = |value: Arc<AtomicU32>| {
///         let reader = value.clone();
///         Fiber::lazy(move || reader.load(SeqCst)).bind(move |seen| Fiber::lazy(move || value.store(seen + 1, SeqCst)))
///     };
///     let both = Fiber::parallel([increment(value.clone()), increment(value.clone())]);
///     both.map(move |_| assert_eq!(value.load(SeqCst), 2)).boxed()
/// }
/// Explore::default().check(count);
/// ```
#[derive(Clone)]
#[must_use = "an exploration does nothing before `check`"]
pub struct Explore {
    pub(super) mode: Mode,
    pub(super) seed: u64,
    pub(super) schedules: Option<u64>,
    pub(super) within: Option<Duration>,
    pub(super) threads: usize,
    pub(super) only: Option<Search>,
    pub(super) faults: Option<Faults>,
    pub(super) has_mishaps: bool,
    pub(super) settings: Settings,
    pub(super) regressions: Regressions,
    /// The directory for pictures of failures.
    pub(super) pictures: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub(super) enum Mode {
    Portfolio,
    Exhaustive { preemptions: Option<u32>, is_reduced: bool },
    Given(Schedule),
    Recorded(Arc<Recording>),
    CancelEverywhere { is_program_only: bool },
}

impl Default for Explore {
    /// The portfolio: 1,000 schedules, or fewer if they reach a million turns together. It ends early when there are no other schedules.
    fn default() -> Self {
        Explore::new(Mode::Portfolio)
    }
}

impl Explore {
    fn new(mode: Mode) -> Self {
        Explore {
            mode,
            seed: 0,
            schedules: None,
            within: None,
            threads: 1,
            only: None,
            faults: None,
            has_mishaps: false,
            settings: Settings::default(),
            regressions: Regressions::Beside,
            pictures: None,
        }
    }

    /// Every schedule, those with few preemptions first. A preemption is a switch away from a fiber that could continue.
    ///
    /// The number of schedules grows exponentially: bound it with [`preemptions`](Explore::preemptions). [`check`](Explore::check) panics if
    /// schedules are left after a million, or after the number set by [`schedules`](Explore::schedules).
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    /// let two_steps = || Fiber::lazy(|| ()).bind(|()| Fiber::success(()));
    /// // Two fibers of two steps: 4! / (2! 2!) interleavings.
    /// let explored = Explore::exhaustive().check(|| Fiber::parallel([two_steps(), two_steps()]));
    /// assert_eq!(explored.schedules(), 6);
    /// ```
    pub fn exhaustive() -> Self {
        Explore::new(Mode::Exhaustive { preemptions: None, is_reduced: false })
    }

    /// The schedule in a failure report: to debug it, or to keep it as a test. It is run first. If it breaks the program, the report needs
    /// more runs, of this schedule and of others close to it.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    /// Explore::replay("2:1").check(|| Fiber::parallel((0..3).map(|n| Fiber::success(n))));
    /// ```
    ///
    /// # Panics
    /// If `schedule` is not a valid schedule.
    #[track_caller]
    pub fn replay(schedule: &str) -> Self {
        let parsed: Result<Schedule, ParseScheduleError> = schedule.parse();
        match parsed {
            Ok(schedule) => Explore::with(schedule),
            Err(error) => panic!("{error}"),
        }
    }

    /// The order of turns that a pool has [recorded](https://docs.rs/fiber-sched/latest/fiber_sched/struct.Builder.html#method.record), once, on
    /// the thread of the test.
    ///
    /// A recording contains the order of the fibers' turns; fibers are matched by their paths in the tree of forks. It does not contain what they did in
    /// their turns, which random numbers they drew, or what came from outside. The runnable fiber whose next recorded turn is the earliest has
    /// the turn. [`Failure::followed`](crate::Failure::followed), [`Explored::followed`](crate::Explored::followed) and the report say how far the recording could be followed.
    /// Turns that overlapped on several threads come in the order in which they began.
    ///
    /// A schedule that breaks the program is shrunk and reported like any other.
    ///
    /// ```
    /// use fiber_core::{Fiber, Recording};
    /// use fiber_test::Explore;
    ///
    /// // The right branch first.
    /// let recording: Recording = "recording 1, 0 lost\n0 0 start\n1 0.0.1 start\n0 0.0.0 start\n0 0 resume\n".parse().unwrap();
    /// let explored = Explore::recorded(&recording).check(|| Fiber::success(1).zip(Fiber::success(2)));
    /// assert!(explored.followed().unwrap().is_whole());
    /// ```
    ///
    /// # Panics
    /// If the recording contains several programs: see [`Recording::of`].
    #[track_caller]
    pub fn recorded(recording: &Recording) -> Self {
        let top = |id: &str| id.split('.').next().unwrap_or_default().to_owned();
        let mut tops: Vec<String> = recording.turns().iter().map(|turn| top(&turn.fiber)).collect();
        tops.sort();
        tops.dedup();
        let recording = match &*tops {
            [] => recording.clone(),
            [one] => recording.of(one),
            [first, ..] => panic!(
                "the recording is of {} programs; choose one, by the id of its fiber: Explore::recorded(&recording.of(\"{first}\"))",
                tops.len()
            ),
        };
        Explore::new(Mode::Recorded(Arc::new(recording)))
    }

    /// A given schedule, in a property test: see `any_schedule`.
    pub fn with(schedule: Schedule) -> Self {
        Explore { regressions: Regressions::Off, ..Explore::new(Mode::Given(schedule)) }
    }

    /// First in, first out: the program is cancelled before each of its turns, however many there are; then each of its fibers alone, before
    /// and after each of its turns. Then other schedules, up to 1,000 in all, in which the program or any fiber is cancelled once or twice, also while
    /// finalizers run.
    /// Finalizers run, and nothing may be left behind. The program may end as cancelled or with its value; and as failed, if a fiber was
    /// cancelled alone.
    ///
    /// A program of n turns is run up to 3 n times, so a long one takes a while: only [`within`](Explore::within) stops before the last turn,
    /// and then [`is_complete`](crate::Explored::is_complete) is false.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
    /// use std::time::Duration;
    ///
    /// Explore::cancel_everywhere().check(|| {
    ///     let open = Arc::new(AtomicI32::new(0));
    ///     let (acquire, release, check) = (open.clone(), open.clone(), open);
    ///     let acquire = Fiber::lazy(move || acquire.fetch_add(1, SeqCst));
    ///     let query = |_| Fiber::delay(Duration::from_secs(1));
    ///     let release = move |_| Fiber::lazy(move || drop(release.fetch_sub(1, SeqCst)));
    ///     Fiber::bracket(acquire, query, release).ensure(Fiber::lazy(move || assert_eq!(check.load(SeqCst), 0)))
    /// });
    /// ```
    pub fn cancel_everywhere() -> Self {
        Explore::new(Mode::CancelEverywhere { is_program_only: false })
    }

    /// Like [everywhere](Explore::cancel_everywhere), but only the whole program is cancelled, and no fiber alone. Use it for a program whose fibers are never
    /// cancelled alone, and whose other fibers would not survive that.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    ///
    /// let child = || Fiber::success(7).bind(|n| Fiber::success(n));
    /// let program = move || child().fork().bind(|child| child.outcome()).map(|outcome| assert!(outcome.is_success()));
    /// assert!(Explore::cancel_everywhere().try_check(program).is_err());
    /// Explore::cancel_everywhere().program_only().check(program);
    /// ```
    ///
    /// # Panics
    /// If the exploration cancels nothing.
    #[track_caller]
    pub fn program_only(mut self) -> Self {
        match &mut self.mode {
            Mode::CancelEverywhere { is_program_only } => *is_program_only = true,
            _ => panic!("nothing is cancelled here: Explore::cancel_everywhere().program_only()"),
        }
        self
    }

    /// Sets the maximum number of preemptions in an [exhaustive](Explore::exhaustive) exploration. Most bugs need one or two.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    ///
    /// Explore::exhaustive().preemptions(1).check(|| Fiber::success(1).zip(Fiber::success(2)));
    /// ```
    ///
    /// # Panics
    /// If the exploration is not exhaustive: the portfolio has no such bound.
    #[track_caller]
    pub fn preemptions(mut self, most: u32) -> Self {
        match &mut self.mode {
            Mode::Exhaustive { preemptions, .. } => *preemptions = Some(most),
            _ => panic!(
                "preemptions are bounded in an exhaustive exploration: Explore::exhaustive().preemptions({most})"
            ),
        }
        self
    }

    /// Of all orders that differ only in steps which have nothing to do with each other, only one: an [exhaustive](Explore::exhaustive) exploration that gets
    /// much further. It runs on one thread.
    ///
    /// The test promises that fibers share nothing but what says when it is used: everything in [`fiber_core::sync`], and other state if the closures that use it
    /// call [`touch`](crate::touch) or [`touch_read`](crate::touch_read). The drop of a value with an effect on other fibers, behind an `Arc` that they share, is such
    /// state, too.
    ///
    /// If the promise is not kept, orders are missed. Afterwards, a few orders are drawn at random, and [`check`](Explore::check) panics if one of them shows
    /// something that had not been seen. So a promise that is broken everywhere is noticed, but not one that is broken in a corner.
    ///
    /// A block that acts on the number of polls of a future may have other results here: the poll returns `Pending` at each scheduling point.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Mutex};
    /// use fiber_test::Explore;
    ///
    /// fn two_locks() -> Fiber<()> {
    ///     let locks = [Mutex::new(0), Mutex::new(0)];
    ///     let count = |lock: &Mutex<u32>| {
    ///         lock.with(|mut count| Fiber::yield_now().bind(|()| Fiber::yield_now()).map(move |()| *count += 1))
    ///     };
    ///     Fiber::parallel([count(&locks[0]), count(&locks[1])]).map(drop).boxed()
    /// }
    /// assert_eq!(Explore::exhaustive().check(two_locks).orders(), Some(252));
    /// assert_eq!(Explore::exhaustive().reduced().check(two_locks).traces(), Some(1));
    /// ```
    ///
    /// # Panics
    /// If this is not exhaustive; or with a bound on preemptions, on lateness or on workers, with faults, or with a program that may leak, since then steps have to
    /// do with each other that share nothing; or with [pairs](Explore::pairs), which would tell the orders that are left out. Explorations panic
    /// if the program uses the [network](crate::network) or direct fibers, which do not say what they touch.
    #[track_caller]
    pub fn reduced(mut self) -> Self {
        match &mut self.mode {
            Mode::Exhaustive { is_reduced, .. } => *is_reduced = true,
            _ => panic!("an exhaustive exploration is reduced: Explore::exhaustive().reduced()"),
        }
        self
    }

    /// # Panics
    /// If it is reduced, and a step has to do with others that share nothing with it.
    #[track_caller]
    pub(super) fn assert_reducible(&self) {
        let Mode::Exhaustive { preemptions, is_reduced: true } = self.mode else { return };
        let bound = match &self.settings {
            _ if preemptions.is_some() => "preemptions",
            settings if settings.lateness.is_some() => "lateness",
            settings if settings.cpus.is_some() => "as_production and virtual_cpus",
            settings if settings.has_pairs => "pairs",
            settings if settings.may_leak => "may_leak",
            _ if self.faults.is_some() => "faults",
            _ => return,
        };
        panic!("a reduced exploration leaves out what {bound} would show: leave one of them out");
    }

    /// # Panics
    /// If something is drawn with random schedules only, and there are none.
    #[track_caller]
    pub(super) fn assert_drawn(&self) {
        let Some(only) = self.only.filter(|only| only.is_without_chance()) else { return };
        let what = match &self.settings {
            _ if self.has_mishaps => "mishaps",
            _ if self.faults.is_some() => "faults",
            settings if settings.lateness.is_some() => "fibers that are late",
            _ => return,
        };
        panic!(
            "{what} belong to drawn schedules, and only(Search::{only:?}) draws none: leave one of them out"
        );
    }

    /// Sets the seed of random choices; the default is 0. Another seed explores other schedules, the same seed the same ones.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    ///
    /// Explore::default().seed(7).check(|| Fiber::success(1).zip(Fiber::success(2)));
    /// ```
    ///
    /// # Panics
    /// If the schedule is given: its text contains its seed. (A [recording](Explore::recorded) contains none.)
    #[track_caller]
    pub fn seed(mut self, seed: u64) -> Self {
        if !matches!(self.mode, Mode::Recorded(..)) {
            self.assert_searches(format_args!("its seed is part of its text: Explore::replay(\"r{seed}\")"));
        }
        self.seed = seed;
        self
    }

    /// Sets the number of schedules, however long they take (unless [`within`](Explore::within) is also set). Fewer are run if there are no others.
    ///
    /// # Panics
    /// If `count` is zero, or the schedule is given.
    #[track_caller]
    pub fn schedules(mut self, count: u64) -> Self {
        assert!(count > 0, "0 schedules show nothing; it has to be at least 1");
        self.assert_searches(format_args!("it is run once; leave schedules({count}) out"));
        self.schedules = Some(count);
        self
    }

    /// Sets how long to explore, in real time. The search ends after that time, and the analysis of a failure after as much again. The first schedule is
    /// run to its end in any case, and so is the one that breaks the program, to see whether it breaks again and to record it.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    /// use std::time::Duration;
    ///
    /// Explore::default().within(Duration::from_millis(20)).check(|| Fiber::success(1).zip(Fiber::success(2)));
    /// ```
    ///
    /// # Panics
    /// If the schedule is given.
    #[track_caller]
    pub fn within(mut self, duration: Duration) -> Self {
        self.assert_searches(format_args!("it is run to its end; leave within({duration:?}) out"));
        self.within = Some(duration);
        self
    }

    /// Sets the number of threads. The results do not depend on it.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    /// let explored = Explore::default().threads(2).check(|| Fiber::success(1).zip(Fiber::success(2)));
    /// assert_eq!(explored.orders(), Some(2));
    /// ```
    ///
    /// # Panics
    /// If `threads` is zero.
    #[track_caller]
    pub fn threads(mut self, threads: usize) -> Self {
        assert!(threads > 0, "0 threads run no schedule; it has to be at least 1");
        self.threads = threads;
        self
    }

    /// Uses only this strategy of the portfolio. `Fifo`, `RunAhead` and `Lifo` are one schedule each, without anything that is drawn, so
    /// they refuse [mishaps](Explore::mishaps), [faults](Explore::faults) and [lateness](Explore::lateness).
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::{Explore, Search};
    /// Explore::default().only(Search::Pct).schedules(100).check(|| Fiber::success(1).race(Fiber::success(2)));
    /// ```
    ///
    /// # Panics
    /// If it is not in the portfolio, or the exploration does not use the portfolio.
    #[track_caller]
    pub fn only(mut self, search: Search) -> Self {
        assert!(search.is_of_portfolio(), "the portfolio has no strategy {search:?}");
        assert!(
            matches!(self.mode, Mode::Portfolio | Mode::CancelEverywhere { .. }),
            "a strategy is chosen from the portfolio: Explore::default().only(Search::{search:?})"
        );
        self.only = Some(search);
        self
    }

    /// Explores only schedules that a pool can produce: a bug that is found here can happen there, if seldom. A fiber yields after `budget` binds, 1024 by default. There are
    /// two workers, unless [`virtual_cpus`](Explore::virtual_cpus) sets another number, so at most two fibers are in the middle of a slice at the same time.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    ///
    /// // Reads, then writes: an update is lost if another fiber comes in between. With one worker and no wait none does.
    /// fn count() -> Fiber<()> {
    ///     let value = Arc::new(AtomicU32::new(0));
    ///     let increment = |value: Arc<AtomicU32>| {
    ///         let reader = value.clone();
    ///         Fiber::lazy(move || reader.load(SeqCst)).bind(move |seen| Fiber::lazy(move || value.store(seen + 1, SeqCst)))
    ///     };
    ///     let both = Fiber::parallel([increment(value.clone()), increment(value.clone())]);
    ///     both.map(move |_| assert_eq!(value.load(SeqCst), 2)).boxed()
    /// }
    /// Explore::default().as_production(1024).virtual_cpus(1).check(count);
    /// assert!(Explore::default().as_production(1024).try_check(count).is_err());
    /// ```
    ///
    /// # Panics
    /// If `budget` is zero.
    #[track_caller]
    pub fn as_production(mut self, budget: u32) -> Self {
        assert!(budget > 0, "a slice of 0 binds makes no progress; the budget has to be at least 1");
        let workers = self.settings.cpus.map_or(WORKERS, |(workers, _)| workers);
        self.settings.cpus = Some((workers, budget));
        self
    }

    /// Simulates `workers` workers; see [`TestScheduler::virtual_cpus`](crate::TestScheduler::virtual_cpus).
    ///
    /// # Panics
    /// If `workers` is zero.
    #[track_caller]
    pub fn virtual_cpus(mut self, workers: usize) -> Self {
        assert!(workers > 0, "a machine of 0 workers runs no fiber; it has to have at least 1");
        let budget = self.settings.cpus.map_or(POOL_BUDGET, |(_, budget)| budget);
        self.settings.cpus = Some((workers, budget));
        self
    }

    /// Allows everything that is left behind: fibers and timers, and what [`may_hold`](Explore::may_hold) allows.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::{Explore, ProblemKind};
    ///
    /// let program = || Fiber::<()>::never().detach().map(drop);
    /// let failure = Explore::default().try_check(program).unwrap_err();
    /// assert_eq!(failure.problem().kind(), ProblemKind::Leak);
    ///
    /// Explore::default().may_leak().check(program);
    /// ```
    pub fn may_leak(mut self) -> Self {
        self.settings.may_leak = true;
        self
    }

    /// Allows permits and locks that are still held when all fibers have ended. For a program that keeps them on
    /// purpose and never releases them: in a static, or in a value that the test has made outside of the program.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Semaphore};
    /// use fiber_test::{Explore, ProblemKind};
    ///
    /// // One permit less, for ever.
    /// let program = || {
    ///     let semaphore = Semaphore::new(2).named("connections");
    ///     semaphore.acquire(1).map(std::mem::forget)
    /// };
    /// let failure = Explore::default().try_check(program).unwrap_err();
    /// assert_eq!(failure.problem().kind(), ProblemKind::Leak);
    /// assert!(failure.problem().message().contains("\n  1 permit of Semaphore `connections`, acquired at "));
    ///
    /// Explore::default().may_hold().check(program);
    /// ```
    pub fn may_hold(mut self) -> Self {
        self.settings.may_hold = true;
        self
    }

    /// Allows failures and panics that stay unobserved.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    /// let careless = || Fiber::<()>::fail("nobody cares").fork().map(drop);
    /// Explore::default().may_be_unobserved().check(careless);
    /// ```
    pub fn may_be_unobserved(mut self) -> Self {
        self.settings.may_be_unobserved = true;
        self
    }

    /// How many turns may happen at one instant of virtual time before that counts as a livelock (default 100,000).
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::{Explore, ProblemKind};
    ///
    /// let program = || Fiber::for_each(0..1_000, |_| Fiber::yield_now());
    /// Explore::default().schedules(1).check(program);
    /// let failure = Explore::default().turns_per_instant(100).try_check(program).unwrap_err();
    /// assert_eq!(failure.problem().kind(), ProblemKind::Livelock);
    /// ```
    pub fn turns_per_instant(mut self, most: usize) -> Self {
        self.settings.turns_per_instant = Some(most);
        self
    }

    /// Besides orders, tries what else happens in production. In half of the drawn schedules, fibers are [late](Explore::lateness) by up to 2 ms, or
    /// by the bound on lateness if there is one. In a quarter of them, the program or one of its fibers is cancelled, as it is
    /// [everywhere](Explore::cancel_everywhere). The report says which it was, and the line that it prints repeats it.
    ///
    /// All schedules are run, because those with mishaps are drawn. Leave it out for a program whose outcome may depend on the exact time, or whose other fibers
    /// wait for ever for one that was cancelled.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    /// use std::time::Duration;
    ///
    /// let millis = Duration::from_millis;
    /// let in_time = || Fiber::delay(millis(99)).timeout(millis(100));
    /// Explore::default().check(in_time);
    /// let failure = Explore::default().mishaps().try_check(in_time).unwrap_err();
    /// assert!(failure.to_string().contains("time passes before turn 1"), "{failure}");
    /// ```
    ///
    /// # Panics
    /// If the exploration does not use the portfolio.
    #[track_caller]
    pub fn mishaps(mut self) -> Self {
        assert!(
            matches!(self.mode, Mode::Portfolio),
            "mishaps are drawn with the schedules of the portfolio: Explore::default().mishaps()"
        );
        self.has_mishaps = true;
        self.settings.lateness.get_or_insert(MISHAP_LATENESS);
        self
    }

    /// Lets any runnable fiber be late by up to `bound` of virtual time: before a turn, time may pass to the next timer. So a timer
    /// of 99 ms and a limit of 100 ms race, as they do on a busy machine. For a program with a simulated network, the default is zero: what
    /// is due at an instant may overtake fibers that can run then. For others, no fiber is late by default.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    /// use std::time::Duration;
    ///
    /// let millis = Duration::from_millis;
    /// let in_time = || Fiber::delay(millis(99)).timeout(millis(100));
    /// Explore::default().check(in_time);
    /// let failure = Explore::default().lateness(millis(5)).try_check(in_time).unwrap_err();
    /// assert!(failure.schedule().to_string().contains(":~"), "time passes: {failure}");
    /// ```
    pub fn lateness(mut self, bound: Duration) -> Self {
        self.settings.lateness = Some(bound);
        self
    }

    /// In each randomized schedule, or in all of an exhaustive exploration, hosts of the simulated network crash, are cut off, or lose their
    /// connections, and operations on their disks fail. `faults` sets the kinds, their numbers and the maximum durations; the schedule decides when and for how long they happen, and to which hosts. So faults are shrunk and
    /// replayed with the other decisions. The program has to keep its promises all the same.
    ///
    /// ```
    /// use fiber_core::net::{TcpListener, TcpStream};
    /// use fiber_core::{Either, Fiber, fiber};
    /// use fiber_test::{Explore, Faults, FaultKind, network};
    ///
    /// /// Asks a server on another host, which may crash.
    /// fn asks() -> Fiber<()> {
    ///     fiber! {
    ///         let! network = network();
    ///         let server = network.host("server");
    ///         let at = server.at(80);
    ///         let serves = server.run(|| fiber! {
    ///             let! listener = TcpListener::bind(([0, 0, 0, 0], 80));
    ///             return! listener.serve(10, |stream, _| stream.write_all("hello\n").map(drop).boxed());
    ///         });
    ///         let asks = TcpStream::connect(at).bind(|stream| stream.buffered().line());
    ///         let! first = serves.race(asks);
    ///         assert!(matches!(first, Either::Right(Some(_))), "no answer");
    ///     }
    /// }
    ///
    /// let failure = Explore::default().faults(Faults::new().crashes(1)).try_check(asks).unwrap_err();
    /// let [fault] = failure.schedule().faults() else { panic!("one crash is enough: {failure}") };
    /// assert_eq!((fault.kind, &*fault.hosts), (FaultKind::Crash, &["server".to_owned()][..]));
    /// ```
    ///
    /// An [exhaustive](Explore::exhaustive) exploration tries each fault before every turn of every order, on all hosts that exist then.
    /// If it is complete, the program withstands them all: at most this many faults, each before a turn (so not at any moment of the time that
    /// passes between two turns), and each as long as [`lasting`](Faults::lasting) sets. Each fault multiplies the number of schedules by the number of
    /// turns and hosts.
    ///
    /// ```
    /// use fiber_core::{Fiber, fiber};
    /// use fiber_test::{Explore, Faults, network};
    ///
    /// let counts = || fiber! {
    ///     let! network = network();
    ///     let! one = network.host("a").run(|| Fiber::success(1));
    ///     let! two = network.host("b").run(|| Fiber::success(2));
    ///     assert_eq!(one + two, 3);
    /// };
    /// let explored = Explore::exhaustive().faults(Faults::new().partitions(1)).check(counts);
    /// assert!(explored.is_complete());
    /// assert_eq!(explored.orders(), Some(48)); // 14,714 if the two hosts work in parallel
    /// ```
    ///
    /// # Panics
    /// If the exploration cancels fibers, or the schedule is given.
    #[track_caller]
    pub fn faults(mut self, faults: Faults) -> Self {
        assert!(
            matches!(self.mode, Mode::Portfolio | Mode::Exhaustive { .. }),
            "faults are drawn with the schedules of the portfolio, or enumerated: Explore::default().faults(..)"
        );
        self.faults = Some(faults);
        self
    }

    /// Limits all random numbers of the program to below `most`, and makes each of them a choice like that of the next turn: an exhaustive
    /// exploration tries all, and may be complete.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    ///
    /// let roll = || Fiber::random_u64().map(|number| assert_ne!(number % 6, 5));
    /// let failure = Explore::exhaustive().draws(6).try_check(roll).unwrap_err();
    /// assert_eq!(failure.schedule().to_string(), "1:=5");
    /// assert!(Explore::exhaustive().draws(5).check(roll).is_complete());
    /// ```
    ///
    /// # Panics
    /// If `most` is zero, or more than 65,536.
    #[track_caller]
    pub fn draws(mut self, most: u32) -> Self {
        assert_is_bound(most);
        self.settings.draws = Some(most);
        self
    }

    /// Calls `inspect` with the trace of every run that succeeded. It panics to reject the trace.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::{Explore, event};
    /// use std::time::Duration;
    ///
    /// let slow = || Fiber::delay(Duration::from_secs(1)).bind(|()| event("second"));
    /// Explore::default()
    ///     .inspect(|trace| trace.assert_order(&["first", "second"]))
    ///     .check(move || slow().zip(event("first")));
    /// ```
    pub fn inspect(mut self, inspect: impl Fn(&Trace) + Send + Sync + 'static) -> Self {
        self.settings.inspect = Some(Arc::new(inspect));
        self
    }

    /// Reports, after a pass, which pairs of steps of different fibers were [seen in one order only](crate::Explored::one_way), although nothing had forced it: orders
    /// that the exploration has not tried, or, if [all](crate::Explored::is_complete) were seen, that the program does not allow. All runs are recorded
    /// for that, which takes 50 % more time.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::{Explore, Search};
    ///
    /// let program = || Fiber::success(1).zip(Fiber::success(2));
    /// let explored = Explore::default().pairs().only(Search::Fifo).check(program);
    /// let [pair] = explored.one_way() else { panic!("{explored}") };
    /// assert!(pair.first.starts_with("fiber 0.0.0, start at ") && pair.second.starts_with("fiber 0.0.1, start at "));
    ///
    /// assert_eq!(Explore::default().pairs().check(program).one_way(), []);
    /// ```
    pub fn pairs(mut self) -> Self {
        self.settings.has_pairs = true;
        self
    }

    /// Neither saves nor runs schedules that broke the program before.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    ///
    /// let explored = Explore::default().no_regressions().check(|| Fiber::success(1).zip(Fiber::success(2)));
    /// assert_eq!(explored.stale_regressions(), 0);
    /// ```
    pub fn no_regressions(mut self) -> Self {
        self.regressions = Regressions::Off;
        self
    }

    /// Saves the schedules that broke the program in this file, instead of one beside the test.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    /// # std::panic::set_hook(Box::new(|_| {}));
    ///
    /// let file = std::env::temp_dir().join(format!("{}.fiber-regressions", std::process::id()));
    /// let explore = Explore::default().regressions(&file);
    /// let wrong = || Fiber::success(1).map(|one| assert_eq!(one, 2));
    /// assert!(std::thread::spawn(move || explore.check(wrong)).join().is_err());
    /// assert!(file.is_file(), "the next run begins with the schedule in it");
    /// # std::fs::remove_file(file).unwrap();
    /// ```
    pub fn regressions(mut self, file: impl Into<PathBuf>) -> Self {
        self.regressions = Regressions::In(file.into());
        self
    }

    /// # Panics
    /// If there is no search, because the setting would be ignored.
    #[track_caller]
    fn assert_searches(&self, advice: fmt::Arguments<'_>) {
        let is_given = matches!(self.mode, Mode::Given(..) | Mode::Recorded(..));
        assert!(!is_given, "the schedule is given: {advice}");
    }
}

impl fmt::Debug for Explore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Explore {:?}, seed {}", self.mode, self.seed)
    }
}
