//! The tokio tasks that run fibers, and the queue from which they take them.
//!
//! There are as many drivers as the runtime has workers. All take tasks from one queue, first in, first out. A driver that
//! finds the queue empty becomes idle, and a push of a task wakes an idle driver.
//!
//! **No task is left behind.** A driver enters the list of the idle before it looks at the queue for the last time, and a
//! task is queued before its pusher looks for idle drivers. A fence stands between the two steps on both sides, so at
//! least one of them sees the other.
//!
//! **Where a woken driver runs.** tokio keeps the task that a worker wakes last in a slot of that worker, from which no
//! other worker takes it. That is right for a tokio task that spawns a fiber and awaits it: the fiber runs next, on this
//! thread. Inside a turn of a fiber, even the wake-up of a driver is saved: this driver takes the next task itself.
//!
//! **The lookout.** That may take long, if the turn computes. When a fiber starts another one while a driver is idle, a
//! thread of the runtime for blocking calls therefore begins to look after the drivers, every [`NAP`]. If tasks wait, and
//! no driver has begun a turn since the last look, it wakes an idle one. It ends when no fiber starts others any more. It
//! cannot be a tokio task: a runtime whose workers all compute or sleep fires no timers.
//!
//! **Branches.** A fiber lends its branches in the [`BranchDeque`] of the driver that runs it. The lookout takes the oldest
//! one from a driver that has taken none back between two looks, and queues it.

use std::cell::Cell;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, OnceLock};
use std::task::{self, Poll, Waker};
use std::thread;
use std::time::Duration;

use crossbeam_deque::Injector;
use crossbeam_utils::CachePadded;
use fiber_core::{BranchDeque, BranchStealer, Progress, Task, TaskKind, TaskRunner, Worker};
use parking_lot::Mutex;
use tokio::runtime;
use tokio::task::coop;

use super::timekeeper::Timekeeper;
use crate::contain::contain;
use crate::discard::discard;
use crate::inside::SchedulerId;
use crate::metrics::{Count, Counters, WorkerMetrics};
use crate::observer::Observers;
use crate::steal::until_clear;

/// How many turns of fibers a driver runs before it yields to other tokio tasks. A runtime looks at its sockets after 61
/// tasks, so this number should be small; a yield costs some 50 ns, so it need not be 1.
const MOST_TURNS: u32 = 8;

/// The pause between two looks: seldom enough to cost next to nothing, and often enough that fibers that could run in
/// parallel soon do.
const NAP: Duration = Duration::from_millis(1);

thread_local! {
    /// The scheduler whose fiber runs on this thread, inside of a driver.
    static IN_TURN: Cell<Option<SchedulerId>> = const { Cell::new(None) };
}

pub(super) struct Drivers {
    id: SchedulerId,
    runtime: runtime::Handle,
    observers: Observers,
    queue: CachePadded<Injector<Task>>,
    /// What the fibers of each driver lend.
    lent: Box<[BranchStealer]>,
    /// One for each driver, set when it is first polled.
    wakers: Box<[OnceLock<Waker>]>,
    /// How many drivers are idle: the length of the list.
    idle_count: AtomicUsize,
    idle: Mutex<Vec<usize>>,
    is_stopped: AtomicBool,
    /// How many drivers have not ended.
    live: AtomicUsize,
    /// What each driver has done.
    counters: Box<[CachePadded<Counters>]>,
    /// Whether there is a lookout.
    is_watched: AtomicBool,
    /// Whether a fiber has started another one, or lent a branch, since the last look.
    has_started: AtomicBool,
}

impl Drivers {
    /// With the deques for [`start`](Drivers::start).
    pub(super) fn new(runtime: &runtime::Handle, observers: Observers) -> (Arc<Self>, Vec<BranchDeque>) {
        let count = runtime.metrics().num_workers();
        let branches: Vec<_> = (0..count).map(|_| BranchDeque::new()).collect();
        let drivers = Arc::new(Drivers {
            id: SchedulerId::new(),
            runtime: runtime.clone(),
            observers,
            queue: CachePadded::new(Injector::new()),
            lent: branches.iter().map(BranchDeque::stealer).collect(),
            wakers: (0..count).map(|_| OnceLock::new()).collect(),
            idle_count: AtomicUsize::new(0),
            idle: Mutex::default(),
            is_stopped: AtomicBool::new(false),
            live: AtomicUsize::new(count),
            counters: (0..count).map(|_| CachePadded::default()).collect(),
            is_watched: AtomicBool::new(false),
            has_started: AtomicBool::new(false),
        });
        (drivers, branches)
    }

    pub(super) fn start(self: &Arc<Self>, timekeeper: &Arc<Timekeeper>, branches: Vec<BranchDeque>) {
        for (index, branches) in branches.into_iter().enumerate() {
            let (drivers, timekeeper) = (self.clone(), timekeeper.clone());
            self.runtime.spawn(Driver { drivers, timekeeper, branches, index, is_idle: Cell::new(false) });
        }
    }

    /// Queues a task, and ensures that a driver takes it.
    pub(super) fn push(self: &Arc<Self>, task: Task) {
        let is_in_turn = IN_TURN.get() == Some(self.id);
        // What comes next on this thread can wait for the end of this turn.
        let can_wait = is_in_turn && self.queue.is_empty();
        let starts = task.kind() == TaskKind::Start;
        self.queue.push(task);
        // SeqCst: see the module. Either the driver that falls asleep sees the task, or this thread sees the driver; and either
        // `stop` sees the task, or this thread sees that the drivers have stopped.
        fence(Ordering::SeqCst);
        match (can_wait, starts) {
            (false, _) => self.wake_one(is_in_turn),
            (true, true) if self.has_idle() => self.call_lookout(),
            (true, _) => {}
        }
        if self.is_stopped() {
            self.discard();
        }
    }

    /// Wakes an idle driver, if there is one. `elsewhere`: on another thread.
    fn wake_one(&self, elsewhere: bool) {
        if !self.has_idle() {
            return;
        }
        let Some(index) = self.take_idle() else { return };
        self.wake(index);
        if elsewhere {
            self.clear_slot();
        }
    }

    /// Lets other workers take what was woken last on this one: an empty task takes the slot for the task that is next.
    fn clear_slot(&self) {
        drop(self.runtime.spawn(async {}));
    }

    /// Ensures that a lookout watches the drivers.
    fn call_lookout(self: &Arc<Self>) {
        // Relaxed, here and below: the fence before orders it. At worst, the lookout stays for another nap.
        self.has_started.store(true, Ordering::Relaxed);
        if !self.is_watched.load(Ordering::Relaxed) && !self.is_watched.swap(true, Ordering::Relaxed) {
            let this = self.clone();
            // Without a thread, it works as tokio does: the tasks wait for the end of the turn.
            contain(|| drop(self.runtime.spawn_blocking(move || this.look_after())));
        }
    }

    fn has_idle(&self) -> bool {
        // Relaxed: the fence before orders it.
        self.idle_count.load(Ordering::Relaxed) > 0
    }

    /// The main function of the lookout.
    fn look_after(self: &Arc<Self>) {
        let mut turns_seen = 0;
        let mut branches_seen: Box<[Option<Progress>]> = self.lent.iter().map(|_| None).collect();
        while !self.is_stopped() {
            thread::sleep(NAP);
            let turns = self.counters.iter().map(|counters| counters.turns()).sum();
            let has_progress = mem::replace(&mut turns_seen, turns) != turns;
            self.take_overdue_branches(&mut branches_seen);
            if !self.queue.is_empty() {
                if !has_progress {
                    self.wake_one(false);
                }
            } else if !self.has_started.swap(false, Ordering::Relaxed)
                && branches_seen.iter().all(Option::is_none)
                && self.leave()
            {
                return;
            }
        }
    }

    /// Queues the branches of drivers that have taken none back since the last look.
    fn take_overdue_branches(self: &Arc<Self>, seen: &mut [Option<Progress>]) {
        for (lent, seen) in self.lent.iter().zip(seen) {
            let before = mem::replace(seen, lent.progress());
            if seen.is_some() && *seen == before {
                lent.steal().into_iter().for_each(|task| self.push(task));
            }
        }
    }

    /// `false`: the lookout has to stay.
    fn leave(&self) -> bool {
        self.lent.iter().for_each(|lent| lent.set_watched(false));
        self.is_watched.store(false, Ordering::Relaxed);
        // SeqCst: pairs with the fence of `push`. Either that thread calls a lookout, or this one sees the task.
        fence(Ordering::SeqCst);
        // Another thread may have called one meanwhile, which then stays in place of this one.
        self.queue.is_empty() || self.is_watched.swap(true, Ordering::Relaxed)
    }

    fn take_idle(&self) -> Option<usize> {
        let mut idle = self.idle.lock();
        let index = idle.pop();
        self.note_idle(idle.len());
        index
    }

    /// With the lock held.
    fn note_idle(&self, count: usize) {
        // Relaxed: the fence after it, or the lock, orders it.
        self.idle_count.store(count, Ordering::Relaxed);
    }

    fn wake(&self, index: usize) {
        if let Some(waker) = self.wakers[index].get() {
            waker.wake_by_ref();
        }
    }

    fn set_idle(&self, driver: usize, is_idle: bool) {
        let mut idle = self.idle.lock();
        idle.retain(|index| *index != driver);
        if is_idle {
            idle.push(driver);
        }
        self.note_idle(idle.len());
    }

    fn pop(&self) -> Option<Task> {
        until_clear(|| self.queue.steal())
    }

    fn run(&self, driver: usize, task: Task, runner: &mut TaskRunner<'_>) {
        // For the lookout, a sign of life.
        self.counters[driver].add_turn(&task);
        if !self.queue.is_empty() {
            self.wake_one(true);
        }
        let outer = IN_TURN.replace(Some(self.id));
        contain(|| self.observers.run(task, |task| runner.run(task)));
        IN_TURN.set(outer);
    }

    /// What the drivers have done.
    pub(super) fn metrics(&self) -> Vec<WorkerMetrics> {
        self.counters.iter().map(|counters| WorkerMetrics::new(counters, 0)).collect()
    }

    /// Tasks that wait for a driver.
    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    fn is_stopped(&self) -> bool {
        // Acquire: pairs with the Release of `stop`.
        self.is_stopped.load(Ordering::Acquire)
    }

    /// Drops the tasks that are left, and lets the drivers end. Later tasks are dropped by the threads that push them.
    pub(super) fn stop(&self) {
        // Release: pairs with the Acquire of `is_stopped`.
        self.is_stopped.store(true, Ordering::Release);
        // SeqCst: pairs with the fence of `push`.
        fence(Ordering::SeqCst);
        self.discard();
        (0..self.wakers.len()).for_each(|driver| self.wake(driver));
    }

    fn discard(&self) {
        while let Some(task) = self.pop() {
            discard(task);
        }
    }
}

/// A tokio task that runs fibers.
struct Driver {
    drivers: Arc<Drivers>,
    timekeeper: Arc<Timekeeper>,
    branches: BranchDeque,
    index: usize,
    /// Whether the last poll has ended for want of tasks.
    is_idle: Cell<bool>,
}

impl Future for Driver {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        let was_idle = self.is_idle.take();
        let drivers = &*self.drivers;
        drivers.wakers[self.index].get_or_init(|| cx.waker().clone());
        if was_idle {
            drivers.counters[self.index].add(Count::WakeUp);
        }
        // A wake-up of the first poll, or of the end, has not taken it out of the list.
        drivers.set_idle(self.index, false);
        let mut runner = TaskRunner::on(&*self);
        for _ in 0..MOST_TURNS {
            if drivers.is_stopped() {
                return Poll::Ready(());
            }
            let Some(task) = drivers.pop().or_else(|| self.fall_idle()) else {
                self.is_idle.set(true);
                return Poll::Pending;
            };
            // A fiber that has yielded before is a long one.
            let is_long = task.kind() == TaskKind::Continue;
            drivers.run(self.index, task, &mut runner);
            // Without a budget, tokio would only tell the futures of the next fibers to yield.
            if is_long || !coop::has_budget_remaining() {
                break;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// What its fibers see of it.
impl Worker for Driver {
    fn branches(&self) -> Option<&BranchDeque> {
        Some(&self.branches)
    }

    fn lent(&self) {
        // A driver that is not idle now may be so before this branch ends. If there is no other driver, no thread takes branches.
        if self.drivers.lent.len() > 1 {
            self.drivers.call_lookout();
        }
        self.drivers.lent[self.index].set_watched(true);
    }
}

impl Driver {
    /// Enters the list of idle drivers, unless a task has come.
    fn fall_idle(&self) -> Option<Task> {
        self.drivers.set_idle(self.index, true);
        // SeqCst: pairs with the fences of `push` and `stop`, as the module says.
        fence(Ordering::SeqCst);
        if self.drivers.is_stopped() {
            self.drivers.wake(self.index);
        }
        let task = self.drivers.pop()?;
        self.drivers.set_idle(self.index, false);
        Some(task)
    }
}

impl Drop for Driver {
    /// The last driver is dropped when it has ended, or when the runtime drops its tasks.
    fn drop(&mut self) {
        // AcqRel: the last one sees what the others did.
        if self.drivers.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.timekeeper.stop();
            self.drivers.stop();
        }
    }
}
