//! When a program counts as running without end.

use std::collections::VecDeque;

use fiber_core::{Context, Instant};

use crate::report::Report;

/// Turns at one instant before it counts as a livelock: far above what a test does at once, and reached in
/// milliseconds by a loop.
const TURNS_PER_INSTANT: usize = 100_000;

/// So many turns may all fibers have at one instant: the bound grows with their number. Not under exploration, whose programs are small: one
/// that forks without end never passes a bound that grows.
const TURNS_PER_FIBER: usize = 64;

/// Instants of one run before it counts as a livelock: more than a year of a program that ticks every minute (525,600), and reached
/// in about a second by a loop in a debug build.
const MOST_INSTANTS: usize = 600_000;

/// So many instants may all fibers have in one run: the bound grows with the most that were alive at a time, unless the user sets it.
const INSTANTS_PER_FIBER: usize = 64;

/// The same under exploration, whose programs are short.
const MOST_INSTANTS_EXPLORED: usize = 100_000;

/// Turns of one run under exploration before it counts as a livelock, unless one instant may have more: as many as the portfolio gives to all of its
/// schedules. The other bounds alone would allow ten thousand million.
const MOST_TURNS_EXPLORED: usize = 1_000_000;

/// How many of the last turns a report of a livelock looks at.
const LAST_TURNS: usize = 256;

#[derive(Debug)]
pub(crate) struct Limits {
    turns_per_instant: usize,
    turns_per_fiber: usize,
    most_instants: usize,
    instants_per_fiber: usize,
    /// Turns in all.
    most_turns: usize,
    /// Whether the user may set `most_instants`.
    has_instants_setting: bool,
    instant: Instant,
    /// Turns at this instant.
    turns: usize,
    /// How many of them are not looked at one by one. After a change of a limit none, until the limits count anew.
    calm_turns: usize,
    instants: usize,
    /// Turns at the instants before this one.
    turns_before: usize,
    /// The most fibers that were seen alive at this instant.
    fibers: usize,
    /// The same for all instants.
    most_fibers: usize,
    last: VecDeque<Context>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            turns_per_instant: TURNS_PER_INSTANT,
            turns_per_fiber: TURNS_PER_FIBER,
            most_instants: MOST_INSTANTS,
            instants_per_fiber: INSTANTS_PER_FIBER,
            most_turns: usize::MAX,
            has_instants_setting: true,
            instant: Instant::EPOCH,
            turns: 0,
            calm_turns: 0,
            instants: 0,
            turns_before: 0,
            fibers: 0,
            most_fibers: 0,
            last: VecDeque::new(),
        }
    }
}

impl Limits {
    /// Those of a program under exploration.
    pub(crate) fn of_exploration() -> Self {
        Limits {
            turns_per_fiber: 0,
            most_instants: MOST_INSTANTS_EXPLORED,
            instants_per_fiber: 0,
            most_turns: MOST_TURNS_EXPLORED,
            has_instants_setting: false,
            ..Limits::default()
        }
    }

    /// Sets how many turns one instant may have.
    pub(crate) fn allow_turns_per_instant(&mut self, most: usize) {
        self.turns_per_instant = most;
        self.most_turns = self.most_turns.max(most);
        self.calm_turns = 0;
    }

    /// Sets how many instants one run may visit.
    pub(crate) fn allow_instants(&mut self, most: usize) {
        (self.most_instants, self.instants_per_fiber) = (most, 0);
        self.calm_turns = 0;
    }

    /// Begins to count anew. Returns what is to be dropped without any lock.
    pub(crate) fn restart(&mut self, now: Instant, live_fibers: usize) -> impl Sized + use<> {
        self.instant = now;
        self.turns = 0;
        self.instants = 0;
        self.turns_before = 0;
        self.calm_turns = self.find_calm_turns();
        (self.fibers, self.most_fibers) = (live_fibers, live_fibers);
        // Most runs come to no limit.
        if self.last.is_empty() { None } else { Some(std::mem::take(&mut self.last)) }
    }

    /// A turn begins at `now`.
    #[inline]
    pub(crate) fn count(&mut self, now: Instant, live_fibers: usize) {
        if now != self.instant {
            self.begin_instant(now, live_fibers);
        }
        self.turns += 1;
    }

    fn begin_instant(&mut self, now: Instant, live_fibers: usize) {
        self.fibers = live_fibers;
        self.most_fibers = self.most_fibers.max(live_fibers);
        self.instant = now;
        self.instants += 1;
        self.turns_before += self.turns;
        self.turns = 0;
        self.calm_turns = self.find_calm_turns();
    }

    fn find_calm_turns(&self) -> usize {
        if self.instants + LAST_TURNS > self.most_instants {
            return 0;
        }
        let left = self.most_turns.saturating_sub(self.turns_before);
        self.turns_per_instant.min(left).saturating_sub(LAST_TURNS)
    }

    /// Whether the last turns before a limit have begun, which are looked at one by one.
    #[inline]
    pub(crate) fn is_suspicious(&self) -> bool {
        self.turns > self.calm_turns
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
        if self.turns > self.turns_per_instant.max(self.turns_per_fiber.saturating_mul(self.fibers)) {
            return Err(Report::busy_instant(
                self.instant,
                self.turns - 1,
                self.last.iter().cloned().collect(),
            ));
        }
        if self.instants > self.most_instants.max(self.instants_per_fiber.saturating_mul(self.most_fibers)) {
            return Err(Report::too_many_instants(
                self.instant,
                self.instants - 1,
                self.has_instants_setting,
                self.last.iter().cloned().collect(),
            ));
        }
        let turns_in_all = self.turns_before + self.turns;
        if turns_in_all > self.most_turns {
            return Err(Report::too_many_turns(
                self.instant,
                turns_in_all - 1,
                self.last.iter().cloned().collect(),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Counts turns, so many at each instant, until a limit is passed.
    fn passed(mut limits: Limits, turns_per_instant: usize) -> (usize, Report) {
        let mut now = Instant::EPOCH;
        for turn in 1.. {
            if turn % turns_per_instant == 0 {
                now += Duration::from_millis(1);
            }
            limits.count(now, 2);
            if limits.is_suspicious()
                && let Err(report) = limits.check(None, 2)
            {
                return (turn, report);
            }
        }
        unreachable!("some limit is passed");
    }

    #[test]
    fn a_program_that_is_busy_from_timer_to_timer_has_a_bound_on_all_its_turns() {
        let (turns, report) = passed(Limits::of_exploration(), 1_000);
        assert_eq!(turns, MOST_TURNS_EXPLORED + 1);
        assert!(report.is_livelock());
        assert!(report.to_string().contains("after 1000000 turns in all"), "{report}");
        let (turns, _) = passed(Limits::of_exploration(), 2);
        assert!(turns < MOST_TURNS_EXPLORED, "the bound on instants comes first");
    }

    #[test]
    fn a_year_of_ticks_every_minute_is_in_bounds_and_a_clock_without_end_is_told_soon() {
        let (turns, report) = passed(Limits::default(), 1);
        assert!((366 * 24 * 60..1_000_000).contains(&turns), "{turns}");
        assert!(report.to_string().contains("raise the bound with most_instants"), "{report}");
    }

    #[test]
    fn many_fibers_may_have_more_instants_unless_the_user_says_how_many() {
        let crowd = 2 * MOST_INSTANTS;
        let instants = |mut limits: Limits| {
            drop(limits.restart(Instant::EPOCH, crowd));
            // They end one after the other.
            (1..=crowd).find(|&n| {
                limits.count(Instant::EPOCH + Duration::from_millis(n as u64), crowd - n);
                limits.is_suspicious() && limits.check(None, crowd - n).is_err()
            })
        };
        assert_eq!(instants(Limits::default()), None);
        let mut limits = Limits::default();
        limits.allow_instants(1_000);
        assert_eq!(instants(limits), Some(1_001));
    }

    #[test]
    fn a_program_that_forks_without_end_is_a_livelock_under_exploration() {
        let mut limits = Limits::of_exploration();
        let passes = |fibers: &usize| {
            limits.count(Instant::EPOCH, *fibers);
            limits.is_suspicious() && limits.check(None, *fibers).is_err()
        };
        assert_eq!((1..=MOST_TURNS_EXPLORED).find(passes), Some(TURNS_PER_INSTANT + 1));
    }

    #[test]
    fn an_instant_may_have_as_many_turns_as_it_is_allowed() {
        let mut limits = Limits::of_exploration();
        limits.allow_turns_per_instant(2_000_000);
        let (turns, report) = passed(limits, usize::MAX);
        assert_eq!(turns, 2_000_001, "{report}");
    }
}
