//! Panics whose payload panics when it is dropped, and errors whose source does: neither hides an outcome or skips a finalizer.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::task::{self, Wake, Waker};
use std::time::Duration;

use crate::support::{Counter, Queue};
use fiber_core::error::Abandoned;
use fiber_core::scheduler::Unobserved;
use fiber_core::sync::{Cache, CircuitBreaker, Promise};
use fiber_core::{Error, Fiber, Outcome, Panic, Policy, Resource};
use fiber_sched::{Pool, Settings};
use fiber_test::{Explore, TestScheduler};

const SECOND: Duration = Duration::from_secs(1);

/// A payload whose drop panics, with another such payload.
struct Bomb(u32);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 > 0 {
            panic_any(Bomb(self.0 - 1));
        }
    }
}

fn explode<T>() -> T {
    panic_any(Bomb(3))
}

/// A finalizer that panics: at once, or after a wait.
fn finalizer(waits: bool) -> Fiber<()> {
    if waits { Fiber::delay(SECOND).map(|()| explode()).boxed() } else { Fiber::lazy(explode).boxed() }
}

/// An error whose source panics when it is dropped.
struct BadError(Bomb);

impl fmt::Debug for BadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a bad error, {} deep", self.0.0)
    }
}

impl fmt::Display for BadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bad")
    }
}

impl std::error::Error for BadError {}

fn bad_error() -> Error {
    Error::new(BadError(Bomb(3)))
}

/// Runs a fiber in an outer finalizer on several schedulers, and checks that the finalizer has run.
#[track_caller]
fn check(make: impl Fn() -> Fiber<()>, is_right: impl Fn(&Outcome<()>) -> bool) {
    let ran = Counter::default();
    let fiber = || make().ensure(ran.count());
    let outcomes = [
        Queue::run(fiber()),
        TestScheduler::new().run(fiber()),
        TestScheduler::new().run(fiber().timeout(60 * SECOND)),
        TestScheduler::new().run(fiber().race(Fiber::<()>::never()).map(drop)),
        TestScheduler::new().run(fiber().fork().bind(|child| child.join())),
    ];
    for (number, outcome) in outcomes.into_iter().enumerate() {
        assert!(is_right(&outcome), "{number}: {outcome:?}");
        // It may not panic, because user code drops outcomes wherever it likes.
        drop(outcome);
    }
    assert_eq!(ran.get(), 5, "the finalizer around it");
}

#[test]
fn a_finalizer_that_panics_after_a_failure_leaves_the_failure_and_the_finalizers_around_it() {
    let failed = || Fiber::<()>::fail(Error::msg("genuine"));
    let is_genuine = |outcome: &Outcome<()>| {
        let Outcome::Failure(error) = outcome else { return false };
        error.to_string() == "genuine" && error.suppressed().len() == 1
    };
    for waits in [false, true] {
        check(|| failed().ensure(finalizer(waits)).boxed(), is_genuine);
        check(|| failed().on_outcome(move |_| finalizer(waits)).boxed(), is_genuine);
        check(|| failed().on_failure(move |_| finalizer(waits)).boxed(), is_genuine);
        check(
            || {
                let using = |()| Fiber::fail(Error::msg("genuine"));
                Fiber::<()>::bracket(Fiber::success(()), using, move |()| finalizer(waits)).boxed()
            },
            is_genuine,
        );
        check(
            || {
                let resource = Resource::new(Fiber::success(()), move |()| finalizer(waits));
                resource.using(|()| Fiber::<()>::fail(Error::msg("genuine"))).boxed()
            },
            is_genuine,
        );
    }
    check(|| failed().on_outcome(|_| -> Fiber<()> { explode() }).boxed(), is_genuine);
    check(|| failed().on_failure(|_| -> Fiber<()> { explode() }).boxed(), is_genuine);
}

#[test]
fn a_finalizer_that_panics_after_a_panic_is_suppressed_into_it() {
    let panicked = || Fiber::<()>::lazy(explode);
    for waits in [false, true] {
        check(
            || panicked().ensure(finalizer(waits)).boxed(),
            |outcome| matches!(outcome, Outcome::Panicked(panic) if panic.suppressed().len() == 1),
        );
        check(|| Fiber::success(()).ensure(finalizer(waits)).boxed(), Outcome::is_panicked);
    }
}

#[test]
fn a_finalizer_that_panics_after_a_cancellation_leaves_the_finalizers_around_it() {
    for waits in [false, true] {
        let (test, ran) = (TestScheduler::new(), Counter::default());
        let fiber = Fiber::<()>::never().ensure(finalizer(waits)).on_cancel(finalizer(waits));
        let handle = test.spawn(fiber.ensure(ran.count()));
        test.run_until_idle();
        handle.cancel_now();
        test.run_until_idle();
        assert!(handle.outcome().is_cancelled());
        assert_eq!((ran.get(), test.unobserved().len()), (1, 2));
    }
}

#[test]
fn branches_that_panic_are_all_awaited() {
    let branches = || (0..3).map(|_| Fiber::<()>::lazy(explode));
    check(|| Fiber::parallel(branches()).map(drop).boxed(), Outcome::is_panicked);
    check(|| Fiber::race_all(branches()).boxed(), Outcome::is_panicked);
    check(|| Fiber::first_success(branches()).boxed(), |outcome| !outcome.is_success());
    check(|| finalizer(true).zip(finalizer(true)).map(drop).boxed(), Outcome::is_panicked);
}

#[test]
fn a_panic_that_is_caught_is_gone() {
    check(|| Fiber::<()>::lazy(explode).catch_panic(|_| Fiber::success(())).boxed(), Outcome::is_success);
    check(|| Fiber::<()>::lazy(explode).map_outcome(|_| Outcome::Success(())).boxed(), Outcome::is_success);
    let error = Queue::run(Fiber::<()>::lazy(explode)).into_result().unwrap_err();
    assert_eq!(error.to_string(), "panic: a panic whose payload is not a string");
}

#[test]
fn an_error_with_several_bad_sources_is_dropped_part_by_part() {
    let finalizers_fail = || {
        let failed = Fiber::<()>::fail(bad_error());
        failed.ensure(Fiber::fail(bad_error())).ensure(finalizer(true)).ensure(Fiber::fail(bad_error()))
    };
    let ran = Counter::default();
    let outcome = TestScheduler::new().run(finalizers_fail().ensure(ran.count()));
    let Outcome::Failure(error) = outcome else { panic!("it has to fail: {outcome:?}") };
    assert_eq!((error.to_string(), error.suppressed().len(), ran.get()), ("bad".to_owned(), 3, 1));
    // One panic, with the others suppressed into it.
    let torn = catch_unwind(AssertUnwindSafe(|| drop(error))).unwrap_err();
    assert_eq!(Panic::new(torn).suppressed().len(), 2);

    let caught = finalizers_fail().catch(|_| Fiber::success(()));
    let outcome = TestScheduler::new().run(caught.ensure(ran.count()));
    assert!(outcome.is_panicked(), "the drop of the error panics: {outcome:?}");
    assert_eq!(ran.get(), 2);
    let tried = finalizers_fail().or_else(|_| Ok::<(), Error>(()));
    assert!(TestScheduler::new().run(tried.ensure(ran.count())).is_panicked());
    assert_eq!(ran.get(), 3);
}

#[test]
fn a_bad_error_that_an_operator_drops_skips_no_finalizer() {
    let bad = || Fiber::<()>::fail(bad_error());
    let late = || Fiber::delay(SECOND).bind(|()| Fiber::<()>::fail(bad_error())).boxed();
    let (cache, promise) = (Cache::<u8, ()>::new(2), Promise::<()>::new());
    let breaker = CircuitBreaker::new(1, SECOND);
    let fibers = [
        Fiber::retry_with(Policy::recurs(3), late).boxed(),
        breaker.protect(late()).boxed(),
        bad().attempt().map(drop).boxed(),
        bad().map_outcome(|_| Outcome::Success(())).boxed(),
        bad().ensure(Fiber::lazy(explode)).catch(|_| Fiber::success(())).boxed(),
        Fiber::success(()).ensure(late()).ensure(late()).boxed(),
        late().timeout_to(SECOND, bad()).boxed(),
        late().timeout(SECOND).boxed(),
        late().race(late()).map(drop).boxed(),
        late().zip(late()).map(drop).boxed(),
        Fiber::parallel([late(), late(), late()]).map(drop).boxed(),
        Fiber::race_all([late(), late(), late()]).boxed(),
        Fiber::first_success([late(), late(), Fiber::success(()).boxed()]).boxed(),
        Fiber::first_success([late(), late(), late()]).boxed(),
        Fiber::hedge(SECOND, 3, late).boxed(),
        late().fork().bind(|child| child.join()).boxed(),
        late().fork().map(drop).boxed(),
        late().detach().map(drop).boxed(),
        cache.get(1, late).map(drop).boxed(),
        Fiber::lazy(move || _ = promise.fail(bad_error())).boxed(),
        Fiber::block(move || async move {
            _ = late().await;
            late().await
        })
        .boxed(),
    ];
    for (number, fiber) in fibers.into_iter().enumerate() {
        let (test, ran) = (TestScheduler::new(), Counter::default());
        let handle = test.spawn(fiber.ensure(ran.count()));
        test.run_until_idle();
        assert_eq!(ran.get(), 1, "{number}: the finalizer around it");
        // The drop of its error is ours.
        let outcome = handle.outcome();
        assert!(
            !matches!(&outcome, Outcome::Failure(error) if error.is::<Abandoned>()),
            "{number}: {outcome:?}"
        );
        drop(catch_unwind(AssertUnwindSafe(|| drop(outcome))).map_err(Panic::new));
    }
}

#[test]
fn a_bad_error_is_dropped_while_a_panic_unwinds() {
    let unwinds = || {
        let _error = bad_error();
        let _outcome = Outcome::<()>::Failure(bad_error());
        panic!("first")
    };
    let payload = catch_unwind(AssertUnwindSafe(unwinds)).map(|()| 0).unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"first"));
}

#[test]
fn a_panic_with_bad_errors_is_dropped_without_panicking() {
    let fiber = Fiber::<()>::lazy(explode).ensure(Fiber::fail(bad_error())).ensure(Fiber::fail(bad_error()));
    let outcome = Queue::run(fiber);
    assert!(outcome.is_panicked());
    drop(outcome);
}

#[test]
fn a_waker_that_panics_loses_no_wake_up() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            explode()
        }
    }
    let test = TestScheduler::new();
    let handle = test.spawn(Fiber::<()>::block(|| async {
        let mut other = Box::pin(async { Fiber::delay(SECOND).await });
        let waker = Waker::from(Arc::new(Panics));
        assert!(other.as_mut().poll(&mut task::Context::from_waker(&waker)).is_pending());
        Fiber::delay(2 * SECOND).await?;
        Ok::<(), Error>(())
    }));
    test.run_until_idle();
    assert!(handle.outcome().is_success());
}

#[test]
fn on_threads_nothing_ends_but_the_fiber() {
    let hooked = Counter::default();
    let counted = hooked.clone();
    let settings = Settings::new().on_unobserved(move |_: &Unobserved| {
        counted.add();
        explode()
    });
    let pool = Pool::builder().workers(1).settings(settings).build();
    for _ in 0..3 {
        drop(pool.spawn(Fiber::<()>::lazy(explode)));
        assert!(pool.run(Fiber::<()>::blocking(explode)).is_panicked());
        assert!(pool.run(Fiber::dedicated(|_| -> Result<(), Error> { explode() })).is_panicked());
        assert!(pool.run(Fiber::delay(Duration::from_millis(1)).map(|()| explode::<()>())).is_panicked());
    }
    pool.shutdown(fiber_sched::Shutdown::within(60 * SECOND)).unwrap();
    assert_eq!(hooked.get(), 3);
}

#[test]
fn an_exploration_reports_it_as_any_other_panic() {
    let failure = Explore::default().try_check(|| Fiber::<()>::lazy(explode)).unwrap_err();
    assert!(failure.to_string().contains("panic"), "{failure}");
}
