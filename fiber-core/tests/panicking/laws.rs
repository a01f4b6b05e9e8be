//! Functor and monad laws, over generated values, functions and starting points.

use fiber_core::{Either, Error, Fiber, Outcome, dataflow};
use fiber_test::TestScheduler;
use proptest::prelude::*;

use std::time::Duration;

/// A function from numbers to numbers, printable and shrinkable.
#[derive(Clone, Copy, Debug)]
enum Function {
    Add(i64),
    Multiply(i64),
    Xor(i64),
}

impl Function {
    fn apply(self, x: i64) -> i64 {
        match self {
            Function::Add(n) => x.wrapping_add(n),
            Function::Multiply(n) => x.wrapping_mul(n),
            Function::Xor(n) => x ^ n,
        }
    }
}

/// A function from numbers to fibers.
#[derive(Clone, Copy, Debug)]
enum Kleisli {
    Pure(Function),
    Lazy(Function),
    Sleeping(Function),
    Yielding(Function),
    Zipped(Function),
    Raced(Function),
    Parallel(Function),
    Limited(Function),
    Failing,
    Panicking,
}

impl Kleisli {
    fn apply(self, x: i64) -> Fiber<i64> {
        match self {
            Kleisli::Pure(f) => Fiber::success(f.apply(x)).boxed(),
            Kleisli::Lazy(f) => Fiber::lazy(move || f.apply(x)).boxed(),
            Kleisli::Sleeping(f) => Fiber::delay(Duration::from_secs(1)).map(move |()| f.apply(x)).boxed(),
            Kleisli::Yielding(f) => Fiber::yield_now().map(move |()| f.apply(x)).boxed(),
            Kleisli::Zipped(f) => {
                let both = Fiber::yield_now().zip(Fiber::lazy(move || f.apply(x)));
                both.map(|((), value)| value).boxed()
            }
            Kleisli::Raced(f) => {
                Fiber::lazy(move || f.apply(x)).race(Fiber::never()).map(Either::into_inner).boxed()
            }
            Kleisli::Parallel(f) => {
                let three = (0..3).map(move |n| Fiber::yield_now().map(move |()| f.apply(x) ^ n));
                Fiber::parallel(three)
                    .limit(2)
                    .map(|values| values.into_iter().fold(0, i64::wrapping_add))
                    .boxed()
            }
            Kleisli::Limited(f) => Fiber::lazy(move || f.apply(x)).timeout(Duration::from_secs(9)).boxed(),
            Kleisli::Failing => Fiber::fail(Error::msg(format!("failed at {x}"))).boxed(),
            Kleisli::Panicking => {
                Fiber::lazy(move || std::panic::panic_any(format!("panicked at {x}"))).boxed()
            }
        }
    }
}

fn function() -> impl Strategy<Value = Function> + Clone {
    prop_oneof![
        any::<i64>().prop_map(Function::Add),
        any::<i64>().prop_map(Function::Multiply),
        any::<i64>().prop_map(Function::Xor),
    ]
}

fn kleisli() -> impl Strategy<Value = Kleisli> {
    prop_oneof![
        function().prop_map(Kleisli::Pure),
        function().prop_map(Kleisli::Lazy),
        function().prop_map(Kleisli::Sleeping),
        function().prop_map(Kleisli::Yielding),
        function().prop_map(Kleisli::Zipped),
        function().prop_map(Kleisli::Raced),
        function().prop_map(Kleisli::Parallel),
        function().prop_map(Kleisli::Limited),
        Just(Kleisli::Failing),
        Just(Kleisli::Panicking),
    ]
}

/// The result of a program: its outcome, and the virtual time that it took.
fn observed(fiber: Fiber<i64>) -> (String, u64) {
    let test = TestScheduler::new();
    let outcome = match test.run(fiber) {
        Outcome::Success(value) => format!("success {value}"),
        Outcome::Failure(error) => format!("failure {error}"),
        Outcome::Panicked(panic) => format!("panic {}", panic.message()),
        Outcome::Cancelled => "cancelled".to_owned(),
    };
    test.assert_no_leaks();
    (outcome, test.now().as_nanos())
}

/// The same, with many binds in one turn.
fn observed_in_production(fiber: Fiber<i64>) -> String {
    format!("{:?}", crate::support::Queue::run(fiber).into_result().map_err(|error| error.to_string()))
}

/// The same, with lent branches; a seed decides which of them other threads steal.
fn observed_where_lent(fiber: Fiber<i64>, seed: u64) -> String {
    let steps = crate::support::Steps::lending(seed);
    let handle = steps.spawn(fiber);
    steps.run(usize::MAX);
    assert_eq!(steps.live_fibers(), 0);
    let outcome = handle.try_outcome().expect("the fiber has ended");
    format!("{:?}", outcome.into_result().map_err(|error| error.to_string()))
}

fn same(a: impl Fn() -> Fiber<i64>, b: impl Fn() -> Fiber<i64>) -> Result<(), TestCaseError> {
    prop_assert_eq!(observed(a()), observed(b()));
    prop_assert_eq!(observed_in_production(a()), observed_in_production(b()));
    for seed in 0..4 {
        prop_assert_eq!(observed_where_lent(a(), seed), observed_where_lent(b(), seed));
    }
    Ok(())
}

fn without_panic_messages() {
    std::panic::set_hook(Box::new(|info| {
        if !info.payload().is::<String>() {
            eprintln!("{info}");
        }
    }));
}

proptest! {
    #[test]
    fn left_identity(x: i64, k in kleisli()) {
        without_panic_messages();
        same(|| Fiber::success(x).bind(move |x| k.apply(x)).boxed(), || k.apply(x))?;
    }

    #[test]
    fn right_identity(x: i64, k in kleisli()) {
        without_panic_messages();
        same(|| k.apply(x).bind(Fiber::success).boxed(), || k.apply(x))?;
    }

    #[test]
    fn associativity(x: i64, f in kleisli(), g in kleisli(), h in kleisli()) {
        without_panic_messages();
        same(
            || f.apply(x).bind(move |x| g.apply(x)).bind(move |x| h.apply(x)).boxed(),
            || f.apply(x).bind(move |x| g.apply(x).bind(move |x| h.apply(x))).boxed(),
        )?;
    }

    #[test]
    fn a_dataflow_in_which_each_step_needs_the_last_is_a_sequence(x: i64, f in kleisli(), g in kleisli(), h in kleisli()) {
        without_panic_messages();
        same(
            || dataflow! { let a = f.apply(x); let b = g.apply(a); let c = h.apply(b); return c },
            || f.apply(x).bind(move |x| g.apply(x)).bind(move |x| h.apply(x)).boxed(),
        )?;
    }

    #[test]
    fn a_dataflow_of_independent_steps_is_a_zip(x: i64, f in kleisli(), g in kleisli()) {
        without_panic_messages();
        same(
            || dataflow! { let a = f.apply(x); let b = g.apply(x); return a ^ b },
            || f.apply(x).zip(g.apply(x)).map(|(a, b)| a ^ b).boxed(),
        )?;
    }

    #[test]
    fn map_identity(x: i64, k in kleisli()) {
        without_panic_messages();
        same(|| k.apply(x).map(|x| x).boxed(), || k.apply(x))?;
    }

    #[test]
    fn map_composition(x: i64, k in kleisli(), f in function(), g in function()) {
        without_panic_messages();
        same(
            || k.apply(x).map(move |x| f.apply(x)).map(move |x| g.apply(x)).boxed(),
            || k.apply(x).map(move |x| g.apply(f.apply(x))).boxed(),
        )?;
    }

    #[test]
    fn map_is_bind_with_success(x: i64, k in kleisli(), f in function()) {
        without_panic_messages();
        same(
            || k.apply(x).map(move |x| f.apply(x)).boxed(),
            || k.apply(x).bind(move |x| Fiber::success(f.apply(x))).boxed(),
        )?;
    }

    #[test]
    fn catch_of_a_failure_is_its_handler(k in kleisli()) {
        without_panic_messages();
        same(|| Fiber::fail(Error::msg("e")).catch(move |_| k.apply(1)).boxed(), || k.apply(1))?;
    }

    #[test]
    fn zip_gives_both_values_in_the_time_of_the_longer(x: i64, f in function(), g in function()) {
        let both = Kleisli::Sleeping(f).apply(x).zip(Kleisli::Lazy(g).apply(x));
        let test = TestScheduler::new();
        prop_assert_eq!(test.run(both).unwrap(), (f.apply(x), g.apply(x)));
        prop_assert_eq!(test.now().as_nanos(), 1_000_000_000);
    }
}
