//! What the fibers of a pool see of it.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use crossbeam_deque::Worker as Deque;
use crossbeam_utils::sync::Parker;
use fiber_core::{
    BranchDeque, Checkpoint, Context, Event, Instant, Scheduler, SwitchPoint, Task, TimerKey, Unobserved,
};

use super::builder::{Builder, OnUnobserved};
use super::idle::Idle;
use super::lent::Lent;
use super::queue::Queues;
use super::worker::{Local, Worker, with_local};
use crate::blocking::Blocking;
use crate::census::Census;
use crate::clock::Clock;
use crate::inside::SchedulerId;
use crate::random::Random;
use crate::threads::Threads;
use crate::timer::Driver;

pub(super) struct PoolScheduler {
    id: SchedulerId,
    workers: usize,
    clock: Clock,
    random: Random,
    pub(super) queues: Arc<Queues>,
    pub(super) census: Arc<Census>,
    pub(super) timers: Driver,
    pub(super) blocking: Blocking,
    pub(super) threads: Arc<Threads>,
    on_unobserved: OnUnobserved,
}

impl PoolScheduler {
    /// Starts the workers.
    ///
    /// # Errors
    /// The operating system's; then no worker is left.
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
            workers: builder.workers,
            clock,
            random: Random::new(),
            queues,
            census: Arc::new(Census::new(builder.workers)),
            timers: Driver::new(clock, threads.clone(), move |task| injected.inject(task)),
            blocking: Blocking::new(threads.clone(), builder.blocking_threads, builder.blocking_keep_alive),
            threads,
            on_unobserved: builder.on_unobserved,
        });
        for (index, ((deque, branches), parker)) in deques.into_iter().zip(branches).zip(parkers).enumerate()
        {
            let started = scheduler.start_worker(Local::new(id, index, deque), branches, parker);
            started.inspect_err(|_| _ = scheduler.shut_down(None))?;
        }
        Ok(scheduler)
    }

    fn start_worker(&self, local: Local, branches: BranchDeque, parker: Parker) -> io::Result<()> {
        let worker = Worker { queues: self.queues.clone(), census: self.census.clone(), branches, parker };
        self.threads.start(&format!("worker-{}", local.index()), move || worker.work(local))
    }

    pub(super) fn id(&self) -> SchedulerId {
        self.id
    }
}

impl Scheduler for PoolScheduler {
    fn schedule(&self, task: Task) {
        with_local(self.id, |local| match local {
            Some(local) => local.push(task, &self.queues),
            None => self.queues.inject(task),
        });
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

    /// A fiber goes on unless something waits for its worker. On a thread that is not the pool's it keeps nobody waiting.
    fn checkpoint(&self, _: &Context, _: SwitchPoint) -> Checkpoint {
        let may_go_on = with_local(self.id, |local| {
            local.is_none_or(|local| {
                let is_wanted = local.has_next(&self.queues);
                if is_wanted {
                    local.look_outside_next();
                }
                !is_wanted
            })
        });
        if may_go_on && !self.queues.idle().is_stopped() {
            Checkpoint::Continue(self.budget())
        } else {
            Checkpoint::Yield
        }
    }

    fn observe(&self, _: &Context, event: Event<'_>) {
        match event {
            Event::Created { .. } => {
                with_local(self.id, |local| self.census.created(local.map(Local::index)));
            }
            Event::Ended => with_local(self.id, |local| self.census.ended(local.map(Local::index))),
            _ => {}
        }
    }

    fn unobserved(&self, failure: &Unobserved) {
        (self.on_unobserved)(failure);
    }
}

impl fmt::Debug for PoolScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} workers, {} fibers", self.workers, self.census.live())
    }
}
