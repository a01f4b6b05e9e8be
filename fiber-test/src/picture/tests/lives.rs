//! The states of a lane between its turns.

use super::samples::{deadlock, lost_update};
use crate::picture::arrows::{self, Arrow, Kind};
use crate::picture::life::{self, Life, Open, Place, Stretch};
use crate::trace::{Cause, Effect, Trace};

fn lives(trace: &Trace) -> Vec<Life> {
    life::of_lanes(trace, &arrows::of_turns(trace))
}

fn can_run(from: Place, to: Place) -> Stretch {
    Stretch { from, to, waits: false }
}

fn waits(from: Place, to: Place) -> Stretch {
    Stretch { from, to, waits: true }
}

#[test]
fn a_fiber_waits_from_its_turn_until_it_is_woken_and_then_can_run() {
    let (trace, _, _) = lost_update();
    let main = &lives(&trace)[0];
    let after_the_bind = &main.stretches[main.stretches.len() - 2..];
    assert_eq!(
        after_the_bind,
        [waits(Place::After(3), Place::Touched(4)), can_run(Place::Touched(4), Place::Before(5))]
    );
}

#[test]
fn a_fiber_can_run_from_the_turn_that_made_it() {
    let (trace, _, _) = lost_update();
    assert_eq!(lives(&trace)[1].stretches[0], can_run(Place::Touched(0), Place::Before(2)));
}

#[test]
fn a_timer_wakes_at_its_instant() {
    let watch = &lives(&deadlock())[3];
    assert!(watch.stretches.contains(&waits(Place::After(3), Place::Instant(8))));
}

#[test]
fn a_fiber_that_has_not_ended_is_open() {
    let lives = lives(&deadlock());
    assert_eq!(lives[1].open, Some(Open::Waits { since: 6 }));
    assert_eq!(lives[3].open, None);
}

#[test]
fn a_fiber_may_end_in_the_turn_of_another() {
    let lives = lives(&deadlock());
    assert_eq!((lives[4].ended_by_other, lives[4].open), (Some(9), None));
    assert_eq!(lives[3].ended_by_other, None);
}

#[test]
fn a_cancel_that_reaches_a_child_is_an_arrow_to_the_child_too() {
    let (mut trace, _, _) = lost_update();
    trace.turns.truncate(3);
    trace.turns[2].cause = Cause::Cancel;
    trace.turns[2].since = Some(1);
    trace.turns[1].effects.push(Effect::Cancel(0));
    assert_eq!(arrows::of_turns(&trace)[1], [Arrow { kind: Kind::Cancel, to: 1 }]);
}
