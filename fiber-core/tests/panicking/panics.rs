//! A panic in any user closure becomes an outcome, and the worker thread survives.

use crate::support::{Counter, Queue};
use fiber_core::{Error, Fiber, Outcome, Run, fiber};
use fiber_test::TestScheduler;

fn quiet() {
    std::panic::set_hook(Box::new(|_| {}));
}

#[track_caller]
fn panics<T: Send + 'static, R: Run<Out = T> + Clone>(fiber: Fiber<T, R>) {
    quiet();
    let test = TestScheduler::new();
    let outcomes = [test.run(fiber.clone()), Queue::run(fiber)];
    for outcome in outcomes {
        let Outcome::Panicked(panic) = outcome else { panic!("no panic came out") };
        assert_eq!(panic.message(), "boom");
    }
    assert_eq!(test.run(Fiber::success("alive")).unwrap(), "alive");
    test.assert_no_leaks();
}

fn boom<T>() -> T {
    panic!("boom")
}

#[test]
fn in_lazy() {
    panics(Fiber::lazy(boom::<u8>));
}

#[test]
fn in_try_lazy() {
    panics(Fiber::try_lazy(boom::<Result<u8, Error>>));
}

#[test]
fn in_defer() {
    panics(Fiber::defer(boom::<Fiber<u8>>));
}

#[test]
fn in_map() {
    panics(Fiber::success(1).map(|_| boom::<u8>()));
}

#[test]
fn in_bind() {
    panics(Fiber::success(1).bind(|_| boom::<Fiber<u8>>()));
}

#[test]
fn in_bind_after_a_wait() {
    panics(Fiber::yield_now().bind(|()| boom::<Fiber<u8>>()));
}

#[test]
fn in_try_map() {
    panics(Fiber::success(1).try_map(|_| boom::<Result<u8, Error>>()));
}

#[test]
fn in_or_else() {
    panics(Fiber::try_lazy(|| Err::<u8, _>(Error::msg("e"))).or_else(|_| boom::<Result<u8, Error>>()));
}

#[test]
fn in_catch() {
    panics(Fiber::try_lazy(|| Err::<u8, _>(Error::msg("e"))).catch(|_| boom::<Fiber<u8>>()));
}

#[test]
fn in_catch_panic() {
    panics(Fiber::lazy(|| -> u8 { panic!("first") }).catch_panic(|_| boom::<Fiber<u8>>()));
}

#[test]
fn in_tap() {
    panics(Fiber::success(1).tap(|_| boom::<Fiber<u8>>()));
}

#[test]
fn in_map_outcome() {
    panics(Fiber::success(1).map_outcome(|_| boom::<Outcome<u8>>()));
}

#[test]
fn in_on_outcome() {
    panics(Fiber::success(1).on_outcome(|_| boom::<Fiber<()>>()));
}

#[test]
fn in_a_finalizer() {
    panics(Fiber::success(1).ensure(Fiber::lazy(boom::<()>)));
}

#[test]
fn in_the_registration_of_a_callback() {
    panics(Fiber::<u8>::callback(|_| boom()));
}

#[test]
fn in_a_blocking_closure() {
    panics(Fiber::blocking(boom::<u8>));
}

#[test]
fn in_iterate() {
    panics(Fiber::<u8>::iterate(0, |_: u8| boom::<Fiber<std::ops::ControlFlow<u8, u8>>>()));
}

#[test]
fn in_for_each() {
    panics(Fiber::for_each(0..3, |_| boom::<Fiber<()>>()));
}

#[test]
fn in_the_iterator_of_for_each() {
    panics(Fiber::for_each((0..3).map(|_| boom::<u8>()), |_| Fiber::success(())));
}

#[test]
fn in_repeat_while() {
    panics(Fiber::success(1).repeat_while(|_| boom::<bool>()));
}

#[test]
fn in_the_iterator_of_parallel() {
    panics(Fiber::parallel((0..3).map(|n| if n == 2 { boom() } else { Fiber::success(n) })));
}

#[test]
fn in_a_branch_of_parallel() {
    panics(Fiber::parallel((0..3).map(|_| Fiber::lazy(boom::<u8>))));
}

#[test]
fn in_a_branch_of_zip() {
    panics(Fiber::lazy(boom::<u8>).zip(Fiber::success(1)));
    panics(Fiber::success(1).zip(Fiber::lazy(boom::<u8>)));
}

#[test]
fn in_a_branch_of_race() {
    panics(Fiber::lazy(boom::<u8>).race(Fiber::<()>::never()));
}

#[test]
fn in_a_fiber_that_is_joined() {
    panics(Fiber::lazy(boom::<u8>).fork().bind(|child| child.join()));
}

#[test]
fn in_a_timeout() {
    panics(Fiber::lazy(boom::<u8>).timeout(std::time::Duration::from_secs(1)));
}

#[test]
fn in_a_future() {
    quiet();
    let test = TestScheduler::new();
    let outcome = test.run(Fiber::<u8>::from_future::<Error, _>(async { boom() }));
    assert!(outcome.is_panicked());
    let awaited = Fiber::<u8>::from_future(async { Fiber::lazy(boom::<u8>).await });
    assert!(test.run(awaited).is_panicked(), "a panic of an awaited fiber stays a panic");
    test.assert_no_leaks();
}

#[test]
fn in_a_user_s_own_wait() {
    struct Bad;
    impl fiber_core::scheduler::Wait for Bad {
        type Out = ();
        fn poll(&mut self, _: &fiber_core::scheduler::Cx<'_>) -> Option<Outcome<()>> {
            None
        }
        fn register(
            &mut self,
            _: &fiber_core::scheduler::Cx<'_>,
            _: fiber_core::scheduler::Wakeup,
        ) -> Option<Outcome<()>> {
            boom()
        }
        fn deregister(&mut self, _: &fiber_core::scheduler::Cx<'_>) {}
    }
    quiet();
    let test = TestScheduler::new();
    assert!(test.run(Fiber::wait(Bad)).is_panicked());
    test.assert_no_leaks();
}

#[test]
fn in_the_drop_of_a_value_ends_the_fiber_and_the_worker_lives() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in drop")
        }
    }
    quiet();
    let test = TestScheduler::new();
    // The value is dropped by the library, not in a closure.
    let outcome = test.run(Fiber::success(Bomb).tap(|_| Fiber::<()>::fail(Error::msg("e"))));
    assert!(!outcome.is_success());
    assert_eq!(test.run(Fiber::success("alive")).unwrap(), "alive");
}

#[test]
fn a_panic_is_not_caught_by_catch_and_runs_finalizers() {
    quiet();
    let (caught, finalized) = (Counter::default(), Counter::default());
    let seen = caught.clone();
    let fiber = Fiber::lazy(|| panic!("boom")).catch(move |_| seen.count()).ensure(finalized.count());
    assert!(TestScheduler::new().run(fiber).is_panicked());
    assert_eq!((caught.get(), finalized.get()), (0, 1));
}

#[test]
fn the_trace_of_a_panic_names_the_operators_that_it_passed() {
    quiet();
    let outcome = TestScheduler::new().run(Fiber::lazy(boom::<u8>).map(|n| n).bind(Fiber::success));
    let Outcome::Panicked(panic) = outcome else { panic!("no panic came out") };
    let operators: Vec<_> = panic.trace().iter().map(|frame| frame.operator()).collect();
    assert_eq!(operators, ["lazy", "map", "bind"]);
}

#[test]
fn an_assertion_that_waits_shows_what_the_program_says() {
    #[track_caller]
    fn says(message: &str, fiber: Fiber<()>) {
        quiet();
        let Outcome::Panicked(panic) = TestScheduler::new().run(fiber) else { panic!("no panic came out") };
        assert_eq!(panic.message(), message);
    }
    let (n, one) = (3, || Fiber::success(1));
    says("assertion failed: do! one() == 2", fiber! { assert!(do! one() == 2) });
    says(
        "assertion failed: !do! Fiber::<bool>::success(true) && n == 3",
        fiber! {
            assert!(!do! Fiber::<bool>::success(true) && n == 3,);
        },
    );
    says(
        "assertion failed: matches!(do! one().map(|n| (n, 2)), (1, 3))",
        fiber! {
            debug_assert!(matches!(do! one().map(|n| (n, 2)), (1, 3)));
        },
    );
}
