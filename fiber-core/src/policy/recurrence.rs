use std::fmt;
use std::time::Duration;

use super::describe::Policy;
use super::rule::{Moment, Seen};
use crate::instant::Instant;
use crate::scheduler::Scheduler;

/// A policy at work in one run. Like the description that it is part of, it is cloned before it runs, or never: so runs do
/// not share what it counts.
pub struct Recurrence<I> {
    policy: Policy<I>,
    /// How many rounds have started.
    rounds: u64,
    /// When the first round started, and when the last one did.
    first: Instant,
    last: Instant,
}

impl<I: 'static> Recurrence<I> {
    pub(crate) fn new(policy: Policy<I>) -> Self {
        Recurrence { policy, rounds: 0, first: Instant::EPOCH, last: Instant::EPOCH }
    }

    /// A round starts.
    pub(crate) fn start_round(&mut self, now: Instant) {
        if self.rounds == 0 {
            self.first = now;
        }
        self.last = now;
        self.rounds += 1;
    }

    /// A round has ended with `input`: the pause before the next one. `None`: that was the last. May panic, as the
    /// conditions are the user's.
    pub(crate) fn next_pause(
        &mut self,
        scheduler: &dyn Scheduler,
        now: Instant,
        input: &I,
    ) -> Option<Duration> {
        let seen = Some(Seen { input, scheduler });
        self.policy.rule.next(&Moment { started: self.last - self.first, ended: now - self.first, seen })
    }

    /// How many rounds have started.
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
