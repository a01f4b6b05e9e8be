//! The attributes [`macro@test`] and [`macro@explore`]. Use them through `fiber-test`, which exports them.
//!
//! * `program`: the function below the attribute. `arguments`: the text in its parentheses.
//! * `timeline`: expands `test`. `exploration`: expands `explore`, whose settings are listed in `settings`.

mod arguments;
mod exploration;
mod program;
mod settings;
mod timeline;

use proc_macro::TokenStream;

/// Makes a test of a function that returns a fiber, or of an `async fn`. It runs once, on a
/// [`TestScheduler`](https://docs.rs/fiber-test/latest/fiber_test/struct.TestScheduler.html) in virtual time.
///
/// ```
/// use fiber_core::{Error, Fiber, fiber};
/// use std::time::Duration;
///
/// #[fiber_test::test]
/// fn an_hour_passes() -> Fiber<()> {
///     fiber! {
///         let! before = Fiber::now();
///         do! Fiber::delay(Duration::from_secs(3600));
///         let! after = Fiber::now();
///         assert_eq!((after - before).as_secs(), 3600);
///     }
/// }
///
/// #[fiber_test::test]
/// async fn the_port_is_a_number() -> Result<(), Error> {
///     let port: u16 = Fiber::success("8080").await?.parse()?;
///     assert_eq!(port, 8080);
///     Ok(())
/// }
/// ```
///
/// The test fails if the fiber panics, fails or ends as cancelled, if it can never end, if it leaves a fiber, a timer or a
/// permit behind when nothing can run any more at that instant, and if the failure of another fiber stays unobserved. The value is `()`,
/// or a `Result` whose error fails the test: any error that `?` converts in `fiber!`.
///
/// | argument | meaning |
/// |---|---|
/// | `schedule = "1:1 4:1"` | follows a schedule, as a report of the explorer prints it; the default is first in, first out |
/// | `seed = 7` | another order, and other random numbers |
/// | `draws = 6` | limits random numbers, as for a schedule that an exploration with `draws` has found |
/// | `as_production = 1024` | slices of so many binds, as in a pool |
/// | `virtual_cpus = 2` | simulates this many workers |
/// | `may_hold` | permits and locks that are still held do not fail the test |
///
/// Other attributes, such as `#[ignore]` and `#[should_panic]`, work as for every test.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, function: TokenStream) -> TokenStream {
    timeline::expand(arguments.into(), function.into()).into()
}

/// Makes a test of a function that returns a fiber, or of an `async fn`. It runs under many schedules, as
/// [`Explore`](https://docs.rs/fiber-test/latest/fiber_test/struct.Explore.html) does.
///
/// ```
/// use fiber_core::Fiber;
///
/// #[fiber_test::explore]
/// fn two_at_a_time() -> Fiber<()> {
///     Fiber::success(1).zip(Fiber::success(2)).map(|sum| assert_eq!(sum, (1, 2))).boxed()
/// }
///
/// #[fiber_test::explore(exhaustive, preemptions = 2)]
/// async fn one_after_the_other() {
///     assert!(Fiber::success(1).await.is_ok());
/// }
/// ```
///
/// The first argument selects the exploration:
///
/// | argument | meaning |
/// |---|---|
/// | none of these | the portfolio of strategies: `Explore::default()` |
/// | `exhaustive` | all schedules: `Explore::exhaustive()` |
/// | `cancel_everywhere` | the program, and each of its fibers, is cancelled at each turn: `Explore::cancel_everywhere()` |
/// | `replay = "1:1 4:1"` | one schedule: `Explore::replay("1:1 4:1")` |
/// | `recorded = &recording` | the order that a pool has recorded: `Explore::recorded(&recording)` |
///
/// The others correspond to the methods of the same names. With a value: `seed`, `schedules`, `within`, `threads`, `only`,
/// `preemptions`, `as_production`, `virtual_cpus`, `turns_per_instant`, `lateness`, `draws`, `faults`, `inspect`,
/// `regressions`, `pictures`. Without: `reduced`, `program_only`, `may_leak`, `may_hold`, `may_be_unobserved`, `mishaps`,
/// `pairs`, `no_regressions`.
/// A value is any expression: `faults = Faults::new().crashes(1)`, `within = Duration::from_secs(5)`.
///
/// A failure is reported like by [`Explore::check`](https://docs.rs/fiber-test/latest/fiber_test/struct.Explore.html#method.check), which
/// also saves the schedule beside the test, and runs it first the next time.
#[proc_macro_attribute]
pub fn explore(arguments: TokenStream, function: TokenStream) -> TokenStream {
    exploration::expand(arguments.into(), function.into()).into()
}
