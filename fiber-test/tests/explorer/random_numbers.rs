//! Random numbers are part of the schedule.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use fiber_core::Fiber;
use fiber_test::{Explore, Schedule, Trace, event};

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
    Fiber::random_u64().map(|number| assert_ne!(number % 8, 3)).boxed()
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

#[test]
fn a_schedule_does_not_name_their_seed_when_they_do_not_matter() {
    let program = || {
        let late = Fiber::random_u64().bind(|_| Fiber::success(()));
        late.bind(|()| -> Fiber<()> { panic!("whatever was drawn") })
    };
    let failure = Explore::default().seed(5).try_check(program).unwrap_err();
    assert_eq!(failure.schedule(), &Schedule::fifo());
}
