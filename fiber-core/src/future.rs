//! Futures as fibers. (Fibers as futures are [awaited](crate::types::FiberFuture) in them.)

use std::fmt;
use std::future::Future;
use std::panic::Location;

use crate::block::{self, End, Ends};
use crate::engine::boxed::Boxed;
use crate::engine::context::Cx;
use crate::engine::step::{Run, Step};
use crate::error::{Error, Frame, Site};
use crate::fiber::Fiber;

impl<T: Send + 'static> Fiber<T> {
    /// Runs a future as a fiber. Inside the future, and inside every `async fn` that it calls, `fiber.await` gives a
    /// `Result`.
    ///
    /// The awaited fiber runs in place, as if it were bound, unless the future waits for something else at the same
    /// time.
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
    pub fn from_future<E, F>(future: F) -> Fiber<T, FromFuture<F>>
    where
        E: Into<Error> + 'static,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        Fiber::new(FromFuture { future, site: Location::caller() })
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
    pub fn block<E, A, F>(f: F) -> Fiber<T, Block<F>>
    where
        E: Into<Error> + 'static,
        A: Future<Output = Result<T, E>> + Send + 'static,
        F: FnOnce() -> A + Send + 'static,
    {
        Fiber::new(Block { f, site: Location::caller() })
    }
}

/// The description of [`Fiber::from_future`].
pub struct FromFuture<F> {
    future: F,
    site: Site,
}

impl<T, E, F> Run for FromFuture<F>
where
    T: Send + 'static,
    E: Into<Error> + 'static,
    F: Future<Output = Result<T, E>> + Send + 'static,
{
    type Out = T;
    type Suspension = Boxed<T>;

    fn run(self, cx: &Cx<'_>) -> Step<T, Boxed<T>> {
        self.boxed().run(cx)
    }

    fn run_tail(self, cx: &Cx<'_>) -> Step<T, Boxed<T>> {
        self.boxed().run_tail(cx)
    }

    fn boxed(self) -> Boxed<T> {
        block::new::<T, F, ByResult<E, IsFuture>>(self.future, self.site)
    }
}

impl<F> fmt::Debug for FromFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "from_future at {}", self.site)
    }
}

/// The description of [`Fiber::block`].
#[derive(Clone)]
pub struct Block<F> {
    f: F,
    site: Site,
}

impl<T, E, A, F> Run for Block<F>
where
    T: Send + 'static,
    E: Into<Error> + 'static,
    A: Future<Output = Result<T, E>> + Send + 'static,
    F: FnOnce() -> A + Send + 'static,
{
    type Out = T;
    type Suspension = Boxed<T>;

    fn run(self, cx: &Cx<'_>) -> Step<T, Boxed<T>> {
        self.boxed().run(cx)
    }

    fn run_tail(self, cx: &Cx<'_>) -> Step<T, Boxed<T>> {
        self.boxed().run_tail(cx)
    }

    fn boxed(self) -> Boxed<T> {
        let Block { f, site } = self;
        block::new::<T, _, ByResult<E, IsBlock>>(async move { f().await }, site)
    }
}

impl<F> fmt::Debug for Block<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block at {}", self.site)
    }
}

/// How a future that gives a plain `Result` ends.
struct ByResult<E, N>(std::marker::PhantomData<(E, N)>);

/// Where the future of a block comes from.
trait Maker: 'static {
    const NAME: &'static str;
}

struct IsFuture;

impl Maker for IsFuture {
    const NAME: &'static str = "from_future";
}

struct IsBlock;

impl Maker for IsBlock {
    const NAME: &'static str = "block";
}

impl<T: Send + 'static, E: Into<Error> + 'static, N: Maker> Ends<T> for ByResult<E, N> {
    type Output = Result<T, E>;
    const NAME: &'static str = N::NAME;

    fn end(output: Result<T, E>, site: Site) -> End<T> {
        match output {
            Ok(value) => End::Value(value),
            Err(error) => End::Failed(error.into().passed(Frame::new(N::NAME, site))),
        }
    }
}
