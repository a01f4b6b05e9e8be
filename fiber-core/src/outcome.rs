//! The ways a fiber ends.
//!
//! There are four separate cases: a value, an expected failure, a defect, and a cancellation.

use std::any::Any;
use std::fmt;
use std::mem::{forget, needs_drop, replace, take};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::panicking;

use crate::error::{self, Cancelled, Error, Frame, Panicked, Trace};

/// The end of a fiber.
///
/// | case | meaning | seen by |
/// |---|---|---|
/// | `Success` | a value | `bind`, `map`, `tap` |
/// | `Failure` | an expected error | `catch`, `or_else`, `retry` |
/// | `Panicked` | a defect: a closure of the program panicked | `catch_panic` |
/// | `Cancelled` | the fiber was cancelled; there is no value | finalizers |
///
/// `map_outcome`, `ensure` and `on_outcome` see all four.
///
/// ```
/// use fiber_core::{Fiber, Outcome};
///
/// let outcome = fiber_sched::run(Fiber::success(6).map(|n| n * 7));
/// assert_eq!(outcome.unwrap(), 42);
/// ```
#[must_use = "an outcome may be a failure, which should be looked at"]
#[derive(Debug)]
pub enum Outcome<T> {
    /// The fiber succeeded with a value.
    Success(T),
    /// The fiber failed with an error that the program expects.
    Failure(Error),
    /// A closure of the program panicked.
    Panicked(Panic),
    /// The fiber was cancelled.
    Cancelled,
}

impl<T> Outcome<T> {
    /// Applies `f` to the value of a success; keeps every other case.
    ///
    /// ```
    /// use fiber_core::Outcome;
    /// assert_eq!(Outcome::Success(2).map(|n| n + 1).unwrap(), 3);
    /// ```
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Outcome::Success(value) => Outcome::Success(f(value)),
            Outcome::Failure(error) => Outcome::Failure(error),
            Outcome::Panicked(panic) => Outcome::Panicked(panic),
            Outcome::Cancelled => Outcome::Cancelled,
        }
    }

    /// The value, or an [`Error`] that says why there is none.
    ///
    /// A panic becomes a [`Panicked`], which displays its message; a cancellation becomes [`Cancelled`].
    ///
    /// ```
    /// use fiber_core::{Outcome, error::Cancelled};
    /// let outcome: Outcome<()> = Outcome::Cancelled;
    /// assert!(outcome.into_result().unwrap_err().is::<Cancelled>());
    /// ```
    ///
    /// # Errors
    /// In every case but `Success`.
    pub fn into_result(self) -> Result<T, Error> {
        match self {
            Outcome::Success(value) => Ok(value),
            Outcome::Failure(error) => Err(error),
            Outcome::Panicked(panic) => Err(panic.into_error()),
            Outcome::Cancelled => Err(Error::new(Cancelled)),
        }
    }

    /// The value of a success, or `None`.
    ///
    /// ```
    /// use fiber_core::Outcome;
    /// assert_eq!(Outcome::Success(1).success(), Some(1));
    /// ```
    pub fn success(self) -> Option<T> {
        match self {
            Outcome::Success(value) => Some(value),
            _ => None,
        }
    }

    /// The error of a failure, or `None`.
    ///
    /// ```
    /// use fiber_core::{Error, Outcome};
    /// let outcome: Outcome<()> = Outcome::Failure(Error::msg("no"));
    /// assert_eq!(outcome.failure().unwrap().to_string(), "no");
    /// ```
    pub fn failure(self) -> Option<Error> {
        match self {
            Outcome::Failure(error) => Some(error),
            _ => None,
        }
    }

    /// The value of a success.
    ///
    /// ```
    /// use fiber_core::Outcome;
    /// assert_eq!(Outcome::Success('x').unwrap(), 'x');
    /// ```
    ///
    /// # Panics
    /// In every other case, with the error's trace or the panic's message.
    #[track_caller]
    pub fn unwrap(self) -> T {
        match self {
            Outcome::Success(value) => value,
            Outcome::Failure(error) => panic!("the fiber failed: {error:?}"),
            Outcome::Panicked(panic) => panic!("the fiber panicked: {panic:?}"),
            Outcome::Cancelled => panic!("the fiber was cancelled"),
        }
    }

    /// Whether this is `Success`.
    pub fn is_success(&self) -> bool {
        matches!(self, Outcome::Success(_))
    }

    /// Whether this is `Failure`.
    pub fn is_failure(&self) -> bool {
        matches!(self, Outcome::Failure(_))
    }

    /// Whether this is `Panicked`.
    pub fn is_panicked(&self) -> bool {
        matches!(self, Outcome::Panicked(_))
    }

    /// Whether this is `Cancelled`.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Outcome::Cancelled)
    }

    /// Whether this is a failure or a panic.
    pub(crate) fn is_wrong(&self) -> bool {
        self.is_failure() || self.is_panicked()
    }

    /// The value, or the other cases as an outcome of another type.
    #[inline]
    pub(crate) fn split<U>(self) -> Result<T, Outcome<U>> {
        match self {
            Outcome::Success(value) => Ok(value),
            Outcome::Failure(error) => Err(Outcome::Failure(error)),
            Outcome::Panicked(panic) => Err(Outcome::Panicked(panic)),
            Outcome::Cancelled => Err(Outcome::Cancelled),
        }
    }

    /// Adds `frame` to the trace of a failure or panic.
    #[inline]
    pub(crate) fn passed(self, frame: Frame) -> Self {
        match self {
            Outcome::Failure(error) => Outcome::Failure(error.passed(frame)),
            Outcome::Panicked(panic) => Outcome::Panicked(panic.passed(frame)),
            other => other,
        }
    }
}

impl<T, E: Into<Error>> From<Result<T, E>> for Outcome<T> {
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(value) => Outcome::Success(value),
            Err(error) => Outcome::Failure(error.into()),
        }
    }
}

/// A panic of a closure, caught by the operator that called the closure.
///
/// `Debug` prints the message, and the operators that the panic passed.
///
/// Dropping it does not panic, even if the drop of the payload does; the panic hook reports that.
pub struct Panic(Box<Inner>);

struct Inner {
    payload: Box<dyn Any + Send>,
    trace: Trace,
    suppressed: Vec<Error>,
}

/// The one place where payloads end.
impl Drop for Inner {
    fn drop(&mut self) {
        let payload = replace(&mut self.payload, Box::new(()));
        if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            // Its drop may panic in the same way, without end.
            forget(again);
        }
        take(&mut self.suppressed).into_iter().for_each(|error| catch_panic(|| drop(error)));
    }
}

impl Panic {
    /// Wraps the payload that `catch_unwind` returned. A `Panic` that was rethrown stays as it was.
    #[cold]
    pub fn new(payload: Box<dyn Any + Send>) -> Self {
        match payload.downcast::<Panic>() {
            Ok(panic) => *panic,
            Err(payload) => {
                Panic(Box::new(Inner { payload, trace: Trace::default(), suppressed: Vec::new() }))
            }
        }
    }

    /// The message, if the payload is a string, as the payload of `panic!` is.
    ///
    /// ```
    /// use fiber_core::{Fiber, Outcome};
    /// # std::panic::set_hook(Box::new(|_| {}));
    /// let outcome = fiber_sched::run(Fiber::lazy(|| -> u8 { panic!("out of tea") }));
    /// let Outcome::Panicked(panic) = outcome else { unreachable!() };
    /// assert_eq!(panic.message(), "out of tea");
    /// ```
    pub fn message(&self) -> &str {
        let payload = &*self.0.payload;
        payload
            .downcast_ref::<&'static str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("a panic whose payload is not a string")
    }

    /// The payload, for `std::panic::resume_unwind`.
    ///
    /// ```
    /// use fiber_core::Panic;
    /// assert!(Panic::new(Box::new(7)).into_payload().is::<i32>());
    /// ```
    pub fn into_payload(mut self) -> Box<dyn Any + Send> {
        replace(&mut self.0.payload, Box::new(()))
    }

    /// A payload to rethrow, from which [`Panic::new`] restores this panic.
    pub(crate) fn into_thrown(self) -> Box<dyn Any + Send> {
        let is_bare = self.0.trace.frames().is_empty() && self.0.suppressed.is_empty();
        if is_bare { self.into_payload() } else { Box::new(self) }
    }

    /// The operators that the panic passed, innermost first.
    pub fn trace(&self) -> &[Frame] {
        self.0.trace.frames()
    }

    /// Errors of finalizers and of siblings that failed while this panic propagated. Panics among them now count as
    /// seen; see [`Error::suppressed`].
    pub fn suppressed(&self) -> &[Error] {
        error::seen(&self.0.suppressed)
    }

    /// An ordinary error, a [`Panicked`], which displays the message and keeps the trace.
    ///
    /// ```
    /// use fiber_core::{Panic, error::Panicked};
    /// let error = Panic::new(Box::new("out of tea")).into_error();
    /// assert!(error.is::<Panicked>());
    /// ```
    pub fn into_error(mut self) -> Error {
        let panicked = Panicked::new(self.message().to_owned());
        Error::new(panicked).with_past(take(&mut self.0.trace), take(&mut self.0.suppressed))
    }

    // By value, as in `Error::passed`.
    #[cold]
    fn passed(mut self, frame: Frame) -> Self {
        self.0.trace.push(frame);
        self
    }

    /// The suppressed panics that have no witness yet.
    pub(crate) fn unwatched(&self) -> impl Iterator<Item = &Error> {
        self.0.suppressed.iter().filter(|error| error.owns::<Panicked>() && !error.is_watched())
    }

    /// The first panic, with the others suppressed into it.
    pub(crate) fn join(panics: Vec<Panic>) -> Option<Panic> {
        panics.into_iter().reduce(|mut first, other| {
            first.suppress(other.into_error());
            first
        })
    }

    /// Panics with the first panic at the end of a drop, unless another one unwinds: two at a time would abort the process.
    pub(crate) fn rethrow(panics: Vec<Panic>) {
        match Panic::join(panics) {
            Some(panic) if !panicking() => resume_unwind(panic.into_thrown()),
            _ => {}
        }
    }

    pub(crate) fn suppress(&mut self, error: Error) {
        error.join_suppressed(&mut self.0.suppressed);
    }
}

/// Drops the source and the suppressed errors one by one, because each of these drops may panic.
impl Drop for Error {
    #[inline]
    fn drop(&mut self) {
        let Some((source, suppressed)) = self.dismantle() else { return };
        let mut torn = Vec::new();
        discard_part(source, &mut torn);
        suppressed.into_iter().for_each(|error| discard_part(error, &mut torn));
        Panic::rethrow(torn);
    }
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "panic: {}", self.message())
    }
}

impl fmt::Debug for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}{}", self.0.trace)?;
        self.0.suppressed.iter().try_for_each(|error| write!(f, "\nsuppressed: {error:?}"))
    }
}

/// Calls a user closure under the panic guard.
#[inline]
pub(crate) fn guard<T>(f: impl FnOnce() -> T) -> Result<T, Panic> {
    // A closure that panicked is consumed and never called again, so the program cannot observe its broken invariants.
    catch_unwind(AssertUnwindSafe(f)).map_err(Panic::new)
}

/// Drops one of several parts, and adds a panic of its drop to `torn`. Two panics in one drop would abort the process.
#[inline]
pub(crate) fn discard_part<D>(unused: D, torn: &mut Vec<Panic>) {
    // A constant, so that nothing is compiled for a type without a drop.
    if const { needs_drop::<D>() }
        && let Err(panic) = guard(|| drop(unused))
    {
        torn.push(panic);
    }
}

/// Calls code and ignores its panics, which the panic hook has reported.
#[inline]
pub(crate) fn catch_panic(f: impl FnOnce()) {
    drop(guard(f));
}
