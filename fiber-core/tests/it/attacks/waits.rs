//! Waits that break the contract of [`Wait`]: they lose their wake-up, use it too often or too late, never claim, claim and give nothing,
//! run fibers of their own, or panic.

use std::mem::forget;
use std::panic::panic_any;
use std::sync::{Arc, Mutex};

use fiber_core::scheduler::{Cx, Wait, Wakeup};
use fiber_core::{Either, Fiber, Outcome, Run};
use fiber_sched::Pool;
use fiber_test::TestScheduler;

use super::{HOUR, SECOND, forever};
use crate::support::Counter;

/// A wait of three functions. `poll` receives the number of earlier polls.
struct Custom<P, R, D> {
    poll: P,
    register: R,
    deregister: D,
    polls: u32,
}

impl<P, R, D> Wait for Custom<P, R, D>
where
    P: FnMut(&Cx<'_>, u32) -> Option<Outcome<u32>> + Send + 'static,
    R: FnMut(&Cx<'_>, Wakeup) -> Option<Outcome<u32>> + Send + 'static,
    D: FnMut(&Cx<'_>) + Send + 'static,
{
    type Out = u32;
    const CAN_LOSE: bool = true;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<u32>> {
        self.polls += 1;
        (self.poll)(cx, self.polls - 1)
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<u32>> {
        (self.register)(cx, wakeup)
    }

    fn deregister(&mut self, cx: &Cx<'_>) {
        (self.deregister)(cx);
    }
}

fn custom(
    poll: impl FnMut(&Cx<'_>, u32) -> Option<Outcome<u32>> + Send + 'static,
    register: impl FnMut(&Cx<'_>, Wakeup) -> Option<Outcome<u32>> + Send + 'static,
    deregister: impl FnMut(&Cx<'_>) + Send + 'static,
) -> Fiber<u32, impl Run<Out = u32>> {
    Fiber::wait(Custom { poll, register, deregister, polls: 0 })
}

/// The wait alone, in a limit, and as a side of races with its type and without.
fn everywhere<R: Run<Out = u32>>(make: impl Fn() -> Fiber<u32, R>) -> Vec<Fiber<u32>> {
    let of_left = |won: Either<u32, ()>| match won {
        Either::Left(value) => value,
        Either::Right(()) => 0,
    };
    let fiber = make();
    let awaited = Fiber::block(move || async move { fiber.await }).boxed();
    vec![
        make().boxed(),
        make().timeout(HOUR).boxed(),
        make().race(Fiber::delay(HOUR)).map(of_left).boxed(),
        make().race(forever::<()>()).map(of_left).boxed(),
        make().boxed().race(Fiber::delay(HOUR).boxed()).map(of_left).boxed(),
        Fiber::never().race(make().race(Fiber::delay(HOUR)).map(of_left)).map(Either::into_inner).boxed(),
        forever().race(make().race(forever::<()>()).map(of_left)).map(Either::into_inner).boxed(),
        awaited,
    ]
}

fn gives_seven(fibers: Vec<Fiber<u32>>) {
    for (place, fiber) in fibers.into_iter().enumerate() {
        let test = TestScheduler::new();
        let outcome = test.run(fiber);
        assert!(matches!(outcome, Outcome::Success(7)), "place {place}: {outcome:?}");
        test.assert_no_leaks();
    }
}

fn seven_after(polls: u32) -> impl Fn(&Cx<'_>, u32) -> Option<Outcome<u32>> + Clone {
    move |_, poll| (poll >= polls).then_some(Outcome::Success(7))
}

fn fires(_: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<u32>> {
    wakeup.fire();
    None
}

#[test]
fn a_wait_whose_wakeup_is_fired_while_it_registers_is_polled() {
    gives_seven(everywhere(|| custom(seven_after(1), fires, |_| ())));
}

#[test]
fn a_wait_that_is_woken_for_nothing_registers_again() {
    gives_seven(everywhere(|| custom(seven_after(20), fires, |_| ())));
}

#[test]
fn a_wait_that_claims_fires_and_gives_nothing_is_polled_again() {
    let register = |_: &Cx<'_>, wakeup: Wakeup| {
        assert!(wakeup.claim());
        wakeup.fire();
        None
    };
    gives_seven(everywhere(|| custom(seven_after(3), register, |_| ())));
}

#[test]
fn a_wait_that_gives_an_outcome_without_a_claim_gives_it() {
    let register = |_: &Cx<'_>, wakeup: Wakeup| {
        forget(wakeup);
        Some(Outcome::Success(7))
    };
    gives_seven(everywhere(|| custom(|_, _| None, register, |_| ())));
}

#[test]
fn a_wakeup_that_is_fired_after_its_wait_wakes_no_later_one() {
    let kept: Arc<Mutex<Vec<Wakeup>>> = Arc::default();
    let keeps = || {
        let kept = kept.clone();
        let register = move |_: &Cx<'_>, wakeup: Wakeup| {
            kept.lock().unwrap().push(wakeup);
            None
        };
        // It leaves no queue when it is cancelled.
        custom(|_, _| None, register, |_| ())
    };
    for (place, fiber) in everywhere(keeps).into_iter().enumerate() {
        let test = TestScheduler::new();
        let polls = Counter::default();
        let counts = polls.clone();
        let later = custom(
            move |_, _| {
                counts.add();
                None
            },
            |_, wakeup| {
                forget(wakeup);
                None
            },
            |_| (),
        );
        let program = test.spawn(fiber.timeout(SECOND).catch(|_| Fiber::success(0)).bind(|_| later));
        test.run_for(2 * SECOND);
        let before = polls.get();
        for wakeup in kept.lock().unwrap().drain(..) {
            wakeup.fire();
        }
        test.run_for(SECOND);
        assert_eq!(polls.get(), before, "place {place}");
        assert!(program.is_pending());
        program.cancel_now();
        test.run_until_idle();
        test.assert_no_leaks();
    }
}

#[test]
fn a_wait_that_drops_its_wakeup_hangs_nobody_who_cancels_it() {
    let loses = || {
        custom(
            |_, _| None,
            |_, wakeup| {
                drop(wakeup);
                None
            },
            |_| (),
        )
    };
    for (place, fiber) in everywhere(loses).into_iter().enumerate() {
        let (test, finalized) = (TestScheduler::new(), Counter::default());
        let outcome = test.run(fiber.ensure(finalized.count()).race(Fiber::delay(SECOND)));
        assert!(!outcome.is_panicked() && !outcome.is_cancelled(), "place {place}: {outcome:?}");
        test.assert_no_leaks();
    }
}

#[test]
fn a_wait_cannot_run_a_fiber_in_the_fiber_that_waits() {
    fn runs(cx: &Cx<'_>) {
        // 4 KB, for which the buffer of frames would have to grow.
        let large = [7_u8; 4096];
        drop(Fiber::delay(SECOND).map(move |()| large).into_run().run(cx));
        drop(Fiber::delay(SECOND).uncancelable().timeout(HOUR).into_run().run(cx));
    }
    let waits: [fn() -> Vec<Fiber<u32>>; 4] = [
        || {
            everywhere(|| {
                let mut text = String::from("on the heap");
                let poll = move |cx: &Cx<'_>, poll| {
                    if poll == 0 {
                        return None;
                    }
                    runs(cx);
                    text.push('!');
                    Some(Outcome::Success(text.len() as u32))
                };
                custom(poll, fires, |_| ())
            })
        },
        || {
            everywhere(|| {
                let poll = |cx: &Cx<'_>, _| {
                    runs(cx);
                    None
                };
                custom(poll, fires, |_| ())
            })
        },
        || {
            everywhere(|| {
                let register = |cx: &Cx<'_>, wakeup: Wakeup| {
                    runs(cx);
                    fires(cx, wakeup)
                };
                custom(seven_after(1), register, |_| ())
            })
        },
        || {
            everywhere(|| {
                let register = |_: &Cx<'_>, wakeup: Wakeup| {
                    forget(wakeup);
                    None
                };
                custom(|_, _| None, register, runs).timeout(SECOND)
            })
        },
    ];
    for (kind, fibers) in waits.iter().enumerate() {
        for (place, fiber) in fibers().into_iter().enumerate() {
            let (test, finalized) = (TestScheduler::new(), Counter::default());
            let outcome = test.run(fiber.ensure(finalized.count()));
            // A panic of `deregister` is suppressed into the timeout.
            assert!(
                outcome.is_panicked() || kind == 3 && outcome.is_failure(),
                "wait {kind}, place {place}: {outcome:?}"
            );
            assert_eq!(finalized.get(), 1, "wait {kind}, place {place}");
            test.assert_no_leaks();
        }
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any("bomb");
    }
}

fn keeps(kept: &Arc<Mutex<Vec<Wakeup>>>) -> impl FnMut(&Cx<'_>, Wakeup) -> Option<Outcome<u32>> + use<> {
    let kept = kept.clone();
    move |_, wakeup| {
        kept.lock().unwrap().push(wakeup);
        None
    }
}

#[test]
fn a_wait_whose_drop_panics_is_cancelled_and_the_finalizers_around_it_run() {
    let kept = Arc::default();
    let explodes = || {
        let bomb = Bomb;
        custom(|_, _| None, keeps(&kept), move |_| _ = &bomb)
    };
    let pool = Pool::builder().workers(1).build();
    for (place, fiber) in everywhere(explodes).into_iter().enumerate() {
        let (test, finalized) = (TestScheduler::new(), Counter::default());
        let outcome = test.run(fiber.ensure(finalized.count()).timeout(SECOND));
        assert!(outcome.is_panicked() || outcome.is_failure(), "place {place}: {outcome:?}");
        assert_eq!(finalized.get(), 1, "place {place}");
        test.assert_no_leaks();
    }
    for fiber in everywhere(explodes) {
        let finalized = Counter::default();
        let cancelled = fiber.ensure(finalized.count()).race(Fiber::yield_now());
        drop(pool.run(cancelled));
        assert!(finalized.get() <= 1);
    }
    assert!(pool.run(Fiber::yield_now()).is_success(), "the worker lives");
}

#[test]
fn a_wait_that_panics_with_a_payload_whose_drop_panics_ends_its_fiber() {
    let kept = Arc::default();
    let explodes = || custom(|_, _| None, keeps(&kept), |_| panic_any(Bomb));
    for (place, fiber) in everywhere(explodes).into_iter().enumerate() {
        let (test, finalized) = (TestScheduler::new(), Counter::default());
        let outcome = test.run(fiber.ensure(finalized.count()).timeout(SECOND).catch(|_| Fiber::success(0)));
        assert_eq!(finalized.get(), 1, "place {place}: {outcome:?}");
        drop(outcome);
        test.assert_no_leaks();
    }
}

#[test]
fn a_program_that_a_drop_runs_keeps_its_own_panics() {
    struct Runs(Counter);

    impl Drop for Runs {
        fn drop(&mut self) {
            let goes_on = self.0.clone();
            let outcome = TestScheduler::new().run(Fiber::lazy(move || {
                drop(Bomb);
                goes_on.add();
            }));
            assert!(outcome.is_panicked());
        }
    }

    let goes_on = Counter::default();
    let runs = Runs(goes_on.clone());
    let loser = Fiber::yield_now().map(move |()| drop(runs));
    assert!(TestScheduler::new().run(Fiber::success(1).race(loser)).is_success());
    assert_eq!(goes_on.get(), 0, "the closure went on after its panic");
}
