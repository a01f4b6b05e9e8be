//! What goes wrong while an outcome is on its way: the failure of a finalizer or of a sibling, and the panic of a drop.
//!
//! The outcome keeps it as suppressed. A panic among that is a defect, which a handler of the outcome may not even look at: it then goes
//! to [`Scheduler::unobserved`](crate::Scheduler::unobserved) when it is dropped.

use std::mem::needs_drop;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::context::{Context, Cx};
use crate::engine::scheduler::Unobserved;
use crate::engine::step::{Run, Step};
use crate::error::{Error, Witness};
use crate::outcome::{Outcome, Panic, guard};

/// What leads to a fiber's context, which may be made by that.
pub trait HasContext {
    /// The context.
    fn context(&self) -> &Context;
}

impl HasContext for Context {
    fn context(&self) -> &Context {
        self
    }
}

impl HasContext for Cx<'_> {
    fn context(&self) -> &Context {
        Cx::context(self)
    }
}

impl<T> Outcome<T> {
    /// Adds what went wrong in `other`, if anything did, to what went wrong here. A success or cancellation here becomes the
    /// other's failure: nothing that went wrong is lost. `fiber`: the one that both belong to.
    pub(crate) fn suppress<U>(self, other: Outcome<U>, fiber: &impl HasContext) -> Self {
        let wrong: Outcome<T> = match other.split() {
            Ok(_) | Err(Outcome::Cancelled) => return self,
            Err(wrong) => wrong,
        };
        match self {
            Outcome::Success(value) => wrong.without(value, fiber),
            Outcome::Cancelled => wrong,
            Outcome::Failure(mut error) => {
                wrong.into_suppressed(fiber).into_iter().for_each(|wrong| error.suppress(wrong));
                Outcome::Failure(error)
            }
            Outcome::Panicked(mut panic) => {
                wrong.into_suppressed(fiber).into_iter().for_each(|wrong| panic.suppress(wrong));
                Outcome::Panicked(panic)
            }
        }
    }

    fn into_suppressed(self, fiber: &impl HasContext) -> Option<Error> {
        match self {
            Outcome::Failure(error) => Some(error),
            Outcome::Panicked(panic) => Some(Unseen::watch(panic, fiber)),
            Outcome::Success(_) | Outcome::Cancelled => None,
        }
    }

    /// The outcome when `unused`, which may be the user's, is dropped. A panic of that drop becomes the outcome of the fiber; a failure
    /// is then suppressed into it.
    ///
    /// What has several parts is given part by part: two panics in one drop would abort the process.
    #[inline]
    pub(crate) fn without<D>(self, unused: D, fiber: &impl HasContext) -> Self {
        // A constant, so that nothing is compiled for what has nothing to drop.
        if const { needs_drop::<D>() }
            && let Err(panic) = guard(|| drop(unused))
        {
            return self.torn_by(panic, fiber);
        }
        self
    }

    /// Like `without`, for a description that does not run.
    #[inline]
    pub(crate) fn without_run<R: Run>(self, unused: R, fiber: &impl HasContext) -> Self {
        self.without_parts(unused, R::discard, fiber)
    }

    /// Like `without`, for what `discard` drops part by part.
    #[inline]
    pub(crate) fn without_parts<D>(
        self,
        unused: D,
        discard: impl FnOnce(D, &mut Vec<Panic>),
        fiber: &impl HasContext,
    ) -> Self {
        if const { !needs_drop::<D>() } {
            return self;
        }
        let mut torn = Vec::new();
        discard(unused, &mut torn);
        torn.into_iter().fold(self, |outcome, panic| outcome.torn_by(panic, fiber))
    }

    #[cold]
    fn torn_by(self, mut panic: Panic, fiber: &impl HasContext) -> Self {
        match self {
            Outcome::Success(value) => Outcome::Panicked(panic).without(value, fiber),
            Outcome::Failure(error) => {
                panic.suppress(error);
                Outcome::Panicked(panic)
            }
            Outcome::Panicked(first) => {
                Outcome::Panicked(first).suppress(Outcome::<()>::Panicked(panic), fiber)
            }
            Outcome::Cancelled => Outcome::Panicked(panic),
        }
    }
}

impl Cx<'_> {
    /// The answer of a description that starts in a cancelled fiber: it is dropped.
    #[inline]
    pub(crate) fn refuse<R: Run, S>(&self, unused: R) -> Step<R::Out, S> {
        Step::Done(Outcome::Cancelled.without_run(unused, self))
    }
}

/// Drops what may be the user's where no outcome is left that could tell of a panic: that goes to the hook.
pub(crate) fn discard<D>(unused: D, fiber: &impl HasContext) {
    Unobserved::report(fiber, &Outcome::Success(()).without(unused, fiber));
}

/// The report of a suppressed panic, made when it is dropped unseen.
struct Unseen {
    report: Unobserved,
    is_seen: AtomicBool,
}

impl Unseen {
    fn watch(panic: Panic, fiber: &impl HasContext) -> Error {
        let report = Unobserved::of_suppressed(fiber.context(), &panic);
        panic.into_error().watched_by(Box::new(Unseen { report, is_seen: AtomicBool::new(false) }))
    }
}

impl Witness for Unseen {
    fn see(&self) {
        // Relaxed: the flag is read by the drop only, and whoever drops the error is ordered after those who saw it.
        self.is_seen.store(true, Ordering::Relaxed);
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        if !*self.is_seen.get_mut() {
            self.report.tell();
        }
    }
}
