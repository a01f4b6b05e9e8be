//! The list of the drivers without tasks, and the sleep of the lookout while it has all of them, and no task hosts a fiber.
//!
//! The lookout says that it sleeps before it looks for hosts, and a host is in its place before it looks whether the lookout
//! sleeps. A fence stands between the two steps on both sides, so at least one of them sees the other.

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};

use parking_lot::{Condvar, Mutex};

use super::hosts::Hosts;

pub(super) struct Idle {
    /// How many drivers there are.
    all: usize,
    /// The length of the list.
    count: AtomicUsize,
    state: Mutex<State>,
    /// The lookout sleeps, or is about to. Only it writes this.
    is_asleep: AtomicBool,
    /// Told when the lookout has to wake up.
    work: Condvar,
}

struct State {
    drivers: Vec<usize>,
    /// The lookout is awake, or was woken. It sleeps only while all drivers are idle, so a thread that takes one out of the list
    /// wakes it.
    is_watched: bool,
    has_ended: bool,
}

impl Idle {
    /// At first no driver is idle, and the lookout is awake.
    pub(super) fn new(all: usize) -> Self {
        let state = State { drivers: Vec::with_capacity(all), is_watched: true, has_ended: false };
        Idle {
            all,
            count: AtomicUsize::new(0),
            state: Mutex::new(state),
            is_asleep: AtomicBool::new(false),
            work: Condvar::new(),
        }
    }

    pub(super) fn has_any(&self) -> bool {
        // Relaxed: the fence of `Drivers::push` orders it for a thread that has queued a task.
        self.count.load(Ordering::Relaxed) > 0
    }

    pub(super) fn enter(&self, driver: usize) {
        let mut state = self.state.lock();
        state.drivers.push(driver);
        self.note(&state);
    }

    /// Takes this driver out, unless another thread has done it.
    pub(super) fn leave(&self, driver: usize) {
        // The driver sees at least its own entry, unless somebody has taken it out.
        if self.has_any() {
            self.remove(|drivers| drivers.iter().position(|index| *index == driver));
        }
    }

    /// Takes out the driver that entered last.
    pub(super) fn take(&self) -> Option<usize> {
        self.remove(|drivers| drivers.len().checked_sub(1))
    }

    fn remove(&self, place: impl FnOnce(&[usize]) -> Option<usize>) -> Option<usize> {
        let mut state = self.state.lock();
        let place = place(&state.drivers)?;
        let driver = state.drivers.remove(place);
        self.note(&state);
        let is_watched = mem::replace(&mut state.is_watched, true);
        drop(state);
        if !is_watched {
            self.work.notify_one();
        }
        Some(driver)
    }

    /// Publishes the length of the list.
    fn note(&self, state: &State) {
        // Relaxed: the fence of `Driver::fall_idle` orders it, or the lock, which the caller holds.
        self.count.store(state.drivers.len(), Ordering::Relaxed);
    }

    /// Copies the list.
    pub(super) fn copy_to(&self, list: &mut Vec<usize>) {
        list.clone_from(&self.state.lock().drivers);
    }

    /// Puts the lookout to sleep while all drivers are idle and no host is in use.
    pub(super) fn sleep(&self, hosts: &Hosts) {
        let mut state = self.state.lock();
        // Relaxed, with the fence: see the module.
        self.is_asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        state.is_watched = state.has_ended || state.drivers.len() < self.all || hosts.is_any_in_use();
        while !state.is_watched {
            self.work.wait(&mut state);
        }
        // Relaxed: a host that sees it late wakes the lookout once more.
        self.is_asleep.store(false, Ordering::Relaxed);
    }

    /// Wakes the lookout, if it sleeps, because a host is in use.
    pub(super) fn begin_hosting(&self) {
        // See the module.
        fence(Ordering::SeqCst);
        if self.is_asleep.load(Ordering::Relaxed) {
            self.wake_lookout();
        }
    }

    #[cold]
    fn wake_lookout(&self) {
        self.state.lock().is_watched = true;
        self.work.notify_one();
    }

    /// The lookout sleeps no more.
    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        state.has_ended = true;
        state.is_watched = true;
        drop(state);
        self.work.notify_one();
    }
}
