//! What a thread has done in the last seconds.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::Duration;

use fiber_core::{Context, Instant};
use parking_lot::{Mutex, RwLock};

use crate::observer::is_blocking_call;

/// The length of a slot of the timeline.
pub(super) const SLOT: Duration = Duration::from_millis(100);
/// So many slots are kept: the last ten seconds.
pub(super) const SLOTS: usize = 100;

/// Turns that last so long are kept one by one.
const LONG: Duration = Duration::from_millis(1);
/// The most of them for one thread.
const MOST_LONG: usize = 200;

/// So many threads are noted before those that have done nothing for long are forgotten.
const FEW: usize = 64;

/// All threads that have run fibers in the last seconds.
pub(super) struct Lanes(RwLock<Known>);

struct Known {
    lanes: Vec<Arc<Lane>>,
    /// At this number, the idle ones are forgotten: also where nobody asks for a report, threads may come and go.
    most: usize,
}

struct Lane {
    thread: ThreadId,
    name: String,
    tape: Mutex<Tape>,
}

#[derive(Clone)]
struct Tape {
    /// By their numbers since the scheduler's epoch, modulo `SLOTS`.
    slots: [Slot; SLOTS],
    turn: Option<Turn>,
    long: VecDeque<LongTurn>,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    number: u64,
    busy: Duration,
    turns: u32,
}

/// The turn, or the blocking call, in which a thread is.
#[derive(Clone)]
pub(super) struct Turn {
    pub(super) fiber: Context,
    pub(super) since: Instant,
    pub(super) is_blocking_call: bool,
}

/// A turn that was long.
#[derive(Clone)]
pub(super) struct LongTurn {
    pub(super) fiber: String,
    pub(super) since: Instant,
    pub(super) end: Instant,
}

/// A thread in a report.
pub(super) struct Seen {
    pub(super) name: String,
    /// For each slot, the oldest first: the share of it that the thread was busy, in thousandths.
    pub(super) busy: Vec<u32>,
    /// The number of turns that have ended in these slots.
    pub(super) turns: u64,
    pub(super) turn: Option<Turn>,
    pub(super) long: Vec<LongTurn>,
}

impl Lanes {
    /// Surrounds a turn on this thread. A turn within a turn is a part of it.
    pub(super) fn during(&self, fiber: &Context, run: impl FnOnce()) {
        let since = fiber.scheduler().now();
        let lane = self.of_this_thread(since);
        let turn = Turn { fiber: fiber.clone(), since, is_blocking_call: is_blocking_call() };
        let is_outermost = lane.tape.lock().begin(turn);
        run();
        if is_outermost {
            let now = fiber.scheduler().now();
            // The name is made, and the context dropped, without the lock.
            let turn = lane.tape.lock().end(now);
            if let Some(turn) = turn.filter(|turn| now - turn.since >= LONG) {
                let long = LongTurn { fiber: label(&turn.fiber), since: turn.since, end: now };
                lane.tape.lock().note(long);
            }
        }
    }

    fn of_this_thread(&self, now: Instant) -> Arc<Lane> {
        let thread = thread::current();
        let known = self.0.read().lanes.iter().find(|lane| lane.thread == thread.id()).cloned();
        known.unwrap_or_else(|| {
            let name = thread.name().unwrap_or("a thread without a name").to_owned();
            let lane = Arc::new(Lane { thread: thread.id(), name, tape: Mutex::new(Tape::default()) });
            let mut known = self.0.write();
            if known.lanes.len() >= known.most {
                known.forget(now);
            }
            known.lanes.push(lane.clone());
            lane
        })
    }

    /// The threads in the order of their names. Forgets those that have done nothing for long, which may have ended.
    pub(super) fn seen(&self, now: Instant) -> Vec<Seen> {
        self.0.write().forget(now);
        let lanes = self.0.read().lanes.clone();
        let mut seen: Vec<Seen> = lanes.iter().map(|lane| lane.seen(now)).collect();
        seen.sort_by(|one, other| (one.name.len(), &one.name).cmp(&(other.name.len(), &other.name)));
        seen
    }
}

impl Default for Lanes {
    fn default() -> Self {
        Lanes(RwLock::new(Known { lanes: Vec::new(), most: FEW }))
    }
}

impl Known {
    /// Forgets the threads that have done nothing for long.
    fn forget(&mut self, now: Instant) {
        // One that another thread has found is about to begin a turn, or to end one.
        self.lanes.retain(|lane| Arc::strong_count(lane) > 1 || lane.tape.lock().is_recent(now));
        self.most = FEW.max(2 * self.lanes.len());
    }
}

impl Lane {
    fn seen(&self, now: Instant) -> Seen {
        let mut tape = self.tape.lock().clone();
        if let Some(turn) = &tape.turn {
            let since = turn.since;
            tape.spread(since, now);
        }
        let last = number(now);
        let first = last.saturating_sub(SLOTS as u64 - 1);
        let slots = || (first..=last).map(|number| tape.slot(number));
        // The last slot has just begun.
        let length = |slot: Slot| (now - start(slot.number)).clamp(Duration::from_nanos(1), SLOT).as_nanos();
        let share = |slot: Slot| (1_000 * slot.busy.as_nanos() / length(slot)).min(1_000) as u32;
        Seen {
            name: self.name.clone(),
            busy: slots().map(share).collect(),
            turns: slots().map(|slot| u64::from(slot.turns)).sum(),
            turn: tape.turn,
            long: tape.long.into_iter().filter(|turn| number(turn.end) >= first).collect(),
        }
    }
}

impl Default for Tape {
    fn default() -> Self {
        Tape { slots: [Slot::default(); SLOTS], turn: None, long: VecDeque::new() }
    }
}

impl Tape {
    /// `false`: the thread is in a turn.
    fn begin(&mut self, turn: Turn) -> bool {
        let is_outermost = self.turn.is_none();
        if is_outermost {
            self.turn = Some(turn);
        }
        is_outermost
    }

    fn end(&mut self, now: Instant) -> Option<Turn> {
        let turn = self.turn.take()?;
        self.spread(turn.since, now);
        self.slot_mut(number(now)).turns += 1;
        Some(turn)
    }

    fn note(&mut self, turn: LongTurn) {
        if self.long.len() == MOST_LONG {
            self.long.pop_front();
        }
        self.long.push_back(turn);
    }

    /// Adds a time to the slots that it touches.
    fn spread(&mut self, since: Instant, end: Instant) {
        let last = number(end);
        let first = number(since).max(last.saturating_sub(SLOTS as u64 - 1));
        for number in first..=last {
            let (from, to) = (start(number), start(number + 1));
            self.slot_mut(number).busy += to.min(end) - from.max(since);
        }
    }

    fn slot_mut(&mut self, number: u64) -> &mut Slot {
        let slot = &mut self.slots[number as usize % SLOTS];
        if slot.number != number {
            *slot = Slot { number, ..Slot::default() };
        }
        slot
    }

    fn slot(&self, number: u64) -> Slot {
        let slot = self.slots[number as usize % SLOTS];
        if slot.number == number { slot } else { Slot::default() }
    }

    fn is_recent(&self, now: Instant) -> bool {
        let newest = self.slots.iter().map(|slot| slot.number).max().unwrap_or_default();
        self.turn.is_some() || newest + SLOTS as u64 > number(now)
    }
}

/// The number of the slot of a moment.
fn number(at: Instant) -> u64 {
    at.as_nanos() / SLOT.as_nanos() as u64
}

fn start(number: u64) -> Instant {
    Instant::from_nanos(number.saturating_mul(SLOT.as_nanos() as u64))
}

/// `0.1 "name"`.
pub(super) fn label(fiber: &Context) -> String {
    let id = fiber.id();
    fiber.name().map_or_else(|| id.clone(), |name| format!("{id} {name:?}"))
}

#[cfg(test)]
mod tests {
    use fiber_test::TestScheduler;

    use super::*;

    #[test]
    fn threads_that_come_and_go_are_forgotten_also_without_a_report() {
        let (test, lanes) = (TestScheduler::new(), Lanes::default());
        let fiber = test.context().clone();
        let run = || lanes.during(&fiber, || ());
        let mut most = 0;
        for _ in 0..10 * FEW {
            run();
            thread::scope(|scope| scope.spawn(run).join()).unwrap();
            test.run_for(Duration::from_secs(1));
            most = most.max(lanes.0.read().lanes.len());
        }
        assert!(most <= FEW, "{most} threads are known");
        assert!(lanes.0.read().lanes.iter().any(|lane| lane.thread == thread::current().id()));
    }

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn a_turn_counts_in_every_slot_that_it_touches() {
        let mut tape = Tape::default();
        tape.spread(at(150), at(320));
        let busy: Vec<u128> = (0..5).map(|number| tape.slot(number).busy.as_millis()).collect();
        assert_eq!(busy, [0, 50, 100, 20, 0]);
    }

    #[test]
    fn a_slot_is_used_again_after_ten_seconds() {
        let mut tape = Tape::default();
        tape.spread(at(0), at(60));
        tape.spread(at(10_000), at(10_010));
        assert_eq!(tape.slot(0).busy, Duration::ZERO, "it was long ago");
        assert_eq!(tape.slot(100).busy, Duration::from_millis(10));
        // A turn that is longer than the timeline fills it, and no more.
        tape.spread(at(0), at(60_000));
        assert!((501..600).all(|number| tape.slot(number).busy == SLOT));
    }

    #[test]
    fn a_thread_is_forgotten_when_its_timeline_is_empty() {
        let mut tape = Tape::default();
        tape.spread(at(1_000), at(1_001));
        assert!(tape.is_recent(at(10_900)) && !tape.is_recent(at(11_100)));
    }
}
