//! Runnable fibers may be late, up to a bound: time passes although a fiber could run.

use std::time::Duration;

use fiber_core::Instant;

use crate::random::SplitMix64;

/// Time passes at one in this many decisions at which it may: often in some schedules, seldom in others.
const ONE_IN: [usize; 3] = [2, 4, 16];

#[derive(Debug)]
pub(crate) struct Lateness {
    bound: Duration,
    /// The program has a network, and nothing else is said: a packet may arrive while fibers can run.
    is_of_network: bool,
    /// What draws whether time passes, and at one of how many decisions it does.
    chance: Option<(SplitMix64, usize)>,
}

impl Lateness {
    pub(crate) fn new(bound: Duration) -> Self {
        Lateness { bound, is_of_network: false, chance: None }
    }

    /// Of a program with a network: at the instant when a packet arrives, it may overtake fibers that can run.
    pub(crate) fn of_network() -> Self {
        Lateness { is_of_network: true, ..Lateness::new(Duration::ZERO) }
    }

    pub(crate) fn is_of_network(&self) -> bool {
        self.is_of_network
    }

    /// For the next run: with a generator, chance decides; without, the strategy does.
    pub(crate) fn restart(&mut self, chance: Option<SplitMix64>) {
        self.chance = chance.map(|mut random| {
            let one_in = ONE_IN[random.below(ONE_IN.len())];
            (random, one_in)
        });
    }

    /// Whether fibers that are runnable since `ready` may still be waiting at `next`.
    pub(crate) fn allows(&self, ready: Instant, next: Instant) -> bool {
        next <= ready + self.bound
    }

    /// Whether time is to pass.
    pub(crate) fn draw(&mut self) -> bool {
        self.chance.as_mut().is_some_and(|(random, one_in)| random.below(*one_in) == 0)
    }
}
