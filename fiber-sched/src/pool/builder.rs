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
    pub(super) on_stuck: OnStuck,
}

/// The hook for unobserved failures.
pub(super) type OnUnobserved = Box<dyn Fn(&Unobserved) + Send + Sync>;

/// The hook for workers that are stuck.
pub(super) type OnStuck = Box<dyn Fn(&Stuck) + Send + Sync>;

/// A worker of a [`Pool`] that is stuck: for 20 ms or more, its fiber has neither come to a bind nor ended its turn,
/// because a closure computes or blocks.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Stuck {
    /// Where the fiber was forked or spawned.
    pub fork_site: &'static Location<'static>,
}

/// `the fiber forked at file:line keeps its worker from other fibers`.
impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, line) = (self.fork_site.file(), self.fork_site.line());
        write!(f, "the fiber forked at {file}:{line} keeps its worker from other fibers")
    }
}

impl Builder {
    pub(super) fn new() -> Self {
        Builder {
            workers: available_parallelism().map_or(1, NonZero::get).min(idle::MOST_WORKERS),
            name: "fiber".to_owned(),
            blocking_threads: DEFAULT_MAX_THREADS,
            blocking_keep_alive: DEFAULT_KEEP_ALIVE,
            on_unobserved: Box::new(|failure| eprintln!("{failure}")),
            on_stuck: Box::new(|_| ()),
        }
    }

    /// How many threads run fibers at a time. The default is the number of cores.
    ///
    /// The pool has one thread more, which runs fibers in the place of a worker that is [stuck](Builder::on_stuck). It
    /// sleeps while the pool is idle.
    ///
    /// # Panics
    /// If `workers` is zero, or more than 8,190.
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

    /// Sets the hook for a worker that is stuck, because a closure of its fiber computes or blocks for 20 ms or more. The
    /// hook is called once for each such turn, at the earliest when other work waits. By default nothing is reported.
    ///
    /// Another thread runs other fibers in the place of the worker meanwhile. Long computations should bind from time to
    /// time, and calls that block belong into [`Fiber::blocking`](fiber_core::Fiber::blocking).
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::{Pool, block_on};
    /// use std::sync::mpsc;
    ///
    /// let (report, reports) = mpsc::channel();
    /// let pool = Pool::builder().workers(1).on_stuck(move |stuck| _ = report.send(*stuck)).build();
    /// let stuck = pool.spawn(Fiber::lazy(move || reports.recv().unwrap().to_string()));
    /// // It waits for the only worker.
    /// assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    /// assert!(block_on(stuck).unwrap().contains("keeps its worker"));
    /// ```
    pub fn on_stuck(mut self, hook: impl Fn(&Stuck) + Send + Sync + 'static) -> Self {
        self.on_stuck = Box::new(hook);
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
