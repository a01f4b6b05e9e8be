//! A running fiber, as others see it.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::mem::needs_drop;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use super::branch::{Branch, Sink};
use super::result_cell::ResultCell;
use super::wait_list::WaitKey;
use crate::bury::bury;
use crate::context::{Context, Cx, WaitsFor, Wakeup, Watch};
use crate::error::{Cancelled, Error, Frame};
use crate::fiber::{Fiber, IntoFiber};
use crate::leaf::{Leaf, Wait};
use crate::outcome::{Outcome, guard};
use crate::scheduler::{SwitchPoint, Unobserved};
use crate::step::Run;
use crate::task::Start;

/// A running fiber, held by somebody else. Dropping the handle changes nothing for the fiber.
///
/// In a fiber: [`join`](Handle::join), [`outcome`](Handle::outcome), [`cancel`](Handle::cancel). In any future,
/// whatever runs it: `handle.await`, which gives the [`Outcome`].
pub struct Handle<T> {
    fiber: Arc<dyn Forked<T>>,
    site: &'static Location<'static>,
}

/// A branch whose outcome a handle may take.
trait Forked<T>: Start {
    fn cell(&self) -> &ResultCell<T>;
}

impl<R: Run, S: Sink<R::Out> + AsRef<ResultCell<R::Out>>> Forked<R::Out> for Branch<R, S> {
    fn cell(&self) -> &ResultCell<R::Out> {
        self.sink().as_ref()
    }
}

impl<T> AsRef<ResultCell<T>> for ResultCell<T> {
    fn as_ref(&self) -> &ResultCell<T> {
        self
    }
}

impl<T: Send + 'static> Sink<T> for ResultCell<T> {
    fn deliver(&self, _: &Context, outcome: Outcome<T>) {
        self.complete(outcome);
    }

    fn forget(&mut self, context: &Context) {
        if let Some(outcome) = self.take() {
            Unobserved::report(context, &outcome);
            // This may be in the middle of another fiber, which must not be torn apart; and the value may hold a handle, whose value
            // holds a handle, and so on.
            if const { needs_drop::<T>() } {
                let dropped = guard(|| bury(Box::new(outcome)));
                Unobserved::report(context, &dropped.map_or_else(Outcome::Panicked, Outcome::Success));
            }
        }
    }
}

impl<T: Send + 'static> Handle<T> {
    pub(super) fn new<R, S>(branch: Arc<Branch<R, S>>, site: &'static Location<'static>) -> Self
    where
        R: Run<Out = T>,
        S: Sink<T> + AsRef<ResultCell<T>>,
    {
        Handle { fiber: branch, site }
    }

    pub(super) fn site(&self) -> &'static Location<'static> {
        self.site
    }

    /// Waits for the fiber and gives its value.
    ///
    /// # Errors
    /// The fiber's failure; [`Cancelled`] if it was cancelled, which the joining fiber is not.
    ///
    /// # Panics
    /// A panic of the fiber is the outcome here too.
    ///
    /// # Cancellation
    /// At once; the joined fiber goes on.
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
    /// At once; the other fiber goes on.
    #[track_caller]
    pub fn outcome(self) -> Fiber<Outcome<T>, Leaf<OutcomeWait<T>>> {
        self.outcome_at(Location::caller())
    }

    /// For a combinator that is built from others: `site` is where the user calls it. So are the next two.
    pub(super) fn outcome_at(
        self,
        site: &'static Location<'static>,
    ) -> Fiber<Outcome<T>, Leaf<OutcomeWait<T>>> {
        Fiber::new(Leaf::new(self.into_outcome_wait(), site))
    }

    pub(super) fn cancel_at(&self, site: &'static Location<'static>) -> Fiber<(), Leaf<CancelWait<T>>> {
        Fiber::new(Leaf::new(CancelWait { end: self.end_wait(), has_begun: false }, site))
    }

    pub(super) fn ended_at(&self, site: &'static Location<'static>) -> Fiber<(), Leaf<EndWait<T>>> {
        Fiber::new(Leaf::new(self.end_wait(), site))
    }

    pub(super) fn into_outcome_wait(self) -> OutcomeWait<T> {
        OutcomeWait { handle: self, key: None }
    }

    /// Cancels the fiber and waits until it has ended, finalizers included. Idempotent.
    ///
    /// A fiber that cancels itself, or one that it belongs to, does not wait: it could never end. (Two fibers whose finalizers
    /// cancel each other do wait, for each other, for ever.)
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
    /// Once it has begun it cannot be cancelled.
    #[track_caller]
    pub fn cancel(&self) -> Fiber<(), Leaf<CancelWait<T>>> {
        self.cancel_at(Location::caller())
    }

    /// Cancels the fiber and does not wait for its end. Idempotent. If the fiber has not started, it ends right here, and what its
    /// closures hold is dropped on this thread.
    pub fn cancel_now(&self) {
        self.context().cancel();
    }

    /// Waits until the fiber has ended, and leaves its outcome to be taken.
    ///
    /// # Cancellation
    /// At once; the other fiber goes on.
    #[track_caller]
    pub fn ended(&self) -> Fiber<(), Leaf<EndWait<T>>> {
        self.ended_at(Location::caller())
    }

    fn end_wait(&self) -> EndWait<T> {
        let target = Handle { fiber: self.fiber.clone(), site: self.site };
        EndWait { target, key: None }
    }

    /// Whether the fiber has ended, finalizers and children included.
    pub fn is_finished(&self) -> bool {
        self.fiber.cell().is_done()
    }

    /// The outcome, if the fiber has ended.
    ///
    /// # Errors
    /// Gives the handle back if it has not.
    pub fn try_outcome(self) -> Result<Outcome<T>, Handle<T>> {
        self.fiber.cell().take().ok_or(self)
    }

    /// The fiber's id, a path such as `0.2.1`; see [`Context::id`].
    pub fn id(&self) -> String {
        self.context().id()
    }

    /// The fiber's name, if it was [named](Fiber::named).
    pub fn name(&self) -> Option<&str> {
        self.context().name()
    }

    /// The fiber's context: its fork site, deadline, and what it waits for.
    pub fn context(&self) -> &Context {
        self.fiber.context()
    }
}

impl<T: 'static> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle of {}", self.fiber.context())
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
    pub(super) fn has_ended(&self) -> bool {
        self.handle.fiber.cell().is_done()
    }

    pub(super) fn cancel_now(&self) {
        self.handle.fiber.context().cancel();
    }

    pub(super) fn handle(&self) -> &Handle<T> {
        &self.handle
    }

    /// What the wait gives, if the fiber has ended.
    pub(super) fn take(&self) -> Option<Outcome<Outcome<T>>> {
        self.handle.fiber.cell().take().map(Outcome::Success)
    }
}

impl<T: Send + 'static> Wait for OutcomeWait<T> {
    type Out = Outcome<T>;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<Outcome<T>>> {
        let fiber = &self.handle.fiber;
        let is_ours = cx.is_on(fiber.context().scheduler());
        if is_ours
            && !fiber.cell().is_done()
            && self.key.is_none()
            && !cx.is_deep()
            && cx.spend(|| SwitchPoint::Branch)
        {
            // Not started by anybody yet: then it is quickest done here.
            fiber.clone().start(cx.above(&Watch::host(cx)).turn());
        }
        self.take()
    }

    fn register(&mut self, _: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<Outcome<T>>> {
        self.key = self.handle.fiber.cell().wait(wakeup);
        self.take()
    }

    fn deregister(&mut self, _: &Cx<'_>) {
        if let Some(key) = self.key {
            self.handle.fiber.cell().unwait(key);
        }
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Fiber
    }

    fn waits_on(&self) -> Option<&Context> {
        Some(self.handle.fiber.context())
    }
}

/// The wait of [`Handle::join`].
#[derive(Debug)]
pub struct Join<T: 'static>(OutcomeWait<T>);

impl<T: Send + 'static> Join<T> {
    fn joined(&self, cx: &Cx<'_>, outcome: Outcome<Outcome<T>>) -> Outcome<T> {
        let outcome = match outcome {
            // Both were cancelled, by somebody above.
            Outcome::Success(Outcome::Cancelled) if cx.is_interrupted() => Outcome::Cancelled,
            Outcome::Success(Outcome::Cancelled) => Outcome::Failure(Error::new(Cancelled)),
            Outcome::Success(outcome) => outcome,
            Outcome::Failure(_) | Outcome::Panicked(_) | Outcome::Cancelled => Outcome::Cancelled,
        };
        outcome.passed(Frame::new("fork", self.0.handle.site))
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
        Some(self.0.handle.fiber.context())
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
            self.end.target.cancel_now();
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
    target: Handle<T>,
    key: Option<WaitKey>,
}

impl<T: Send + 'static> Wait for EndWait<T> {
    type Out = ();

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        self.target.is_finished().then_some(Outcome::Success(()))
    }

    fn register(&mut self, _: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
        self.key = self.target.fiber.cell().wait(wakeup);
        self.key.is_none().then_some(Outcome::Success(()))
    }

    fn deregister(&mut self, _: &Cx<'_>) {
        if let Some(key) = self.key {
            self.target.fiber.cell().unwait(key);
        }
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Fiber
    }

    fn waits_on(&self) -> Option<&Context> {
        Some(self.target.context())
    }
}

/// The future of a [`Handle`]: may be awaited anywhere. Dropping it changes nothing for the fiber.
#[derive(Debug)]
pub struct HandleFuture<T: 'static> {
    handle: Handle<T>,
    key: Option<WaitKey>,
}

impl<T: Send + 'static> Future for HandleFuture<T> {
    type Output = Outcome<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Outcome<T>> {
        self.forget_waker();
        let cell = self.handle.fiber.cell();
        if let Some(outcome) = cell.take() {
            return Poll::Ready(outcome);
        }
        self.key = cell.wait(Wakeup::from(cx.waker().clone()));
        self.handle.fiber.cell().take().map_or(Poll::Pending, Poll::Ready)
    }
}

impl<T: 'static> HandleFuture<T> {
    fn forget_waker(&mut self) {
        if let Some(key) = self.key.take() {
            self.handle.fiber.cell().unwait(key);
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
