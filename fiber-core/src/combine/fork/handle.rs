//! Handles of running fibers.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::task::Poll;

use super::branch::Branch;
use super::result_cell::ResultCell;
use super::wait_list::WaitKey;
use crate::engine::context::{Context, Cx, WaitsFor, Wakeup, Watch};
use crate::engine::scheduler::SwitchPoint;
use crate::engine::step::Run;
use crate::error::{Cancelled, Error, Frame, Site};
use crate::fiber::{Fiber, IntoFiber};
use crate::leaf::{Leaf, Wait};
use crate::outcome::Outcome;

/// A handle of a running fiber. Dropping the handle does not affect the fiber.
///
/// Inside a fiber, use [`join`](Handle::join), [`outcome`](Handle::outcome) and [`cancel`](Handle::cancel). In any
/// future, under any executor, `handle.await` gives the [`Outcome`].
///
/// If the handle is dropped before its outcome was taken, a failure goes to
/// [`Scheduler::unobserved`](crate::Scheduler::unobserved).
pub struct Handle<T: 'static>(Target<T>);

/// The context of a fiber that leaves its outcome in a [`ResultCell<T>`](ResultCell).
struct Target<T: 'static>(Context, PhantomData<fn() -> T>);

impl<T: 'static> Target<T> {
    fn cell(&self) -> &ResultCell<T> {
        ResultCell::of(&self.0)
    }

    fn context(&self) -> &Context {
        &self.0
    }
}

impl<T: 'static> Clone for Target<T> {
    fn clone(&self) -> Self {
        Target(self.0.clone(), PhantomData)
    }
}

impl<T: 'static> fmt::Debug for Target<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl<T: 'static> Drop for Handle<T> {
    fn drop(&mut self) {
        self.0.0.forget();
    }
}

impl<T: Send + 'static> Handle<T> {
    pub(crate) fn new<R: Run<Out = T>, S>(branch: Branch<R, S, ResultCell<T>>) -> Self {
        Handle(Target(branch.into_context(), PhantomData))
    }

    pub(crate) fn site(&self) -> Site {
        self.context().fork_site()
    }

    /// Waits for the fiber and gives its value.
    ///
    /// # Errors
    /// The fiber's failure. If the fiber was cancelled, the error is [`Cancelled`]; the joining fiber itself is not
    /// cancelled.
    ///
    /// # Panics
    /// A panic of the fiber becomes the outcome of the joining fiber too.
    ///
    /// # Cancellation
    /// The wait ends at once; the joined fiber goes on.
    #[track_caller]
    pub fn join(self) -> Fiber<T, Leaf<Join<T>>> {
        Fiber::wait(Join(self.into_outcome_wait()))
    }

    /// Waits for the fiber and gives its outcome, whatever it is.
    ///
    /// ```
    /// use fiber_core::{Error, Fiber};
    /// let fiber = Fiber::<()>::fail(Error::msg("no")).fork().bind(|child| child.outcome());
    /// assert!(fiber_sched::run(fiber).unwrap().is_failure());
    /// ```
    ///
    /// # Cancellation
    /// The wait ends at once; the other fiber goes on.
    #[track_caller]
    pub fn outcome(self) -> Fiber<Outcome<T>, Leaf<OutcomeWait<T>>> {
        self.outcome_at(Location::caller())
    }

    /// For combinators that are built from this one: `site` is where the user calls them. So are the next two.
    pub(crate) fn outcome_at(self, site: Site) -> Fiber<Outcome<T>, Leaf<OutcomeWait<T>>> {
        Fiber::new(Leaf::new(self.into_outcome_wait(), site))
    }

    pub(crate) fn cancel_at(&self, site: Site) -> Fiber<(), Leaf<CancelWait<T>>> {
        Fiber::new(Leaf::new(CancelWait { end: self.end_wait(), has_begun: false }, site))
    }

    pub(crate) fn ended_at(&self, site: Site) -> Fiber<(), Leaf<EndWait<T>>> {
        Fiber::new(Leaf::new(self.end_wait(), site))
    }

    pub(crate) fn into_outcome_wait(self) -> OutcomeWait<T> {
        OutcomeWait { handle: self, key: None }
    }

    /// Cancels the fiber, and waits until it has ended, finalizers included. Idempotent.
    ///
    /// A fiber that cancels itself, or a fiber that it belongs to, does not wait, because its own end would have to
    /// come first. (Two fibers whose finalizers cancel each other wait for each other forever.)
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
    /// Once it has begun, it cannot be cancelled.
    #[track_caller]
    pub fn cancel(&self) -> Fiber<(), Leaf<CancelWait<T>>> {
        self.cancel_at(Location::caller())
    }

    /// Cancels the fiber without waiting for its end. Idempotent. If the fiber has not started, it ends right here, and
    /// its closures are dropped on this thread.
    pub fn cancel_now(&self) {
        self.context().cancel();
    }

    /// Waits until the fiber has ended, without taking its outcome.
    ///
    /// # Cancellation
    /// The wait ends at once; the other fiber goes on.
    #[track_caller]
    pub fn ended(&self) -> Fiber<(), Leaf<EndWait<T>>> {
        self.ended_at(Location::caller())
    }

    fn end_wait(&self) -> EndWait<T> {
        EndWait { target: self.0.clone(), key: None }
    }

    /// Whether the fiber has ended, finalizers and children included.
    pub fn is_finished(&self) -> bool {
        self.0.cell().is_done()
    }

    /// The outcome, if the fiber has ended.
    ///
    /// # Errors
    /// Gives the handle back if it has not.
    pub fn try_outcome(self) -> Result<Outcome<T>, Handle<T>> {
        self.0.cell().take().ok_or(self)
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
        self.0.context()
    }
}

impl<T: 'static> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle of {}", self.0.context())
    }
}

#[diagnostic::do_not_recommend]
impl<T: Send + 'static> IntoFiber for Handle<T> {
    type Out = T;
    type Run = Leaf<Join<T>>;

    #[track_caller]
    fn into_fiber(self) -> Fiber<T, Leaf<Join<T>>> {
        self.join()
    }
}

/// The wait of [`Handle::outcome`].
#[derive(Debug)]
pub struct OutcomeWait<T: 'static> {
    handle: Handle<T>,
    key: Option<WaitKey>,
}

impl<T: 'static> OutcomeWait<T> {
    pub(crate) fn has_ended(&self) -> bool {
        self.handle.0.cell().is_done()
    }

    pub(crate) fn cancel_now(&self) {
        self.handle.0.context().cancel();
    }

    pub(crate) fn handle(&self) -> &Handle<T> {
        &self.handle
    }

    /// The result of the wait, if the fiber has ended.
    pub(crate) fn take(&self) -> Option<Outcome<Outcome<T>>> {
        self.handle.0.cell().take().map(Outcome::Success)
    }
}

impl<T: Send + 'static> Wait for OutcomeWait<T> {
    type Out = Outcome<T>;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<Outcome<T>>> {
        let fiber = &self.handle.0;
        let is_ours = cx.is_on(fiber.context().scheduler());
        if is_ours
            && !fiber.cell().is_done()
            && cx.is_at_place_of(fiber.context())
            && self.key.is_none()
            && !cx.is_deep()
            && cx.spend(|| SwitchPoint::Branch)
        {
            // If the fiber has not been started, running it right here is the fastest way.
            fiber.context().start(cx.above(&Watch::host(cx)).view());
        }
        self.take()
    }

    fn register(&mut self, _: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<Outcome<T>>> {
        self.key = self.handle.0.cell().wait(wakeup);
        self.take()
    }

    fn deregister(&mut self, _: &Cx<'_>) {
        if let Some(key) = self.key {
            self.handle.0.cell().unwait(key);
        }
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Fiber
    }

    fn waits_on(&self) -> Option<&Context> {
        Some(self.handle.0.context())
    }
}

/// The wait of [`Handle::join`].
#[derive(Debug)]
pub struct Join<T: 'static>(OutcomeWait<T>);

impl<T: Send + 'static> Join<T> {
    fn joined(&self, cx: &Cx<'_>, outcome: Outcome<Outcome<T>>) -> Outcome<T> {
        let outcome = match outcome {
            // Both fibers were cancelled from above.
            Outcome::Success(Outcome::Cancelled) if cx.is_interrupted() => Outcome::Cancelled,
            Outcome::Success(Outcome::Cancelled) => Outcome::Failure(Error::new(Cancelled)),
            Outcome::Success(outcome) => outcome,
            Outcome::Failure(_) | Outcome::Panicked(_) | Outcome::Cancelled => Outcome::Cancelled,
        };
        outcome.passed(Frame::new("fork", self.0.handle.site()))
    }
}

impl<T: Send + 'static> Wait for Join<T> {
    type Out = T;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<T>> {
        self.0.poll(cx).map(|outcome| self.joined(cx, outcome))
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<T>> {
        self.0.register(cx, wakeup).map(|outcome| self.joined(cx, outcome))
    }

    fn deregister(&mut self, cx: &Cx<'_>) {
        self.0.deregister(cx);
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Fiber
    }

    fn waits_on(&self) -> Option<&Context> {
        Some(self.0.handle.0.context())
    }
}

/// The wait of [`Handle::cancel`].
#[derive(Debug)]
pub struct CancelWait<T: 'static> {
    end: EndWait<T>,
    has_begun: bool,
}

impl<T: Send + 'static> Wait for CancelWait<T> {
    type Out = ();
    const IS_SHIELDED: bool = true;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<()>> {
        if !self.has_begun {
            if cx.is_interrupted() {
                return Some(Outcome::Cancelled);
            }
            self.has_begun = true;
            self.end.target.context().cancel();
        }
        let would_wait_for_itself = cx.is_within(self.end.target.context());
        if would_wait_for_itself { Some(Outcome::Success(())) } else { self.end.poll(cx) }
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
        self.end.register(cx, wakeup)
    }

    fn deregister(&mut self, cx: &Cx<'_>) {
        self.end.deregister(cx);
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Fiber
    }

    fn waits_on(&self) -> Option<&Context> {
        Some(self.end.target.context())
    }
}

/// The wait of [`Handle::ended`].
#[derive(Debug)]
pub struct EndWait<T: 'static> {
    target: Target<T>,
    key: Option<WaitKey>,
}

impl<T: Send + 'static> Wait for EndWait<T> {
    type Out = ();

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        self.target.cell().is_done().then_some(Outcome::Success(()))
    }

    fn register(&mut self, _: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
        self.key = self.target.cell().wait(wakeup);
        self.key.is_none().then_some(Outcome::Success(()))
    }

    fn deregister(&mut self, _: &Cx<'_>) {
        if let Some(key) = self.key {
            self.target.cell().unwait(key);
        }
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Fiber
    }

    fn waits_on(&self) -> Option<&Context> {
        Some(self.target.context())
    }
}

/// The future of a [`Handle`], which can be awaited anywhere. Dropping it does not affect the fiber.
#[derive(Debug)]
pub struct HandleFuture<T: 'static> {
    handle: Handle<T>,
    key: Option<WaitKey>,
}

impl<T: Send + 'static> Future for HandleFuture<T> {
    type Output = Outcome<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Outcome<T>> {
        self.forget_waker();
        let cell = self.handle.0.cell();
        if let Some(outcome) = cell.take() {
            return Poll::Ready(outcome);
        }
        self.key = cell.wait(Wakeup::from(cx.waker().clone()));
        self.handle.0.cell().take().map_or(Poll::Pending, Poll::Ready)
    }
}

impl<T: 'static> HandleFuture<T> {
    fn forget_waker(&mut self) {
        if let Some(key) = self.key.take() {
            self.handle.0.cell().unwait(key);
        }
    }
}

impl<T: 'static> Drop for HandleFuture<T> {
    fn drop(&mut self) {
        self.forget_waker();
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
