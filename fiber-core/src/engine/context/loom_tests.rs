//! Events, waits and ends of the sides of a race, under every interleaving of their threads.
//!
//! `RUSTFLAGS="--cfg fiber_loom" cargo test -p fiber-core --lib --release`
//!
//! The sides register and never park, so there are no tasks.

use std::panic::Location;
use std::sync::Arc;
use std::time::SystemTime;

use loom::thread::{self, JoinHandle};

use super::state::{Shares, Structure};
use super::{Context, Origin, Seat, WaitsFor};
use crate::cell::Seed;
use crate::engine::scheduler::{Scheduler, TimerKey};
use crate::engine::side::Awaited;
use crate::engine::task::Task;
use crate::instant::Instant;
use crate::primitive::{beside, model_with_a_bound};

struct Idle;

impl Scheduler for Idle {
    fn schedule(&self, _: Task) {
        unreachable!("no fiber parks");
    }

    fn schedule_at(&self, _: Instant, _: Task) -> TimerKey {
        unreachable!("there are no timers");
    }

    fn cancel_timer(&self, _: TimerKey) -> bool {
        false
    }

    fn now(&self) -> Instant {
        Instant::EPOCH
    }

    fn utc_now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn random_u64(&self) -> u64 {
        0
    }

    fn schedule_blocking(&self, _: Task) {
        unreachable!("nothing blocks");
    }

    fn is_observer(&self) -> bool {
        false
    }
}

fn origin() -> Origin {
    Origin::unnamed(Location::caller())
}

/// A race of single waits, as a part of the fiber of `outer`, with two sides.
fn race(outer: &Context) -> (Context, [Context; 2]) {
    race_of(outer, [false, false])
}

/// The same of some sides, which are single waits or programs.
fn race_of<const N: usize>(outer: &Context, are_programs: [bool; N]) -> (Context, [Context; N]) {
    let group = outer.part(false, Instant::FAR_FUTURE, "race", origin());
    group.set_races(true);
    let sides = are_programs.map(|is_program| {
        let seed = Seed::without((Structure::new("side", Instant::FAR_FUTURE), Shares(())));
        let side = group.begun(false, origin(), seed);
        side.become_side(is_program);
        side
    });
    (group, sides)
}

fn root() -> Context {
    Context::root(Arc::new(Idle))
}

/// Begins a wait of a side.
#[allow(unsafe_code)]
fn waits(side: &Context) -> Seat {
    let event = side.begin_wait(Location::caller(), Awaited::of(WaitsFor::Other)).raced();
    // SAFETY: the sides live as long as their models.
    unsafe { Seat::of_fiber(side, event) }
}

/// An event of a wait: whether it has happened.
fn event(seat: Seat) -> JoinHandle<bool> {
    thread::spawn(move || seat.commit().is_ok())
}

/// A side ends, and wins.
fn wins(group: &Context, side: &Context) {
    assert!(side.claim_end(None));
    group.decide_race();
    side.end_side();
}

/// Whether the event of the wait has been told to look again.
fn looks_again(side: &Context) -> bool {
    side.has_missed_race()
}

#[test]
fn of_two_events_one_happens_and_the_other_looks_again_after_the_end() {
    model_with_a_bound(|| {
        let (group, sides) = race(&root());
        let events = sides.each_ref().map(|side| event(waits(side)));
        let happened = events.map(|event| event.join().unwrap());
        assert_ne!(happened[0], happened[1]);
        let [winner, loser] = if happened[0] { [0, 1] } else { [1, 0] };
        assert!(!looks_again(&sides[loser]));
        wins(&group, &sides[winner]);
        assert!(looks_again(&sides[loser]) && !looks_again(&sides[winner]));
    });
}

#[test]
fn an_event_happens_or_looks_again_while_the_holder_waits_again() {
    model_with_a_bound(|| {
        let (_group, [holder, other]) = race(&root());
        assert!(waits(&holder).commit().is_ok());
        let event = event(waits(&other));
        holder.release_race();
        let happened = event.join().unwrap();
        assert_ne!(happened, looks_again(&other));
    });
}

#[test]
fn an_event_that_is_looked_at_again_has_missed_the_race_whether_it_was_looked_at_or_not() {
    model_with_a_bound(|| {
        let (_group, [holder, other]) = race(&root());
        assert!(waits(&holder).commit().is_ok());
        let seat = waits(&other);
        let event = thread::spawn(move || {
            seat.commit().map_or_else(
                |seat| {
                    // Loom would not let the holder go on here.
                    thread::yield_now();
                    seat.is_missed()
                },
                |_| true,
            )
        });
        let release = beside(&holder, Context::release_race);
        release.join().unwrap();
        assert!(event.join().unwrap());
    });
}

#[test]
fn an_event_never_happens_while_the_holder_ends() {
    model_with_a_bound(|| {
        let (group, [holder, other]) = race(&root());
        assert!(waits(&holder).commit().is_ok());
        let event = event(waits(&other));
        wins(&group, &holder);
        assert!(!event.join().unwrap());
        // If it came after the end, the cancellation ends the wait.
    });
}

#[test]
fn of_an_event_and_the_end_of_another_side_one_is_first() {
    model_with_a_bound(|| {
        let (group, [waiting, ending]) = race(&root());
        let event = event(waits(&waiting));
        let ends = beside(&ending, |ending| {
            let event = ending.begin_wait(Location::caller(), Awaited::of(WaitsFor::Other));
            ending.claim_end(Some(event))
        });
        let (happened, ended) = (event.join().unwrap(), ends.join().unwrap());
        assert_ne!(happened, ended);
        if happened {
            wins(&group, &waiting);
            assert!(looks_again(&ending));
        }
    });
}

/// A race in one side of another one. The inner race has been won by an event, and its winner ends.
fn nested(loser_waits_on: bool) {
    model_with_a_bound(move || {
        let (_outer, [client, server]) = race(&root());
        let (inner, [winner, loser]) = race(&client);
        assert!(waits(&winner).commit().is_ok());
        let event = event(waits(&server));
        let loser = loser_waits_on.then(|| {
            thread::spawn(move || {
                let _ = waits(&loser);
                loser.wait_in_race(true);
                loser
            })
        });
        wins(&inner, &winner);
        let waits_on = loser.map(|loser| loser.join().unwrap());
        let happened = event.join().unwrap();
        assert_eq!(happened || looks_again(&server), waits_on.is_some());
    });
}

#[test]
fn an_inner_race_holds_the_outer_one_until_its_losers_have_ended() {
    nested(false);
}

#[test]
fn a_loser_that_waits_on_while_the_inner_race_is_decided_releases_the_outer_one() {
    nested(true);
}

#[test]
fn a_loser_that_waits_on_releases_all_races_around_a_decided_one() {
    model_with_a_bound(|| {
        let (_outermost, [client, server]) = race(&root());
        let (_outer, [client, _]) = race(&client);
        let (inner, [winner, loser]) = race(&client);
        assert!(waits(&winner).commit().is_ok());
        let loser = thread::spawn(move || {
            let _ = waits(&loser);
            loser.wait_in_race(true);
            loser
        });
        wins(&inner, &winner);
        let _loser = loser.join().unwrap();
        assert!(waits(&server).commit().is_ok());
    });
}

#[test]
fn a_program_that_registers_serves_another_side_and_an_event_of_a_third_one_looks_again() {
    model_with_a_bound(|| {
        let (group, [server, served, third]) = race_of(&root(), [true, false, false]);
        let (request, wakeup, event) = (waits(&served), waits(&server), event(waits(&third)));
        assert!(!wakeup.is_beside(&request));
        let met = {
            let _current = server.set_current();
            wakeup.claim() && request.commit().is_ok()
        };
        server.end_wait();
        let happened = event.join().unwrap();
        assert!(!happened || !met, "the holder alone goes on");
        server.release_race();
        if met {
            // A single wait holds the race from then on, and wins.
            assert!(!looks_again(&third) && !server.claim_end(None));
            wins(&group, &served);
        }
        assert!(happened || looks_again(&third));
    });
}

#[test]
fn single_waits_do_not_serve_each_other() {
    model_with_a_bound(|| {
        let (_group, [server, served]) = race(&root());
        let (request, wakeup) = (waits(&served), waits(&server));
        assert!(wakeup.is_beside(&request));
        let met = {
            let _current = server.set_current();
            wakeup.claim() && request.commit().is_ok()
        };
        assert!(!met);
    });
}
