//! The [`Scheduler`] that the fibers of an affinity pool see.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use fiber_core::scheduler::net::Net;
use fiber_core::scheduler::{Checkpoint, Event, Scheduler, SwitchPoint, Task, TimerKey, Unobserved};
use fiber_core::{Context, Instant};

use super::builder::{AffinityBuilder, OnUnobserved};
use super::worker::{Local, Worker, Workers, with_local};
use crate::bed::Bed;
use crate::blocking::Blocking;
use crate::cores::Cores;
use crate::inside::SchedulerId;
use crate::metrics::Metrics;
use crate::net::Polls;
use crate::random::Random;
use crate::shutdown::Stops;
use crate::threads::Threads;

pub(crate) struct AffinityScheduler {
    id: SchedulerId,
    random: Random,
    workers: Arc<Workers>,
    blocking: Blocking,
    threads: Arc<Threads>,
    on_unobserved: OnUnobserved,
}

impl AffinityScheduler {
    /// Starts the workers.
    ///
    /// # Errors
    /// The error of the operating system; no worker is left in that case.
    pub(super) fn start(builder: AffinityBuilder) -> io::Result<Arc<Self>> {
        let id = SchedulerId::new();
        let cores = builder.is_pinned.then(Cores::of_this_thread);
        let threads = Threads::on_cores(id, builder.name, cores);
        let locals: Vec<Local> = (0..builder.workers).map(Local::new).collect();
        // Fibers stay with their worker, and so do their sockets.
        let polls = Polls::new(id, builder.workers);
        let (beds, alarms) = Bed::for_all(&polls, builder.workers);
        let scheduler = Arc::new(AffinityScheduler {
            id,
            random: Random::new(),
            workers: Arc::new(Workers::new(&locals, alarms, polls, builder.observers.clone())),
            blocking: Blocking::new(
                threads.clone(),
                builder.blocking_threads,
                builder.blocking_keep_alive,
                builder.observers,
            ),
            threads,
            on_unobserved: builder.on_unobserved,
        });
        for (local, bed) in locals.into_iter().zip(beds) {
            let supply = builder.stacks.clone();
            let worker = Worker { pool: id, workers: scheduler.workers.clone(), bed, cores, supply };
            let role = format!("worker-{}", local.index());
            let started = scheduler.threads.start(&role, move || worker.work(local));
            started.inspect_err(|_| _ = scheduler.end(None))?;
        }
        Ok(scheduler)
    }

    pub(super) fn workers(&self) -> &Workers {
        &self.workers
    }

    /// `fibers`: the number of live fibers.
    pub(super) fn metrics(&self, fibers: usize) -> Metrics {
        let (blocking_threads, blocking_queue) = self.blocking.counts();
        Metrics {
            workers: self.workers.metrics(),
            hosts: Vec::new(),
            may_run: self.workers.count(),
            // Each task waits for a specific worker.
            injected: 0,
            timers: self.workers.timers(),
            blocking_threads,
            blocking_queue,
            fibers,
        }
    }

    /// The worker of a key with this hash.
    pub(super) fn worker_of(&self, hash: KeyHash) -> usize {
        // Less than the number of workers, which is a `usize`.
        (hash.0 % self.workers.count() as u64) as usize
    }
}

/// The hash of a key. It is the same in all pools.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyHash(u64);

impl KeyHash {
    pub(super) fn of(key: impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        KeyHash(hasher.finish())
    }
}

#[cfg(feature = "inspector")]
impl crate::source::Source for AffinityScheduler {
    fn observers(&self) -> &crate::observer::Observers {
        self.workers.observers()
    }

    fn metrics(&self, fibers: usize) -> Option<crate::metrics::Metrics> {
        Some(self.metrics(fibers))
    }
}

impl Scheduler for AffinityScheduler {
    fn schedule(&self, task: Task) {
        with_local(self.id, |local| self.workers.push(task, local));
    }

    fn schedule_at(&self, at: Instant, task: Task) -> TimerKey {
        with_local(self.id, |local| self.workers.insert_timer(at, task, local))
    }

    fn cancel_timer(&self, key: TimerKey) -> bool {
        self.workers.remove_timer(key)
    }

    fn now(&self) -> Instant {
        self.workers.now()
    }

    fn utc_now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn random_u64(&self) -> u64 {
        self.random.next()
    }

    fn schedule_blocking(&self, task: Task) {
        self.blocking.schedule(task);
    }

    fn schedule_dedicated(&self, task: Task) {
        self.blocking.schedule_dedicated(task);
    }

    fn checkpoint(&self, _: &Context, _: SwitchPoint) -> Checkpoint {
        with_local(self.id, |local| self.workers.checkpoint(local, self.budget()))
    }

    fn is_observer(&self) -> bool {
        !self.workers.observers().is_empty()
    }

    fn observe(&self, fiber: &Context, event: Event<'_>) {
        self.workers.observers().event(fiber, event);
    }

    /// The tag of a fiber names its worker.
    fn has_places(&self) -> bool {
        true
    }

    #[cfg(feature = "direct")]
    fn has_stacks(&self) -> bool {
        true
    }

    fn net(&self) -> Option<&dyn Net> {
        self.workers.polls().net()
    }

    fn unobserved(&self, failure: &Unobserved) {
        self.workers.observers().unobserved(failure);
        (self.on_unobserved)(failure);
    }
}

impl Stops for AffinityScheduler {
    fn id(&self) -> SchedulerId {
        self.id
    }

    fn threads(&self) -> &Arc<Threads> {
        &self.threads
    }

    fn blocking(&self) -> &Blocking {
        &self.blocking
    }

    fn stop(&self) {
        self.workers.stop();
        self.blocking.stop();
    }
}
