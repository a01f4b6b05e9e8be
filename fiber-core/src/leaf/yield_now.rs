use std::panic::Location;

use crate::engine::context::Cx;
use crate::engine::event::Event;
use crate::engine::step::{Callback, Run, Step, Suspension};
use crate::error::Frame;
use crate::fiber::Fiber;
use crate::outcome::Outcome;

impl Fiber<()> {
    /// Yields to the scheduler, which runs the rest of the fiber later. Binds yield by themselves from time to time;
    /// this function is for long computations between binds.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// assert!(fiber_sched::run(Fiber::yield_now()).is_success());
    /// ```
    ///
    /// # Cancellation
    /// A cancellation is noticed before and after the yield.
    #[track_caller]
    pub fn yield_now() -> Fiber<(), YieldNow> {
        Fiber::new(YieldNow { site: Location::caller() })
    }
}

/// The description of [`Fiber::yield_now`].
#[derive(Clone, Copy, Debug)]
pub struct YieldNow {
    site: &'static Location<'static>,
}

impl Run for YieldNow {
    type Out = ();
    type Suspension = YieldNow;

    fn run(self, cx: &Cx<'_>) -> Step<(), YieldNow> {
        if cx.is_interrupted() { Step::Done(Outcome::Cancelled) } else { Step::Suspend(self) }
    }
}

impl Suspension for YieldNow {
    type Out = ();

    fn attach<C: Callback<()>>(self, cx: &Cx<'_>, callback: C) {
        cx.observe(Event::Yields(Frame::new("yield_now", self.site)));
        cx.go_on_later(move |cx| {
            let outcome = if cx.is_interrupted() { Outcome::Cancelled } else { Outcome::Success(()) };
            callback.resume(cx, outcome);
        });
    }
}
