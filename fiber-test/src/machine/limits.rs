//! When a program counts as running without end.

use std::collections::VecDeque;

use fiber_core::{Context, Instant};

use crate::report::Report;

/// Turns at one instant before it counts as a livelock: far above what a test does at once, and reached in
/// milliseconds by a loop.
const TURNS_PER_INSTANT: usize = 100_000;

/// So many turns may all fibers have at one instant: the bound grows with their number.
const TURNS_PER_FIBER: usize = 64;

/// Instants of one run before it counts as a livelock: hours of a program that ticks every millisecond.
const MOST_INSTANTS: usize = 10_000_000;

/// The same under exploration, whose programs are short.
const MOST_INSTANTS_EXPLORED: usize = 100_000;

/// How many of the last turns a report of a livelock looks at.
const LAST_TURNS: usize = 256;

#[derive(Debug)]
pub(crate) struct Limits {
    pub(crate) turns_per_instant: usize,
    pub(crate) most_instants: usize,
    /// Whether the user may set `most_instants`.
    has_instants_setting: bool,
    instant: Instant,
    turns: usize,
    instants: usize,
    /// The most fibers that were seen alive at this instant.
    fibers: usize,
    last: VecDeque<Context>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            turns_per_instant: TURNS_PER_INSTANT,
            most_instants: MOST_INSTANTS,
            has_instants_setting: true,
            instant: Instant::EPOCH,
            turns: 0,
            instants: 0,
            fibers: 0,
            last: VecDeque::new(),
        }
    }
}

impl Limits {
    /// Those of a program under exploration.
    pub(crate) fn of_exploration() -> Self {
        Limits { most_instants: MOST_INSTANTS_EXPLORED, has_instants_setting: false, ..Limits::default() }
    }

    /// Begins to count anew. Returns what is to be dropped without any lock.
    pub(crate) fn restart(&mut self, now: Instant, live_fibers: usize) -> impl Sized + use<> {
        self.instant = now;
        self.turns = 0;
        self.instants = 0;
        self.fibers = live_fibers;
        std::mem::take(&mut self.last)
    }

    /// A turn begins at `now`.
    #[inline]
    pub(crate) fn count(&mut self, now: Instant, live_fibers: usize) {
        if now != self.instant {
            self.fibers = live_fibers;
            self.instant = now;
            self.instants += 1;
            self.turns = 0;
        }
        self.turns += 1;
    }

    /// Whether the last turns before a limit have begun, which are looked at one by one.
    #[inline]
    pub(crate) fn is_suspicious(&self) -> bool {
        self.turns + LAST_TURNS > self.turns_per_instant || self.instants + LAST_TURNS > self.most_instants
    }

    /// # Errors
    /// The limit is passed.
    #[cold]
    pub(crate) fn check(&mut self, context: Option<&Context>, live_fibers: usize) -> Result<(), Report> {
        self.last.extend(context.cloned());
        if self.last.len() > LAST_TURNS {
            self.last.pop_front();
        }
        self.fibers = self.fibers.max(live_fibers);
        if self.turns > self.turns_per_instant.max(TURNS_PER_FIBER.saturating_mul(self.fibers)) {
            return Err(Report::busy_instant(
                self.instant,
                self.turns - 1,
                self.last.iter().cloned().collect(),
            ));
        }
        if self.instants > self.most_instants {
            return Err(Report::too_many_instants(
                self.instant,
                self.instants - 1,
                self.has_instants_setting,
                self.last.iter().cloned().collect(),
            ));
        }
        Ok(())
    }
}
