//! The wheel compared with a sorted map, and what the map cannot show.

use std::collections::BTreeMap;

use fiber_core::Instant;
use fiber_core::scheduler::TimerKey;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::RngSeed;

use super::{CROWD, LEAD, LEVEL_BITS, LEVELS, SEARCHED, TICK_BITS, Wheel};

const TICK: u64 = 1 << TICK_BITS;

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

/// All due timers, in the order in which they come out.
fn pop_all(wheel: &mut Wheel<u64>, now: u64) -> Vec<u64> {
    std::iter::from_fn(|| wheel.pop_due(at(now))).collect()
}

/// The duration of a slot of a level.
fn slot(level: usize) -> u64 {
    TICK << (level as u32 * LEVEL_BITS)
}

#[test]
fn a_timer_of_each_level_is_due_at_its_nanosecond_and_not_before() {
    for level in 0..LEVELS {
        for deadline in [slot(level), slot(level) + 1, 3 * slot(level) - 1] {
            let mut wheel = Wheel::default();
            wheel.insert(at(deadline), 7);
            assert_eq!(wheel.first(), Some(at(deadline)));
            assert_eq!(wheel.pop_due(at(deadline - 1)), None);
            assert_eq!(wheel.first(), Some(at(deadline)));
            assert_eq!(wheel.pop_due(at(deadline)), Some(7));
            assert_eq!(wheel.first(), None);
        }
    }
}

#[test]
fn a_level_begins_again_where_it_ends() {
    // The last slot of a level, the first one of the next rotation, and the slot after it, seen from each other.
    for level in 0..LEVELS - 1 {
        let turn = slot(level + 1);
        let mut wheel = Wheel::default();
        assert_eq!(wheel.pop_due(at(turn - 1)), None);
        for (n, deadline) in [turn + slot(level), turn, turn - 1].into_iter().enumerate() {
            wheel.insert(at(deadline), n as u64);
        }
        assert_eq!(pop_all(&mut wheel, turn - 1), [2]);
        assert_eq!(wheel.first(), Some(at(turn)));
        assert_eq!(pop_all(&mut wheel, turn), [1]);
        assert_eq!(wheel.first(), Some(at(turn + slot(level))));
        assert_eq!(pop_all(&mut wheel, turn + slot(level)), [0]);
    }
}

#[test]
fn the_same_instant_from_different_levels_keeps_the_order() {
    let deadline = 5 * slot(3) + 5;
    let mut wheel = Wheel::default();
    let mut number = 0;
    // Ever closer, so that every timer is set at another level, and the last ones in the past.
    for before in [4 * slot(3), slot(2), slot(1), 2 * TICK, 1, 0] {
        let now = deadline - before;
        assert_eq!(wheel.pop_due(at(now - 1)), None);
        for _ in 0..3 {
            wheel.insert(at(deadline), number);
            number += 1;
        }
    }
    assert_eq!(pop_all(&mut wheel, deadline), (0..number).collect::<Vec<_>>());
}

#[test]
fn a_level_is_chosen_by_the_time_that_is_left() {
    let mut wheel = Wheel::default();
    let now = slot(4);
    assert_eq!(wheel.pop_due(at(now)), None);
    for (level, left) in [TICK, slot(1), slot(2)].into_iter().enumerate() {
        wheel.insert(at(now + left), left);
        wheel.sort_latest();
        assert_eq!(wheel.occupied[level].count_ones(), 1);
    }
    assert_eq!(pop_all(&mut wheel, now + TICK), [TICK]);
    assert_eq!(pop_all(&mut wheel, now + slot(2) - 1), [slot(1)]);
    assert_eq!(pop_all(&mut wheel, now + slot(2)), [slot(2)]);
    assert!(wheel.is_empty());
}

#[test]
fn the_past_comes_first() {
    let mut wheel = Wheel::default();
    assert_eq!(wheel.pop_due(at(1_000 * TICK)), None);
    for deadline in [1_000 * TICK, 5, 7, 5] {
        wheel.insert(at(deadline), deadline);
    }
    assert_eq!(wheel.first(), Some(at(5)));
    assert_eq!(pop_all(&mut wheel, 1_000 * TICK), [5, 5, 7, 1_000 * TICK]);
}

#[test]
fn the_end_of_time_is_reached() {
    let mut wheel = Wheel::default();
    let deadlines = [u64::MAX, 1 << 63, u64::MAX - 1, 1 << 62];
    deadlines.into_iter().for_each(|deadline| _ = wheel.insert(at(deadline), deadline));
    assert_eq!(wheel.pop_due(at((1 << 62) - 1)), None);
    assert_eq!(pop_all(&mut wheel, u64::MAX - 1), [1 << 62, 1 << 63, u64::MAX - 1]);
    assert_eq!(wheel.pop_due(Instant::FAR_FUTURE), Some(u64::MAX));
    wheel.insert(at(3), 3);
    assert_eq!(wheel.next(), Some(3));
}

#[test]
fn a_key_outlives_neither_its_timer_nor_the_next_one_in_the_same_place() {
    let mut wheel = Wheel::default();
    let deadlines = [1, TICK, slot(4), u64::MAX];
    let removed = deadlines.map(|deadline| wheel.insert(at(deadline), 0).0);
    removed.into_iter().for_each(|key| assert_eq!(wheel.remove(key), Some(0)));
    let fired = deadlines.map(|deadline| wheel.insert(at(deadline), 1).0);
    assert_eq!(pop_all(&mut wheel, u64::MAX), [1; 4]);
    let live = deadlines.map(|deadline| wheel.insert(at(deadline), 2).0);
    for stale in removed.into_iter().chain(fired).chain([Wheel::<u64>::no_timer()]) {
        assert_eq!(wheel.remove(stale), None);
    }
    live.into_iter().for_each(|key| assert_eq!(wheel.remove(key), Some(2)));
    assert!(wheel.is_empty());
}

#[test]
fn a_timer_says_whether_it_is_the_first() {
    let mut wheel = Wheel::default();
    let mut is_first = |deadline| wheel.insert(at(deadline), 0).1.is_some();
    assert!(is_first(slot(3)));
    assert!(!is_first(slot(3)));
    assert!(!is_first(slot(3) + 1));
    assert!(is_first(slot(3) - 1));
    assert!(is_first(1));
    assert!(!is_first(2));
    assert!(is_first(0));
}

#[test]
fn one_vain_look_finds_the_first_of_a_large_slot_after_a_removal() {
    let start = slot(3);
    let exact = at(start + slot(1));
    for (others, is_exact) in [(1, true), (SEARCHED, true), (SEARCHED + 1, false), (1_000, false)] {
        let mut wheel = Wheel::default();
        let (first, _) = wheel.insert(at(start), 0);
        (1..=others as u64).rev().for_each(|n| _ = wheel.insert(at(start + n * slot(1)), n));
        assert_eq!(wheel.remove(first), Some(0));
        let look = wheel.first().unwrap();
        assert_eq!(look, if is_exact { exact } else { at(start) });
        assert_eq!(wheel.pop_due(at(start)), None);
        assert_eq!(wheel.first(), Some(exact));
        assert_eq!(pop_all(&mut wheel, u64::MAX), (1..=others as u64).collect::<Vec<_>>());
    }
}

#[test]
fn a_crowd_is_sorted_before_it_is_due() {
    for first in [slot(2), slot(3) + 1, slot(4) + 5 * TICK - 1] {
        let mut wheel = Wheel::default();
        let looks = (0..2 * CROWD as u64).filter_map(|n| wheel.insert(at(first + n * TICK), n).1);
        let early = at(first - LEAD);
        assert_eq!(looks.collect::<Vec<_>>(), [at(first), early]);
        assert_eq!(wheel.first(), Some(early));
        assert_eq!(wheel.pop_due(early), None);
        assert_eq!(wheel.first(), Some(at(first)));
        // What is set meanwhile comes before.
        wheel.insert(at(first - LEAD / 2), 7);
        assert_eq!(wheel.first(), Some(at(first - LEAD / 2)));
        assert_eq!(pop_all(&mut wheel, first - 1), [7]);
        assert_eq!(pop_all(&mut wheel, u64::MAX), (0..2 * CROWD as u64).collect::<Vec<_>>());
    }
}

#[test]
fn timers_that_are_removed_from_the_front_leave_nothing_behind() {
    let mut wheel = Wheel::default();
    let kept = wheel.insert(at(1), 1).0;
    for n in 0..10_000 {
        let key = wheel.insert(at(n % TICK), n).0;
        assert_eq!(wheel.remove(key), Some(n));
        assert!(wheel.front.len() < 200, "{} entries", wheel.front.len());
    }
    assert_eq!(wheel.remove(kept), Some(1));
    assert!(wheel.front.is_empty());
}

#[test]
fn timers_that_are_removed_from_a_slot_leave_little_behind() {
    let far = slot(3);
    let mut wheel = Wheel::default();
    let entries = |wheel: &Wheel<u64>| wheel.slots.iter().map(|slot| slot.entries()).sum::<usize>();
    let mut earlier = wheel.insert(at(far), 0).0;
    for n in 1..10_000 {
        // Never the one that was set last.
        let later = wheel.insert(at(far + n), n).0;
        assert_eq!(wheel.remove(earlier), Some(n - 1));
        assert!(entries(&wheel) < 200, "{} entries", entries(&wheel));
        earlier = later;
    }
    assert_eq!(wheel.first(), Some(at(far + 9_999)));
    assert_eq!(wheel.remove(earlier), Some(9_999));
    assert_eq!(entries(&wheel), 0);
    assert_eq!(wheel.first(), None);
}

#[test]
fn a_slot_with_removed_timers_keeps_the_order_of_the_others() {
    let far = slot(3);
    let mut wheel = Wheel::default();
    let keys: Vec<_> = (0..1_000).map(|n| wheel.insert(at(far), n).0).collect();
    keys.iter().step_by(3).for_each(|key| assert!(wheel.remove(*key).is_some()));
    assert_eq!(pop_all(&mut wheel, far), (0..1_000).filter(|n| n % 3 > 0).collect::<Vec<_>>());
}

#[test]
fn a_million_timers_come_out_in_order_and_their_memory_is_used_again() {
    const MILLION: u64 = 1_000_000;
    const TWO_HOURS: u64 = MILLION * 7_200_000;
    let mut wheel = Wheel::default();
    for start in [0, TWO_HOURS] {
        // Every number below a million occurs once, because this factor is coprime to a million.
        let deadlines = (0..MILLION).map(|n| start + n * 618_033 % MILLION * 7_200_000);
        let keys: Vec<_> = deadlines.map(|deadline| wheel.insert(at(deadline), deadline).0).collect();
        assert_eq!(wheel.nodes.len(), MILLION as usize);
        let removed = keys.iter().step_by(2).filter_map(|key| wheel.remove(*key)).count();
        assert_eq!(removed as u64, MILLION / 2);
        let rest = pop_all(&mut wheel, start + TWO_HOURS);
        assert_eq!(rest.len() as u64, MILLION / 2);
        assert!(rest.is_sorted());
        assert!(wheel.is_empty());
    }
}

#[derive(Clone, Debug)]
enum Action {
    /// At this distance from now, before or after.
    Insert(bool, u64),
    /// At the deadline of an earlier timer.
    InsertAgain(Index),
    /// By one of the returned keys, live or stale.
    Remove(Index),
    First,
    /// By this much, or to the first deadline.
    Advance(Option<u64>),
    /// As if the time were this much earlier.
    PopLate(u64),
}

/// From a nanosecond to all of time: every number of bits is equally likely.
fn distance() -> impl Strategy<Value = u64> {
    (0..=64_u32, any::<u64>()).prop_map(|(bits, number)| number.checked_shr(64 - bits).unwrap_or(0))
}

/// The delays of typical programs: some milliseconds.
fn usual_distance() -> impl Strategy<Value = u64> {
    prop_oneof![1 => distance(), 3 => 0..20_000_000_u64]
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => usual_distance().prop_map(|distance| Action::Insert(true, distance)),
        1 => usual_distance().prop_map(|distance| Action::Insert(false, distance)),
        2 => any::<Index>().prop_map(Action::InsertAgain),
        4 => any::<Index>().prop_map(Action::Remove),
        3 => Just(Action::First),
        2 => usual_distance().prop_map(|distance| Action::Advance(Some(distance))),
        2 => Just(Action::Advance(None)),
        1 => usual_distance().prop_map(Action::PopLate),
    ]
}

/// A wheel and its model, and a simulated thread that sleeps until the first timer.
#[derive(Default)]
struct Beside {
    wheel: Wheel<u64>,
    model: BTreeMap<(u64, u64), ()>,
    /// For every timer that was ever set, indexed by its number.
    keys: Vec<(TimerKey, u64)>,
    now: u64,
    wakes_at: Option<u64>,
}

impl Beside {
    fn act(&mut self, action: Action) {
        match action {
            Action::Insert(true, distance) => self.insert(self.now.saturating_add(distance)),
            Action::Insert(false, distance) => self.insert(self.now.saturating_sub(distance)),
            Action::InsertAgain(_) | Action::Remove(_) if self.keys.is_empty() => {}
            Action::InsertAgain(index) => self.insert(index.get(&self.keys).1),
            Action::Remove(index) => self.remove(index.index(self.keys.len())),
            Action::First => self.look(),
            Action::Advance(distance) => {
                let first = self.first().unwrap_or(self.now);
                self.now = distance.map_or(self.now.max(first), |distance| self.now.saturating_add(distance));
                self.pop(self.now);
            }
            Action::PopLate(distance) => self.pop(self.now.saturating_sub(distance)),
        }
        assert!(self.wakes_at.unwrap_or(u64::MAX) <= self.first().unwrap_or(u64::MAX), "the sleeper is late");
        assert_eq!(self.wheel.is_empty(), self.model.is_empty());
    }

    fn first(&self) -> Option<u64> {
        self.model.first_key_value().map(|(&(deadline, _), ())| deadline)
    }

    fn insert(&mut self, deadline: u64) {
        let number = self.keys.len() as u64;
        let is_before_all = self.first().is_none_or(|first| deadline < first);
        let (key, look) = self.wheel.insert(at(deadline), number);
        self.keys.push((key, deadline));
        self.model.insert((deadline, number), ());
        assert!(look.is_none_or(|look| is_before_all && look == at(deadline)));
        if look.is_some() {
            self.wakes_at = Some(deadline);
        }
    }

    fn remove(&mut self, number: usize) {
        let (key, deadline) = self.keys[number];
        let number = number as u64;
        let expected = self.model.remove(&(deadline, number)).map(|()| number);
        assert_eq!(self.wheel.remove(key), expected);
    }

    fn look(&mut self) {
        self.wakes_at = self.wheel.first().map(Instant::as_nanos);
        assert_eq!(self.wakes_at, self.first());
    }

    fn pop(&mut self, now: u64) {
        let later = self.model.split_off(&(now, u64::MAX));
        let due = std::mem::replace(&mut self.model, later);
        let due: Vec<u64> = due.into_keys().map(|(_, number)| number).collect();
        assert_eq!(pop_all(&mut self.wheel, now), due);
    }
}

/// The same cases in every run. `PROPTEST_RNG_SEED` selects others, and `PROPTEST_CASES` their number.
fn config() -> ProptestConfig {
    let given = ProptestConfig::default();
    ProptestConfig {
        cases: if std::env::var_os("PROPTEST_CASES").is_some() { given.cases } else { 400 },
        rng_seed: if given.rng_seed == RngSeed::Random { RngSeed::Fixed(0) } else { given.rng_seed },
        failure_persistence: None,
        ..given
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn it_does_what_a_sorted_map_would(actions in prop::collection::vec(action(), 0..120)) {
        let mut both = Beside::default();
        actions.into_iter().for_each(|action| both.act(action));
        let rest: Vec<u64> = both.model.into_keys().map(|(_, number)| number).collect();
        prop_assert_eq!(both.wheel.collect::<Vec<_>>(), rest);
    }
}
