//! What a worker does while others run: it looks for what they leave, and after those that are stuck.

use std::sync::atomic::Ordering;
use std::time::Duration;

use fiber_core::Instant;

use super::idle::Duty;
use super::queue::Queues;
use super::seat::Seat;
use super::thief::Thief;

/// How long the lookout sleeps between two looks, at first and at most. Work of a millisecond is usually followed by more
/// of its kind, so the first nap is short. The longest one costs a core less than a hundredth of its time.
pub(super) const SHORTEST_NAP: Duration = Duration::from_micros(200);
pub(super) const LONGEST_NAP: Duration = Duration::from_millis(2);

/// The lookout of an idle pool naps so often before it sleeps for good.
const LONELY_NAPS: u32 = 8;

/// If a lookout is appointed so often, it is cheaper to nap in between than to be woken each time, and to nap once after that.
const SOON: Duration = Duration::from_millis(3);

/// What a worker remembers from its earlier looks.
pub(super) struct Lookout {
    nap: Duration,
    /// Enough others search.
    looks_once: bool,
    /// How often it has napped in a row while no worker ran.
    lonely_naps: u32,
    turns: Box<[Watched]>,
    /// The last two looks have found a worker in the same turn.
    has_seen_long_turn: bool,
    pub(super) thief: Thief,
}

/// A turn of another worker.
#[derive(Clone, Copy)]
struct Watched {
    turn: Option<u64>,
    /// When it was seen first.
    since: Instant,
}

impl Lookout {
    pub(super) fn new(queues: &Queues) -> Self {
        Lookout {
            nap: SHORTEST_NAP,
            looks_once: false,
            lonely_naps: LONELY_NAPS,
            turns: queues.seats().map(|_| Watched { turn: None, since: Instant::EPOCH }).collect(),
            has_seen_long_turn: false,
            thief: Thief::new(queues),
        }
    }

    /// The worker has run out of tasks, and begins to search.
    pub(super) fn begin(&mut self, are_many: bool, queues: &Queues) {
        self.looks_once = are_many;
        self.nap = SHORTEST_NAP;
        self.thief.assess(queues);
    }

    /// Whether one look is enough, because many search.
    pub(super) fn looks_once(&self) -> bool {
        self.looks_once
    }

    /// Whether the worker naps on as the lookout although no worker runs: the next work needs no wake-up to have one.
    pub(super) fn lingers(&self) -> bool {
        self.lonely_naps < LONELY_NAPS
    }

    /// Whether a turn may keep events waiting in the poll that its worker has left.
    pub(super) fn has_seen_long_turn(&self) -> bool {
        self.has_seen_long_turn
    }

    /// The length of the next nap.
    pub(super) fn nap(&mut self) -> Duration {
        let nap = self.nap;
        self.nap = after(nap);
        nap
    }

    /// The worker has slept. `has_napped`: for a limited time.
    pub(super) fn get_up(&mut self, duty: Duty, has_napped: bool, has_company: bool, queues: &Queues) {
        let is_on_duty = duty == Duty::Lookout && has_napped;
        self.looks_once = false;
        self.lonely_naps = match (is_on_duty, has_company) {
            // The turn that it was woken for may be over, and the next one come soon, as this one did.
            (false, _) if duty == Duty::Appointed && queues.time_since_appointment() < SOON => 0,
            (false, _) => LONELY_NAPS,
            (true, true) => 0,
            (true, false) => self.lonely_naps + 1,
        };
        self.has_seen_long_turn = false;
        if is_on_duty {
            // Before the check: a push after it is reported.
            queues.seats().for_each(Seat::mark);
            queues.lent().tell_all();
            queues.polls().look_at_neglected();
            self.look_after_others(queues);
        } else {
            self.nap = SHORTEST_NAP;
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
            self.has_seen_long_turn |= !time.is_zero();
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
            // Not `now`: this thread may have been interrupted since, and a turn that has just begun would seem long.
            *watched = Watched { turn, since: queues.now() };
        }
        turn.map(|_| now - watched.since)
    }
}

/// The length of the nap that follows one of the length `nap`.
fn after(nap: Duration) -> Duration {
    (2 * nap).min(LONGEST_NAP)
}

#[cfg(all(test, not(fiber_loom)))]
mod tests {
    use super::{LONELY_NAPS, SHORTEST_NAP, SOON, after};
    use std::iter;
    use std::time::Duration;

    #[test]
    fn lonely_naps_wake_a_thread_less_often_than_the_appointments_that_they_save() {
        let naps = iter::successors(Some(SHORTEST_NAP), |nap| Some(after(*nap)));
        let time: Duration = naps.take(LONELY_NAPS as usize).sum();
        // In units of a wake-up. One appointment comes before the naps, the others in their time; a nap follows each.
        let wake_ups = 1 + LONELY_NAPS;
        let saved = 2.0 * (1.0 + time.as_secs_f64() / SOON.as_secs_f64());
        assert!(f64::from(wake_ups) <= saved, "{wake_ups} for {saved}");
    }
}
