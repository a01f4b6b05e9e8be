//! The schedulers of this crate keep the laws of schedulers.

use std::sync::Arc;

use fiber_core::{Context, Fiber};
use fiber_sched::{AffinityPool, Builder, CurrentThread, Pool, Settings, Shutdown};
use fiber_test::laws::{Host, NestedCall};
use fiber_test::scheduler_laws;

scheduler_laws!(pool_of_one, || on_pool(1));
scheduler_laws!(pool_of_two, || on_pool(2));
scheduler_laws!(pool_of_four, || on_pool(4));
scheduler_laws!(pool_of_two_with_two_polls, || on(Pool::builder().polls(2), 2));
scheduler_laws!(affinity_pool_of_two, || on_affinity_pool(2));
scheduler_laws!(affinity_pool_of_four, || on_affinity_pool(4));
scheduler_laws!(current_thread, on_this_thread);

/// A scheduler of any kind, as a host of the laws. One type for all, because the laws are compiled for each type.
struct On {
    scheduler: Kind,
    threads: usize,
    shares_work: bool,
    has_spare_thread: bool,
}

/// Pools are shared, because a nested call needs them inside a fiber.
enum Kind {
    Pool(Arc<Pool>),
    AffinityPool(Arc<AffinityPool>),
    CurrentThread(CurrentThread),
}

fn on_pool(workers: usize) -> On {
    on(Pool::builder(), workers)
}

fn on(builder: Builder, workers: usize) -> On {
    let settings = Settings::new().on_unobserved(|_| ());
    On {
        scheduler: Kind::Pool(Arc::new(builder.workers(workers).settings(settings).build())),
        threads: workers,
        shares_work: true,
        // In the place of one that is stuck.
        has_spare_thread: true,
    }
}

fn on_affinity_pool(workers: usize) -> On {
    let pool = AffinityPool::builder().workers(workers).on_unobserved(|_| ()).build();
    On {
        scheduler: Kind::AffinityPool(Arc::new(pool)),
        threads: workers,
        // Fibers stay on their workers.
        shares_work: false,
        has_spare_thread: workers > 1,
    }
}

fn on_this_thread() -> On {
    let scheduler = Kind::CurrentThread(CurrentThread::new());
    On { scheduler, threads: 1, shares_work: true, has_spare_thread: false }
}

impl Host for On {
    fn context(&self) -> &Context {
        match &self.scheduler {
            Kind::Pool(pool) => pool.context(),
            Kind::AffinityPool(pool) => pool.context(),
            Kind::CurrentThread(thread) => thread.context(),
        }
    }

    fn run(&self, fiber: Fiber<()>) {
        let outcome = match &self.scheduler {
            Kind::Pool(pool) => pool.run(fiber),
            Kind::AffinityPool(pool) => pool.run(fiber),
            Kind::CurrentThread(thread) => thread.run(fiber),
        };
        outcome.unwrap();
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn shares_work(&self) -> bool {
        self.shares_work
    }

    fn has_spare_thread(&self) -> bool {
        self.has_spare_thread
    }

    fn shut_down(self) -> bool {
        let shutdown = Shutdown::within(Self::PATIENCE / 2);
        let no_call_is_left = "no nested call is left";
        match self.scheduler {
            Kind::Pool(pool) => Arc::into_inner(pool).expect(no_call_is_left).shutdown(shutdown).is_ok(),
            Kind::AffinityPool(pool) => {
                Arc::into_inner(pool).expect(no_call_is_left).shutdown(shutdown).is_ok()
            }
            Kind::CurrentThread(thread) => {
                let root = thread.context().clone();
                drop(thread);
                root.live_children() == 0
            }
        }
    }

    fn nested_call(&self) -> Option<NestedCall> {
        let nothing = || Fiber::success(()).boxed();
        match &self.scheduler {
            Kind::Pool(pool) => {
                let pool = pool.clone();
                Some(Box::new(move || _ = pool.run(nothing())))
            }
            Kind::AffinityPool(pool) => {
                let pool = pool.clone();
                Some(Box::new(move || _ = pool.run(nothing())))
            }
            Kind::CurrentThread(_) => None,
        }
    }
}
