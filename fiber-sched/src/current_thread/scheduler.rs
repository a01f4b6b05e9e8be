//! A queue and a list of timers, which one thread serves. What that thread schedules itself is usually in a
//! [queue of its own](super::thread).

use std::collections::VecDeque;
use std::mem;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::SystemTime;

use fiber_core::scheduler::net::Net;
use fiber_core::scheduler::{
    Checkpoint, Event, Scheduler, SwitchPoint, Task, TaskRunner, TimerKey, Unobserved,
};
use fiber_core::{Context, Instant};
use parking_lot::{Mutex, MutexGuard};

use super::thread::{OnlyThread, OwnQueue, take_back};
use crate::bed::{Alarm, Bed};
use crate::blocking::{Blocking, DEFAULT_KEEP_ALIVE, DEFAULT_MAX_THREADS};
use crate::clock::Clock;
use crate::contain::contain;
use crate::discard::{discard, discard_timer};
use crate::inside::SchedulerId;
use crate::net::Polls;
use crate::observer::Observers;
use crate::random::Random;
use crate::threads::Threads;
use crate::timer::Wheel;

/// After this many tasks, the thread reads the clock: seldom enough to cost nothing, and often enough that timers are
/// late by microseconds only.
pub(super) const CLOCK_INTERVAL: u32 = 64;

pub(crate) struct ThreadScheduler {
    id: SchedulerId,
    clock: Clock,
    random: Random,
    own: OwnQueue,
    state: Mutex<State>,
    /// Whether tasks are in the queue: what the state said when its lock was last released.
    has_ready: AtomicBool,
    /// Rings for a new task, or an earlier timer.
    alarm: Alarm,
    polls: Arc<Polls>,
    blocking: Blocking,
    threads: Arc<Threads>,
    observers: Observers,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Task>,
    timers: Wheel<Task>,
    /// The number of tasks until the thread reads the clock.
    countdown: u32,
    /// The next change has to ring.
    is_asleep: bool,
    is_stopped: bool,
}

impl ThreadScheduler {
    /// Returns the bed for the thread that runs the fibers.
    pub(super) fn new(observers: Observers) -> (Arc<Self>, Bed) {
        let id = SchedulerId::new();
        let polls = Polls::new(id, 1);
        let (bed, alarm) = Bed::new(&polls, 0);
        let threads = Threads::new(id, "fiber-current".to_owned());
        let scheduler = ThreadScheduler {
            id,
            clock: Clock::new(),
            random: Random::new(),
            own: OwnQueue::default(),
            state: Mutex::default(),
            has_ready: AtomicBool::new(false),
            alarm,
            polls,
            blocking: Blocking::new(
                threads.clone(),
                DEFAULT_MAX_THREADS,
                DEFAULT_KEEP_ALIVE,
                observers.clone(),
            ),
            threads,
            observers,
        };
        (Arc::new(scheduler), bed)
    }

    pub(super) fn id(&self) -> SchedulerId {
        self.id
    }

    pub(super) fn own(&self) -> &OwnQueue {
        &self.own
    }

    /// See [`Worker::wakes_next`](fiber_core::scheduler::Worker::wakes_next). Observers see each turn.
    pub(super) fn wakes_next(self: &Arc<Self>) -> *const () {
        if self.observers.surround_turns() { ptr::null() } else { Arc::as_ptr(self).cast() }
    }

    /// Runs tasks, and sleeps when there are none, until a task makes `is_over` true.
    pub(super) fn run_until(&self, thread: &OnlyThread<'_>, is_over: impl Fn() -> bool) {
        let mut runner = TaskRunner::on(thread);
        let mut countdown = CLOCK_INTERVAL;
        while let Some(task) = self.next(thread, &is_over) {
            contain(|| self.observers.run(task, |task| runner.run(task)));
            countdown -= 1;
            if countdown == 0 {
                countdown = CLOCK_INTERVAL;
                self.polls.look(0);
            }
        }
    }

    #[inline]
    fn next(&self, thread: &OnlyThread<'_>, is_over: impl Fn() -> bool) -> Option<Task> {
        if is_over() {
            return None;
        }
        thread.next().or_else(|| self.next_shared(thread, is_over))
    }

    fn next_shared(&self, thread: &OnlyThread<'_>, is_over: impl Fn() -> bool) -> Option<Task> {
        let mut state = self.state.lock();
        if thread.restart_countdown() {
            state.countdown = 0;
        }
        loop {
            _ = self.look_at_clock(&mut state);
            let task = thread.pop().or_else(|| state.ready.pop_front());
            self.note(&state);
            if task.is_some() {
                return task;
            }
            let first = state.timers.first().and_then(|at| self.clock.to_system(at));
            state.is_asleep = true;
            let happened = MutexGuard::unlocked(&mut state, || thread.bed().sleep(first));
            state.is_asleep = false;
            MutexGuard::unlocked(&mut state, || happened.fire());
            if is_over() {
                return None;
            }
        }
    }

    /// Queues the tasks of due timers, periodically and whenever no task is ready. `true`: events at sockets may have woken fibers before.
    fn look_at_clock(&self, state: &mut MutexGuard<'_, State>) -> bool {
        if state.countdown > 0 && !state.ready.is_empty() {
            state.countdown -= 1;
            return false;
        }
        state.countdown = CLOCK_INTERVAL;
        if state.timers.is_empty() {
            return false;
        }
        let now = self.clock.now();
        let may_be_due = state.timers.may_be_due(now);
        if may_be_due {
            MutexGuard::unlocked(state, || self.polls.catch_up(0));
        }
        let State { ready, timers, .. } = &mut **state;
        ready.extend(std::iter::from_fn(|| timers.pop_due(now)));
        may_be_due
    }

    /// Whether tasks are in the queue. Exact for the thread of the fibers as far as its own tasks are concerned.
    #[inline]
    pub(super) fn has_ready(&self) -> bool {
        // Relaxed: the queue is read under its lock.
        self.has_ready.load(Ordering::Relaxed)
    }

    /// Records whether tasks are in the queue, before the lock is released.
    fn note(&self, state: &State) {
        // Relaxed: as above.
        self.has_ready.store(!state.ready.is_empty(), Ordering::Relaxed);
    }

    /// The task that starts the fiber, if it was the last one to be queued.
    pub(super) fn take_back(&self, fiber: &Context) -> Option<Task> {
        let mut state = self.state.lock();
        let task = take_back(&mut state.ready, fiber);
        self.note(&state);
        task
    }

    /// Wakes the thread, if it sleeps.
    fn rouse(&self, mut state: MutexGuard<'_, State>) {
        let was_asleep = mem::take(&mut state.is_asleep);
        drop(state);
        if was_asleep {
            self.alarm.ring();
        }
    }

    /// Runs the cancelled fibers until their root is closed, and joins the blocking threads: all, or none if this is one of them.
    pub(super) fn shut_down(&self, thread: OnlyThread<'_>, closed: &Receiver<()>, joins: bool) {
        self.run_until(&thread, || closed.try_recv() != Err(TryRecvError::Empty));
        // From now on, nothing is scheduled here but in the shared queue, which refuses tasks when it is stopped.
        drop(thread);
        self.own.take_all().into_iter().for_each(discard);
        let State { ready, timers, .. } =
            mem::replace(&mut *self.state.lock(), State { is_stopped: true, ..State::default() });
        ready.into_iter().chain(timers).for_each(discard);
        self.polls.stop();
        self.blocking.stop();
        if joins {
            self.threads.join(None);
        }
    }
}

#[cfg(feature = "inspector")]
impl crate::source::Source for ThreadScheduler {
    fn observers(&self) -> &crate::observer::Observers {
        &self.observers
    }

    fn metrics(&self, _: usize) -> Option<crate::metrics::Metrics> {
        None
    }
}

impl Scheduler for ThreadScheduler {
    fn schedule(&self, task: Task) {
        let task = match self.has_ready() {
            true => task,
            false => match self.own.push(task) {
                Ok(()) => return,
                Err(task) => task,
            },
        };
        let mut state = self.state.lock();
        if state.is_stopped {
            drop(state);
            return discard(task);
        }
        state.ready.push_back(task);
        self.note(&state);
        self.rouse(state);
    }

    fn schedule_at(&self, at: Instant, task: Task) -> TimerKey {
        // A fiber of this thread need not wake it, but other threads may also set timers.
        let mut state = self.state.lock();
        if state.is_stopped {
            drop(state);
            discard(task);
            return Wheel::<Task>::no_timer();
        }
        let (key, look) = state.timers.insert(at, task);
        if look.is_some() {
            self.rouse(state);
        }
        key
    }

    fn cancel_timer(&self, key: TimerKey) -> bool {
        let task = self.state.lock().timers.remove(key);
        // The task is dropped without the lock, because it may hold user values.
        task.map(discard_timer).is_some()
    }

    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn utc_now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn random_u64(&self) -> u64 {
        self.random.next()
    }

    fn schedule_blocking(&self, task: Task) {
        self.blocking.schedule(task);
    }

    fn schedule_dedicated(&self, task: Task) {
        self.blocking.schedule_dedicated(task);
    }

    /// Lets the fiber continue unless another task is ready or due.
    fn checkpoint(&self, _: &Context, _: SwitchPoint) -> Checkpoint {
        let mut state = self.state.lock();
        state.countdown = 0;
        let has_looked = self.look_at_clock(&mut state);
        self.note(&state);
        if state.ready.is_empty() && !has_looked && !state.is_stopped {
            Checkpoint::Continue(self.budget())
        } else {
            Checkpoint::Yield
        }
    }

    fn is_observer(&self) -> bool {
        !self.observers.is_empty()
    }

    fn observe(&self, fiber: &Context, event: Event<'_>) {
        self.observers.event(fiber, event);
    }

    fn unobserved(&self, failure: &Unobserved) {
        self.observers.unobserved(failure);
        eprintln!("{failure}");
    }

    fn net(&self) -> Option<&dyn Net> {
        self.polls.net()
    }
}
