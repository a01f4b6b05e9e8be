use std::fmt;
use std::time::Duration;

use super::describe::Policy;
use super::part::{Moment, Seen, next};
use crate::engine::scheduler::Scheduler;
use crate::instant::Instant;

/// The state of a policy in one run. Like the description around it, it is cloned only before it runs, so runs do not
/// share counts.
pub struct Recurrence<I> {
    policy: Policy<I>,
    /// The number of rounds that have started.
    rounds: u64,
    /// Whether the policy depends on the time. Otherwise the clock is not read.
    is_timed: bool,
    /// The starts of the first round and of the last round, if the policy is timed.
    first: Instant,
    last: Instant,
}

impl<I: 'static> Recurrence<I> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(policy: Policy<I>) -> Self {
        let is_timed = policy.rule.is_timed();
        Recurrence { policy, rounds: 0, is_timed, first: Instant::EPOCH, last: Instant::EPOCH }
    }

    /// Records the start of a round.
    #[inline]
    pub(crate) fn start_round(&mut self, scheduler: &dyn Scheduler) {
        self.last = self.now(scheduler);
        if self.rounds == 0 {
            self.first = self.last;
        }
        self.rounds += 1;
    }

    /// The pause after a round that ended with `input`. `None`: that was the last round. May panic, because the
    /// conditions are user code.
    pub(crate) fn next_pause(&mut self, scheduler: &dyn Scheduler, input: &I) -> Option<Duration> {
        let (started, ended) = (self.last - self.first, self.now(scheduler) - self.first);
        next(self.policy.rule.own(), &Moment { started, ended, seen: Some(Seen { input, scheduler }) })
    }

    /// The time, if the policy depends on it.
    fn now(&self, scheduler: &dyn Scheduler) -> Instant {
        if self.is_timed { scheduler.now() } else { Instant::EPOCH }
    }

    /// The number of rounds that have started.
    pub(crate) fn rounds(&self) -> u64 {
        self.rounds
    }
}

impl<I> Clone for Recurrence<I> {
    fn clone(&self) -> Self {
        Recurrence { policy: self.policy.clone(), ..*self }
    }
}

impl<I> fmt::Debug for Recurrence<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.policy, f)
    }
}
