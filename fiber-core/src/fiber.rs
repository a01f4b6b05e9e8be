//! [`Fiber`]: the type that users hold.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::engine::boxed::Boxed;
use crate::engine::context::Cx;
use crate::engine::step::{Run, Step};
use crate::outcome::Outcome;
use crate::panic::Panic;

/// A lazy description of concurrent work, which gives a `T`, fails, panics or is cancelled.
///
/// Nothing happens until a fiber is run on a [`Scheduler`](crate::scheduler::Scheduler); building or dropping one has no effect.
/// Combinators return static types, as iterator adapters do, and allocate nothing. [`boxed`](Fiber::boxed) erases the
/// type: the result is the plain `Fiber<T>` of signatures, collections, recursion and [`fiber!`](crate::fiber!).
///
/// A fiber can be run again exactly if it is [`Clone`]. A static chain is `Clone` if its closures are.
///
/// `R` is how it runs: `Then<R, Map<F>>` in the signature of [`map`](Fiber::map), for example. These types have no public names, because
/// programs infer them: in a signature, write `Fiber<T>` and box, or `Fiber<T, impl Run<Out = T>>`, with `+ Clone` if it is run again.
///
/// ```
/// use fiber_core::Fiber;
///
/// fn greeting(name: &'static str) -> Fiber<String> {
///     Fiber::success(name).map(|name| format!("hello, {name}")).boxed()
/// }
/// let both = greeting("Ann").zip(greeting("Bob")).map(|(a, b)| format!("{a}; {b}"));
/// assert_eq!(fiber_sched::run(both).unwrap(), "hello, Ann; hello, Bob");
/// ```
#[must_use = "a fiber does nothing until it is run: bind it into another one, or hand it to a scheduler"]
pub struct Fiber<T, R = Boxed<T>> {
    run: R,
    /// A fiber makes a `T`, it does not hold one.
    out: PhantomData<fn() -> T>,
}

impl<T, R: Run<Out = T>> Fiber<T, R> {
    /// Wraps a description.
    ///
    /// ```
    /// use fiber_core::{Fiber, Run};
    ///
    /// /// A combinator of your own.
    /// fn twice<R: Run + Clone>(run: R) -> Fiber<(R::Out, R::Out), impl Run<Out = (R::Out, R::Out)>> {
    ///     Fiber::new(run.clone()).zip(Fiber::new(run))
    /// }
    /// assert_eq!(fiber_sched::run(twice(Fiber::success(7).into_run())).unwrap(), (7, 7));
    /// ```
    #[inline]
    pub fn new(run: R) -> Self {
        Fiber { run, out: PhantomData }
    }

    /// The description inside.
    #[inline]
    pub fn into_run(self) -> R {
        self.run
    }

    /// Erases the type, for signatures, collections and recursion. One allocation; a boxed fiber stays as it is.
    ///
    /// ```
    /// use fiber_core::Fiber;
    ///
    /// fn countdown(n: u64) -> Fiber<&'static str> {
    ///     if n == 0 {
    ///         Fiber::success("lift-off").boxed()
    ///     } else {
    ///         Fiber::success(n - 1).bind(countdown).boxed()
    ///     }
    /// }
    /// assert_eq!(fiber_sched::run(countdown(1_000_000)).unwrap(), "lift-off");
    /// ```
    #[inline]
    pub fn boxed(self) -> Fiber<T> {
        Fiber { run: self.run.boxed(), out: PhantomData }
    }

    /// Names the fiber in reports. The name takes effect if the named fiber itself is forked, spawned, run, or used as
    /// a branch; if other combinators wrap it first, it has no effect.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let worker = Fiber::<()>::never().named("worker");
    /// let name = worker.fork().map(|handle| handle.name().map(str::to_owned));
    /// assert_eq!(fiber_sched::run(name).unwrap().as_deref(), Some("worker"));
    /// ```
    pub fn named(self, name: impl Into<Arc<str>>) -> Fiber<T, Named<R>> {
        Fiber::new(Named { run: self.run, name: name.into() })
    }
}

impl<T, R: Clone> Clone for Fiber<T, R> {
    fn clone(&self) -> Self {
        Fiber { run: self.run.clone(), out: PhantomData }
    }
}

impl<T, R> fmt::Debug for Fiber<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fiber<{}>", std::any::type_name::<T>())
    }
}

/// A description with a name.
#[derive(Clone, Debug)]
pub struct Named<R> {
    run: R,
    name: Arc<str>,
}

impl<R: Run> Run for Named<R> {
    type Out = R::Out;

    #[inline]
    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
        self.run.run(cx)
    }

    fn name(&self) -> Option<Arc<str>> {
        Some(self.name.clone())
    }

    fn is_program(&self) -> bool {
        self.run.is_program()
    }

    fn end_unstarted(self, cx: &Cx<'_>) -> Outcome<R::Out> {
        self.run.end_unstarted(cx)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.run.discard(torn);
    }
}

/// A type that [`fiber!`](crate::fiber!) can wait for: a fiber, a `Result`, or the handle of a fiber.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a fiber",
    label = "expected a fiber, a `Result` of an error, or a `Handle`",
    note = "a future is awaited, also in `fiber!`: `future.await`",
    note = "a plain value needs no `let!` or `do!`: use `let` or a plain statement; in `dataflow!`, it is `Fiber::success(value)`"
)]
pub trait IntoFiber {
    /// The value of a success.
    type Out: Send + 'static;
    /// The description that `self` becomes.
    type Run: Run<Out = Self::Out>;

    /// Converts `self` into a fiber.
    #[track_caller]
    fn into_fiber(self) -> Fiber<Self::Out, Self::Run>;
}

#[diagnostic::do_not_recommend]
impl<T: Send + 'static, R: Run<Out = T>> IntoFiber for Fiber<T, R> {
    type Out = T;
    type Run = R;

    #[inline]
    fn into_fiber(self) -> Fiber<T, R> {
        self
    }
}
