use std::fmt;

use fiber_core::{Fiber, Run};
use fiber_sched::{CurrentThread, Pool, TokioScheduler};
use tokio::runtime::{Builder, Runtime};

/// Two: the number of cores of the machine that the goals were set on.
const WORKERS: usize = 2;

/// The schedulers and runtimes of the contenders. All exist all the time; an idle one takes no time from the others.
pub struct Hosts {
    /// The library's pool.
    pub pool: Pool,
    /// The library's pool with one worker: it shows what the second one gains.
    pub single: Pool,
    /// The library's scheduler on the calling thread only.
    pub here: CurrentThread,
    /// The library on the runtime below.
    pub runtime: TokioScheduler,
    /// tokio with as many workers as the pool.
    pub tokio: Runtime,
    /// tokio on the calling thread only.
    pub tokio_here: Runtime,
    /// rayon with as many workers as the pool.
    pub rayon: rayon::ThreadPool,
    /// chili with the calling thread only.
    pub chili: chili::ThreadPool,
}

impl Hosts {
    /// Starts all schedulers and runtimes.
    ///
    /// # Panics
    /// If the system cannot start the threads.
    pub fn start() -> Self {
        ::may::config().set_workers(WORKERS);
        let tokio = Builder::new_multi_thread().worker_threads(WORKERS).enable_time().build().expect("tokio");
        Hosts {
            pool: Pool::builder().workers(WORKERS).build(),
            single: Pool::builder().workers(1).build(),
            here: CurrentThread::new(),
            runtime: TokioScheduler::new(tokio.handle()),
            tokio,
            tokio_here: Builder::new_current_thread().build().expect("tokio"),
            rayon: rayon::ThreadPoolBuilder::new().num_threads(WORKERS).build().expect("rayon"),
            chili: chili::ThreadPool::with_config(chili::Config {
                thread_count: std::num::NonZero::new(1),
                ..chili::Config::default()
            }),
        }
    }

    /// Runs a future on a worker of tokio.
    pub fn on_tokio<F>(&self, future: F) -> F::Output
    where
        F: Future<Output: Send> + Send + 'static,
    {
        self.tokio.block_on(self.tokio.spawn(future)).expect("no panic")
    }

    /// Runs a fiber on a worker of tokio.
    pub fn on_runtime<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> T {
        self.tokio.block_on(self.runtime.spawn(fiber).into_future()).unwrap()
    }

    /// Runs a future, and the tasks that it spawns, on this thread.
    pub fn on_one_thread<F>(&self, future: F) -> F::Output
    where
        F: Future<Output: Send> + Send + 'static,
    {
        self.tokio_here.block_on(self.tokio_here.spawn(future)).expect("no panic")
    }
}

/// Runs a fiber on a worker of the pool, also where `Pool::run` would run it on the caller.
pub(crate) fn on_worker<T: Send + 'static, R: Run<Out = T>>(pool: &Pool, fiber: Fiber<T, R>) -> T {
    futures::executor::block_on(pool.spawn(fiber).into_future()).unwrap()
}

impl fmt::Debug for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hosts with {WORKERS} workers")
    }
}
