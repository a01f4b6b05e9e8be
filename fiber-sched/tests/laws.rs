//! The schedulers of this crate keep the laws of schedulers.

use std::sync::Arc;

use fiber_core::{Context, Fiber};
use fiber_sched::{AffinityPool, CurrentThread, Pool, Settings, Shutdown};
use fiber_test::laws::{Host, NestedCall};
use fiber_test::scheduler_laws;

scheduler_laws!(pool_of_one, || OnPool::new(1));
scheduler_laws!(pool_of_two, || OnPool::new(2));
scheduler_laws!(pool_of_four, || OnPool::new(4));
scheduler_laws!(affinity_pool_of_two, || OnWorkers::new(2));
scheduler_laws!(affinity_pool_of_four, || OnWorkers::new(4));
scheduler_laws!(current_thread, || OnThisThread(CurrentThread::new()));

/// Shared, because a nested call needs it inside a fiber.
struct OnPool {
    pool: Arc<Pool>,
    workers: usize,
}

impl OnPool {
    fn new(workers: usize) -> Self {
        OnPool {
            pool: Arc::new(
                Pool::builder().workers(workers).settings(Settings::new().on_unobserved(|_| ())).build(),
            ),
            workers,
        }
    }
}

impl Host for OnPool {
    fn context(&self) -> &Context {
        self.pool.context()
    }

    fn run(&self, fiber: Fiber<()>) {
        self.pool.run(fiber).unwrap();
    }

    fn threads(&self) -> usize {
        self.workers
    }

    fn shut_down(self) -> bool {
        let pool = Arc::into_inner(self.pool).expect("no nested call is left");
        pool.shutdown(Shutdown::within(Self::PATIENCE / 2)).is_ok()
    }

    fn nested_call(&self) -> Option<NestedCall> {
        let pool = self.pool.clone();
        Some(Box::new(move || _ = pool.run(Fiber::success(()))))
    }
}

struct OnWorkers {
    pool: Arc<AffinityPool>,
    workers: usize,
}

impl OnWorkers {
    fn new(workers: usize) -> Self {
        let pool = AffinityPool::builder().workers(workers).on_unobserved(|_| ()).build();
        OnWorkers { pool: Arc::new(pool), workers }
    }
}

impl Host for OnWorkers {
    fn context(&self) -> &Context {
        self.pool.context()
    }

    fn run(&self, fiber: Fiber<()>) {
        self.pool.run(fiber).unwrap();
    }

    fn threads(&self) -> usize {
        self.workers
    }

    /// Fibers stay where they are.
    fn shares_work(&self) -> bool {
        false
    }

    fn shut_down(self) -> bool {
        let pool = Arc::into_inner(self.pool).expect("no nested call is left");
        pool.shutdown(Shutdown::within(Self::PATIENCE / 2)).is_ok()
    }

    fn nested_call(&self) -> Option<NestedCall> {
        let pool = self.pool.clone();
        Some(Box::new(move || _ = pool.run(Fiber::success(()))))
    }
}

struct OnThisThread(CurrentThread);

impl Host for OnThisThread {
    fn context(&self) -> &Context {
        self.0.context()
    }

    fn run(&self, fiber: Fiber<()>) {
        self.0.run(fiber).unwrap();
    }

    fn shut_down(self) -> bool {
        let root = self.context().clone();
        drop(self);
        root.live_children() == 0
    }
}
