use std::panic::Location;
use std::time::Duration;

use super::body::{OrFail, room_of_region, run_region};
use super::end::RegionEnd;
use crate::combine::sequence::then::Then;
use crate::engine::context::{Cx, Part};
use crate::engine::step::{Follow, Run, Step};
use crate::error::{Frame, Site, TimedOut};
use crate::fiber::Fiber;
use crate::instant::Instant;
use crate::outcome::Outcome;
use crate::panic::Panic;

const OPERATOR: &str = "timeout";

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Cancels this fiber, and awaits its end, if it takes longer than `limit` from its start. No timer is set if the
    /// fiber ends at once, or if its [deadline](Fiber::with_deadline) comes first.
    ///
    /// ```
    /// use fiber_core::{Fiber, error::TimedOut};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let slow = Fiber::delay(Duration::from_secs(60)).timeout(Duration::from_secs(1));
    /// assert!(TestScheduler::new().run(slow).failure().unwrap().is::<TimedOut>());
    /// ```
    ///
    /// # Errors
    /// [`TimedOut`], with the limit and the place of this call. A fiber that succeeds while it is being cancelled succeeds;
    /// one that fails meanwhile fails with its own error.
    ///
    /// A fiber that cannot be cancelled has no shorter end: the timeout of an [`uncancelable`](Fiber::uncancelable) fiber,
    /// or of [`Handle::cancel`](crate::Handle::cancel), waits for it, and gives its value. Limit the wait for another
    /// fiber's end with [`cancel_now`](crate::Handle::cancel_now) and `ended().timeout(limit)`.
    ///
    /// # Cancellation
    /// A cancellation reaches the fiber as if there were no timeout.
    #[track_caller]
    pub fn timeout(self, limit: Duration) -> Fiber<T, Timeout<R>> {
        let site = Location::caller();
        let end = OrFail(TimedOut::new(limit, site), Frame::new("timeout", site));
        Fiber::new(Limited { run: self.into_run(), limit, end, site })
    }

    /// Like [`timeout`](Fiber::timeout), but gives `None` when the limit has passed.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let slow = Fiber::<u8>::never().timeout_option(Duration::from_secs(1));
    /// assert_eq!(TestScheduler::new().run(slow).unwrap(), None);
    /// ```
    #[track_caller]
    pub fn timeout_option(self, limit: Duration) -> Fiber<Option<T>, TimeoutOption<R>> {
        self.timeout_option_at(Location::caller(), limit)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(crate) fn timeout_option_at(self, site: Site, limit: Duration) -> Fiber<Option<T>, TimeoutOption<R>> {
        Fiber::new(Limited { run: self.into_run(), limit, end: OrNone, site })
    }

    /// Like [`timeout`](Fiber::timeout), but runs `fallback` when the limit has passed.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let slow = Fiber::never().timeout_to(Duration::from_secs(1), Fiber::success("cached"));
    /// assert_eq!(TestScheduler::new().run(slow).unwrap(), "cached");
    /// ```
    #[track_caller]
    pub fn timeout_to<S>(self, limit: Duration, fallback: Fiber<T, S>) -> Fiber<T, TimeoutTo<R, S>>
    where
        S: Run<Out = T>,
    {
        let site = Location::caller();
        let next = OrFallback { fallback: fallback.into_run(), site };
        Fiber::new(Then::new(Limited { run: self.into_run(), limit, end: OrNone, site }, next))
    }
}

/// The description of [`Fiber::timeout`].
pub(crate) type Timeout<R> = Limited<R, OrFail<TimedOut>>;
/// The description of [`Fiber::timeout_option`].
pub(crate) type TimeoutOption<R> = Limited<R, OrNone>;
/// The description of [`Fiber::timeout_to`].
pub(crate) type TimeoutTo<R, S> = Then<Limited<R, OrNone>, OrFallback<S>>;

/// Runs `R` for a limited time, as a part with its own node.
#[derive(Clone, Debug)]
pub struct Limited<R, E> {
    run: R,
    limit: Duration,
    end: E,
    site: Site,
}

impl<R: Run, E: RegionEnd<R::Out>> Run for Limited<R, E> {
    type Out = E::Out;
    const ROOM: usize = room_of_region::<R, E>();

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        run_limited(cx, &OPERATOR, self.run, self.limit, self.end, self.site)
    }

    fn is_program(&self) -> bool {
        self.run.is_program()
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.run.discard(torn);
    }
}

/// Runs `run` for a limited time, from now on.
#[inline]
pub(crate) fn run_limited<'s, R: Run, E: RegionEnd<R::Out>>(
    cx: &'s Cx<'_>,
    operator: &'static &'static str,
    run: R,
    limit: Duration,
    end: E,
    site: Site,
) -> Step<'s, E::Out> {
    let until = cx.after(limit);
    let mut part = Part::structure(cx, operator, Instant::FAR_FUTURE, site);
    part.describe(&run);
    // No timer is needed if a deadline from above comes first.
    let until = (until < part.deadline()).then_some(until);
    run_region(cx, operator, run, &mut part, until, end)
}

/// `None` when the limit has passed.
#[derive(Clone, Debug)]
pub struct OrNone;

impl<T: Send + 'static> RegionEnd<T> for OrNone {
    type Out = Option<T>;

    fn conclude(self, _: &Cx<'_>, ended: Option<Outcome<T>>) -> Outcome<Option<T>> {
        ended.map_or(Outcome::Success(None), |outcome| outcome.map(Some))
    }
}

/// The [`Follow`] step of [`Fiber::timeout_to`].
#[derive(Clone, Debug)]
pub struct OrFallback<S> {
    fallback: S,
    site: Site,
}

impl<T: Send + 'static, S: Run<Out = T>> Follow<Option<T>> for OrFallback<S> {
    type Out = T;
    const ROOM: usize = <S as Run>::ROOM;

    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<Option<T>>) -> Step<'s, T> {
        let frame = Frame::new("timeout_to", self.site);
        let outcome = match outcome.split() {
            Ok(None) => return self.fallback.run(cx),
            Ok(Some(value)) => Outcome::Success(value),
            Err(other) => other,
        };
        Step::Done(outcome.without_run(self.fallback, cx).passed(frame))
    }

    fn as_bind(&self, outcome: &Outcome<Option<T>>) -> Option<Frame> {
        matches!(outcome, Outcome::Success(None)).then(|| Frame::new("timeout_to", self.site))
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.fallback.discard(torn);
    }
}
