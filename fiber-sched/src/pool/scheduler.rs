//! The [`Scheduler`] that the fibers of a pool see.

use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use crossbeam_deque::Worker as Deque;
use crossbeam_utils::sync::Parker;
use fiber_core::{
    BranchDeque, Checkpoint, Context, Instant, Scheduler, SwitchPoint, Task, TimerKey, Unobserved,
};

use super::builder::{Builder, OnUnobserved};
use super::idle::Idle;
use super::lent::Lent;
use super::queue::Queues;
use super::worker::{Local, Worker, with_local};
use crate::blocking::Blocking;
use crate::clock::Clock;
use crate::inside::SchedulerId;
use crate::random::Random;
use crate::threads::Threads;
use crate::timer::Driver;

pub(super) struct PoolScheduler {
    id: SchedulerId,
    clock: Clock,
    random: Random,
    pub(super) queues: Arc<Queues>,
    pub(super) timers: Driver,
    pub(super) blocking: Blocking,
    pub(super) threads: Arc<Threads>,
    on_unobserved: OnUnobserved,
}

impl PoolScheduler {
    /// Starts the workers.
    ///
    /// # Errors
    /// The error of the operating system; no worker is left then.
    pub(super) fn start(builder: Builder) -> io::Result<Arc<Self>> {
        let id = SchedulerId::new();
        let clock = Clock::new();
        let threads = Threads::new(id, builder.name);
        let deques: Vec<Deque<Task>> = (0..builder.workers).map(|_| Deque::new_fifo()).collect();
        let branches: Vec<BranchDeque> = deques.iter().map(|_| BranchDeque::new()).collect();
        let parkers: Vec<Parker> = (0..builder.workers).map(|_| Parker::new()).collect();
        let idle = Idle::new(parkers.iter().map(|parker| parker.unparker().clone()).collect());
        let queues = Arc::new(Queues::new(&deques, Lent::new(&branches), idle));
        let injected = queues.clone();
        let scheduler = Arc::new(PoolScheduler {
            id,
            clock,
            random: Random::new(),
            queues,
            timers: Driver::new(clock, threads.clone(), move |task| injected.inject(task)),
            blocking: Blocking::new(threads.clone(), builder.blocking_threads, builder.blocking_keep_alive),
            threads,
            on_unobserved: builder.on_unobserved,
        });
        for (index, ((deque, branches), parker)) in deques.into_iter().zip(branches).zip(parkers).enumerate()
        {
            let started = scheduler.start_worker(Local::new(id, index, deque), branches, parker);
            started.inspect_err(|_| _ = scheduler.end(None))?;
        }
        Ok(scheduler)
    }

    fn start_worker(&self, local: Local, branches: BranchDeque, parker: Parker) -> io::Result<()> {
        let worker = Worker { queues: self.queues.clone(), branches, parker };
        self.threads.start(&format!("worker-{}", local.index()), move || worker.work(local))
    }

    pub(super) fn id(&self) -> SchedulerId {
        self.id
    }
}

impl Scheduler for PoolScheduler {
    fn schedule(&self, task: Task) {
        with_local(self.id, |local| self.queues.push(task, local));
    }

    fn schedule_at(&self, at: Instant, task: Task) -> TimerKey {
        self.timers.insert(at, task)
    }

    fn cancel_timer(&self, key: TimerKey) -> bool {
        self.timers.remove(key)
    }

    fn now(&self) -> Instant {
        self.clock.now()
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
        with_local(self.id, |local| self.queues.checkpoint(local, self.budget()))
    }

    fn is_observer(&self) -> bool {
        false
    }

    fn unobserved(&self, failure: &Unobserved) {
        (self.on_unobserved)(failure);
    }
}
