//! What [`fiber!`](crate::fiber!) expands to beyond the public API. Not for use by hand.

use std::fmt;
use std::marker::PhantomData;
use std::ops::ControlFlow;

use crate::fiber::{Fiber, IntoFiber};
use crate::step::Run;

/// The type of the value that a block gives. It goes through the block as a value, so that a wrong `return` is an
/// error of that `return`.
pub struct Gives<T>(PhantomData<fn() -> T>);

impl<T> Clone for Gives<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Gives<T> {}

impl<T> fmt::Debug for Gives<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gives")
    }
}

impl<T: Send + 'static> Gives<T> {
    /// A type that is still to be inferred.
    #[expect(clippy::new_without_default, reason = "only the macro makes one")]
    pub fn new() -> Self {
        Gives(PhantomData)
    }

    /// `return value`
    #[inline]
    pub fn value(self, value: T) -> Fiber<T, impl Run<Out = T>> {
        Fiber::success(value)
    }

    /// `return! fiber`
    #[inline]
    #[track_caller]
    pub fn fiber<I: IntoFiber<Out = T>>(self, fiber: I) -> Fiber<T, I::Run> {
        fiber.into_fiber()
    }
}

/// The whole block. The witness comes first: the type that the context expects is known before the body is checked.
#[inline]
#[track_caller]
pub fn block<T, R, F>(gives: Gives<T>, body: F) -> Fiber<T>
where
    T: Send + 'static,
    R: Run<Out = T>,
    F: FnOnce(Gives<T>) -> Fiber<T, R> + Send + 'static,
{
    Fiber::defer(move || body(gives)).boxed()
}

/// What `let!` and `do!` wait for. A function, so that what is no fiber is reported once.
#[inline]
#[track_caller]
pub fn into_fiber<I: IntoFiber>(fiber: I) -> Fiber<I::Out, I::Run> {
    fiber.into_fiber()
}

/// `loop!`, and the rounds of `while!`.
#[inline]
#[track_caller]
pub fn iterate<S, B, R, F>(state: S, round: F) -> Fiber<B, impl Run<Out = B>>
where
    S: Send + 'static,
    B: Send + 'static,
    R: Run<Out = ControlFlow<B, S>>,
    F: FnMut(S) -> Fiber<ControlFlow<B, S>, R> + Send + 'static,
{
    Fiber::iterate(state, round)
}

/// `for!`: one `round` per item. A round answers the state of the next one, or breaks; `end` says what the state
/// comes to when the items run out.
#[track_caller]
pub fn for_each<I, S, B, R, F, E>(items: I, state: S, mut round: F, mut end: E) -> Fiber<B, impl Run<Out = B>>
where
    I: IntoIterator<IntoIter: Send + 'static>,
    S: Send + 'static,
    B: Send + 'static,
    R: Run<Out = ControlFlow<B, S>>,
    F: FnMut(I::Item, S) -> Fiber<ControlFlow<B, S>, R> + Send + 'static,
    E: FnMut(S) -> B + Send + 'static,
{
    let mut items = items.into_iter();
    Fiber::iterate(state, move |state| match items.next() {
        Some(item) => round(item, state).boxed(),
        None => Fiber::success(ControlFlow::Break(end(state))).boxed(),
    })
}

/// One round of `while!`: `round` if the condition holds, and else `end`.
#[track_caller]
pub fn while_true<C, S, B, R, F, E>(
    condition: Fiber<bool, C>,
    state: S,
    round: F,
    end: E,
) -> Fiber<ControlFlow<B, S>, impl Run<Out = ControlFlow<B, S>>>
where
    C: Run<Out = bool>,
    S: Send + 'static,
    B: Send + 'static,
    R: Run<Out = ControlFlow<B, S>>,
    F: FnOnce(S) -> Fiber<ControlFlow<B, S>, R> + Send + 'static,
    E: FnOnce(S) -> B + Send + 'static,
{
    condition.bind(move |holds| {
        if holds { round(state).boxed() } else { Fiber::success(ControlFlow::Break(end(state))).boxed() }
    })
}

/// The condition of `while!`. A function, so that what is no condition is reported once.
#[inline]
pub fn condition<C: Condition>(condition: C) -> Fiber<bool, C::Run> {
    condition.into_condition()
}

/// What `while!` asks before every round.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a condition",
    label = "`while!` wants a `bool` or a fiber of `bool`"
)]
pub trait Condition {
    /// The description that it becomes.
    type Run: Run<Out = bool>;

    /// The condition as a fiber.
    fn into_condition(self) -> Fiber<bool, Self::Run>;
}

impl Condition for bool {
    type Run = crate::leaf::Success<bool>;

    #[inline]
    fn into_condition(self) -> Fiber<bool, Self::Run> {
        Fiber::success(self)
    }
}

impl<R: Run<Out = bool>> Condition for Fiber<bool, R> {
    type Run = R;

    #[inline]
    fn into_condition(self) -> Fiber<bool, R> {
        self
    }
}
