use std::panic::Location;

use crate::boxed::Resumption;
use crate::context::Cx;
use crate::error::Frame;
use crate::event::Event;
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::step::{Callback, Run, Step, Suspension};
use crate::task::Task;

impl Fiber<()> {
    /// Makes place for others: the rest of the fiber is scheduled again. Binds do so by themselves from time to time; this
    /// is for long computations in between.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// assert!(fiber_sched::run(Fiber::yield_now()).is_success());
    /// ```
    ///
    /// # Cancellation
    /// Noticed before and after.
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
        let rest = Resumption {
            context: cx.context().clone(),
            outcome: Outcome::Success(()),
            callback: AfterYield(callback),
        };
        cx.observe(Event::Yields(Frame::new("yield_now", self.site)));
        cx.schedule(Task::proceed(Box::new(rest)));
    }
}

struct AfterYield<C>(C);

impl<C: Callback<()>> Callback<()> for AfterYield<C> {
    fn resume(self, cx: &Cx<'_>, outcome: Outcome<()>) {
        self.0.resume(cx, if cx.is_interrupted() { Outcome::Cancelled } else { outcome });
    }
}
