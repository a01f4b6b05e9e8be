//! Workers: threads with their own deques, which run tasks until the pool stops.

use std::cell::{Cell, OnceCell};
use std::iter;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crossbeam_deque::Worker as Deque;
use fiber_core::scheduler::{BranchDeque, Task, TaskKind, TaskRunner, TimerKey, serve};
use fiber_core::{Context, Instant};

use super::idle::{Asleep, Bedtime};
use super::lookout::{LONGEST_NAP, Lookout, SHORTEST_NAP};
use super::queue::Queues;
use super::scheduler::PoolScheduler;
use super::seat::Seat;
use super::thief::Thief;
use super::thread::PoolThread;
use crate::bed::Bed;
use crate::contain::contain;
use crate::direct::{OfWorker, Supply};
use crate::discard::discard;
use crate::inside::SchedulerId;
use crate::local::OfThread;
use crate::metrics::{Count, Latency};
use crate::net::Happened;
use crate::patience::Patience;
use crate::steal::take_back;

/// After this many tasks of its own, a worker polls the injector and looks at the clock, so that endless work in the deques
/// does not starve tasks from outside and timers. The number is small enough that those wait for microseconds only if turns are
/// short (if not, a thread that may not run calls), and a prime, as in Go's scheduler, so that it does not fall into step with a
/// program's own rhythm.
const INJECTOR_INTERVAL: u32 = 61;

/// A worker that has computed for this long makes way for fibers: a few times the cost of waking the thread that runs them.
const COURTESY: Duration = Duration::from_micros(50);

/// How many tasks that fibers have woken run in a row before one from the deque, as in tokio's scheduler.
const MOST_IN_A_ROW: u32 = 3;

thread_local! {
    /// The worker of this thread, if it is one.
    static LOCAL: OnceCell<OfThread<Local>> = const { OnceCell::new() };
}

/// The thread-local state of a worker.
pub(super) struct Local {
    index: usize,
    deque: Deque<Task>,
    /// The task that runs next, if a fiber was woken here. Holds one at most.
    next: Deque<Task>,
    /// Whether a task was put there that this worker has not taken. A thief may have.
    has_next: Cell<bool>,
    /// Whether the last task was one that only this worker may run.
    was_pinned: Cell<bool>,
    /// How many tasks out of `next` may run before one from the deque.
    left_in_a_row: Cell<u32>,
    /// Tasks until it polls the injector.
    countdown: Cell<u32>,
    /// Binds that its fibers have recorded since they asked whether they may go on.
    recorded: Cell<u32>,
    /// A timer was set here that is due before the others. The lookout may not know it.
    has_new_timer: Cell<bool>,
    /// The last turn in which it computed, and when that computation was first seen.
    computes_since: Cell<(Option<u64>, Instant)>,
    /// It has made way, and computes beside the worker that runs in its place.
    is_displaced: Cell<bool>,
    latency: Latency,
}

/// Calls `f` with the state of the current thread as a worker of `pool`, or with `None`.
pub(super) fn with_local<T>(pool: SchedulerId, f: impl FnOnce(Option<&Local>) -> T) -> T {
    OfThread::with(&LOCAL, pool, f)
}

impl Local {
    pub(super) fn new(index: usize) -> Self {
        Local {
            index,
            deque: Deque::new_fifo(),
            next: Deque::new_fifo(),
            has_next: Cell::new(false),
            was_pinned: Cell::new(false),
            left_in_a_row: Cell::new(MOST_IN_A_ROW),
            countdown: Cell::new(INJECTOR_INTERVAL),
            recorded: Cell::new(0),
            has_new_timer: Cell::new(false),
            computes_since: Cell::new((None, Instant::EPOCH)),
            is_displaced: Cell::new(false),
            latency: Latency::default(),
        }
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// What others see of it.
    pub(super) fn seat(&self) -> Seat {
        Seat::new(self.deque.stealer(), self.next.stealer())
    }

    /// Queues a task, for this worker or a thief.
    #[inline]
    pub(super) fn push(&self, task: Task, queues: &Queues) {
        match task.kind() {
            // The turn and its computation are over. So the worker takes its place back, and runs the task itself.
            TaskKind::Continue if self.is_displaced.get() => return self.deque.push(task),
            TaskKind::Wake | TaskKind::Cancel => self.push_next(task),
            // A fiber that yields continues after the tasks from outside. Otherwise only the first of those would run before it.
            TaskKind::Continue if self.looks_next(queues) && queues.has_injected() => {
                return queues.inject(task);
            }
            _ => {
                self.deque.push(task);
                self.latency.pushed(&self.deque, queues.clock());
            }
        }
        // The worker gets there itself, unless a thief is quicker, so nothing is lost if no thief sees it.
        if queues.seat(self.index).take_mark() {
            self.tell(queues);
        }
    }

    /// Takes the task that starts `fiber` out of the deque, if it is the only one there.
    #[inline]
    pub(super) fn take_back(&self, fiber: &Context, queues: &Queues) -> Option<Task> {
        queues.seat(self.index).takes_back();
        take_back(&self.deque, fiber)
    }

    /// Tells the sleepers about what was queued.
    #[cold]
    fn tell(&self, queues: &Queues) {
        let seat = queues.seat(self.index);
        seat.counters().add(Count::Notification);
        queues.idle().notify();
        // After the fence of `notify`: either this thread sees that the worker is stuck, or the lookout that finds it stuck
        // sees the task.
        if seat.is_stuck() {
            seat.mark();
            queues.hand_over(self.index);
        }
    }

    fn push_next(&self, task: Task) {
        if let Some(former) = self.take_next() {
            self.deque.push(former);
        }
        self.next.push(task);
        self.has_next.set(true);
    }

    /// Sets a timer.
    pub(super) fn insert_timer(&self, at: Instant, task: Task, queues: &Queues) -> TimerKey {
        let inserted = queues.timers().insert(self.index, at, task);
        if let Some(look) = inserted.look {
            self.has_new_timer.set(true);
            queues.idle().expect_roughly(look);
        }
        inserted.key
    }

    /// Tells the lookout about a new timer, before a turn that may last.
    #[inline]
    fn tell_timer(&self, queues: &Queues) {
        if self.has_new_timer.take() {
            queues.idle().expect(queues.timers().first());
        }
    }

    /// Counts a bind. Whether the fiber has to ask if it may go on: after `slice` of them, or because its turn lasts too long.
    pub(super) fn has_spent_slice(&self, queues: &Queues, slice: u32) -> bool {
        let count = self.recorded.get() + 1;
        // Relaxed: a fiber that sees the flag late asks late.
        let has_to_ask = count >= slice || queues.seat(self.index).is_overdue().load(Ordering::Relaxed);
        self.recorded.set(if has_to_ask { 0 } else { count });
        has_to_ask
    }

    /// Whether a task waits for this worker. If so, the worker polls the injector next.
    pub(super) fn is_wanted(&self, queues: &Queues) -> bool {
        let seat = queues.seat(self.index);
        let is_overdue = seat.renew_turn();
        self.help_fire_timers(queues);
        let is_wanted = seat.has_any() || seat.pinned.has_any() || queues.has_injected();
        if is_wanted {
            self.countdown.set(0);
            seat.counters().add(if is_overdue { Count::CutByTime } else { Count::CutBySteps });
        }
        is_wanted
    }

    /// Lets another worker run fibers while this one computes, if some wait.
    ///
    /// While none waits, the worker is not stuck, however long its turn lasts. `true`: some wait, but it is too early.
    #[inline]
    pub(super) fn make_way(&self, has_lent: bool, queues: &Queues) -> bool {
        let (seat, (turn, since)) = (queues.seat(self.index), self.computes_since.get());
        if turn != seat.turn() {
            self.computes_since.set((seat.turn(), queues.now()));
            return true;
        }
        let do_any_wait = has_lent || queues.has_injected() || seat.has_any() || seat.is_called();
        if !do_any_wait || !has_lent && self.is_displaced.get() {
            seat.continues();
            self.computes_since.set((seat.turn(), since));
            return false;
        }
        self.make_way_since(since, has_lent, queues)
    }

    #[cold]
    fn make_way_since(&self, since: Instant, has_lent: bool, queues: &Queues) -> bool {
        let seat = queues.seat(self.index);
        if seat.is_stuck() {
            return false;
        }
        if !queues.idle().has_spare() {
            return true;
        }
        let now = queues.now();
        let do_others_wait = queues.has_injected() || queues.timers().first() <= now;
        // Tasks in its own deques may be parts of the computation, for an idle worker.
        let patience = match (do_others_wait, has_lent || seat.has_any()) {
            (true, _) => COURTESY,
            (false, true) => queues.settings().load().quantum.max(COURTESY),
            (false, false) => return false,
        };
        if now - since < patience {
            return true;
        }
        // Before the other worker is woken, because that worker checks.
        self.note_displaced(true, queues);
        let has_given = queues.give_place(self.index);
        if !has_given {
            self.note_displaced(false, queues);
        }
        !has_given
    }

    /// Whether the worker computes beside one that runs in its place.
    pub(super) fn is_displaced(&self) -> bool {
        self.is_displaced.get()
    }

    /// Records whether the worker computes beside one that runs in its place.
    pub(super) fn note_displaced(&self, is_displaced: bool, queues: &Queues) {
        match (self.is_displaced.replace(is_displaced), is_displaced) {
            (false, true) => queues.idle().add_displaced(),
            (true, false) => queues.idle().remove_displaced(),
            _ => {}
        }
    }

    /// Ends that another worker runs in the place of this one. `true`: one did.
    #[inline]
    pub(super) fn recover(&self, queues: &Queues) -> bool {
        let was_stuck = queues.seat(self.index).recover();
        if was_stuck {
            self.note_displaced(false, queues);
            queues.idle().remove_place();
        }
        was_stuck
    }

    /// Whether the worker polls the injector after this turn.
    fn looks_next(&self, queues: &Queues) -> bool {
        self.countdown.get() == 0 || queues.seat(self.index).is_called()
    }

    /// The next task, without a search.
    #[inline]
    fn next(&self, queues: &Queues) -> Option<Task> {
        if let Some(task) = self.take_pinned_in_turn(queues) {
            return Some(task);
        }
        let countdown = self.countdown.get();
        if countdown == 0 || queues.seat(self.index).take_call() {
            if queues.idle().is_crowded() {
                // As a searcher, it hands over what it has.
                self.countdown.set(INJECTOR_INTERVAL);
                return None;
            }
            queues.polls().look(self.index);
            self.help_fire_timers(queues);
            return self.take_injected(queues).or_else(|| self.take_own(queues));
        }
        self.countdown.set(countdown - 1);
        self.take_own(queues).or_else(|| self.take_injected(queues))
    }

    /// Every other task may be one that no other worker can run.
    #[inline]
    fn take_pinned_in_turn(&self, queues: &Queues) -> Option<Task> {
        let pinned = &queues.seat(self.index).pinned;
        if !pinned.has_any() || self.was_pinned.take() {
            return None;
        }
        self.was_pinned.set(true);
        pinned.take()
    }

    /// A task that was queued here.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_own(&self, queues: &Queues) -> Option<Task> {
        let left = self.left_in_a_row.get();
        if left > 0
            && let Some(task) = self.take_next()
        {
            self.left_in_a_row.set(left - 1);
            return Some(task);
        }
        self.left_in_a_row.set(MOST_IN_A_ROW);
        let task = self.deque.pop();
        self.latency.popped(task.is_some(), queues.seat(self.index).counters(), queues.clock());
        task.or_else(|| self.take_next())
    }

    #[inline]
    fn take_next(&self) -> Option<Task> {
        self.has_next.take().then(|| self.next.pop()).flatten()
    }

    fn take_injected(&self, queues: &Queues) -> Option<Task> {
        self.countdown.set(INJECTOR_INTERVAL);
        let task = queues.take_injected(&self.deque)?;
        if !self.deque.is_empty() {
            // Moved out of sight for a moment, so they count as pushed.
            queues.idle().notify();
        }
        Some(task)
    }

    /// Queues the tasks of timers that are due.
    fn fire_timers(&self, queues: &Queues) {
        if let Some(now) = due(queues) {
            queues.timers().fire(now, |task| self.deque.push(task));
        }
    }

    /// The same, unless another worker is about it.
    fn help_fire_timers(&self, queues: &Queues) {
        if let Some(now) = due(queues) {
            queues.timers().help_fire(now, |task| self.deque.push(task));
        }
    }

    /// Takes a task that is queued anywhere.
    fn search(&self, queues: &Queues, thief: &mut Thief, looks_again: bool) -> Option<Task> {
        self.fire_timers(queues);
        let found = self.take_own(queues).or_else(|| queues.take_injected(&self.deque));
        if found.is_some() {
            return found;
        }
        let counters = queues.seat(self.index).counters();
        let stolen = thief.steal(self.index, looks_again, queues, &self.deque);
        if stolen.is_some() {
            counters.add(Count::Steal);
            return stolen;
        }
        let branch = queues.idle().may_help().then(|| thief.steal_branch(self.index, queues)).flatten();
        branch.inspect(|_| counters.add(Count::StolenBranch))
    }
}

/// The worker's thread.
pub(super) struct Worker {
    pub(super) pool: SchedulerId,
    pub(super) scheduler: Weak<PoolScheduler>,
    pub(super) queues: Arc<Queues>,
    pub(super) branches: BranchDeque,
    pub(super) bed: Bed,
    pub(super) supply: Supply,
}

impl Worker {
    /// Runs tasks until the pool stops.
    pub(super) fn work(self, local: Local) {
        Bed::be_punctual();
        self.queues.polls().settle(local.index);
        OfThread::serve(&LOCAL, self.pool, local, |local| {
            let stacks = self.stacks(local.index);
            let thread = PoolThread::worker(&self.scheduler, &self.queues, local, &self.branches, &stacks);
            let seat = self.queues.seat(local.index);
            let mut lookout = Lookout::new(&self.queues);
            let mut runner = TaskRunner::on(&thread);
            serve(&thread, self.pool.key(), || {
                // It starts as a searcher.
                let mut found = self.find(local, &mut lookout);
                while !self.queues.idle().is_stopped() {
                    // A task does not unwind, but the thread must survive one that does.
                    contain(|| {
                        while let Some(task) = found.take() {
                            seat.begin_turn(&task);
                            self.queues.observers().run(task, |task| runner.run(task));
                            seat.end_turn();
                            found = self.next(local, &mut lookout);
                        }
                    });
                    found = found.take().or_else(|| self.next(local, &mut lookout));
                }
                found.into_iter().for_each(discard);
            });
            drop(thread);
            stacks.close();
            // Tasks that these drops schedule go into the same deques.
            iter::from_fn(|| local.deque.pop().or_else(|| local.take_next())).for_each(discard);
        });
    }

    /// The stacks for direct fibers on this thread.
    fn stacks(&self, index: usize) -> OfWorker {
        let (pool, queues) = (self.pool, self.queues.clone());
        OfWorker::new(self.supply.clone(), move |task| {
            with_local(pool, |local| queues.pin(index, task, local));
        })
    }

    /// The next task. `None`: the pool has stopped.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn next(&self, local: &Local, lookout: &mut Lookout) -> Option<Task> {
        let queues = &*self.queues;
        loop {
            if queues.idle().is_stopped() {
                return None;
            }
            let was_displaced = local.is_displaced.get();
            if local.recover(queues) {
                if !was_displaced {
                    break;
                }
                queues.take_place(local.index);
            }
            match local.next(queues) {
                // A fiber that was joined before its task came up has left the task behind.
                Some(task) if task.is_void() => drop(task),
                Some(task) => {
                    local.tell_timer(queues);
                    return Some(task);
                }
                None => break,
            }
        }
        self.search_or_sleep(local, lookout)
    }

    /// Waits for a task. `None`: the pool has stopped.
    #[cold]
    fn search_or_sleep(&self, local: &Local, lookout: &mut Lookout) -> Option<Task> {
        self.queues.seat(local.index).counters().add(Count::Search);
        let are_many = self.queues.idle().begin_search();
        lookout.begin(are_many, &self.queues);
        self.find(local, lookout)
    }

    /// Waits for a task, as a searcher. `None`: the pool has stopped.
    fn find(&self, local: &Local, lookout: &mut Lookout) -> Option<Task> {
        let (queues, idle) = (&*self.queues, self.queues.idle());
        loop {
            if let Some(task) = self.search(local, lookout) {
                lookout.has_found();
                // It is no searcher any more, so from now on it has to tell what it queues and lends, until others look.
                queues.seat(local.index).mark();
                queues.lent().tell_next(local.index);
                local.tell_timer(queues);
                idle.appoint_lookout(|| queues.lent().has_guest() || queues.polls().is_any_deserted());
                return Some(task);
            }
            local.has_new_timer.set(false);
            let asleep = idle.fall_asleep(local.index, || Bedtime {
                nap: queues.now() + lookout.nap(),
                timer: self.timer_to_wait_for(),
                is_needed: queues.lent().has_guest() || lookout.lingers(),
            });
            // A guest announces its first branch before it lends it, so there may be none to see yet.
            // Tasks that this worker has declined wait for the lookout. Another searcher would decline them, too.
            let has_declined = lookout.thief.has_declined();
            let do_tasks_wait = if has_declined { queues.has_injected() } else { queues.has_any() };
            if asleep.was_last_searcher && (do_tasks_wait || !asleep.naps && queues.lent().has_guest()) {
                idle.notify();
            }
            if idle.is_stopped() {
                return None;
            }
            let happened = self.sleep(&asleep, lookout.has_seen_long_turn());
            let duty = idle.get_up(local.index);
            // As a searcher, which the tasks that this queues need.
            happened.fire();
            if idle.is_stopped() {
                return None;
            }
            queues.seat(local.index).counters().add(Count::WakeUp);
            lookout.get_up(duty, asleep.naps, has_company(queues), queues);
        }
    }

    /// The first timer that a sleeper gets up for.
    ///
    /// If as many run as may, one of them fires a timer that is due, between two of its turns. It is called again only if it
    /// has not done so for a while.
    fn timer_to_wait_for(&self) -> Instant {
        let queues = &*self.queues;
        let first = queues.timers().first();
        if queues.idle().may_run() { first } else { first.max(queues.now() + SHORTEST_NAP) }
    }

    /// Sleeps; in the poll, if it may run what happens there, and unless the lookout leaves the poll to the only worker that runs.
    /// If they changed places, each event would wake both. Any other worker sleeps in the poll, because it may serve it alone: then
    /// no other thread wakes it for an event.
    ///
    /// If it may not run, as many run as may, and it could only hand things over to those. It gets up soon, because by then they may
    /// all sleep, and none in its poll.
    fn sleep(&self, asleep: &Asleep, is_turn_long: bool) -> Happened {
        let (queues, until) = (&*self.queues, asleep.until);
        if !queues.idle().may_run() {
            return self.bed.nap(queues.clock().to_system(until.min(queues.now() + LONGEST_NAP)));
        }
        let until = queues.clock().to_system(until);
        match asleep.may_leave_poll && !is_turn_long {
            true => self.bed.nap(until),
            false => self.bed.sleep(until),
        }
    }

    /// Searches once, or for a while if others run.
    fn search(&self, local: &Local, lookout: &mut Lookout) -> Option<Task> {
        let (queues, idle) = (&*self.queues, self.queues.idle());
        let mut patience = Patience::default();
        loop {
            // However many run: no other worker could run it.
            if let Some(task) = queues.seat(local.index).pinned.take() {
                if idle.leave_search() && queues.has_any() {
                    idle.notify();
                }
                return Some(task);
            }
            match idle.begin_run() {
                Some(runs) => {
                    // What cannot be judged yet may be judged soon.
                    let looks_again = !(lookout.looks_once() || idle.has_displaced());
                    if let Some(task) = local.search(queues, &mut lookout.thief, looks_again) {
                        if runs.was_last_searcher && queues.has_any() {
                            idle.notify();
                        }
                        return Some(task);
                    }
                    _ = idle.begin_search();
                }
                None => {
                    // It was stuck, and has lost its place to another worker.
                    queues.hand_over(local.index);
                    queues.call_to_look();
                }
            }
            // If more workers compute than there are places, the system interrupts a long search.
            let is_futile =
                !idle.may_run() || idle.has_displaced() || lookout.looks_once() || !has_company(queues);
            if lookout.thief.expects_more() {
                patience = Patience::default();
            }
            if is_futile || idle.is_stopped() || !patience.pause(queues.now()) {
                return None;
            }
        }
    }
}

/// The time, if timers are due. Events that came before that have woken their fibers.
fn due(queues: &Queues) -> Option<Instant> {
    let first = queues.timers().first();
    if first == Instant::FAR_FUTURE {
        return None;
    }
    let now = queues.now();
    (first <= now).then(|| {
        queues.polls().catch_up_all();
        now
    })
}

/// Whether there is a worker whose tasks may be taken soon.
fn has_company(queues: &Queues) -> bool {
    queues.idle().is_any_running() || queues.lent().has_lasting_guest()
}
