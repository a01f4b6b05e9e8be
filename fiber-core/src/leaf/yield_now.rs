use std::panic::Location;

use crate::cell::{Signal, Waiting};
use crate::engine::context::{Cx, FiberState};
use crate::engine::event::Event;
use crate::engine::step::{Callback, Run, Step, Suspension};
use crate::engine::task::{Task, Waiter, Waking};
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
        let context = cx.context();
        context.observe(Event::Yields(Frame::new("yield_now", self.site)));
        let rest = context.room().keep(AfterYield(callback)).erase();
        cx.schedule(Task::resume(context.clone(), rest));
    }
}

struct AfterYield<C>(C);

impl<C: Callback<()>> Waiting<FiberState> for AfterYield<C> {
    const WAKING: &'static Waking = &(Self::go_on as Waking);
}

impl<C: Callback<()>> AfterYield<C> {
    fn go_on(rest: Waiter, cx: &Cx<'_>, _: Signal) {
        let Ok(rest) = rest.downcast::<Self>() else { unreachable!("a rest is woken by its own type") };
        let outcome = if cx.is_interrupted() { Outcome::Cancelled } else { Outcome::Success(()) };
        rest.into_inner().0.resume(cx, outcome);
    }
}
