//! Shared helpers of the tests.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

pub mod counting;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use fiber_core::scheduler::{
    BranchDeque, BranchStealer, Checkpoint, Event, Scheduler, SwitchPoint, Task, TaskKind, TimerKey,
    Unobserved, Worker,
};
use fiber_core::{Context, Fiber, Handle, Instant, Outcome, Run};

/// The depth or length that overflows every stack if each level takes a part of it, and that shows a quadratic effort. A tenth of a million
/// does so in debug builds, whose frames are larger.
pub const MILLION: u32 = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };

/// Counts events.
#[derive(Clone, Debug, Default)]
pub struct Counter(Arc<AtomicUsize>);

impl Counter {
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// A fiber that counts its run.
    pub fn count(&self) -> Fiber<()> {
        let counter = self.clone();
        Fiber::lazy(move || counter.add()).boxed()
    }

    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// A queue of tasks on this thread with the budget of production: many binds in one turn. Fibers lend branches, which no other thread
/// steals. Timers are due at once.
pub struct Queue(Mutex<VecDeque<Task>>);

impl Default for Queue {
    /// With some capacity, so that it does not allocate later.
    fn default() -> Self {
        Queue(Mutex::new(VecDeque::with_capacity(64)))
    }
}

impl Queue {
    /// Runs a fiber until the queue is empty.
    pub fn run<T: Send + 'static, R: Run<Out = T>>(fiber: Fiber<T, R>) -> Outcome<T> {
        let queue = Arc::new(Queue::default());
        let root = Context::root(queue.clone());
        let handle = root.spawn(fiber);
        queue.drain();
        root.cancel();
        handle.try_outcome().expect("the fiber has ended")
    }

    pub fn drain(&self) {
        let thread = Lending(Some(BranchDeque::new()));
        while let Some(task) = self.pop() {
            task.run_on(&thread);
        }
    }

    /// Removes the next task.
    pub fn pop(&self) -> Option<Task> {
        self.0.lock().unwrap().pop_front()
    }
}

impl Scheduler for Queue {
    fn schedule(&self, task: Task) {
        self.0.lock().unwrap().push_back(task);
    }

    fn schedule_at(&self, _: Instant, task: Task) -> TimerKey {
        self.schedule(task);
        TimerKey::new(0)
    }

    fn cancel_timer(&self, _: TimerKey) -> bool {
        false
    }

    fn now(&self) -> Instant {
        Instant::EPOCH
    }

    fn utc_now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn random_u64(&self) -> u64 {
        0
    }

    fn schedule_blocking(&self, task: Task) {
        self.schedule(task);
    }
}

/// Tasks and timers on this thread: each turn runs one that a seed decides, or advances time to the next timer when
/// nothing else is left. Its fibers have turns of any length.
pub struct Steps {
    state: Arc<StepsState>,
    root: Context,
    thread: Lending,
}

/// A thread whose fibers lend their branches, if it has a deque for them.
#[derive(Default)]
struct Lending(Option<BranchDeque>);

impl Worker for Lending {
    fn branches(&self) -> Option<&BranchDeque> {
        self.0.as_ref()
    }
}

struct StepsState {
    tasks: Mutex<StepsTasks>,
    whim: Mutex<Whim>,
    thieves: Option<Mutex<Thieves>>,
    checkpoints: AtomicUsize,
    budget: u32,
    is_observer: AtomicBool,
    live: AtomicUsize,
    unobserved: Mutex<Vec<String>>,
}

struct StepsTasks {
    now: Instant,
    ready: Vec<Task>,
    due: VecDeque<Task>,
    timers: BTreeMap<(Instant, u64), Task>,
    timers_set: u64,
    random: u64,
}

/// The actions of other threads at the checkpoints of this one. Each has a deque.
struct Thieves {
    victims: Vec<BranchStealer>,
    deques: Vec<BranchDeque>,
    random: u64,
}

/// An action at a checkpoint.
enum Move {
    /// Another thread steals a branch, and runs it now.
    RunStolen(Task, BranchDeque),
    /// Another thread steals a branch, to run it later.
    Keep(Task),
    Answer(Checkpoint),
}

impl Thieves {
    fn new(victim: BranchStealer, seed: u64) -> Self {
        let deques: Vec<_> = (0..3).map(|_| BranchDeque::new()).collect();
        let victims = deques.iter().map(BranchDeque::stealer).chain([victim]).collect();
        Thieves { victims, deques, random: seed }
    }

    fn below(&mut self, end: usize) -> usize {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.random) % end
    }

    fn next_move(&mut self) -> Move {
        let victim = self.below(self.victims.len());
        match self.below(6) {
            0 | 1 if let Some(task) = self.victims[victim].steal() => match self.deques.pop() {
                Some(deque) => Move::RunStolen(task, deque),
                None => Move::Keep(task),
            },
            2 if let Some(task) = self.victims[victim].steal() => Move::Keep(task),
            3 => Move::Answer(Checkpoint::Yield),
            length => Move::Answer(Checkpoint::Continue(1 + length as u32)),
        }
    }
}

/// One round of SplitMix64's mixing: enough to choose a task.
fn mixed(random: u64) -> usize {
    let mixed = (random ^ (random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 32) as usize
}

/// A method of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Schedule,
    ScheduleAt,
    CancelTimer,
    Checkpoint,
    Budget,
    Observe,
}

/// How a method answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Properly,
    /// A task is dropped; any other method works correctly.
    Drop,
    Panic,
}

/// Decides the scheduler's answer to each call.
pub type Whim = Box<dyn FnMut(Call) -> Answer + Send>;

/// The message of a scheduler's panics.
pub const WHIM: &str = "a whim of the scheduler";

impl StepsState {
    /// Returns the task, unless it is dropped.
    fn answer<T>(&self, call: Call, task: T) -> Option<T> {
        let answer = (self.whim.lock().unwrap())(call);
        match answer {
            Answer::Properly => Some(task),
            Answer::Drop => None,
            // As a `String`, which hooks recognise.
            Answer::Panic => std::panic::panic_any(WHIM.to_owned()),
        }
    }
}

impl Steps {
    pub fn new(seed: u64, budget: u32) -> Self {
        Steps::with_whim(seed, budget, Box::new(|_| Answer::Properly))
    }

    /// A scheduler whose fibers lend branches: at their checkpoints, which come after few binds, a seed decides whether other threads steal
    /// one, whether that runs at once or later, and whether the fiber may continue.
    pub fn lending(seed: u64) -> Self {
        let branches = BranchDeque::new();
        let thieves = Thieves::new(branches.stealer(), seed);
        let whim = Box::new(|_| Answer::Properly);
        Steps::made(seed, 1 + (seed % 5) as u32, whim, Lending(Some(branches)), Some(thieves))
    }

    /// A scheduler that drops tasks, or panics.
    pub fn with_whim(seed: u64, budget: u32, whim: Whim) -> Self {
        Steps::made(seed, budget, whim, Lending::default(), None)
    }

    /// The same, but it observes no fibers, as in production, and does not count them. So time limits have no nodes.
    #[must_use]
    pub fn blind(mut self) -> Self {
        self.state.is_observer.store(false, Ordering::Relaxed);
        // A root asks once.
        self.root = Context::root(self.state.clone());
        self
    }

    /// The number of timers that were set, and of those that are left.
    pub fn timers(&self) -> (u64, usize) {
        let tasks = self.state.tasks.lock().unwrap();
        (tasks.timers_set, tasks.timers.len())
    }

    /// Runs what is ready until then, in time.
    pub fn run_until(&self, at: Instant) {
        loop {
            let next = {
                let mut tasks = self.state.tasks.lock().unwrap();
                let is_due = tasks.timers.first_key_value().is_some_and(|((time, _), _)| *time <= at);
                if tasks.ready.is_empty() && tasks.due.is_empty() && !is_due { None } else { tasks.next() }
            };
            match next {
                Some(task) => task.run_on(&self.thread),
                None => break,
            }
        }
        self.state.tasks.lock().unwrap().now = at;
    }

    pub fn now(&self) -> Instant {
        self.state.tasks.lock().unwrap().now
    }

    fn made(seed: u64, budget: u32, whim: Whim, thread: Lending, thieves: Option<Thieves>) -> Self {
        let tasks = StepsTasks { random: seed, ..StepsTasks::default() };
        let state = Arc::new(StepsState {
            tasks: Mutex::new(tasks),
            whim: Mutex::new(whim),
            thieves: thieves.map(Mutex::new),
            checkpoints: AtomicUsize::new(0),
            budget,
            is_observer: AtomicBool::new(true),
            live: AtomicUsize::new(0),
            unobserved: Mutex::default(),
        });
        Steps { root: Context::root(state.clone()), state, thread }
    }

    pub fn context(&self) -> &Context {
        &self.root
    }

    pub fn spawn<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Handle<T> {
        self.root.spawn(fiber)
    }

    /// Runs up to this many tasks.
    pub fn run(&self, turns: usize) {
        for _ in 0..turns {
            let Some(task) = self.state.tasks.lock().unwrap().next() else { return };
            task.run_on(&self.thread);
        }
    }

    /// Likewise, but never starts a task that was already cancelled. Returns those tasks.
    pub fn run_without_cancelled_starts(&self) -> Vec<Task> {
        let mut left = Vec::new();
        while let Some(task) = self.next() {
            let is_cancelled = task.context().is_some_and(Context::is_cancelled);
            if task.kind() == TaskKind::Start && is_cancelled { left.push(task) } else { task.run() }
        }
        left
    }

    fn next(&self) -> Option<Task> {
        self.state.tasks.lock().unwrap().next()
    }

    /// Cancels the remaining fibers and runs them to their ends.
    pub fn close(&self) {
        self.root.cancel();
        self.run(usize::MAX);
    }

    /// The number of checkpoints, at none of which the fiber may continue.
    pub fn checkpoints(&self) -> usize {
        self.state.checkpoints.load(Ordering::Relaxed)
    }

    /// Runs this many tasks, and drops the next one. `false`: there is none.
    pub fn throws_away_after(&self, turns: usize) -> bool {
        self.run(turns);
        let task = self.state.tasks.lock().unwrap().next();
        task.is_some()
    }

    pub fn live_fibers(&self) -> usize {
        self.state.live.load(Ordering::Relaxed)
    }

    pub fn unobserved(&self) -> Vec<String> {
        self.state.unobserved.lock().unwrap().clone()
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.root.cancel();
    }
}

impl Default for StepsTasks {
    fn default() -> Self {
        StepsTasks {
            now: Instant::EPOCH,
            ready: Vec::new(),
            due: VecDeque::new(),
            timers: BTreeMap::new(),
            timers_set: 0,
            random: 0,
        }
    }
}

impl StepsTasks {
    fn set_timer(&mut self, at: Instant, task: Task) -> TimerKey {
        let key = self.timers_set;
        self.timers_set += 1;
        self.timers.insert((at, key), task);
        TimerKey::new(key)
    }

    fn take_timer(&mut self, key: TimerKey) -> Option<Task> {
        let timer = self.timers.keys().find(|(_, number)| *number == key.get()).copied()?;
        self.timers.remove(&timer)
    }

    fn next(&mut self) -> Option<Task> {
        if let Some(task) = self.due.pop_front() {
            return Some(task);
        }
        if self.ready.is_empty() {
            return self.next_timer();
        }
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let chosen = mixed(self.random) % self.ready.len();
        Some(self.ready.swap_remove(chosen))
    }

    /// `true`: there is a due timer; it is the next to run.
    fn look_at_timers(&mut self) -> bool {
        let later = self.timers.split_off(&(self.now + Duration::from_nanos(1), 0));
        let due = std::mem::replace(&mut self.timers, later);
        self.due.extend(due.into_values());
        !self.due.is_empty()
    }

    fn next_timer(&mut self) -> Option<Task> {
        let ((at, _), task) = self.timers.pop_first()?;
        self.now = self.now.max(at);
        Some(task)
    }
}

impl Scheduler for StepsState {
    fn schedule(&self, task: Task) {
        if let Some(task) = self.answer(Call::Schedule, task) {
            self.tasks.lock().unwrap().ready.push(task);
        }
    }

    fn schedule_at(&self, at: Instant, task: Task) -> TimerKey {
        match self.answer(Call::ScheduleAt, task) {
            Some(task) => self.tasks.lock().unwrap().set_timer(at, task),
            None => TimerKey::new(u64::MAX),
        }
    }

    fn cancel_timer(&self, key: TimerKey) -> bool {
        self.answer(Call::CancelTimer, ());
        let cancelled = self.tasks.lock().unwrap().take_timer(key);
        cancelled.is_some()
    }

    fn now(&self) -> Instant {
        self.tasks.lock().unwrap().now
    }

    fn utc_now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn random_u64(&self) -> u64 {
        0
    }

    fn schedule_blocking(&self, task: Task) {
        self.schedule(task);
    }

    fn budget(&self) -> u32 {
        self.answer(Call::Budget, ());
        self.budget
    }

    fn checkpoint(&self, _: &Context, _: SwitchPoint) -> Checkpoint {
        self.checkpoints.fetch_add(1, Ordering::Relaxed);
        self.answer(Call::Checkpoint, ());
        let Some(thieves) = &self.thieves else { return Checkpoint::Yield };
        loop {
            let next = thieves.lock().unwrap().next_move();
            match next {
                Move::RunStolen(task, deque) => {
                    let thread = Lending(Some(deque));
                    task.run_on(&thread);
                    thieves.lock().unwrap().deques.extend(thread.0);
                }
                Move::Keep(task) => self.schedule(task),
                Move::Answer(answer) => return answer,
            }
        }
    }

    fn is_observer(&self) -> bool {
        self.is_observer.load(Ordering::Relaxed)
    }

    fn observe(&self, _: &Context, event: Event<'_>) {
        match event {
            Event::Created { .. } => drop(self.live.fetch_add(1, Ordering::Relaxed)),
            Event::Ended => drop(self.live.fetch_sub(1, Ordering::Relaxed)),
            _ => {}
        }
        self.answer(Call::Observe, ());
    }

    fn unobserved(&self, failure: &Unobserved) {
        self.unobserved.lock().unwrap().push(failure.to_string());
    }
}

/// Seldom asks a fiber to yield, unless a timer is due: so most turns end where the fiber waits. Its clock advances at every
/// checkpoint, and to the next timer when nothing else is left.
#[derive(Clone)]
pub struct Tireless {
    state: Arc<TirelessState>,
    root: Context,
}

/// At one in this many checkpoints, a turn ends if another task is ready, as if another worker had taken that.
const LONG_TURN: usize = 50;

/// After this many checkpoints, a fiber counts as one that binds for ever.
const MOST_CHECKPOINTS: usize = 100_000;

struct TirelessState {
    steps: Mutex<StepsTasks>,
    tick: Duration,
    budget: u32,
    is_observer: AtomicBool,
    unobserved: Mutex<Vec<String>>,
    clock_reads: AtomicUsize,
    live: AtomicUsize,
    checkpoints: AtomicUsize,
    /// The event at a checkpoint.
    event: Mutex<Option<(usize, Box<dyn FnOnce() + Send>)>>,
}

impl Tireless {
    pub fn new() -> Self {
        Tireless::with(Duration::from_secs(1), 10)
    }

    /// Its clock advances by a tick at every checkpoint, and a fiber reaches one after this many binds.
    pub fn with(tick: Duration, budget: u32) -> Self {
        let state = Arc::new(TirelessState {
            steps: Mutex::default(),
            tick,
            budget,
            is_observer: AtomicBool::new(true),
            unobserved: Mutex::default(),
            clock_reads: AtomicUsize::new(0),
            live: AtomicUsize::new(0),
            checkpoints: AtomicUsize::new(0),
            event: Mutex::default(),
        });
        Tireless { root: Context::root(state.clone()), state }
    }

    /// See [`Steps::blind`].
    #[must_use]
    pub fn blind(mut self) -> Self {
        self.state.is_observer.store(false, Ordering::Relaxed);
        self.root = Context::root(self.state.clone());
        self
    }

    pub fn unobserved(&self) -> Vec<String> {
        self.state.unobserved.lock().unwrap().clone()
    }

    pub fn context(&self) -> &Context {
        &self.root
    }

    pub fn spawn<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Handle<T> {
        self.root.spawn(fiber)
    }

    /// Runs a fiber until it ends.
    pub fn run<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Outcome<T> {
        let handle = self.spawn(fiber);
        while !handle.is_finished() && self.drain_some(1) {}
        handle.try_outcome().expect("the fiber has ended")
    }

    /// Runs up to `most` tasks. `false`: there were fewer.
    pub fn drain_some(&self, most: usize) -> bool {
        (0..most).all(|_| {
            let checkpoints = self.state.checkpoints.load(Ordering::Relaxed);
            assert!(checkpoints < MOST_CHECKPOINTS, "a fiber binds for ever");
            let next = self.state.steps.lock().unwrap().next();
            next.map(Task::run).is_some()
        })
    }

    /// Runs the next timer, and nothing else. `false`: there is none.
    pub fn run_timer(&self) -> bool {
        let next = self.state.steps.lock().unwrap().next_timer();
        next.map(Task::run).is_some()
    }

    /// Calls `event` once, at the `number`th checkpoint from now.
    pub fn at_checkpoint(&self, number: usize, event: impl FnOnce() + Send + 'static) {
        let at = self.state.checkpoints.load(Ordering::Relaxed) + number;
        *self.state.event.lock().unwrap() = Some((at, Box::new(event)));
    }

    pub fn now(&self) -> Instant {
        self.state.steps.lock().unwrap().now
    }

    pub fn clock_reads(&self) -> usize {
        self.state.clock_reads.load(Ordering::Relaxed)
    }

    pub fn live_fibers(&self) -> usize {
        self.state.live.load(Ordering::Relaxed)
    }

    /// Cancels the remaining fibers and runs them to their ends.
    pub fn close(&self) {
        self.root.cancel();
        while self.drain_some(1) {}
        // One that has not been called would keep the fiber of which it knows, and that this scheduler.
        *self.state.event.lock().unwrap() = None;
        assert_eq!(self.live_fibers(), 0);
    }
}

impl Scheduler for TirelessState {
    fn schedule(&self, task: Task) {
        self.steps.lock().unwrap().ready.push(task);
    }

    fn schedule_at(&self, at: Instant, task: Task) -> TimerKey {
        self.steps.lock().unwrap().set_timer(at, task)
    }

    fn cancel_timer(&self, key: TimerKey) -> bool {
        let cancelled = self.steps.lock().unwrap().take_timer(key);
        cancelled.is_some()
    }

    fn now(&self) -> Instant {
        self.clock_reads.fetch_add(1, Ordering::Relaxed);
        self.steps.lock().unwrap().now
    }

    fn utc_now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn random_u64(&self) -> u64 {
        0
    }

    fn schedule_blocking(&self, task: Task) {
        self.schedule(task);
    }

    fn budget(&self) -> u32 {
        self.budget
    }

    fn checkpoint(&self, _: &Context, _: SwitchPoint) -> Checkpoint {
        let (is_due, is_busy) = {
            let mut steps = self.steps.lock().unwrap();
            steps.now += self.tick;
            (steps.look_at_timers(), !steps.ready.is_empty())
        };
        let number = self.checkpoints.fetch_add(1, Ordering::Relaxed) + 1;
        let event = self.event.lock().unwrap().take_if(|(at, _)| *at == number);
        if let Some((_, event)) = event {
            event();
        }
        let is_long = is_busy && number.is_multiple_of(LONG_TURN);
        if is_due || is_long || number > MOST_CHECKPOINTS {
            return Checkpoint::Yield;
        }
        Checkpoint::Continue(self.budget)
    }

    fn is_observer(&self) -> bool {
        self.is_observer.load(Ordering::Relaxed)
    }

    fn observe(&self, _: &Context, event: Event<'_>) {
        match event {
            Event::Created { .. } => drop(self.live.fetch_add(1, Ordering::Relaxed)),
            Event::Ended => drop(self.live.fetch_sub(1, Ordering::Relaxed)),
            _ => {}
        }
    }
    fn unobserved(&self, failure: &Unobserved) {
        self.unobserved.lock().unwrap().push(failure.to_string());
    }
}
