//! The schedulers of this crate keep the laws of schedulers.

use std::sync::Arc;

use fiber_core::{Context, Fiber, Outcome};
use fiber_sched::{AffinityPool, Builder, CurrentThread, Pool, Settings, Shutdown, Unfinished};
use fiber_test::laws::{Host, NestedCall};
use fiber_test::scheduler_laws;

scheduler_laws!(pool_of_one, || on_pool(1));
scheduler_laws!(pool_of_two, || on_pool(2));
scheduler_laws!(pool_of_four, || on_pool(4));
scheduler_laws!(pool_of_two_with_two_polls, || on(Pool::builder().polls(2), 2));
scheduler_laws!(affinity_pool_of_two, || on_affinity_pool(2));
scheduler_laws!(affinity_pool_of_four, || on_affinity_pool(4));
scheduler_laws!(current_thread, || OnThisThread(CurrentThread::new()));

/// A pool of either kind, as a host of the laws. Shared, because a nested call needs it inside a fiber.
struct OnPool<P> {
    pool: Arc<P>,
    workers: usize,
    shares_work: bool,
    has_spare_thread: bool,
    context: fn(&P) -> &Context,
    run: fn(&P, Fiber<()>) -> Outcome<()>,
    shut_down: fn(P, Shutdown) -> Result<(), Unfinished>,
}

fn on_pool(workers: usize) -> OnPool<Pool> {
    on(Pool::builder(), workers)
}

fn on(builder: Builder, workers: usize) -> OnPool<Pool> {
    let settings = Settings::new().on_unobserved(|_| ());
    OnPool {
        pool: Arc::new(builder.workers(workers).settings(settings).build()),
        workers,
        shares_work: true,
        // In the place of one that is stuck.
        has_spare_thread: true,
        context: Pool::context,
        run: Pool::run,
        shut_down: Pool::shutdown,
    }
}

fn on_affinity_pool(workers: usize) -> OnPool<AffinityPool> {
    OnPool {
        pool: Arc::new(AffinityPool::builder().workers(workers).on_unobserved(|_| ()).build()),
        workers,
        // Fibers stay on their workers.
        shares_work: false,
        has_spare_thread: workers > 1,
        context: AffinityPool::context,
        run: AffinityPool::run,
        shut_down: AffinityPool::shutdown,
    }
}

impl<P: Send + Sync + 'static> Host for OnPool<P> {
    fn context(&self) -> &Context {
        (self.context)(&self.pool)
    }

    fn run(&self, fiber: Fiber<()>) {
        (self.run)(&self.pool, fiber).unwrap();
    }

    fn threads(&self) -> usize {
        self.workers
    }

    fn shares_work(&self) -> bool {
        self.shares_work
    }

    fn has_spare_thread(&self) -> bool {
        self.has_spare_thread
    }

    fn shut_down(self) -> bool {
        let pool = Arc::into_inner(self.pool).expect("no nested call is left");
        (self.shut_down)(pool, Shutdown::within(Self::PATIENCE / 2)).is_ok()
    }

    fn nested_call(&self) -> Option<NestedCall> {
        let (pool, run) = (self.pool.clone(), self.run);
        Some(Box::new(move || _ = run(&pool, Fiber::success(()).boxed())))
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
