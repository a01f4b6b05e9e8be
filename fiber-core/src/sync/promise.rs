use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::operation::{Attempt, Operation};
use super::waiters::{Waiter, Waiters, Wakes};
use crate::engine::context::{Cx, Seat, WaitsFor};
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::error::shared::PromiseFailed;
use crate::error::{Abandoned, Cancelled, Error, Frame, IntoError};
use crate::fiber::Fiber;
use crate::footprint::{Access, Noted};
use crate::leaf::{Leaf, cancelled_or};
use crate::outcome::Outcome;

/// A value that is set once, later, for all fibers that wait for it.
///
/// ```
/// use fiber_core::{Fiber, sync::Promise};
///
/// let port = Promise::new();
/// let clients = Fiber::parallel((0..3).map({
///     let port = port.clone();
///     move |n| port.wait().map(move |port| port + n)
/// }));
/// let server = Fiber::yield_now().map(move |()| port.success(8000));
/// assert_eq!(fiber_sched::run(clients.zip(server)).unwrap(), (vec![8000, 8001, 8002], true));
/// ```
///
/// A promise is completed by the first of [`success`](Promise::success), [`fail`](Promise::fail),
/// [`cancel`](Promise::cancel) and [`outcome`](Promise::outcome); later calls have no effect. It stays
/// completed, so all later waits give the same value. Writes before the completion are visible to every fiber that sees
/// the completion.
///
/// Clones are handles of the same promise. When the last handle is dropped before the promise is completed, nothing can
/// complete it any more, and its waiters fail with [`Abandoned`]. A waiting fiber is not a handle.
///
/// Waiters clone the value concurrently, so it has to be [`Sync`] as well as [`Clone`].
/// [`one_shot`](super::one_shot) is for any other value, and for a single receiver.
#[doc(alias = "deferred")]
pub struct Promise<T: 'static>(Arc<Shared<T>>);

struct Shared<T> {
    completed: OnceLock<Completed<T>>,
    queue: Noted<Waiters<()>>,
    handles: AtomicUsize,
    subject: Subject,
}

enum Completed<T> {
    Success(T),
    Failure(PromiseFailed),
    Cancelled,
    Abandoned,
}

impl<T: Send + Sync + 'static> Promise<T> {
    /// A promise that is not completed.
    #[track_caller]
    pub fn new() -> Self {
        Promise::in_place_of("Promise", Location::caller())
    }

    /// For primitives built on this one: `kind` is what reports call it, and `site` the place where the user calls them.
    pub(super) fn in_place_of(kind: &'static str, site: &'static Location<'static>) -> Self {
        Promise(Arc::new(Shared {
            completed: OnceLock::new(),
            queue: Noted::new(Waiters::new()),
            handles: AtomicUsize::new(1),
            subject: Subject::new(kind, site),
        }))
    }

    /// Names the promise in reports. An existing name is kept.
    ///
    /// ```
    /// let port = fiber_core::sync::Promise::<u16>::new().named("port");
    /// assert!(format!("{port:?}").contains("port"));
    /// ```
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.0.subject.set_name(name);
        self
    }

    /// Completes the promise with a value. `true` if this was the first completion. Otherwise the value is dropped.
    pub fn success(&self, value: T) -> bool {
        self.0.complete(Completed::Success(value))
    }

    /// Completes the promise with a failure. All waiters fail with this error, which they share: it looks as if each of them
    /// had it alone, but cannot be taken out by value. `true` if this was the first completion.
    ///
    /// ```
    /// use fiber_core::sync::Promise;
    /// use std::num::ParseIntError;
    ///
    /// let promise = Promise::<u8>::new();
    /// assert!(promise.fail("x".parse::<u8>().unwrap_err()));
    /// assert!(!promise.success(1));
    /// let error = fiber_sched::run(promise.wait()).failure().unwrap();
    /// assert!(error.is::<ParseIntError>());
    /// ```
    pub fn fail(&self, error: impl IntoError) -> bool {
        self.0.complete(Completed::Failure(PromiseFailed::new(error.into_error())))
    }

    /// Completes the promise with a cancellation. All waiters fail with [`Cancelled`], but are not cancelled
    /// themselves, like a fiber that joins a cancelled one. `true` if this was the first completion.
    pub fn cancel(&self) -> bool {
        self.0.complete(Completed::Cancelled)
    }

    /// Completes the promise with the end of a fiber. A panic becomes a failure with a [`Panicked`]. `true` if this was the
    /// first completion.
    ///
    /// [`Panicked`]: crate::error::Panicked
    ///
    /// ```
    /// use fiber_core::{Fiber, Outcome, sync::Promise};
    ///
    /// let promise = Promise::new();
    /// let handle = promise.clone();
    /// let compute = Fiber::success(6).on_outcome(move |outcome: &Outcome<i32>| {
    ///     let copy = match outcome {
    ///         Outcome::Success(value) => Outcome::Success(*value),
    ///         _ => Outcome::Cancelled,
    ///     };
    ///     Fiber::lazy(move || drop(handle.outcome(copy)))
    /// });
    /// assert_eq!(fiber_sched::run(promise.wait().zip(compute)).unwrap(), (6, 6));
    /// ```
    pub fn outcome(&self, outcome: Outcome<T>) -> bool {
        match outcome {
            Outcome::Success(value) => self.success(value),
            Outcome::Failure(error) => self.fail(error),
            Outcome::Panicked(panic) => self.fail(panic.into_error()),
            Outcome::Cancelled => self.cancel(),
        }
    }

    /// Whether the promise is completed.
    pub fn is_completed(&self) -> bool {
        self.0.seen().is_some()
    }

    /// Whether it was completed with a failure. `None`: it is not completed.
    pub(super) fn has_failed(&self) -> Option<bool> {
        self.0.seen().map(|completed| matches!(completed, Completed::Failure(_)))
    }
}

impl<T: Clone + Send + Sync + 'static> Promise<T> {
    /// Waits until the promise is completed, and gives a clone of the value.
    ///
    /// # Errors
    /// * The error that the promise was completed with, which all waiters share; see [`PromiseFailed`].
    /// * [`Cancelled`], if it was completed with a cancellation.
    /// * [`Abandoned`], if its last handle was dropped.
    ///
    /// # Panics
    /// A panic of `clone` becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// The wait ends at once. The promise stays unchanged.
    #[track_caller]
    pub fn wait(&self) -> Fiber<T, impl Run<Out = T> + Clone + use<T>> {
        self.wait_at(Location::caller())
    }

    /// For primitives built on this one: `site` is the place where the user calls them.
    pub(super) fn wait_at(&self, site: &'static Location<'static>) -> Fiber<T, Leaf<Operation<Kept<T>>>> {
        Operation::fiber(Kept { promise: self.0.clone(), site }, site)
    }

    /// Like [`wait`](Promise::wait), for a thread that runs no fibers.
    ///
    /// # Errors
    /// As in `wait`.
    ///
    /// # Blocking
    /// Blocks the thread until the promise is completed.
    #[track_caller]
    pub fn blocking_wait(&self) -> Result<T, Error> {
        let kept = Kept { promise: self.0.clone(), site: Location::caller() };
        Operation::block(kept).into_result()
    }

    /// The outcome, if the promise is completed.
    pub fn try_outcome(&self) -> Option<Outcome<T>> {
        self.0.seen().map(Completed::outcome)
    }
}

impl<T> Shared<T> {
    /// The completion, if there is one, for a fiber that checks.
    fn seen(&self) -> Option<&Completed<T>> {
        self.queue.object().touch(Access::Read);
        self.completed.get()
    }

    fn complete(&self, completed: Completed<T>) -> bool {
        let mut queue = self.queue.lock();
        // A waiter checks for the outcome under this lock before it joins the queue.
        let late = self.completed.set(completed);
        let mut wakes = Wakes::default();
        queue.serve_all(|()| (), &mut wakes);
        wakes.wake_after(queue);
        // A value that came too late is dropped without the lock.
        late.is_ok()
    }

    /// Called when a handle is dropped before the completion.
    fn handles_left(&self, left: usize) {
        self.queue.object().second().count_down(left);
        if left == 0 {
            self.complete(Completed::Abandoned);
        }
    }
}

impl<T: Clone> Completed<T> {
    /// The outcome for one waiter.
    fn outcome(&self) -> Outcome<T> {
        match self {
            Completed::Success(value) => Outcome::Success(value.clone()),
            Completed::Failure(shared) => Outcome::Failure(shared.to_error()),
            Completed::Cancelled => Outcome::Failure(Error::new(Cancelled)),
            Completed::Abandoned => Outcome::Failure(Error::new(Abandoned)),
        }
    }
}

impl<T: Send + Sync + 'static> Default for Promise<T> {
    #[track_caller]
    fn default() -> Self {
        Promise::new()
    }
}

impl<T> Clone for Promise<T> {
    fn clone(&self) -> Self {
        // Relaxed: as with the count of an `Arc`, this handle keeps the count above zero.
        self.0.handles.fetch_add(1, Ordering::Relaxed);
        Promise(self.0.clone())
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        // AcqRel: pairs with the same decrement of other handles, so that the last one sees their completion.
        let left = self.0.handles.fetch_sub(1, Ordering::AcqRel) - 1;
        if self.0.completed.get().is_none() {
            self.0.handles_left(left);
        }
    }
}

impl<T> fmt::Debug for Promise<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.0.completed.get() {
            None => "not completed",
            Some(Completed::Success(_)) => "succeeded",
            Some(Completed::Failure(_)) => "failed",
            Some(Completed::Cancelled) => "cancelled",
            Some(Completed::Abandoned) => "abandoned",
        };
        write!(f, "{} ({state})", self.0.subject)
    }
}

/// The wait of [`Promise::wait`].
pub(crate) struct Kept<T: 'static> {
    promise: Arc<Shared<T>>,
    site: &'static Location<'static>,
}

impl<T> Clone for Kept<T> {
    /// Clones the description, which is not in the queue.
    fn clone(&self) -> Self {
        Kept { promise: self.promise.clone(), site: self.site }
    }
}

impl<T: Clone + Send + Sync + 'static> Kept<T> {
    #[inline]
    fn outcome(&self, cx: Option<&Cx<'_>>) -> Option<Outcome<T>> {
        let outcome = cancelled_or(self.promise.seen()?.outcome(), cx);
        Some(outcome.passed(Frame::new("promise", self.site)))
    }
}

impl<T: Clone + Send + Sync + 'static> Attempt for Kept<T> {
    type Out = T;
    type Place = Waiter<()>;
    const WAITS_FOR: WaitsFor = WaitsFor::Signal;

    #[inline]
    fn attempt(&mut self, cx: Option<&Cx<'_>>) -> Option<Outcome<T>> {
        self.outcome(cx)
    }

    fn join(&mut self, place: &mut Waiter<()>, cx: Option<&Cx<'_>>, seat: Seat) -> Option<Outcome<T>> {
        // Waiters that join do not affect each other.
        let mut queue = self.promise.queue.lock_to_read();
        if self.promise.completed.get().is_none() {
            place.join(&mut queue, seat, ());
            return None;
        }
        drop(queue);
        // Without the lock, because the clone is user code.
        if seat.claim() { self.outcome(cx) } else { None }
    }

    fn leave(&mut self, place: &mut Waiter<()>) {
        if place.needs_lock() {
            place.leave(&mut self.promise.queue.lock_to_read());
        }
    }

    fn subject(&self) -> &Subject {
        &self.promise.subject
    }
}

impl<T> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wait for {}", self.promise.subject)
    }
}
