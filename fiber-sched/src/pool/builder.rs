use std::fmt;
use std::num::NonZero;
use std::panic::Location;
use std::thread::available_parallelism;
use std::time::Duration;

use fiber_core::{Context, Unobserved};

use super::scheduler::PoolScheduler;
use super::{Pool, idle};
use crate::blocking::{DEFAULT_KEEP_ALIVE, DEFAULT_MAX_THREADS};

/// Builds a [`Pool`].
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_sched::Pool;
///
/// let pool = Pool::builder()
///     .workers(1)
///     .name("orders")
///     .blocking_threads(8)
///     .on_unobserved(|failure| eprintln!("a lost order: {failure}"))
///     .build();
/// assert!(pool.run(Fiber::success(())).is_success());
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct Builder {
    pub(super) workers: usize,
    pub(super) name: String,
    pub(super) blocking_threads: usize,
    pub(super) blocking_keep_alive: Duration,
    pub(super) on_unobserved: OnUnobserved,
}

/// The hook for unobserved failures.
pub(super) type OnUnobserved = Box<dyn Fn(&Unobserved) + Send + Sync>;

impl Builder {
    pub(super) fn new() -> Self {
        Builder {
            workers: available_parallelism().map_or(1, NonZero::get).min(idle::MOST_WORKERS),
            name: "fiber".to_owned(),
            blocking_threads: DEFAULT_MAX_THREADS,
            blocking_keep_alive: DEFAULT_KEEP_ALIVE,
            on_unobserved: Box::new(|failure| eprintln!("{failure}")),
        }
    }

    /// How many threads run fibers. The default is the number of cores.
    ///
    /// # Panics
    /// If `workers` is zero, or more than 16,383.
    pub fn workers(mut self, workers: usize) -> Self {
        assert!(workers > 0, "a pool needs a worker");
        assert!(workers <= idle::MOST_WORKERS, "a pool has at most {} workers", idle::MOST_WORKERS);
        self.workers = workers;
        self
    }

    /// The prefix of the thread names, as in `name-worker-0`. The default is `fiber`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The largest number of threads for blocking calls, beside the workers. They start on demand; further calls wait
    /// for a free one. The default is 512.
    ///
    /// # Panics
    /// If `most` is zero.
    pub fn blocking_threads(mut self, most: usize) -> Self {
        assert!(most > 0, "blocking calls need a thread");
        self.blocking_threads = most;
        self
    }

    /// How long a blocking thread waits for more work before it ends. The default is 10 seconds.
    pub fn blocking_keep_alive(mut self, keep_alive: Duration) -> Self {
        self.blocking_keep_alive = keep_alive;
        self
    }

    /// Sets the hook for failures and panics of fibers whose outcome nobody can take any more. The default prints a
    /// line to stderr. A panic of the hook is ignored.
    pub fn on_unobserved(mut self, hook: impl Fn(&Unobserved) + Send + Sync + 'static) -> Self {
        self.on_unobserved = Box::new(hook);
        self
    }

    /// Starts the pool.
    ///
    /// # Panics
    /// If the operating system cannot start the threads.
    #[track_caller]
    pub fn build(self) -> Pool {
        let site = Location::caller();
        let scheduler = PoolScheduler::start(self)
            .unwrap_or_else(|error| panic!("no threads for the pool of {site}: {error}"));
        Pool { root: Context::root(scheduler.clone()), scheduler, is_shut_down: false }
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("workers", &self.workers)
            .field("name", &self.name)
            .field("blocking_threads", &self.blocking_threads)
            .field("blocking_keep_alive", &self.blocking_keep_alive)
            .finish_non_exhaustive()
    }
}
