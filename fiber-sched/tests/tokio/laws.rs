//! The scheduler on a tokio runtime keeps the laws of schedulers.

use std::hint;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use fiber_core::{Context, Fiber};
use fiber_sched::{Shutdown, TokioScheduler};
use fiber_test::laws::{self, Host};
use fiber_test::scheduler_laws;
use tokio::runtime::{Builder, Runtime};

/// How often the law is tried on a busy machine.
const ROUNDS: usize = 20;

scheduler_laws!(tokio_current_thread, || OnTokio::new(1, Builder::new_current_thread()));
scheduler_laws!(tokio_of_one, || OnTokio::new(1, Builder::new_multi_thread()));
scheduler_laws!(tokio_of_two, || OnTokio::new(2, Builder::new_multi_thread()));
scheduler_laws!(tokio_of_four, || OnTokio::new(4, Builder::new_multi_thread()));

/// On a machine whose processors are all busy, a worker often stops between its search and its sleep. tokio wakes no worker then.
#[test]
fn fibers_that_compute_run_at_the_same_time_on_a_busy_machine() {
    let is_over = AtomicBool::new(false);
    let kept = thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    hint::spin_loop();
                }
            });
        }
        let kept = (0..ROUNDS).try_for_each(|_| {
            laws::fibers_that_compute_run_at_the_same_time(|| OnTokio::new(2, Builder::new_multi_thread()))
        });
        is_over.store(true, Ordering::Relaxed);
        kept
    });
    kept.unwrap_or_else(|broken| panic!("{broken}"));
}

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

    fn shut_down(self) -> bool {
        let plan = Shutdown::within(Self::PATIENCE / 2);
        self.runtime.block_on(self.fibers.shutdown(plan)).is_ok()
    }
}
