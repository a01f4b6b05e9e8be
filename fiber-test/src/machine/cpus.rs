//! Simulated workers: at most so many fibers are in the middle of a slice at the same time.
//!
//! A fiber takes a worker with its first turn and keeps it from bind to bind until it waits, ends, or has spent the
//! slice's budget. One that computes keeps it for as long as that takes.

use std::collections::VecDeque;

use super::ready::Entry;

/// The smallest pool that runs things in parallel.
pub(crate) const WORKERS: usize = 2;

/// The binds of a slice on a pool whose builder was not asked for another number.
pub(crate) const POOL_BUDGET: u32 = 1024;

#[derive(Debug)]
pub(crate) struct Cpus {
    workers: usize,
    /// Binds of a slice.
    budget: u32,
    free: usize,
    /// What is left of the slice of the fiber whose turn it is.
    slice: u32,
    eligible: Vec<u32>,
}

impl Cpus {
    pub(crate) fn new(workers: usize, budget: u32) -> Self {
        Cpus { workers, budget, free: workers, slice: 0, eligible: Vec::new() }
    }

    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    pub(crate) fn budget(&self) -> u32 {
        self.budget
    }

    pub(crate) fn reset(&mut self) {
        self.free = self.workers;
        self.slice = 0;
    }

    /// A turn begins. `slice`: what is left of the fiber's slice; 0 if it has no worker yet.
    pub(crate) fn begin(&mut self, slice: u32) {
        if slice == 0 {
            self.free = self.free.saturating_sub(1);
        }
        self.slice = if slice == 0 { self.budget } else { slice };
    }

    /// The turn is over, and the fiber has not kept its worker.
    pub(crate) fn end(&mut self) {
        if std::mem::take(&mut self.slice) > 0 {
            self.free += 1;
        }
    }

    /// The fiber whose turn it is comes to a bind. At the end of its slice it gives its worker back.
    pub(crate) fn spend(&mut self) {
        // Nothing is left, if the turn runs a second fiber, on its stack, whose computation has taken the worker along.
        if let Some(left) = self.slice.checked_sub(1) {
            self.slice = left;
            self.free += usize::from(left == 0);
        }
    }

    /// The fiber whose turn it is goes on at once.
    pub(crate) fn go_on(&mut self) {
        if self.slice == 0 && self.free > 0 {
            self.begin(0);
        }
    }

    /// The fiber whose turn it is keeps its worker for later. Returns what is left of its slice.
    pub(crate) fn keep(&mut self) -> u32 {
        std::mem::take(&mut self.slice)
    }

    /// The places of those that may have a turn; `None`: all may.
    pub(crate) fn eligible(&mut self, ready: &VecDeque<Entry>) -> Option<&[u32]> {
        if self.free > 0 {
            return None;
        }
        self.eligible.clear();
        let running = ready.iter().enumerate().filter(|(_, entry)| entry.slice > 0);
        self.eligible.extend(running.map(|(place, _)| place as u32));
        Some(&self.eligible)
    }
}
