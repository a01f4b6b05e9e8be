//! Errors of `anyhow`, which keep their type and contexts to themselves.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt::{self, Debug, Display};

use super::convert::Standard;
use super::dynamic::{Error, Source, Stored};

/// Lets `?` convert an [`Error`] in functions that return an `anyhow::Error`. That displays what the error displays, its
/// `{:#?}` prints the trace, and its `chain()` contains the source. In `fiber!`, `?` gives the error back.
///
/// ```
/// use fiber_core::{Error, Fiber, fiber};
///
/// fn serve() -> anyhow::Result<()> {
///     fiber_sched::run(Fiber::<()>::fail(std::fmt::Error).context("starting")).into_result()?;
///     Ok(())
/// }
/// let served = serve();
/// let error = served.as_ref().unwrap_err();
/// assert_eq!(error.to_string(), "starting: an error occurred when formatting an argument");
/// assert!(error.chain().any(|cause| cause.is::<std::fmt::Error>()));
///
/// let error = fiber_sched::run(fiber! { served? }).failure().unwrap();
/// assert!(error.is::<std::fmt::Error>());
/// ```
impl From<Error> for anyhow::Error {
    fn from(error: Error) -> Self {
        anyhow::Error::new(Standard(error))
    }
}

/// An error of `anyhow` as a source.
struct Anyhow(anyhow::Error);

impl Display for Anyhow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl Debug for Anyhow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.0, f)
    }
}

impl StdError for Anyhow {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

/// The error in an `Option<anyhow::Error>`.
pub(super) fn converted(error: &mut dyn Any) -> Option<Error> {
    let error = error.downcast_mut::<Option<anyhow::Error>>()?.take()?;
    // `downcast` alone would drop contexts around it.
    if !top(&error).is::<Standard>() {
        return Some(Error::new(Anyhow(error)));
    }
    Some(error.downcast::<Standard>().map_or_else(|error| Error::new(Anyhow(error)), |standard| standard.0))
}

fn top(error: &anyhow::Error) -> &Stored {
    &**error
}

/// The outermost error, if the source is an error of `anyhow`.
pub(super) fn source(stored: &Stored) -> Option<&Stored> {
    stored.downcast_ref::<Anyhow>().map(|Anyhow(error)| top(error))
}

/// The first `E` in an error of `anyhow`. `anyhow` does not tell contexts from causes, so causes count too.
pub(super) fn find<E: StdError + 'static>(stored: &Stored) -> Option<&E> {
    let Anyhow(error) = stored.downcast_ref()?;
    error.chain().find_map(<dyn StdError>::downcast_ref)
}

/// Whether [`unwrapped`] gives an `E`.
pub(super) fn holds<E: StdError + 'static>(stored: &Stored) -> bool {
    stored.downcast_ref::<Anyhow>().is_some_and(|Anyhow(error)| top(error).is::<E>())
}

/// Takes an `E` out of an error of `anyhow` that has no context.
pub(super) fn unwrapped<E: StdError + 'static>(source: Source) -> Result<E, Source> {
    if !holds::<E>(&*source) {
        return Err(source);
    }
    let Anyhow(error) = *source.downcast()?;
    error.reallocate_into_boxed_dyn_error_without_backtrace().downcast().map(|error| *error)
}
