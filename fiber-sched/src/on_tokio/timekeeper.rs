//! The tokio task that fires timers. One sleep of tokio serves all timers of fibers, which lie in a wheel of our own. While a
//! fiber computes, the lookout fires them, too.

use std::future::Future;
use std::iter;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll, Waker};
use std::time::Duration;

use fiber_core::Instant;
use fiber_core::scheduler::{Task, TimerKey};
use parking_lot::{Mutex, MutexGuard};
use tokio::runtime;
use tokio::time::{self, Sleep};

use super::drivers::Drivers;
use super::sockets::Sockets;
use crate::discard::{discard, discard_timer};
use crate::timer::Wheel;

pub(super) struct Timekeeper {
    /// Of tokio, because tests pause its clock.
    epoch: time::Instant,
    state: Mutex<State>,
}

struct State {
    wheel: Wheel<Task>,
    /// When the keeper looks again without a wake-up.
    looks_at: Instant,
    waker: Option<Waker>,
    is_stopped: bool,
}

impl Timekeeper {
    #[track_caller]
    pub(super) fn start(runtime: &runtime::Handle, drivers: Arc<Drivers>, sockets: Sockets) -> Arc<Self> {
        let _inside = runtime.enter();
        let epoch = time::Instant::now();
        // Here, so that a runtime without timers is noticed at once.
        let sleep = Box::pin(time::sleep_until(epoch));
        // It looks as soon as it is first polled.
        let state =
            State { wheel: Wheel::default(), looks_at: Instant::EPOCH, waker: None, is_stopped: false };
        let timekeeper = Arc::new(Timekeeper { epoch, state: Mutex::new(state) });
        runtime.spawn(Keeping { timekeeper: timekeeper.clone(), drivers, sockets, sleep });
        timekeeper
    }

    pub(super) fn now(&self) -> Instant {
        Instant::EPOCH + self.epoch.elapsed()
    }

    /// How many timers are set.
    pub(super) fn len(&self) -> usize {
        self.state.lock().wheel.len()
    }

    /// Sets a timer. `true`: it is due before all others, so the keeper was woken.
    pub(super) fn insert(&self, at: Instant, task: Task) -> (TimerKey, bool) {
        let mut state = self.state.lock();
        if state.is_stopped {
            drop(state);
            discard(task);
            return (Wheel::<Task>::no_timer(), false);
        }
        let (key, _) = state.wheel.insert(at, task);
        let mut waker = None;
        if at < state.looks_at {
            state.looks_at = at;
            waker = state.waker.take();
        }
        drop(state);
        let is_first = waker.is_some();
        waker.into_iter().for_each(Waker::wake);
        (key, is_first)
    }

    pub(super) fn remove(&self, key: TimerKey) -> bool {
        let task = self.state.lock().wheel.remove(key);
        // Without the lock, because it may hold user values.
        task.map(discard_timer).is_some()
    }

    /// Drops all timers, and those that come later.
    pub(super) fn stop(&self) {
        let mut state = self.state.lock();
        state.is_stopped = true;
        let wheel = std::mem::take(&mut state.wheel);
        let waker = state.waker.take();
        drop(state);
        wheel.into_iter().for_each(discard);
        waker.into_iter().for_each(Waker::wake);
    }

    /// The tasks that are due. Before that, `catch_up` wakes the fibers whose events have come by now.
    pub(super) fn take_due(&self, catch_up: impl FnOnce()) -> Vec<Task> {
        self.take_due_of(&mut self.state.lock(), catch_up)
    }

    fn take_due_of(&self, state: &mut MutexGuard<'_, State>, catch_up: impl FnOnce()) -> Vec<Task> {
        let now = self.now();
        if state.wheel.may_be_due(now) {
            MutexGuard::unlocked(state, catch_up);
        }
        iter::from_fn(|| state.wheel.pop_due(now)).collect()
    }

    /// The tasks that are due, and when to look again; `None` at the end.
    fn look(&self, waker: &Waker, catch_up: impl FnOnce()) -> Option<(Vec<Task>, Instant)> {
        let mut state = self.state.lock();
        let due = self.take_due_of(&mut state, catch_up);
        if state.is_stopped {
            // None was due: there are no timers any more.
            return None;
        }
        state.looks_at = state.wheel.first().unwrap_or(Instant::FAR_FUTURE);
        state.waker = Some(waker.clone());
        Some((due, state.looks_at))
    }
}

/// The tokio task.
struct Keeping {
    timekeeper: Arc<Timekeeper>,
    drivers: Arc<Drivers>,
    sockets: Sockets,
    sleep: Pin<Box<Sleep>>,
}

impl Future for Keeping {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        let this = &mut *self;
        loop {
            let catch_up = || this.drivers.push_all(|| this.sockets.catch_up());
            let Some((due, looks_at)) = this.timekeeper.look(cx.waker(), catch_up) else {
                return Poll::Ready(());
            };
            this.drivers.push_all(|| due.into_iter().for_each(|task| this.drivers.push(task)));
            let after = Duration::from_nanos(looks_at.as_nanos());
            let Some(at) =
                this.timekeeper.epoch.checked_add(after).filter(|_| looks_at != Instant::FAR_FUTURE)
            else {
                return Poll::Pending;
            };
            this.sleep.as_mut().reset(at);
            if this.sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}
