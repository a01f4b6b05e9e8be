//! Values that are no longer needed: of a succeeded sibling, of a loser, of a wait, the state of a loop.

use std::ops::ControlFlow;
use std::time::Duration;

use fiber_core::{
    CancelToken, Error, Fiber, Instant, LocalKey, Outcome, Policy, Run, error::DeadlineExceeded,
};

use crate::drops::bomb::{Bomb, Fuse, failure, hold};
use crate::drops::frame::{ends, panic_of, panics};

const SECOND: Duration = Duration::from_secs(1);

fn later<T: Send + 'static>(fiber: Fiber<T>) -> Fiber<T> {
    Fiber::delay(SECOND).bind(move |()| fiber).boxed()
}

/// The failure is suppressed into the panic.
#[track_caller]
fn panics_over_a_failure<T: Send + 'static, R: Run<Out = T>>(program: impl Fn(&Fuse) -> Fiber<T, R>) {
    for outcome in ends(program) {
        let panic = panic_of(outcome);
        assert_eq!(panic.message(), "in drop");
        assert!(panic.suppressed().iter().any(|error| error.to_string().ends_with("genuine")), "{panic:?}");
    }
}

#[test]
fn a_closure_that_a_failure_passes() {
    panics_over_a_failure(|fuse| failure().map(fuse.closure::<()>()));
    panics_over_a_failure(|fuse| failure().bind(fuse.binding::<()>()));
    panics_over_a_failure(|fuse| {
        failure::<()>().tap({
            let f = fuse.binding();
            move |()| f(())
        })
    });
    panics_over_a_failure(|fuse| {
        failure::<()>().try_map({
            let f = fuse.closure();
            move |()| f(Ok::<_, Error>(()))
        })
    });
    panics_over_a_failure(|fuse| failure::<()>().on_cancel(fuse.fiber()));
    panics_over_a_failure(|fuse| later(failure::<()>()).map(fuse.closure::<()>()));
    panics_over_a_failure(|fuse| failure::<()>().timeout_to(SECOND, fuse.fiber()));
    panics_over_a_failure(|fuse| Fiber::bracket(failure::<()>(), fuse.binding::<()>(), fuse.binding()));
}

#[test]
fn a_handler_that_a_success_passes() {
    panics(|fuse| {
        Fiber::success(()).catch({
            let f = fuse.binding();
            move |_| f(())
        })
    });
    panics(|fuse| {
        Fiber::success(fuse.bomb()).catch({
            let bomb = fuse.bomb();
            move |_| Fiber::success(bomb)
        })
    });
    panics(|fuse| {
        Fiber::success(()).on_failure({
            let f = fuse.binding();
            move |_| f(())
        })
    });
    panics(|fuse| Fiber::success(fuse.bomb()).on_cancel(fuse.fiber()));
    panics(|fuse| Fiber::success(fuse.bomb()).timeout_to(SECOND, Fiber::success(fuse.bomb())));
}

#[test]
fn a_closure_after_its_call() {
    panics(|fuse| Fiber::success(()).map(fuse.closure()));
    panics(|fuse| Fiber::success(()).bind(fuse.binding()));
    panics(|fuse| {
        later(failure()).catch({
            let f = fuse.binding();
            move |_| f(())
        })
    });
    panics(|fuse| Fiber::success(()).ensure(fuse.fiber()));
    panics(|fuse| Fiber::success(fuse.bomb()).ensure(fuse.fiber()));
    panics(|fuse| {
        Fiber::success(fuse.bomb()).on_outcome({
            let f = fuse.binding();
            move |_| f(())
        })
    });
    panics(|fuse| fuse.fiber().timeout(SECOND));
    panics(|fuse| fuse.fiber().uncancelable());
}

#[test]
fn a_value_that_is_tapped() {
    panics_over_a_failure(|fuse| Fiber::success(fuse.bomb()).tap(|_| failure::<()>()));
    panics(|fuse| {
        Fiber::success(fuse.bomb()).tap({
            let bomb = fuse.bomb();
            move |_| Fiber::success(bomb)
        })
    });
}

#[test]
fn a_tapped_value_whose_closure_panics() {
    for outcome in ends(|fuse| Fiber::success(fuse.bomb()).tap(|_| -> Fiber<()> { panic!("first") })) {
        let panic = panic_of(outcome);
        assert_eq!(panic.message(), "first");
        assert_eq!(panic.suppressed()[0].to_string(), "panic: in drop");
    }
}

#[test]
fn the_value_of_a_success_whose_finalizer_fails() {
    panics_over_a_failure(|fuse| Fiber::success(fuse.bomb()).ensure(failure()));
    panics_over_a_failure(|fuse| Fiber::success(fuse.bomb()).on_outcome(|_| failure()));
    panics_over_a_failure(|fuse| {
        let bomb = fuse.bomb();
        Fiber::bracket(Fiber::success(()), move |()| Fiber::success(bomb), |()| failure())
    });
}

#[test]
fn the_value_of_a_sibling_in_zip() {
    panics_over_a_failure(|fuse| Fiber::success(fuse.bomb()).zip(later(failure::<()>())));
    panics_over_a_failure(|fuse| later(failure::<()>()).zip(Fiber::success(fuse.bomb())));
    panics_over_a_failure(|fuse| {
        // Late, so that it is the last to end.
        let late = Fiber::delay(2 * SECOND).uncancelable().map({
            let bomb = fuse.bomb();
            move |()| bomb
        });
        later(failure::<()>()).zip(late)
    });
}

#[test]
fn what_has_arrived_within_a_time_that_was_not_up() {
    let ready = |fuse: &Fuse| Fiber::success(fuse.bomb()).boxed();
    let cancels = |token: &CancelToken| {
        let token = token.clone();
        Fiber::lazy(move || token.cancel()).bind(|()| Fiber::never()).boxed()
    };
    panics(|fuse| {
        let token = CancelToken::new();
        let fibers = [ready(fuse), ready(fuse), cancels(&token)];
        Fiber::parallel(fibers).within(60 * SECOND).cancelled_by(&token)
    });
    panics(|fuse| {
        let token = CancelToken::new();
        let fibers = [ready(fuse), ready(fuse), cancels(&token)];
        Fiber::first_successes(3, fibers).within(60 * SECOND).cancelled_by(&token)
    });
}

#[test]
fn the_values_of_siblings_in_parallel() {
    panics_over_a_failure(|fuse| {
        let ready = |bomb| Fiber::success(bomb).boxed();
        Fiber::parallel([ready(fuse.bomb()), ready(fuse.bomb()), later(failure()), ready(fuse.bomb())])
    });
    panics_over_a_failure(|fuse| {
        let ready = |bomb| Fiber::success(bomb).boxed();
        Fiber::parallel([ready(fuse.bomb()), ready(fuse.bomb()), later(failure())]).limit(1)
    });
}

#[test]
fn the_value_of_a_sibling_when_both_are_cancelled() {
    panics(|fuse| {
        let both = Fiber::success(fuse.bomb()).zip(Fiber::<()>::never());
        let all = Fiber::parallel([Fiber::success(fuse.bomb()).map(drop).boxed(), Fiber::never().boxed()]);
        cancelled_later(both.map(drop)).zip(cancelled_later(all.map(drop)))
    });
}

/// Cancels the fiber while it waits, and ends with its panic.
fn cancelled_later<R: Run<Out = ()>>(fiber: Fiber<(), R>) -> Fiber<()> {
    let cancelled = fiber
        .fork()
        .bind(|child| Fiber::delay(SECOND).bind(move |()| child.cancel().bind(move |()| child.join())));
    cancelled.boxed()
}

#[test]
fn the_end_of_a_loop() {
    panics(|fuse| {
        let bomb = fuse.bomb();
        Fiber::for_each(0..3, move |_| {
            hold(&bomb);
            Fiber::success(())
        })
    });
    panics(|fuse| {
        let bomb = fuse.bomb();
        Fiber::for_each((0..3).inspect(move |_| hold(&bomb)), |_| Fiber::yield_now())
    });
    panics_over_a_failure(|fuse| Fiber::for_each([None, Some(fuse.bomb())], |_| later(failure())));
    panics(|fuse| {
        let bomb = fuse.bomb();
        Fiber::iterate(0, move |n| {
            hold(&bomb);
            Fiber::success(if n < 3 { ControlFlow::Continue(n + 1) } else { ControlFlow::Break(n) })
        })
    });
    panics(|fuse| Fiber::iterate(fuse.bomb(), |_: Bomb| Fiber::success(ControlFlow::<(), Bomb>::Break(()))));
    panics(|fuse| Fiber::success(fuse.bomb()).repeat_while(|_| true));
    panics(|fuse| Fiber::success(fuse.bomb()).repeat_while(|_| false));
    panics(|fuse| Fiber::success(fuse.bomb()).repeat(Policy::recurs(2)));
    panics(|fuse| {
        let bomb = fuse.bomb();
        Fiber::repeat_with(Policy::recurs(2), move || {
            hold(&bomb);
            Fiber::yield_now()
        })
    });
    panics_over_a_failure(|fuse| {
        let bomb = fuse.bomb();
        Fiber::retry_with(Policy::recurs(2), move || {
            hold(&bomb);
            failure::<()>()
        })
    });
}

#[test]
fn a_policy_s_condition() {
    panics(|fuse| {
        let bomb = fuse.bomb();
        let policy = Policy::recurs(2).while_input(move |(): &()| {
            hold(&bomb);
            true
        });
        Fiber::repeat_with(policy, || Fiber::success(()))
    });
}

#[test]
fn a_fiber_whose_deadline_has_passed() {
    panics_over_a_deadline(|fuse| fuse.fiber().with_deadline(Instant::EPOCH));
    panics_over_a_deadline(|fuse| fuse.fiber().boxed().with_deadline(Instant::EPOCH));
}

#[track_caller]
fn panics_over_a_deadline<R: Run<Out = ()>>(program: impl Fn(&Fuse) -> Fiber<(), R>) {
    for outcome in ends(program) {
        let panic = panic_of(outcome);
        assert!(panic.suppressed()[0].is::<DeadlineExceeded>(), "{panic:?}");
    }
}

#[test]
fn what_a_timeout_cancels() {
    panics(|fuse| Fiber::<()>::never().map(fuse.closure()).timeout(SECOND));
    panics(|fuse| Fiber::<()>::never().map(fuse.closure()).timeout_option(SECOND));
    panics(|fuse| Fiber::<()>::never().map(fuse.closure()).timeout_to(SECOND, Fiber::success(())));
    panics(|fuse| Fiber::<()>::never().map(fuse.closure()).timeout_to(SECOND, fuse.fiber()));
    panics(|fuse| Fiber::<()>::never().map(fuse.closure()).boxed().timeout_with_grace(SECOND, SECOND));
}

#[test]
fn the_value_of_a_loser_goes_to_the_hook_and_the_winner_wins() {
    let late = |fuse: &Fuse| {
        let bomb = fuse.bomb();
        Fiber::delay(SECOND).uncancelable().map(move |()| bomb)
    };
    let winner = || Fiber::success(());
    assert!(ends(|fuse| winner().race(late(fuse)).map(|_| ())).iter().all(Outcome::is_success));
    assert!(ends(|fuse| late(fuse).race(winner()).map(|_| ())).iter().all(Outcome::is_success));
    assert!(
        ends(|fuse| {
            let quick = winner().map(|()| None).boxed();
            Fiber::race_all([quick, late(fuse).map(Some).boxed()]).map(|_| ())
        })
        .iter()
        .all(Outcome::is_success)
    );
    assert!(
        ends(|fuse| {
            let quick = winner().map(|()| None).boxed();
            Fiber::first_success([quick, late(fuse).map(Some).boxed()]).map(|_| ())
        })
        .iter()
        .all(Outcome::is_success)
    );
}

#[test]
fn the_unstarted_branch_of_a_race_that_is_decided() {
    for outcome in ends(|fuse| fuse.fiber().map(|()| ()).race(Fiber::success(())).map(|_| ())) {
        assert!(outcome.is_success() || outcome.is_panicked());
    }
}

#[test]
fn the_outcome_of_a_fork_that_nobody_looks_at() {
    let forgotten = ends(|fuse| {
        Fiber::success(fuse.bomb()).fork().bind(|child| Fiber::delay(SECOND).map(move |()| drop(child)))
    });
    assert!(forgotten.iter().all(Outcome::is_success));
    let inline = ends(|fuse| {
        let child = Fiber::success(fuse.bomb()).fork().map(drop);
        child.bind(|()| Fiber::delay(SECOND))
    });
    assert!(inline.iter().all(Outcome::is_success));
    let detached = ends(|fuse| {
        let child = Fiber::success(fuse.bomb()).detach().map(drop);
        child.bind(|()| Fiber::delay(SECOND))
    });
    assert!(detached.iter().all(Outcome::is_success));
}

static CARRIED: LocalKey<Option<Bomb>> = LocalKey::new(|| None);

#[test]
fn a_value_that_the_fiber_carries() {
    panics(|fuse| Fiber::success(()).with_local(&CARRIED, Some(fuse.bomb())));
    panics(|fuse| Fiber::success(fuse.bomb()).with_local(&CARRIED, Some(fuse.bomb())));
    panics(|fuse| Fiber::delay(SECOND).with_local(&CARRIED, Some(fuse.bomb())));
    panics_over_a_failure(|fuse| later(failure::<()>()).with_local(&CARRIED, Some(fuse.bomb())));
    panics(|fuse| {
        Fiber::success(()).with_local(&CARRIED, Some(fuse.bomb())).with_local(&CARRIED, Some(fuse.bomb()))
    });
}

#[test]
fn a_value_that_only_a_fork_still_carries() {
    let ended = ends(|fuse| {
        let fork = Fiber::delay(SECOND).fork().with_local(&CARRIED, Some(fuse.bomb()));
        fork.bind(|child| child.join())
    });
    assert!(ended.iter().all(Outcome::is_success));
}

#[test]
fn what_a_future_owns() {
    panics(|fuse| {
        let bomb = fuse.bomb();
        Fiber::from_future(async move {
            hold(&bomb);
            Ok::<_, Error>(())
        })
    });
}

#[test]
fn what_a_callback_was_delivered_after_its_cancellation() {
    panics(|fuse| {
        let bomb = fuse.bomb();
        Fiber::<Bomb>::callback(move |resume| resume.success(bomb)).map(drop)
    });
}

#[test]
fn branches_that_an_iterator_gave_before_it_panicked() {
    let broken = |fuse: &Fuse| {
        let fibers = [fuse.fiber(), fuse.fiber()].into_iter();
        fibers.chain(std::iter::once_with(|| panic!("first")))
    };
    let outcomes = ends(|fuse| Fiber::race_all(broken(fuse)));
    for outcome in outcomes.into_iter().chain(ends(|fuse| Fiber::first_success(broken(fuse)))) {
        let panic = panic_of(outcome);
        assert_eq!(panic.message(), "first");
        assert_eq!(panic.suppressed().len(), 2, "the drops of both: {panic:?}");
    }
}
