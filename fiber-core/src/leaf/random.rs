use crate::engine::context::Cx;
use crate::engine::step::{Run, Step};
use crate::fiber::Fiber;
use crate::outcome::Outcome;

impl Fiber<u64> {
    /// A random number from the scheduler: unpredictable on a thread pool, the same in every run of a test. Do not use
    /// it for secrets.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    ///
    /// let roll = || Fiber::random_u64().map(|number| 1 + number % 6);
    /// assert_eq!(TestScheduler::with_seed(7).run(roll()).unwrap(), TestScheduler::with_seed(7).run(roll()).unwrap());
    /// ```
    pub fn random_u64() -> Fiber<u64, RandomU64> {
        Fiber::new(RandomU64)
    }
}

/// The description of [`Fiber::random_u64`].
#[derive(Clone, Copy, Debug)]
pub struct RandomU64;

impl Run for RandomU64 {
    type Out = u64;
    const ROOM: usize = 0;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, u64> {
        let interrupted = cx.is_interrupted();
        Step::Done(if interrupted {
            Outcome::Cancelled
        } else {
            Outcome::Success(cx.scheduler().random_u64())
        })
    }
}
