//! [`Metrics`]: the work that a pool has done, and its pending work.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use fiber_core::scheduler::TaskKind;

use super::counters::{Count, Counters, KINDS, LATENCY_BUCKETS};

/// The work that a [`Pool`](crate::Pool), an [`AffinityPool`](crate::AffinityPool) or a `TokioScheduler` has done since its
/// start, and its pending work. The numbers of different threads are read one after the other while the threads run, so sums
/// may be slightly off.
///
/// ```
/// use fiber_core::scheduler::TaskKind;
/// use fiber_core::Fiber;
/// use fiber_sched::{Pool, block_on};
///
/// let pool = Pool::builder().workers(2).build();
/// let handles: Vec<_> = (0..10).map(|n| pool.spawn(Fiber::success(n))).collect();
/// handles.into_iter().for_each(|handle| assert!(block_on(handle).is_success()));
/// let metrics = pool.metrics();
/// assert_eq!(metrics.workers.len(), 3);
/// assert_eq!(metrics.total(|worker| worker.tasks(TaskKind::Start)), 10);
/// println!("{metrics}");
/// ```
///
/// With the feature `serde`, they are data for other programs:
///
/// ```
/// let metrics = fiber_sched::Pool::builder().workers(1).build().metrics();
/// let json = serde_json::to_value(&metrics).unwrap();
/// assert_eq!(json["workers"][0]["tasks"]["timer"], 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// One for each worker. A `Pool` has one more, for its spare thread.
    pub workers: Vec<WorkerMetrics>,
    /// One for each place in which a thread of another executor runs fibers: those that a task [calls](fiber_core::Call). Only turns are
    /// counted.
    pub hosts: Vec<WorkerMetrics>,
    /// The number of workers that may run at a time: the number that the pool was built with, and in a `Pool` one more for
    /// each worker that is stuck or makes way.
    pub may_run: usize,
    /// Tasks from outside that any worker may take. In an `AffinityPool` there are none: each task is
    /// queued for its worker.
    pub injected: usize,
    /// The number of timers that are set.
    pub timers: usize,
    /// The number of threads for blocking calls.
    pub blocking_threads: usize,
    /// The number of blocking calls that wait for a thread.
    pub blocking_queue: usize,
    /// The number of live fibers directly below the root.
    pub fibers: usize,
}

/// The work that one worker has done, and the tasks that wait for it.
///
/// For a `TokioScheduler`, only turns and wake-ups are counted; the other numbers are 0.
///
/// Workers of an [`AffinityPool`](crate::AffinityPool) do not steal, and their turns are not supervised.
/// Their `steals`, `stolen_branches`, `notifications`, `cut_by_time` and `stuck` are 0.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerMetrics {
    tasks: [u64; KINDS.len()],
    latencies: [u64; LATENCY_BUCKETS],
    /// How often it took tasks from the deque of another worker.
    pub steals: u64,
    /// Branches that it stole from the stack of another thread.
    pub stolen_branches: u64,
    /// How often it began to search for work.
    pub searches: u64,
    /// How often it woke from sleep.
    pub wake_ups: u64,
    /// How often it notified sleeping workers of work of its own.
    pub notifications: u64,
    /// Turns that ended because their budget of steps was spent while another task waited.
    pub cut_by_steps: u64,
    /// Turns that ended because they exceeded the quantum while another task waited.
    pub cut_by_time: u64,
    /// Turns in which it was stuck.
    pub stuck: u64,
    /// Tasks in its queue. In an `AffinityPool`, also those from other threads that it has not seen yet.
    pub queued: usize,
    /// Where the fiber was forked whose turn it runs. Only a `Pool` knows it.
    pub runs: Option<&'static Location<'static>>,
    /// Whether it is stuck now, so that another worker runs in its place. Always `false` but in a `Pool`.
    pub is_stuck: bool,
}

impl Metrics {
    /// The sum of a number over all workers and hosts.
    pub fn total(&self, number: impl Fn(&WorkerMetrics) -> u64) -> u64 {
        self.workers.iter().chain(&self.hosts).map(number).sum()
    }
}

impl WorkerMetrics {
    pub(crate) fn new(counters: &Counters, queued: usize) -> Self {
        WorkerMetrics {
            tasks: KINDS.map(|kind| counters.get(Count::Task(kind))),
            latencies: counters.latencies(),
            steals: counters.get(Count::Steal),
            stolen_branches: counters.get(Count::StolenBranch),
            searches: counters.get(Count::Search),
            wake_ups: counters.get(Count::WakeUp),
            notifications: counters.get(Count::Notification),
            cut_by_steps: counters.get(Count::CutBySteps),
            cut_by_time: counters.get(Count::CutByTime),
            stuck: counters.get(Count::Stuck),
            queued,
            runs: None,
            is_stuck: false,
        }
    }

    /// The number of tasks of a kind that it has run.
    pub fn tasks(&self, kind: TaskKind) -> u64 {
        KINDS.iter().zip(self.tasks).filter(|(other, _)| **other == kind).map(|(_, count)| count).sum()
    }

    /// The number of its turns.
    pub fn turns(&self) -> u64 {
        self.tasks.iter().sum()
    }

    /// How long tasks waited in its queue, sampled: upper bounds, each twice the one before, and the number of samples
    /// below the bound and not below the one before. The time in which a task from another thread waits until the worker
    /// takes it into its queue does not count.
    pub fn latencies(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        (0..).zip(self.latencies).map(|(bucket, count)| (Duration::from_nanos(1 << (bucket + 8)), count))
    }
}

/// One line for the pool, one for each worker, and one for each host that has run a fiber.
impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Metrics { may_run, injected, timers, blocking_threads, blocking_queue, fibers, .. } = self;
        let [fibers, timers, threads, calls] = [
            (*fibers, ["fiber", "fibers"]),
            (*timers, ["timer", "timers"]),
            (*blocking_threads, ["blocking thread", "blocking threads"]),
            (*blocking_queue, ["blocking call waits", "blocking calls wait"]),
        ]
        .map(|(count, words)| counted(count as u64, words));
        writeln!(f, "{may_run} may run, {fibers}, {injected} injected, {timers}, {threads}, {calls}")?;
        let mut workers = self.workers.iter().enumerate();
        workers.try_for_each(|(index, worker)| writeln!(f, "worker {index}: {worker}"))?;
        let mut hosts = self.hosts.iter().enumerate().filter(|(_, host)| host.turns() > 0);
        hosts.try_for_each(|(index, host)| writeln!(f, "host {index}: {host}"))
    }
}

impl fmt::Display for WorkerMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&counted(self.turns(), ["turn", "turns"]))?;
        for (kind, count) in KINDS.iter().zip(self.tasks).filter(|(_, count)| *count > 0) {
            write!(f, ", {count} {kind}")?;
        }
        let numbers = [
            (self.queued as u64, ["queued"; 2]),
            (self.steals, ["steal", "steals"]),
            (self.stolen_branches, ["stolen branch", "stolen branches"]),
            (self.searches, ["search", "searches"]),
            (self.wake_ups, ["wake-up", "wake-ups"]),
            (self.notifications, ["notification", "notifications"]),
            (self.cut_by_steps, ["cut by steps"; 2]),
            (self.cut_by_time, ["cut by time"; 2]),
            (self.stuck, ["stuck"; 2]),
        ];
        numbers.into_iter().try_for_each(|(number, words)| write!(f, "; {}", counted(number, words)))
    }
}

/// A number, and the words for one and for others.
fn counted(count: u64, [one, others]: [&str; 2]) -> String {
    format!("{count} {}", if count == 1 { one } else { others })
}
