use std::panic::Location;

use super::map::Mapped;
use super::then::Then;
use crate::engine::context::Cx;
use crate::engine::step::{Follow, Run, Step, room_with};
use crate::error::{Frame, IntoError, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::{Panic, discard_part};

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Fails with the error that `error` makes of the value if `predicate` does not hold for it.
    ///
    /// ```
    /// use fiber_core::{Error, Fiber};
    ///
    /// let seats = |free: u32| Fiber::success(free).filter_or(|free| *free > 0, |_| Error::msg("sold out"));
    /// assert_eq!(fiber_sched::run(seats(3)).unwrap(), 3);
    /// assert_eq!(fiber_sched::run(seats(0)).failure().unwrap().to_string(), "sold out");
    /// ```
    ///
    /// # Errors
    /// The error that `error` makes.
    ///
    /// # Panics
    /// A panic of one of the closures becomes the fiber's outcome.
    #[inline]
    #[track_caller]
    pub fn filter_or<E, P, F>(self, predicate: P, error: F) -> Fiber<T, Then<R, FilterOr<P, F>>>
    where
        E: IntoError,
        P: FnOnce(&T) -> bool + Send + 'static,
        F: FnOnce(T) -> E + Send + 'static,
    {
        Fiber::new(Then::new(self.into_run(), FilterOr { predicate, error, site: Location::caller() }))
    }

    /// Runs this fiber if `condition` holds, and gives `None` otherwise.
    ///
    /// ```
    /// use fiber_core::Fiber;
    ///
    /// let discount = |is_member: bool| Fiber::lazy(|| 10).when(is_member);
    /// assert_eq!(fiber_sched::run(discount(true)).unwrap(), Some(10));
    /// assert_eq!(fiber_sched::run(discount(false)).unwrap(), None);
    /// ```
    #[inline]
    pub fn when(self, condition: bool) -> Fiber<Option<T>, When<R>> {
        Fiber::new(When { run: self.into_run(), condition })
    }
}

/// The [`Follow`] step of [`Fiber::filter_or`].
#[derive(Clone, Debug)]
pub struct FilterOr<P, F> {
    predicate: P,
    error: F,
    site: Site,
}

impl<T, E, P, F> Follow<T> for FilterOr<P, F>
where
    T: Send + 'static,
    E: IntoError,
    P: FnOnce(&T) -> bool + Send + 'static,
    F: FnOnce(T) -> E + Send + 'static,
{
    type Out = T;
    const NEVER_WAITS: bool = true;

    #[inline]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, T> {
        let frame = Frame::new("filter_or", self.site);
        let FilterOr { predicate, error, .. } = self;
        match outcome.split() {
            Ok(value) => Step::done_guarded(frame, || {
                if predicate(&value) {
                    Outcome::Success(value)
                } else {
                    Outcome::Failure(error(value).into_error()).passed(frame)
                }
            }),
            Err(other) => Step::pass(other, (predicate, error), frame, cx),
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self.predicate, torn);
        discard_part(self.error, torn);
    }
}

/// The [`Follow`] step of [`Fiber::when`].
#[derive(Clone, Debug)]
pub struct When<R> {
    run: R,
    condition: bool,
}

impl<R: Run> Run for When<R> {
    type Out = Option<R::Out>;
    const ROOM: usize = room_with::<Mapped<R::Out, R::Out>>(R::ROOM);

    #[inline]
    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        if self.condition {
            return self.run.run_then(cx, Mapped(Some));
        }
        Step::Done(Outcome::Success(None).without_run(self.run, cx))
    }

    fn is_program(&self) -> bool {
        true
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.run.discard(torn);
    }
}
