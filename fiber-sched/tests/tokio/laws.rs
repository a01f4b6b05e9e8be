//! The scheduler on a tokio runtime keeps the laws of schedulers.

use fiber_core::{Context, Fiber};
use fiber_sched::{Shutdown, TokioScheduler};
use fiber_test::laws::Host;
use fiber_test::scheduler_laws;
use tokio::runtime::{Builder, Runtime};

scheduler_laws!(tokio_current_thread, || OnTokio::new(1, Builder::new_current_thread()));
scheduler_laws!(tokio_of_one, || OnTokio::new(1, Builder::new_multi_thread()));
scheduler_laws!(tokio_of_two, || OnTokio::new(2, Builder::new_multi_thread()));
scheduler_laws!(tokio_of_four, || OnTokio::new(4, Builder::new_multi_thread()));

struct OnTokio {
    fibers: TokioScheduler,
    runtime: Runtime,
    threads: usize,
}

impl OnTokio {
    fn new(threads: usize, mut builder: Builder) -> Self {
        let runtime = builder.worker_threads(threads).enable_all().build().unwrap();
        let fibers = TokioScheduler::builder(runtime.handle()).on_unobserved(|_| ()).build();
        OnTokio { fibers, runtime, threads }
    }
}

impl Host for OnTokio {
    fn context(&self) -> &Context {
        self.fibers.context()
    }

    fn run(&self, fiber: Fiber<()>) {
        self.runtime.block_on(self.fibers.spawn(fiber).into_future()).unwrap();
    }

    fn threads(&self) -> usize {
        self.threads
    }

    /// A computation delays fibers that it wakes, and timers.
    fn has_spare_thread(&self) -> bool {
        false
    }

    fn shut_down(self) -> bool {
        let plan = Shutdown::within(Self::PATIENCE / 2);
        self.runtime.block_on(self.fibers.shutdown(plan)).is_ok()
    }
}
