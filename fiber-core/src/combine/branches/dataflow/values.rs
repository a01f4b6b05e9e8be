//! The values between the steps of a dataflow, and the expressions that read them.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use crate::engine::step::Run;
use crate::error::{Error, Frame, IntoError, Site};
use crate::fiber::Fiber;
use crate::panic::{Panic, discard_part};

/// What is kept until a step uses it: a variable, which is the value of a step, or a value that the block has captured for several steps; or
/// the expression of a step. Each of them may panic when it is dropped. Only the first of these panics unwinds; two would abort the process.
pub struct Value<T>(Option<T>);

const EMPTY: &str = "a step starts after its inputs have values";

impl<T> Value<T> {
    /// The variable of a step.
    #[doc(hidden)]
    #[inline]
    pub fn new() -> Self {
        Value(None)
    }

    /// A captured variable.
    #[doc(hidden)]
    #[inline]
    pub fn of(captured: T) -> Self
    where
        T: Send + 'static,
    {
        Value(Some(captured))
    }

    /// Stores the value of the step.
    #[doc(hidden)]
    #[inline]
    pub fn put(&mut self, value: T) {
        self.0 = Some(value);
    }

    /// Borrows the value for a step.
    #[inline]
    pub fn get(&self) -> &T {
        self.0.as_ref().expect(EMPTY)
    }

    /// Moves the value out for the only step that reads it.
    #[inline]
    pub fn take(&mut self) -> T {
        self.0.take().expect(EMPTY)
    }
}

impl<T> Drop for Value<T> {
    #[inline]
    fn drop(&mut self) {
        let mut torn = Vec::new();
        discard_part(self.0.take(), &mut torn);
        Panic::rethrow(torn);
    }
}

impl<T> fmt::Debug for Value<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "kept" } else { "gone" })
    }
}

/// A copy of the value, for a step that takes it while others read it too.
#[doc(hidden)]
#[inline]
pub fn copied<T: Copied>(value: &Value<T>) -> T {
    *value.get()
}

/// A type whose values several steps may take.
#[diagnostic::on_unimplemented(
    message = "this step takes a `{Self}`, and a step further down reads it too: borrow it here (`&value`), or take a clone of it",
    note = "a closure with `move`, an `async` block and the input of another macro take what they name: begin with \
            `let copy = value.clone();` in a block"
)]
pub trait Copied: Copy {}

#[diagnostic::do_not_recommend]
impl<T: Copy> Copied for T {}

/// For the last of several steps that read a value: a value that is not `Copy` is moved into it, once the others have
/// started.
///
/// The macro calls the methods on a `&mut &mut Value<T>`. The compiler first looks for an impl for `&mut Value<T>`, which
/// exists if the value is `Copy`.
pub trait Own<T> {
    /// Whether the step has to wait until the others have started.
    fn is_moved(&mut self) -> bool;
    /// The value.
    fn own(&mut self) -> T;
}

impl<T: Copy> Own<T> for &mut Value<T> {
    #[inline]
    fn is_moved(&mut self) -> bool {
        false
    }

    #[inline]
    fn own(&mut self) -> T {
        *self.get()
    }
}

impl<T> Own<T> for Value<T> {
    #[inline]
    fn is_moved(&mut self) -> bool {
        true
    }

    #[inline]
    fn own(&mut self) -> T {
        self.take()
    }
}

/// A step of a dataflow: evaluates its expression.
#[derive(Debug)]
pub struct Step<F> {
    make: Value<F>,
    site: Site,
}

/// Declares a step. `_` tells the type of the values.
#[doc(hidden)]
#[inline]
#[track_caller]
pub fn step<V, R, F>(_: &V, make: F) -> Step<F>
where
    R: Run,
    F: FnOnce(&mut V) -> Result<Made<V, R>, Failed> + Send + 'static,
{
    Step { make: Value(Some(make)), site: Location::caller() }
}

impl<F> Step<F> {
    /// The parts that the engine needs for the step, which starts once.
    #[inline]
    pub(super) fn take(&mut self) -> (F, Site) {
        (self.make.0.take().expect("a step is started once"), self.site)
    }
}

/// The fiber of a step, and the function that stores its value.
///
/// A function pointer stores the value, so that all steps whose fibers have the same type share the code that runs them. The
/// pointer is made here and not kept in the [`Step`], whose type would then name all variables: the type names in a
/// dataflow would grow with the square of its length.
#[derive(Debug)]
pub struct Made<V, R: Run> {
    pub(super) run: R,
    pub(super) put: Put<V, R::Out>,
}

/// Stores the value of a step.
pub(super) type Put<V, T> = fn(&mut V, T);

/// The result of evaluating the expression of a step.
#[doc(hidden)]
#[inline]
pub fn made<V, R: Run>(fiber: Fiber<R::Out, R>, put: fn(&mut V, R::Out)) -> Made<V, R> {
    Made { run: fiber.into_run(), put }
}

/// Declares the end of a dataflow, which makes its value. The expansion begins with the marker of the value's type, so that the compiler reports
/// a wrong `return` at its place.
#[doc(hidden)]
#[inline]
pub fn end<V, T, F>(_: PhantomData<fn() -> T>, _: &V, make: F) -> End<F>
where
    F: FnOnce(&mut V) -> Result<T, Failed> + Send + 'static,
{
    End(Value(Some(make)))
}

/// The end of a dataflow.
#[derive(Debug)]
pub struct End<F>(Value<F>);

impl<F> End<F> {
    /// Makes the value of the dataflow.
    ///
    /// # Errors
    /// That of a `?`.
    #[doc(hidden)]
    #[inline]
    pub fn make<V, T>(&mut self, values: &mut V) -> Result<T, Failed>
    where
        F: FnOnce(&mut V) -> Result<T, Failed>,
    {
        (self.0.0.take().expect("a dataflow ends once"))(values)
    }
}

/// The error of a `?` in an expression of a dataflow.
#[derive(Debug)]
pub struct Failed(pub(super) Error);

impl<E: IntoError> From<E> for Failed {
    #[track_caller]
    fn from(error: E) -> Self {
        Failed(error.into_error().passed(Frame::new("?", Location::caller())))
    }
}
