//! The same races under many schedules of one thread.

use std::sync::Arc;

use fiber_core::{Either, Fiber};
use fiber_test::Explore;

use super::forms::{FORMS, Form, Kind, PROGRAMS, Racer, Yields, boxed, of};
use super::sides::*;

/// Some races, one after the other, and partners of each side.
fn races((left, form): (Kind, Form), (right, other): (Kind, Form), count: u32) -> Fiber<()> {
    let (left, right) = (left(), right());
    let (a, b) = (left.clone(), right.clone());
    let race = move |number| {
        let race = form(a.attempt(number)).race(other(b.attempt(number)));
        race.map(|won| Either::into_inner(won)())
    };
    let partners = partners(&left, count).zip(partners(&right, count)).bind(|_| Fiber::<()>::never());
    Fiber::for_each(0..count, race)
        .race(partners)
        .map(move |_| {
            left.check();
            right.check();
        })
        .boxed()
}

/// They give and take as often as the races.
fn partners(side: &Arc<dyn Racer>, count: u32) -> Fiber<()> {
    let side = side.clone();
    Fiber::for_each(count..2 * count, move |number| side.partner(number)).boxed()
}

/// Each wait in each form against each other side, in both orders.
fn explore(waits: &[Kind], others: &[Kind]) {
    for &wait in waits {
        for &other in others {
            for form in FORMS {
                let (wait, other) = ((wait, form), (other, boxed as Form));
                Explore::default().schedules(100).check(|| races(wait, other, 3));
                Explore::default().schedules(100).check(|| races(other, wait, 3));
            }
        }
    }
}

#[test]
fn a_receive_that_loses_takes_nothing() {
    explore(&[of::<Receives<0>>, of::<Receives<1>>], &PROGRAMS);
    explore(&[of::<Receives<0>>, of::<Receives<1>>], &[of::<Receives<1>>, of::<Sends<0>>]);
}

#[test]
fn a_send_that_loses_is_not_received() {
    explore(&[of::<Sends<0>>, of::<Sends<1>>], &PROGRAMS);
}

#[test]
fn any_other_operation_that_loses_to_a_program_has_no_effect() {
    let operations =
        [of::<ReceivesMany>, of::<Publishes>, of::<Hears>, of::<Acquires>, of::<Locks>, of::<Reads>];
    explore(&operations, &[of::<Yields>]);
    let operations = [of::<Writes>, of::<Waits>, of::<Observes>, of::<Meets>, of::<Asks>, of::<Expects>];
    explore(&operations, &[of::<Yields>]);
}

#[test]
fn a_receive_loses_nothing_in_any_order() {
    let receive = (of::<Receives<1>> as Kind, boxed as Form);
    let explored = || Explore::exhaustive().reduced();
    // Without the last one: direct fibers cannot be explored with `reduced`.
    for form in FORMS.into_iter().take(FORMS.len() - 1) {
        explored().check(|| races((of::<Receives<1>>, form), receive, 1));
    }
}
