//! Futures as fibers, and fibers as futures.

use std::cell::RefCell;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::panic::{Location, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};

use parking_lot::Mutex;

use crate::combine::{Confined, Handle, HandleFuture, Passed, open, run_confined};
use crate::context::{Context, Cx, WaitsFor, Wakeup};
use crate::error::{Cancelled, Error, Frame, NoScheduler};
use crate::fiber::Fiber;
use crate::leaf::{Leaf, Wait};
use crate::outcome::Outcome;
use crate::step::{Run, Step};
use crate::task::Task;

impl<T: Send + 'static> Fiber<T> {
    /// Runs a future as a fiber. Inside it, every fiber can be awaited, for a `Result`: the way to write loops over
    /// borrowed, mutable state.
    ///
    /// ```
    /// use fiber_core::{Error, Fiber};
    ///
    /// let sum = Fiber::from_future(async {
    ///     let mut sum = 0;
    ///     for n in 1..=4 {
    ///         sum += Fiber::success(n).await?;
    ///     }
    ///     Ok::<_, Error>(sum)
    /// });
    /// assert_eq!(fiber_sched::run(sum).unwrap(), 10);
    /// ```
    ///
    /// # Errors
    /// The future's, converted.
    ///
    /// # Panics
    /// A panic of the future is the fiber's outcome; so is that of a fiber that it awaits.
    ///
    /// # Cancellation
    /// The future is dropped at once, and so are those it awaits. Fibers that it awaits are cancelled; they end before this
    /// does, as they do when the future drops them half-way. What an awaited fiber forks ends with that fiber; for forks
    /// that go on beside the future there is [`Fiber::scope`].
    #[track_caller]
    pub fn from_future<E, F>(future: F) -> Fiber<T, FromFuture<F>>
    where
        E: Into<Error>,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        Fiber::new(FromFuture { future, site: Location::caller() })
    }
}

/// The description of [`Fiber::from_future`].
pub struct FromFuture<F> {
    future: F,
    site: &'static Location<'static>,
}

impl<T, E, F> Run for FromFuture<F>
where
    T: Send + 'static,
    E: Into<Error>,
    F: Future<Output = Result<T, E>> + Send + 'static,
{
    type Out = T;
    type Suspension = Confined<Leaf<FutureWait<F>>, Passed>;

    fn run(self, cx: &Cx<'_>) -> Step<T, Self::Suspension> {
        if cx.is_interrupted() {
            return cx.refuse(self.future);
        }
        let FromFuture { future, site } = self;
        let wait = FutureWait { future: Some(Box::pin(future)), waker: Arc::default() };
        let child = open(cx, "from_future", site);
        run_confined(cx, Leaf::new(wait, site), child, None, Passed(Frame::new("from_future", site)))
    }
}

impl<F> fmt::Debug for FromFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "from_future at {}", self.site)
    }
}

/// The wait of [`Fiber::from_future`].
pub struct FutureWait<F> {
    /// Until it is over.
    future: Option<Pin<Box<F>>>,
    waker: Arc<FiberWaker>,
}

/// Between the future's waker and the wake-up of the fiber.
#[derive(Default)]
struct FiberWaker(Mutex<Woken>);

#[derive(Default)]
struct Woken {
    /// Woken since the last poll.
    is_woken: bool,
    /// Where the fiber waits, if it does.
    wakeup: Option<Wakeup>,
}

impl Wake for FiberWaker {
    fn wake(self: Arc<Self>) {
        let wakeup = {
            let mut woken = self.0.lock();
            woken.is_woken = true;
            woken.wakeup.take()
        };
        if let Some(wakeup) = wakeup {
            wakeup.fire();
        }
    }
}

impl<T, E, F> Wait for FutureWait<F>
where
    T: Send + 'static,
    E: Into<Error>,
    F: Future<Output = Result<T, E>> + Send + 'static,
{
    type Out = T;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<T>> {
        self.waker.0.lock().is_woken = false;
        let _current = Current::enter(cx.context());
        let waker = Waker::from(self.waker.clone());
        match self.future.as_mut()?.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
            Poll::Ready(result) => {
                self.future = None;
                Some(match Outcome::from(result) {
                    // A handle that it awaited was cancelled, and so is this, by somebody above.
                    Outcome::Failure(error) if error.is::<Cancelled>() && cx.is_interrupted() => {
                        Outcome::Cancelled
                    }
                    outcome => outcome,
                })
            }
            Poll::Pending => None,
        }
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<T>> {
        let mut woken = self.waker.0.lock();
        if woken.is_woken {
            drop(woken);
            // It woke itself, to make place for others.
            cx.scheduler().schedule(Task::fire(wakeup));
        } else {
            woken.wakeup = Some(wakeup);
        }
        None
    }

    fn deregister(&mut self, cx: &Cx<'_>) {
        self.waker.0.lock().wakeup = None;
        let _current = Current::enter(cx.context());
        self.future = None;
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Future
    }
}

impl<F> fmt::Debug for FutureWait<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a future")
    }
}

thread_local! {
    // A future is polled with a waker only; this tells a fiber that is awaited inside whose child it is.
    static CURRENT: RefCell<Option<Context>> = const { RefCell::new(None) };
}

/// While it lives, this thread polls a future of the fiber.
struct Current(Option<Context>);

impl Current {
    fn enter(context: &Context) -> Self {
        Current(CURRENT.replace(Some(context.clone())))
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// The future of a fiber that is awaited inside [`Fiber::from_future`].
///
/// It runs as a child of that. Dropping the future cancels it.
pub struct FiberFuture<T: Send + 'static, R> {
    state: State<T, R>,
    site: &'static Location<'static>,
}

enum State<T: Send + 'static, R> {
    New(Fiber<T, R>),
    Running(Context, HandleFuture<T>),
    /// It ended so, and nobody was told.
    Cancelled,
    Over,
}

// The fiber is moved out before it runs: nothing of it is ever pinned.
impl<T: Send + 'static, R> Unpin for FiberFuture<T, R> {}

impl<T: Send + 'static, R: Run<Out = T>> IntoFuture for Fiber<T, R> {
    type Output = Result<T, Error>;
    type IntoFuture = FiberFuture<T, R>;

    #[track_caller]
    fn into_future(self) -> FiberFuture<T, R> {
        FiberFuture { state: State::New(self), site: Location::caller() }
    }
}

impl<T: Send + 'static, R: Run<Out = T>> Future for FiberFuture<T, R> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Result<T, Error>> {
        self.state = match std::mem::replace(&mut self.state, State::Over) {
            State::New(fiber) => {
                let Some(context) = CURRENT.with_borrow(Clone::clone) else {
                    return Poll::Ready(Err(Error::new(NoScheduler)));
                };
                let handle: Handle<T> = context.spawn_from(fiber, self.site);
                State::Running(handle.context().clone(), handle.into_future())
            }
            other => other,
        };
        let outcome = match &mut self.state {
            State::Running(_, future) => std::task::ready!(Pin::new(future).poll(cx)),
            State::Cancelled => Outcome::Cancelled,
            State::New(_) | State::Over => panic!("polled after it was ready"),
        };
        let is_above_cancelled =
            || CURRENT.with_borrow(|current| current.as_ref().is_some_and(Context::is_cancelled));
        if outcome.is_cancelled() && is_above_cancelled() {
            // Both were, by somebody above: the future around this will be dropped, and is not told that it failed.
            self.state = State::Cancelled;
            return Poll::Pending;
        }
        self.state = State::Over;
        Poll::Ready(match outcome.passed(Frame::new("await", self.site)) {
            Outcome::Success(value) => Ok(value),
            Outcome::Failure(error) => Err(error),
            Outcome::Cancelled => Err(Error::new(Cancelled)),
            Outcome::Panicked(panic) => resume_unwind(Box::new(panic)),
        })
    }
}

impl<T: Send + 'static, R> Drop for FiberFuture<T, R> {
    fn drop(&mut self) {
        if let State::Running(context, _) = &self.state {
            context.cancel();
        }
    }
}

impl<T: Send + 'static, R> fmt::Debug for FiberFuture<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fiber awaited at {}", self.site)
    }
}
