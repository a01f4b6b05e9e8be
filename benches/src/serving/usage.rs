//! The resources that a process has used, as reported by Linux.

use std::fs;
use std::time::Duration;

/// The unit of times in `/proc`, on all relevant platforms.
const TICK: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    pub(super) cpu: Duration,
    pub(super) switches: u64,
}

/// Zero where there is no `/proc`.
pub(super) fn of(process: u32) -> Usage {
    Usage { cpu: cpu(process).unwrap_or_default(), switches: switches(process).unwrap_or_default() }
}

/// In nanoseconds if the scheduler counts them, otherwise in ticks.
fn cpu(process: u32) -> Option<Duration> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let of_task = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
    };
    let exact: Option<Duration> = tasks.flatten().map(of_task).sum();
    exact.filter(|time| !time.is_zero()).or_else(|| in_ticks(process))
}

fn in_ticks(process: u32) -> Option<Duration> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    let ticks: u32 = rest.split(' ').skip(12).take(2).filter_map(|field| field.parse::<u32>().ok()).sum();
    Some(TICK * ticks)
}

fn switches(process: u32) -> Option<u64> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let of_task = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("status")).ok()?;
        let counts = text.lines().filter(|line| line.contains("ctxt_switches"));
        Some(counts.filter_map(|line| line.split_whitespace().last()?.parse::<u64>().ok()).sum::<u64>())
    };
    Some(tasks.flatten().filter_map(of_task).sum())
}
