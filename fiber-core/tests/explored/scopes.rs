//! Scopes and their forks.

use std::sync::{Arc, Mutex};

use fiber_core::error::ScopeEnded;
use fiber_core::{Fiber, Handle, Outcome, Scope};

use crate::exploration::explore;
use crate::ledger::TICK;

#[test]
fn forks_have_ended_when_their_scope_has() {
    explore(|ledger| {
        let (body, left, right) = (ledger.part("body"), ledger.part("left"), ledger.part("right"));
        let (left_runs, right_stays) = (left.guarded(left.runs(1, 1)), right.guarded(right.stays(1)));
        let body_runs = body.guarded(body.runs(1, 2));
        let scope = Fiber::scope(move |scope: Scope| {
            let second = scope.fork(right_stays);
            scope.fork(left_runs).bind(move |_| second).bind(move |_| body_runs)
        });
        body.ends_before(left.ends_before(right.ends_before(scope)))
    })
    .preemptions(0)
    .check();
}

#[test]
fn forks_that_fork_have_ended_when_all_were_awaited() {
    explore(|ledger| {
        let (outer, inner) = (ledger.part("outer"), ledger.part("inner"));
        let inner_runs = inner.guarded(inner.runs(1, 1));
        let outer_works = outer.works(2);
        let (watched, outer_forks) = ([outer.clone(), inner.clone()], outer.clone());
        let scope = Fiber::scope(move |scope: Scope| {
            let nested = scope.clone();
            let forks = outer_works.bind(move |_| nested.fork(inner_runs)).map(drop);
            let all = scope.await_all();
            let all = watched.iter().fold(all.boxed(), |all, part| part.ends_before_value(all));
            scope.fork(outer_forks.guarded(forks)).bind(move |_| all)
        });
        inner.ends_before(outer.ends_before(scope))
    })
    .check();
}

#[test]
fn a_fork_may_cancel_its_scope() {
    explore(|ledger| {
        let (body, child) = (ledger.part("body"), ledger.part("child"));
        let (child_works, body_stays) = (child.works(1), body.guarded(body.stays(1)));
        let guard = child.clone();
        let scope = Fiber::scope(move |scope: Scope| {
            let cancels = scope.clone();
            let child = guard.guarded(child_works.map(move |_| cancels.cancel_now()));
            scope.fork(child).bind(move |_| body_stays)
        });
        let scope = body.ends_before(child.ends_before(scope));
        scope
            .map_outcome(|outcome| Outcome::Success(outcome.is_cancelled()))
            .fork()
            .bind(Handle::join)
            .boxed()
    })
    .check();
}

#[test]
fn a_fork_from_outside_ends_with_the_scope_or_is_refused() {
    explore(|ledger| {
        let (body, child) = (ledger.part("body"), ledger.part("child"));
        let (body_runs, child_runs) = (body.runs(1, 1), child.guarded(child.runs(1, 2)));
        let slot: Arc<Mutex<Option<Scope>>> = Arc::default();
        let open = slot.clone();
        let scope = Fiber::scope(move |scope: Scope| {
            *open.lock().unwrap() = Some(scope);
            body_runs
        });
        let scope = body.ends_before(body.body(scope));
        let outside = Fiber::delay(TICK).bind(move |()| {
            let scope = slot.lock().unwrap().take().expect("the scope was opened a tick before");
            scope.fork(child_runs).bind(Handle::outcome).map(drop)
        });
        let outside = outside.or_else(|error| if error.is::<ScopeEnded>() { Ok(()) } else { Err(error) });
        child.ends_before(scope.zip(outside))
    })
    .check();
}

#[test]
fn one_who_awaits_all_is_not_forgotten_when_another_one_stops_waiting() {
    explore(|_| {
        Fiber::scope(|scope: Scope| {
            let impatient = scope.await_all().timeout_option(TICK).map(drop);
            let (first, second) = (scope.fork(Fiber::delay(TICK)), scope.fork(Fiber::delay(TICK)));
            let patient = Fiber::delay(TICK).bind(move |()| second).bind({
                let scope = scope.clone();
                move |_| scope.await_all()
            });
            first.bind(move |_| impatient.zip(patient)).map(drop)
        })
        .boxed()
    })
    .check();
}
