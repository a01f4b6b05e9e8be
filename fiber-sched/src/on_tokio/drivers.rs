//! What the tokio tasks that run fibers share: the queues of fibers, and who is woken for them.
//!
//! There are as many [drivers](super::driver) as the runtime has workers. Each has a deque, first in, first out, for what the fibers in its
//! turns queue; tasks from elsewhere go to the injector. A driver that finds nothing in either takes tasks from the deques of
//! others. If there are none, it becomes idle, and a push of a task wakes an idle driver.
//!
//! **No task is left behind.** A driver enters the list of the idle before it looks at the queues for the last time, and a
//! task is injected before its pusher looks for idle drivers. A fence stands between the two steps on both sides, so at
//! least one of them sees the other. What a turn queues in the deque of its driver needs no fence: that driver takes it itself, unless another
//! one is quicker.
//!
//! **Where a woken driver runs.** tokio keeps the task that a worker wakes last in a slot of that worker, from which no
//! other worker takes it. That is right for a tokio task that spawns a fiber and awaits it: the fiber runs next, on this
//! thread. Inside a turn of a fiber, even the wake-up of a driver is saved: this driver takes the next task itself. If the turn
//! lasts, the [lookout](super::lookout) wakes another driver.
//!
//! **Hosts.** A tokio task that hosts a fiber runs it in one of the [places](super::hosts) beside the drivers, whose numbers follow
//! those of the drivers. What the fiber queues waits for the end of the turns there, as in a turn of a driver.
//!
//! **Branches.** A fiber lends its branches in the [`BranchDeque`] of the driver that runs it. The lookout takes the oldest
//! one from a driver that has taken none back between two looks, and queues it.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, OnceLock};
use std::task::Waker;

use crossbeam_deque::{Injector, Steal, Stealer, Worker};
use crossbeam_utils::CachePadded;
use fiber_core::scheduler::{BranchDeque, BranchStealer, Task, TaskRunner};
use tokio::runtime;
use tokio::task::coop;

use super::hosts::Hosts;
use super::idle::Idle;
use super::wakes::Wakes;
use crate::contain::contain;
use crate::discard::discard;
use crate::inside::SchedulerId;
use crate::metrics::{Count, Counters, WorkerMetrics};
use crate::observer::Observers;
use crate::steal::until_clear;

/// How many turns a host runs before it yields to other tokio tasks.
const MOST_TURNS: u32 = 8;

thread_local! {
    /// The scheduler whose fiber runs on this thread, and its driver or host.
    static IN_TURN: Cell<Option<(SchedulerId, usize)>> = const { Cell::new(None) };
    /// The scheduler that gets several tasks from this thread.
    static IN_BATCH: Cell<Option<SchedulerId>> = const { Cell::new(None) };
}

/// What a driver owns, and others take from.
pub(super) struct Deques {
    /// What its turns queue.
    pub(super) tasks: Worker<Task>,
    /// What its fibers lend.
    pub(super) branches: BranchDeque,
}

impl Deques {
    pub(super) fn new() -> Self {
        Deques { tasks: Worker::new_fifo(), branches: BranchDeque::new() }
    }
}

pub(super) struct Drivers {
    id: SchedulerId,
    runtime: runtime::Handle,
    observers: Observers,
    injector: CachePadded<Injector<Task>>,
    /// What the turns of each driver have queued.
    deques: Box<[Stealer<Task>]>,
    hosts: Hosts,
    /// What the fibers of each driver and host lend.
    lent: Box<[BranchStealer]>,
    /// The hosts that are woken there.
    wakes: Box<[CachePadded<Wakes>]>,
    /// One for each driver, set when it is first polled.
    wakers: Box<[OnceLock<Waker>]>,
    idle: Idle,
    /// How many tasks of `stir` have not ended.
    stirring: AtomicUsize,
    is_stopped: AtomicBool,
    /// How many drivers have not ended.
    live: AtomicUsize,
    /// What each driver and host has done.
    counters: Box<[CachePadded<Counters>]>,
}

impl Drivers {
    /// With what each driver owns.
    pub(super) fn new(runtime: &runtime::Handle, observers: Observers) -> (Arc<Self>, Vec<Deques>) {
        let count = runtime.metrics().num_workers();
        let own: Vec<_> = (0..count).map(|_| Deques::new()).collect();
        let hosts = Hosts::new(count);
        let lent: Box<[_]> = own.iter().map(|own| own.branches.stealer()).chain(hosts.stealers()).collect();
        // While a driver is busy, there is a lookout, or there is no thread that could take branches.
        lent.iter().for_each(|lent| lent.set_watched(true));
        let drivers = Arc::new(Drivers {
            id: SchedulerId::new(),
            runtime: runtime.clone(),
            observers,
            injector: CachePadded::new(Injector::new()),
            deques: own.iter().map(|own| own.tasks.stealer()).collect(),
            counters: lent.iter().map(|_| CachePadded::default()).collect(),
            wakes: lent.iter().map(|_| CachePadded::default()).collect(),
            hosts,
            lent,
            wakers: (0..count).map(|_| OnceLock::new()).collect(),
            idle: Idle::new(count),
            stirring: AtomicUsize::new(0),
            is_stopped: AtomicBool::new(false),
            live: AtomicUsize::new(count),
        });
        (drivers, own)
    }

    /// Queues a task from outside of the drivers, and ensures that a driver takes it.
    pub(super) fn push(&self, task: Task) {
        let turn = IN_TURN.get();
        // What comes next on this thread can wait for the end of this turn, unless that lasts: see the lookout.
        let can_wait = turn.is_some_and(|(id, index)| id == self.id && self.is_helped(index))
            && self.injector.is_empty();
        self.injector.push(task);
        if IN_BATCH.get() == Some(self.id) {
            return;
        }
        self.was_pushed(can_wait, turn.is_some());
    }

    /// Queues the tasks that `push` pushes, and wakes one driver for all of them. It wakes others when it begins.
    pub(super) fn push_all(&self, push: impl FnOnce()) {
        let outer = IN_BATCH.replace(Some(self.id));
        contain(push);
        IN_BATCH.set(outer);
        if self.has_tasks() {
            self.was_pushed(false, false);
        }
    }

    /// Whether a turn that lasts keeps nothing from an idle driver. Without a lookout, there is one driver, and hosts on other threads.
    fn is_helped(&self, index: usize) -> bool {
        self.has_lookout() || index < self.count()
    }

    fn was_pushed(&self, can_wait: bool, elsewhere: bool) {
        // SeqCst: see the module. Either the driver that falls asleep sees the task, or this thread sees the driver; and either
        // `stop` sees the task, or this thread sees that the drivers have stopped.
        fence(Ordering::SeqCst);
        if !can_wait {
            self.wake_one(elsewhere);
        }
        if self.is_stopped() {
            self.discard();
        }
    }

    /// Wakes an idle driver. `elsewhere`: on another thread, because this one is in a turn. `false`: none is idle.
    pub(super) fn wake_one(&self, elsewhere: bool) -> bool {
        if !self.idle.has_any() {
            return false;
        }
        let Some(index) = self.idle.take() else { return false };
        self.wake(index);
        if elsewhere {
            self.clear_slot();
        }
        true
    }

    /// Makes tokio search for a driver that was woken, and waits in the queue of a worker that computes while another one sleeps
    /// ([tokio#6847](https://github.com/tokio-rs/tokio/issues/6847)). Another task wakes a worker, which searches.
    ///
    /// That task runs what no driver takes: if all are in turns that have left their workers to other threads, by tokio's
    /// `block_in_place`, there are idle workers and no idle drivers.
    ///
    /// At most as many of these tasks wait as there are workers, so they do not pile up while all workers compute.
    pub(super) fn stir(self: &Arc<Self>) {
        // Relaxed, here and below: only the lookout stirs, and if it sees a task that has just ended, it stirs at its next look.
        if self.stirring.load(Ordering::Relaxed) < self.count() {
            self.stirring.fetch_add(1, Ordering::Relaxed);
            let drivers = self.clone();
            drop(self.runtime.spawn(async move {
                drivers.host(&mut || drivers.pop());
                drivers.stirring.fetch_sub(1, Ordering::Relaxed);
            }));
        }
    }

    /// Lets other workers, if there are any, take what was woken last on this one: an empty task takes the slot for the task that is next.
    fn clear_slot(&self) {
        if self.has_lookout() {
            drop(self.runtime.spawn(async {}));
        }
    }

    /// Called when the timekeeper was woken on this thread. A task that hosts the fiber may block the thread until the timer is due.
    pub(super) fn keeper_was_woken(&self) {
        if IN_TURN.get().is_some_and(|(id, index)| id == self.id && index >= self.count()) {
            self.clear_slot();
        }
    }

    pub(super) fn wake(&self, index: usize) {
        if let Some(waker) = self.wakers[index].get() {
            waker.wake_by_ref();
        }
    }

    /// A task that any driver may take.
    fn pop(&self) -> Option<Task> {
        self.take_injected().or_else(|| self.take_queued(Stealer::steal))
    }

    /// The same, for a driver that then has some of the tasks which another one has queued.
    pub(super) fn pop_or_steal(&self, own: &Worker<Task>) -> Option<Task> {
        self.take_injected().or_else(|| self.take_queued(|deque| deque.steal_batch_and_pop(own)))
    }

    /// A task from elsewhere.
    pub(super) fn take_injected(&self) -> Option<Task> {
        // The queue itself would issue a fence to find out.
        if self.injector.is_empty() {
            return None;
        }
        until_clear(|| self.injector.steal())
    }

    /// A task that a turn of some driver has queued.
    fn take_queued(&self, mut take: impl FnMut(&Stealer<Task>) -> Steal<Task>) -> Option<Task> {
        let mut queued = self.deques.iter().filter(|deque| !deque.is_empty());
        queued.find_map(|deque| until_clear(|| take(deque)))
    }

    /// A poll of a driver begins. `was_idle`: the last one has ended for want of tasks.
    pub(super) fn begin_poll(&self, index: usize, waker: &Waker, was_idle: bool) {
        self.wakers[index].get_or_init(|| waker.clone());
        if was_idle {
            self.counters[index].add(Count::WakeUp);
            // A wake-up that is not for a task has not taken it out of the list.
            self.idle.leave(index);
        }
    }

    /// A driver has ended. `true`: it was the last one.
    pub(super) fn leave(&self) -> bool {
        // AcqRel: the last one sees what the others did.
        self.live.fetch_sub(1, Ordering::AcqRel) == 1
    }

    pub(super) fn turn(&self, index: usize, task: Task, runner: &mut TaskRunner<'_>) {
        // Also for the lookout, as a sign of life.
        self.counters[index].add_turn(&task);
        let outer = IN_TURN.replace(Some((self.id, index)));
        contain(|| self.observers.run(task, |task| runner.run(task)));
        IN_TURN.set(outer);
        self.wakes[index].wake_all();
    }

    /// Runs tasks of a fiber that the tokio task on this thread hosts. `false`: it has run none.
    pub(super) fn host(&self, next: &mut dyn FnMut() -> Option<Task>) -> bool {
        let Some((index, host)) = self.hosts.enter().filter(|_| !self.is_stopped()) else { return false };
        let index = self.count() + index;
        self.idle.begin_hosting();
        // On a thread without the runtime, or in a task of another one, the fiber's futures would not find it.
        let _inside = self.runtime.enter();
        let mut runner = TaskRunner::on(&host);
        for _ in 0..MOST_TURNS {
            let Some(task) = next() else { break };
            self.turn(index, task, &mut runner);
            if !coop::has_budget_remaining() {
                break;
            }
        }
        if self.has_tasks() {
            self.wake_one(IN_TURN.get().is_some());
        }
        true
    }

    /// Wakes a task that hosts a fiber, soon if this is a turn.
    pub(super) fn wake_host(&self, waker: Waker) {
        match IN_TURN.get() {
            Some((id, index)) if id == self.id && self.has_lookout() => self.wakes[index].add(waker),
            _ => waker.wake(),
        }
    }

    /// What the drivers have done, and the hosts.
    pub(super) fn metrics(&self) -> (Vec<WorkerMetrics>, Vec<WorkerMetrics>) {
        let (drivers, hosts) = self.counters.split_at(self.count());
        let queued = self.deques.iter().map(Stealer::len);
        let drivers =
            drivers.iter().zip(queued).map(|(counters, queued)| WorkerMetrics::new(counters, queued));
        (drivers.collect(), hosts.iter().map(|counters| WorkerMetrics::new(counters, 0)).collect())
    }

    pub(super) fn count(&self) -> usize {
        self.wakers.len()
    }

    /// Whether a lookout helps what waits for a turn that lasts: there are several drivers.
    pub(super) fn has_lookout(&self) -> bool {
        self.count() > 1
    }

    pub(super) fn idle(&self) -> &Idle {
        &self.idle
    }

    pub(super) fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// What the fibers of each driver and host lend.
    pub(super) fn lent(&self) -> &[BranchStealer] {
        &self.lent
    }

    /// The hosts that the fibers of a driver or host have woken in this turn.
    pub(super) fn wakes(&self, index: usize) -> &Wakes {
        &self.wakes[index]
    }

    /// How many turns a driver or host has begun.
    pub(super) fn turns(&self, index: usize) -> u64 {
        self.counters[index].turns()
    }

    /// Whether tasks wait for a driver.
    pub(super) fn has_tasks(&self) -> bool {
        self.has_injected() || self.deques.iter().any(|deque| !deque.is_empty())
    }

    pub(super) fn has_injected(&self) -> bool {
        !self.injector.is_empty()
    }

    /// Tasks from elsewhere that wait for a driver.
    pub(super) fn injected(&self) -> usize {
        self.injector.len()
    }

    pub(super) fn is_stopped(&self) -> bool {
        // Acquire: pairs with the Release of `stop`.
        self.is_stopped.load(Ordering::Acquire)
    }

    /// The drivers take no more tasks. Those that come later are dropped by the threads that push them.
    pub(super) fn run_no_more(&self) {
        // Release: pairs with the Acquire of `is_stopped`.
        self.is_stopped.store(true, Ordering::Release);
        // SeqCst: pairs with the fence of `push`.
        fence(Ordering::SeqCst);
    }

    /// Drops the tasks that are left, and lets the drivers and the lookout end. Later tasks are dropped by the threads that push
    /// them.
    pub(super) fn stop(&self) {
        self.run_no_more();
        self.discard();
        (0..self.count()).for_each(|driver| self.wake(driver));
        self.idle.end();
    }

    fn discard(&self) {
        while let Some(task) = self.pop() {
            discard(task);
        }
    }
}
