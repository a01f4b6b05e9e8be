//! A fiber that runs in the task that awaits it.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::task::Poll;

use super::branch::Branch;
use super::handle::Handle;
use super::result_cell::{Home, ResultCell};
use super::sink::Sink;
use super::tied::CancelOnDrop;
use crate::engine::context::{Context, is_in_fiber};
use crate::engine::host::Host;
use crate::engine::step::Run;
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::guard;

impl Context {
    /// A fiber below this context that runs in the task that awaits it; see [`Call`].
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::{Pool, block_on};
    /// use std::thread;
    ///
    /// let pool = Pool::new();
    /// let call = pool.context().call(Fiber::lazy(|| thread::current().id()));
    /// assert_eq!(block_on(call).unwrap(), thread::current().id());
    /// ```
    #[track_caller]
    pub fn call<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Call<T> {
        Call::begin(self, fiber, Home, Location::caller(), |_| true)
    }
}

/// A fiber that runs in the task that awaits it: the future of its outcome, and its [`Handle`]. [`Group::call`](crate::Group::call) and
/// [`Context::call`] make one.
///
/// The fiber runs when the future is polled, on the thread that polls it, and the ends of its waits wake the task. So neither its begin
/// nor its end costs a switch of threads, as it does if a task awaits a [spawned](Context::spawn) fiber of a [`Pool`][pool]; and in its
/// turns, what the executor gives to its tasks is there, such as the task-locals of tokio. It is a fiber like any other apart from that: below
/// its context in the tree, cancelled and awaited with it, and visible in dumps, metrics and to observers.
///
/// Its branches run in the task, too, unless another thread is faster. What it [forks](Fiber::fork) belongs to the scheduler. So does the
/// fiber itself
///
/// * from the moment when it yields, has run so long without a wait that it has spent its budget, or is cancelled,
/// * if the future is polled inside of another fiber, or
/// * from its begin, if the scheduler is [no host](crate::scheduler::Scheduler::is_host): those of fiber-test, because each turn is a decision of the
///   schedule, and those whose fibers have [places](crate::scheduler::Scheduler::has_places).
///
/// [pool]: https://docs.rs/fiber-sched/latest/fiber_sched/struct.Pool.html
///
/// # Cancellation
/// If it is dropped before its end, the fiber is cancelled. The scheduler runs the finalizers of a cancelled fiber, whether the future is
/// polled or not, so the task may wait for the end of a [`Group`](crate::Group).
#[must_use = "the fiber runs when this is polled, and is cancelled when this is dropped"]
pub struct Call<T: Send + 'static>(CancelOnDrop<T>);

impl<T: Send + 'static> Call<T> {
    pub(super) fn begin<R, S>(
        above: &Context,
        fiber: Fiber<T, R>,
        sink: S,
        site: &'static Location<'static>,
        admits: impl FnOnce(&Context) -> bool,
    ) -> Self
    where
        R: Run<Out = T>,
        S: Sink<T, Place = ResultCell<T>>,
    {
        let branch = Branch::introduced(above, fiber.into_run(), Called(sink), site, admits);
        Call(Handle::new(branch).cancel_on_drop())
    }

    /// Lets the scheduler run the fiber from now on, without a task that awaits it.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::{Pool, block_on};
    ///
    /// let pool = Pool::new();
    /// let call = pool.context().call(Fiber::success(1));
    /// assert_eq!(block_on(call.release()).unwrap(), 1);
    /// ```
    pub fn release(self) -> Handle<T> {
        self.context().leave_host();
        self.0.release()
    }

    /// Runs what is to run of the fiber. `false`: the fiber has left its host, or has ended.
    fn run(&self, host: &Host, cx: &std::task::Context<'_>) -> bool {
        let mut waker = Some(cx.waker().clone());
        let mut next = || host.next(&mut waker);
        let scheduler = &**self.context().scheduler();
        // In another fiber, it would need a share of that one's stack.
        let is_hosted = !is_in_fiber() && guard(|| scheduler.host(&mut next)).unwrap_or(false);
        if !is_hosted {
            self.context().leave_host();
        }
        if host.has_left() {
            return false;
        }
        if let Some(waker) = waker {
            // Other tasks first.
            waker.wake();
        }
        true
    }
}

impl Context {
    /// Lets the scheduler run the fiber, if it has a host.
    pub(super) fn leave_host(&self) {
        if let Some(host) = self.host() {
            host.leave().go_on(&**self.scheduler());
        }
    }
}

impl<T: Send + 'static> Future for Call<T> {
    type Output = Outcome<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Outcome<T>> {
        match self.context().host() {
            Some(host) if !host.has_left() && self.run(host, cx) => Poll::Pending,
            _ => Pin::new(&mut self.0).poll(cx),
        }
    }
}

impl<T: Send + 'static> Deref for Call<T> {
    type Target = Handle<T>;

    fn deref(&self) -> &Handle<T> {
        &self.0
    }
}

impl<T: Send + 'static> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Call").field(&**self).finish()
    }
}

/// The sink of a fiber with a host, which is woken to take the outcome.
struct Called<S>(S);

impl<T: Send + 'static, S: Sink<T, Place = ResultCell<T>>> Sink<T> for Called<S> {
    type Place = ResultCell<T>;
    const IS_CALLED: bool = true;

    fn deliver(self, context: &Context, outcome: Outcome<T>) {
        self.0.deliver(context, outcome);
        context.leave_host();
    }
}
