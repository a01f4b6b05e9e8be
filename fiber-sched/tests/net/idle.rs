//! An idle pool.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::Fiber;
use fiber_sched::Pool;

use super::{PATIENCE, alone, connected, eventually};

/// The name of the pool's threads only: the thread of the test is named after the test.
const NAME: &str = "quiet";

/// The context switches to the pool's threads so far, and their CPU time in nanoseconds.
fn used(pool: &str) -> (u64, u64) {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let of_pool = tasks.filter(|task| {
        let name = fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        name.starts_with(pool)
    });
    let one = |task: fs::DirEntry| {
        let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let switches = status.lines().filter(|line| line.contains("ctxt_switches"));
        let switches = switches.filter_map(|line| line.split_whitespace().last()?.parse::<u64>().ok()).sum();
        let time = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        (switches, time.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or(0))
    };
    of_pool.map(one).fold((0, 0), |sum: (u64, u64), one: (u64, u64)| (sum.0 + one.0, sum.1 + one.1))
}

/// In some window, and so in all later ones while nothing happens, no thread of the pool is switched to or uses CPU time.
#[test]
fn a_pool_with_idle_connections_uses_no_cpu() {
    let _alone = alone();
    for polls in [1, 2] {
        let pool = Pool::builder().workers(2).polls(polls).name(NAME).build();
        let open = pool.run(Fiber::parallel((0..10).map(|_| connected()))).unwrap();
        let reads: Vec<_> =
            open.iter().map(|(_, server)| pool.spawn(server.read([0; 8]).map(drop))).collect();
        eventually("its threads are found", || used(NAME).0 > 0 || !cfg!(target_os = "linux"));
        let mut before = used(NAME);
        let end = Instant::now() + PATIENCE;
        loop {
            thread::sleep(Duration::from_millis(200));
            let after = used(NAME);
            if after == before {
                break;
            }
            assert!(Instant::now() < end, "the workers do something all the time: {before:?}, {after:?}");
            before = after;
        }
        drop(reads);
    }
}
