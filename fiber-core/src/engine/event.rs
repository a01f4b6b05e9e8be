//! Events that a scheduler may observe, for counts, dumps and traces.

use std::panic::Location;
use std::sync::Weak;

use crate::engine::context::{Context, WaitsFor};
use crate::engine::subject::{Contents, Subject};
use crate::error::{Error, Frame};
use crate::outcome::{Outcome, Panic};

/// An event of a fiber; see [`Scheduler::observe`](crate::Scheduler::observe).
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
    /// The fiber was created, below `parent`.
    Created {
        /// The fiber right above it.
        parent: &'a Context,
    },
    /// The fiber begins to wait.
    Waits {
        /// What it waits for.
        what: WaitsFor,
        /// Where in the program it waits.
        site: &'static Location<'static>,
        /// The fiber whose end it waits for.
        on: Option<&'a Context>,
        /// The primitive at which it waits.
        at: Option<&'a Subject>,
        /// How many permits of it the fiber asks for; 1 if it has none. `u32::MAX` stands for more, too.
        asks: u32,
    },
    /// The fiber now holds a lock or permits.
    Acquires {
        /// Which lock or semaphore.
        of: &'a Subject,
        /// How many permits; 1 for a lock. See [`Subject::total`].
        permits: usize,
        /// Where in the program.
        site: &'static Location<'static>,
    },
    /// What the fiber held was given back, by whichever fiber dropped the guard.
    Releases {
        /// Which lock or semaphore.
        of: &'a Subject,
        /// How many permits.
        permits: usize,
        /// Where in the program the fiber had acquired it.
        site: &'static Location<'static>,
    },
    /// The fiber uses a primitive that may have items in it.
    Uses {
        /// Which one.
        of: &'a Subject,
        /// The primitive. It tells how many items are left, as long as it lives.
        contents: &'a Weak<dyn Contents>,
    },
    /// The fiber yields by `yield_now`: the next task that it schedules is its own rest.
    Yields(Frame),
    /// The fiber carries other [locals](crate::Fiber::with_local) than before.
    Locals,
    /// The fiber is cancelled, with everything below it.
    Cancelled,
    /// The fiber is suspended inside an operator with a finalizer, which will run in any case.
    Guarded(Frame),
    /// The fiber begins a finalizer.
    Finalizer(Frame),
    /// The fiber's work is over, with this outcome.
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
