//! Failures beside an outcome: of a finalizer, of a sibling, or of a drop that panics.
//!
//! The outcome keeps them as suppressed errors. A panic among them is a defect. If the handler of the outcome does not
//! inspect it, the panic goes to [`Scheduler::unobserved`](crate::scheduler::Scheduler::unobserved) when it is dropped.

use std::convert::Infallible;
use std::mem::{self, needs_drop};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::context::{Context, Cx};
use crate::engine::scheduler::Unobserved;
use crate::engine::step::{Run, Step};
use crate::error::Error;
use crate::outcome::Outcome;
use crate::panic::{Panic, guarded_drop, guarded_drop_in_place};

/// Gives a fiber's context, and makes it if there is none.
pub(crate) trait HasContext {
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

/// An outcome without a value. What is done with one is compiled once, not for each type of a value.
pub(crate) type Valueless = Outcome<Infallible>;

impl Valueless {
    /// The same as an outcome of any type.
    fn of_any<T>(self) -> Outcome<T> {
        self.map(|never| match never {})
    }

    /// Suppresses a failure or panic into the one here, if there is one.
    fn suppress_wrong(self, wrong: Valueless, fiber: &dyn HasContext) -> Valueless {
        match self {
            Outcome::Success(never) => match never {},
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

    fn into_suppressed(self, fiber: &dyn HasContext) -> Option<Error> {
        match self {
            Outcome::Success(never) => match never {},
            Outcome::Failure(error) => Some(error),
            Outcome::Panicked(panic) => Some(Unseen::watch(panic, fiber)),
            Outcome::Cancelled => None,
        }
    }

    /// The end after the panic of a drop. A failure is suppressed into the panic.
    fn without_value_torn_by(self, mut panic: Panic, fiber: &dyn HasContext) -> Valueless {
        match self {
            Outcome::Success(never) => match never {},
            Outcome::Failure(error) => {
                panic.suppress(error);
                Outcome::Panicked(panic)
            }
            first @ Outcome::Panicked(_) => first.suppress_wrong(Outcome::Panicked(panic), fiber),
            Outcome::Cancelled => Outcome::Panicked(panic),
        }
    }
}

impl<T> Outcome<T> {
    /// Suppresses the failure of `other`, if any, into the failure here. A success or cancellation here becomes the
    /// failure of `other`, so that no failure is lost. Both belong to `fiber`.
    pub(crate) fn suppress<U>(self, other: Outcome<U>, fiber: &dyn HasContext) -> Self {
        match other.split() {
            Ok(_) | Err(Outcome::Cancelled) => self,
            Err(wrong) => self.after_wrong(wrong, fiber),
        }
    }

    #[cold]
    fn after_wrong(self, wrong: Valueless, fiber: &dyn HasContext) -> Self {
        match self.split() {
            Ok(value) => wrong.of_any().without(value, fiber),
            Err(first) => first.suppress_wrong(wrong, fiber).of_any(),
        }
    }

    /// The outcome after dropping `unused`, which may be a user value. A panic of that drop becomes the outcome of
    /// the fiber; a failure is then suppressed into it.
    ///
    /// Pass the parts of a compound value one at a time: two panics in one drop would abort the process.
    #[inline]
    pub(crate) fn without<D>(self, unused: D, fiber: &dyn HasContext) -> Self {
        match guarded_drop(unused) {
            None => self,
            Some(panic) => self.torn_by(panic, fiber),
        }
    }

    /// The same for a value that is dropped where it is. The outcome is not moved either.
    ///
    /// # Safety
    /// The value may be dropped, and is not used afterwards.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[allow(unsafe_code)]
    pub(crate) unsafe fn drop_beside<D>(&mut self, unused: *mut D, fiber: &dyn HasContext) {
        // SAFETY: by the contract.
        if let Some(panic) = unsafe { guarded_drop_in_place(unused) } {
            *self = mem::replace(self, Outcome::Cancelled).torn_by(panic, fiber);
        }
    }

    /// Like `without`, for a description that never runs.
    #[inline]
    pub(crate) fn without_run<R: Run>(self, unused: R, fiber: &dyn HasContext) -> Self {
        self.without_parts(unused, R::discard, fiber)
    }

    /// Like `without`, for values that `discard` drops part by part.
    #[inline]
    pub(crate) fn without_parts<D>(
        self,
        unused: D,
        discard: impl FnOnce(D, &mut Vec<Panic>),
        fiber: &dyn HasContext,
    ) -> Self {
        if const { !needs_drop::<D>() } {
            return self;
        }
        let mut torn = Vec::new();
        discard(unused, &mut torn);
        if torn.is_empty() { self } else { self.torn_by_all(torn, fiber) }
    }

    #[cold]
    fn torn_by_all(self, torn: Vec<Panic>, fiber: &dyn HasContext) -> Self {
        torn.into_iter().fold(self, |outcome, panic| outcome.torn_by(panic, fiber))
    }

    #[cold]
    fn torn_by(self, panic: Panic, fiber: &dyn HasContext) -> Self {
        match self.split() {
            Ok(value) => Outcome::Panicked(panic).without(value, fiber),
            Err(first) => first.without_value_torn_by(panic, fiber).of_any(),
        }
    }
}

impl Cx<'_> {
    /// The step of a description that starts in a cancelled fiber: the description is dropped.
    #[inline]
    pub(crate) fn refuse<R: Run>(&self, unused: R) -> Step<'_, R::Out> {
        Step::Done(Outcome::Cancelled.without_run(unused, self))
    }
}

/// Drops a value, possibly of the user, where no outcome can carry a panic: the panic goes to the hook.
pub(crate) fn discard<D>(unused: D, fiber: &dyn HasContext) {
    Unobserved::report(fiber, &Outcome::Success(()).without(unused, fiber));
}

/// Drops an outcome that no code will take. A failure or panic is reported first.
pub(crate) fn forget<T>(outcome: Outcome<T>, fiber: &dyn HasContext) {
    Unobserved::report(fiber, &outcome);
    discard(outcome, fiber);
}

/// The report of a suppressed panic, sent if it is dropped unseen.
struct Unseen {
    report: Unobserved,
    is_seen: AtomicBool,
}

impl Unseen {
    fn watch(panic: Panic, fiber: &dyn HasContext) -> Error {
        let report = Unobserved::of_suppressed(fiber.context(), &panic);
        let unseen = Unseen { report, is_seen: AtomicBool::new(false) };
        panic.into_error().watched_by(Box::new(move || unseen.see()))
    }

    fn see(&self) {
        // Relaxed: only the drop reads the flag, and every inspection of the error happens before its drop.
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
