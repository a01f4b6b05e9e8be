//! Finalizers, which run at the end of a fiber, however it ends.

use std::panic::Location;

use super::then::Then;
use super::uncancelable::Uncancelable;
use crate::engine::context::Cx;
use crate::engine::event::Event;
use crate::engine::scheduler::Unobserved;
use crate::engine::step::{Follow, Run, Step};
use crate::error::{Error, Frame, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::{Panic, guard};

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Runs `finalizer` when this fiber ends, whatever its outcome. The finalizer runs once, cannot be cancelled, and
    /// may wait.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
    ///
    /// let closed = Arc::new(AtomicBool::new(false));
    /// let close = { let closed = closed.clone(); Fiber::lazy(move || closed.store(true, Ordering::Relaxed)) };
    /// let outcome = fiber_sched::run(Fiber::<u8>::fail("broken").ensure(close));
    /// assert!(outcome.is_failure() && closed.load(Ordering::Relaxed));
    /// ```
    ///
    /// # Errors
    /// After a failure or a panic, a failure of the finalizer joins the [suppressed](Error::suppressed) errors. After a
    /// success, it becomes the outcome. After a cancellation, it goes to
    /// [`Scheduler::unobserved`](crate::scheduler::Scheduler::unobserved).
    ///
    /// # Cancellation
    /// The finalizer also runs after a cancellation, before the canceller sees the end of the fiber. Of a fork or a branch
    /// that is cancelled before it starts, nothing runs. In one that has started, the finalizer runs even if the
    /// cancellation came before the first operation of this fiber, so `take.bind(|it| use_it(it).ensure(give_back))` gives
    /// back what was taken. Forks of the finalizer belong to the cancelled fiber, and are cancelled with it; use `zip` or
    /// `parallel` to run several fibers in a finalizer.
    #[doc(alias("finally", "ensuring", "guarantee"))]
    #[inline]
    #[track_caller]
    pub fn ensure<S: Run<Out = ()>>(self, finalizer: Fiber<(), S>) -> Fiber<T, Then<R, Ensure<S>>> {
        self.ensure_at(Location::caller(), finalizer)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    #[inline]
    pub(crate) fn ensure_at<S: Run<Out = ()>>(
        self,
        site: Site,
        finalizer: Fiber<(), S>,
    ) -> Fiber<T, Then<R, Ensure<S>>> {
        Fiber::new(Then::new(self.into_run(), Ensure { finalizer: finalizer.into_run(), site }))
    }

    /// Like [`ensure`](Fiber::ensure), with a finalizer that `f` makes of the outcome.
    ///
    /// ```
    /// use fiber_core::{Fiber, Outcome};
    /// let fiber = Fiber::success(3).on_outcome(|outcome: &Outcome<i32>| {
    ///     let line = format!("ended with {outcome:?}");
    ///     Fiber::lazy(move || println!("{line}"))
    /// });
    /// assert_eq!(fiber_sched::run(fiber).unwrap(), 3);
    /// ```
    ///
    /// # Panics
    /// A panic of `f` counts as one of the finalizer.
    #[doc(alias("on_exit", "guarantee_case"))]
    #[inline]
    #[track_caller]
    pub fn on_outcome<S, F>(self, f: F) -> Fiber<T, Then<R, OnOutcome<F>>>
    where
        S: Run<Out = ()>,
        F: FnOnce(&Outcome<T>) -> Fiber<(), S> + Send + 'static,
    {
        self.on_outcome_at(Location::caller(), f)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    #[inline]
    pub(crate) fn on_outcome_at<S, F>(self, site: Site, f: F) -> Fiber<T, Then<R, OnOutcome<F>>>
    where
        S: Run<Out = ()>,
        F: FnOnce(&Outcome<T>) -> Fiber<(), S> + Send + 'static,
    {
        Fiber::new(Then::new(self.into_run(), OnOutcome { f, site }))
    }
}

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Like [`ensure`](Fiber::ensure), but the finalizer runs only when this fiber is cancelled.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    ///
    /// let test = TestScheduler::new();
    /// let handle = test.spawn(Fiber::<()>::never().on_cancel(Fiber::lazy(|| println!("cancelled"))));
    /// test.run_until_idle();
    /// handle.cancel_now();
    /// test.run_until_idle();
    /// assert!(handle.outcome().is_cancelled());
    /// ```
    #[doc(alias = "on_interrupt")]
    #[inline]
    #[track_caller]
    pub fn on_cancel<S: Run<Out = ()>>(self, finalizer: Fiber<(), S>) -> Fiber<T, Then<R, Ensure<S, true>>> {
        let next = Ensure { finalizer: finalizer.into_run(), site: Location::caller() };
        Fiber::new(Then::new(self.into_run(), next))
    }

    /// Like [`on_outcome`](Fiber::on_outcome), but only for failures: `f` makes the finalizer of the error.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let fiber = Fiber::<()>::fail("no").on_failure(|error| {
    ///     let line = error.to_string();
    ///     Fiber::lazy(move || println!("failed: {line}"))
    /// });
    /// assert!(fiber_sched::run(fiber).is_failure());
    /// ```
    ///
    /// # Panics
    /// A panic of `f` counts as one of the finalizer.
    #[inline]
    #[track_caller]
    pub fn on_failure<S, F>(self, f: F) -> Fiber<T, Then<R, OnFailure<F>>>
    where
        S: Run<Out = ()>,
        F: FnOnce(&Error) -> Fiber<(), S> + Send + 'static,
    {
        Fiber::new(Then::new(self.into_run(), OnFailure { f, site: Location::caller() }))
    }
}

/// The [`Follow`] step of [`Fiber::ensure`], and of [`Fiber::on_cancel`], which runs its finalizer only after a cancellation.
#[derive(Clone, Debug)]
pub struct Ensure<S, const IF_CANCELLED: bool = false> {
    finalizer: S,
    site: Site,
}

impl<S, const IF_CANCELLED: bool> Ensure<S, IF_CANCELLED> {
    #[inline]
    fn frame(&self) -> Frame {
        Frame::new(if IF_CANCELLED { "on_cancel" } else { "ensure" }, self.site)
    }
}

impl<T: Send + 'static, S: Run<Out = ()>, const IF_CANCELLED: bool> Follow<T> for Ensure<S, IF_CANCELLED> {
    type Out = T;
    const ROOM: usize = <Then<Uncancelable<S>, Finalized<T>> as Run>::ROOM;

    #[inline]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, T> {
        if IF_CANCELLED && !outcome.is_cancelled() {
            return Step::Done(outcome.without_run(self.finalizer, cx));
        }
        let frame = self.frame();
        finalize(cx, Ok(self.finalizer), outcome.passed(frame), frame)
    }

    #[inline]
    fn as_finalizer(&self) -> Option<Frame> {
        (!IF_CANCELLED).then(|| self.frame())
    }

    #[inline]
    fn as_bind(&self, outcome: &Outcome<T>) -> Option<Frame> {
        (!IF_CANCELLED || outcome.is_cancelled()).then(|| self.frame())
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.finalizer.discard(torn);
    }
}

/// The [`Follow`] step of [`Fiber::on_failure`].
#[derive(Clone, Debug)]
pub struct OnFailure<F> {
    f: F,
    site: Site,
}

impl<T, S, F> Follow<T> for OnFailure<F>
where
    T: Send + 'static,
    S: Run<Out = ()>,
    F: FnOnce(&Error) -> Fiber<(), S> + Send + 'static,
{
    type Out = T;
    const ROOM: usize = <Then<Uncancelable<S>, Finalized<T>> as Run>::ROOM;

    #[inline]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, T> {
        let frame = Frame::new("on_failure", self.site);
        let finalizer = match &outcome {
            Outcome::Failure(error) => guard(|| (self.f)(error).into_run()),
            _ => return Step::Done(outcome.without(self.f, cx)),
        };
        finalize(cx, finalizer, outcome.passed(frame), frame)
    }

    #[inline]
    fn as_bind(&self, outcome: &Outcome<T>) -> Option<Frame> {
        outcome.is_failure().then(|| Frame::new("on_failure", self.site))
    }
}

/// The [`Follow`] step of [`Fiber::on_outcome`].
#[derive(Clone, Debug)]
pub struct OnOutcome<F> {
    f: F,
    site: Site,
}

impl<T, S, F> Follow<T> for OnOutcome<F>
where
    T: Send + 'static,
    S: Run<Out = ()>,
    F: FnOnce(&Outcome<T>) -> Fiber<(), S> + Send + 'static,
{
    type Out = T;
    const ROOM: usize = <Then<Uncancelable<S>, Finalized<T>> as Run>::ROOM;

    #[inline]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, T> {
        let frame = Frame::new("on_outcome", self.site);
        let outcome = outcome.passed(frame);
        let finalizer = guard(|| (self.f)(&outcome).into_run());
        finalize(cx, finalizer, outcome, frame)
    }

    #[inline]
    fn as_finalizer(&self) -> Option<Frame> {
        Some(Frame::new("on_outcome", self.site))
    }

    #[inline]
    fn as_bind(&self, _: &Outcome<T>) -> Option<Frame> {
        Some(Frame::new("on_outcome", self.site))
    }
}

/// Runs the finalizer, unless the closure that makes it has panicked.
#[inline]
pub(super) fn finalize<'s, T: Send + 'static, S: Run<Out = ()>>(
    cx: &'s Cx<'_>,
    finalizer: Result<S, Panic>,
    outcome: Outcome<T>,
    frame: Frame,
) -> Step<'s, T> {
    let finalized = Finalized { outcome, frame };
    match finalizer {
        Ok(finalizer) => {
            cx.observe(Event::Finalizer(frame));
            Then::new(Uncancelable(finalizer), finalized).run(cx)
        }
        Err(panic) => finalized.follow(cx, Outcome::Panicked(panic)),
    }
}

/// Keeps the outcome while its finalizer runs.
#[derive(Debug)]
pub(crate) struct Finalized<T> {
    outcome: Outcome<T>,
    frame: Frame,
}

impl<T: Send + 'static> Follow<()> for Finalized<T> {
    type Out = T;
    const NEVER_WAITS: bool = true;

    #[inline]
    fn follow<'s>(self, cx: &'s Cx<'_>, end: Outcome<()>) -> Step<'s, T> {
        let end = end.passed(self.frame);
        Step::Done(match self.outcome {
            // A cancelled fiber must stay cancelled, and has no error to add to.
            Outcome::Cancelled => {
                Unobserved::report(cx, &end);
                Outcome::Cancelled
            }
            outcome => outcome.suppress(end, cx),
        })
    }
}
