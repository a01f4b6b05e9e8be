//! Values whose drops panic, between finalizers, in every schedule and cancelled at every turn.

use std::ops::ControlFlow;

use fiber_core::{Error, Fiber, Outcome, Policy, local_key};

use crate::bomb::Bomb;
use crate::exploration::{Exploration, explore};
use crate::ledger::{Ledger, TICK};

/// Explores a body between two finalizers. The body is made when it runs.
fn guarded<F>(body: F) -> Exploration<u32, impl Fn(&Ledger) -> Fiber<u32> + Sync>
where
    F: Fn(&Ledger) -> Fiber<u32> + Clone + Send + Sync + 'static,
{
    explore(move |ledger| {
        let (part, ledger, body) = (ledger.part("body"), ledger.clone(), body.clone());
        part.ends_before(part.guarded(Fiber::defer(move || body(&ledger))))
    })
    .ends_with(Outcome::is_panicked)
    .preemptions(0)
    // The failures of a cancelled fiber's finalizer, and of a loser, can only go to the hook.
    .may_be_unobserved()
}

#[test]
fn closures_that_are_called_or_passed_by() {
    guarded(|ledger| {
        let [called, passed, handler] = ["called", "passed", "handler"].map(|name| Bomb::new(ledger, name));
        let part = ledger.part("work");
        let worked = part.body(part.runs(1, 1)).map(called.pass());
        worked.catch(handler.handler()).map(passed.pass()).boxed()
    })
    .check();
}

#[test]
fn a_value_that_is_kept_while_something_fails() {
    guarded(|ledger| {
        let part = ledger.part("work");
        let value = Bomb::made(ledger, "value", part.body(part.runs(1, 1)));
        let failing = ledger.part("failing");
        value.tap(move |_| failing.body(failing.fails(1))).map(|_| 1).boxed()
    })
    .check();
}

#[test]
fn the_value_of_a_sibling_that_had_succeeded() {
    for is_zip in [false, true] {
        guarded(move |ledger| {
            let (quick, failing) = (ledger.part("quick"), ledger.part("failing"));
            let value = Bomb::made(ledger, "value", quick.body(quick.runs(1, 1)));
            let fails = failing.body(failing.fails(2));
            if is_zip {
                return value.zip(fails).map(|_| 1).boxed();
            }
            Fiber::parallel([value.map(Some).boxed(), fails.map(|_| None).boxed()]).map(|_| 1).boxed()
        })
        .check();
    }
}

#[test]
fn the_value_of_a_loser_does_not_cost_the_winner() {
    guarded(|ledger| {
        let (quick, late) = (ledger.part("quick"), ledger.shielded().part("late"));
        let value = Bomb::made(ledger, "value", late.body(late.runs(1, 2))).uncancelable();
        quick.body(quick.runs(1, 1)).race(value.boxed()).map(|_| 1).boxed()
    })
    .ends_with(|_| true)
    .check();
}

#[test]
fn what_a_timeout_cuts_short() {
    guarded(|ledger| {
        let bomb = Bomb::new(ledger, "closure");
        let part = ledger.part("work");
        part.body(part.stays(1)).map(bomb.pass()).timeout(TICK).boxed()
    })
    .check();
}

#[test]
fn loops_and_what_they_are_made_of() {
    guarded(|ledger| {
        let (bomb, part) = (Bomb::new(ledger, "loop"), ledger.part("round"));
        let mut pass = bomb.pass();
        Fiber::iterate(0, move |n| {
            let round = part.body(part.runs(1, 1));
            let next = pass(n + 1);
            round.map(move |_| if next == 2 { ControlFlow::Break(1) } else { ControlFlow::Continue(next) })
        })
        .boxed()
    })
    .check();
    guarded(|ledger| {
        let (bomb, part) = (Bomb::new(ledger, "factory"), ledger.part("attempt"));
        let mut pass = bomb.pass();
        Fiber::retry_with(Policy::recurs(1) & Policy::spaced(TICK), move || pass(part.body(part.fails(1))))
            .boxed()
    })
    .check();
}

local_key! { static CARRIED: Option<std::sync::Arc<Bomb>> = None; }

#[test]
fn a_value_that_the_fiber_carries() {
    guarded(|ledger| {
        let bomb = std::sync::Arc::new(Bomb::new(ledger, "carried"));
        let part = ledger.part("work");
        part.body(part.runs(1, 1)).with_local(&CARRIED, Some(bomb)).boxed()
    })
    .check();
}

#[test]
fn the_value_of_a_fork_that_nobody_joins_does_not_cost_its_parent() {
    guarded(|ledger| {
        let (child, parent) = (ledger.part("child"), ledger.part("parent"));
        let value = Bomb::made(ledger, "value", child.body(child.runs(1, 1)));
        let goes_on = parent.body(parent.runs(1, 2));
        value.fork().map(drop).bind(move |()| goes_on).boxed()
    })
    .ends_with(Outcome::is_success)
    .check();
}

#[test]
fn a_lease_that_cannot_be_cloned_is_released() {
    struct Unclonable(crate::lease::Lease);
    impl Clone for Unclonable {
        fn clone(&self) -> Self {
            std::panic::panic_any("clone")
        }
    }
    guarded(|ledger| {
        let acquire = ledger.acquire("lease").map(Unclonable);
        Fiber::bracket(acquire, |_| Fiber::success(1), |acquired: Unclonable| acquired.0.release()).boxed()
    })
    .check();
}

#[test]
fn a_panic_that_a_handler_passes_over_reaches_the_hook_in_every_schedule() {
    let careless = |ledger: &Ledger| {
        let (failing, panicking) = (ledger.part("failing"), ledger.shielded().part("panicking"));
        let torn = failing.body(failing.fails(1)).ensure(panicking.body(panicking.panics(1)).map(drop));
        torn.catch(|_: Error| Fiber::success(0)).boxed()
    };
    let failure = explore(careless).try_check().unwrap_err();
    assert!(failure.to_string().contains("panicking"), "{failure}");
    let careful = move |ledger: &Ledger| {
        let (failing, panicking) = (ledger.part("failing"), ledger.shielded().part("panicking"));
        let torn = failing.body(failing.fails(1)).ensure(panicking.body(panicking.panics(1)).map(drop));
        torn.catch(|error: Error| Fiber::success(error.suppressed().len() as u32)).boxed()
    };
    // The panic of a cancelled fiber's finalizer always goes to the hook.
    explore(careful).may_be_unobserved().check();
}
