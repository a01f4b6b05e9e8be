//! Events that a scheduler may observe, for counts, dumps and traces.

use std::panic::Location;
use std::sync::Weak;

use crate::engine::context::{Context, WaitsFor};
use crate::engine::subject::{Contents, Subject};
use crate::error::{Error, Frame};
use crate::outcome::Outcome;
use crate::panic::Panic;

/// An event of a fiber; see [`Scheduler::observe`](crate::scheduler::Scheduler::observe).
///
/// ```
/// use fiber_core::scheduler::{Ending, Event};
/// use fiber_core::Context;
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
    /// The fiber was created, below `parent`.
    Created {
        /// The fiber right above it.
        parent: &'a Context,
    },
    /// The fiber begins to wait.
    Waits {
        /// The kind of event.
        what: WaitsFor,
        /// The place in the program.
        site: &'static Location<'static>,
        /// The fiber whose end it waits for.
        on: Option<&'a Context>,
        /// The primitive at which it waits.
        at: Option<&'a Subject>,
        /// The number of permits that the fiber asks for, as [`Subject::total`] counts them; 1 if the primitive has none.
        /// `u32::MAX` stands for larger numbers too.
        asks: u32,
    },
    /// The fiber now holds a lock or permits.
    Acquires {
        /// The lock or semaphore.
        of: &'a Subject,
        /// The number of permits, as [`Subject::total`] counts them: 1 for a lock without readers.
        permits: usize,
        /// The place in the program.
        site: &'static Location<'static>,
    },
    /// A lock or permits that the fiber held were released, by the fiber that dropped the guard.
    Releases {
        /// The lock or semaphore.
        of: &'a Subject,
        /// The number of permits.
        permits: usize,
        /// The place in the program where the fiber had acquired it.
        site: &'static Location<'static>,
    },
    /// The fiber uses a primitive that may contain items.
    Uses {
        /// The identity of the primitive.
        of: &'a Subject,
        /// The primitive itself, which reports the number of its items as long as it lives.
        contents: &'a Weak<dyn Contents>,
    },
    /// The fiber yields by `yield_now`: the next task that it schedules continues the fiber itself.
    Yields(Frame),
    /// The fiber's [locals](crate::Fiber::with_local) have changed.
    Locals,
    /// The fiber is cancelled, with everything below it.
    Cancelled,
    /// The fiber is suspended inside an operator with a finalizer, which will run in any case.
    Guarded(Frame),
    /// The fiber begins a finalizer.
    Finalizer(Frame),
    /// The fiber's own work has ended, with this outcome.
    Outcome(Ending<'a>),
    /// The fiber has ended, and so have all its children.
    Ended,
}

/// An [`Outcome`] without its value; see [`Event::Outcome`].
#[derive(Clone, Copy, Debug)]
pub enum Ending<'a> {
    /// The fiber succeeded.
    Success,
    /// The fiber failed.
    Failure(&'a Error),
    /// The fiber panicked.
    Panicked(&'a Panic),
    /// The fiber was cancelled.
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
