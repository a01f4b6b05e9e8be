//! A static description has many parts. When it does not run, each of them is dropped, whatever the drops of the others do.

use std::ops::ControlFlow;
use std::time::Duration;

use fiber_core::scheduler::{Cx, Wait, Wakeup};
use fiber_core::{Context, Fiber, Instant, Outcome, Policy, Run, Scope, local_key, uncancelable};

use crate::drops::bomb::{Bomb, Fuse, hold};
use crate::drops::frame::{ends, panic_of, panics};

const SECOND: Duration = Duration::from_secs(1);

local_key! { static HELD: Option<Bomb> = None; }

/// Two bombs in one static description.
fn two(fuse: &Fuse) -> Fiber<(), impl Run<Out = ()> + Clone + use<>> {
    fuse.fiber().map(fuse.closure())
}

/// None of the description runs: it is a branch of a cancelled fiber, in its own type and erased.
#[track_caller]
fn goes_part_by_part<T: Send + 'static, R: Run<Out = T>>(program: impl Fn(&Fuse) -> Fiber<T, R>) {
    let refused = |description: Fiber<()>| {
        Fiber::current().map(|context: Context| context.cancel()).bind(move |()| description)
    };
    panics(|fuse| refused(program(fuse).zip(Fiber::success(())).map(drop).boxed()));
    panics(|fuse| refused(Fiber::success(()).race(program(fuse).boxed()).map(drop).boxed()));
    panics(|fuse| {
        let erased = program(fuse).boxed();
        Fiber::success(()).catch(move |_| erased.map(drop).boxed())
    });
}

#[test]
fn sequences_and_finalizers() {
    goes_part_by_part(two);
    goes_part_by_part(|fuse| two(fuse).map(fuse.closure()).named("named").bind(fuse.binding()));
    goes_part_by_part(|fuse| two(fuse).ensure(two(fuse)));
    goes_part_by_part(|fuse| two(fuse).on_cancel(two(fuse)));
    goes_part_by_part(|fuse| Fiber::bracket(two(fuse), fuse.binding(), fuse.binding()));
    goes_part_by_part(|fuse| two(fuse).with_local(&HELD, Some(fuse.bomb())));
}

#[test]
fn regions_and_limits() {
    goes_part_by_part(|fuse| two(fuse).uncancelable());
    goes_part_by_part(|fuse| two(fuse).timeout(SECOND));
    goes_part_by_part(|fuse| two(fuse).timeout_to(SECOND, two(fuse)));
    goes_part_by_part(|fuse| two(fuse).with_deadline(Instant::FAR_FUTURE));
}

#[test]
fn branches_and_forks() {
    goes_part_by_part(|fuse| two(fuse).zip(two(fuse)));
    goes_part_by_part(|fuse| two(fuse).race(two(fuse)));
    goes_part_by_part(|fuse| two(fuse).race_with(two(fuse)));
    goes_part_by_part(|fuse| two(fuse).fork());
    goes_part_by_part(|fuse| two(fuse).detach());
    goes_part_by_part(|fuse| two(fuse).disconnect());
}

#[test]
fn loops() {
    goes_part_by_part(|fuse| {
        let (bomb, state) = (fuse.bomb(), fuse.bomb());
        Fiber::iterate(state, move |_| {
            hold(&bomb);
            Fiber::success(ControlFlow::Break::<(), Bomb>(()))
        })
    });
    goes_part_by_part(|fuse| {
        let bomb = fuse.bomb();
        Fiber::for_each([fuse.bomb()], move |_| {
            hold(&bomb);
            Fiber::success(())
        })
    });
    goes_part_by_part(|fuse| two(fuse).retry(Policy::recurs(1)));
    goes_part_by_part(|fuse| two(fuse).repeat(Policy::recurs(1)));
    goes_part_by_part(|fuse| two(fuse).repeat_while(|()| false));
}

/// Each of these drops a description that did not run, although its fiber was not cancelled.
#[test]
fn what_is_passed_by() {
    panics(|fuse| Fiber::success(()).on_cancel(two(fuse)));
    panics(|fuse| Fiber::success(()).timeout_to(SECOND, two(fuse)));
    for outcome in ends(|fuse| two(fuse).with_deadline(Instant::EPOCH)) {
        assert_eq!(panic_of(outcome).message(), "in drop");
    }
    for outcome in ends(|fuse| {
        let fork = two(fuse);
        Fiber::scope(|scope: Scope| Fiber::success(scope)).bind(move |scope| scope.fork(fork).map(drop))
    }) {
        assert_eq!(panic_of(outcome).message(), "in drop");
    }
    panics(|fuse| {
        let fiber = two(fuse);
        Fiber::current()
            .map(|context| context.cancel())
            .bind(move |()| uncancelable(move |restore| restore.apply(fiber)))
    });
}

/// The value for the use is a clone, which is dropped beside the closure; so is that for the release.
#[test]
fn the_use_of_a_bracket_that_is_cancelled_while_it_acquires() {
    panics(|fuse| {
        let (bomb, using) = (fuse.bomb(), fuse.binding());
        let acquire = Fiber::current().map(move |context| {
            context.cancel();
            bomb
        });
        let using = move |bomb: Bomb| {
            hold(&bomb);
            using(())
        };
        Fiber::bracket(acquire, using, |bomb: Bomb| {
            hold(&bomb);
            Fiber::success(())
        })
    });
}

/// Is woken while it registers.
struct Woken {
    bomb: Bomb,
    is_woken: bool,
}

impl Wait for Woken {
    type Out = ();

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        self.is_woken.then_some(Outcome::Success(()))
    }

    fn register(&mut self, _: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
        hold(&self.bomb);
        self.is_woken = true;
        wakeup.fire();
        None
    }

    fn deregister(&mut self, _: &Cx<'_>) {}
}

#[test]
fn a_wait_that_is_over() {
    panics(|fuse| Fiber::wait(Woken { bomb: fuse.bomb(), is_woken: false }));
}
