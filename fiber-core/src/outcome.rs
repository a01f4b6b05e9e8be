//! The ways a fiber ends.
//!
//! There are four separate cases: a value, an expected failure, a defect, and a cancellation.

use crate::error::{Cancelled, Error, Frame, IntoError};
use crate::panic::Panic;

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
    /// A panic becomes a [`Panicked`](crate::error::Panicked), which displays its message; a cancellation becomes [`Cancelled`].
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

impl<T, E: IntoError> From<Result<T, E>> for Outcome<T> {
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(value) => Outcome::Success(value),
            Err(error) => Outcome::Failure(error.into_error()),
        }
    }
}
