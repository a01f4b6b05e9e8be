//! The [`Scheduler`] that the fibers of a pool see.

use std::io;
use std::sync::Arc;
use std::task::Waker;
use std::time::SystemTime;

use fiber_core::scheduler::net::Net;
use fiber_core::scheduler::{
    BranchDeque, Checkpoint, Event, Scheduler, SwitchPoint, Task, TimerKey, Unobserved,
};
use fiber_core::{Context, Instant};

use super::builder::Builder;
use super::host;
use super::idle::Idle;
use super::lent::Lent;
use super::queue::Queues;
use super::seat::Seat;
use super::worker::{Local, Worker, with_local};
use crate::bed::Bed;
use crate::blocking::Blocking;
use crate::clock::Clock;
use crate::direct::Supply;
use crate::inside::SchedulerId;
use crate::metrics::Metrics;
use crate::net::Polls;
use crate::random::Random;
use crate::shutdown::Stops;
use crate::threads::Threads;

/// One poll for all workers: any idle one sees everything, so no fiber waits for the worker of its socket.
const DEFAULT_POLLS: usize = 1;

pub(crate) struct PoolScheduler {
    id: SchedulerId,
    random: Random,
    pub(super) queues: Arc<Queues>,
    pub(super) blocking: Blocking,
    pub(super) threads: Arc<Threads>,
}

impl PoolScheduler {
    /// Starts the workers.
    ///
    /// # Errors
    /// The error of the operating system; no worker is left then.
    pub(super) fn start(builder: Builder) -> io::Result<Arc<Self>> {
        let id = SchedulerId::new();
        let threads = Threads::inside(id, builder.name, builder.runtime);
        // One more than may run: the spare worker runs in the place of one that is stuck.
        let count = builder.workers + 1;
        let branches: Vec<BranchDeque> = (0..count).map(|_| BranchDeque::new()).collect();
        let locals: Vec<Local> = (0..count).map(Local::new).collect();
        let polls = Polls::new(id, builder.polls.unwrap_or(DEFAULT_POLLS).min(builder.workers));
        let (beds, alarms) = Bed::for_all(&polls, count);
        let idle = Idle::new(alarms.into());
        let seats = locals.iter().map(Local::seat).collect();
        let scheduler = Arc::new(PoolScheduler {
            id,
            random: Random::new(),
            queues: Arc::new(Queues::new(
                seats,
                Lent::new(&branches),
                idle,
                Clock::new(),
                polls,
                builder.settings.clone(),
                builder.observers.clone(),
            )),
            blocking: Blocking::new(
                threads.clone(),
                builder.settings.blocking_threads,
                builder.settings.blocking_keep_alive,
                builder.observers,
            ),
            threads,
        });
        for ((local, branches), bed) in locals.into_iter().zip(branches).zip(beds) {
            let supply = builder.stacks.clone();
            let started = scheduler.start_worker(local, branches, bed, supply);
            started.inspect_err(|_| _ = scheduler.end(None))?;
        }
        Ok(scheduler)
    }

    /// `fibers`: how many live.
    pub(super) fn metrics(&self, fibers: usize) -> Metrics {
        let (blocking_threads, blocking_queue) = self.blocking.counts();
        Metrics {
            workers: self.queues.seats().map(Seat::metrics).collect(),
            hosts: self.queues.lent().metrics(),
            may_run: self.queues.idle().places(),
            injected: self.queues.injected(),
            timers: self.queues.timers().len(),
            blocking_threads,
            blocking_queue,
            fibers,
        }
    }

    fn start_worker(
        self: &Arc<Self>,
        local: Local,
        branches: BranchDeque,
        bed: Bed,
        supply: Supply,
    ) -> io::Result<()> {
        let (scheduler, queues) = (Arc::downgrade(self), self.queues.clone());
        let worker = Worker { pool: self.id, scheduler, queues, branches, bed, supply };
        self.threads.start(&format!("worker-{}", local.index()), move || worker.work(local))
    }
}

impl Stops for PoolScheduler {
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
        self.queues.idle().stop();
        self.queues.timers().stop();
        self.queues.polls().stop();
        self.blocking.stop();
        self.queues.discard();
    }
}

#[cfg(feature = "inspector")]
impl crate::source::Source for PoolScheduler {
    fn observers(&self) -> &crate::observer::Observers {
        self.queues.observers()
    }

    fn metrics(&self, fibers: usize) -> Option<crate::metrics::Metrics> {
        Some(self.metrics(fibers))
    }
}

impl Scheduler for PoolScheduler {
    fn schedule(&self, task: Task) {
        with_local(self.id, |local| self.queues.push(task, local));
    }

    fn schedule_all(&self, tasks: &mut dyn Iterator<Item = Task>) {
        with_local(self.id, |local| match local {
            Some(local) => tasks.for_each(|task| local.push(task, &self.queues)),
            None => self.queues.inject_all(tasks),
        });
    }

    fn schedule_at(&self, at: Instant, task: Task) -> TimerKey {
        with_local(self.id, |local| self.queues.insert_timer(at, task, local))
    }

    fn cancel_timer(&self, key: TimerKey) -> bool {
        self.queues.timers().remove(key)
    }

    fn now(&self) -> Instant {
        self.queues.now()
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

    fn budget(&self) -> u32 {
        self.queues.budget()
    }

    fn checkpoint(&self, context: &Context, at: SwitchPoint) -> Checkpoint {
        with_local(self.id, |local| self.queues.checkpoint(local, context, at))
    }

    fn is_host(&self) -> bool {
        true
    }

    fn host(&self, next: &mut dyn FnMut() -> Option<Task>) -> bool {
        host::run(self, next)
    }

    fn wake_host(&self, waker: Waker) {
        waker.wake();
        if self.id.is_inside() {
            // The fiber that has woken it may be about to compute.
            self.threads.runtime().clear_slot();
        }
    }

    fn is_observer(&self) -> bool {
        !self.queues.observers().is_empty()
    }

    fn observe(&self, fiber: &Context, event: Event<'_>) {
        self.queues.observers().event(fiber, event);
    }

    #[cfg(feature = "direct")]
    fn has_stacks(&self) -> bool {
        true
    }

    fn net(&self) -> Option<&dyn Net> {
        self.queues.polls().net()
    }

    fn unobserved(&self, failure: &Unobserved) {
        self.queues.observers().unobserved(failure);
        self.queues.settings().load().unobserved(failure);
    }
}
