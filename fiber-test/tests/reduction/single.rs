//! Programs of one fiber, which makes others by itself: a cache, a group, a branch that is not waited for.

use std::time::Duration;

use fiber_core::sync::{Cache, Semaphore, Watch};
use fiber_core::{Error, Fiber, IntoFiber};
use fiber_test::{Explore, TestScheduler};

use crate::results::{Seen, results};
use crate::support::Shared;

const SECOND: Duration = Duration::from_secs(1);

/// Fibers that end at once, in another turn, at another time, in two of each, with a finalizer that waits, or not well.
fn leaves() -> Vec<fn() -> Fiber<u32>> {
    vec![
        || Fiber::success(1).boxed(),
        || Fiber::yield_now().map(|()| 1).boxed(),
        || Fiber::delay(SECOND).map(|()| 1).boxed(),
        || Fiber::delay(SECOND).bind(|()| Fiber::yield_now()).map(|()| 1).boxed(),
        || Fiber::yield_now().bind(|()| Fiber::delay(SECOND)).ensure(Fiber::yield_now()).map(|()| 1).boxed(),
        || Fiber::fail(Error::msg("no")).boxed(),
    ]
}

/// Runs all orders of `program` with each pair of leaves.
fn assert_complete(name: &str, program: impl Fn(Fiber<u32>, Fiber<u32>) -> Fiber<()> + Sync) {
    for (at, one) in leaves().into_iter().enumerate() {
        for (beside, other) in leaves().into_iter().enumerate() {
            let explore = Explore::exhaustive().reduced().may_be_unobserved().no_regressions();
            let tolerant = || program(one(), other()).catch(|_| Fiber::success(()));
            let explored = explore.check(tolerant);
            assert!(explored.is_complete(), "{name}, leaves {at} and {beside}: {explored:?}");
        }
    }
}

#[test]
fn a_race_with_a_disconnected_side_is_complete() {
    assert_complete("right", |one, other| one.race(other.disconnect()).map(drop).boxed());
    assert_complete("left", |one, other| one.disconnect().race(other).map(drop).boxed());
    assert_complete("both", |one, other| one.disconnect().race(other.disconnect()).map(drop).boxed());
}

#[test]
fn a_cache_is_complete() {
    assert_complete("one key", |one, other| {
        let cache = Cache::new(8);
        cache.get(1, move || one).zip(cache.get(1, move || other)).map(drop).boxed()
    });
    assert_complete("two keys", |one, other| {
        let cache = Cache::new(1);
        let first = cache.get(1, move || one).timeout(SECOND / 2);
        first.zip(cache.get(2, move || other)).map(drop).boxed()
    });
}

#[test]
fn a_group_is_complete() {
    assert_complete("a group", |one, other| {
        Fiber::current()
            .bind(move |context| {
                let group = context.group();
                drop((group.spawn(one), group.spawn(other)));
                Fiber::yield_now().bind(move |()| group.cancel().into_fiber())
            })
            .boxed()
    });
}

/// Members come and go, so the memory of those that have ended is used again. Each member that is cancelled notes its number.
fn cancelled_group(members: usize) -> Fiber<Vec<usize>> {
    let cancelled = Shared::new(Vec::new());
    let seen = cancelled.clone();
    let member = move |at: usize| {
        let cancelled = cancelled.clone();
        let lasts = if at % 3 == 1 { Duration::ZERO } else { SECOND };
        Fiber::delay(lasts).on_cancel(cancelled.step(move |cancelled| cancelled.push(at)))
    };
    let millisecond = || Fiber::delay(Duration::from_millis(1));
    Fiber::current()
        .bind(move |context| {
            let group = context.group();
            (0..members / 2).for_each(|at| drop(group.spawn(member(at))));
            millisecond().bind(move |()| {
                (members / 2..members).for_each(|at| drop(group.spawn(member(at))));
                millisecond().bind(move |()| group.cancel().into_fiber())
            })
        })
        .map(move |()| seen.with(|cancelled| cancelled.clone()))
        .boxed()
}

/// By no address, so that a test repeats a run.
#[test]
fn the_fibers_of_a_group_are_cancelled_in_the_order_in_which_they_came() {
    for members in [3, 6, 10, 40] {
        let cancelled = TestScheduler::new().run(cancelled_group(members)).unwrap();
        let expected: Vec<usize> = (0..members).filter(|at| at % 3 != 1).collect();
        assert_eq!(cancelled, expected);
    }
}

/// Whether a fiber goes on at a bind or pauses there makes no difference to a limit that is just reached.
#[test]
fn a_fiber_that_takes_no_time_is_within_a_limit_of_no_time_in_all_explorations() {
    let within = |fiber: Fiber<u32>, seen: &Seen| {
        let seen = seen.clone();
        let timed = fiber.timeout_option(Duration::ZERO);
        timed.map(move |value| _ = seen.lock().insert(format!("{value:?}")))
    };
    let permit = || Semaphore::new(1).with_permits(1, Fiber::yield_now().map(|()| 1)).boxed();
    let programs: [Box<dyn Fn(Seen) -> Fiber<()> + Sync>; 3] = [
        Box::new(|seen| within(Fiber::lazy(|| 1).bind(Fiber::success).boxed(), &seen).boxed()),
        Box::new(|seen| within(permit(), &seen).boxed()),
        Box::new(|seen| within(permit(), &seen).zip(Fiber::yield_now()).map(drop).boxed()),
    ];
    for program in programs {
        for explore in [Explore::exhaustive(), Explore::exhaustive().reduced(), Explore::default()] {
            let (seen, _) = results(&explore.no_regressions(), "no time", &program).unwrap();
            assert_eq!(Vec::from_iter(seen), ["Some(1)"]);
        }
    }
}

/// A round after one that has paused at a bind has a turn of its own, as after one that has gone on there.
#[test]
fn the_rounds_of_a_loop_have_turns_of_their_own_in_all_explorations() {
    let program = |seen: Seen| {
        let (watch, seen) = (Watch::new(0), seen.clone());
        let watcher = watch.watch();
        let rounds = |first: Fiber<u32>| {
            let (mut first, watcher) = (Some(first), watcher.clone());
            let round = move |mut log: Vec<u32>, ()| {
                let round = first.take().unwrap_or_else(|| watcher.changed().boxed());
                round.map(move |value| {
                    log.push(value);
                    log
                })
            };
            Fiber::fold([(), ()], Vec::new(), round)
        };
        let (sets, sets_too) = (watch.clone(), watch.clone());
        let (sees, waits) = (watcher.clone(), watcher.clone());
        let first = Fiber::lazy(move || sets.update(|value| value + 1)).bind(move |()| sees.changed());
        let second = waits.changed().map(move |_| sets_too.update(|value| value + 1));
        let second = second.bind(|()| Fiber::success(0));
        let both = rounds(first.boxed()).zip(rounds(second.boxed()));
        both.map(move |logs| {
            seen.lock().insert(format!("{logs:?}"));
            drop(watch);
        })
    };
    let all = [Explore::exhaustive(), Explore::exhaustive().reduced()]
        .map(|explore| results(&explore, "rounds", program).unwrap().0);
    assert_eq!(all[0], all[1]);
}
