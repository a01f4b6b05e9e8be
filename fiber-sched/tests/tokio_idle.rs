//! A tokio runtime on which fibers wait. In a process of its own, because it counts what threads of that name do.
#![cfg(target_os = "linux")]

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::{Fiber, Policy};
use fiber_sched::{TokioScheduler, block_on};

/// The end of the wait for a window in which nothing happens.
const PATIENCE: Duration = Duration::from_secs(30);

/// The names of the threads that fibers on a runtime use: of its workers, and of the lookout.
const NAMES: [&str; 2] = ["quiet", "fiber-lookout"];

/// How many such threads there are, and the context switches to them so far.
fn used() -> (usize, u64) {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten().map(|task| task.path());
    let ours = tasks.filter(|task| {
        let name = fs::read_to_string(task.join("comm")).unwrap_or_default();
        NAMES.contains(&name.trim_end())
    });
    ours.fold((0, 0), |(threads, sum), task| {
        let status = fs::read_to_string(task.join("status")).unwrap_or_default();
        let switches = status.lines().filter(|line| line.contains("ctxt_switches"));
        let switches = switches.filter_map(|line| line.split_whitespace().last()?.parse::<u64>().ok());
        (threads + 1, sum + switches.sum::<u64>())
    })
}

/// In some window, and so in all later ones while nothing happens, no thread is switched to. None is left when the runtime ends.
#[test]
fn no_thread_runs_while_all_fibers_wait_or_stays_behind() {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).thread_name("quiet").enable_all().build().unwrap();
    let fibers = TokioScheduler::new(runtime.handle());
    let _waiting: Vec<_> =
        (0..10).map(|n| fibers.spawn(Fiber::delay(PATIENCE * 10 + Duration::from_secs(n)))).collect();
    // It naps while the workers work.
    let busy = Fiber::delay(Duration::from_millis(1)).repeat(Policy::recurs(50));
    block_on(fibers.spawn(busy)).unwrap();
    let (mut before, end) = (used(), Instant::now() + PATIENCE);
    loop {
        thread::sleep(Duration::from_millis(200));
        let after = used();
        // Two workers and the lookout.
        if after == before && after.0 == 3 {
            break;
        }
        assert!(Instant::now() < end, "the threads do something all the time: {before:?}, {after:?}");
        before = after;
    }
    // The lookout sleeps, and no fiber runs any more.
    drop(runtime);
    let end = Instant::now() + PATIENCE;
    while used().0 > 0 {
        assert!(Instant::now() < end, "threads stay behind: {:?}", used());
        thread::sleep(Duration::from_millis(1));
    }
}
