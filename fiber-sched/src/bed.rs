//! The sleep of a worker: in a poll that also reports events of sockets, if one is free; otherwise in a parker, which
//! only its alarm wakes.

use std::sync::Arc;
use std::time::Instant;

use crate::bell::{Bell, Place};
use crate::net::{Happened, Polls};
use crate::primitive::{Parker, Unparker};

/// The worker's side.
pub(crate) struct Bed {
    parker: Parker,
    bell: Arc<Bell>,
    polls: Arc<Polls>,
    worker: usize,
}

/// The side of the threads that wake the worker.
pub(crate) struct Alarm {
    unparker: Unparker,
    bell: Arc<Bell>,
    polls: Arc<Polls>,
    worker: usize,
}

impl Bed {
    /// Makes timed sleeps of the current thread end on time, where the system supports it. By default, Linux may end a sleep
    /// up to 50 us late.
    pub(crate) fn be_punctual() {
        // If the call fails, the thread only sleeps a bit longer.
        #[cfg(all(target_os = "linux", not(miri)))]
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZero::new(1));
    }

    /// For a worker that sleeps in one of these polls.
    pub(crate) fn new(polls: &Arc<Polls>, worker: usize) -> (Self, Alarm) {
        let (parker, bell) = (Parker::new(), Arc::new(Bell::new()));
        let unparker = parker.unparker().clone();
        polls.tell_of_first_use(worker, &bell, &unparker);
        let alarm = Alarm { unparker, bell: bell.clone(), polls: polls.clone(), worker };
        (Bed { parker, bell, polls: polls.clone(), worker }, alarm)
    }

    /// For `workers` workers.
    pub(crate) fn for_all(polls: &Arc<Polls>, workers: usize) -> (Vec<Self>, Vec<Alarm>) {
        (0..workers).map(|worker| Bed::new(polls, worker)).unzip()
    }

    /// For workers that a test plays.
    #[cfg(test)]
    pub(crate) fn without_polls(workers: usize) -> (Vec<Self>, Vec<Alarm>) {
        Bed::for_all(&Polls::new(crate::inside::SchedulerId::new(), 1), workers)
    }

    #[cfg(all(test, fiber_loom))]
    pub(crate) fn alone() -> (Self, Alarm) {
        Bed::new(&Polls::new(crate::inside::SchedulerId::new(), 1), 0)
    }

    /// Sleeps until the alarm rings, the time `until` comes, or a socket has an event. An alarm that rang before the call
    /// ends the sleep at once. Spurious wake-ups are possible.
    pub(crate) fn sleep(&self, until: Option<Instant>) -> Happened {
        let mut happened = Happened::default();
        match self.polls.hold_to_sleep(self.worker) {
            Some(poll) if self.bell.lie_down(Place::Poll) => poll.wait(until, &mut happened),
            Some(_) => {}
            None => return self.nap(until),
        }
        self.bell.get_up();
        happened
    }

    /// Like `sleep`, but ignores sockets.
    pub(crate) fn nap(&self, until: Option<Instant>) -> Happened {
        if self.bell.lie_down(Place::Parker) {
            match until {
                Some(at) => self.parker.park_deadline(at),
                None => self.parker.park(),
            }
        }
        self.bell.get_up();
        Happened::default()
    }
}

impl Alarm {
    pub(crate) fn ring(&self) {
        match self.bell.ring() {
            None => {}
            Some(Place::Parker) => self.unparker.unpark(),
            Some(Place::Poll) => self.polls.wake(self.worker),
        }
    }
}
