//! The [`fiber!`] macro of `fiber-core`, which exports it: use it from there.
//!
//! ```text
//! tokens --marks--> what syn can read --forms, together--> an async block --expand--> a fiber
//! ```
//!
//! * `marks`: gives `let!`, `and!`, `do!` and `return!` a shape that `syn` can read.
//! * `forms`: expands them, and `return`. `together`: `let!` with its `and!`.
//! * `expand`: the whole block.

mod expand;
mod forms;
mod marks;
mod together;

use proc_macro::TokenStream;

/// Composes fibers in the style of a sequential program. The block is a `Fiber<T>`, and wholly lazy: nothing in it is evaluated
/// before the fiber runs.
///
/// Use it wherever a fiber needs the value of another one. Four forms wait or leave; all the rest is plain Rust, and means what it
/// means there: loops, labels, tail expressions, shadowing, borrows across waits, drops at the end of their scope.
///
/// ```
/// use fiber_core::{Error, Fiber, fiber};
///
/// fn price(item: &str) -> Fiber<u32> {
///     Fiber::success(item.len() as u32).boxed()
/// }
///
/// fn total(items: Vec<&'static str>, coupon: Result<u32, Error>) -> Fiber<u32> {
///     fiber! {
///         if items.is_empty() { return 0 }
///         let mut sum = 0;
///         for item in &items {
///             sum += do! price(item);
///         }
///         sum - coupon?
///     }
/// }
///
/// assert_eq!(fiber_sched::run(total(vec!["tea", "bread"], Ok(2))).unwrap(), 6);
/// assert!(fiber_sched::run(total(vec!["tea"], Err(Error::msg("expired")))).is_failure());
/// ```
///
/// # Waiting for a fiber
///
/// A block can wait for anything `IntoFiber`: a `Fiber`, a `Result` (an `Err` fails the block) or a `Handle`. Anything but a
/// success ends the block: its variables are dropped, and the failure, panic or cancellation is its outcome.
///
/// | form | meaning |
/// |---|---|
/// | `do! fiber` | waits; an expression with the value of the fiber |
/// | `let! pat = fiber;` | binds the value; `let! pat: Type = fiber;` too |
/// | `let! pat = fiber else { ... };` | for a pattern that may not match; the `else` has to leave |
/// | `let! a = f and! b = g and! c = h;` | all at the same time, as `zip`: the first failure cancels the others; an `else` at the end is for all patterns |
///
/// ```
/// # use fiber_core::{Fiber, fiber};
/// let sum = fiber! {
///     let! a = Fiber::success(1) and! b: u32 = "40".parse();
///     do! Fiber::yield_now();
///     if do! Fiber::success(true) { a + b + 1 } else { 0 }
/// };
/// assert_eq!(fiber_sched::run(sum).unwrap(), 42);
/// ```
///
/// `do!` binds as weakly as `return`: its fiber extends to the end of the expression. In the middle of one it needs
/// parentheses: `(do! price(item)) * 2`.
///
/// # Leaving the block
///
/// | form | meaning |
/// |---|---|
/// | `return value`, or the tail expression | succeeds with the value |
/// | `return! fiber` | goes on as another fiber. Nothing waits behind it: recursion in this place needs no memory |
/// | `result?` | the value of an `Ok`; an `Err` fails the block |
///
/// In a closure, an `async` block or a nested function, `return` and `?` are that function's own, and nothing can wait: the block
/// cannot be suspended inside another function.
///
/// `return! x` leaves as the fiber `x`; `return !x`, with the space, leaves with the negation of `x`.
///
/// ```
/// # use fiber_core::{Fiber, fiber};
/// fn collatz(n: u64, steps: u32) -> Fiber<u32> {
///     fiber! {
///         if n == 1 { return steps }
///         return! collatz(if n % 2 == 0 { n / 2 } else { 3 * n + 1 }, steps + 1)
///     }
/// }
/// assert_eq!(fiber_sched::run(collatz(27, 0)).unwrap(), 111);
/// ```
///
/// # Loops
///
/// Plain loops wait. There is no `for!`, `while!` or `loop!`.
///
/// ```
/// # use fiber_core::{Fiber, fiber};
/// let found = fiber! {
///     let mut found = Vec::new();
///     'rows: for row in 1.. {
///         for column in 1..row {
///             if do! Fiber::success(row * column > 12) { break 'rows }
///             found.push((row, column));
///         }
///     }
///     found.len()
/// };
/// assert_eq!(fiber_sched::run(found).unwrap(), 8);
/// ```
///
/// # Variables
///
/// A block captures by `move`, and runs later: it owns the variables that it uses, and they have to be `'static`. What lives across a
/// wait has to be `Send`, because the block may go on in another thread. So a guard of a `std::sync::Mutex` has to go before
/// a wait, at the end of a scope of its own.
///
/// # Futures
///
/// A block is an `async` block: `future.await` works in it, and `fiber.await` does too, for a `Result` in place of ending the block.
///
/// # Other macros
///
/// In the input of `assert!`, `format!`, `println!`, `vec!`, `matches!` and their like of the standard library, the forms work. Other
/// macros get their input as it is; wait before, and hand over the value.
///
/// # Cancellation
///
/// A cancellation is noticed where a wait begins or waits. Then the block is dropped, its variables in the usual order. A block that
/// is cancelled after its last wait gives its value.
///
/// # Cost
///
/// One allocation for the block. A wait that is ready costs none and about as much as a `bind`; one that has to wait costs what the
/// leaf needs, one in most cases.
#[proc_macro]
pub fn fiber(input: TokenStream) -> TokenStream {
    expand::fiber_block(input.into()).into()
}
