use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fiber_core::{Context, Fiber, Instant, Outcome, Run};
use parking_lot::Mutex;

use crate::machine::{Cpus, Detail, Lateness, Machine, OpenFaults, POOL_BUDGET, State, WORKERS};
use crate::network::{self, Network};
use crate::random::SplitMix64;
use crate::report::Report;
use crate::schedule::{Deviation, Schedule, assert_is_bound};
use crate::spawned::Spawned;
use crate::strategy::{Rounds, Script, Strategy};
use crate::trace::Trace;
use crate::words::counted;

/// The seed of random numbers if the test sets none.
const DEFAULT_SEED: u64 = 0;

/// Runs fibers in virtual time, on the thread of the test.
///
/// Order: first in, first out, with a switch at every bind; or, with a [seed](TestScheduler::with_seed), each round of
/// runnable tasks in an order that the seed decides. Blocking closures run like any other code.
///
/// Random numbers also come from the seed, which defaults to 0.
///
/// Its drop cancels the remaining fibers and runs their finalizers.
pub struct TestScheduler {
    machine: Arc<Machine>,
    root: Context,
    auto_advance: bool,
    may_hold: bool,
    /// The numbers of the fibers that the test has spawned and whose values cannot own a permit, in ascending order.
    valueless: Mutex<Vec<u32>>,
}

impl TestScheduler {
    /// A timeline at its epoch, first in, first out.
    #[track_caller]
    pub fn new() -> Self {
        TestScheduler::of(Strategy::Fifo, DEFAULT_SEED)
    }

    #[track_caller]
    fn of(strategy: Strategy, seed: u64) -> Self {
        let machine = network::machine(State::new(strategy, seed));
        let root = Context::root(machine.clone());
        TestScheduler { machine, root, auto_advance: true, may_hold: false, valueless: Mutex::default() }
    }

    /// A timeline with a random order within each round of runnable tasks, and its own random numbers. The same seed gives the same run.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::sync::{Arc, Mutex};
    ///
    /// fn order(seed: u64) -> Vec<u32> {
    ///     let order = Arc::new(Mutex::new(Vec::new()));
    ///     let note = { let order = order.clone(); move |n| { let order = order.clone(); Fiber::lazy(move || order.lock().unwrap().push(n)) } };
    ///     TestScheduler::with_seed(seed).run(Fiber::parallel((0..5).map(note))).unwrap();
    ///     Arc::into_inner(order).unwrap().into_inner().unwrap()
    /// }
    /// assert_eq!(order(7), order(7));
    /// assert!((0..20).any(|seed| order(seed) != [0, 1, 2, 3, 4]));
    /// ```
    #[track_caller]
    pub fn with_seed(seed: u64) -> Self {
        TestScheduler::of(Strategy::Rounds(Rounds::new(SplitMix64::new(seed))), seed)
    }

    /// A timeline that follows a schedule, for stepping through a failure that [`Explore`](crate::Explore) found.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// let test = TestScheduler::with_schedule("3:1".parse().unwrap()).record();
    /// test.run(Fiber::success(1).zip(Fiber::success(2))).unwrap();
    /// println!("{}", test.trace());
    /// ```
    ///
    /// What the exploration was told of the machine has to be told here too: [`draws`](TestScheduler::draws),
    /// [`as_production`](TestScheduler::as_production), [`virtual_cpus`](TestScheduler::virtual_cpus).
    ///
    /// The [cancellations](Schedule::cancellations) of the whole program apply to the first fiber that the test spawns.
    #[track_caller]
    pub fn with_schedule(schedule: Schedule) -> Self {
        let test = TestScheduler::of(Strategy::Script(Script::replay(&schedule.deviations)), schedule.seed);
        let mut state = test.machine.state();
        let cancellations = schedule.cancellations.iter().map(Into::into).collect();
        let faults = schedule.faults.iter().map(Into::into).collect();
        state.mishaps.restart(cancellations, faults, OpenFaults::default(), None);
        // Allows the lateness that the schedule asks for.
        let is_late = schedule.deviations.iter().any(Deviation::is_later);
        state.mishaps.lateness = is_late.then(|| Lateness::new(Duration::MAX));
        drop(state);
        test
    }

    /// Limits all random numbers of the program to below `most`, and makes each of them a choice of the schedule, as
    /// [`Explore::draws`](crate::Explore::draws) does. A schedule that was found with that limit is followed only with it.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    ///
    /// let test = TestScheduler::with_schedule("1:=5".parse().unwrap()).draws(6);
    /// assert_eq!(test.run(Fiber::random_u64()).unwrap(), 5);
    /// ```
    ///
    /// # Panics
    /// If `most` is zero, or more than 65,536.
    #[must_use]
    #[track_caller]
    pub fn draws(self, most: u32) -> Self {
        assert_is_bound(most);
        self.machine.state().numbers.below = Some(most);
        self
    }

    /// Slices of `budget` binds, as in a pool: see [`Explore::as_production`](crate::Explore::as_production). Two workers, unless
    /// [`virtual_cpus`](TestScheduler::virtual_cpus) sets another number.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::{TestScheduler, event};
    ///
    /// let steps = |test: TestScheduler| {
    ///     let test = test.record();
    ///     let two = |first, second| event(first).bind(move |()| event(second));
    ///     test.run(two("a1", "a2").zip(two("b1", "b2"))).unwrap();
    ///     test.trace().events().collect::<Vec<_>>().join(" ")
    /// };
    /// assert_eq!(steps(TestScheduler::new()), "a1 b1 a2 b2");
    /// assert_eq!(steps(TestScheduler::new().as_production(1024).virtual_cpus(1)), "a1 a2 b1 b2");
    /// ```
    ///
    /// # Panics
    /// If `budget` is zero.
    #[must_use]
    #[track_caller]
    pub fn as_production(self, budget: u32) -> Self {
        assert!(budget > 0, "a slice of 0 binds makes no progress; the budget has to be at least 1");
        let mut state = self.machine.state();
        let workers = state.workers().unwrap_or(WORKERS);
        state.simulate(Cpus::new(workers, budget));
        drop(state);
        self
    }

    /// Simulates `workers` workers: at most that many fibers are in the middle of a slice at the same time, and a fiber that
    /// [computes](crate::compute) keeps its worker. Use it to test starvation, queueing, and timeouts under load.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::{TestScheduler, compute};
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let four = || Fiber::parallel((0..4).map(move |_| compute(second)));
    /// let test = TestScheduler::new().virtual_cpus(2);
    /// test.run(four()).unwrap();
    /// assert_eq!(test.now().as_nanos(), 2_000_000_000);
    /// ```
    ///
    /// # Panics
    /// If `workers` is zero, because nothing could ever run.
    #[must_use]
    #[track_caller]
    pub fn virtual_cpus(self, workers: usize) -> Self {
        assert!(workers > 0, "a machine of 0 workers runs no fiber; it has to have at least 1");
        let mut state = self.machine.state();
        let budget = state.slice_budget().unwrap_or(POOL_BUDGET);
        state.simulate(Cpus::new(workers, budget));
        drop(state);
        self
    }

    /// Records every turn from now on; see [`trace`](TestScheduler::trace).
    #[must_use]
    pub fn record(self) -> Self {
        self.machine.note(Detail::Turns);
        self
    }

    /// The trace up to now.
    ///
    /// # Panics
    /// If the scheduler does not [record](TestScheduler::record).
    #[track_caller]
    pub fn trace(&self) -> Trace {
        let trace = self.machine.state().trace().cloned();
        trace.expect("there is no trace: make the scheduler with TestScheduler::new().record()")
    }

    /// Whether time advances automatically when nothing can run, which is the default. Otherwise, only
    /// [`advance`](TestScheduler::advance) and [`run_for`](TestScheduler::run_for) move it.
    #[must_use]
    pub fn auto_advance(mut self, on: bool) -> Self {
        self.auto_advance = on;
        self
    }

    /// How many turns one instant may have before it counts as a livelock (default 100,000, plus 64 for every
    /// live fiber).
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    ///
    /// let busy = || Fiber::for_each(0..1_000, |_| Fiber::yield_now());
    /// assert!(TestScheduler::new().try_run(busy()).is_ok());
    /// let report = TestScheduler::new().turns_per_instant(100).try_run(busy()).unwrap_err();
    /// assert!(!report.is_deadlock());
    /// ```
    #[must_use]
    pub fn turns_per_instant(self, most: usize) -> Self {
        self.machine.state().limits.allow_turns_per_instant(most);
        self
    }

    /// How many instants one `run..` may visit before it counts as a livelock (default 600,000, or
    /// 64 for every fiber, if that is more: a year of ticks every minute has 525,600).
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let ticks = || Fiber::for_each(0..1_000, |_| Fiber::delay(Duration::from_secs(1)));
    /// assert!(TestScheduler::new().try_run(ticks()).is_ok());
    /// let report = TestScheduler::new().most_instants(100).try_run(ticks()).unwrap_err();
    /// assert!(!report.is_deadlock());
    /// ```
    #[must_use]
    pub fn most_instants(self, most: usize) -> Self {
        self.machine.state().limits.allow_instants(most);
        self
    }

    /// Starts a fiber; it runs during the next `run..`.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    ///
    /// let test = TestScheduler::new();
    /// let spawned = test.spawn(Fiber::success(7));
    /// assert!(spawned.is_pending());
    /// test.run_until_idle();
    /// assert_eq!(spawned.outcome().unwrap(), 7);
    /// ```
    #[track_caller]
    pub fn spawn<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Spawned<T> {
        // Erased, because all that starts and ends a fiber is compiled for each type of program.
        let handle = self.root.spawn(fiber.boxed());
        // A value that owns something may own permits: it has a drop.
        if !std::mem::needs_drop::<T>() {
            self.valueless.lock().push(handle.context().index());
        }
        Spawned::new(handle)
    }

    /// Runs a fiber to its end, and all other fibers meanwhile, and advances time as needed.
    ///
    /// # Panics
    /// With a report, if the fiber cannot end: on a deadlock or a livelock, or if it waits for time to pass with
    /// [`auto_advance`](TestScheduler::auto_advance) off.
    #[track_caller]
    pub fn run<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Outcome<T> {
        // No closure: the panic is to be at the line of the test.
        match self.try_run(fiber.boxed()) {
            Ok(outcome) => outcome,
            Err(report) => panic!("{report}"),
        }
    }

    /// Like [`run`](TestScheduler::run), but returns a report instead of panicking.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// let report = TestScheduler::new().try_run(Fiber::<()>::never().named("worker")).unwrap_err();
    /// assert!(report.is_deadlock());
    /// assert!(report.to_string().contains("fiber 0 \"worker\""));
    /// ```
    ///
    /// # Errors
    /// The report of a deadlock or livelock.
    #[track_caller]
    pub fn try_run<T: Send + 'static, R: Run<Out = T>>(
        &self,
        fiber: Fiber<T, R>,
    ) -> Result<Outcome<T>, Report> {
        let spawned = self.spawn(fiber);
        self.machine.restart_limits();
        if !self.machine.drive(Instant::FAR_FUTURE, self.auto_advance, || !spawned.is_pending())? {
            return Err(self.machine.deadlock());
        }
        self.machine.state().end_turn();
        Ok(spawned.outcome())
    }

    /// Like [`run`](TestScheduler::run), and returns how much virtual time passed.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    /// let second = Duration::from_secs(1);
    /// let slow = Fiber::delay(90 * second).timeout_option(60 * second);
    /// let (outcome, elapsed) = TestScheduler::new().run_timed(slow);
    /// assert_eq!((outcome.unwrap(), elapsed), (None, 60 * second));
    /// ```
    ///
    /// # Panics
    /// With a report, if the fiber cannot end.
    #[track_caller]
    pub fn run_timed<T: Send + 'static, R: Run<Out = T>>(
        &self,
        fiber: Fiber<T, R>,
    ) -> (Outcome<T>, Duration) {
        let start = self.now();
        let outcome = self.run(fiber);
        (outcome, self.now() - start)
    }

    /// Runs until nothing can run and no timer is pending (with [`auto_advance`](TestScheduler::auto_advance) off: until
    /// nothing can run now).
    ///
    /// # Panics
    /// With a report, on a livelock.
    #[track_caller]
    pub fn run_until_idle(&self) {
        self.run_until(Instant::FAR_FUTURE, self.auto_advance);
    }

    /// Runs everything that happens within `duration` of virtual time, and then leaves the clock at the end of it.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let test = TestScheduler::new();
    /// let sleep = test.spawn(Fiber::delay(2 * second));
    /// test.run_for(second);
    /// assert!(sleep.is_pending());
    /// test.run_for(second);
    /// assert!(!sleep.is_pending());
    /// ```
    ///
    /// # Panics
    /// With a report, on a livelock.
    #[doc(alias = "advance")]
    #[track_caller]
    pub fn run_for(&self, duration: Duration) {
        let end = self.now() + duration;
        self.run_until(end, true);
        self.machine.state().advance_to(end);
    }

    /// Moves the clock at once, as if the process had been asleep. Timers that are due meanwhile can then fire at the new time, in
    /// the order of their deadlines.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let hour = Duration::from_secs(3600);
    /// let test = TestScheduler::new().auto_advance(false);
    /// let sleep = test.spawn(Fiber::delay(hour));
    /// test.run_until_idle();
    /// test.advance(hour);
    /// assert!(sleep.is_pending());
    /// test.run_until_idle();
    /// assert!(!sleep.is_pending());
    /// ```
    pub fn advance(&self, duration: Duration) {
        let mut state = self.machine.state();
        let end = state.timeline.now() + duration;
        state.advance_to(end);
    }

    /// The virtual time.
    pub fn now(&self) -> Instant {
        self.machine.state().timeline.now()
    }

    /// The number of timers.
    pub fn pending_timers(&self) -> usize {
        self.machine.state().timeline.pending_timers()
    }

    /// The number of live fibers, branches of combinators included.
    pub fn live_fibers(&self) -> usize {
        self.machine.state().fibers.len()
    }

    /// The unobserved failures so far, in order.
    pub fn unobserved(&self) -> Vec<String> {
        self.machine.state().unobserved.iter().map(|lost| lost.text.clone()).collect()
    }

    /// The simulated network, for its settings and its faults.
    pub fn network(&self) -> Network {
        Network::of(&self.machine)
    }

    /// The root context of the timeline: fibers that are spawned below it run here.
    pub fn context(&self) -> &Context {
        &self.root
    }

    /// Permits and locks that are still held do not count as leaks: the test itself keeps them, or fibers do so on purpose.
    ///
    /// ```
    /// use fiber_core::sync::Semaphore;
    /// use fiber_test::TestScheduler;
    ///
    /// let semaphore = Semaphore::new(1);
    /// let test = TestScheduler::new().may_hold();
    /// test.run(semaphore.acquire(1).map(std::mem::forget)).unwrap();
    /// test.assert_no_leaks();
    /// ```
    #[must_use]
    pub fn may_hold(mut self) -> Self {
        self.may_hold = true;
        self
    }

    /// Checks that nothing is left: no fiber, no timer, no task, no unreturned permit or lock.
    ///
    /// The test may own permits: a fiber may have returned them as its value. So the permits that a fiber and those below it have
    /// acquired are checked only if the test has [spawned](TestScheduler::spawn) or [run](TestScheduler::run) that fiber,
    /// and its value cannot own anything (`()`, a number). Drop permits that the test got in another way, such as through a cell
    /// that it shares with the fiber, before the check; or see [`may_hold`](TestScheduler::may_hold).
    ///
    /// Items that are left in a channel are not a leak by themselves, as the test may still receive them. If something else
    /// is left, the message also lists them.
    ///
    /// ```should_panic
    /// use fiber_core::{Fiber, sync::Semaphore};
    /// use fiber_test::TestScheduler;
    ///
    /// let semaphore = Semaphore::new(1).named("printer");
    /// let test = TestScheduler::new();
    /// test.run(semaphore.acquire(1).map(std::mem::forget)).unwrap();
    /// // leak at 0ns: these were not given back
    /// //   1 permit of Semaphore `printer`, acquired at src/main.rs:6 by fiber 0 (forked at src/main.rs:6), which has ended
    /// test.assert_no_leaks();
    /// ```
    ///
    /// # Panics
    /// With a list of what is left.
    #[track_caller]
    pub fn assert_no_leaks(&self) {
        let runnable = self.machine.state().runnable();
        let advice = if runnable > 0 { "\ntasks that can run are left: run_until_idle first" } else { "" };
        if let Some(leak) = self.machine.leak(|holding| !self.may_hold && self.is_valueless(&holding.fiber)) {
            panic!("{leak}{advice}");
        }
        assert_eq!(runnable, 0, "{}", advice.trim_start());
    }

    /// Runs what can run at this instant. A fiber that was cancelled in the background, such as the computation of a cache for which
    /// nobody waits any more, is no leak if it then ends.
    pub(crate) fn settle(&self) {
        self.machine.restart_limits();
        // A livelock is a leak.
        let _ = self.machine.drive(self.now(), true, || false);
    }

    /// Whether no value that the test may have got can own permits that were acquired below this fiber.
    fn is_valueless(&self, fiber: &Context) -> bool {
        let top = fiber.id().split('.').next().and_then(|top| top.parse().ok());
        top.is_some_and(|top: u32| self.valueless.lock().binary_search(&top).is_ok())
    }

    #[track_caller]
    fn run_until(&self, end: Instant, may_advance: bool) {
        self.machine.restart_limits();
        if let Err(report) = self.machine.drive(end, may_advance, || false) {
            panic!("{report}");
        }
    }
}

impl Default for TestScheduler {
    #[track_caller]
    fn default() -> Self {
        TestScheduler::new()
    }
}

impl Drop for TestScheduler {
    fn drop(&mut self) {
        self.machine.close(&self.root);
    }
}

impl fmt::Debug for TestScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TestScheduler at {}, {}", self.now(), counted(self.live_fibers(), "fiber"))
    }
}
