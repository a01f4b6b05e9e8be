//! Futures as fibers. (Futures in turn can await fibers.)

use std::fmt;
use std::future::Future;
use std::panic::Location;

use crate::block::{self, Stop};
use crate::engine::boxed::Boxed;
use crate::engine::context::Cx;
use crate::engine::step::{Run, Step};
use crate::error::{Frame, IntoError};
use crate::fiber::Fiber;

impl<T: Send + 'static> Fiber<T> {
    /// Runs a future as a fiber. Inside the future, and inside every `async fn` that it calls, `fiber.await` gives a
    /// `Result`.
    ///
    /// The awaited fiber runs in place, as if it were bound, unless the future waits for something else at the same
    /// time, or a future that it has polled before still keeps its waker.
    ///
    /// ```
    /// use fiber_core::{Error, Fiber};
    ///
    /// async fn sum(limit: u32) -> Result<u32, Error> {
    ///     let mut sum = 0;
    ///     for n in 1..=limit {
    ///         sum += Fiber::success(n).await?;
    ///     }
    ///     Ok(sum)
    /// }
    /// assert_eq!(fiber_sched::run(Fiber::from_future(sum(4))).unwrap(), 10);
    /// ```
    ///
    /// A [dump](crate::Dump) says that a fiber waits for a future, and not which one. A name says it: of a fiber or branch that is all
    /// such a future, or of one in the middle of a chain that has a time limit, as every request to another program should:
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// # async fn rates() -> Result<u32, fiber_core::Error> { std::future::pending().await }
    /// let rates = Fiber::from_future(rates()).named("rates").timeout(Duration::from_secs(1));
    /// let test = TestScheduler::new();
    /// test.spawn(Fiber::yield_now().bind(move |()| rates).map(|rate| 2 * rate));
    /// test.run_for(Duration::from_millis(1));
    /// let dump = test.context().dump().to_string();
    /// let line = dump.lines().last().unwrap().trim();
    /// assert!(line.starts_with("part 0.0 \"rates\" (at "), "{line}"); // the file and the line of the timeout
    /// assert!(line.contains("waits for a future"), "{line}");
    /// # test.context().cancel();
    /// # test.run_until_idle();
    /// ```
    ///
    /// # Errors
    /// The error of the future, converted.
    ///
    /// # Panics
    /// A panic of the future becomes the fiber's outcome. So does a panic of a fiber that the future awaits.
    ///
    /// # Cancellation
    /// A fiber that the future awaits in place ends as cancelled; then the future is dropped. If the future waits for
    /// something else, it is dropped at once. Fibers that the future polls beside others, or drops half-way, have
    /// contexts of their own; they are cancelled, and end before this fiber does. Use [`Fiber::scope`] for forks that
    /// run beside the future.
    #[track_caller]
    pub fn from_future<E, F>(future: F) -> Fiber<T, Driven<F, Open<F, T>>>
    where
        E: IntoError,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let open: Open<F, T> = |future, frame| block::new(future, frame, by_result);
        Fiber::new(Driven { source: future, open, frame: Frame::new("from_future", Location::caller()) })
    }

    /// Runs the future that `f` makes, as [`from_future`](Fiber::from_future) does: the alternative to
    /// [`fiber!`](crate::fiber!) without a macro. The fiber is `Clone` if `f` is, so it can be retried.
    ///
    /// ```
    /// use fiber_core::{Error, Fiber, Policy};
    /// use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
    ///
    /// let attempts = Arc::new(AtomicU32::new(0));
    /// let connect = Fiber::block(move || {
    ///     let attempts = attempts.clone();
    ///     async move {
    ///         Fiber::yield_now().await?;
    ///         if attempts.fetch_add(1, Ordering::Relaxed) < 2 { return Err(Error::msg("busy")) }
    ///         Ok("connected")
    ///     }
    /// });
    /// assert_eq!(fiber_sched::run(connect.retry(Policy::recurs(2))).unwrap(), "connected");
    /// ```
    ///
    /// # Errors
    /// The error of the future, converted.
    ///
    /// # Panics
    /// A panic of `f` or of the future becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// As [`from_future`](Fiber::from_future).
    #[track_caller]
    pub fn block<E, A, F>(f: F) -> Fiber<T, Driven<F, Open<F, T>>>
    where
        E: IntoError,
        A: Future<Output = Result<T, E>> + Send + 'static,
        F: FnOnce() -> A + Send + 'static,
    {
        let open: Open<F, T> = |f, frame| block::new(async move { f().await }, frame, by_result);
        Fiber::new(Driven { source: f, open, frame: Frame::new("block", Location::caller()) })
    }
}

/// The description of [`Fiber::from_future`] and [`Fiber::block`]: a block whose future gives a plain `Result`.
#[derive(Clone)]
pub struct Driven<F, O> {
    source: F,
    open: O,
    frame: Frame,
}

/// Makes the block, which is not started.
type Open<F, T> = fn(F, Frame) -> Boxed<T>;

impl<T: Send + 'static, F: Send + 'static> Run for Driven<F, Open<F, T>> {
    type Out = T;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        self.boxed().run(cx)
    }

    fn boxed(self) -> Boxed<T> {
        (self.open)(self.source, self.frame)
    }
}

impl<F, O> fmt::Debug for Driven<F, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.frame)
    }
}

/// The end of such a block.
fn by_result<T, E: IntoError>(output: Result<T, E>, frame: Frame) -> Result<T, Stop<T>> {
    output.map_err(|error| Stop::failed(error, frame))
}
