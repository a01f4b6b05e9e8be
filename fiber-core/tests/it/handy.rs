//! Everyday combinators are equivalent to their long forms.

use std::time::Duration;

use crate::support::Counter;
use fiber_core::{Error, Fiber, Handle, Outcome, Scope};
use fiber_test::TestScheduler;
use proptest::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

/// Ends after this many seconds: with the number, or with a failure that names it.
fn after(seconds: u32, succeeds: bool) -> Fiber<u32> {
    let end = if succeeds { Ok(seconds) } else { Err(Error::msg(seconds)) };
    Fiber::delay(seconds * SECOND).bind(move |()| Fiber::from_result(end)).boxed()
}

fn messages(error: &Error) -> Vec<u32> {
    let all = std::iter::once(error).chain(error.suppressed());
    all.map(|error| error.to_string().parse().unwrap()).collect()
}

proptest! {
    #[test]
    fn a_fold_is_the_fold_of_an_iterator(items in prop::collection::vec(any::<u32>(), 0..50)) {
        let step = |state: u64, item: u32| state.wrapping_mul(31).wrapping_add(u64::from(item));
        let expected = items.iter().fold(7, |state, item| step(state, *item));
        let fold = Fiber::fold(items, 7, move |state, item| Fiber::yield_now().map(move |()| step(state, item)));
        prop_assert_eq!(TestScheduler::new().run(fold).unwrap(), expected);
    }

    #[test]
    fn a_quorum_takes_the_first_successes_or_fails_as_soon_as_it_must(
        ends in prop::collection::btree_map(1..100u32, any::<bool>(), 1..8),
        wanted in 1..5usize,
    ) {
        let test = TestScheduler::new();
        // In an order that differs from that of their ends.
        let fibers: Vec<_> = ends.iter().rev().map(|(seconds, succeeds)| after(*seconds, *succeeds)).collect();
        let outcome = test.run(Fiber::first_successes(wanted, fibers));
        let successes: Vec<u32> = ends.iter().filter(|(_, succeeds)| **succeeds).map(|(at, _)| *at).collect();
        let failures: Vec<u32> = ends.iter().filter(|(_, succeeds)| !**succeeds).map(|(at, _)| *at).collect();
        let decided_at = if successes.len() >= wanted {
            prop_assert_eq!(outcome.unwrap(), &successes[..wanted]);
            successes[wanted - 1]
        } else if ends.len() >= wanted {
            // With this many failures, the rest cannot suffice.
            let too_many = ends.len() - wanted + 1;
            prop_assert_eq!(messages(&outcome.failure().unwrap()), &failures[..too_many]);
            failures[too_many - 1]
        } else {
            prop_assert!(outcome.is_failure());
            0
        };
        prop_assert_eq!(test.now().as_nanos(), u64::from(decided_at) * 1_000_000_000);
        test.assert_no_leaks();
    }

    #[test]
    fn a_validation_waits_for_all_and_fails_with_all(
        ends in prop::collection::btree_map(1..100u32, any::<bool>(), 0..8),
        limit in 1..4usize,
    ) {
        let test = TestScheduler::new();
        let fibers: Vec<_> = ends.iter().map(|(seconds, succeeds)| after(*seconds, *succeeds)).collect();
        let failures = ends.values().filter(|succeeds| !**succeeds).count();
        let outcome = test.run(Fiber::validate(fibers).limit(limit));
        if failures == 0 {
            prop_assert_eq!(outcome.unwrap(), ends.into_keys().collect::<Vec<_>>());
        } else {
            prop_assert_eq!(messages(&outcome.failure().unwrap()).len(), failures);
        }
        test.assert_no_leaks();
    }
}

#[test]
fn a_cancelled_validation_starts_no_more() {
    let test = TestScheduler::new();
    let endless = std::iter::repeat_with(|| after(1, false));
    let validation = test.spawn(Fiber::validate(endless).limit(2));
    test.run_for(3 * SECOND);
    validation.cancel_now();
    test.run_until_idle();
    assert!(matches!(validation.outcome(), Outcome::Cancelled | Outcome::Failure(_)));
    test.assert_no_leaks();
}

#[test]
fn a_fold_that_fails_ends_there() {
    let test = TestScheduler::new();
    let fold = Fiber::fold(1.., 0, |sum, n| after(1, n < 3).map(move |_| sum + n));
    assert!(test.run(fold).is_failure());
    assert_eq!(test.now().as_nanos(), 3_000_000_000);
}

#[test]
fn a_cancelled_fold_pulls_no_more() {
    let test = TestScheduler::new();
    let pulled = Counter::default();
    let counts = pulled.clone();
    let items = (0..).inspect(move |_: &u32| counts.add());
    let fold = test.spawn(Fiber::fold(items, (), |(), _| Fiber::delay(SECOND).uncancelable()));
    test.run_for(SECOND * 5 / 2);
    fold.cancel_now();
    test.run_until_idle();
    assert!(fold.outcome().is_cancelled());
    assert_eq!(pulled.get(), 3);
}

#[test]
fn fork_all_forks_in_order_and_its_forks_belong_to_the_fiber() {
    let test = TestScheduler::new();
    let forks = Fiber::fork_all((1..=3).map(|n| after(n, true)));
    let joined = forks.bind(|forks| Fiber::parallel(forks.into_iter().map(Handle::join)));
    assert_eq!(test.run(joined).unwrap(), [1, 2, 3]);
    let abandoned = Fiber::fork_all((0..3).map(|_| Fiber::<()>::never())).map(drop);
    assert!(test.run(abandoned).is_success());
    test.assert_no_leaks();
}

#[test]
fn fork_all_in_a_block_and_in_a_scope() {
    let test = TestScheduler::new();
    let in_block = Fiber::block(|| async {
        let forks = Fiber::fork_all((1..=2).map(|n| after(n, true))).await?;
        let mut sum = 0;
        for fork in forks {
            sum += fork.join().await?;
        }
        Ok::<_, Error>(sum)
    });
    assert_eq!(test.run(in_block).unwrap(), 3);
    let in_scope = Fiber::scope(|_: Scope| {
        Fiber::fork_all((0..3).map(|_| Fiber::<()>::never())).map(|forks| forks.len())
    });
    assert_eq!(test.run(in_scope).unwrap(), 3);
    test.assert_no_leaks();
}

#[test]
fn what_is_not_wanted_does_not_run() {
    let test = TestScheduler::new();
    let ran = Counter::default();
    assert_eq!(test.run(ran.count().when(false)).unwrap(), None);
    assert_eq!(ran.get(), 0);
    assert_eq!(test.run(ran.count().when(true)).unwrap(), Some(()));
    assert_eq!(ran.get(), 1);
}

#[test]
fn a_filter_passes_other_outcomes() {
    let test = TestScheduler::new();
    let filtered =
        |fiber: Fiber<u32>| fiber.filter_or(|n| *n > 1, |n| Error::msg(format!("{n} is too small")));
    assert_eq!(test.run(filtered(after(2, true))).unwrap(), 2);
    assert_eq!(test.run(filtered(after(1, true))).failure().unwrap().to_string(), "1 is too small");
    assert_eq!(test.run(filtered(after(1, false))).failure().unwrap().to_string(), "1");
}
