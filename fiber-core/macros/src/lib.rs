//! The [`fiber!`] macro of `fiber-core`, which exports it: use it from there.
//!
//! ```text
//! tokens --parse--> syntax::Block --expand--> Rust
//!          misplaced    facts, names    frame, plain
//! ```
//!
//! * `syntax`: the tree. `parse`: how it comes about, `misplaced`: what is said when it does not.
//! * `facts`: does a statement wait, end, leave? `names`: which variables does it use?
//! * `frame`: the fibers that stand for the ways out of a block. `plain`: early exits in plain Rust.
//! * `expand`: sequences, `expand::branches` and `expand::loops`.

mod expand;
mod facts;
mod frame;
mod misplaced;
mod names;
mod parse;
mod plain;
mod syntax;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use quote::quote;

/// Composes fibers in the style of a sequential program. The block is a boxed `Fiber<T>`, and wholly lazy: nothing in
/// it is evaluated before the fiber runs.
///
/// Use it wherever a fiber needs the value of another one. It is notation only: each form below stands for a call of
/// `bind`, `zip` or `iterate`, and has their semantics of failure and cancellation.
///
/// ```
/// use fiber_core::{Error, Fiber, fiber};
///
/// fn price(item: &'static str) -> Fiber<u32> {
///     Fiber::success(item.len() as u32).boxed()
/// }
///
/// fn total(items: Vec<&'static str>, coupon: Result<u32, Error>) -> Fiber<u32> {
///     fiber! {
///         if items.is_empty() { return 0 }
///         let mut sum = 0;
///         for! item in items {
///             let! price = price(item);
///             sum += price;
///         }
///         let! discount = coupon;
///         return sum - discount
///     }
/// }
///
/// assert_eq!(fiber_sched::run(total(vec!["tea", "bread"], Ok(2))).unwrap(), 6);
/// assert!(fiber_sched::run(total(vec!["tea"], Err(Error::msg("expired")))).is_failure());
/// ```
///
/// # Waiting for a fiber
///
/// What is waited for is anything `IntoFiber`: a `Fiber`, a `Result` (an `Err` fails the block) or a `Handle`.
///
/// | form | meaning |
/// |---|---|
/// | `let! pat = fiber;` | binds the value; `let! pat: Type = fiber;` too |
/// | `let! pat = fiber else { ... };` | for a pattern that may not match; the block has to leave |
/// | `let! a = f and! b = g and! c = h;` | all at the same time, as `zip`: the first failure cancels the others |
/// | `do! fiber;` | waits, and drops the value |
///
/// ```
/// # use fiber_core::{Fiber, fiber};
/// let sum = fiber! {
///     let! a = Fiber::success(1) and! b: u32 = "41".parse();
///     do! Fiber::yield_now();
///     return a + b
/// };
/// assert_eq!(fiber_sched::run(sum).unwrap(), 42);
/// ```
///
/// # Leaving the block
///
/// | form | meaning |
/// |---|---|
/// | `return value` | succeeds with the value; `return` alone, or the end of the block, with `()` |
/// | `return! fiber` | goes on as another fiber. Nothing waits behind it: recursion in this place needs no memory |
/// | `result?` | the value of an `Ok`; an `Err` fails the block |
///
/// They work everywhere in the block, also in the middle of plain expressions and loops. In a closure, an `async`
/// block or a nested function they are that function's own; so they are in the input of another macro.
///
/// `return! x` and `return !x` are the same to Rust's lexer, and both read as `return!` here: to return a negation,
/// write `return (!x)`.
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
/// # Branches
///
/// `if`, `if let`, `match`, `{ ... }` and the `else` of a `let` may hold every form; an arm of a `match` may be one.
/// They are statements here: a branch has no value, but it may `return`.
///
/// ```
/// # use fiber_core::{Fiber, fiber};
/// fn greet(name: Option<&'static str>) -> Fiber<String> {
///     fiber! {
///         let Some(name) = name else { return String::from("hello") };
///         match name.len() {
///             0 => return! Fiber::fail(fiber_core::Error::msg("no name")),
///             1..=3 => do! Fiber::yield_now(),
///             _ => {}
///         }
///         return format!("hello {name}")
///     }
/// }
/// assert_eq!(fiber_sched::run(greet(Some("Ada"))).unwrap(), "hello Ada");
/// ```
///
/// # Loops
///
/// | form | meaning |
/// |---|---|
/// | `for! pat in items { ... }` | one round per item of an `IntoIterator`, one after the other |
/// | `while! condition { ... }` | as long as a `bool`, or a fiber of `bool`, holds; made anew for every round |
/// | `loop! { ... }` | until `break` or `return` |
///
/// `break` and `continue` belong to the innermost loop, bang or plain. There are no labels. A plain `for`, `while` or
/// `loop` is plain Rust: it may leave the block, but not wait in it. `while !x` with a space is a plain loop.
///
/// ```
/// # use fiber_core::{Fiber, fiber};
/// let evens = fiber! {
///     let mut found = Vec::new();
///     for! n in 1.. {
///         if n % 2 == 1 { continue }
///         do! Fiber::yield_now();
///         found.push(n);
///         if found.len() == 3 { break }
///     }
///     return found
/// };
/// assert_eq!(fiber_sched::run(evens).unwrap(), [2, 4, 6]);
/// ```
///
/// # Variables
///
/// What follows a wait runs later, so it owns the variables it uses: a block captures by `move`, and no borrow of a
/// local variable lives across `let!` or `do!`. Apart from that, variables work as in a sequential program. One that
/// is used in a branch or in a loop is handed on to the code after it and to the next round, changes included.
///
/// Three limits, as the macro sees names and no types:
///
/// * A variable that is handed on must be whole. Take it apart before: `let Order { lines, address } = order;`.
/// * A function that is a variable from outside looks like a plain function when it is only called. If a round needs
///   it after a wait, make it a variable of the block first: `let f = f;`. So it is with a variable from outside
///   that occurs in the input of other macros only, and with `self`: `let this = self;`.
/// * A variable from outside that only rounds and branches change needs no `mut` of its own.
///
/// # Cost
///
/// The block is boxed once. Inside, waits are a chain of static types. A branch that waits is boxed, and so is a round
/// of a loop; an early exit from behind a wait inside a branch or loop boxes what comes after it.
#[proc_macro]
pub fn fiber(input: TokenStream) -> TokenStream {
    let (block, error) = parse::fiber_block(input.into());
    let expansion = expand::fiber_block(&block);
    let Some(error) = error else { return expansion.into() };
    // What could be parsed is expanded all the same: it is checked now, and completed by an editor.
    let error = error.into_compile_error();
    quote!({ #error #expansion }).into()
}
