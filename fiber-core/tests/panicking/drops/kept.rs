//! Acquired values are released, whatever panics in between.

use fiber_core::{Fiber, Outcome, Resource};
use fiber_test::TestScheduler;

use crate::drops::bomb::quiet;
use crate::support::{Counter, Queue};

/// Cannot be cloned, and has to be released all the same.
#[derive(Debug, PartialEq)]
struct Unclonable(u32);

impl Clone for Unclonable {
    fn clone(&self) -> Self {
        panic!("in clone")
    }
}

#[track_caller]
fn releases_once(program: impl Fn(Counter) -> Fiber<()>) {
    quiet();
    let runs: [fn(Fiber<()>) -> Outcome<()>; 2] = [|fiber| TestScheduler::new().run(fiber), Queue::run];
    for run in runs {
        let released = Counter::default();
        let Outcome::Panicked(panic) = run(program(released.clone())) else { panic!("no panic came out") };
        assert_eq!((panic.message(), released.get()), ("in clone", 1));
    }
}

#[test]
fn a_bracket_releases_what_cannot_be_cloned() {
    releases_once(|released| {
        let release = move |acquired| {
            assert_eq!(acquired, Unclonable(1));
            released.count()
        };
        Fiber::bracket(Fiber::success(Unclonable(1)), |_| Fiber::success(()), release).boxed()
    });
}

#[test]
fn a_bracket_that_waits_for_its_acquisition_releases_what_cannot_be_cloned() {
    releases_once(|released| {
        let acquire = Fiber::yield_now().map(|()| Unclonable(1));
        Fiber::bracket(acquire, |_| Fiber::success(()), move |_| released.count()).boxed()
    });
}

#[test]
fn a_bracket_shows_its_release_that_the_clone_panicked() {
    releases_once(|released| {
        let release = move |_, outcome: &Outcome<()>| {
            assert!(outcome.is_panicked());
            released.count()
        };
        Fiber::bracket_outcome(Fiber::success(Unclonable(1)), |_| Fiber::success(()), release).boxed()
    });
}

#[test]
fn a_resource_is_released_that_cannot_be_cloned() {
    releases_once(|released| {
        let resource = Resource::new(Fiber::success(Unclonable(1)), move |_| released.count());
        resource.using(|_| Fiber::success(()))
    });
}

#[test]
fn a_cancellation_does_not_hide_that_a_resource_cannot_be_cloned() {
    releases_once(|released| {
        let cancelled = Fiber::current().map(|context| context.cancel());
        let acquire = cancelled.map(|()| Unclonable(1));
        Resource::new(acquire, move |_| released.count()).using(|_| Fiber::success(()))
    });
}

#[test]
fn the_first_of_two_resources_is_released_if_the_second_cannot_be_cloned() {
    for first_is_bad in [false, true] {
        releases_once(|released| {
            let count = released.clone();
            let bad = Resource::new(Fiber::success(Unclonable(1)), move |_| count.count()).map(drop);
            // Counts nothing: each of the two has to be released, and only one is counted.
            let good = Resource::new(Fiber::success(()), move |()| Fiber::success(()));
            let both = if first_is_bad { bad.zip(good) } else { good.zip(bad) };
            both.using(|_| Fiber::success(()))
        });
    }
    let good = Counter::default();
    let release = good.count();
    let bad = Resource::new(Fiber::success(Unclonable(1)), |_| Fiber::success(())).map(drop);
    let both = Resource::new(Fiber::success(()), move |()| release).zip(bad);
    assert!(Queue::run(both.using(|_| Fiber::success(()))).is_panicked());
    assert_eq!(good.get(), 1);
}

#[test]
fn a_resource_whose_mapping_panics_is_released() {
    releases_once(|released| {
        let resource = Resource::new(Fiber::success(1), move |_| released.count());
        let mapped = resource.map(|_| -> u8 { panic!("in clone") });
        mapped.using(|_| Fiber::success(()))
    });
}

#[test]
fn a_resource_whose_successor_panics_is_released() {
    releases_once(|released| {
        let resource = Resource::new(Fiber::success(1), move |_| released.count());
        let next = resource.and_then(|_| -> Resource<u8> { panic!("in clone") });
        next.using(|_| Fiber::success(()))
    });
}
