//! Conversions between [`Error`] and the dynamic errors of other code: boxes of standard errors, and `anyhow::Error`.
//!
//! `Error` cannot be a standard error itself, because every standard error converts into it. Neither can those dynamic errors
//! convert into it by `From`: the compiler allows no such impl beside that for all standard errors, because they may
//! become standard errors in a later version of their crates. [`IntoError`] is the conversion for all of them.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt::{self, Display};

use super::anyhow;
use super::dynamic::{Error, Source};

/// Any error that converts into an [`Error`]: standard errors, `Box<dyn std::error::Error + Send + Sync>`, `anyhow::Error`,
/// messages (`&'static str`, `String`), and `Error` itself. These are the errors that [`Fiber::fail`](crate::Fiber::fail) and all other
/// operators take, that `?` converts in [`fiber!`](crate::fiber!) and [`dataflow!`](crate::dataflow!), and that the future of a
/// [`Fiber::block`](crate::Fiber::block) may return.
///
/// ```
/// use fiber_core::fiber;
///
/// fn parse(text: &str) -> Result<u16, Box<dyn std::error::Error + Send + Sync>> {
///     Ok(text.parse()?)
/// }
/// let error = fiber_sched::run(fiber! { parse("http")? }).failure().unwrap();
/// assert!(error.is::<std::num::ParseIntError>());
/// ```
///
/// In a function that returns `Result<_, Error>`, where `?` converts standard errors only, call it by name:
///
/// ```
/// use fiber_core::{Error, error::IntoError};
///
/// fn port(text: &str) -> Result<u16, Error> {
///     let checked: Result<u16, Box<dyn std::error::Error + Send + Sync>> = Err("no port".into());
///     checked.map_err(IntoError::into_error)
/// }
/// assert_eq!(port("http").unwrap_err().to_string(), "no port");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an error",
    label = "expected a standard error that is `Send + Sync + 'static`, a message, or an `Error`",
    note = "what has a `Display` becomes an error by `Error::msg(value)`"
)]
pub trait IntoError: 'static {
    /// Converts into an [`Error`]. An `Error` that was converted into another type before is given back, with its trace.
    fn into_error(self) -> Error;
}

#[diagnostic::do_not_recommend]
impl<E: Into<Box<dyn StdError + Send + Sync>> + 'static> IntoError for E {
    #[cold]
    fn into_error(self) -> Error {
        let mut this = Some(self);
        let error: &mut dyn Any = &mut this;
        // An `Error` needs no box.
        if let Some(error) = error.downcast_mut::<Option<Error>>().and_then(Option::take) {
            return error;
        }
        if let Some(error) = anyhow::converted(error) {
            return error;
        }
        Error::from_boxed(this.expect("it is of another type").into())
    }
}

impl Error {
    /// Makes an error from a boxed error. A box that was made from an `Error` gives that error back, with its trace.
    ///
    /// ```
    /// use fiber_core::Error;
    ///
    /// let boxed: Box<dyn std::error::Error + Send + Sync> = "no such host".into();
    /// assert_eq!(Error::from_boxed(boxed).context("connecting").to_string(), "connecting: no such host");
    /// ```
    #[cold]
    pub fn from_boxed(source: Box<dyn StdError + Send + Sync>) -> Self {
        match source.downcast::<Standard>() {
            Ok(standard) => standard.0,
            Err(source) => Error::from_source(source),
        }
    }
}

/// Lets `?` convert an [`Error`] in functions that return a boxed standard error, as many `main` functions do. The box
/// displays what the error displays, and its `Debug` prints the trace. Its `source()` is the source of the error, so code
/// that walks the causes finds it. A report that prints all causes therefore repeats its message.
///
/// ```
/// use fiber_core::{Error, Fiber};
///
/// fn serve() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
///     fiber_sched::run(Fiber::<()>::fail(std::fmt::Error).context("starting")).into_result()?;
///     Ok(())
/// }
/// let error = serve().unwrap_err();
/// assert_eq!(error.to_string(), "starting: an error occurred when formatting an argument");
/// assert!(error.source().unwrap().is::<std::fmt::Error>());
/// ```
impl From<Error> for Box<dyn StdError + Send + Sync> {
    fn from(error: Error) -> Self {
        Box::new(Standard(error))
    }
}

/// As above, for a box that is neither `Send` nor `Sync`.
impl From<Error> for Box<dyn StdError> {
    fn from(error: Error) -> Self {
        Box::new(Standard(error))
    }
}

/// As above, for a box that is not `Sync`.
impl From<Error> for Box<dyn StdError + Send> {
    fn from(error: Error) -> Self {
        Box::new(Standard(error))
    }
}

/// An [`Error`] as a standard error.
pub(super) struct Standard(pub(super) Error);

impl Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl StdError for Standard {
    /// The source of the error, because this type is private, and would hide it.
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(self.0.source())
    }
}

/// The error that has become this standard error.
pub(super) fn standard<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Error> {
    error.downcast_ref().map(|Standard(error)| error)
}

/// Takes the source out of its box, if it is an `E`.
pub(super) fn unboxed<E: StdError + 'static>(source: Source) -> Result<E, Source> {
    match source.downcast() {
        Ok(source) => Ok(*source),
        Err(source) => anyhow::unwrapped(source),
    }
}
