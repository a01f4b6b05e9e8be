//! Errors that several fibers receive.

use std::error::Error as StdError;
use std::fmt;
use std::mem;
use std::sync::Arc;

use super::dynamic::{Error, Stored};

/// An error that several fibers share: that of a [`Promise`](crate::sync::Promise) that was completed with a failure, or of
/// a computation of a [`Cache`](crate::sync::Cache).
///
/// Each fiber receives an [`Error`] of its own, with the context, trace and suppressed errors of the shared one.
/// [`Error::is`], [`Error::downcast_ref`] and [`Error::source`] look through to the source. A handler needs this type only
/// to learn that the error is shared.
#[derive(Clone, Debug)]
pub struct PromiseFailed(Arc<Error>);

impl PromiseFailed {
    /// Shares an error, and also each error that is suppressed in it.
    pub(crate) fn new(mut error: Error) -> Self {
        for suppressed in error.unseen_mut() {
            // The error that is left for a moment is dropped at once.
            let own = mem::replace(suppressed, Error::new(fmt::Error));
            *suppressed = PromiseFailed::new(own).to_error();
        }
        // One that was passed on from promise to promise would nest: what is in between has left its past to the error.
        while let Some(source) = PromiseFailed::of(error.stored()).and_then(PromiseFailed::wrapped).cloned() {
            error.replace_source(Box::new(source));
        }
        PromiseFailed(Arc::new(error))
    }

    /// The shared error of which this adds only what [`to_error`](PromiseFailed::to_error) copies.
    fn wrapped(&self) -> Option<&Self> {
        if self.0.has_more_than_past() { None } else { PromiseFailed::of(self.0.stored()) }
    }

    /// The error for one of the fibers.
    pub(crate) fn to_error(&self) -> Error {
        let shared = |error: &Error| PromiseFailed::of(error.stored()).map(PromiseFailed::to_error);
        let suppressed = self.0.unseen().iter().filter_map(shared).collect();
        Error::new(self.clone()).with_past(self.0.inner().trace.clone(), suppressed)
    }

    pub(super) fn of(stored: &Stored) -> Option<&Self> {
        stored.downcast_ref()
    }

    /// The error that the promise was completed with.
    pub fn error(&self) -> &Error {
        &self.0
    }
}

impl fmt::Display for PromiseFailed {
    /// One line; the error of each fiber has the details.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl StdError for PromiseFailed {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source().source()
    }
}
