//! Random numbers are part of the schedule.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use fiber_core::Fiber;
use fiber_test::{Explore, Schedule, TestScheduler, Trace, event};

#[test]
fn every_schedule_has_its_own() {
    let drawn = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = drawn.clone();
    let program = || Fiber::random_u64().bind(|number| event(number.to_string()));
    let note = move |trace: &Trace| {
        seen.lock().unwrap().extend(trace.events().map(str::to_owned));
    };
    Explore::default().schedules(100).inspect(note).check(program);
    assert_eq!(drawn.lock().unwrap().len(), 100);
}

fn unlucky() -> Fiber<()> {
    Fiber::random_u64().map(|number| assert_ne!(number % 8, 5)).boxed()
}

#[test]
fn a_schedule_names_their_seed_when_they_matter() {
    let failure = Explore::default().try_check(unlucky).unwrap_err();
    let schedule = failure.schedule();
    assert!(schedule.seed() != 0 && schedule.deviations().is_empty());
    assert!(schedule.to_string().starts_with('r'), "{schedule}");
    let again = Explore::replay(&schedule.to_string()).try_check(unlucky).unwrap_err();
    assert_eq!(again.schedule(), schedule);
    assert!(Explore::with(Schedule::fifo()).try_check(unlucky).is_ok());
}

/// The order of the draws does not change the drawn numbers.
#[test]
fn another_order_of_turns_gives_nobody_other_numbers() {
    let drawn = |schedule: &str| {
        let draw = || {
            Fiber::random_u64()
                .zip(Fiber::random_u64())
                .bind(|first| Fiber::random_u64().map(move |second| (first, second)))
        };
        TestScheduler::with_schedule(schedule.parse().unwrap()).run(draw().zip(draw())).unwrap()
    };
    let (left, right) = drawn("");
    assert_ne!(left, right);
    for schedule in ["1:1", "1:1 2:1", "2:1 4:2"] {
        assert_eq!(drawn(schedule), (left, right), "{schedule}");
    }
}

/// Two dice: 36 throws, in any order.
fn dice(is_lucky: fn(u64, u64) -> bool) -> Fiber<()> {
    let two = Fiber::random_u64().bind(|one| Fiber::random_u64().map(move |other| (one, other)));
    two.map(move |(one, other)| assert!(is_lucky(one, other), "{one} and {other}")).boxed()
}

#[test]
fn small_draws_are_enumerated_if_that_is_asked_for() {
    let explored = Explore::exhaustive().draws(6).check(|| dice(|_, _| true));
    assert!(explored.is_complete());
    assert_eq!(explored.orders(), Some(36));
    let failure =
        Explore::exhaustive().draws(6).try_check(|| dice(|one, other| one + other != 9)).unwrap_err();
    assert_eq!(failure.problem().message().lines().next(), Some("4 and 5"));
    assert_eq!(failure.replay(), "Explore::replay(\"1:=4 2:=5\").draws(6)");
    let again = Explore::replay("1:=4 2:=5").draws(6).try_check(|| dice(|one, other| one + other != 9));
    assert!(again.is_err());
}

#[test]
fn draws_are_found_by_chance_as_well() {
    let failure =
        Explore::default().draws(6).try_check(|| dice(|one, other| (one, other) != (5, 5))).unwrap_err();
    assert_eq!(failure.schedule().to_string(), "1:=5 2:=5");
}

#[test]
fn a_schedule_does_not_name_their_seed_when_they_do_not_matter() {
    let program = || {
        let late = Fiber::random_u64().bind(|_| Fiber::success(()));
        late.bind(|()| -> Fiber<()> { panic!("whatever was drawn") })
    };
    let failure = Explore::default().seed(5).try_check(program).unwrap_err();
    assert_eq!(failure.schedule(), &Schedule::fifo());
}
