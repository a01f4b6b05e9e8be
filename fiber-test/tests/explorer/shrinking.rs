//! The reported schedule is a minimal one.

use std::ops::ControlFlow;

use fiber_core::Fiber;
use fiber_test::{Explore, Failure, ProblemKind, Schedule, Search, TestScheduler};

use crate::known;
use crate::support::Shared;

/// The failures of several seeds, which are found by different strategies.
fn failures(program: fn() -> Fiber<()>) -> Vec<Failure> {
    let explore = |seed| Explore::default().seed(seed).schedules(10_000).try_check(program).unwrap_err();
    (0..10).map(explore).collect()
}

fn order_violation() -> Fiber<()> {
    let is_ready = Shared::new(false);
    let prepare = is_ready.step(|is_ready| *is_ready = true).boxed();
    let look = is_ready.step(|is_ready| assert!(*is_ready)).boxed();
    Fiber::parallel([prepare, look]).map(drop).boxed()
}

fn assert_shrunk_to(program: fn() -> Fiber<()>, expected: &str) {
    for failure in failures(program) {
        assert_eq!(failure.schedule().to_string(), expected);
    }
}

#[test]
fn what_first_in_first_out_shows_needs_no_deviation() {
    assert_shrunk_to(known::lost_update, "");
    assert_shrunk_to(known::lock_order, "");
}

#[test]
fn a_wrong_order_is_one_deviation() {
    assert_shrunk_to(order_violation, "1:1");
}

#[test]
fn a_pause_between_two_steps_is_one_deviation() {
    assert_shrunk_to(known::close_send, "3:1");
}

fn breaks(program: fn() -> Fiber<()>, schedule: Schedule) -> bool {
    Explore::with(schedule).try_check(program).is_err()
}

#[test]
fn no_deviation_can_be_left_out() {
    for failure in failures(known::lost_update_of_six) {
        let all = failure.schedule().deviations();
        for out in all {
            let fewer: Schedule = all.iter().copied().filter(|one| one != out).collect();
            assert!(!breaks(known::lost_update_of_six, fewer), "{} without {out:?}", failure.schedule());
        }
    }
}

#[test]
fn no_deviation_can_come_earlier() {
    for failure in failures(known::lost_update_of_six) {
        let all = failure.schedule().deviations();
        for at in 0..all.len() {
            let from = at.checked_sub(1).map_or(0, |before| all[before].turn + 1);
            for turn in from..all[at].turn {
                let mut earlier = all.to_vec();
                earlier[at].turn = turn;
                assert!(!breaks(known::lost_update_of_six, Schedule::from_iter(earlier)), "{at} at {turn}");
            }
        }
    }
}

/// Two bugs of the same kind: one of first in, first out with a late look, and one in any order.
#[test]
fn the_bug_that_was_found_is_the_one_that_is_shown() {
    let program = || {
        let seen = Shared::new((false, false));
        let (first, second, check) = (seen.clone(), seen.clone(), seen);
        let one = first.step(|seen| seen.0 = true);
        let other = second.step(|seen| *seen = (seen.0, !seen.0));
        Fiber::parallel([one.boxed(), other.boxed()]).map(move |_| {
            let (is_first, is_second_early) = check.with(|seen| *seen);
            assert!(!is_second_early, "the rare bug");
            assert!(!is_first, "the plain bug");
        })
    };
    // First in, first out shows the simple bug; a schedule with a deviation the rare one.
    let plain = Explore::default().try_check(program).unwrap_err();
    assert_eq!(plain.problem().message(), "the plain bug");
    let rare = Explore::default().only(Search::Lifo).try_check(program).unwrap_err();
    assert_eq!(rare.problem().message(), "the rare bug");
    assert_eq!(rare.schedule().to_string(), "1:1");
}

/// Among the last of many.
#[test]
fn all_choices_are_tried() {
    let program = || {
        let first = Shared::new(None);
        let check = first.clone();
        let step = move |number: u32| {
            first.step(move |first| {
                first.get_or_insert(number);
            })
        };
        Fiber::parallel((0..20).map(step)).map(move |_| assert_ne!(check.with(|first| *first), Some(19)))
    };
    let failure = Explore::default().schedules(10_000).try_check(program).unwrap_err();
    assert_eq!(failure.schedule().to_string(), "1:19");
}

/// Without the other deviation, it is drawn before another turn.
#[test]
fn a_number_is_moved_to_the_turn_that_draws_it() {
    let program = || Fiber::success(()).zip(Fiber::random_u64().map(|number| assert_eq!(number, 0)));
    let explore = |seed| Explore::default().only(Search::Lifo).draws(2).seed(seed);
    let failure = (0..100).find_map(|seed| explore(seed).try_check(program).err()).expect("some number is 1");
    assert_eq!(failure.schedule().to_string(), "3:=1", "{failure}");
}

/// A run of a livelock has many turns: a budget of turns alone would be used up by the first.
#[test]
fn a_livelock_is_shrunk() {
    let program = || {
        let is_open = Shared::new(true);
        let (look, busy) = (is_open.clone(), Shared::new(0));
        let close =
            Fiber::for_each(0..3, |_| Fiber::success(())).bind(move |()| is_open.step(|open| *open = false));
        let enter = look.step(|open| *open).bind(move |is_open| match is_open {
            true => Fiber::success(()).boxed(),
            // For ever.
            false => {
                Fiber::iterate((), move |()| busy.step(|busy| *busy += 1).map(ControlFlow::<()>::Continue))
                    .boxed()
            }
        });
        let others = Fiber::parallel((0..2).map(|_| Fiber::for_each(0..4, |_| Fiber::success(()))));
        Fiber::parallel([close.boxed(), enter.boxed(), others.map(drop).boxed()]).map(drop)
    };
    let explore = Explore::default().turns_per_instant(500_000);
    let failure = explore.only(Search::RandomWalk).schedules(10_000).try_check(program).unwrap_err();
    assert_eq!(failure.problem().kind(), ProblemKind::Livelock);
    assert!(failure.schedule().deviations().len() <= 3, "{}", failure.schedule());
}

fn switches(failure: &Failure) -> usize {
    failure.trace().turns().windows(2).filter(|pair| pair[0].lane != pair[1].lane).count()
}

/// First in, first out switches at every turn, although the bug needs one switch: between a look and the action that follows from it. It is
/// replayed as first in, first out, because nothing is smaller; and the report names the schedule that is easier to follow.
#[test]
fn a_bug_of_one_preemption_is_told_with_few_switches_too() {
    let program = || {
        let value = Shared::new(0);
        let (looking, counting) = (value.clone(), value.clone());
        let look = looking.step(|value| *value).bind(move |seen| {
            let late = Fiber::for_each(0..9, |_| Fiber::success(()));
            late.bind(move |()| looking.step(move |value| *value = seen))
        });
        let count = Fiber::for_each(0..10, move |_| counting.step(|value| *value += 1));
        let both = Fiber::parallel([look.boxed(), count.boxed()]);
        both.map(move |_| assert_eq!(value.with(|value| *value), 10))
    };
    let failure = Explore::default().try_check(program).unwrap_err();
    assert_eq!(failure.schedule().to_string(), "", "{failure}");
    // Consecutive turns are one word of the schedule.
    let schedule = failure.calmer().expect("one with half of the switches").to_string();
    assert!(schedule.contains('-') && schedule.len() < 20, "{schedule}");
    let again = Explore::replay(&schedule).try_check(program).unwrap_err();
    assert_eq!(again.problem().message(), failure.problem().message());
    assert_eq!(again.trace().turns().len(), failure.trace().turns().len());
    assert!(switches(&again) <= 4, "{again}");
    let told =
        format!("calmer    \"{schedule}\" breaks it with {} context switches in place of ", switches(&again));
    assert!(failure.to_string().contains(&told), "{failure}");
}

/// Broken with one number in the order of first in, first out, and with all others in the other order. So what a search finds in the other
/// order cannot be changed into first in, first out step by step.
#[test]
fn what_first_in_first_out_shows_is_replayed_as_such_whatever_found_it() {
    let usual = TestScheduler::new().run(Fiber::random_u64()).unwrap();
    let program = move || {
        let first = Shared::new(None);
        let check = first.clone();
        let step = move |name: u32| {
            first.step(move |first| {
                first.get_or_insert(name);
            })
        };
        let both = Fiber::parallel([step(0), step(1)]);
        both.bind(|_| Fiber::random_u64()).map(move |number| {
            let is_in_order = check.with(|first| *first) == Some(0);
            assert_ne!(is_in_order, number == usual);
        })
    };
    assert!(Explore::replay("").try_check(program).is_err());
    assert!(Explore::replay("1:1").try_check(program).is_ok());
    assert!(Explore::replay("r7").try_check(program).is_ok());
    for search in [Search::RandomWalk, Search::Pct, Search::Urw] {
        for seed in 1..10 {
            let failure = Explore::default().only(search).seed(seed).try_check(program).unwrap_err();
            assert_eq!(failure.schedule().to_string(), "", "{search} of seed {seed}");
        }
    }
}

#[test]
fn a_report_shows_numbers_that_were_drawn_and_timers_that_were_set() {
    let program = || {
        let pause =
            Fiber::random_u64().bind(|number| Fiber::delay(std::time::Duration::from_secs(1 + number % 2)));
        let again = pause.bind(|()| Fiber::delay(std::time::Duration::from_millis(250)));
        again.map(|()| panic!("after a pause"))
    };
    let text = Explore::default().try_check(program).unwrap_err().to_string();
    assert!(text.contains("; sets a timer for 250ms, due at "), "{text}");
    assert!(text.contains("; draws ") && text.contains("; sets a timer for "), "{text}");
}
