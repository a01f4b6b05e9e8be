//! What a worker that has run out of tasks takes from others.
//!
//! A stolen fiber brings its data from another core, and leaves there the fibers that it talks to. So a thief takes only what would
//! wait for long, and tiny tasks only as long as those before were worth it.

use std::time::Duration;

use crossbeam_deque::Worker as Deque;
use fiber_core::Instant;
use fiber_core::scheduler::Task;

use super::lent::Seen;
use super::queue::Queues;
use crate::random::Random;
use crate::steal::until_clear;

/// A worker keeps its tasks from thieves if it gets through them in this time: as long as dozens of hand-overs between fibers take.
const LONG_WAIT: Duration = Duration::from_micros(5);

/// A pace is taken from turns in this time at most.
const LONGEST_LOOK: Duration = Duration::from_micros(50);

/// The queue of a worker that queues so many tasks for each one that it gets through *grows*: it is about to queue more, and is
/// faster alone until it is done.
const MANY: u64 = 8;

/// A thief waits for the end of such a burst for so long: more than a fiber takes to fork as often as it may in a turn.
const LONGEST_BURST: Duration = Duration::from_micros(250);

/// A tiny task takes less than this, with all that comes of it: some of them are run in the time in which their data comes to
/// another core.
const TINY: Duration = Duration::from_nanos(500);

/// Whoever got this much for a task hopes for more of the kind, during some hundred poor steals.
const MUCH: Duration = Duration::from_micros(8);

/// How long a thief leaves tiny tasks alone if those before were not worth it, at first and at most.
const SHORTEST_REST: Duration = Duration::from_millis(1);
const LONGEST_REST: Duration = Duration::from_millis(32);

pub(super) struct Thief {
    paces: Box<[Pace]>,
    branches: Seen,
    random: Random,
    /// At its last look, tasks waited that it left to their workers.
    has_declined: bool,
    /// What it stole last, until it has run out of tasks again.
    haul: Option<Haul>,
    worth: Worth,
}

/// How many tasks another worker had got through at some time, and how many waited.
#[derive(Clone, Copy)]
struct Pace {
    progress: u64,
    waiting: usize,
    since: Instant,
    /// Since when the queue has grown, if it grew until then.
    grows_since: Option<Instant>,
    /// Whether the worker may have been idle until then, so that there was no verdict.
    was_unclear: bool,
}

/// Whether the tasks of a worker would wait for long there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// They would not, or that cannot be known yet.
    Leave,
    /// They would, because they are many. The worker takes less than [`TINY`] for each.
    TakeTiny,
    Take,
}

/// Tasks that were stolen at once.
#[derive(Clone, Copy)]
struct Haul {
    tasks: u32,
    at: Instant,
}

/// What steals have been worth.
struct Worth {
    /// For how long a stolen task has kept the thief busy: a moving average since the last one that was worth [`MUCH`].
    average: Duration,
    rest: Duration,
    /// The thief leaves tiny tasks alone until then.
    rests_until: Instant,
}

impl Thief {
    pub(super) fn new(queues: &Queues) -> Self {
        Thief {
            paces: queues.seats().map(|_| Pace::UNKNOWN).collect(),
            branches: queues.lent().nothing_seen(),
            random: Random::new(),
            has_declined: false,
            haul: None,
            worth: Worth::default(),
        }
    }

    /// The worker has run out of tasks: it is done with what it stole, and with all that came of it.
    pub(super) fn assess(&mut self, queues: &Queues) {
        if let Some(haul) = self.haul.take() {
            self.worth.assess(haul, queues.now());
        }
    }

    /// Whether it has left tasks to their workers. The lookout looks at those again after its nap.
    pub(super) fn has_declined(&self) -> bool {
        self.has_declined
    }

    /// Whether there will soon be more tasks, and to take them will be worth it.
    pub(super) fn expects_more(&self) -> bool {
        self.paces.iter().any(Pace::is_in_burst)
    }

    /// Takes tasks from another worker, up to half of what it has, into the deque of worker `index`. The first victim is random.
    /// `looks_again`: soon, so what cannot be judged yet may wait.
    pub(super) fn steal(
        &mut self,
        index: usize,
        looks_again: bool,
        queues: &Queues,
        into: &Deque<Task>,
    ) -> Option<Task> {
        let first = self.random.next() as usize % self.paces.len();
        self.has_declined = false;
        let stolen = self.victims(index, first).find_map(|victim| {
            let seat = queues.seat(victim);
            let (waiting, now) = (seat.deque.len() + seat.next.len(), queues.now());
            let takes = match self.paces[victim].judge(seat.progress(), waiting, now, looks_again) {
                Verdict::Leave => false,
                Verdict::TakeTiny => self.worth.pays_for_tiny(now),
                Verdict::Take => true,
            };
            if !takes {
                self.has_declined |= waiting > 0;
                return None;
            }
            let tasks = until_clear(|| seat.deque.steal_batch_and_pop(into));
            tasks.or_else(|| until_clear(|| seat.next.steal()))
        });
        self.haul = stolen.is_some().then(|| Haul { tasks: into.len() as u32 + 1, at: queues.now() });
        stolen
    }

    /// All workers but the thief.
    fn victims(&self, index: usize, first: usize) -> impl Iterator<Item = usize> + use<> {
        let count = self.paces.len();
        (0..count).map(move |distance| (first + distance) % count).filter(move |victim| *victim != index)
    }

    /// Steals a lent branch.
    pub(super) fn steal_branch(&mut self, index: usize, queues: &Queues) -> Option<Task> {
        queues.lent().steal(index, &mut self.branches)
    }
}

impl Pace {
    const UNKNOWN: Pace =
        Pace { progress: 0, waiting: 0, since: Instant::EPOCH, grows_since: None, was_unclear: false };

    /// Whether the worker was in a burst at the last look.
    fn is_in_burst(&self) -> bool {
        self.grows_since.is_some_and(|start| self.since - start < LONGEST_BURST)
    }

    /// Judges by the pace since the last look how long the last of the tasks that wait would do so.
    fn judge(&mut self, progress: u64, waiting: usize, now: Instant, looks_again: bool) -> Verdict {
        let time = now - self.since;
        if time < LONG_WAIT {
            return Verdict::Leave;
        }
        let done = progress.wrapping_sub(self.progress);
        let queued = waiting.saturating_sub(self.waiting) as u64;
        // Once: the system may interrupt the thief between two looks.
        let is_unclear = done > 0 && time > LONGEST_LOOK && looks_again && !self.was_unclear;
        let grows_since = (queued > MANY * (done + 1)).then(|| self.grows_since.unwrap_or(now));
        *self = Pace { progress, waiting, since: now, grows_since, was_unclear: is_unclear };
        if is_unclear || self.is_in_burst() && looks_again {
            return Verdict::Leave;
        }
        // Turns of the length `time / done`, without a division by zero.
        let (time, done) = (time.as_nanos(), u128::from(done));
        if time * waiting as u128 <= LONG_WAIT.as_nanos() * done {
            Verdict::Leave
        } else if time < TINY.as_nanos() * done {
            Verdict::TakeTiny
        } else {
            Verdict::Take
        }
    }
}

impl Worth {
    fn assess(&mut self, Haul { tasks, at }: Haul, now: Instant) {
        let worth = (now - at) / tasks;
        self.average = if worth < MUCH { (31 * self.average + worth) / 32 } else { MUCH };
        if self.average < TINY {
            self.rests_until = now + self.rest;
            self.rest = (2 * self.rest).min(LONGEST_REST);
        } else {
            self.rest = SHORTEST_REST;
        }
    }

    fn pays_for_tiny(&self, now: Instant) -> bool {
        now >= self.rests_until
    }
}

impl Default for Worth {
    fn default() -> Self {
        Worth { average: MUCH, rest: SHORTEST_REST, rests_until: Instant::EPOCH }
    }
}

#[cfg(all(test, not(fiber_loom)))]
mod tests {
    use super::*;

    const LOOK: Duration = Duration::from_micros(6);

    /// The verdict on a worker that has got through `done` tasks, and queued `queued` more, since the first of two looks.
    fn verdict(waiting: usize, done: u64, queued: usize, time: Duration) -> Verdict {
        let mut pace = Pace { progress: 7, waiting, ..Pace::UNKNOWN };
        pace.judge(7 + done, waiting + queued, Instant::EPOCH + time, true)
    }

    #[test]
    fn short_queues_of_short_turns_are_left_to_their_worker() {
        assert_eq!(verdict(8, 60, 0, LOOK), Verdict::Leave);
        assert_eq!(verdict(200, 60, 0, LOOK), Verdict::TakeTiny);
        assert_eq!(verdict(8, 6, 0, LOOK), Verdict::Take);
    }

    #[test]
    fn a_task_behind_a_computation_is_taken() {
        assert_eq!(verdict(1, 0, 0, LOOK), Verdict::Take);
        assert_eq!(verdict(1, 0, 0, Duration::from_millis(2)), Verdict::Take);
    }

    #[test]
    fn a_worker_that_may_have_been_idle_is_looked_at_once_more() {
        let (mut pace, millisecond) = (Pace { waiting: 1, ..Pace::UNKNOWN }, Duration::from_millis(1));
        let mut others = pace;
        assert_eq!(pace.judge(1, 1, Instant::EPOCH + millisecond, true), Verdict::Leave);
        assert_eq!(pace.judge(2, 1, Instant::EPOCH + 2 * millisecond, true), Verdict::Take);
        assert_eq!(others.judge(1, 1, Instant::EPOCH + millisecond, false), Verdict::Take);
    }

    #[test]
    fn tasks_are_left_alone_while_their_worker_queues_more() {
        let (mut pace, start) = (Pace { waiting: 8, ..Pace::UNKNOWN }, Instant::EPOCH);
        assert_eq!(pace.judge(0, 38, start + LOOK, true), Verdict::Leave);
        assert!(pace.is_in_burst());
        assert_eq!(pace.judge(0, 38, start + 2 * LOOK, true), Verdict::Take);
        assert!(!pace.is_in_burst());
    }

    #[test]
    fn a_worker_that_queues_more_and_more_is_helped_after_a_while() {
        let mut pace = Pace::UNKNOWN;
        let mut look = |n: u32| pace.judge(0, 30 * n as usize, Instant::EPOCH + n * LOOK, true);
        let last = 1 + LONGEST_BURST.as_nanos().div_ceil(LOOK.as_nanos()) as u32;
        assert!((1..last).all(|n| look(n) == Verdict::Leave));
        assert_eq!(look(last), Verdict::Take);
    }

    fn steal(worth: &mut Worth, tasks: u32, busy: Duration, now: &mut Instant) {
        let at = *now;
        *now += busy;
        worth.assess(Haul { tasks, at }, *now);
    }

    #[test]
    fn a_thief_of_tiny_tasks_rests_for_longer_and_longer_until_one_was_worth_it() {
        let (mut worth, mut now) = (Worth::default(), Instant::EPOCH);
        for _ in 0..200 {
            steal(&mut worth, 32, 32 * Duration::from_nanos(300), &mut now);
        }
        assert!(!worth.pays_for_tiny(now) && !worth.pays_for_tiny(now + LONGEST_REST / 2));
        assert!(worth.pays_for_tiny(now + LONGEST_REST));
        now += LONGEST_REST;
        steal(&mut worth, 1, Duration::from_millis(1), &mut now);
        assert!(worth.pays_for_tiny(now));
        assert_eq!(worth.rest, SHORTEST_REST);
    }

    #[test]
    fn a_few_tiny_tasks_among_long_ones_keep_no_thief_away() {
        let (mut worth, mut now) = (Worth::default(), Instant::EPOCH);
        for n in 0..1000 {
            let task = if n % 10 == 0 { MUCH } else { Duration::from_nanos(100) };
            steal(&mut worth, 4, 4 * task, &mut now);
            assert!(worth.pays_for_tiny(now), "after {n} steals");
        }
    }
}
