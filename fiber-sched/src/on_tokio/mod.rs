//! Fibers on a tokio runtime, [`TokioScheduler`].
//!
//! | file | what |
//! |---|---|
//! | `builder` | makes a scheduler |
//! | `scheduler` | the `Scheduler` that its fibers see |
//! | `driver` | the tokio tasks that run fibers, each with a deque |
//! | `drivers` | what they share: the queue of what comes from elsewhere, and who is woken for it |
//! | `hosts` | where tokio tasks run the fibers that they await |
//! | `idle` | which of them have nothing to do |
//! | `wakes` | the hosts that a fiber wakes in its turn |
//! | `lookout` | the thread that looks after those that are busy |
//! | `sockets` | the tokio task that serves the sockets of fibers |
//! | `timekeeper` | the tokio task that fires timers |

mod builder;
mod driver;
mod drivers;
mod hosts;
mod idle;
mod lookout;
mod scheduler;
#[cfg(all(feature = "net", unix))]
mod sockets;
#[cfg(not(all(feature = "net", unix)))]
#[path = "no_sockets.rs"]
mod sockets;
mod timekeeper;
mod wakes;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fiber_core::scheduler::Scheduler;
use fiber_core::{Call, Context, Dump, Fiber, Group, Handle, Run};
use tokio::runtime;
use tokio::sync::oneshot;

pub use self::builder::TokioBuilder;
pub(crate) use self::scheduler::RuntimeScheduler;
use crate::metrics::Metrics;
use crate::shutdown::Shutdown;
use crate::unfinished::Unfinished;

/// Runs fibers on a tokio runtime that the program has anyway: on its workers, with its timers, and with its threads for
/// blocking calls.
///
/// A future in a fiber runs inside the runtime, so `tokio::net`, `reqwest`, `sqlx` and `tokio::time` work there. A fiber
/// that a tokio task wakes runs on the thread of that task, and the other way round, so neither costs a switch of threads.
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_sched::TokioScheduler;
/// use std::time::Duration;
///
/// #[tokio::main]
/// async fn main() {
///     let fibers = TokioScheduler::current();
///     let sleep = async { Ok::<_, std::io::Error>(tokio::time::sleep(Duration::from_millis(1)).await) };
///     let quick = Fiber::from_future(sleep).timeout(Duration::from_secs(60));
///     assert!(fibers.spawn(quick.map(|()| "in time")).await.is_success());
/// }
/// ```
///
/// With the feature `net`, on Unix, the sockets of [`fiber_core::net`] and child processes work here, too, beside those of tokio. They need the
/// I/O of the runtime (`enable_io`); without it, a fiber that opens one panics, as `tokio::net` does.
///
/// Timers are those of tokio: they fire up to a millisecond late, and they stand still while tokio's clock is
/// paused by `tokio::time::pause`. When its tasks are idle, tokio moves a paused clock to the next timer. It does not see the threads of
/// `Fiber::dedicated` and `Fiber::direct`: there, a timeout around those may end at once.
///
/// A fiber yields after some 1,000 binds, and a driver, which is the tokio task that runs fibers, yields to other tokio tasks
/// after some turns of fibers. A closure that computes keeps its worker. If the runtime has several, an idle one meanwhile runs
/// the fibers that wait, fires their timers, and serves sockets; the scheduler has one thread of its own that sees to that, and
/// sleeps while all fibers wait. On a runtime with one worker, everything waits until the closure returns.
///
/// # Cancellation
/// Dropping it cancels all remaining fibers. They end in the background, finalizers included, as long as the runtime
/// runs; [`shutdown`](TokioScheduler::shutdown) waits for them. Fibers that are spawned meanwhile or later end as
/// cancelled. If the runtime itself is dropped first, its fibers are abandoned: their finalizers do not run, and nobody tells their blocking
/// calls to stop, for which the drop of a runtime waits.
pub struct TokioScheduler {
    root: Context,
    scheduler: Arc<RuntimeScheduler>,
    is_draining: bool,
}

impl TokioScheduler {
    /// Runs fibers on the runtime of the calling task.
    ///
    /// # Panics
    /// Outside of a tokio runtime, or if the timers of the runtime are not enabled.
    #[track_caller]
    pub fn current() -> Self {
        TokioScheduler::new(&runtime::Handle::current())
    }

    /// Runs fibers on a runtime.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::TokioScheduler;
    ///
    /// let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    /// let fibers = TokioScheduler::new(runtime.handle());
    /// let answer = runtime.block_on(fibers.spawn(Fiber::success(6).map(|n| n * 7)).into_future());
    /// assert_eq!(answer.unwrap(), 42);
    /// ```
    ///
    /// # Panics
    /// If the timers of the runtime are not enabled.
    #[track_caller]
    pub fn new(runtime: &runtime::Handle) -> Self {
        TokioScheduler::builder(runtime).build()
    }

    /// Starts a fiber and gives its handle, which is a future of the outcome. Can be called anywhere: in a tokio task, in a
    /// fiber, and on a thread of neither.
    #[track_caller]
    pub fn spawn<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Handle<T> {
        self.root.spawn(fiber)
    }

    /// A fiber that runs in the task that awaits it; see [`Call`].
    ///
    /// ```
    /// # #[tokio::main]
    /// # async fn main() {
    /// use fiber_core::Fiber;
    /// use fiber_sched::TokioScheduler;
    ///
    /// let fibers = TokioScheduler::current();
    /// let (task, fiber) = (tokio::task::try_id(), Fiber::lazy(tokio::task::try_id));
    /// assert_eq!(fibers.call(fiber).await.unwrap(), task);
    /// # }
    /// ```
    #[track_caller]
    pub fn call<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Call<T> {
        self.root.call(fiber)
    }

    /// A [`Group`] of fibers: they can be cancelled, drained and awaited together, apart from the other fibers of the scheduler.
    ///
    /// ```
    /// # #[tokio::main]
    /// # async fn main() {
    /// use fiber_core::Fiber;
    /// use fiber_sched::TokioScheduler;
    ///
    /// let fibers = TokioScheduler::current();
    /// let requests = fibers.group();
    /// let request = requests.spawn(Fiber::yield_now().map(|()| "served"));
    /// requests.drain().await;
    /// assert_eq!(request.await.unwrap(), "served");
    /// # }
    /// ```
    pub fn group(&self) -> Group {
        self.root.group()
    }

    /// The root context of all fibers of the scheduler, for spawning without access to the scheduler and for cancelling
    /// all fibers. Do not [close](Context::close) it.
    pub fn context(&self) -> &Context {
        &self.root
    }

    /// The scheduler of the fibers, for code that takes a [`Scheduler`].
    pub fn scheduler(&self) -> Arc<dyn Scheduler> {
        self.scheduler.clone()
    }

    /// The live fibers, and what each of them waits for, as data and as text; see [`Dump`].
    ///
    /// ```
    /// # #[tokio::main]
    /// # async fn main() {
    /// use fiber_core::Fiber;
    /// use fiber_sched::TokioScheduler;
    ///
    /// let fibers = TokioScheduler::current();
    /// let _reader = fibers.spawn(Fiber::<()>::never().named("reader"));
    /// assert!(fibers.dump().to_string().contains("fiber 0 \"reader\" (forked at "));
    /// # }
    /// ```
    pub fn dump(&self) -> Dump {
        self.root.dump()
    }

    /// What the scheduler has done, and what waits in it. The workers are the tokio tasks that run fibers, of which there is
    /// one for each worker of the runtime. `blocking_threads` are those that run blocking calls of fibers, and
    /// `blocking_queue` are the calls that wait for a thread of the runtime.
    ///
    /// ```
    /// # #[tokio::main]
    /// # async fn main() {
    /// use fiber_core::scheduler::TaskKind;
    /// use fiber_core::Fiber;
    /// use fiber_sched::TokioScheduler;
    ///
    /// let fibers = TokioScheduler::current();
    /// assert!(fibers.spawn(Fiber::success(())).await.is_success());
    /// assert_eq!(fibers.metrics().total(|worker| worker.tasks(TaskKind::Start)), 1);
    /// # }
    /// ```
    pub fn metrics(&self) -> Metrics {
        self.scheduler.metrics(self.root.live_children())
    }

    /// Ends all fibers within limits of time, as [`Pool::shutdown`](crate::Pool::shutdown) does: it drains, if `plan`
    /// says so; it cancels the fibers that are left, and awaits their ends. The fibers that have not ended when the limit
    /// has passed are abandoned when they next yield or wake.
    ///
    /// The runtime goes on. It waits for blocking calls when it is dropped itself. The limits are timers of tokio, which some worker has to fire:
    /// while closures of fibers compute on all of them, they pass late.
    ///
    /// ```
    /// # #[tokio::main]
    /// # async fn main() {
    /// use fiber_core::Fiber;
    /// use fiber_sched::{Shutdown, TokioScheduler};
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let fibers = TokioScheduler::current();
    /// let request = fibers.spawn(Fiber::delay(Duration::from_millis(5)).map(|()| "served"));
    /// fibers.shutdown(Shutdown::within(10 * second).after_draining(60 * second)).await.unwrap();
    /// assert_eq!(request.try_outcome().unwrap().unwrap(), "served");
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Unfinished`], if fibers have not ended within the limit. It says which, by name and fork site.
    ///
    /// # Cancellation
    /// If the future is dropped, the scheduler is dropped.
    pub async fn shutdown(mut self, plan: Shutdown) -> Result<(), Unfinished> {
        let (tell, mut empty) = oneshot::channel();
        let scheduler = self.scheduler.clone();
        self.is_draining = true;
        self.root.drain(move || {
            scheduler.stop();
            _ = tell.send(());
        });
        let is_drained = !plan.drain().is_zero() && self.is_empty_by(&mut empty, Some(plan.drain())).await;
        self.root.cancel();
        if is_drained || self.is_empty_by(&mut empty, plan.limit()).await {
            return Ok(());
        }
        let unfinished = Unfinished::new(self.root.dump(), Vec::new(), Vec::new());
        self.scheduler.stop();
        // The last may have ended just now, or in `cancel`, if the runtime has ended: then nothing runs that could tell so.
        if unfinished.dump().is_empty() { Ok(()) } else { Err(unfinished) }
    }

    /// Waits until no fiber is left. `false`: the time has passed, or other code has closed the root.
    async fn is_empty_by(&self, empty: &mut oneshot::Receiver<()>, within: Option<Duration>) -> bool {
        let Some(within) = within else { return empty.await.is_ok() };
        // The guard of the runtime must be gone before the wait.
        let limited = {
            let _inside = self.scheduler.runtime().enter();
            tokio::time::timeout(within, empty)
        };
        limited.await.is_ok_and(|told| told.is_ok())
    }
}

impl Drop for TokioScheduler {
    fn drop(&mut self) {
        if self.is_draining {
            return self.root.cancel();
        }
        let scheduler = self.scheduler.clone();
        self.root.close(move || scheduler.stop());
    }
}

impl fmt::Debug for TokioScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokioScheduler").field("fibers", &self.root.live_children()).finish_non_exhaustive()
    }
}
