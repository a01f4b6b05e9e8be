//! Handles of running fibers.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::task::Poll;

use super::branch::Branch;
use super::fiber_wait::{FiberEnd, FiberWait};
use super::result_cell::{EndKey, ResultCell};
use super::sink::Sink;
use crate::engine::context::{Context, Cx, Wakeup, Watch};
use crate::engine::step::Run;
use crate::engine::task::Task;
use crate::error::{Cancelled, Error, Frame, Site};
use crate::fiber::{Fiber, IntoFiber};
use crate::leaf::{Leaf, unless_cancelled};
use crate::outcome::Outcome;

/// A handle of a running fiber. Dropping the handle does not affect the fiber.
///
/// Inside a fiber, use [`join`](Handle::join), [`outcome`](Handle::outcome) and [`cancel`](Handle::cancel). In any
/// future, under any executor, `handle.await` gives the [`Outcome`].
///
/// If the handle is dropped before its outcome was taken, a failure goes to
/// [`Scheduler::unobserved`](crate::scheduler::Scheduler::unobserved).
pub struct Handle<T: 'static>(Context, PhantomData<fn() -> T>);

impl<T: 'static> Handle<T> {
    fn cell(&self) -> &ResultCell<T> {
        ResultCell::of(&self.0)
    }

    /// The outcome, if the fiber has ended.
    pub(super) fn take(&mut self) -> Option<Outcome<T>> {
        ResultCell::take_by_holder(&mut self.0)
    }

    /// Removes the waker of a future.
    pub(super) fn unwait(&self, key: &mut Option<EndKey>) {
        if let Some(key) = key.take() {
            self.cell().unwait(key);
        }
    }

    /// Runs the fiber on this thread, unless it has been started: this avoids a trip through the scheduler.
    fn start_inline(&mut self, cx: &Cx<'_>) {
        if cx.nearest().may_start(&self.0) && !self.cell().is_done() && !cx.is_deep() && cx.spend_on_branch()
        {
            let watch = Watch::host(cx);
            let view = cx.above(&watch).view();
            match cx.take_back(&self.0).map(Task::into_start) {
                Some(Ok(fiber)) if fiber.is_same(&self.0) => {
                    if let Some(ended) = fiber.start(view) {
                        self.0.absorb(ended);
                    }
                }
                // Its task is still in a queue, and will be void.
                _ => self.0.start_here(view),
            }
        }
    }
}

impl<T: 'static> Drop for Handle<T> {
    fn drop(&mut self) {
        ResultCell::<T>::forget(&self.0);
    }
}

impl<T: Send + 'static> Handle<T> {
    pub(crate) fn new<R, S>(branch: Branch<R, S>) -> Self
    where
        R: Run<Out = T>,
        S: Sink<T, Place = ResultCell<T>>,
    {
        Handle(branch.into_context(), PhantomData)
    }

    pub(crate) fn site(&self) -> Site {
        self.context().fork_site()
    }

    /// Waits for the fiber and gives its value.
    ///
    /// ```
    /// use fiber_core::{Fiber, Handle};
    ///
    /// let sum = Fiber::success(6).fork().bind(Handle::join).map(|n| n * 7);
    /// assert_eq!(fiber_sched::run(sum).unwrap(), 42);
    /// ```
    ///
    /// # Errors
    /// The fiber's failure. If the fiber was cancelled, the error is [`Cancelled`]; the joining fiber itself is not
    /// cancelled. If the fiber was cancelled because its parent has ended, the context of the error says so.
    ///
    /// # Panics
    /// A panic of the fiber becomes the outcome of the joining fiber too.
    ///
    /// # Cancellation
    /// The wait ends at once; the joined fiber runs on.
    #[track_caller]
    pub fn join(self) -> Fiber<T, impl Run<Out = T>> {
        self.into_fiber()
    }

    /// Waits for the fiber and gives its outcome, whatever it is.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let fiber = Fiber::<()>::fail("no").fork().bind(|child| child.outcome());
    /// assert!(fiber_sched::run(fiber).unwrap().is_failure());
    /// ```
    ///
    /// # Cancellation
    /// The wait ends at once; the other fiber runs on.
    #[track_caller]
    pub fn outcome(self) -> Fiber<Outcome<T>, impl Run<Out = Outcome<T>>> {
        self.outcome_at(Location::caller())
    }

    /// For combinators built on this one, here and in fiber-test: `site` is the place where the user calls them.
    #[doc(hidden)]
    pub fn outcome_at(self, site: Site) -> Fiber<Outcome<T>, impl Run<Out = Outcome<T>>> {
        Fiber::new(Leaf::new(FiberWait::new(Ended(self)), site))
    }

    /// For combinators built on this one, as is the next: as above.
    pub(crate) fn cancel_at(&self, site: Site) -> Fiber<(), Leaf<CancelWait<T>>> {
        Fiber::new(Leaf::new(FiberWait::new(self.any_end()), site))
    }

    pub(crate) fn ended_at(&self, site: Site) -> Fiber<(), Leaf<EndWait<T>>> {
        Fiber::new(Leaf::new(FiberWait::new(self.any_end()), site))
    }

    /// Cancels the fiber, and waits until it has ended, finalizers included. Idempotent.
    ///
    /// A fiber that cancels itself, or a fiber that it belongs to, does not wait, because the wait could never
    /// end. (Two fibers whose finalizers cancel each other wait for each other forever.)
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let fiber = Fiber::<()>::never().fork().bind(|child| {
    ///     let end = child.cancel();
    ///     end.bind(|()| child.outcome())
    /// });
    /// assert!(fiber_sched::run(fiber).unwrap().is_cancelled());
    /// ```
    ///
    /// # Cancellation
    /// The wait cannot be cancelled once it has begun. Therefore a [`timeout`](Fiber::timeout) does not shorten it either:
    /// `handle.cancel().timeout(limit)` succeeds when the fiber has ended, however late. To wait no longer than a limit,
    /// cancel first, and wait for the end separately:
    ///
    /// ```
    /// use fiber_core::{Fiber, error::TimedOut, fiber};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let (limit, second) = (Duration::from_millis(50), Duration::from_secs(1));
    /// let program = fiber! {
    ///     let! child = Fiber::<()>::never().ensure(Fiber::delay(second)).fork();
    ///     do! Fiber::yield_now(); // it starts
    ///     child.cancel_now();
    ///     do! child.ended().timeout(limit)
    /// };
    /// let error = TestScheduler::new().run(program).failure().unwrap();
    /// assert!(error.is::<TimedOut>());
    /// ```
    #[doc(alias = "interrupt")]
    #[track_caller]
    pub fn cancel(&self) -> Fiber<(), impl Run<Out = ()> + use<T>> {
        self.cancel_at(Location::caller())
    }

    /// Cancels the fiber without waiting for its end. Idempotent. If the fiber has not started, it ends in this call, and
    /// its closures are dropped on this thread.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::{Pool, block_on};
    ///
    /// let pool = Pool::new();
    /// let server = pool.spawn(Fiber::<()>::never());
    /// server.cancel_now();
    /// assert!(block_on(server).is_cancelled());
    /// ```
    #[doc(alias = "abort")]
    pub fn cancel_now(&self) {
        self.context().cancel();
    }

    /// Waits until the fiber has ended, without taking its outcome.
    ///
    /// ```
    /// use fiber_core::Fiber;
    ///
    /// let fiber = Fiber::success(7).fork().bind(|child| {
    ///     let end = child.ended();
    ///     end.bind(|()| child.join())
    /// });
    /// assert_eq!(fiber_sched::run(fiber).unwrap(), 7);
    /// ```
    ///
    /// # Cancellation
    /// The wait ends at once; the other fiber runs on.
    #[track_caller]
    pub fn ended(&self) -> Fiber<(), impl Run<Out = ()> + use<T>> {
        self.ended_at(Location::caller())
    }

    /// The outcome for a future, whose waker is registered under `key`.
    pub(super) fn poll(
        &mut self,
        key: &mut Option<EndKey>,
        cx: &mut std::task::Context<'_>,
    ) -> Poll<Outcome<T>> {
        if let Some(key) = key
            && self.cell().will_wake(key, cx.waker())
        {
            return Poll::Pending;
        }
        self.unwait(key);
        if let Some(outcome) = self.take() {
            return Poll::Ready(outcome);
        }
        *key = self.cell().wait(Wakeup::from(cx.waker().clone())).ok();
        match self.take() {
            Some(outcome) => Poll::Ready(outcome),
            None if key.is_some() => Poll::Pending,
            // The fiber has ended, and its outcome was given: nothing would wake the task.
            None => panic!("polled after it was ready"),
        }
    }

    fn any_end<const CANCELS: bool>(&self) -> AnyEnd<T, CANCELS> {
        AnyEnd(self.0.clone(), PhantomData)
    }

    /// Whether the fiber has ended, finalizers and children included.
    pub fn is_finished(&self) -> bool {
        self.cell().is_done()
    }

    /// The outcome, if the fiber has ended.
    ///
    /// # Errors
    /// Gives the handle back if it has not.
    pub fn try_outcome(self) -> Result<Outcome<T>, Handle<T>> {
        let mut handle = self;
        handle.take().ok_or(handle)
    }

    /// The fiber's id, a path such as `0.2.1`; see [`Context::id`].
    pub fn id(&self) -> String {
        self.context().id()
    }

    /// The fiber's name, if it was [named](Fiber::named).
    pub fn name(&self) -> Option<&str> {
        self.context().name()
    }

    /// The fiber's context, with its fork site, its deadline, and the reason why it waits.
    pub fn context(&self) -> &Context {
        &self.0
    }
}

impl<T: 'static> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle of {}", self.0)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Send + 'static> IntoFiber for Handle<T> {
    type Out = T;
    type Run = Leaf<Join<T>>;

    #[track_caller]
    fn into_fiber(self) -> Fiber<T, Leaf<Join<T>>> {
        Fiber::wait(FiberWait::new(Joined(self)))
    }
}

/// The wait of [`Handle::join`].
pub(crate) type Join<T> = FiberWait<Joined<T>>;
/// The wait of [`Handle::ended`].
pub(crate) type EndWait<T> = FiberWait<AnyEnd<T, false>>;
/// The wait of [`Handle::cancel`].
pub(crate) type CancelWait<T> = FiberWait<AnyEnd<T, true>>;

/// Takes the outcome.
#[derive(Debug)]
pub(crate) struct Ended<T: 'static>(Handle<T>);

impl<T: Send + 'static> FiberEnd for Ended<T> {
    type Value = T;
    type Out = Outcome<T>;

    fn context(&self) -> &Context {
        &self.0.0
    }

    fn begin(&mut self, cx: &Cx<'_>) -> Option<Outcome<Outcome<T>>> {
        self.0.start_inline(cx);
        None
    }

    fn end(&mut self, _: &Cx<'_>) -> Option<Outcome<Outcome<T>>> {
        self.0.take().map(Outcome::Success)
    }
}

/// Takes the value; every end other than a success is a failure of the waiting fiber.
#[derive(Debug)]
pub struct Joined<T: 'static>(Handle<T>);

impl<T: Send + 'static> FiberEnd for Joined<T> {
    type Value = T;
    type Out = T;

    fn context(&self) -> &Context {
        &self.0.0
    }

    fn begin(&mut self, cx: &Cx<'_>) -> Option<Outcome<T>> {
        self.0.start_inline(cx);
        None
    }

    fn end(&mut self, cx: &Cx<'_>) -> Option<Outcome<T>> {
        Some(match self.0.take()? {
            Outcome::Success(value) => Outcome::Success(value),
            wrong => self.translated(wrong, cx),
        })
    }
}

impl<T: Send + 'static> Joined<T> {
    /// The fiber has not succeeded.
    #[cold]
    fn translated(&self, outcome: Outcome<T>, cx: &Cx<'_>) -> Outcome<T> {
        let outcome = match outcome {
            // Cancelled, too, if a common ancestor was.
            Outcome::Cancelled => unless_cancelled(Some(cx), || {
                let error = Error::new(Cancelled);
                // The program may not expect that a branch is a parent, which has cancelled this fiber at its end.
                let error = match self.0.0.ended_parent() {
                    Some(why) => error.context(why),
                    None => error,
                };
                Outcome::Failure(error)
            }),
            outcome => outcome,
        };
        outcome.passed(Frame::new("fork", self.0.site()))
    }
}

/// Leaves the outcome to the handle. May cancel the fiber first.
#[derive(Debug)]
pub(crate) struct AnyEnd<T: 'static, const CANCELS: bool>(Context, PhantomData<fn() -> T>);

impl<T: Send + 'static, const CANCELS: bool> FiberEnd for AnyEnd<T, CANCELS> {
    type Value = T;
    type Out = ();
    const IS_SHIELDED: bool = CANCELS;
    const CAN_LOSE: bool = !CANCELS;

    fn context(&self) -> &Context {
        &self.0
    }

    fn begin(&mut self, cx: &Cx<'_>) -> Option<Outcome<()>> {
        if !CANCELS {
            return None;
        }
        if cx.is_interrupted() {
            return Some(Outcome::Cancelled);
        }
        self.0.cancel();
        let would_wait_for_itself = cx.nearest().is_within(&self.0);
        would_wait_for_itself.then_some(Outcome::Success(()))
    }

    fn end(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        ResultCell::<T>::of(&self.0).is_done().then_some(Outcome::Success(()))
    }
}

/// The future of a [`Handle`], which can be awaited anywhere. Dropping it does not affect the fiber.
#[derive(Debug)]
pub struct HandleFuture<T: 'static> {
    handle: Handle<T>,
    key: Option<EndKey>,
}

impl<T: Send + 'static> Future for HandleFuture<T> {
    type Output = Outcome<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Outcome<T>> {
        let this = &mut *self;
        this.handle.poll(&mut this.key, cx)
    }
}

impl<T: 'static> Drop for HandleFuture<T> {
    fn drop(&mut self) {
        self.handle.unwait(&mut self.key);
    }
}

impl<T: Send + 'static> IntoFuture for Handle<T> {
    type Output = Outcome<T>;
    type IntoFuture = HandleFuture<T>;

    /// A future of the fiber's outcome, for any executor.
    ///
    /// ```
    /// # use fiber_core::Fiber;
    /// # let runtime = tokio_stand_in::runtime();
    /// # mod tokio_stand_in {
    /// #     pub struct Runtime;
    /// #     pub fn runtime() -> Runtime { Runtime }
    /// #     impl Runtime {
    /// #         pub fn block_on<F: Future>(&self, future: F) -> F::Output { fiber_sched::block_on(future) }
    /// #     }
    /// # }
    /// let pool = fiber_sched::Pool::new();
    /// let answer = runtime.block_on(async { pool.spawn(Fiber::success(42)).await.into_result() });
    /// assert_eq!(answer.unwrap(), 42);
    /// ```
    fn into_future(self) -> HandleFuture<T> {
        HandleFuture { handle: self, key: None }
    }
}
