//! What a worker does while others run: it looks for what they leave, and after those that are stuck.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crossbeam_deque::Worker as Deque;
use fiber_core::{Instant, Task};

use super::lent::Seen;
use super::queue::Queues;
use super::seat::Seat;
use crate::random::Random;
use crate::steal::until_clear;

/// How long the lookout sleeps between two looks, at first and at most. Work of a millisecond is usually followed by more
/// of its kind, so the first nap is short. The longest one costs a core less than a hundredth of its time.
pub(super) const SHORTEST_NAP: Duration = Duration::from_micros(200);
pub(super) const LONGEST_NAP: Duration = Duration::from_millis(2);

/// The lookout of an idle pool naps so often before it sleeps for good.
const LONELY_NAPS: u32 = 8;

/// A worker keeps its tasks from thieves if it gets through them in this time: as long as dozens of hand-overs between fibers take.
const LONG_WAIT: Duration = Duration::from_micros(5);

/// A pace is taken from turns in this time at most.
const LONGEST_LOOK: Duration = Duration::from_micros(50);

/// What a worker remembers from its earlier looks.
pub(super) struct Lookout {
    nap: Duration,
    /// Enough others search.
    looks_once: bool,
    /// How often it has napped in a row while no worker ran.
    lonely_naps: u32,
    turns: Box<[Watched]>,
    paces: Box<[Pace]>,
    branches: Seen,
    random: Random,
}

/// A turn of another worker.
#[derive(Clone, Copy)]
struct Watched {
    turn: Option<u64>,
    /// When it was seen first.
    since: Instant,
}

/// How many tasks another worker had got through at some time.
#[derive(Clone, Copy)]
struct Pace {
    progress: u64,
    since: Instant,
}

impl Lookout {
    pub(super) fn new(queues: &Queues) -> Self {
        Lookout {
            nap: SHORTEST_NAP,
            looks_once: false,
            lonely_naps: LONELY_NAPS,
            turns: queues.seats().map(|_| Watched { turn: None, since: Instant::EPOCH }).collect(),
            paces: queues.seats().map(|_| Pace { progress: 0, since: Instant::EPOCH }).collect(),
            branches: queues.lent().nothing_seen(),
            random: Random::new(),
        }
    }

    /// The worker begins to search.
    pub(super) fn begin(&mut self, are_many: bool) {
        self.looks_once = are_many;
        self.nap = SHORTEST_NAP;
    }

    /// Whether one look is enough, because many search.
    pub(super) fn looks_once(&self) -> bool {
        self.looks_once
    }

    /// Whether the worker naps on as the lookout although no worker runs: the next work needs no wake-up to have one.
    pub(super) fn lingers(&self) -> bool {
        self.lonely_naps < LONELY_NAPS
    }

    /// The length of the next nap.
    pub(super) fn nap(&mut self) -> Duration {
        let nap = self.nap;
        self.nap = (2 * nap).min(LONGEST_NAP);
        nap
    }

    /// The worker has slept. `is_on_duty`: it has napped as the lookout, and was not woken.
    pub(super) fn get_up(&mut self, is_on_duty: bool, has_company: bool, queues: &Queues) {
        self.looks_once = false;
        self.lonely_naps = match (is_on_duty, has_company) {
            (false, _) => LONELY_NAPS,
            (true, true) => 0,
            (true, false) => self.lonely_naps + 1,
        };
        if is_on_duty {
            // Before the check: a push after it is reported.
            queues.seats().for_each(Seat::mark);
            queues.lent().tell_all();
            queues.polls().look_at_neglected();
            self.look_after_others(queues);
        }
    }

    /// The worker has found a task.
    pub(super) fn has_found(&mut self) {
        self.nap = SHORTEST_NAP;
    }

    /// Finds the workers whose turn lasts too long.
    fn look_after_others(&mut self, queues: &Queues) {
        let (now, settings) = (queues.now(), queues.settings().load());
        // The worker itself is in no turn.
        for index in 0..self.turns.len() {
            let time = self.watch(index, now, queues).unwrap_or_default();
            if time >= settings.quantum {
                // Relaxed: see `Seat`.
                queues.seat(index).is_overdue().store(true, Ordering::Relaxed);
                queues.lent().call(index);
            }
            if let Some(turn) = self.turns[index].turn.filter(|_| time >= settings.stuck_after()) {
                queues.is_stuck(index, turn);
            }
        }
    }

    /// How long the other worker has been seen in its turn.
    fn watch(&mut self, index: usize, now: Instant, queues: &Queues) -> Option<Duration> {
        let (watched, turn) = (&mut self.turns[index], queues.seat(index).turn());
        if watched.turn != turn {
            *watched = Watched { turn, since: now };
        }
        turn.map(|_| now - watched.since)
    }

    /// Steals tasks from another worker, up to half of what it has, into the deque of worker `thief`. The first victim is
    /// random.
    ///
    /// Only what would wait for long is stolen. Fibers with short turns are in the cache of their worker, and usually wait for each
    /// other: it gets to them before a thief has their data.
    pub(super) fn steal(&mut self, thief: usize, queues: &Queues, into: &Deque<Task>) -> Option<Task> {
        let looks_again = !(self.looks_once || queues.idle().has_displaced());
        let first = self.random.next() as usize % self.turns.len();
        self.victims(thief, first).find_map(|victim| {
            let seat = queues.seat(victim);
            let waiting = seat.deque.len() + seat.next.len();
            if waiting == 0 || !self.do_wait_long(victim, waiting, looks_again, queues) {
                return None;
            }
            let tasks = until_clear(|| seat.deque.steal_batch_and_pop(into));
            tasks.or_else(|| until_clear(|| seat.next.steal()))
        })
    }

    /// All workers but the thief.
    fn victims(&self, thief: usize, first: usize) -> impl Iterator<Item = usize> + use<> {
        let count = self.turns.len();
        (0..count).map(move |distance| (first + distance) % count).filter(move |victim| *victim != thief)
    }

    /// Whether the worker, by its pace since the last look, takes long to get through so many tasks. If it may have been idle since
    /// the last look, and this thread `looks_again`, that is for the next look to find out.
    fn do_wait_long(&mut self, index: usize, waiting: usize, looks_again: bool, queues: &Queues) -> bool {
        let (now, progress) = (queues.now(), queues.seat(index).progress());
        let seen = &mut self.paces[index];
        let time = now - seen.since;
        if time < LONG_WAIT {
            return false;
        }
        let done = progress.wrapping_sub(seen.progress);
        *seen = Pace { progress, since: now };
        if looks_again && done > 0 && time > LONGEST_LOOK {
            return false;
        }
        // `waiting` turns of the length `time / done`, without a division by zero.
        time.as_nanos() * waiting as u128 > LONG_WAIT.as_nanos() * u128::from(done)
    }

    /// Steals a lent branch.
    pub(super) fn steal_branch(&mut self, thief: usize, queues: &Queues) -> Option<Task> {
        queues.lent().steal(thief, &mut self.branches)
    }
}
