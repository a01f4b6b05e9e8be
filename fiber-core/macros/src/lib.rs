//! The [`fiber!`], [`race!`] and [`dataflow!`] macros. Use them through `fiber-core`, which exports them.
//!
//! ```text
//! tokens --marks--> what syn can read --race, code--> --forms, together--> an async block --expand--> a fiber
//! ```
//!
//! * `marks`: gives `let!`, `and!`, `do!` and `return!` a form that `syn` can parse.
//! * `race`: turns `race!` into a wait and a `match`.
//! * `code`: finds the waits before which no code has run.
//! * `forms`: expands them, and `return`. `together`: `let!` with its `and!`.
//! * `expand`: the whole block.
//! * `dataflow`: the other macro.

mod code;
mod dataflow;
mod expand;
mod forms;
mod marks;
mod race;
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
/// | `let! pat = fiber else { ... };` | for a refutable pattern; the `else` block has to diverge |
/// | `let! a = f and! b = g and! c = h;` | waits for all in parallel, as `zip` does: the first failure cancels the others; an `else` at the end applies to all patterns |
/// | `do! race! { a = f => x, b = g => y }` | waits for the first to end, and gives the value of its handler, which is code of this block; also behind `let!`: [`race!`] |
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
/// `do!` is a prefix operator, like `!` and `-`. Methods, fields, calls and `?` belong to its fiber; all other operators take
/// its value. Methods of the value need parentheses. In the condition of an `if` or a `while`, and before the block of a
/// `match` or a `for`, a struct literal needs them too, as everywhere in Rust.
///
/// ```
/// # use fiber_core::{Fiber, fiber};
/// # fn price(item: &str) -> Fiber<u32> { Fiber::success(item.len() as u32).boxed() }
/// # fn owner(item: &str) -> Fiber<Option<String>> { Fiber::success(Some(item.to_uppercase())).boxed() }
/// let fiber = fiber! {
///     let total = do! price("tea") * 2 + do! price("bread").map(|price| price + 1);
///     if do! price("tea") < total && let Some(name) = do! owner("tea") && !name.is_empty() {
///         return total + (do! price("cake")).min(3)
///     }
///     0
/// };
/// assert_eq!(fiber_sched::run(fiber).unwrap(), 15);
/// ```
///
/// The temporaries of a fiber's expression are dropped before the wait, if the expression belongs to a `let!`, or to a `do!` that
/// is all of a statement, of the initializer of a `let`, or of an arm of a `match`: `do! send(&queue.lock().unwrap()[0]);`
/// does not hold the lock while it waits. In a larger expression, they live as long as those of the larger one, as in
/// plain Rust. A guard that is not `Send` does not compile there: wait in a `let!` first.
///
/// # Leaving the block
///
/// | form | meaning |
/// |---|---|
/// | `return value`, or the tail expression | succeeds with the value |
/// | `return! fiber` | continues as another fiber, and keeps nothing of the block: a recursion in this position needs no memory |
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
/// A wait notices a cancellation when it begins, and while it waits. The block is then dropped, with its variables in
/// the usual order. A block that is cancelled after its last wait returns its value.
///
/// # Cost
///
/// A block is one allocation. A wait for a ready fiber allocates nothing, and takes about as long as a `bind`. Any
/// other wait makes the allocations of its leaf, usually one.
#[proc_macro]
pub fn fiber(input: TokenStream) -> TokenStream {
    expand::fiber_block(input.into()).into()
}

/// Races several fibers, and handles the value of the first to end.
///
/// Use it where tokio's users write `select!`. Each arm is `pattern = fiber => handler`, or `pattern = fiber, if condition => handler`. The first fiber to end wins, whatever its outcome; the others
/// are cancelled **and awaited**, and then the handler of the winner runs. Its value is the value of the `race!`.
///
/// ```
/// use fiber_core::sync::Channel;
/// use fiber_core::{CancelToken, Fiber, fiber};
/// use fiber_test::TestScheduler;
/// use std::time::Duration;
///
/// let (sender, receiver) = Channel::unbounded();
/// let stop = CancelToken::new();
/// let stops = stop.clone();
/// let served = fiber! {
///     let (mut sum, mut idle) = (0, 0);
///     loop {
///         do! race! {
///             () = stop.cancelled() => break (sum, idle),
///             number = receiver.recv() => sum += number,
///             () = Fiber::delay(Duration::from_secs(10)) => {
///                 idle += 1;
///                 do! Fiber::yield_now();
///             }
///         };
///     }
/// };
/// let acts = fiber! {
///     do! sender.send(7);
///     do! Fiber::delay(Duration::from_secs(25));
///     do! sender.send(8);
///     do! Fiber::yield_now();
///     stops.cancel();
/// };
/// let (served, ()) = TestScheduler::new().run(served.zip(acts)).unwrap();
/// assert_eq!(served, (15, 2));
/// ```
///
/// # Handlers
///
/// Directly behind a `do!` or a `let!` of [`fiber!`], a handler is code of that block: it borrows its variables, waits by `do!`, and leaves a
/// loop by `break` and the block by `return`. `fiber!` itself reads the name `race` there, so it needs no import, and a macro of your own with that
/// name is taken for this one. Anywhere else, also beside an `and!`,
/// `race! { .. }` is a lazy `Fiber`, as `fiber! { do! race! { .. } }`, but a `return` in it does not compile: it would not leave the block around the
/// `race!`. All handlers give the same type.
///
/// ```
/// # use fiber_core::{Fiber, race};
/// # use std::time::Duration;
/// fn ask(seconds: u64) -> Fiber<String> {
///     race! {
///         answer = Fiber::delay(Duration::from_secs(seconds)).map(move |()| seconds) => format!("after {answer} s"),
///         () = Fiber::delay(Duration::from_secs(5)) => "no answer".to_owned(),
///     }
/// }
/// let both = ask(3).zip(ask(60));
/// assert_eq!(fiber_test::TestScheduler::new().run(both).unwrap(), ("after 3 s".into(), "no answer".into()));
/// ```
///
/// # Conditions
///
/// If its condition does not hold when the race begins, an arm is switched off: its fiber is not made, and it never ends. So a race whose arms are all
/// switched off waits for ever. The condition may be a `let`, whose names are those of the fiber: `n = open.recv(), if let Some(open) = &receiver`.
///
/// ```
/// use fiber_core::fiber;
/// use fiber_core::sync::Receiver;
/// # use fiber_core::{Fiber, sync::Channel};
///
/// fn merged(left: Receiver<u32>, right: Receiver<u32>) -> Fiber<Vec<u32>> {
///     fiber! {
///         let (mut all, mut has_left, mut has_right) = (Vec::new(), true, true);
///         while has_left || has_right {
///             do! race! {
///                 item = left.next(), if has_left => item.map_or_else(|| has_left = false, |item| all.push(item)),
///                 item = right.next(), if has_right => item.map_or_else(|| has_right = false, |item| all.push(item)),
///             };
///         }
///         all
///     }
/// }
/// # let of = |numbers: std::ops::Range<u32>| {
/// #     let (sender, receiver) = Channel::unbounded();
/// #     numbers.for_each(|n| sender.try_send(n).unwrap());
/// #     receiver
/// # };
/// # assert_eq!(fiber_sched::run(merged(of(1..3), of(3..5))).unwrap(), [1, 2, 3, 4]);
/// ```
///
/// # Rules
///
/// * The arms begin in their order, so one that is ready goes before those below it. A program must not rely on that: the sides of a race are
///   fibers, which another worker may run as well, and whose order the scheduler chooses if the turn of the block is used up.
/// * An arm that is a single wait takes and gives nothing unless it wins, as a side of [`race`](../fiber_core/struct.Fiber.html#method.race).
/// * All arms are sides of one race: no other arm can win while a loser waits in its finalizer.
/// * Patterns are irrefutable. Where `select!` would skip a branch, `match` in the handler.
///
/// # Errors
///
/// The failure of the winner; its handler then does not run. `catch` or [`map_outcome`](../fiber_core/struct.Fiber.html#method.map_outcome)
/// in the arm turns a failure into a value. Failures of losers are treated as in [`race`](../fiber_core/struct.Fiber.html#method.race).
///
/// # Cancellation
///
/// All arms are cancelled and awaited.
///
/// # Cost
///
/// Up to eight arms that are single waits by their types are one wait of the fiber. Of other arms, two cost what `race` costs, and more cost what
/// `race_all` costs without its `Vec`: nothing while they are ready.
#[proc_macro]
pub fn race(input: TokenStream) -> TokenStream {
    expand::race_block(input.into()).into()
}

/// Composes fibers as a graph: each step starts as soon as its inputs are there, and independent steps run in parallel.
///
/// Use it where several fibers need each other's results, and a sequence would wait for more than it needs. The
/// steps are written as a sequential program; the macro derives their dependencies from the names that each uses.
///
/// ```
/// use fiber_core::{Fiber, dataflow};
/// use fiber_test::TestScheduler;
/// use std::time::Duration;
///
/// fn load(id: u32) -> Fiber<String> { after(3, format!("user {id}")) }
/// fn cart(id: u32) -> Fiber<Vec<u32>> { after(1, vec![id, 2]) }
/// fn price(cart: &[u32]) -> Fiber<u32> { after(1, cart.iter().sum()) }
/// fn greet(user: &str, price: &u32) -> Fiber<String> { after(2, format!("{user} pays {price}")) }
///
/// fn checkout(id: u32) -> Fiber<(String, u32)> {
///     dataflow! {
///         let user = load(id);
///         let cart = cart(id);
///         let price = price(&cart);        // while the user is still loading
///         let mail = greet(&user, &price);
///         return (mail, price)
///     }
/// }
///
/// let test = TestScheduler::new();
/// assert_eq!(test.run(checkout(7)).unwrap(), ("user 7 pays 9".to_owned(), 9));
/// assert_eq!(test.now().as_nanos(), 5_000_000_000); // and not 7
/// # fn after<T: Send + 'static>(seconds: u64, value: T) -> Fiber<T> {
/// #     Fiber::delay(Duration::from_secs(seconds)).map(move |()| value).boxed()
/// # }
/// ```
///
/// # Steps
///
/// The right-hand side of a step is an expression that makes a fiber: a `Fiber`, a `Result` (an `Err` fails the
/// dataflow) or a `Handle`. It is evaluated once, when its inputs are there, and a `?` in it fails the dataflow. A plain
/// value is `Fiber::success(value)`; a computation is `Fiber::lazy(move || ..)`, because expressions are evaluated one
/// at a time, and only fibers run in parallel.
///
/// | step | starts when |
/// |---|---|
/// | `let pattern = fiber;` | its inputs are there; also `let pattern: Type = fiber;` |
/// | `then fiber;` | all steps above have ended |
/// | `after(a, b) fiber;` | its inputs are there, and the steps that produce `a` and `b` have ended |
/// | `then let pattern = fiber;`, `after(a) let ..` | the same, for a step that has a result |
/// | `let _ = fiber;` | its inputs are there; its result is not needed |
///
/// The value of a dataflow is that of the `return` or the tail expression at its end, which is evaluated when all steps
/// have ended.
///
/// ```
/// # use fiber_core::{Fiber, dataflow};
/// # let (save, count) = (|_: &str| Fiber::success(()), |_: &str| Fiber::success(2_usize));
/// let saved = dataflow! {
///     let text = Fiber::lazy(|| "so much depends".to_owned());
///     let words = count(&text);
///     let saved = save(&text);
///     after(saved) Fiber::lazy(|| println!("saved"));
///     then Fiber::lazy(move || println!("{words} words"));
///     text.len()
/// };
/// assert_eq!(fiber_sched::run(saved).unwrap(), 15);
/// ```
///
/// # Values
///
/// In the expression of a step, a name is a variable with the value of that name: `&cart` borrows it, `cart.len()`
/// looks at it, and `cart` takes it. Only the expression borrows, not the fiber that it makes, which is `'static`. A
/// value that is read by
///
/// * one step belongs to that step;
/// * several steps is borrowed by all but the last. If the last takes it, that step starts once the others *have
///   started*. All of them can take a `Copy` value, without delaying any step.
///
/// A closure with `move`, an `async` block and the input of a macro that is not of the standard library take the variables that
/// they name. Make a clone for them before: `{ let cart = cart.clone(); Fiber::lazy(move || cart.len()) }`.
///
/// Variables from outside follow the same rules. A variable that only one step reads is moved into it. They have to be `Send` and
/// `'static`, as in [`fiber!`]; nothing has to be `Sync`. All values that were not moved are dropped at the end of the
/// dataflow.
///
/// # Errors
///
/// The first failure of a step, a `?` or the value. After it, no more steps start; running steps are cancelled and
/// awaited, and their failures are suppressed into the first. The trace names the line of the step.
///
/// # Panics
///
/// A panic of an expression or a fiber counts as a failure.
///
/// # Cancellation
///
/// All running steps are cancelled and awaited, and no more start.
///
/// # Mistakes
///
/// The compiler reports a result that is never read, a step that has neither a result nor an order, a name that is used
/// above its step, a cycle of steps, and a value that is taken before its last reader.
///
/// ```compile_fail
/// # use fiber_core::{Fiber, dataflow};
/// let flow: Fiber<u32> = dataflow! {
///     let price = Fiber::success(1);
///     let unused = Fiber::success(price + 1); // nothing reads `unused`
///     return price
/// };
/// ```
///
/// # Cost
///
/// A dataflow is one allocation. Steps whose fibers are ready allocate nothing: the fiber runs one after the other, and
/// lends the rest to other threads, as [`parallel`](../fiber_core/struct.Fiber.html#method.parallel) does. A step that
/// waits allocates its cell.
#[proc_macro]
pub fn dataflow(input: TokenStream) -> TokenStream {
    dataflow::dataflow(input.into()).into()
}

/// The graph of a [`dataflow!`], as text in the language of Graphviz: a `&'static str`.
///
/// Edges are labelled with the names of the values. Dashed edges come from `then` and `after`; dotted ones lead to a step that
/// takes a value which another step borrows. A macro of your own can give the same steps to both:
///
/// ```
/// # use fiber_core::Fiber;
/// macro_rules! checkout {
///     ($form:ident) => {
///         fiber_core::$form! {
///             let user = Fiber::success("Ann");
///             let price = Fiber::success(9);
///             let mail = Fiber::success(format!("{user} pays {price}"));
///             return mail
///         }
///     };
/// }
/// assert_eq!(fiber_sched::run(checkout!(dataflow)).unwrap(), "Ann pays 9");
/// assert_eq!(checkout!(dataflow_graph), "\
/// digraph dataflow {
///     s0 [label=\"user\"];
///     s1 [label=\"price\"];
///     s2 [label=\"mail\"];
///     s3 [label=\"return\", shape=box];
///     s0 -> s2 [label=\"user\"];
///     s1 -> s2 [label=\"price\"];
///     s2 -> s3 [label=\"mail\"];
/// }
/// ");
/// ```
#[proc_macro]
pub fn dataflow_graph(input: TokenStream) -> TokenStream {
    dataflow::dataflow_graph(input.into()).into()
}
