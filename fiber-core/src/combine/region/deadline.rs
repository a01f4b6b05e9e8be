use std::panic::Location;

use super::body::{OrFail, room_of_region, run_region};
use super::end::RegionEnd;
use crate::engine::context::{Cx, Part};
use crate::engine::step::{Run, Step};
use crate::error::{DeadlineExceeded, Frame, Site};
use crate::fiber::Fiber;
use crate::instant::Instant;
use crate::panic::Panic;

const OPERATOR: &str = "with_deadline";

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Limits this fiber and everything below it to end by `deadline`. At that time the fiber is cancelled, and
    /// awaited. Everything below inherits the deadline, and can read it
    /// ([`Context::deadline`](crate::Context::deadline)). An earlier deadline from above takes precedence. What is no part of the fiber, such as
    /// the body of a [`disconnect`](Fiber::disconnect) or [`timeout_disconnect`](Fiber::timeout_disconnect), inherits none.
    ///
    /// ```
    /// use fiber_core::{Fiber, error::DeadlineExceeded};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let request = Fiber::now().bind(move |now| {
    ///     let both = Fiber::delay(second).bind(move |()| Fiber::delay(60 * second));
    ///     both.with_deadline(now + 5 * second)
    /// });
    /// let test = TestScheduler::new();
    /// assert!(test.run(request).failure().unwrap().is::<DeadlineExceeded>());
    /// assert_eq!(test.now().as_nanos(), 5_000_000_000);
    /// ```
    ///
    /// # Errors
    /// [`DeadlineExceeded`]. A fiber that succeeds while it is being cancelled succeeds.
    ///
    /// # Cancellation
    /// A cancellation reaches the fiber as if there were no deadline.
    #[track_caller]
    pub fn with_deadline(self, deadline: Instant) -> Fiber<T, WithDeadline<R>> {
        Fiber::new(WithDeadline { run: self.into_run(), deadline, site: Location::caller() })
    }
}

/// The description of [`Fiber::with_deadline`].
#[derive(Clone, Debug)]
pub struct WithDeadline<R> {
    run: R,
    deadline: Instant,
    site: Site,
}

impl<R: Run> Run for WithDeadline<R> {
    type Out = R::Out;
    const ROOM: usize = room_of_region::<R, OrFail<DeadlineExceeded>>();

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let WithDeadline { run, deadline, site } = self;
        let end = OrFail(DeadlineExceeded::new(deadline, site), Frame::new("with_deadline", site));
        if cx.scheduler().now() >= deadline {
            let too_late = RegionEnd::<R::Out>::conclude(end, cx, None);
            return Step::Done(too_late.without_run(run, cx));
        }
        let mut part = Part::structure(cx, OPERATOR, deadline, site);
        part.describe(&run);
        // No timer is needed if the fiber's own deadline comes first.
        let until = (deadline < cx.deadline() || cx.is_masked()).then_some(deadline);
        run_region(cx, &OPERATOR, run, &mut part, until, end)
    }

    fn is_program(&self) -> bool {
        self.run.is_program()
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.run.discard(torn);
    }
}
