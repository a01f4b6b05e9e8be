//! Descriptions and steps that begin a wait and forget it, wait although they have said that they do not, or panic.

use std::future::IntoFuture;
use std::time::Duration;

use fiber_core::error::Abandoned;
use fiber_core::scheduler::{Cx, Follow, Step};
use fiber_core::{Either, Error, Fiber, Outcome, Run, fiber};
use fiber_sched::Pool;
use fiber_test::TestScheduler;

use super::{HOUR, SECOND, by, forever};
use crate::awaited::both;
use crate::support::Counter;

/// Begins waits of several sizes, within regions, and forgets them.
fn forgets(cx: &Cx<'_>) {
    let large = [7_u8; 4096];
    drop(Fiber::delay(SECOND).map(|()| String::from("left over")).into_run().run(cx));
    let in_regions = Fiber::delay(SECOND).map(move |()| large[0]).timeout(5 * SECOND).uncancelable();
    // The first wait is still there, so this panics, or waits and is forgotten.
    drop(in_regions.into_run().run(cx));
}

/// Each place in which an operator runs a description that is not in tail position, and keeps something of its own meanwhile. The
/// description gives `String`s, the operators other types.
fn places(make: impl Fn() -> Fiber<String>) -> Vec<Fiber<bool>> {
    let is_done = |text: String| text == "done";
    vec![
        make().map(is_done).boxed(),
        Fiber::yield_now()
            .bind({
                let fiber = make();
                move |()| fiber
            })
            .map(is_done)
            .boxed(),
        Fiber::delay(HOUR)
            .race(make())
            .map(|won| matches!(won, Either::Right(text) if text == "done"))
            .boxed(),
        forever::<u32>().race(make()).map(|won| matches!(won, Either::Right(text) if text == "done")).boxed(),
        make().race(forever::<u32>()).map(|won| matches!(won, Either::Left(text) if text == "done")).boxed(),
        Fiber::delay(SECOND)
            .map(|()| 7_u64)
            .zip(make())
            .map(move |(seven, text)| seven == 7 && is_done(text))
            .boxed(),
        make().zip(Fiber::yield_now()).map(move |(text, ())| is_done(text)).boxed(),
        Fiber::parallel([Fiber::yield_now().map(|()| String::from("done")).boxed(), make()])
            .map(move |texts| texts.into_iter().all(is_done))
            .boxed(),
        Fiber::race_all([forever(), make()]).map(is_done).boxed(),
        make().uncancelable().map(is_done).boxed(),
        make().timeout(HOUR).map(is_done).boxed(),
        make().fork().bind(|fork| fork.join()).map(is_done).boxed(),
        Fiber::success(true).ensure(make().map(drop)).boxed(),
        {
            let (first, second) = (make(), make());
            fiber! {
                let! first = first;
                do! Fiber::yield_now();
                let! second = second;
                is_done(first) && is_done(second)
            }
        },
        {
            let (first, second) = (make(), make());
            Fiber::from_future(async move {
                let first = first.await?;
                Fiber::yield_now().await?;
                Ok::<_, Error>(is_done(first) && is_done(second.await?))
            })
            .boxed()
        },
        {
            let (first, second) = (make(), make());
            Fiber::from_future(async move {
                let (first, second) = both(first.into_future(), second.into_future()).await;
                Ok::<_, Error>(is_done(first?) && is_done(second?))
            })
            .boxed()
        },
    ]
}

/// Runs a description that breaks the contract of `Run`, in every place, beside another fiber.
fn ends_alone(make: impl Fn() -> Fiber<String>, is_right: impl Fn(&Outcome<bool>) -> bool) {
    for (place, fiber) in places(&make).into_iter().enumerate() {
        let (test, finalized) = (TestScheduler::new(), Counter::default());
        let other = test.spawn(Fiber::delay(SECOND));
        let outcome =
            test.run(fiber.ensure(finalized.count()).bind(|value| Fiber::yield_now().map(move |()| value)));
        assert!(is_right(&outcome), "place {place}: {outcome:?}");
        assert!(finalized.get() <= 1, "place {place}");
        test.run_until_idle();
        assert!(other.outcome().is_success());
        test.assert_no_leaks();
    }
}

/// A panic, or an abandoned fiber.
fn is_torn(outcome: &Outcome<bool>) -> bool {
    outcome.is_panicked() || matches!(outcome, Outcome::Failure(error) if error.is::<Abandoned>())
}

#[test]
fn a_description_that_begins_a_wait_and_gives_an_outcome_gives_it_or_panics() {
    let forgets = || {
        by(|cx| {
            drop(Fiber::delay(SECOND).map(|()| [7_u64; 64]).into_run().run(cx));
            Outcome::Success(String::from("done"))
        })
    };
    ends_alone(forgets, |outcome| matches!(outcome, Outcome::Success(true) | Outcome::Panicked(_)));
}

#[test]
fn a_description_that_begins_a_wait_and_panics_ends_its_fiber_and_no_other() {
    let panics = || {
        by(|cx| {
            drop(Fiber::delay(SECOND).map(|()| [7_u64; 64]).into_run().run(cx));
            panic!("after a wait")
        })
    };
    ends_alone(panics, is_torn);
}

#[test]
fn a_description_that_begins_two_waits_and_forgets_them_ends_its_fiber_and_no_other() {
    let forgets = || {
        by(|cx| {
            forgets(cx);
            Outcome::Success(String::from("done"))
        })
    };
    ends_alone(forgets, is_torn);
    let pool = Pool::builder().workers(2).build();
    for fiber in places(forgets) {
        drop(pool.run(fiber.timeout(Duration::from_secs(30))));
        assert!(pool.run(Fiber::yield_now()).is_success(), "the workers live");
    }
}

#[test]
fn a_forgotten_wait_leaves_no_uncancelable_region_behind() {
    let forgets = by(|cx| {
        drop(Fiber::delay(SECOND).uncancelable().into_run().run(cx));
        Outcome::Success(())
    });
    let test = TestScheduler::new();
    let outcome = test.run(Fiber::yield_now().bind(|()| forgets).bind(|()| forever::<()>()).timeout(SECOND));
    assert!(outcome.is_failure(), "{outcome:?}");
}

#[test]
fn a_forgotten_wait_leaves_no_limit_behind() {
    let forgets = by(|cx| {
        drop(Fiber::delay(SECOND).timeout(5 * SECOND).into_run().run(cx));
        Outcome::Success(())
    });
    let test = TestScheduler::new();
    let waits = Fiber::yield_now().bind(|()| forgets).bind(|()| Fiber::delay(30 * SECOND)).timeout(HOUR);
    assert!(test.run(waits.bind(|()| Fiber::delay(30 * SECOND))).is_success());
    assert_eq!(test.now().as_nanos(), 60_000_000_000);
    test.assert_no_leaks();
}

/// Says that it never waits.
struct Waits;

impl<T: Send + 'static> Follow<T> for Waits {
    type Out = String;
    const NEVER_WAITS: bool = true;

    fn follow<'s>(self, cx: &'s Cx<'_>, _: Outcome<T>) -> Step<'s, String> {
        Fiber::yield_now().map(|()| String::from("done")).into_run().run(cx)
    }
}

#[test]
fn a_step_that_never_waits_and_waits_panics() {
    let makes: [fn() -> Fiber<String>; 4] = [
        || Fiber::delay(SECOND).follow_with(Waits).boxed(),
        || Fiber::delay(SECOND).map(|()| 1_u8).follow_with(Waits).map(|text| text).boxed(),
        || Fiber::yield_now().follow_with(Waits).boxed(),
        || Fiber::delay(SECOND).race(Fiber::delay(HOUR)).follow_with(Waits).boxed(),
    ];
    for make in makes {
        for (place, fiber) in places(make).into_iter().enumerate() {
            let (test, finalized) = (TestScheduler::new(), Counter::default());
            let outcome = test.run(fiber.ensure(finalized.count()));
            assert!(outcome.is_panicked(), "place {place}: {outcome:?}");
            assert_eq!(finalized.get(), 1, "place {place}");
            test.assert_no_leaks();
        }
    }
}

#[test]
fn a_side_whose_plain_step_waits_loses_its_race_by_a_panic_and_drops_the_other_side_once() {
    let dropped = Counter::default();
    let counts = Counts(dropped.clone());
    let loser = Fiber::delay(HOUR).map(move |()| drop(counts));
    let test = TestScheduler::new();
    let outcome = test.run(Fiber::delay(SECOND).follow_with(Waits).race(loser));
    assert!(outcome.is_panicked(), "{outcome:?}");
    assert_eq!(dropped.get(), 1);
    test.assert_no_leaks();
}

/// Counts its drop.
struct Counts(Counter);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.add();
    }
}

/// Panics.
struct Throws;

impl<T: Send + 'static> Follow<T> for Throws {
    type Out = String;

    fn follow<'s>(self, _: &'s Cx<'_>, _: Outcome<T>) -> Step<'s, String> {
        panic!("a step of a user")
    }
}

#[test]
fn a_step_that_panics_ends_its_fiber_and_no_other() {
    for (place, fiber) in places(|| Fiber::delay(SECOND).follow_with(Throws).boxed()).into_iter().enumerate()
    {
        let test = TestScheduler::new();
        let other = test.spawn(Fiber::delay(SECOND));
        let outcome = test.run(fiber);
        assert!(outcome.is_panicked(), "place {place}: {outcome:?}");
        test.run_until_idle();
        assert!(other.outcome().is_success());
        test.assert_no_leaks();
    }
    let pool = Pool::builder().workers(1).build();
    for _ in 0..100 {
        let thrown = pool.run(Fiber::yield_now().follow_with(Throws).fork().bind(|fork| fork.join()));
        assert!(thrown.is_panicked());
    }
}
