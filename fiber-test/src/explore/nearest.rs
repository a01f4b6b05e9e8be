//! The passing schedule that is closest to a failing one, and the two turns whose order makes the difference.
//!
//! Tries in this order: two neighbours swapped, a deviation left out, a cancellation elsewhere, a fault of the network elsewhere, another choice
//! at one turn, a turn held back. Within each, changes next to the failure come first, since they have most in common with it. Without deviations,
//! the fault comes first.

use super::problem::ProblemKind;
use super::search::replay;
use super::shrink::Try;
use crate::machine::{Course, Lane};
use crate::schedule::{Deviation, Schedule};
use crate::strategy::{Follow, LaneKey, Lanes, Strategy};
use crate::trace::{Trace, Turn};

/// The number of schedules of each kind that are tried: all of a program of a few dozen turns.
const MAX_RUNS: usize = 1_000;

/// The maximum number of turns of the program for each kind: a second in a debug build, a tenth of that in an optimised one.
const MAX_TURNS: u64 = 500_000;

/// The same for all kinds together.
const MAX_TURNS_IN_ALL: u64 = 2 * MAX_TURNS;

#[derive(Clone, Debug)]
pub(crate) struct Nearest {
    pub(crate) schedule: Schedule,
    pub(crate) trace: Trace,
    /// Two turns of the failing trace that are in the other order here. `None`: the cancellation is elsewhere, a random number is another one, or
    /// the turn that comes first here does not occur in the failing trace.
    pub(crate) pair: Option<(usize, usize)>,
}

/// `run` runs a schedule; `record` also keeps its trace, and is slower.
pub(crate) fn nearest(
    schedule: &Schedule,
    failing: &Trace,
    kind: ProblemKind,
    run: &mut Try<'_>,
    record: &mut Try<'_>,
) -> Option<Nearest> {
    let mut search = Search { schedule, failing, kind, run, record, turns_left: 0, runs_left: 0 };
    // A fault at another turn explains more than an order of turns that avoids its effect.
    let first =
        if schedule.deviations.is_empty() { Some(Search::break_elsewhere as Step<'_, '_>) } else { None };
    let steps = [
        Search::swap_neighbours,
        Search::leave_one_out,
        Search::cancel_elsewhere,
        Search::break_elsewhere,
        Search::choose_otherwise,
        Search::hold_back,
    ];
    let mut in_all = MAX_TURNS_IN_ALL;
    first.into_iter().chain(steps).find_map(|step| {
        let turns = in_all.min(MAX_TURNS);
        (search.turns_left, search.runs_left) = (turns, MAX_RUNS);
        let found = if turns > 0 { step(&mut search) } else { None };
        in_all -= turns - search.turns_left;
        found
    })
}

/// A method of the search.
type Step<'a, 'b> = fn(&mut Search<'a, 'b>) -> Option<Nearest>;

struct Search<'a, 'b> {
    schedule: &'a Schedule,
    failing: &'a Trace,
    kind: ProblemKind,
    run: &'a mut Try<'b>,
    record: &'a mut Try<'b>,
    turns_left: u64,
    runs_left: usize,
}

impl Search<'_, '_> {
    fn has_time(&self) -> bool {
        self.turns_left > 0 && self.runs_left > 0
    }

    /// The schedule as it was run, and its trace, if it does not break the program.
    fn passes(&mut self, course: Course) -> Option<(Schedule, Trace)> {
        let Some(ran) = (self.run)(course) else {
            self.runs_left = 0;
            return None;
        };
        self.turns_left = self.turns_left.saturating_sub(u64::from(ran.counts.turns.max(1)));
        self.runs_left = self.runs_left.saturating_sub(1);
        if ran.problem.is_some() {
            return None;
        }
        let again = (self.record)(replay(&ran.schedule?))?;
        if again.problem.is_some() { None } else { Some((again.schedule?, again.trace?)) }
    }

    /// The same order of turns, except for two neighbours of different fibers.
    fn swap_neighbours(&mut self) -> Option<Nearest> {
        let order = order(self.failing);
        let mut neighbours = (1..order.len()).rev().filter(|second| order[second - 1] != order[*second]);
        while self.has_time() {
            let second = neighbours.next()?;
            // A random number belongs to the turn that draws it.
            let is_of_pair = |one: &Deviation| one.is_number() && one.turn.abs_diff(second as u32) <= 1;
            if self.schedule.deviations.iter().any(is_of_pair) {
                continue;
            }
            let mut swapped = order.clone();
            swapped.swap(second - 1, second);
            let strategy = Strategy::Follow(Follow::with_others(swapped.clone(), &self.schedule.deviations));
            let course = Course { strategy, ..replay(self.schedule) };
            let Some((schedule, trace)) = self.passes(course) else { continue };
            if self::order(&trace).starts_with(&swapped[..=second]) {
                return Some(Nearest { schedule, trace, pair: Some((second - 1, second)) });
            }
        }
        None
    }

    /// The same deviations except one.
    fn leave_one_out(&mut self) -> Option<Nearest> {
        let mut outs = (0..self.schedule.deviations.len()).rev();
        while self.has_time() {
            let out = outs.next()?;
            let mut fewer = self.schedule.clone();
            let is_order = !fewer.deviations.remove(out).is_number();
            let Some((schedule, trace)) = self.passes(replay(&fewer)) else { continue };
            let pair = if is_order { self.pair(&trace, 1) } else { None };
            return Some(Nearest { pair, schedule, trace });
        }
        None
    }

    /// The same schedule, with one cancellation a turn later or earlier, or removed.
    fn cancel_elsewhere(&mut self) -> Option<Nearest> {
        (0..self.schedule.cancellations.len()).find_map(|one| {
            let at = self.schedule.cancellations[one].turn;
            [Some(at + 1), at.checked_sub(1), None].into_iter().find_map(|turn| {
                let mut elsewhere = self.schedule.clone();
                match turn {
                    Some(turn) => elsewhere.cancellations[one].turn = turn,
                    None => drop(elsewhere.cancellations.remove(one)),
                }
                let (schedule, trace) = self.passes(replay(&elsewhere))?;
                Some(Nearest { schedule, trace, pair: None })
            })
        })
    }

    /// The same schedule, with one fault of the network a turn later or earlier, or removed.
    fn break_elsewhere(&mut self) -> Option<Nearest> {
        (0..self.schedule.faults.len()).find_map(|one| {
            let at = self.schedule.faults[one].turn;
            [Some(at + 1), at.checked_sub(1), None].into_iter().find_map(|turn| {
                let mut elsewhere = self.schedule.clone();
                match turn {
                    Some(turn) => elsewhere.faults[one].turn = turn,
                    None => drop(elsewhere.faults.remove(one)),
                }
                let (schedule, trace) = self.passes(replay(&elsewhere))?;
                Some(Nearest { schedule, trace, pair: None })
            })
        })
    }

    /// The same deviations, with one more, or one changed.
    fn choose_otherwise(&mut self) -> Option<Nearest> {
        let failing = self.failing;
        let mut others = self.turns().flat_map(|number| {
            let turn = &failing.turns[number];
            let choices = (1..turn.choices).filter(|choice| *choice != turn.choice);
            choices.map(move |choice| (number, choice as u32))
        });
        while self.has_time() {
            let (turn, choice) = others.next()?;
            let found = self.with_choices(turn, 1, choice);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// A turn of the oldest fiber comes two turns later than it could, three, ...
    fn hold_back(&mut self) -> Option<Nearest> {
        let turns = &self.failing.turns;
        let can_wait = |at: &usize| turns[*at].choice == 0 && turns[*at].choices > 1;
        let firsts: Vec<usize> = self.turns().filter(can_wait).collect();
        let mut held = (2..turns.len()).flat_map(|count| firsts.iter().map(move |first| (*first, count)));
        // Without a turn that can wait there is nothing to try.
        while self.has_time() && !firsts.is_empty() {
            let (first, count) = held.next()?;
            let found = self.with_choices(first, count, 1);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The turns of the failing trace, in the order in which they are tried: the last ones of a livelock are far from its cause.
    fn turns(&self) -> Box<dyn Iterator<Item = usize>> {
        let turns = 0..self.failing.turns.len();
        if self.kind == ProblemKind::Livelock { Box::new(turns) } else { Box::new(turns.rev()) }
    }

    /// The same, with `choice` in `count` turns from `first` on.
    fn with_choices(&mut self, first: usize, count: usize, choice: u32) -> Option<Nearest> {
        let changed = first as u32..(first + count) as u32;
        let others = self.schedule.deviations.iter().copied().filter(|one| !changed.contains(&one.turn));
        let all: Schedule = others.chain(changed.clone().map(|turn| Deviation { turn, choice })).collect();
        let changed = Schedule { deviations: all.deviations, ..self.schedule.clone() };
        let (schedule, trace) = self.passes(replay(&changed))?;
        Some(Nearest { pair: self.pair(&trace, count), schedule, trace })
    }

    /// The turn that others replaced, and the last of those `count` that also occurs in the failing trace. The traces are the
    /// same up to there.
    fn pair(&self, passing: &Trace, count: usize) -> Option<(usize, usize)> {
        let mut both = self.failing.turns.iter().zip(&passing.turns);
        let first = both.position(|(one, other)| one.choice != other.choice)?;
        let instead = (first..first + count).rev();
        let second = instead.filter_map(|at| find(self.failing, passing, at)).find(|at| *at > first)?;
        Some((first, second))
    }
}

/// Finds a turn of one trace in another one: the turn of the same fiber with the same number. Parts of one fiber, such as a timeout and its
/// body, are distinguished by their places.
fn find(trace: &Trace, other: &Trace, at: usize) -> Option<usize> {
    let turn = other.turns.get(at)?;
    // Lanes are numbered in the order of their creation, which may differ.
    let id = |of: &'_ Trace, turn: &Turn| turn.lane.map(|lane| of.lanes[lane].id.clone());
    let wanted = id(other, turn);
    let is_same = |of: &Trace, one: &Turn| {
        (one.operator, one.site) == (turn.operator, turn.site) && id(of, one) == wanted
    };
    let before = other.turns[..at].iter().filter(|one| is_same(other, one)).count();
    let mut same = trace.turns.iter().enumerate().filter(|(_, one)| is_same(trace, one));
    same.nth(before).map(|(number, _)| number)
}

/// The fiber of each turn.
pub(crate) fn order(trace: &Trace) -> Vec<LaneKey> {
    let mut lanes = Lanes::default();
    for (number, lane) in trace.lanes.iter().enumerate() {
        lanes.created(Lane(number as u32), lane.parent.map_or(Lane::NONE, |parent| Lane(parent as u32)));
    }
    let keys: Vec<LaneKey> = lanes.keys().collect();
    trace.turns.iter().map(|turn| turn.lane.map_or(LaneKey::NONE, |lane| keys[lane])).collect()
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::{Arc, Mutex};
    use std::task::{Poll, Waker};

    use fiber_core::scheduler::Task;
    use fiber_core::{Error, Fiber};

    use super::*;
    use crate::{Explore, TestScheduler};

    /// Two fibers that fork one each: the fork of the one that runs first is created first.
    fn two_forks() -> Fiber<()> {
        let forks = || Fiber::yield_now().bind(|()| Fiber::yield_now().fork()).bind(|fork| fork.join());
        forks().zip(forks()).map(drop).boxed()
    }

    fn trace(schedule: &str) -> Trace {
        let test = TestScheduler::with_schedule(schedule.parse().unwrap()).record();
        test.run(two_forks()).unwrap();
        test.trace()
    }

    #[test]
    fn a_turn_is_found_by_the_id_of_its_fiber_wherever_its_lane_is() {
        let (one, other) = (trace(""), trace("3:1"));
        let id = |of: &Trace, at: usize| of.lanes[of.turns[at].lane.unwrap()].id.clone();
        let ids = |of: &Trace| of.lanes.iter().map(|lane| lane.id.clone()).collect::<Vec<_>>();
        assert_ne!(ids(&one), ids(&other), "the lanes are numbered otherwise");
        for at in 0..other.turns.len() {
            let found = find(&one, &other, at).expect("both have the same turns in another order");
            assert_eq!(id(&one, found), id(&other, at), "turn {at}");
        }
    }

    /// Waits for a waker that another fiber wakes; then two fibers look, and one of them is late.
    fn woken_from_outside() -> Fiber<()> {
        let waker: Arc<Mutex<(bool, Option<Waker>)>> = Arc::default();
        let woken = waker.clone();
        let waits = Fiber::from_future(poll_fn(move |cx| {
            let mut waker = waker.lock().unwrap();
            waker.1 = Some(cx.waker().clone());
            if waker.0 { Poll::Ready(Ok::<_, Error>(())) } else { Poll::Pending }
        }));
        // By a task that belongs to no fiber.
        let wakes = Fiber::yield_now().bind(|()| Fiber::current()).map(move |own| {
            let waker = {
                let mut woken = woken.lock().unwrap();
                woken.0 = true;
                woken.1.take()
            };
            let tasks = waker.into_iter().map(|waker| Task::fire(waker.into()));
            tasks.for_each(|task| own.scheduler().schedule(task));
        });
        let count = Arc::new(Mutex::new(0));
        let visit = || {
            let (look, write) = (count.clone(), count.clone());
            let look = Fiber::lazy(move || *look.lock().unwrap());
            look.bind(move |seen| Fiber::lazy(move || *write.lock().unwrap() = seen + 1))
        };
        let visits = visit().zip(visit());
        let both = waits.zip(wakes).bind(move |_| visits);
        both.map(move |_| assert_eq!(*count.lock().unwrap(), 2, "a visit is lost")).boxed()
    }

    #[test]
    fn a_turn_that_is_of_no_fiber_does_not_hide_the_pair() {
        let failure = Explore::default().try_check(woken_from_outside).unwrap_err();
        let (first, second) = failure.pair().expect("a pair");
        let turns = failure.trace().turns();
        assert!(turns[..first].iter().any(|turn| turn.lane.is_none()), "{failure}");
        assert_eq!(second, first + 1, "neighbours: {failure}");
    }
}
