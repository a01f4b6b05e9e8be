use crate::engine::context::{Context, Cx};
use crate::engine::step::{Run, Step};
use crate::fiber::Fiber;
use crate::outcome::Outcome;

impl Fiber<Context> {
    /// The context of the running fiber, for logging: its id, name and deadline, and whether it was cancelled.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let fiber = Fiber::current().map(|context| context.name().map(str::to_owned)).named("worker");
    /// assert_eq!(fiber_sched::run(fiber).unwrap().as_deref(), Some("worker"));
    /// ```
    pub fn current() -> Fiber<Context, Here> {
        Fiber::new(Here)
    }
}

/// The description of [`Fiber::current`].
#[derive(Clone, Copy, Debug)]
pub struct Here;

impl Run for Here {
    type Out = Context;
    const ROOM: usize = 0;

    /// Succeeds in a cancelled fiber too, so that the fiber can log its cancellation.
    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Context> {
        Step::Done(Outcome::Success(cx.context().clone()))
    }
}
