//! The output of the `async` block of a [`fiber!`](crate::fiber!).

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use crate::engine::boxed::Boxed;
use crate::engine::step::Run;
use crate::error::{Error, Frame, IntoError, Site};
use crate::fiber::IntoFiber;

/// Why a block ends without a value: the `Err` of its future.
#[derive(Debug)]
pub struct Stop<T>(pub(super) Leaving<T>);

#[derive(Debug)]
pub(super) enum Leaving<T> {
    Failed(Error),
    /// It continues as this fiber, from this place. The flag says whether code of the block may have run before.
    Tail(Boxed<T>, Site, bool),
}

impl<T, E: IntoError> From<E> for Stop<T> {
    /// `result?`. The caller's location is that of the `?`.
    #[track_caller]
    fn from(error: E) -> Self {
        Stop::failed(error, Frame::new("?", Location::caller()))
    }
}

impl<T> Stop<T> {
    pub(crate) fn failed(error: impl IntoError, frame: Frame) -> Self {
        Stop(Leaving::Failed(error.into_error().passed(frame)))
    }
}

/// The type of the value of a block. The expansion begins with a `Gives`, so that the type is known before the body is
/// checked, and the compiler reports a wrong `return` at that `return`.
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
    #[doc(hidden)]
    pub fn new() -> Self {
        Gives(PhantomData)
    }

    /// `return value`
    ///
    /// # Errors
    /// Never.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn value(self, value: T) -> Result<T, Stop<T>> {
        Ok(value)
    }

    /// `return! fiber`. Code of the block may have run before it in the same turn.
    ///
    /// # Errors
    /// Always: the block ends without a value of its own.
    #[doc(hidden)]
    #[inline]
    #[track_caller]
    pub fn fiber<I: IntoFiber<Out = T>>(self, fiber: I) -> Result<T, Stop<T>> {
        Err(Stop(Leaving::Tail(fiber.into_fiber().into_run().boxed(), Location::caller(), true)))
    }

    /// As [`fiber`](Gives::fiber), where the block has run no code yet, except between waits.
    ///
    /// # Errors
    /// As [`fiber`](Gives::fiber).
    #[doc(hidden)]
    #[inline]
    #[track_caller]
    pub fn fiber_first<I: IntoFiber<Out = T>>(self, fiber: I) -> Result<T, Stop<T>> {
        Err(Stop(Leaving::Tail(fiber.into_fiber().into_run().boxed(), Location::caller(), false)))
    }
}
