//! Every combinator around every other one.

use std::sync::Arc;

use fiber_core::{Error, Fiber, Outcome, Policy, Resource, Scope, uncancelable};

use crate::exploration::explore;
use crate::lease::Lease;
use crate::ledger::{DEPTH, Ledger, TICK};

/// Makes the inner fiber, as often as needed.
type Make = Arc<dyn Fn(&Ledger) -> Fiber<u32> + Send + Sync>;

/// A combinator around a fiber, with the rules that it has to keep.
type Around = fn(&Ledger, Make) -> Fiber<u32>;

/// Schedules of each pair, in each kind of exploration, in addition to those that are cancelled at every turn.
const SCHEDULES: u64 = if cfg!(debug_assertions) { 4 } else { 60 };

/// This many ticks are enough for some of the inner fibers.
const SHORT: u32 = 3;

/// This many are enough for all.
const LONG: u32 = 1000;

/// A guarded part beside the inner fiber, which takes about as long.
fn beside(ledger: &Ledger) -> Fiber<u32> {
    let part = ledger.part("beside");
    part.guarded(part.runs(1, SHORT))
}

/// The inner fiber, as a part that has ended when the fiber that `around` makes of it has.
fn awaited(ledger: &Ledger, inner: Make, around: impl FnOnce(Fiber<u32>) -> Fiber<u32>) -> Fiber<u32> {
    let part = ledger.part("inside");
    part.ends_before(around(part.guarded(inner(ledger))))
}

const BRANCHES: [(&str, Around); 9] = [
    ("zip", |ledger, inner| {
        awaited(ledger, inner, |inner| inner.zip(beside(ledger)).map(|(value, _)| value).boxed())
    }),
    ("race", |ledger, inner| {
        awaited(ledger, inner, |inner| inner.race(beside(ledger)).map(|either| either.into_inner()).boxed())
    }),
    ("race_all", |ledger, inner| {
        awaited(ledger, inner, |inner| Fiber::race_all([inner, beside(ledger)]).boxed())
    }),
    ("race_with", |ledger, inner| {
        awaited(ledger, inner, |inner| {
            let raced = inner.race_with(beside(ledger));
            raced.map(|raced| raced.first.success().map_or(0, |either| either.into_inner())).boxed()
        })
    }),
    ("first_success", |ledger, inner| {
        awaited(ledger, inner, |inner| Fiber::first_success([beside(ledger), inner]).boxed())
    }),
    ("hedge", |ledger, inner| {
        let mut attempts = vec![beside(ledger), inner(ledger)];
        Fiber::hedge(TICK, 2, move || attempts.pop().expect("two attempts")).boxed()
    }),
    ("parallel", |ledger, inner| {
        let all = (0..3).map({
            let ledger = ledger.clone();
            move |n| if n == 1 { inner(&ledger) } else { beside(&ledger) }
        });
        Fiber::parallel(all).limit(2).map(|all| all.len() as u32).boxed()
    }),
    ("scope", |ledger, inner| {
        awaited(ledger, inner, |inner| {
            let body = beside(ledger);
            Fiber::scope(move |scope: Scope| scope.fork(inner).bind(move |_| body)).boxed()
        })
    }),
    ("await_all", |ledger, inner| {
        awaited(ledger, inner, |inner| {
            let other = beside(ledger);
            let awaits = move |scope: Scope| {
                let (forks, all) = (scope.fork(other), scope.await_all());
                scope.fork(inner).bind(move |_| forks).bind(move |_| all).map(|()| 0)
            };
            Fiber::scope(awaits).boxed()
        })
    }),
];

const HANDLES: [(&str, Around); 5] = [
    ("join", |ledger, inner| inner(ledger).fork().bind(|child| child.join()).boxed()),
    ("cancel", |ledger, inner| {
        let part = ledger.part("cancelled");
        let cancelled = part.guarded(inner(ledger)).fork().bind(move |child| {
            let (cancel, watched) = (child.cancel(), part.clone());
            Fiber::delay(TICK)
                .bind(move |()| watched.ends_before_value(cancel))
                .bind(move |()| child.outcome())
        });
        cancelled.map(|outcome| outcome.success().unwrap_or(0)).boxed()
    }),
    ("detach", |ledger, inner| {
        let detached = inner(&ledger.detached()).detach().bind(|child| child.outcome());
        detached.map(|outcome| outcome.success().unwrap_or(0)).boxed()
    }),
    ("disconnect", |ledger, inner| inner(&ledger.detached()).disconnect().boxed()),
    ("future", |ledger, inner| {
        let (inner, other) = (inner(ledger), beside(ledger));
        Fiber::from_future(async move { Ok::<_, Error>(inner.await? + other.await?) }).boxed()
    }),
];

const LIMITS: [(&str, Around); 6] = [
    ("timeout", |ledger, inner| {
        awaited(ledger, inner, |inner| {
            inner.timeout(SHORT * TICK).catch(|_: Error| Fiber::success(0)).boxed()
        })
    }),
    ("timeout_option", |ledger, inner| {
        awaited(ledger, inner, |inner| {
            inner.timeout_option(SHORT * TICK).map(Option::unwrap_or_default).boxed()
        })
    }),
    ("timeout_to", |ledger, inner| {
        awaited(ledger, inner, |inner| inner.timeout_to(SHORT * TICK, beside(ledger)).boxed())
    }),
    ("timeout_disconnect", |ledger, inner| {
        let limited = inner(&ledger.detached()).timeout_disconnect(SHORT * TICK);
        limited.catch(|_: Error| Fiber::success(0)).boxed()
    }),
    ("timeout_with_grace", |ledger, inner| {
        awaited(&ledger.detached(), inner, |inner| {
            let limited = inner.timeout_with_grace(SHORT * TICK, LONG * TICK);
            limited.catch(|_: Error| Fiber::success(0)).boxed()
        })
    }),
    ("with_deadline", |ledger, inner| {
        awaited(ledger, inner, |inner| {
            let limited = Fiber::now().bind(|now| inner.with_deadline(now + SHORT * TICK));
            limited.catch(|_: Error| Fiber::success(0)).boxed()
        })
    }),
];

const AROUND_IN_SEQUENCE: [(&str, Around); 10] = [
    ("ensure", |ledger, inner| {
        let finalizer = inner(&ledger.shielded());
        let part = ledger.part("inside");
        part.body(part.works(1)).ensure(finalizer.map(drop)).boxed()
    }),
    ("on_outcome", |ledger, inner| {
        let part = ledger.part("inside");
        let watched = part.clone();
        let sees = move |_: &Outcome<u32>| Fiber::lazy(move || watched.has_ended());
        part.guarded(inner(ledger)).on_outcome(sees).boxed()
    }),
    ("bracket", |ledger, inner| {
        let (using, part) = (inner(ledger), ledger.part("use"));
        let watched = part.clone();
        Fiber::bracket(
            ledger.acquire("lease"),
            move |lease: Lease| part.guarded(lease.is_used(1).bind(move |_| using)),
            move |lease: Lease| watched.ends_before(lease.release()),
        )
        .boxed()
    }),
    ("acquire", |ledger, inner| {
        let (acquire, acquired) = (inner(&ledger.shielded()), ledger.acquire("lease"));
        let acquire = acquire.bind(move |_| acquired);
        Fiber::bracket(acquire, |lease: Lease| lease.is_used(1), |lease: Lease| lease.release()).boxed()
    }),
    ("resource", |ledger, inner| {
        let using = inner(ledger);
        let resource = |name| Resource::new(ledger.acquire(name), |lease: Lease| lease.release());
        resource("first").zip(resource("second")).using(move |_| using)
    }),
    ("uncancelable", |ledger, inner| inner(&ledger.shielded()).uncancelable().boxed()),
    ("restore", |ledger, inner| {
        let (acquire, body) = (ledger.acquire("lease"), inner(ledger));
        let region = uncancelable(move |restore| {
            acquire.bind(move |lease: Lease| restore.apply(body).ensure(lease.release()))
        });
        region.boxed()
    }),
    ("retry", |ledger, inner| {
        let (ledger, mut attempts) = (ledger.clone(), 0);
        let retried = Fiber::retry_with(Policy::recurs(1) & Policy::spaced(TICK), move || {
            attempts += 1;
            let fails = attempts == 1;
            inner(&ledger).try_map(move |value| if fails { Err(Error::msg("again")) } else { Ok(value) })
        });
        retried.boxed()
    }),
    ("repeat", |ledger, inner| {
        let ledger = ledger.clone();
        Fiber::repeat_with(Policy::recurs(1) & Policy::spaced(TICK), move || inner(&ledger)).boxed()
    }),
    ("with_local", |ledger, inner| {
        let depth = ledger.depth + 1;
        let after = ledger.part("after");
        let after = after.body(after.step());
        inner(&ledger.at_depth(depth)).with_local(&DEPTH, depth).tap(move |_| after).boxed()
    }),
];

fn innermost(ledger: &Ledger) -> Fiber<u32> {
    let part = ledger.part("innermost");
    part.guarded(part.runs(1, 2))
}

/// Explores each of these around every combinator.
fn explore_around(outer: &[(&str, Around)]) {
    let all = [&BRANCHES[..], &HANDLES, &LIMITS, &AROUND_IN_SEQUENCE].concat();
    for (outer_name, outer) in outer {
        for (inner_name, inner) in &all {
            let (outer, inner) = (*outer, *inner);
            let program = move |ledger: &Ledger| {
                let make: Make = Arc::new(move |ledger: &Ledger| inner(ledger, Arc::new(innermost)));
                outer(ledger, make)
            };
            let explored = explore(program).schedules(SCHEDULES).not_enumerated().try_check();
            explored.unwrap_or_else(|failure| panic!("{outer_name} around {inner_name}: {failure}"));
        }
    }
}

#[test]
fn branches_around_everything() {
    explore_around(&BRANCHES);
}

#[test]
fn handles_around_everything() {
    explore_around(&HANDLES);
}

#[test]
fn limits_around_everything() {
    explore_around(&LIMITS);
}

#[test]
fn what_is_in_sequence_around_everything() {
    explore_around(&AROUND_IN_SEQUENCE);
}
