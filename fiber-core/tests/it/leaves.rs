//! The leaves of a program.

use std::time::Duration;

use crate::support::Counter;
use fiber_core::{Error, Fiber, IntoFiber};
use fiber_test::TestScheduler;

#[test]
fn building_and_dropping_a_fiber_has_no_effect() {
    let counter = Counter::default();
    let count = || counter.count();
    drop(count().bind({
        let next = count();
        move |()| next
    }));
    drop(count().fork());
    drop(count().zip(count()).race(count()).timeout(Duration::from_secs(1)));
    drop(Fiber::parallel([count(), count()]));
    drop(Fiber::scope({
        let forked = count();
        move |scope| scope.fork(forked)
    }));
    drop(Fiber::bracket(count(), |()| Fiber::success(()), |()| Fiber::success(())));
    assert_eq!(counter.get(), 0);
}

#[test]
fn a_clone_runs_again() {
    let counter = Counter::default();
    let seen = counter.clone();
    let fiber = Fiber::success(1).map(move |n: usize| {
        seen.add();
        n + seen.get()
    });
    let both = fiber.clone().bind(move |first| fiber.map(move |second| (first, second)));
    assert_eq!(TestScheduler::new().run(both).unwrap(), (2, 3));
}

#[test]
fn results_and_handles_are_fibers() {
    let test = TestScheduler::new();
    assert_eq!(test.run("7".parse::<u8>().into_fiber()).unwrap(), 7);
    assert!(test.run(Err::<u8, _>(Error::msg("no")).into_fiber()).is_failure());
    let joined = Fiber::success(3).fork().bind(|handle| handle.into_fiber());
    assert_eq!(test.run(joined).unwrap(), 3);
}

#[test]
fn an_error_keeps_its_source_its_context_and_its_causes() {
    let error =
        Error::from(std::io::Error::new(std::io::ErrorKind::NotFound, "no such file")).context("reading");
    assert_eq!(error.to_string(), "reading: no such file");
    assert!(error.is::<std::io::Error>());
    let io = error.downcast::<std::io::Error>().unwrap();
    assert_eq!(io.kind(), std::io::ErrorKind::NotFound);
    assert!(Error::msg("x").downcast::<std::io::Error>().is_err());
}
