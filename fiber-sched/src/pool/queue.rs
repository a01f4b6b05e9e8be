//! The queues of tasks: the injector, for tasks from outside, and those of each worker.
//!
//! A worker has a deque, and a place for the task that runs next. What its fibers wake goes there, because its data is in
//! the worker's cache. At most [`MOST_IN_A_ROW`] such tasks run one after the other, so that two fibers that wake each other
//! do not keep the others from running. Thieves look there last, and only if the worker is still in the turn in which it
//! was at their previous look.
//!
//! The deques are those of Chase and Lev ("Dynamic Circular Work-Stealing Deque", 2005), in crossbeam's version. All
//! are first in, first out, so that a task that yields goes behind the others.

use std::iter;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use crossbeam_deque::{Injector, Worker as Deque};
use crossbeam_utils::CachePadded;
use crossbeam_utils::atomic::AtomicCell;
use fiber_core::scheduler::{Checkpoint, SwitchPoint, Task, TimerKey};
use fiber_core::{Context, Instant};

use super::idle::Idle;
use super::lent::Lent;
use super::seat::Seat;
use super::settings::Settings;
use super::stuck::Stuck;
use super::worker::Local;
use crate::clock::Clock;
use crate::contain::contain;
use crate::discard::discard;
use crate::metrics::Count;
use crate::net::Polls;
use crate::observer::Observers;
use crate::recorder::Recorder;
use crate::steal::{self, until_clear};
use crate::timer::Timers;

/// Binds of a slice: as many as by default.
const SLICE: u32 = 1024;

pub(super) struct Queues {
    injector: Injector<Task>,
    seats: Box<[CachePadded<Seat>]>,
    lent: Lent,
    timers: Timers,
    idle: Idle,
    clock: Clock,
    polls: Arc<Polls>,
    settings: ArcSwap<Settings>,
    observers: Observers,
    /// When a lookout was last appointed.
    appointment: AtomicCell<Instant>,
}

impl Queues {
    pub(super) fn new(
        seats: Vec<Seat>,
        lent: Lent,
        idle: Idle,
        clock: Clock,
        polls: Arc<Polls>,
        settings: Settings,
        observers: Observers,
    ) -> Self {
        let settings = ArcSwap::from_pointee(settings);
        let seats: Box<[_]> = seats.into_iter().map(CachePadded::new).collect();
        let timers = Timers::new(seats.len());
        Queues {
            injector: Injector::new(),
            seats,
            lent,
            timers,
            idle,
            clock,
            polls,
            settings,
            observers,
            appointment: AtomicCell::new(Instant::EPOCH),
        }
    }

    pub(super) fn observers(&self) -> &Observers {
        &self.observers
    }

    pub(super) fn lent(&self) -> &Lent {
        &self.lent
    }

    pub(super) fn timers(&self) -> &Timers {
        &self.timers
    }

    pub(super) fn idle(&self) -> &Idle {
        &self.idle
    }

    pub(super) fn polls(&self) -> &Polls {
        &self.polls
    }

    pub(super) fn seat(&self, index: usize) -> &Seat {
        &self.seats[index]
    }

    pub(super) fn seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.iter().map(|seat| &**seat)
    }

    pub(super) fn settings(&self) -> &ArcSwap<Settings> {
        &self.settings
    }

    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// A lookout was appointed: how long after the one before.
    pub(super) fn time_since_appointment(&self) -> Duration {
        let now = self.now();
        now - self.appointment.swap(now)
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Queues a task, for the worker of this thread or a thief.
    #[inline]
    pub(super) fn push(&self, task: Task, local: Option<&Local>) {
        match local {
            Some(local) => local.push(task, self),
            None => self.inject(task),
        }
    }

    /// Sets a timer.
    pub(super) fn insert_timer(&self, at: Instant, task: Task, local: Option<&Local>) -> TimerKey {
        let Some(local) = local else {
            let inserted = self.timers.insert(0, at, task);
            if let Some(look) = inserted.look {
                self.idle.expect(look);
            }
            return inserted.key;
        };
        local.insert_timer(at, task, self)
    }

    /// How many binds a fiber may run before it asks whether it may go on.
    pub(super) fn budget(&self) -> u32 {
        if self.is_recorded() { 1 } else { SLICE }
    }

    pub(super) fn is_recorded(&self) -> bool {
        self.observers.recorder().is_some()
    }

    /// Lets the fiber go on unless a task waits for its worker. On a user thread, it keeps no task waiting.
    pub(super) fn checkpoint(&self, local: Option<&Local>, context: &Context, at: SwitchPoint) -> Checkpoint {
        if let Some(recorder) = self.observers.recorder() {
            return self.checkpoint_recorded(recorder, local, context, at);
        }
        if self.may_go_on(local) { Checkpoint::Continue(SLICE) } else { Checkpoint::Yield }
    }

    fn may_go_on(&self, local: Option<&Local>) -> bool {
        let is_wanted = local.is_some_and(|local| local.is_wanted(self));
        !is_wanted && !self.idle.is_stopped()
    }

    /// Every fiber has turns of its own, and makes place for others as often as in a pool that does not record.
    #[cold]
    fn checkpoint_recorded(
        &self,
        recorder: &Recorder,
        local: Option<&Local>,
        context: &Context,
        at: SwitchPoint,
    ) -> Checkpoint {
        // A user thread hands its fiber over at the first bind.
        let Some(local) = local.filter(|_| at != SwitchPoint::Branch) else { return Checkpoint::Yield };
        if local.has_spent_slice(self, SLICE) && !self.may_go_on(Some(local)) {
            return Checkpoint::Yield;
        }
        recorder.goes_on(context);
        Checkpoint::Continue(1)
    }

    /// Tells the workers that run of tasks from outside and of timers that are due, before they have run that many tasks of
    /// their own that they look. Called by one that may not run.
    pub(super) fn call_to_look(&self) {
        if self.has_injected() || self.timers.first() <= self.now() {
            self.seats().for_each(Seat::call);
            self.lent.call_all();
        }
    }

    /// Queues a task from outside.
    pub(super) fn inject(&self, task: Task) {
        self.injector.push(task);
        self.notify_of_injected();
    }

    /// Queues tasks from outside.
    pub(super) fn inject_all(&self, tasks: &mut dyn Iterator<Item = Task>) {
        tasks.for_each(|task| self.injector.push(task));
        self.notify_of_injected();
    }

    fn notify_of_injected(&self) {
        if self.idle.notify().is_stopped() {
            // The thread that stopped the pool may have looked before the push.
            steal::all(|| self.injector.steal()).for_each(discard);
        } else if self.idle.is_full() {
            self.lent.call_all();
        }
    }

    /// Queues a task that only this worker may run.
    pub(super) fn pin(&self, index: usize, task: Task, local: Option<&Local>) {
        if let Err(task) = self.seats[index].pinned.push(task) {
            return discard(task);
        }
        // The worker itself looks there before it falls asleep.
        if local.is_none_or(|local| local.index() != index) {
            self.idle.ring(index);
        }
    }

    /// How many tasks from outside wait.
    pub(super) fn injected(&self) -> usize {
        self.injector.len()
    }

    pub(super) fn has_injected(&self) -> bool {
        !self.injector.is_empty()
    }

    /// Whether any queue holds a task.
    pub(super) fn has_any(&self) -> bool {
        self.has_injected() || self.seats().any(Seat::has_any)
    }

    /// Takes a task from the injector, and moves some more into the deque.
    pub(super) fn take_injected(&self, deque: &Deque<Task>) -> Option<Task> {
        until_clear(|| self.injector.steal_batch_and_pop(deque))
    }

    /// Lets another worker run in the place of one that is stuck in its turn, and gives what waits there to all workers.
    /// Called by a searcher.
    pub(super) fn is_stuck(&self, index: usize, turn: u64) {
        let seat = &self.seats[index];
        let Some(fork_site) = seat.site(turn) else { return };
        let is_new = seat.set_stuck();
        if is_new {
            self.idle.add_place();
            seat.counters().add(Count::Stuck);
        }
        // What the worker queues from now on, it hands over itself.
        seat.mark();
        self.hand_over(index);
        iter::from_fn(|| self.lent.steal_from(index)).for_each(|task| self.inject(task));
        if let Some(fork_site) = fork_site.filter(|_| is_new) {
            self.report(Stuck { fork_site });
        }
    }

    /// Lets another worker run in the place of one that calls `wait`, and gives what waits there to all workers.
    ///
    /// A worker that was stuck before stays so until the end of its turn, so that the turn is reported once.
    pub(super) fn stand_in_for(&self, local: &Local, wait: &mut dyn FnMut()) {
        let was_displaced = local.is_displaced();
        local.note_displaced(false, self);
        let is_new = self.give_place(local.index());
        wait();
        // What has been computed before does not count: it is a computation that splits.
        self.seat(local.index()).continues();
        if is_new || was_displaced {
            local.recover(self);
        }
    }

    /// Lets another worker run beside one that cannot run its tasks. `false`: another one runs there already.
    pub(super) fn give_place(&self, index: usize) -> bool {
        let seat = &self.seats[index];
        // The lookout may have noticed before that the turn takes long.
        let is_new = seat.set_stuck();
        if is_new {
            self.idle.add_place();
        }
        seat.mark();
        self.hand_over(index);
        self.idle.notify();
        is_new
    }

    /// Lets a worker that had made way continue in its place: the worker that runs there leaves it after its turn.
    pub(super) fn take_place(&self, index: usize) {
        if self.idle.is_crowded() {
            let others = self.seats.iter().enumerate().filter(|(other, _)| *other != index);
            others.for_each(|(_, seat)| seat.call());
        }
        _ = self.seats[index].take_call();
    }

    /// Moves the tasks of a worker that cannot run them to the injector. Workers with enough tasks of their own never
    /// steal, but look there from time to time.
    pub(super) fn hand_over(&self, index: usize) {
        let Seat { deque, next, .. } = &*self.seats[index];
        let waiting = steal::all(|| next.steal()).chain(steal::all(|| deque.steal()));
        waiting.for_each(|task| self.inject(task));
    }

    /// Calls the hook. A searcher that takes its time would keep the sleepers from being woken, so it does not count as
    /// one meanwhile. Nor does it take the place of a worker that runs fibers.
    fn report(&self, stuck: Stuck) {
        self.idle.add_place();
        if self.idle.leave_search() && self.has_any() {
            self.idle.notify();
        }
        contain(|| self.settings.load().stuck(&stuck));
        self.observers.stuck(&stuck);
        _ = self.idle.begin_search();
        self.idle.remove_place();
    }

    /// Drops the tasks in all queues, after the stop.
    ///
    /// The workers also drop later tasks in their deques, but a worker may be busy for a long time.
    pub(super) fn discard(&self) {
        steal::all(|| self.injector.steal()).for_each(discard);
        for seat in self.seats() {
            steal::all(|| seat.deque.steal()).chain(steal::all(|| seat.next.steal())).for_each(discard);
            seat.pinned.stop().into_iter().for_each(discard);
        }
    }
}
