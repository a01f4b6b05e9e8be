//! The tokio tasks that run fibers.

use std::cell::Cell;
use std::future::Future;
use std::iter;
use std::pin::{Pin, pin};
use std::ptr;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Weak};
use std::task::{self, Poll};
use std::time::{Duration, Instant};

use fiber_core::Context;
use fiber_core::scheduler::{BranchDeque, Scheduler, Task, TaskKind, TaskRunner, Worker};
use tokio::task::coop;

use super::drivers::{Deques, Drivers};
use super::timekeeper::Timekeeper;
use crate::discard::discard;
use crate::steal::take_back;

/// A driver that has been busy for so long lets the runtime look at its sockets and timers before it goes on: otherwise a runtime with one worker
/// would do so only after 61 yields.
const LONG: Duration = Duration::from_micros(250);

/// A driver yields after a time in which other tasks of the runtime hardly miss it. If another worker sleeps, tokio wakes it for what yields, which
/// costs more than a hundred short turns.
const SHORT: Duration = Duration::from_micros(50);

/// After so many turns, it looks at the clock.
const TURNS: u32 = 8;

/// A turn of a fiber that has yielded before counts as so many: it may have spent a budget of binds.
const LONG_TURN: u32 = 4;

pub(super) struct Driver {
    index: usize,
    drivers: Arc<Drivers>,
    timekeeper: Arc<Timekeeper>,
    /// Only compared. Its memory is not used for another one as long as this exists.
    scheduler: Weak<dyn Scheduler>,
    own: Deques,
    /// Whether the next turn is for the driver's own tasks first, and not for injected ones. Kept from one poll to the next, each of
    /// which may have room for one turn only.
    own_first: Cell<bool>,
    /// Whether the last poll has ended for want of tasks.
    is_idle: Cell<bool>,
    /// When the runtime last looked at its events, if the driver has been busy since.
    looked: Cell<Option<Instant>>,
}

impl Driver {
    pub(super) fn new(
        index: usize,
        drivers: &Arc<Drivers>,
        timekeeper: &Arc<Timekeeper>,
        scheduler: Weak<dyn Scheduler>,
        own: Deques,
    ) -> Self {
        Driver {
            index,
            drivers: drivers.clone(),
            timekeeper: timekeeper.clone(),
            scheduler,
            own,
            own_first: Cell::new(false),
            is_idle: Cell::new(false),
            looked: Cell::new(None),
        }
    }

    /// The next task: by turns one from elsewhere first, or one of its own.
    fn next(&self) -> Option<Task> {
        let own = || self.own.tasks.pop();
        let injected = || self.drivers.take_injected();
        let own_first = self.own_first.replace(!self.own_first.get());
        let task = if own_first { own().or_else(injected) } else { injected().or_else(own) };
        task.or_else(|| self.fall_idle())
    }

    /// Enters the list of idle drivers, unless a task has come, or another driver has one to take.
    fn fall_idle(&self) -> Option<Task> {
        self.drivers.idle().enter(self.index);
        // SeqCst: pairs with the fences of `push` and `stop`, as `drivers` says.
        fence(Ordering::SeqCst);
        if self.drivers.is_stopped() {
            self.drivers.wake(self.index);
        }
        let task = self.drivers.pop_or_steal(&self.own.tasks)?;
        self.drivers.idle().leave(self.index);
        Some(task)
    }

    /// Queues a task of a turn of this driver, which it runs later itself, unless another one takes it.
    fn push(&self, task: Task) {
        let is_first = self.own.tasks.is_empty();
        self.own.tasks.push(task);
        if !is_first {
            self.drivers.wake_one(true);
        }
    }

    /// Ends a poll after which there may be more to do.
    fn yields(&self, cx: &mut task::Context<'_>) {
        let now = Instant::now();
        let looked = self.looked.get().unwrap_or(now);
        let is_long = now - looked >= LONG;
        self.looked.set(Some(if is_long { now } else { looked }));
        if is_long {
            // It wakes the driver after the next look.
            _ = pin!(tokio::task::yield_now()).poll(cx);
        } else {
            cx.waker().wake_by_ref();
        }
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        let drivers = &*self.drivers;
        drivers.begin_poll(self.index, cx.waker(), self.is_idle.take());
        let mut runner = TaskRunner::on(&*self);
        let (mut began, mut since_look) = (None, 0);
        loop {
            if drivers.is_stopped() {
                return Poll::Ready(());
            }
            let Some(task) = self.next() else {
                self.is_idle.set(true);
                self.looked.set(None);
                return Poll::Pending;
            };
            if task.kind() == TaskKind::Continue {
                since_look += LONG_TURN;
                began.get_or_insert_with(Instant::now);
            } else {
                since_look += 1;
            }
            if !self.own.tasks.is_empty() || drivers.has_injected() {
                drivers.wake_one(true);
            }
            drivers.turn(self.index, task, &mut runner);
            // Without a budget, tokio would only tell the futures of the next fibers to yield.
            if !coop::has_budget_remaining() {
                break;
            }
            if since_look >= TURNS {
                since_look = 0;
                if is_long_ago(&mut began) {
                    break;
                }
            }
        }
        self.yields(cx);
        Poll::Pending
    }
}

/// Whether the first call was long ago.
fn is_long_ago(first: &mut Option<Instant>) -> bool {
    let now = Instant::now();
    now - *first.get_or_insert(now) >= SHORT
}

/// What its fibers see of it.
impl Worker for Driver {
    fn branches(&self) -> Option<&BranchDeque> {
        Some(&self.own.branches)
    }

    fn schedule_again(&self, scheduler: *const (), task: Task) -> Result<(), Task> {
        if !ptr::addr_eq(self.scheduler.as_ptr(), scheduler) {
            return Err(task);
        }
        self.push(task);
        Ok(())
    }

    /// A driver that is alone runs it in any case.
    fn wakes_next(&self) -> *const () {
        if self.drivers.count() == 1 { self.scheduler.as_ptr().cast() } else { ptr::null() }
    }

    fn take_back(&self, fiber: &Context) -> Option<Task> {
        take_back(&self.own.tasks, fiber)
    }
}

impl Drop for Driver {
    /// The last driver is dropped when it has ended, or when the runtime drops its tasks.
    fn drop(&mut self) {
        if self.drivers.is_stopped() {
            iter::from_fn(|| self.own.tasks.pop()).for_each(discard);
        }
        if self.drivers.leave() {
            self.timekeeper.stop();
            self.drivers.stop();
        }
    }
}
