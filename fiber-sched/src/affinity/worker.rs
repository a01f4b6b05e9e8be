//! The workers: each is a thread with its own queue and timers, from which no other worker takes.
//!
//! Tasks run in the order in which they were queued. Those from other threads come through the [`Inbox`], and are moved
//! to the end of the queue all at once.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crossbeam_deque::{Stealer, Worker as Deque};
use crossbeam_utils::CachePadded;
use fiber_core::Instant;
use fiber_core::scheduler::{Checkpoint, Task, TaskRunner, TimerKey};

use super::inbox::Inbox;
use crate::bed::{Alarm, Bed};
use crate::clock::Clock;
use crate::contain::contain;
use crate::cores::Cores;
use crate::direct::{OfWorker, Supply};
use crate::discard::discard;
use crate::inside::SchedulerId;
use crate::local::OfThread;
use crate::metrics::{Count, Counters, Latency, WorkerMetrics};
use crate::net::Polls;
use crate::observer::Observers;
use crate::patience::Patience;
use crate::steal;
use crate::timer::Timers;

/// After this many tasks, a worker checks its inbox and the clock: seldom enough to cost nothing, and often
/// enough that timers and tasks from other threads wait for microseconds only.
const LOOK_INTERVAL: u32 = 64;

thread_local! {
    /// The worker of this thread, if it is a worker thread.
    static LOCAL: OnceCell<OfThread<Local>> = const { OnceCell::new() };
}

/// The workers as other threads see them.
pub(super) struct Workers {
    seats: Box<[CachePadded<Seat>]>,
    timers: Timers,
    polls: Arc<Polls>,
    observers: Observers,
    clock: Clock,
    /// The worker that gets the next fiber that has no place.
    next: AtomicUsize,
    is_stopped: AtomicBool,
}

struct Seat {
    inbox: Inbox<Task>,
    /// The other end of the worker's queue, for the stop and for reports.
    queue: Stealer<Task>,
    /// On other cache lines than the inbox, where other threads write.
    counters: CachePadded<Counters>,
}

/// The thread-local state of a worker.
pub(super) struct Local {
    index: usize,
    queue: Deque<Task>,
    /// Empty, except while tasks move from the inbox to the queue.
    batch: RefCell<VecDeque<Task>>,
    /// The number of tasks until the worker checks its inbox.
    countdown: Cell<u32>,
    latency: Latency,
}

/// Calls `f` with the state of the current thread as a worker of `pool`, or with `None`.
pub(super) fn with_local<T>(pool: SchedulerId, f: impl FnOnce(Option<&Local>) -> T) -> T {
    OfThread::with(&LOCAL, pool, f)
}

impl Local {
    pub(super) fn new(index: usize) -> Self {
        Local {
            index,
            queue: Deque::new_fifo(),
            batch: RefCell::default(),
            countdown: Cell::new(0),
            latency: Latency::default(),
        }
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    #[inline]
    fn push(&self, task: Task, workers: &Workers) {
        self.queue.push(task);
        self.latency.pushed(&self.queue, &workers.clock);
    }

    /// Queues the tasks of due timers, and those from other threads.
    fn look(&self, workers: &Workers) {
        self.countdown.set(LOOK_INTERVAL);
        let first = workers.timers.first_of(self.index);
        if first < Instant::FAR_FUTURE {
            let now = workers.now();
            if first <= now {
                workers.polls.catch_up(self.index);
                workers.timers.fire_of(self.index, now, |task| self.push(task, workers));
            }
        }
        let inbox = &workers.seat(self).inbox;
        if inbox.has_any() {
            let mut batch = self.batch.borrow_mut();
            inbox.take(&mut batch);
            batch.drain(..).for_each(|task| self.push(task, workers));
        }
    }

    /// The next task that is queued here.
    #[inline]
    fn next(&self, workers: &Workers) -> Option<Task> {
        match self.countdown.get() {
            0 => {
                workers.polls.look(self.index);
                self.look(workers);
            }
            left => self.countdown.set(left - 1),
        }
        self.pop(workers)
    }

    #[inline]
    fn pop(&self, workers: &Workers) -> Option<Task> {
        let task = self.queue.pop();
        self.latency.popped(task.is_some(), &workers.seat(self).counters, &workers.clock);
        task
    }
}

impl Workers {
    pub(super) fn new(locals: &[Local], alarms: Vec<Alarm>, polls: Arc<Polls>, observers: Observers) -> Self {
        let seat = |(local, alarm): (&Local, Alarm)| Seat {
            inbox: Inbox::new(alarm),
            queue: local.queue.stealer(),
            counters: CachePadded::default(),
        };
        Workers {
            seats: locals.iter().zip(alarms).map(seat).map(CachePadded::new).collect(),
            timers: Timers::new(locals.len()),
            polls,
            observers,
            clock: Clock::new(),
            next: AtomicUsize::new(0),
            is_stopped: AtomicBool::new(false),
        }
    }

    pub(super) fn observers(&self) -> &Observers {
        &self.observers
    }

    pub(super) fn count(&self) -> usize {
        self.seats.len()
    }

    fn seat(&self, local: &Local) -> &Seat {
        &self.seats[local.index]
    }

    /// The work that each worker has done, and the tasks that wait for it.
    pub(super) fn metrics(&self) -> Vec<WorkerMetrics> {
        let queued = |seat: &Seat| seat.inbox.len() + seat.queue.len();
        self.seats.iter().map(|seat| WorkerMetrics::new(&seat.counters, queued(seat))).collect()
    }

    /// The number of timers.
    pub(super) fn timers(&self) -> usize {
        self.timers.len()
    }

    pub(super) fn polls(&self) -> &Polls {
        &self.polls
    }

    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }

    fn is_stopped(&self) -> bool {
        // Relaxed: a sleeping worker learns of the stop through its inbox, which orders it; a busy one sees it soon.
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// The tag of the fibers of a worker. A fiber whose tag is 0 has no place yet.
    pub(super) fn tag(worker: usize) -> u64 {
        worker as u64 + 1
    }

    /// The worker that a task belongs to. A fiber without a place gets that of the fiber that creates it, or the next one.
    fn place(&self, task: &Task, local: Option<&Local>) -> usize {
        let Some(fiber) = task.context() else { return local.map_or(0, Local::index) };
        if let Some(worker) = fiber.tag().checked_sub(1) {
            return worker as usize % self.count();
        }
        // Relaxed: no other data depends on the counter.
        let next = || self.next.fetch_add(1, Ordering::Relaxed) % self.count();
        let worker = local.map_or_else(next, Local::index);
        fiber.set_tag(Self::tag(worker));
        worker
    }

    /// Queues a task for its worker.
    #[inline]
    pub(super) fn push(&self, task: Task, local: Option<&Local>) {
        let worker = self.place(&task, local);
        self.push_to(worker, task, local);
    }

    /// Queues a task for this worker.
    #[inline]
    pub(super) fn push_to(&self, worker: usize, task: Task, local: Option<&Local>) {
        match local.filter(|local| local.index == worker) {
            Some(local) => local.push(task, self),
            None => _ = self.seats[worker].inbox.push(task).map_err(discard),
        }
    }

    /// Sets a timer on the worker of its task.
    pub(super) fn insert_timer(&self, at: Instant, task: Task, local: Option<&Local>) -> TimerKey {
        let worker = self.place(&task, local);
        let inserted = self.timers.insert(worker, at, task);
        if inserted.look.is_some() && local.is_none_or(|local| local.index != worker) {
            self.seats[worker].inbox.rouse();
        }
        inserted.key
    }

    pub(super) fn remove_timer(&self, key: TimerKey) -> bool {
        self.timers.remove(key)
    }

    /// Lets the fiber continue unless a task waits for its worker, or the fiber is on another thread.
    pub(super) fn checkpoint(&self, local: Option<&Local>, budget: u32) -> Checkpoint {
        let Some(local) = local else { return Checkpoint::Yield };
        local.look(self);
        let is_wanted = !local.queue.is_empty();
        if is_wanted {
            self.seat(local).counters.add(Count::CutBySteps);
        }
        if is_wanted || self.is_stopped() { Checkpoint::Yield } else { Checkpoint::Continue(budget) }
    }

    /// After this, no task begins.
    pub(super) fn stop(&self) {
        // Relaxed: the inboxes order it before what their workers see next.
        self.is_stopped.store(true, Ordering::Relaxed);
        for seat in &self.seats {
            seat.inbox.stop().into_iter().for_each(discard);
        }
        self.timers.stop();
        self.polls.stop();
        // The workers also drop the tasks that are queued later, but a worker may be busy for a long time.
        for seat in &self.seats {
            steal::all(|| seat.queue.steal()).for_each(discard);
        }
    }
}

/// The worker's thread.
pub(super) struct Worker {
    pub(super) pool: SchedulerId,
    pub(super) workers: Arc<Workers>,
    pub(super) bed: Bed,
    /// `None`: the thread is not pinned.
    pub(super) cores: Option<Cores>,
    pub(super) supply: Supply,
}

impl Worker {
    /// Runs tasks until the pool stops.
    pub(super) fn work(self, local: Local) {
        Bed::be_punctual();
        self.workers.polls.settle(local.index);
        self.cores.inspect(|cores| cores.pin(local.index));
        OfThread::serve(&LOCAL, self.pool, local, |local| {
            let stacks = self.stacks(local.index);
            let thread = super::thread::AffinityThread::new(&self.workers, local, &stacks);
            let mut runner = TaskRunner::on(&thread);
            let counters = &self.workers.seat(local).counters;
            while !self.workers.is_stopped() {
                // A task does not unwind. If one ever does, the thread must survive.
                contain(|| {
                    while let Some(task) = self.next(local) {
                        counters.add_turn(&task);
                        self.workers.observers.run(task, |task| runner.run(task));
                    }
                });
            }
            stacks.close();
            iter::from_fn(|| local.queue.pop()).for_each(discard);
        });
    }

    /// The stacks for direct fibers on this thread.
    fn stacks(&self, index: usize) -> OfWorker {
        let (pool, workers) = (self.pool, self.workers.clone());
        OfWorker::new(self.supply.clone(), move |task| {
            with_local(pool, |local| workers.push_to(index, task, local));
        })
    }

    /// The next task. `None`: the pool has stopped.
    #[inline]
    fn next(&self, local: &Local) -> Option<Task> {
        if self.workers.is_stopped() {
            return None;
        }
        local.next(&self.workers).or_else(|| self.search_or_sleep(local))
    }

    /// Waits for a task. `None`: the pool has stopped.
    #[cold]
    fn search_or_sleep(&self, local: &Local) -> Option<Task> {
        let workers = &*self.workers;
        let Seat { inbox, counters, .. } = workers.seat(local);
        counters.add(Count::Search);
        while !workers.is_stopped() {
            self.look_out(local);
            local.look(workers);
            let task = local.pop(workers);
            if task.is_some() {
                return task;
            }
            if inbox.fall_asleep() {
                // After `fall_asleep`, so that a timer from another thread is seen, or rings.
                let first = workers.timers.first_of(local.index);
                let happened = self.bed.sleep(workers.clock.to_system(first));
                inbox.get_up();
                happened.fire();
                counters.add(Count::WakeUp);
            }
        }
        None
    }

    /// Spins for a while, for a task from another thread or a timer. A worker with sockets does not: it would neglect them.
    fn look_out(&self, local: &Local) {
        let (workers, mut patience) = (&*self.workers, Patience::default());
        if workers.polls.are_used(local.index) {
            return;
        }
        while !workers.seat(local).inbox.has_any() {
            let now = workers.now();
            if workers.timers.first_of(local.index) <= now || !patience.pause(now) {
                break;
            }
        }
    }
}
