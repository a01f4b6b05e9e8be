//! What a scheduler may learn about its fibers: for counts, dumps and traces.

use std::panic::Location;

use crate::engine::context::{Context, WaitsFor};
use crate::error::{Error, Frame};
use crate::outcome::{Outcome, Panic};

/// Something that happens to a fiber; see [`Scheduler::observe`](crate::Scheduler::observe).
///
/// ```
/// use fiber_core::{Context, Ending, Event};
///
/// /// A line for a log, for what is worth one.
/// fn line(context: &Context, event: Event<'_>) -> Option<String> {
///     match event {
///         Event::Waits { what, site, .. } => Some(format!("{context} waits for {what} at {site}")),
///         Event::Outcome(Ending::Failure(error)) => Some(format!("{context} failed: {error}")),
///         _ => None,
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// It exists from now on, below `parent`.
    Created {
        /// The fiber right above it.
        parent: &'a Context,
    },
    /// It begins to wait.
    Waits {
        /// What for.
        what: WaitsFor,
        /// Where in the program.
        site: &'static Location<'static>,
        /// The fiber whose end it waits for.
        on: Option<&'a Context>,
    },
    /// It makes place for others, by `yield_now`: what it schedules next is its rest.
    Yields(Frame),
    /// It is cancelled, and all below it.
    Cancelled,
    /// It is suspended inside of something that has a finalizer, which will run in any case.
    Guarded(Frame),
    /// It begins a finalizer.
    Finalizer(Frame),
    /// Its work is over, with this outcome.
    Outcome(Ending<'a>),
    /// It is gone, and so are all its children.
    Ended,
}

/// An [`Outcome`] without its value; see [`Event::Outcome`].
#[derive(Clone, Copy, Debug)]
pub enum Ending<'a> {
    /// It succeeded.
    Success,
    /// It failed.
    Failure(&'a Error),
    /// It panicked.
    Panicked(&'a Panic),
    /// It was cancelled.
    Cancelled,
}

impl<'a, T> From<&'a Outcome<T>> for Ending<'a> {
    fn from(outcome: &'a Outcome<T>) -> Self {
        match outcome {
            Outcome::Success(_) => Ending::Success,
            Outcome::Failure(error) => Ending::Failure(error),
            Outcome::Panicked(panic) => Ending::Panicked(panic),
            Outcome::Cancelled => Ending::Cancelled,
        }
    }
}
