//! The thread pool, [`Pool`].
//!
//! | file | what |
//! |---|---|
//! | `builder` | makes a pool |
//! | `settings` | what can be changed while it runs |
//! | `borrowed` | tasks that borrow, from ordinary code |
//! | `scheduler` | the `Scheduler` that its fibers see |
//! | `queue` | where tasks wait |
//! | `pinned` | tasks that only one worker may run |
//! | `lent` | branches that wait on the stack of their owner |
//! | `host` | fibers in the tasks of an executor |
//! | `worker` | the threads that run tasks |
//! | `seat` | what other threads see of a worker |
//! | `lookout` | what a worker without a task does while others run |
//! | `thread` | the `Worker` that a fiber sees |
//! | `idle` | sleeping and waking, with the proof that no wake-up is lost |

mod borrowed;
mod builder;
mod host;
mod idle;
mod lent;
mod lookout;
mod pinned;
mod queue;
mod scheduler;
mod seat;
mod settings;
mod stuck;
mod thief;
mod thread;
mod worker;

use fiber_core::scheduler::{Scheduler, serve};
use fiber_core::{Call, Context, Dump, Fiber, Group, Handle, Outcome, Recording, Run};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

pub use self::builder::Builder;
pub(crate) use self::scheduler::PoolScheduler;
pub use self::settings::Settings;
pub use self::stuck::Stuck;
use self::thread::PoolThread;
use crate::block_on::block_on;
use crate::metrics::Metrics;
use crate::recorder::Recorder;
use crate::shutdown::{Shutdown, Stops};
use crate::unfinished::Unfinished;

/// A work-stealing pool of threads that run fibers.
///
/// Each worker has its own queue and its own timers. An idle worker steals from the others, and sleeps when there is
/// nothing to steal. Blocking calls have threads of their own, which start on demand.
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_sched::Pool;
///
/// let pool = Pool::builder().workers(2).name("sums").build();
/// let sums = Fiber::parallel((1..=10u64).map(|n| Fiber::lazy(move || (1..=n).sum::<u64>())));
/// assert_eq!(pool.run(sums).unwrap().last(), Some(&55));
/// ```
///
/// # Cancellation
/// Dropping the pool cancels all remaining fibers and waits until they have ended, finalizers included; then it waits
/// for its threads. A long finalizer, computation or blocking call prolongs that; [`shutdown`](Pool::shutdown) limits
/// the wait, and says what has not ended. Fibers that are spawned meanwhile or later end as cancelled.
///
/// # Blocking
/// Dropping the pool blocks, except in a fiber or blocking closure of its own, which would wait for itself. In that
/// case the pool ends in the background, in the same way.
pub struct Pool {
    root: Context,
    scheduler: Arc<PoolScheduler>,
    is_shut_down: bool,
}

impl Pool {
    /// Makes a pool with one worker for each core.
    ///
    /// # Panics
    /// If the operating system cannot start the threads.
    pub fn new() -> Self {
        Pool::builder().build()
    }

    /// A builder for a pool with other settings.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Runs a fiber and waits for its outcome.
    ///
    /// The fiber starts on the calling thread, and leaves it when it has to wait. Meanwhile, idle workers may take its
    /// branches.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let pool = fiber_sched::Pool::new();
    /// assert_eq!(pool.run(Fiber::success(6).map(|n| n * 7)).unwrap(), 42);
    /// ```
    ///
    /// # Blocking
    /// Until the fiber has ended.
    ///
    /// # Panics
    /// If it is called in a fiber, blocking closure or borrowed task of the same pool, because it would block their thread. Bind
    /// the fiber there instead, or [`spawn`](Pool::spawn) it and join its handle.
    #[track_caller]
    pub fn run<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Outcome<T> {
        self.run_as("Pool::run", fiber)
    }

    /// `call` is what the user calls, for the message of a panic.
    #[track_caller]
    pub(crate) fn run_as<T: Send + 'static, R: Run<Out = T>>(
        &self,
        call: &str,
        fiber: Fiber<T, R>,
    ) -> Outcome<T> {
        // Not in the closure, whose caller is this function.
        let site = Location::caller();
        let ended = {
            let _inside = self.scheduler.id().enter_blocking(call);
            let _in_runtime = self.scheduler.threads.runtime().enter();
            let thread = PoolThread::guest(&self.scheduler);
            serve(&thread, self.scheduler.id().key(), || self.root.run_here_from(fiber, &thread, site))
        };
        ended.unwrap_or_else(|handle| handle.try_outcome().unwrap_or_else(block_on))
    }

    /// Starts a fiber and gives its handle. Can be called anywhere, even in the pool's own fibers; the new fiber
    /// belongs to none of them.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let pool = fiber_sched::Pool::new();
    /// let handle = pool.spawn(Fiber::success(42));
    /// assert_eq!(fiber_sched::block_on(handle).unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn spawn<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Handle<T> {
        self.root.spawn(fiber)
    }

    /// Starts several fibers and gives their handles, in order. Waking the workers once costs less than waking them for
    /// each.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::block_on;
    ///
    /// let pool = fiber_sched::Pool::new();
    /// let handles = pool.spawn_all((1..=100u64).map(|n| Fiber::lazy(move || n * n)));
    /// let sum: u64 = handles.into_iter().map(|handle| block_on(handle).unwrap()).sum();
    /// assert_eq!(sum, 338_350);
    /// ```
    ///
    /// # Panics
    /// If the iterator does. No fiber has started then.
    #[track_caller]
    pub fn spawn_all<T: Send + 'static, R: Run<Out = T>>(
        &self,
        fibers: impl IntoIterator<Item = Fiber<T, R>>,
    ) -> Vec<Handle<T>> {
        self.root.spawn_all(fibers)
    }

    /// A fiber that runs in the task that awaits it, on the thread of an executor; see [`Call`].
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::{Pool, block_on};
    /// use std::thread;
    ///
    /// let pool = Pool::new();
    /// let call = pool.call(Fiber::lazy(|| thread::current().id()));
    /// assert_eq!(block_on(call).unwrap(), thread::current().id());
    /// ```
    #[track_caller]
    pub fn call<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Call<T> {
        self.root.call(fiber)
    }

    /// A [`Group`] of fibers: they can be cancelled, drained and awaited together, apart from the other fibers of the pool.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let pool = fiber_sched::Pool::new();
    /// let jobs = pool.group();
    /// let job = jobs.spawn(Fiber::<()>::never());
    /// fiber_sched::block_on(jobs.cancel());
    /// assert!(job.is_finished());
    /// ```
    pub fn group(&self) -> Group {
        self.root.group()
    }

    /// The root context of all fibers of the pool, for spawning without access to the pool and for cancelling all
    /// fibers. Do not [close](Context::close) it: a pool whose root other code has closed stops without waiting for its
    /// fibers.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let pool = fiber_sched::Pool::new();
    /// let context = pool.context().clone();
    /// let handle = pool.run(Fiber::lazy(move || context.spawn(Fiber::success(42)))).unwrap();
    /// assert_eq!(pool.run(handle.join()).unwrap(), 42);
    /// ```
    pub fn context(&self) -> &Context {
        &self.root
    }

    /// Changes the limits and hooks while the pool runs. Tasks that run already continue under the old ones.
    ///
    /// ```
    /// use fiber_core::scheduler::Unobserved;
    /// use fiber_core::Fiber;
    /// use std::sync::mpsc;
    ///
    /// let pool = fiber_sched::Pool::new();
    /// let (sender, lost) = mpsc::channel();
    /// let hook = move |failure: &Unobserved| _ = sender.send(failure.to_string());
    /// pool.reconfigure(pool.settings().on_unobserved(hook));
    /// drop(pool.spawn(Fiber::<()>::fail("nobody sees it")));
    /// assert!(lost.recv().unwrap().contains("nobody sees it"));
    /// ```
    pub fn reconfigure(&self, settings: Settings) {
        let PoolScheduler { queues, blocking, .. } = &*self.scheduler;
        blocking.set_limits(settings.blocking_threads, settings.blocking_keep_alive);
        queues.settings().store(Arc::new(settings));
    }

    /// The present limits and hooks.
    ///
    /// ```
    /// let pool = fiber_sched::Pool::new();
    /// println!("{:?}", pool.settings());
    /// ```
    pub fn settings(&self) -> Settings {
        Settings::clone(&self.scheduler.queues.settings().load())
    }

    /// What the pool has done, and what waits in it. Cheap enough to be read every second.
    ///
    /// ```
    /// let pool = fiber_sched::Pool::builder().workers(1).build();
    /// assert_eq!(pool.metrics().may_run, 1);
    /// ```
    pub fn metrics(&self) -> Metrics {
        self.scheduler.metrics(self.root.live_children())
    }

    /// The scheduler of the fibers, for code that takes a [`Scheduler`].
    ///
    /// ```
    /// let pool = fiber_sched::Pool::new();
    /// let earlier = pool.scheduler().now();
    /// assert!(pool.scheduler().now() >= earlier);
    /// ```
    pub fn scheduler(&self) -> Arc<dyn Scheduler> {
        self.scheduler.clone()
    }

    /// The live fibers of the pool, and what each of them waits for, as data and as text. The pool continues meanwhile; see
    /// [`Dump`] for what that means.
    ///
    /// ```
    /// use fiber_core::Fiber;
    ///
    /// let pool = fiber_sched::Pool::new();
    /// let reader = pool.context().spawn_here(Fiber::<()>::never().named("reader"));
    /// let text = pool.dump().to_string();
    /// assert!(text.contains("fiber 0 \"reader\" (forked at "), "{text}");
    /// # drop(reader);
    /// ```
    pub fn dump(&self) -> Dump {
        self.root.dump()
    }

    /// The order of the last turns, if the pool [records](Builder::record) them. Those that go on meanwhile may be missing.
    ///
    /// ```
    /// assert!(fiber_sched::Pool::new().recording().is_none());
    /// ```
    pub fn recording(&self) -> Option<Recording> {
        self.scheduler.queues.observers().recorder().map(Recorder::recording)
    }

    /// Ends the pool, within limits of time:
    ///
    /// 1. It *drains*, if `plan` says so: the fibers end by themselves.
    /// 2. It *cancels* the fibers that are left.
    /// 3. It *awaits* their ends, finalizers included.
    /// 4. If the limit passes before that, it *notes* what has not ended.
    /// 5. It *stops*: it drops the tasks in its queues and timers, which abandons their fibers.
    /// 6. It *joins* its threads. A busy worker ends after its task, and a blocking thread after its call; when the
    ///    limit has passed, they do so unattended.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::{Pool, Shutdown};
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let pool = Pool::new();
    /// let request = pool.spawn(Fiber::delay(Duration::from_millis(5)).map(|()| "served"));
    /// pool.shutdown(Shutdown::within(10 * second).after_draining(60 * second)).unwrap();
    /// assert_eq!(request.try_outcome().unwrap().unwrap(), "served");
    /// ```
    ///
    /// # Errors
    /// [`Unfinished`], if fibers or threads have not ended within the limit. It says which, by name and fork site.
    ///
    /// # Cancellation
    /// As with the drop of a pool, but after the time for draining.
    ///
    /// # Blocking
    /// At most for the time to drain and the limit. In a fiber or blocking closure of the same pool, it does not block:
    /// the pool ends in the background, in the same steps, and the error names what lives now, the caller included.
    pub fn shutdown(mut self, plan: Shutdown) -> Result<(), Unfinished> {
        self.is_shut_down = true;
        plan.begin(&self.root, &self.scheduler)
    }
}

impl Default for Pool {
    fn default() -> Self {
        Pool::new()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if !self.is_shut_down {
            _ = Shutdown::without_limit().begin(&self.root, &self.scheduler);
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queues = &self.scheduler.queues;
        f.debug_struct("Pool")
            .field("workers", &(queues.seats().count() - 1))
            .field("fibers", &self.root.live_children())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Pool;
    use crate::block_on;
    use fiber_core::Fiber;
    use std::thread;
    use std::time::{Duration, Instant};

    /// Fails the test instead of hanging it.
    const PATIENCE: Duration = Duration::from_secs(30);
    /// Many times the longest nap of the lookout.
    const LONG: Duration = Duration::from_millis(60);

    /// Lends a branch, and computes for several naps of the lookout.
    fn lends() -> Fiber<()> {
        let computes = || {
            let end = Instant::now() + Duration::from_millis(5);
            while Instant::now() < end {
                std::hint::spin_loop();
            }
        };
        Fiber::lazy(computes).zip(Fiber::lazy(computes)).map(drop).boxed()
    }

    #[test]
    fn the_workers_of_an_idle_pool_sleep_for_good() {
        let pool = Pool::builder().workers(3).build();
        let wake_ups = || pool.metrics().total(|worker| worker.wake_ups);
        let end = Instant::now() + PATIENCE;
        while wake_ups() == 0 {
            assert!(Instant::now() < end, "no worker has ever woken");
            pool.run(lends()).unwrap();
            block_on(pool.spawn(lends())).unwrap();
        }
        fall_silent(&pool);
    }

    #[test]
    fn workers_that_wait_for_far_timers_sleep_for_good() {
        let pool = Pool::builder().workers(3).build();
        let hour = Duration::from_secs(3600);
        // Each is due before the earlier ones.
        let timers = (0..10).map(|n| pool.spawn(Fiber::delay(hour - n * Duration::from_secs(1))));
        let timers: Vec<_> = timers.collect();
        // A first timer that is gone wakes a worker once. On a busy machine, it may fire.
        _ = pool.run(Fiber::yield_now().timeout(LONG));
        fall_silent(&pool);
        timers.iter().for_each(|timer| timer.cancel_now());
        assert!(timers.into_iter().all(|timer| block_on(timer).is_cancelled()));
        fall_silent(&pool);
    }

    /// The workers fall asleep one after the other, and then nothing wakes them.
    fn fall_silent(pool: &Pool) {
        let wake_ups = || pool.metrics().total(|worker| worker.wake_ups);
        let (mut before, end) = (wake_ups(), Instant::now() + PATIENCE);
        loop {
            thread::sleep(2 * LONG);
            let after = wake_ups();
            if after == before {
                break;
            }
            assert!(Instant::now() < end, "the workers of an idle pool wake again and again");
            before = after;
        }
    }
}
