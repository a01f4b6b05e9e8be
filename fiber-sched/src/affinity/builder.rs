use std::fmt;
use std::num::NonZero;
use std::panic::Location;
use std::thread::available_parallelism;
use std::time::Duration;

use fiber_core::Context;
use fiber_core::scheduler::Unobserved;

use super::AffinityPool;
use super::scheduler::AffinityScheduler;
use crate::blocking::{DEFAULT_KEEP_ALIVE, DEFAULT_MAX_THREADS};
use crate::direct::Supply;
use crate::observer::{Observer, Observers};

/// The number of a worker is part of the keys of its timers.
const MOST_WORKERS: usize = 8190;

/// Builds an [`AffinityPool`].
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_sched::AffinityPool;
///
/// let pool = AffinityPool::builder().workers(2).name("orders").pinned(false).build();
/// assert!(pool.run(Fiber::success(())).is_success());
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct AffinityBuilder {
    pub(super) workers: usize,
    pub(super) name: String,
    pub(super) is_pinned: bool,
    pub(super) stacks: Supply,
    pub(super) blocking_threads: usize,
    pub(super) blocking_keep_alive: Duration,
    pub(super) on_unobserved: OnUnobserved,
    pub(super) observers: Observers,
}

/// The hook for unobserved failures.
pub(super) type OnUnobserved = Box<dyn Fn(&Unobserved) + Send + Sync>;

impl AffinityBuilder {
    pub(super) fn new() -> Self {
        AffinityBuilder {
            workers: available_parallelism().map_or(1, NonZero::get).min(MOST_WORKERS),
            name: "fiber-affinity".to_owned(),
            is_pinned: true,
            stacks: Supply::default(),
            blocking_threads: DEFAULT_MAX_THREADS,
            blocking_keep_alive: DEFAULT_KEEP_ALIVE,
            on_unobserved: Box::new(|failure| eprintln!("{failure}")),
            observers: Observers::default(),
        }
    }

    /// How many threads run fibers. The default is the number of cores.
    ///
    /// The keys are distributed among the workers by their hashes, so the worker of a key depends on this number.
    ///
    /// # Panics
    /// If `workers` is zero, or more than 8,190.
    #[track_caller]
    pub fn workers(mut self, workers: usize) -> Self {
        assert!(workers > 0, "a pool needs a worker");
        assert!(workers <= MOST_WORKERS, "a pool has at most {MOST_WORKERS} workers");
        self.workers = workers;
        self
    }

    /// The prefix of the thread names, as in `name-worker-0`. The default is `fiber-affinity`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Whether each worker is pinned to one of the cores that the thread which builds the pool may use. This is the
    /// default. More workers than cores share them.
    ///
    /// Threads are pinned on Linux, if it allows that; elsewhere this has no effect. A worker that cannot be pinned is
    /// not an error: its fibers stay on its thread, whichever core that runs on. Blocking threads are not pinned. A
    /// thread that a fiber starts inherits the core of its worker.
    ///
    /// Pinning keeps the state of a key in the cache of one core. It costs throughput if other programs, or other
    /// threads of this one, keep such a core busy: the worker then waits for its core, even while another one is idle.
    pub fn pinned(mut self, is_pinned: bool) -> Self {
        self.is_pinned = is_pinned;
        self
    }

    /// The stacks of its direct fibers; see [`Fiber::direct`](fiber_core::Fiber::direct). The default is 16,384 stacks of 256 KiB.
    ///
    /// ```
    /// use fiber_core::{Fiber, StackSupply};
    /// use fiber_sched::AffinityPool;
    ///
    /// let pool = AffinityPool::builder().workers(1).stacks(StackSupply::default().most(10).size(1024 * 1024)).build();
    /// assert_eq!(pool.run(Fiber::direct(|d| d.wait(Fiber::success(1)))).unwrap(), 1);
    /// ```
    #[cfg(feature = "direct")]
    pub fn stacks(mut self, supply: fiber_core::StackSupply) -> Self {
        self.stacks = supply;
        self
    }

    /// The maximum number of threads for blocking calls, in addition to the workers. They start on demand; further calls
    /// wait for a free one. The default is 512.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::AffinityPool;
    /// use std::thread;
    ///
    /// let pool = AffinityPool::builder().workers(1).blocking_threads(1).build();
    /// let call = || Fiber::blocking(|| thread::current().id());
    /// let (first, second) = pool.run(call().zip(call())).unwrap();
    /// assert_eq!(first, second, "one call after the other, on the only thread");
    /// ```
    ///
    /// # Panics
    /// If `most` is zero.
    #[track_caller]
    pub fn blocking_threads(mut self, most: usize) -> Self {
        assert!(most > 0, "blocking calls need a thread");
        self.blocking_threads = most;
        self
    }

    /// How long a blocking thread waits for more work before it ends. The default is 10 seconds.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::AffinityPool;
    /// use std::{thread, time::Duration};
    ///
    /// let hour = Duration::from_secs(3_600);
    /// let pool = AffinityPool::builder().workers(1).blocking_threads(1).blocking_keep_alive(hour).build();
    /// let call = || pool.run(Fiber::blocking(|| thread::current().id())).unwrap();
    /// assert_eq!(call(), call(), "the same thread");
    /// ```
    pub fn blocking_keep_alive(mut self, keep_alive: Duration) -> Self {
        self.blocking_keep_alive = keep_alive;
        self
    }

    /// Sets the hook for failures and panics of fibers whose outcome no handle can take any more. The default prints a
    /// line to stderr. A panic of the hook is ignored.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::AffinityPool;
    /// use std::sync::mpsc;
    ///
    /// let (sender, lost) = mpsc::channel();
    /// let hook = move |failure: &fiber_core::scheduler::Unobserved| _ = sender.send(failure.message().to_owned());
    /// let pool = AffinityPool::builder().workers(1).on_unobserved(hook).build();
    /// drop(pool.spawn_on("ABC", Fiber::<()>::fail("no such order")));
    /// assert_eq!(lost.recv().unwrap(), "no such order");
    /// ```
    pub fn on_unobserved(mut self, hook: impl Fn(&Unobserved) + Send + Sync + 'static) -> Self {
        self.on_unobserved = Box::new(hook);
        self
    }

    /// Adds an observer, which sees the events and turns of the fibers.
    ///
    /// ```
    /// use fiber_core::scheduler::Event;
    /// use fiber_core::{Context, Fiber};
    /// use fiber_sched::{AffinityPool, Observer, block_on};
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// #[derive(Default)]
    /// struct Created(AtomicUsize);
    ///
    /// impl Observer for Created {
    ///     fn event(&self, _: &Context, event: Event<'_>) {
    ///         if let Event::Created { .. } = event {
    ///             self.0.fetch_add(1, Ordering::SeqCst);
    ///         }
    ///     }
    /// }
    ///
    /// let created = Arc::new(Created::default());
    /// let pool = AffinityPool::builder().workers(2).observer(created.clone()).build();
    /// assert!(block_on(pool.spawn_on("ABC", Fiber::yield_now())).is_success());
    /// assert_eq!(created.0.load(Ordering::SeqCst), 1);
    /// ```
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.observers = self.observers.with(observer);
        self
    }

    /// Starts the pool.
    ///
    /// # Panics
    /// If the operating system cannot start the threads.
    #[track_caller]
    pub fn build(self) -> AffinityPool {
        let site = Location::caller();
        let scheduler = AffinityScheduler::start(self)
            .unwrap_or_else(|error| panic!("no threads for the pool of {site}: {error}"));
        AffinityPool { root: Context::root(scheduler.clone()), scheduler, is_shut_down: false }
    }
}

impl fmt::Debug for AffinityBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AffinityBuilder")
            .field("workers", &self.workers)
            .field("name", &self.name)
            .field("is_pinned", &self.is_pinned)
            .field("blocking_threads", &self.blocking_threads)
            .field("blocking_keep_alive", &self.blocking_keep_alive)
            .finish_non_exhaustive()
    }
}
