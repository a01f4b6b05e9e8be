//! Decides which workers run, search and sleep.
//!
//! A worker runs tasks, searches for one, or sleeps. Waking a worker costs microseconds, so a thread that queues a task
//! wakes none while another worker searches: the searcher will find the task. One word counts searchers and sleepers:
//!
//! ```text
//!  31 (63)   30        16                0
//! +---------+---------+----------+-----------+
//! | STOPPED | NAPPING | sleeping | searching |      what is in neither count runs tasks
//! +---------+---------+----------+-----------+
//! ```
//!
//! | who | does |
//! |---|---|
//! | queues a task from outside | pushes it; *fence*; reads the word; wakes a worker if one [is wanted](State::wants_searcher) |
//! | queues a task on a worker | pushes it; if no worker has checked its queue since it last reported work: as above |
//! | wakes | with the lock: reads the word again, takes a sleeper, moves it from `sleeping` to `searching` |
//! | begins to search | adds itself to `searching`; if half of the workers search, it looks at the queues once only |
//! | runs | leaves `searching` if fewer run than may; *fence*; takes a task, or searches again; if it was the last searcher and there is another task in any queue: as above |
//! | falls asleep | with the lock: moves itself to `sleeping`; if it was the last searcher, and a task is queued that it has not declined: *fence*; as above |
//! | has slept | with the lock: moves itself from `sleeping` to `searching`, unless a waker has done so |
//!
//! **No task from outside is overlooked**: it never stays queued while a worker sleeps, none searches, and fewer
//! workers run than may.
//!
//! Take a task, and the value `v` of the word that its pusher reads. (The pusher may also read it again with the
//! lock; then `v` is that value, which the same fence precedes.)
//! 1. `v` has a sleeper and no searcher, and fewer workers run than may: the pusher wakes one, who searches. Go on with
//!    2.
//! 2. `v` has a searcher: consider the first change of the word after `v` that leaves none. Its author was the last
//!    searcher, so it passes a fence and looks at all queues. It sees the push: of two SeqCst fences one comes first;
//!    if that were the author's, then the pusher's read, behind its own fence, would see the author's change, but it
//!    saw `v`, which is older. So the task is gone by then; or the author wakes a worker, which searches, and 2 applies
//!    to the word as it is then; or no worker is wanted, and 3 applies.
//! 3. No worker sleeps, or as many run as may: each of those has to search before it falls asleep, which leads to 2. If
//!    one of them never does, the lookout finds it stuck, lets one more run, and searches.
//!
//! Each round of 2 is paid for by a search that found some other task or came too late for this one, so the rounds end.
//! A sleep may also end for no reason. That adds a searcher, which leaves as every searcher does.
//!
//! Tasks that are moved from one queue to another are in none for a moment. The worker that moves them is a searcher, which
//! looks again when it was the last and otherwise leaves that to a later one (the word orders the two), or takes from
//! the injector without a search; then it counts as a pusher of what it has moved.
//!
//! # The lookout
//! A worker that queues a task in its own deque, or lends a branch, neither passes a fence nor wakes another worker,
//! because it gets there itself, most often within microseconds. Searchers find such work, and so does the *lookout*: the
//! sleeper that gets up first. **While a worker runs, or a guest lends, and another worker sleeps, the lookout
//! naps**: it sleeps for a limited time, looks at all queues, and naps again. What it looks at is marked, and the next
//! push to what is marked tells the sleepers once, as a push from outside does. So work that appears after a quiet time
//! is seen at once, and what appears right after that within a nap. A searcher may [decline](super::thief) to steal tasks, which does
//! not concern those from outside; the lookout looks at them again.
//!
//! When all workers sleep, the lookout naps a few times more, because work is often followed by other work, and then sleeps
//! for good. The first worker that runs then needs no lookout as long as it queues and lends
//! nothing, and a worker sleeps in each poll; its queue is marked. The mark is set when the worker has found a task, because what
//! it queues as a searcher, such as the tasks of events, needs no mark, and would use it up.
//!
//! A worker that starts to run beside others, or while a poll is *deserted*, appoints a lookout if there is none: it wakes a sleeper,
//! which searches, and then naps. The worker in the poll gets the events, so the poll is deserted
//! whenever an event wakes an idle pool. If that happens often, the appointed lookout naps a few times although no worker runs any
//! more, so that it is not woken for each event. It naps beside the poll, to which the only worker that runs will return, until it
//! has seen that worker twice in the same turn; then it naps in the poll.
//!
//! The lookout also sleeps no longer than until the first timer is due. A worker that falls asleep and knows of an
//! earlier one becomes the lookout. A lookout that has found a task takes no care of timers while it runs it, so a second
//! sleeper, the *deputy*, gets up some milliseconds after the first timer is due.
//!
//! A worker that sets a timer in its turn sees to it after the turn. The turn may last, so if no worker gets up within some
//! milliseconds of the timer, the worker wakes a sleeper at once.

use std::time::Duration;

use crossbeam_utils::CachePadded;
use fiber_core::Instant;

use crate::bed::Alarm;
use crate::primitive::{AtomicUsize, Mutex, MutexGuard, Ordering, fence};

pub(super) struct Idle {
    word: CachePadded<AtomicUsize>,
    sleepers: Mutex<Sleepers>,
    alarms: Box<[Alarm]>,
    /// How many workers may run: one less than there are, and one more for each that is stuck.
    may_run: AtomicUsize,
    /// How many running workers have made way for others: they compute without a place.
    displaced: AtomicUsize,
}

#[derive(Default)]
struct Sleepers {
    /// The workers that sleep, or have counted themselves and are about to sleep. The `sleeping` of the word changes
    /// only under the lock.
    asleep: Vec<usize>,
    /// These two sleep as well, and are woken last.
    lookout: Option<Appointment>,
    deputy: Option<Appointment>,
    /// The worker that was woken to become the lookout, until it gets up. It searches, so no other one is appointed before.
    appointed: Option<usize>,
}

#[derive(Clone, Copy)]
struct Appointment {
    worker: usize,
    /// When the worker gets up by itself.
    until: Instant,
}

/// What a worker knows when it falls asleep.
pub(super) struct Bedtime {
    /// The end of the worker's nap, if it has to nap.
    pub(super) nap: Instant,
    /// The first timer.
    pub(super) timer: Instant,
    /// The worker naps even if no other one runs: a user thread may lend branches, or work was there until just now.
    pub(super) is_needed: bool,
}

/// A worker runs.
#[must_use]
pub(super) struct Runs {
    /// The worker was the last searcher, and has to call `notify` if there are more tasks than the one that it takes.
    pub(super) was_last_searcher: bool,
}

/// How a worker falls asleep.
#[must_use]
pub(super) struct Asleep {
    /// The worker was the last searcher, and has to call `notify` if there is a task now.
    pub(super) was_last_searcher: bool,
    /// The lookout naps: this worker, or another one that gets up earlier.
    pub(super) naps: bool,
    /// It is this worker, beside at most one that runs, so it may leave the poll to that one.
    pub(super) may_leave_poll: bool,
    /// When the worker gets up by itself.
    pub(super) until: Instant,
}

/// Why a worker has got up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duty {
    /// It was the lookout, until its time came.
    Lookout,
    /// It was woken to become the lookout.
    Appointed,
    None,
}

/// A value of the word.
#[derive(Clone, Copy)]
pub(super) struct State(usize);

/// How long a timer may be overdue because the lookout runs a task.
const GRACE: Duration = Duration::from_millis(10);

const SEARCHING: usize = 1;
const SLEEPING: usize = 1 << 16;
const STOPPED: usize = 1 << (usize::BITS - 1);
/// The lookout naps.
const NAPPING: usize = 1 << (usize::BITS - 2);

/// The largest number that fits into both counts, even in a word of 32 bits whose top bits are taken.
pub(super) const MOST_WORKERS: usize = (1 << 13) - 2;

impl State {
    /// Whether the pool has stopped.
    pub(super) fn is_stopped(self) -> bool {
        self.0 & STOPPED != 0
    }

    fn searching(self) -> usize {
        self.0 % SLEEPING
    }

    fn sleeping(self) -> usize {
        (self.0 & !(STOPPED | NAPPING)) / SLEEPING
    }

    /// How many of `workers` run.
    fn running(self, workers: usize) -> usize {
        workers - self.searching() - self.sleeping()
    }

    fn is_napping(self) -> bool {
        self.0 & NAPPING != 0
    }
}

impl Idle {
    /// For workers that all search at first. One less may run at a time.
    pub(super) fn new(alarms: Box<[Alarm]>) -> Self {
        let word = AtomicUsize::new(alarms.len() * SEARCHING);
        let may_run = AtomicUsize::new(alarms.len() - 1);
        let displaced = AtomicUsize::new(0);
        Idle { word: CachePadded::new(word), sleepers: Mutex::default(), alarms, may_run, displaced }
    }

    fn workers(&self) -> usize {
        self.alarms.len()
    }

    #[inline]
    fn state(&self) -> State {
        // Relaxed: those that need an order have a fence or the lock.
        State(self.word.load(Ordering::Relaxed))
    }

    /// A task was queued: wakes a worker for it, if one is wanted.
    ///
    /// The returned state tells whether the pool has stopped. If it has not, the thread that stops it later sees the
    /// task.
    pub(super) fn notify(&self) -> State {
        // SeqCst: between the push and the look at the word; see the proof above. With `stop` it is the same: either
        // this sees the stop, or the thread that stops the pool sees the push.
        fence(Ordering::SeqCst);
        let state = self.state();
        if self.wants_searcher(state) {
            self.wake_one();
        }
        state
    }

    /// Whether a sleeper naps as the lookout. If so, it sees what a guest lends from now on: it naps on while there is one.
    pub(super) fn has_lookout(&self) -> bool {
        // SeqCst: between the begin of the guest and the look at the word, as in `notify`.
        fence(Ordering::SeqCst);
        self.state().is_napping()
    }

    /// Whether a sleeper has to be woken for a task: to run it, or to nap beside those that run.
    fn wants_searcher(&self, state: State) -> bool {
        let can_wake = state.searching() == 0 && state.sleeping() > 0 && !state.is_stopped();
        can_wake && (self.has_place(state) || !state.is_napping())
    }

    fn has_place(&self, state: State) -> bool {
        // Relaxed: only a worker that is awake changes it, and that worker looks at the queues.
        state.running(self.workers()) < self.may_run.load(Ordering::Relaxed)
    }

    /// How many workers may run.
    pub(super) fn places(&self) -> usize {
        // Relaxed: a report.
        self.may_run.load(Ordering::Relaxed)
    }

    /// Whether a searcher may run a task.
    pub(super) fn may_run(&self) -> bool {
        self.has_place(self.state())
    }

    /// Whether more workers run than may, since one that was stuck is not any more.
    pub(super) fn is_crowded(&self) -> bool {
        // Relaxed: seen late, it ends late.
        self.state().running(self.workers()) > self.may_run.load(Ordering::Relaxed)
    }

    /// Lets one more worker run, beside one that is stuck.
    pub(super) fn add_place(&self) {
        self.may_run.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn remove_place(&self) {
        self.may_run.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts a worker that computes although another one runs in its place.
    pub(super) fn add_displaced(&self) {
        self.displaced.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn remove_displaced(&self) {
        self.displaced.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether a worker that runs may help with the borrowed tasks of others. If not, as many workers compute as there are places,
    /// and this one runs fibers only.
    pub(super) fn may_help(&self) -> bool {
        // Relaxed: seen late, it helps once too often, or once too little.
        let displaced = self.displaced.load(Ordering::Relaxed);
        self.state().running(self.workers()) + displaced <= self.may_run.load(Ordering::Relaxed)
    }

    /// Whether a worker computes without a place.
    pub(super) fn has_displaced(&self) -> bool {
        // Relaxed: as above.
        self.displaced.load(Ordering::Relaxed) > 0
    }

    /// Whether as many run as may.
    pub(super) fn is_full(&self) -> bool {
        !self.has_place(self.state())
    }

    /// Whether one more place would let a sleeper run.
    pub(super) fn has_spare(&self) -> bool {
        let state = self.state();
        !self.has_place(state) && state.searching() == 0 && state.sleeping() > 0
    }

    /// Whether any worker runs a task.
    pub(super) fn is_any_running(&self) -> bool {
        self.state().running(self.workers()) > 0
    }

    /// Ends the sleep of this worker, or its next one. It gets up by itself, as it does for a timer.
    pub(super) fn ring(&self, worker: usize) {
        self.alarms[worker].ring();
    }

    /// A worker has nothing to do. `true`: enough others search, so one look at the queues is enough.
    pub(super) fn begin_search(&self) -> bool {
        // Relaxed: the count only keeps other threads from waking a worker; the order matters only when the search
        // ends.
        let before = State(self.word.fetch_add(SEARCHING, Ordering::Relaxed));
        2 * before.searching() >= self.workers()
    }

    /// A searcher does something else, which may take long; then it calls `begin_search`. `true`: it was the last
    /// searcher, and has to call `notify` if there is a task.
    #[must_use]
    pub(super) fn leave_search(&self) -> bool {
        // AcqRel: as in `begin_run`.
        look_again(State(self.word.fetch_sub(SEARCHING, Ordering::AcqRel)))
    }

    /// A searcher is about to take a task. If it finds none, it has to search again. `None`: as many run as may.
    pub(super) fn begin_run(&self) -> Option<Runs> {
        let mut state = self.state();
        while self.has_place(state) {
            // AcqRel: a searcher that leaves later sees what this one has moved between queues.
            match self.word.compare_exchange_weak(
                state.0,
                state.0 - SEARCHING,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(Runs { was_last_searcher: look_again(state) }),
                Err(seen) => state = State(seen),
            }
        }
        None
    }

    /// A searcher has found nothing. It now waits for its alarm, or until the time that this function returns, and then
    /// calls `get_up`.
    ///
    /// `look` is called with the lock, so that a thread that sets a timer before or takes the lock after finds a sleeper that
    /// knows.
    pub(super) fn fall_asleep(&self, worker: usize, look: impl FnOnce() -> Bedtime) -> Asleep {
        let mut sleepers = self.sleepers.lock();
        let bedtime = &look();
        // AcqRel: as in `begin_run`.
        let before = State(self.word.fetch_add(SLEEPING - SEARCHING, Ordering::AcqRel));
        // A searcher that runs soon is not counted. Its queue is marked, so it tells when it needs a lookout.
        let running = before.running(self.workers());
        let naps = running > 0 || bedtime.is_needed;
        let until = sleepers.add(worker, naps, bedtime);
        let is_lookout = sleepers.is_lookout(worker);
        if is_lookout {
            self.set_napping(naps);
        }
        match sleepers.take_for_deputy(bedtime) {
            Some(sleeper) => self.wake(sleeper, sleepers),
            None => drop(sleepers),
        }
        Asleep {
            was_last_searcher: look_again(before),
            naps,
            may_leave_poll: naps && is_lookout && running <= 1,
            until,
        }
    }

    /// A worker that has slept is a searcher from now on, however it was woken.
    #[must_use]
    pub(super) fn get_up(&self, worker: usize) -> Duty {
        let mut sleepers = self.sleepers.lock();
        let was_lookout = sleepers.is_lookout(worker);
        if was_lookout {
            self.set_napping(false);
        }
        if sleepers.remove(worker) {
            self.sleeper_searches();
        }
        let is_appointed = sleepers.appointed.take_if(|appointed| *appointed == worker).is_some();
        match (is_appointed, was_lookout) {
            (true, _) => Duty::Appointed,
            (false, true) => Duty::Lookout,
            (false, false) => Duty::None,
        }
    }

    /// A worker that has searched runs a task now. If it does not run alone, or if `is_needed` says so, a sleeper has to nap.
    pub(super) fn appoint_lookout(&self, is_needed: impl Fn() -> bool) {
        if self.needs_lookout(&is_needed) {
            self.wake_lookout(&is_needed);
        }
    }

    fn needs_lookout(&self, is_needed: &impl Fn() -> bool) -> bool {
        let state = self.state();
        let is_missing = !state.is_napping() && state.searching() == 0 && state.sleeping() > 0;
        is_missing && (state.running(self.workers()) > 1 || is_needed())
    }

    #[cold]
    fn wake_lookout(&self, is_needed: &impl Fn() -> bool) {
        let mut sleepers = self.sleepers.lock();
        if self.needs_lookout(is_needed)
            && let Some(sleeper) = sleepers.asleep.pop()
        {
            sleepers.appointed = Some(sleeper);
            self.wake(sleeper, sleepers);
        }
    }

    /// A timer was set that is due earlier than those before: the lookout has to get up in time.
    #[cold]
    pub(super) fn expect(&self, timer: Instant) {
        let mut sleepers = self.sleepers.lock();
        match sleepers.lookout {
            // It stays among the sleepers until it gets up.
            Some(lookout) if lookout.until > timer => self.alarms[lookout.worker].ring(),
            Some(_) => {}
            // The lookout has got up by itself, and may be in a turn now.
            None if sleepers.is_one_up_by(timer + GRACE) => {}
            None => {
                if let Some(sleeper) = sleepers.asleep.pop() {
                    self.wake(sleeper, sleepers);
                }
            }
        }
    }

    /// The same, for a timer that was set in a turn of a worker. The worker itself sees to it after the turn, unless
    /// the turn lasts too long.
    #[cold]
    pub(super) fn expect_roughly(&self, timer: Instant) {
        let is_in_time = self.sleepers.lock().is_one_up_by(timer + GRACE);
        if !is_in_time {
            self.expect(timer);
        }
    }

    fn wake_one(&self) {
        let mut sleepers = self.sleepers.lock();
        // Again, with the lock, which orders it after what other wakers did; the caller has passed its fence.
        if !self.wants_searcher(self.state()) {
            return;
        }
        if let Some(worker) = sleepers.asleep.pop() {
            self.wake(worker, sleepers);
        }
    }

    /// Wakes a worker that was taken out of `sleepers`.
    fn wake(&self, worker: usize, mut sleepers: MutexGuard<'_, Sleepers>) {
        if sleepers.is_lookout(worker) {
            self.set_napping(false);
        }
        sleepers.remove(worker);
        self.sleeper_searches();
        drop(sleepers);
        self.alarms[worker].ring();
    }

    /// With the lock, for a worker that was taken out of the sleepers.
    fn sleeper_searches(&self) {
        // Relaxed: as in `begin_search`.
        self.word.fetch_sub(SLEEPING - SEARCHING, Ordering::Relaxed);
    }

    /// With the lock.
    fn set_napping(&self, is_napping: bool) {
        // Relaxed: it changes under the lock only, and reads without the lock are ordered by a fence.
        if is_napping != self.state().is_napping() {
            self.word.fetch_xor(NAPPING, Ordering::Relaxed);
        }
    }

    /// Stops the pool, and wakes all workers, so that they see it.
    pub(super) fn stop(&self) {
        // Relaxed: ordered by the fence.
        self.word.fetch_or(STOPPED, Ordering::Relaxed);
        // SeqCst: pairs with that of `notify`. The caller throws away what is queued.
        fence(Ordering::SeqCst);
        self.alarms.iter().for_each(Alarm::ring);
    }

    pub(super) fn is_stopped(&self) -> bool {
        // Workers notice it sooner or later; those that sleep are woken, which orders it.
        self.state().is_stopped()
    }
}

/// Whether a searcher that has changed the word was the last one, and has to look at the queues again.
fn look_again(before: State) -> bool {
    // SeqCst: between the change of the word and the look at the queues; see the proof above.
    fence(Ordering::SeqCst);
    before.searching() == 1
}

impl Sleepers {
    /// Returns when the worker gets up by itself.
    fn add(&mut self, worker: usize, naps: bool, bedtime: &Bedtime) -> Instant {
        let until = if naps { bedtime.nap.min(bedtime.timer) } else { bedtime.timer };
        let late = bedtime.timer + GRACE;
        let (until, is_appointed) = match self.lookout {
            Some(lookout) if lookout.until <= until => {
                let is_deputy = self.deputy.is_none_or(|deputy| deputy.until > late);
                if is_deputy && late < Instant::FAR_FUTURE {
                    self.deputy = Some(Appointment { worker, until: late });
                    (late, true)
                } else {
                    (Instant::FAR_FUTURE, false)
                }
            }
            earlier => {
                self.lookout = Some(Appointment { worker, until });
                // The former lookout still gets up by itself.
                self.deputy = earlier.or(self.deputy);
                (until, true)
            }
        };
        // Workers with an appointment are woken last: they would have to wake another one.
        if is_appointed {
            self.asleep.insert(0, worker);
        } else {
            self.asleep.push(worker);
        }
        until
    }

    fn is_lookout(&self, worker: usize) -> bool {
        self.lookout.is_some_and(|lookout| lookout.worker == worker)
    }

    /// Whether a sleeper gets up by itself until then.
    fn is_one_up_by(&self, time: Instant) -> bool {
        [self.lookout, self.deputy].into_iter().flatten().any(|appointment| appointment.until <= time)
    }

    /// A sleeper without an appointment, which has to get up to become the deputy.
    fn take_for_deputy(&mut self, bedtime: &Bedtime) -> Option<usize> {
        let first = bedtime.timer;
        // Some of the same timers may be a bit later than the first.
        let late = first + 2 * GRACE;
        let is_wanted = late < Instant::FAR_FUTURE && self.deputy.is_none_or(|deputy| deputy.until > late);
        (is_wanted && self.asleep.len() > 1).then(|| self.asleep.pop()).flatten()
    }

    /// Forgets a worker that sleeps no more. `false`: it was woken before.
    fn remove(&mut self, worker: usize) -> bool {
        let count = self.asleep.len();
        self.asleep.retain(|sleeper| *sleeper != worker);
        self.lookout.take_if(|lookout| lookout.worker == worker);
        self.deputy.take_if(|deputy| deputy.worker == worker);
        self.asleep.len() < count
    }
}

#[cfg(all(test, fiber_loom))]
mod loom_tests;

#[cfg(all(test, not(fiber_loom)))]
mod tests {
    use super::*;
    use crate::bed::Bed;

    /// A pool whose workers are played by the test.
    struct Workers {
        idle: Idle,
        beds: Vec<Bed>,
    }

    const NAP: Instant = Instant::from_nanos(100);
    const NEVER: Instant = Instant::FAR_FUTURE;

    impl Workers {
        /// They all search.
        fn new(count: usize) -> Self {
            let (beds, alarms) = Bed::without_polls(count);
            Workers { idle: Idle::new(alarms.into()), beds }
        }

        /// A searcher falls asleep, and tells until when.
        fn falls_asleep(&self, worker: usize, timer: Instant) -> Instant {
            self.lies_down(worker, timer).until
        }

        fn lies_down(&self, worker: usize, timer: Instant) -> Asleep {
            self.idle.fall_asleep(worker, || Bedtime { nap: NAP, timer, is_needed: false })
        }

        fn finds_a_task(&self) {
            assert!(self.idle.begin_run().is_some());
        }

        fn searches(&self) {
            _ = self.idle.begin_search();
        }

        fn a_task_comes(&self) {
            assert!(!self.idle.notify().is_stopped());
        }

        /// The worker was woken, and gets up.
        fn is_woken(&self, worker: usize) {
            self.sleeps(worker);
            assert_eq!(self.idle.get_up(worker), Duty::None);
        }

        /// The worker was woken to become the lookout, and gets up.
        fn is_appointed(&self, worker: usize) {
            self.sleeps(worker);
            assert_eq!(self.idle.get_up(worker), Duty::Appointed);
        }

        /// The worker has found a task. `is_needed`: besides, a lookout is needed.
        fn appoints(&self, is_needed: bool) {
            self.idle.appoint_lookout(|| is_needed);
        }

        /// Waits for the alarm.
        fn sleeps(&self, worker: usize) {
            let start = std::time::Instant::now();
            let patience = Duration::from_secs(20);
            self.beds[worker].sleep(Some(start + patience)).fire();
            assert!(start.elapsed() < patience, "nobody wakes worker {worker}");
        }

        /// The worker gets up by itself. `true`: as the lookout.
        fn gets_up(&self, worker: usize) -> bool {
            self.idle.get_up(worker) == Duty::Lookout
        }

        fn searching_and_sleeping(&self) -> (usize, usize) {
            let state = self.idle.state();
            assert_eq!(self.idle.sleepers.lock().asleep.len(), state.sleeping());
            (state.searching(), state.sleeping())
        }
    }

    #[test]
    fn when_nobody_runs_all_sleep_for_good() {
        let workers = Workers::new(3);
        for worker in 0..3 {
            let until = workers.falls_asleep(worker, NEVER);
            assert!(until == NEVER, "worker {worker} naps");
        }
        assert_eq!(workers.searching_and_sleeping(), (0, 3));
    }

    #[test]
    fn while_one_runs_one_sleeper_naps() {
        let workers = Workers::new(3);
        workers.finds_a_task();
        assert_eq!(workers.falls_asleep(1, NEVER), NAP);
        assert_eq!(workers.falls_asleep(2, NEVER), NEVER);
        assert!(workers.gets_up(1));
        assert_eq!(workers.falls_asleep(1, NEVER), NAP);
        // Worker 0 goes to sleep, and the next nap is the last.
        workers.searches();
        assert_eq!(workers.falls_asleep(0, NEVER), NEVER);
        assert!(workers.gets_up(1));
        assert_eq!(workers.falls_asleep(1, NEVER), NEVER);
    }

    #[test]
    fn of_the_sleepers_beside_a_worker_that_runs_one_is_the_lookout() {
        let workers = Workers::new(3);
        workers.finds_a_task();
        let asleep = [1, 2].map(|worker| workers.lies_down(worker, NEVER));
        assert!(asleep[0].naps && asleep[0].may_leave_poll);
        // It sleeps for good, so it has to do so in its poll.
        assert!(asleep[1].naps && !asleep[1].may_leave_poll && asleep[1].until == NEVER);
    }

    #[test]
    fn a_task_wakes_the_lookout_last() {
        let workers = Workers::new(4);
        workers.finds_a_task();
        assert_eq!(workers.falls_asleep(1, NEVER), NAP);
        assert_eq!(workers.falls_asleep(2, NEVER), NEVER);
        assert_eq!(workers.falls_asleep(3, NEVER), NEVER);
        workers.a_task_comes();
        workers.is_woken(3);
        workers.finds_a_task();
        workers.a_task_comes();
        workers.is_woken(2);
        workers.finds_a_task();
        assert_eq!(workers.searching_and_sleeping(), (0, 1));
    }

    #[test]
    fn when_as_many_run_as_may_the_spare_one_naps_and_is_not_woken() {
        let workers = Workers::new(2);
        workers.falls_asleep(1, NEVER);
        workers.finds_a_task();
        // It sleeps for good, so it is woken to nap.
        workers.a_task_comes();
        workers.is_woken(1);
        assert!(!workers.idle.may_run());
        assert_eq!(workers.falls_asleep(1, NEVER), NAP);
        workers.a_task_comes();
        assert_eq!(workers.searching_and_sleeping(), (0, 1));
        // Worker 0 is stuck.
        workers.idle.add_place();
        workers.a_task_comes();
        workers.is_woken(1);
        assert!(workers.idle.may_run());
    }

    #[test]
    fn a_lookout_that_has_found_a_task_wakes_another_one() {
        let workers = Workers::new(3);
        workers.finds_a_task();
        assert_eq!(workers.falls_asleep(1, NEVER), NAP);
        assert_eq!(workers.falls_asleep(2, NEVER), NEVER);
        assert!(workers.gets_up(1));
        workers.finds_a_task();
        workers.appoints(false);
        workers.is_appointed(2);
        assert_eq!(workers.falls_asleep(2, NEVER), NAP);
    }

    #[test]
    fn a_worker_that_runs_alone_appoints_a_lookout_only_if_one_is_needed() {
        let workers = Workers::new(3);
        (0..3).for_each(|worker| _ = workers.falls_asleep(worker, NEVER));
        assert!(!workers.gets_up(1));
        workers.finds_a_task();
        workers.appoints(false);
        assert_eq!(workers.searching_and_sleeping(), (0, 2));
        workers.appoints(true);
        // It searches before it naps, so that is enough.
        workers.appoints(true);
        assert_eq!(workers.searching_and_sleeping(), (1, 1));
        workers.is_appointed(2);
        assert_eq!(workers.falls_asleep(2, NEVER), NAP);
        workers.appoints(true);
        assert_eq!(workers.searching_and_sleeping(), (0, 2));
    }

    #[test]
    fn whoever_knows_an_earlier_timer_becomes_the_lookout() {
        let workers = Workers::new(2);
        let (soon, later) = (Instant::from_nanos(5_000), Instant::from_nanos(9_000));
        assert_eq!(workers.falls_asleep(0, later), later);
        assert_eq!(workers.falls_asleep(1, soon), soon);
        assert!(!workers.gets_up(0));
        // There is a lookout, so it is the deputy.
        assert_eq!(workers.falls_asleep(0, soon), soon + GRACE);
        assert!(workers.gets_up(1));
    }

    #[test]
    fn a_timer_has_a_deputy_once() {
        let workers = Workers::new(3);
        let soon = Instant::from_nanos(5_000);
        assert_eq!(workers.falls_asleep(0, NEVER), NEVER);
        assert_eq!(workers.falls_asleep(1, NEVER), NEVER);
        // No worker watches the timers while their lookout runs what is due, so a sleeper is woken.
        assert_eq!(workers.falls_asleep(2, soon), soon);
        workers.is_woken(1);
        assert_eq!(workers.falls_asleep(1, soon), soon + GRACE);
        assert!(workers.gets_up(2));
        workers.finds_a_task();
        workers.searches();
        let next = soon + GRACE / 2;
        assert_eq!(workers.falls_asleep(2, next), next);
        assert_eq!(workers.searching_and_sleeping(), (0, 3));
    }

    #[test]
    fn an_earlier_timer_from_outside_wakes_the_lookout() {
        let workers = Workers::new(2);
        let (soon, later) = (Instant::from_nanos(5_000), Instant::from_nanos(9_000));
        assert_eq!(workers.falls_asleep(0, later), later);
        workers.idle.expect(later);
        workers.idle.expect(soon);
        workers.sleeps(0);
        assert!(workers.gets_up(0));
    }

    #[test]
    fn a_timer_wakes_a_sleeper_if_the_lookout_has_got_up() {
        let workers = Workers::new(3);
        workers.finds_a_task();
        assert_eq!(workers.falls_asleep(1, NEVER), NAP);
        assert_eq!(workers.falls_asleep(2, NEVER), NEVER);
        workers.searches();
        assert!(workers.gets_up(1));
        workers.finds_a_task();
        workers.finds_a_task();
        // Both run, and may do so for long.
        workers.idle.expect(Instant::from_nanos(5_000));
        workers.is_woken(2);
    }

    #[test]
    fn a_timer_of_a_turn_wakes_no_one_who_gets_up_soon_after_it() {
        let workers = Workers::new(2);
        let (soon, later) = (Instant::from_nanos(5_000), Instant::from_nanos(9_000));
        assert_eq!(workers.falls_asleep(0, soon), soon);
        assert_eq!(workers.falls_asleep(1, soon), soon + GRACE);
        assert!(workers.gets_up(0));
        workers.finds_a_task();
        workers.idle.expect_roughly(later);
        assert_eq!(workers.searching_and_sleeping(), (0, 1));
        workers.idle.expect_roughly(Instant::EPOCH);
        workers.is_woken(1);
    }

    #[test]
    fn a_timer_at_the_end_of_time_has_no_deputy() {
        let workers = Workers::new(3);
        let last = Instant::from_nanos(Instant::FAR_FUTURE.as_nanos() - 1);
        (0..3).for_each(|worker| _ = workers.falls_asleep(worker, last));
        assert_eq!(workers.searching_and_sleeping(), (0, 3));
    }

    #[test]
    fn a_sleeper_that_gets_up_while_it_is_woken_searches_once() {
        let workers = Workers::new(2);
        workers.falls_asleep(0, NEVER);
        workers.falls_asleep(1, NEVER);
        workers.a_task_comes();
        assert!(!workers.gets_up(1));
        assert_eq!(workers.searching_and_sleeping(), (1, 1));
        workers.falls_asleep(1, NEVER);
        // The alarm still rings.
        workers.is_woken(1);
        assert_eq!(workers.searching_and_sleeping(), (1, 1));
    }
}
