use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fiber_core::{Checkpoint, Context, Fiber, Instant, Outcome, Run, Scheduler, Task, TimerKey, Unobserved};
use parking_lot::Mutex;

use crate::random::SplitMix64;
use crate::report::Report;
use crate::spawned::Spawned;
use crate::timeline::Timeline;

/// Turns at one instant before it counts as a livelock: far above what a test does at once, and reached in
/// milliseconds by a loop.
const TURNS_PER_INSTANT: usize = 100_000;

/// So many fibers may all have work at one instant: the bound grows with their number.
const TURNS_PER_FIBER: usize = 64;

/// Instants of one run before it counts as a livelock: hours of a program that ticks every millisecond.
const MOST_INSTANTS: usize = 10_000_000;

/// Where random numbers start when the test names no seed.
const DEFAULT_SEED: u64 = 0;

/// How many of the last turns a report of a livelock looks at.
const LAST_TURNS: usize = 256;

/// Runs fibers in virtual time, on the thread of the test.
///
/// Order: first in, first out, with a switch at every bind; or, with a [seed](TestScheduler::with_seed), every round of
/// runnable tasks in an order that the seed decides. Blocking closures run like any other work.
///
/// Random numbers, too, come from the seed, which is 0 without one.
///
/// Dropping it cancels what is left and runs its finalizers.
pub struct TestScheduler {
    clock: Arc<VirtualClock>,
    root: Context,
    auto_advance: bool,
    turns_per_instant: usize,
    most_instants: usize,
}

/// The scheduler that fibers see.
struct VirtualClock {
    timeline: Mutex<Timeline>,
    live: Mutex<HashMap<usize, Context>>,
    unobserved: Mutex<Vec<String>>,
    random: Mutex<SplitMix64>,
}

impl TestScheduler {
    /// A timeline at its epoch, first in, first out.
    #[track_caller]
    pub fn new() -> Self {
        let clock = Arc::new(VirtualClock {
            timeline: Mutex::new(Timeline::new()),
            live: Mutex::default(),
            unobserved: Mutex::default(),
            random: Mutex::new(random_numbers(DEFAULT_SEED)),
        });
        let root = Context::root(clock.clone());
        TestScheduler {
            clock,
            root,
            auto_advance: true,
            turns_per_instant: TURNS_PER_INSTANT,
            most_instants: MOST_INSTANTS,
        }
    }

    /// A timeline whose rounds of runnable tasks are permuted, and whose random numbers are others. The same seed gives the same run.
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
        let test = TestScheduler::new();
        test.clock.timeline.lock().permute(seed);
        *test.clock.random.lock() = random_numbers(seed);
        test
    }

    /// Whether time advances by itself when nothing can run, as it does by default. Without, only
    /// [`advance`](TestScheduler::advance) and [`run_for`](TestScheduler::run_for) move it.
    #[must_use]
    pub fn auto_advance(mut self, on: bool) -> Self {
        self.auto_advance = on;
        self
    }

    /// How many turns of fibers one instant may have before it counts as a livelock (default 100,000, and 64 for every
    /// live fiber).
    #[must_use]
    pub fn turns_per_instant(mut self, most: usize) -> Self {
        self.turns_per_instant = most;
        self
    }

    /// How many instants one `run..` may visit before it counts as a livelock (default 10,000,000).
    #[must_use]
    pub fn most_instants(mut self, most: usize) -> Self {
        self.most_instants = most;
        self
    }

    /// Starts a fiber; it runs with the next `run..`.
    #[track_caller]
    pub fn spawn<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Spawned<T> {
        Spawned::new(self.root.spawn(fiber))
    }

    /// Runs a fiber to its end, advancing time as needed, and everything else that runs meanwhile.
    ///
    /// # Panics
    /// With a report, if it cannot end: deadlock or livelock.
    #[track_caller]
    pub fn run<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Outcome<T> {
        self.try_run(fiber).unwrap_or_else(|report| panic!("{report}"))
    }

    /// Like [`run`](TestScheduler::run).
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
        let mut spawned = self.spawn(fiber);
        let mut guard = Guard::new(self);
        loop {
            match spawned.try_outcome() {
                Ok(outcome) => return Ok(outcome),
                Err(pending) => spawned = pending,
            }
            if !self.turn(Instant::FAR_FUTURE, true, &mut guard)? {
                return Err(Report::deadlock(self.now(), self.clock.live_fibers()));
            }
        }
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

    /// Runs everything that happens within `duration` of virtual time, which has passed then.
    ///
    /// # Panics
    /// With a report, on a livelock.
    #[track_caller]
    pub fn run_for(&self, duration: Duration) {
        let end = self.now() + duration;
        self.run_until(end, true);
        self.clock.timeline.lock().advance_to(end);
    }

    /// Moves the clock at once, as if the process had been asleep. What is due meanwhile can run then, at the new time, in
    /// the order in which it was due.
    pub fn advance(&self, duration: Duration) {
        let mut timeline = self.clock.timeline.lock();
        let end = timeline.now() + duration;
        timeline.advance_to(end);
    }

    /// The virtual time.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// How many timers are set.
    pub fn pending_timers(&self) -> usize {
        self.clock.timeline.lock().pending_timers()
    }

    /// How many fibers have not ended, branches of combinators included.
    pub fn live_fibers(&self) -> usize {
        self.clock.live.lock().len()
    }

    /// The failures that nobody observed so far, in order.
    pub fn unobserved(&self) -> Vec<String> {
        self.clock.unobserved.lock().clone()
    }

    /// The context of the timeline: what is spawned elsewhere below it runs here.
    pub fn context(&self) -> &Context {
        &self.root
    }

    /// Checks that nothing is left: no fiber, no timer, no task.
    ///
    /// # Panics
    /// With a list of what is left.
    #[track_caller]
    pub fn assert_no_leaks(&self) {
        let fibers = self.clock.live_fibers();
        let timeline = self.clock.timeline.lock();
        let timers: Vec<String> =
            timeline.timers().map(|(at, task)| format!("timer at {at}: {task:?}")).collect();
        let runnable = timeline.runnable();
        drop(timeline);
        if !fibers.is_empty() || !timers.is_empty() {
            panic!("{}", Report::leak(self.now(), fibers, timers));
        }
        assert_eq!(runnable, 0, "tasks that can run are left: run_until_idle first");
    }

    #[track_caller]
    fn run_until(&self, end: Instant, may_advance: bool) {
        let mut guard = Guard::new(self);
        loop {
            match self.turn(end, may_advance, &mut guard) {
                Ok(true) => {}
                Ok(false) => return,
                Err(report) => panic!("{report}"),
            }
        }
    }

    /// Runs one task. `false`: there is none until `end`.
    fn turn(&self, end: Instant, may_advance: bool, guard: &mut Guard) -> Result<bool, Report> {
        let mut timeline = self.clock.timeline.lock();
        let task = match timeline.pop() {
            Some(task) => task,
            None => {
                let now = timeline.now();
                match timeline.next_instant() {
                    Some(next) if next <= now || may_advance && next <= end => timeline.advance_to(next),
                    _ => return Ok(false),
                }
                match timeline.pop() {
                    Some(task) => task,
                    None => return Ok(false),
                }
            }
        };
        let now = timeline.now();
        drop(timeline);
        guard.check(self, now, &task)?;
        task.run();
        Ok(true)
    }
}

/// Counts turns and instants, to notice a program that runs without end.
struct Guard {
    instant: Instant,
    turns: usize,
    instants: usize,
    /// The most fibers that were seen alive at this instant.
    fibers: usize,
    last: VecDeque<Context>,
}

impl Guard {
    fn new(test: &TestScheduler) -> Self {
        Guard {
            instant: test.now(),
            turns: 0,
            instants: 0,
            fibers: test.live_fibers(),
            last: VecDeque::new(),
        }
    }

    fn check(&mut self, test: &TestScheduler, now: Instant, task: &Task) -> Result<(), Report> {
        if now != self.instant {
            self.instant = now;
            self.instants += 1;
            self.turns = 0;
            self.fibers = test.live_fibers();
        }
        self.turns += 1;
        let is_suspect = self.turns + LAST_TURNS > test.turns_per_instant
            || self.instants + LAST_TURNS > test.most_instants;
        if !is_suspect {
            return Ok(());
        }
        if let Some(context) = task.context() {
            self.last.push_back(context.clone());
            if self.last.len() > LAST_TURNS {
                self.last.pop_front();
            }
        }
        self.fibers = self.fibers.max(test.live_fibers());
        let last = || self.last.iter().cloned().collect();
        if self.turns > test.turns_per_instant.max(TURNS_PER_FIBER.saturating_mul(self.fibers)) {
            return Err(Report::busy_instant(now, self.turns - 1, last()));
        }
        if self.instants > test.most_instants {
            return Err(Report::too_many_instants(now, self.instants - 1, last()));
        }
        Ok(())
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
        self.root.cancel();
        let mut guard = Guard::new(self);
        while let Ok(true) = self.turn(Instant::FAR_FUTURE, true, &mut guard) {}
        // Only a program that hangs or runs without end has anything left. Its fibers own the clock that owns them.
        self.clock.live_fibers().iter().for_each(Context::abandon);
        let rest = self.clock.timeline.lock().clear();
        drop(rest);
        let leaked = std::mem::take(&mut *self.clock.live.lock());
        drop(leaked);
    }
}

impl fmt::Debug for TestScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TestScheduler at {}, {} fibers", self.now(), self.live_fibers())
    }
}

impl VirtualClock {
    fn live_fibers(&self) -> Vec<Context> {
        self.live.lock().values().cloned().collect()
    }
}

/// What fibers get as random numbers. The order of tasks has a generator of its own, so drawing a number does not change it.
fn random_numbers(seed: u64) -> SplitMix64 {
    SplitMix64::new(seed).split()
}

impl Scheduler for VirtualClock {
    fn schedule(&self, task: Task) {
        self.timeline.lock().push(task);
    }

    fn schedule_at(&self, at: Instant, task: Task) -> TimerKey {
        self.timeline.lock().push_at(at, task)
    }

    fn cancel_timer(&self, key: TimerKey) -> bool {
        // The task is dropped after the lock: that may run code of the program.
        let cancelled = self.timeline.lock().cancel(key);
        cancelled.is_some()
    }

    fn now(&self) -> Instant {
        self.timeline.lock().now()
    }

    fn utc_now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + (self.now() - Instant::EPOCH)
    }

    fn random_u64(&self) -> u64 {
        self.random.lock().next()
    }

    fn schedule_blocking(&self, task: Task) {
        self.schedule(task);
    }

    /// Every bind is a turn.
    fn budget(&self) -> u32 {
        1
    }

    fn checkpoint(&self, _: &Context) -> Checkpoint {
        Checkpoint::Yield
    }

    fn fiber_created(&self, context: &Context) {
        self.live.lock().insert(context.key(), context.clone());
    }

    fn fiber_ended(&self, context: &Context) {
        let ended = self.live.lock().remove(&context.key());
        drop(ended);
    }

    fn unobserved(&self, failure: &Unobserved) {
        self.unobserved.lock().push(failure.to_string());
    }
}
