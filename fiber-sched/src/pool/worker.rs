//! Workers: threads with their own deques, which run tasks until the pool stops.

use std::cell::{Cell, OnceCell};
use std::hint::spin_loop;
use std::iter;
use std::sync::Arc;
use std::thread::yield_now;
use std::time::{Duration, Instant};

use crossbeam_deque::Worker as Deque;
use crossbeam_utils::sync::Parker;
use fiber_core::{BranchDeque, Task};

use super::lent::Seen;
use super::queue::Queues;
use super::thread::PoolThread;
use crate::contain::contain;
use crate::discard::discard;
use crate::inside::SchedulerId;

/// After this many tasks of its own, a worker polls the injector, so that endless work in the deques does not starve
/// tasks from outside. The number is small enough that such tasks wait for microseconds only, and a prime, as in Go's
/// scheduler, so that it does not fall into step with a program's own rhythm.
const INJECTOR_INTERVAL: u32 = 61;

/// How long a worker searches before it sleeps: about the cost of a wake-up, so that a futile search at most doubles
/// that cost.
const SEARCH_TIME: Duration = Duration::from_micros(30);

/// How long the watch sleeps between two searches. Fibers that lend for a millisecond usually do so for longer, so the
/// first nap is short. The longest one costs the watch 2 % of its core at most, and a computation that takes seconds
/// hardly any time.
const SHORTEST_NAP: Duration = Duration::from_micros(100);
const LONGEST_NAP: Duration = Duration::from_millis(2);

/// Pauses between two looks at the queues: some hundred nanoseconds, which leave the cache lines to the busy workers.
const PAUSES: u32 = 16;

thread_local! {
    /// The worker of this thread, if it is one.
    static LOCAL: OnceCell<Local> = const { OnceCell::new() };
}

/// The thread-local state of a worker.
pub(super) struct Local {
    pool: SchedulerId,
    index: usize,
    deque: Deque<Task>,
    /// Tasks until it polls the injector.
    countdown: Cell<u32>,
}

/// Calls `f` with the state of the current thread as a worker of `pool`, or with `None`.
pub(super) fn with_local<T>(pool: SchedulerId, f: impl FnOnce(Option<&Local>) -> T) -> T {
    let mut f = Some(f);
    let mut call = |local: Option<&Local>| f.take().map(|f| f(local));
    // An ending thread has no such state any more.
    let called = LOCAL.try_with(|cell| call(cell.get().filter(|local| local.pool == pool))).ok();
    called.flatten().or_else(|| call(None)).expect("it is called once")
}

impl Local {
    pub(super) fn new(pool: SchedulerId, index: usize, deque: Deque<Task>) -> Self {
        Local { pool, index, deque, countdown: Cell::new(INJECTOR_INTERVAL) }
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// Queues a task, for this worker or a thief.
    pub(super) fn push(&self, task: Task, queues: &Queues) {
        self.deque.push(task);
        Self::wake_thief(queues);
    }

    /// There is something new in the deque. When the pool has stopped, the worker itself throws it away.
    fn wake_thief(queues: &Queues) {
        // An only worker has no thieves, and this is its thread.
        if queues.workers() > 1 {
            queues.idle().notify();
        }
    }

    /// Whether a task waits for this worker. If so, the worker polls the injector next.
    pub(super) fn is_wanted(&self, queues: &Queues) -> bool {
        let is_wanted = !self.deque.is_empty() || queues.has_injected();
        if is_wanted {
            self.countdown.set(0);
        }
        is_wanted
    }

    /// The next task, without a search.
    fn next(&self, queues: &Queues) -> Option<Task> {
        match self.countdown.get() {
            0 => self.take_injected(queues).or_else(|| self.deque.pop()),
            left => {
                self.countdown.set(left - 1);
                self.deque.pop().or_else(|| self.take_injected(queues))
            }
        }
    }

    fn take_injected(&self, queues: &Queues) -> Option<Task> {
        self.countdown.set(INJECTOR_INTERVAL);
        let task = queues.take_injected(&self.deque)?;
        if !self.deque.is_empty() {
            // Moved out of sight for a moment, so they count as pushed.
            Self::wake_thief(queues);
        }
        Some(task)
    }
}

/// The worker's thread.
pub(super) struct Worker {
    pub(super) queues: Arc<Queues>,
    pub(super) branches: BranchDeque,
    pub(super) parker: Parker,
}

impl Worker {
    /// Runs tasks until the pool stops.
    pub(super) fn work(self, local: Local) {
        LOCAL.with(|cell| {
            let local = cell.get_or_init(|| local);
            let thread = PoolThread::worker(&self.queues, local, &self.branches);
            let mut seen = self.queues.lent().nothing_seen();
            while !self.queues.idle().is_stopped() {
                // A task does not unwind, but the thread must survive one that does.
                contain(|| {
                    while let Some(task) = self.next(local, &mut seen) {
                        task.run_on(&thread);
                    }
                });
            }
            // Tasks that these drops schedule go into the same deque.
            iter::from_fn(|| local.deque.pop()).for_each(discard);
        });
    }

    /// The next task. `None`: the pool has stopped.
    fn next(&self, local: &Local, seen: &mut Seen) -> Option<Task> {
        if self.queues.idle().is_stopped() {
            return None;
        }
        local.next(&self.queues).or_else(|| self.search_or_sleep(local, seen))
    }

    /// Waits for a task. `None`: the pool has stopped.
    fn search_or_sleep(&self, local: &Local, seen: &mut Seen) -> Option<Task> {
        let idle = self.queues.idle();
        idle.begin_search();
        let mut is_watch = false;
        let mut nap = SHORTEST_NAP;
        loop {
            if let Some(task) = self.search(local, seen) {
                if idle.end_search() && self.queues.has_any() {
                    idle.notify();
                }
                if is_watch {
                    idle.hand_over_watch();
                }
                return Some(task);
            }
            self.queues.lent().tell_next(local.index);
            let asleep = idle.fall_asleep(local.index, || self.queues.lent().has_guest());
            if asleep.was_last_searcher && self.queues.has_any() {
                idle.notify();
            }
            if !idle.is_stopped() {
                nap = self.sleep(asleep.is_watch.then_some(nap));
            }
            if idle.is_stopped() {
                return None;
            }
            is_watch = idle.wake_up(local.index);
        }
    }

    /// Sleeps until it is woken, or for a nap. Returns the length of the next nap.
    fn sleep(&self, nap: Option<Duration>) -> Duration {
        match nap {
            Some(nap) => {
                self.parker.park_timeout(nap);
                (nap * 2).min(LONGEST_NAP)
            }
            None => {
                self.parker.park();
                SHORTEST_NAP
            }
        }
    }

    fn search(&self, local: &Local, seen: &mut Seen) -> Option<Task> {
        let end = Instant::now() + SEARCH_TIME;
        loop {
            let found = self.queues.steal(local.index, &local.deque);
            let found = found.or_else(|| self.queues.lent().steal(local.index, seen));
            if found.is_some() || self.queues.idle().is_stopped() || Instant::now() >= end {
                return found;
            }
            (0..PAUSES).for_each(|_| spin_loop());
            // There may be fewer cores than threads with something to do.
            yield_now();
        }
    }
}
