//! A description that never runs, because its fiber was cancelled before. Its parts are dropped one by one.

use std::ops::ControlFlow;
use std::time::Duration;

use fiber_core::error::ScopeEnded;
use fiber_core::{Error, Fiber, Instant, Outcome, Policy, Resource, Run, Scope, local_key, uncancelable};

use crate::drops::bomb::{Bomb, Fuse, hold};
use crate::drops::frame::{ends, panic_of, panics};

const SECOND: Duration = Duration::from_secs(1);

local_key! { static HELD: Option<u8> = None; }

/// The program starts in a fiber that is already cancelled.
#[track_caller]
fn refused<T: Send + 'static, R: Run<Out = T>>(program: impl Fn(&Fuse) -> Fiber<T, R>) {
    panics(|fuse| {
        let program = program(fuse);
        Fiber::current().map(|context| context.cancel()).bind(move |()| program)
    });
}

#[test]
fn leaves() {
    refused(|fuse| Fiber::success(fuse.bomb()).map(drop));
    refused(|fuse| Fiber::from_outcome(Outcome::Success(fuse.bomb())));
    refused(|fuse| fuse.fiber());
    refused(|fuse| {
        Fiber::try_lazy({
            let f = fuse.closure();
            move || f(Ok::<_, Error>(()))
        })
    });
    refused(|fuse| {
        Fiber::defer({
            let f = fuse.binding();
            move || f(())
        })
    });
    refused(|fuse| {
        Fiber::<()>::callback({
            let bomb = fuse.bomb();
            move |_| hold(&bomb)
        })
    });
    refused(|fuse| {
        Fiber::blocking({
            let bomb = fuse.bomb();
            move || hold(&bomb)
        })
    });
    refused(|fuse| {
        Fiber::try_blocking({
            let f = fuse.closure();
            move || f(Ok::<_, Error>(()))
        })
    });
    refused(|fuse| {
        Fiber::blocking_with({
            let f = fuse.closure();
            move |_| f(Ok::<_, Error>(()))
        })
    });
}

#[test]
fn futures() {
    refused(|fuse| {
        let bomb = fuse.bomb();
        Fiber::from_future(async move {
            hold(&bomb);
            Ok::<_, Error>(())
        })
    });
}

#[test]
fn sequences() {
    refused(|fuse| fuse.fiber().map(fuse.closure()));
    refused(|fuse| fuse.fiber().bind(fuse.binding()));
    refused(|fuse| {
        fuse.fiber().try_map({
            let f = fuse.closure();
            move |()| f(Ok::<_, Error>(()))
        })
    });
    refused(|fuse| {
        fuse.fiber().tap({
            let f = fuse.binding();
            move |()| f(())
        })
    });
    refused(|fuse| {
        fuse.fiber().catch({
            let f = fuse.binding();
            move |_| f(())
        })
    });
    refused(|fuse| {
        fuse.fiber().or_else({
            let f = fuse.closure();
            move |_| f(Ok::<_, Error>(()))
        })
    });
    refused(|fuse| {
        fuse.fiber().catch_panic({
            let bomb = fuse.bomb();
            move |panic| {
                hold(&bomb);
                Fiber::from_outcome(Outcome::Panicked(panic))
            }
        })
    });
    refused(|fuse| fuse.fiber().map_outcome(fuse.closure()));
    refused(|fuse| fuse.fiber().named("named"));
    refused(|fuse| fuse.fiber().map(fuse.closure()).map(fuse.closure()).boxed().map(fuse.closure()));
}

#[test]
fn finalizers() {
    refused(|fuse| fuse.fiber().ensure(fuse.fiber()));
    refused(|fuse| fuse.fiber().on_cancel(fuse.fiber()));
    refused(|fuse| {
        fuse.fiber().on_failure({
            let f = fuse.binding();
            move |_| f(())
        })
    });
    refused(|fuse| {
        fuse.fiber().on_outcome({
            let f = fuse.binding();
            move |_| f(())
        })
    });
    refused(|fuse| {
        let (using, release) = (fuse.binding(), fuse.binding());
        Fiber::bracket(fuse.fiber(), using, release)
    });
    refused(|fuse| {
        let (using, release) = (fuse.binding(), fuse.binding());
        Fiber::bracket_outcome(fuse.fiber(), using, move |(), _| release(()))
    });
    refused(|fuse| Resource::new(fuse.fiber(), fuse.binding()).using(fuse.binding()));
    refused(|fuse| {
        let second = Resource::from_fiber(fuse.fiber());
        let first = Resource::new(fuse.fiber(), fuse.binding()).map(fuse.closure());
        first.and_then(move |()| second).using(fuse.binding())
    });
}

#[test]
fn regions() {
    refused(|fuse| fuse.fiber().uncancelable());
    refused(|fuse| {
        let program = fuse.fiber();
        uncancelable(move |restore| restore.apply(program))
    });
    refused(|fuse| {
        let bomb = fuse.bomb();
        uncancelable(move |restore| {
            hold(&bomb);
            restore.apply(Fiber::success(()))
        })
    });
    refused(|fuse| fuse.fiber().with_local(&HELD, Some(1)));
}

#[test]
fn limits() {
    refused(|fuse| fuse.fiber().timeout(SECOND));
    refused(|fuse| fuse.fiber().timeout_option(SECOND));
    refused(|fuse| fuse.fiber().timeout_to(SECOND, fuse.fiber()));
    refused(|fuse| fuse.fiber().timeout_disconnect(SECOND));
    refused(|fuse| fuse.fiber().timeout_with_grace(SECOND, SECOND));
    refused(|fuse| fuse.fiber().with_deadline(Instant::FAR_FUTURE));
}

#[test]
fn branches() {
    refused(|fuse| fuse.fiber().zip(fuse.fiber()));
    refused(|fuse| fuse.fiber().race(fuse.fiber()));
    refused(|fuse| fuse.fiber().race_with(fuse.fiber()));
    refused(|fuse| Fiber::race_all([fuse.fiber()]));
    refused(|fuse| Fiber::first_success([fuse.fiber()]));
    refused(|fuse| {
        Fiber::hedge(SECOND, 3, {
            let binding = fuse.binding();
            move || binding.clone()(())
        })
    });
    refused(|fuse| Fiber::parallel([fuse.fiber()]));
    refused(|fuse| Fiber::parallel([fuse.fiber()]).limit(1));
}

#[test]
fn forks() {
    refused(|fuse| fuse.fiber().fork());
    refused(|fuse| fuse.fiber().detach());
    refused(|fuse| fuse.fiber().disconnect());
    refused(|fuse| {
        let bomb = fuse.bomb();
        Fiber::scope(move |_: Scope| {
            hold(&bomb);
            Fiber::success(())
        })
    });
}

#[test]
fn a_fork_in_a_scope() {
    refused(|fuse| {
        let child = fuse.fiber();
        Fiber::scope(move |scope| {
            Fiber::current().map(|context| context.cancel()).bind(move |()| scope.fork(child).map(drop))
        })
    });
}

#[test]
fn a_fork_in_a_scope_that_has_ended() {
    let outcomes = ends(|fuse| {
        let child = fuse.fiber();
        Fiber::scope(Fiber::success).bind(move |scope| scope.fork(child).map(drop))
    });
    for panic in outcomes.into_iter().map(panic_of) {
        assert_eq!(panic.message(), "in drop");
        assert!(panic.suppressed()[0].is::<ScopeEnded>(), "{panic:?}");
    }
}

#[test]
fn loops() {
    refused(|fuse| {
        let bomb = fuse.bomb();
        Fiber::iterate(fuse.bomb(), move |state: Bomb| {
            hold(&bomb);
            Fiber::success(ControlFlow::<(), Bomb>::Continue(state))
        })
    });
    refused(|fuse| Fiber::for_each([fuse.bomb()], |bomb| Fiber::lazy(move || hold(&bomb))));
    refused(|fuse| {
        fuse.fiber().repeat_while({
            let bomb = fuse.bomb();
            move |()| {
                hold(&bomb);
                true
            }
        })
    });
    refused(|fuse| fuse.fiber().repeat(Policy::recurs(2)));
    refused(|fuse| fuse.fiber().retry(Policy::recurs(2)));
    refused(|fuse| {
        let bomb = fuse.bomb();
        Fiber::retry_with(Policy::recurs(2), move || {
            hold(&bomb);
            Fiber::success(())
        })
    });
    refused(|fuse| {
        let bomb = fuse.bomb();
        Fiber::repeat_with(Policy::recurs(2), move || {
            hold(&bomb);
            Fiber::success(())
        })
    });
}
