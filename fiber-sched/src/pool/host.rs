//! Fibers of the pool that run in the tasks of an executor which [call](fiber_core::Call) them, on the threads of that.

use fiber_core::scheduler::{Task, TaskRunner, serve};

use super::scheduler::PoolScheduler;
use super::thread::PoolThread;
use crate::contain::contain;
use crate::shutdown::Stops;

/// How many turns run before other tasks of the executor get theirs, as on a tokio runtime.
const MOST_TURNS: u32 = 8;

/// Runs the tasks that `next` gives. `false`: it has run none.
pub(super) fn run(pool: &PoolScheduler, next: &mut dyn FnMut() -> Option<Task>) -> bool {
    let (id, queues) = (pool.id(), &*pool.queues);
    if queues.idle().is_stopped() || id.is_inside() {
        return false;
    }
    let _inside = id.enter();
    let _in_runtime = pool.threads.runtime().enter();
    let thread = PoolThread::host(pool);
    serve(&thread, id.key(), || {
        let mut runner = TaskRunner::on(&thread);
        for _ in 0..MOST_TURNS {
            let Some(task) = next() else { break };
            thread.add_turn(&task);
            contain(|| queues.observers().run(task, |task| runner.run(task)));
        }
    });
    true
}
