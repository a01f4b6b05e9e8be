//! The [`fiber!`] and [`dataflow!`] macros. Use them through `fiber-core`, which exports them.
//!
//! ```text
//! tokens --marks--> what syn can read --forms, together--> an async block --expand--> a fiber
//! ```
//!
//! * `marks`: gives `let!`, `and!`, `do!` and `return!` a form that `syn` can parse.
//! * `forms`: expands them, and `return`. `together`: `let!` with its `and!`.
//! * `expand`: the whole block.
//! * `dataflow`: the other macro.

mod dataflow;
mod expand;
mod forms;
mod marks;
mod together;

use proc_macro::TokenStream;

/// Composes fibers in the style of a sequential program. The block is a lazy `Fiber<T>`: nothing in it is evaluated
/// before the fiber runs.
///
/// Use it wherever a fiber needs the value of another one. Four forms wait or leave. The rest is plain Rust, with its
/// usual meaning: loops, labels, tail expressions, shadowing, borrows across waits, drops at the end of a scope.
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
/// A block can wait for any `IntoFiber`: a `Fiber`, a `Result` (an `Err` fails the block) or a `Handle`. Every outcome
/// but a success ends the block: its variables are dropped, and the failure, panic or cancellation becomes the outcome
/// of the block.
///
/// | form | meaning |
/// |---|---|
/// | `do! fiber` | waits; the value of this expression is the value of the fiber |
/// | `let! pat = fiber;` | waits and binds the value; also `let! pat: Type = fiber;` |
/// | `let! pat = fiber else { ... };` | for a pattern that may not match; the `else` block has to diverge |
/// | `let! a = f and! b = g and! c = h;` | waits for all in parallel, as `zip` does: the first failure cancels the others; an `else` at the end is for all patterns |
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
/// `do!` binds as weakly as `return`: its operand extends to the end of the expression. Inside a larger expression it
/// needs parentheses: `(do! price(item)) * 2`.
///
/// # Leaving the block
///
/// | form | meaning |
/// |---|---|
/// | `return value`, or the tail expression | succeeds with the value |
/// | `return! fiber` | continues as another fiber, and keeps nothing of the block: recursion in this place needs no memory |
/// | `result?` | gives the value of an `Ok`; an `Err` fails the block |
///
/// In a closure, an `async` block or a nested function, `return` and `?` belong to that function. The forms cannot be
/// used there, because the block cannot be suspended inside another function.
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
/// Plain loops can contain waits. There is no `for!`, `while!` or `loop!`.
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
/// A block captures by `move`, because it runs later: it owns the variables that it uses, and they have to be
/// `'static`. A variable that lives across a wait has to be `Send`, because the block may continue on another thread. A
/// guard of a `std::sync::Mutex`, for example, has to be dropped before a wait, at the end of an inner scope.
///
/// # Futures
///
/// A block is an `async` block, so `future.await` works in it. `fiber.await` works too; it gives a `Result` and does
/// not end the block.
///
/// # Other macros
///
/// The forms work in the input of `assert!`, `format!`, `println!`, `vec!`, `matches!` and similar macros of the
/// standard library. Other macros get their input unchanged: wait first, and pass them the value.
///
/// # Cancellation
///
/// A cancellation is noticed where a wait begins, and while it waits. Then the block is dropped, and its variables in
/// the usual order. A block that is cancelled after its last wait gives its value.
///
/// # Cost
///
/// A block is one allocation. A wait for a ready fiber allocates nothing, and takes about as long as a `bind`. Any
/// other wait makes the allocations of its leaf, usually one.
#[proc_macro]
pub fn fiber(input: TokenStream) -> TokenStream {
    expand::fiber_block(input.into()).into()
}

/// Steps.
#[proc_macro]
pub fn dataflow(input: TokenStream) -> TokenStream {
    dataflow::dataflow(input.into()).into()
}

/// Graph.
#[proc_macro]
pub fn dataflow_graph(input: TokenStream) -> TokenStream {
    dataflow::dataflow_graph(input.into()).into()
}
