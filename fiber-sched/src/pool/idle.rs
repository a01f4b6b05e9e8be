//! Decides which workers sleep, and which one is woken.
//!
//! A worker runs tasks, searches for one, or sleeps. Waking a worker costs microseconds, so a thread that queues a task
//! wakes none while another worker searches: the searcher will find the task. One word counts searchers and sleepers:
//!
//! ```text
//!  31 (63)   16                0
//! +---------+----------+-----------+
//! | STOPPED | sleeping | searching |      what is in neither count runs tasks
//! +---------+----------+-----------+
//! ```
//!
//! | who | does |
//! |---|---|
//! | queues a task | pushes it; *fence*; reads the word; if no worker searches and one sleeps: wakes one |
//! | wakes | with the lock: reads the word again, takes a sleeper, moves it from `sleeping` to `searching` |
//! | begins to search | adds itself to `searching` |
//! | finds a task | leaves `searching`; if it was the last: *fence*; if there is a task in any queue, wakes one |
//! | falls asleep | with the lock: moves itself from `searching` to `sleeping`; if it was the last: *fence*; as above |
//! | appoints a watch | with the lock: takes a sleeper, moves it from `sleeping` to `searching` |
//! | has slept | with the lock: moves itself from `sleeping` to `searching`, unless another has done so |
//!
//! **No wake-up is lost**: a task never stays queued while a worker sleeps and none searches.
//!
//! Take a task, and the value `v` of the word that its pusher reads. (The pusher may also read it again with the
//! lock; then `v` is that value, which the same fence precedes.)
//! 1. `v` has a sleeper and no searcher: the pusher wakes one, who searches. Go on with 2.
//! 2. `v` has a searcher: consider the first change of the word after `v` that leaves none. Its author was the last
//!    searcher, so it passes a fence and looks at all queues. It sees the push: of two SeqCst fences one comes first;
//!    if that were the author's, then the pusher's read, behind its own fence, would see the author's change, but it
//!    saw `v`, which is older. So the task is gone by then; or the author wakes a worker, which searches, and 2 applies
//!    to the word as it is then; or no worker sleeps, and 3 applies.
//! 3. `v` has neither: all workers run tasks, and a worker has to search before it falls asleep, which leads to 2.
//!
//! Each round of 2 is paid for by a search that found some other task or came too late for this one, so the rounds end.
//!
//! A sleeper may also begin to search when no task was queued: a watch is appointed, its nap is over, or an old token
//! lay in its parker. That adds a searcher, which leaves as every searcher does, so 2 holds for it. A pusher that reads
//! the word before and takes the lock later reads it again.
//!
//! Tasks that are moved from one queue to another are in none for a moment. Who moves them is a searcher, which looks
//! again when it was the last and otherwise leaves that to a later one (the word orders the two), or takes from the
//! injector without a search; then it counts as a pusher of what it has moved.
//!
//! # The watch
//! Lending a branch wakes no worker, because most branches are taken back within nanoseconds. A searcher finds the
//! others, or the *watch* does: a sleeper that searches again after each of its naps. When all workers sleep, the watch
//! sleeps for good as well.
//!
//! | watch | | |
//! |---|---|---|
//! | `Unwanted` | no thread lends | all sleep for good |
//! | `Wanted` | no worker sleeps | the next worker to fall asleep becomes the watch |
//! | `Kept(worker)` | that worker searches or naps | the others sleep for good |
//!
//! A thread that lends says so once in each of its periods of work: a worker once after each sleep, a guest once for
//! each fiber that it runs. **While such a thread works, the watch is not `Unwanted`.** Only the watch ends its office
//! for good, with the lock, and when all workers sleep and no guest is there. A worker that says so later wakes up
//! after that, so it says so again. A guest that has said so with the lock is seen by the watch with the lock.
//!
//! **While the watch is `Wanted`, nobody sleeps**: it becomes `Wanted` when there is no sleeper to be appointed, and
//! the first to fall asleep takes the office. A watch that has found a task appoints a sleeper before it runs the task.

use std::sync::atomic::{AtomicUsize, Ordering, fence};

use crossbeam_utils::CachePadded;
use crossbeam_utils::sync::Unparker;
use parking_lot::{Mutex, MutexGuard};

pub(super) struct Idle {
    word: CachePadded<AtomicUsize>,
    sleepers: Mutex<Sleepers>,
    unparkers: Box<[Unparker]>,
}

struct Sleepers {
    /// The workers that sleep, or have counted themselves and are about to sleep. The `sleeping` of the word changes
    /// only under the lock.
    asleep: Vec<usize>,
    watch: Watch,
    /// How often a worker has woken, from a nap or for good.
    wake_ups: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watch {
    Unwanted,
    Wanted,
    Kept(usize),
}

/// How a worker falls asleep.
#[must_use]
pub(super) struct Asleep {
    /// The worker was the last searcher, and has to call `notify` if there is a task now.
    pub(super) was_last_searcher: bool,
    /// It is the watch, and has to search again soon.
    pub(super) is_watch: bool,
}

/// A value of the word.
#[derive(Clone, Copy)]
pub(super) struct State(usize);

const SEARCHING: usize = 1;
const SLEEPING: usize = 1 << 16;
const STOPPED: usize = 1 << (usize::BITS - 1);

/// The largest number that fits into both counts, even in a word of 32 bits whose top bit is taken.
pub(super) const MOST_WORKERS: usize = (1 << 14) - 1;

impl State {
    /// Whether the pool has stopped.
    pub(super) fn is_stopped(self) -> bool {
        self.0 & STOPPED != 0
    }

    fn searching(self) -> usize {
        self.0 % SLEEPING
    }

    fn sleeping(self) -> usize {
        (self.0 & !STOPPED) / SLEEPING
    }

    /// Whether a sleeper has to be woken for a task.
    fn wants_searcher(self) -> bool {
        self.searching() == 0 && self.sleeping() > 0 && !self.is_stopped()
    }
}

impl Idle {
    /// For workers that all run at first.
    pub(super) fn new(unparkers: Box<[Unparker]>) -> Self {
        let asleep = Vec::with_capacity(unparkers.len());
        let sleepers = Sleepers { asleep, watch: Watch::Unwanted, wake_ups: 0 };
        Idle { word: CachePadded::default(), sleepers: Mutex::new(sleepers), unparkers }
    }

    /// A task was queued: wakes a worker for it, unless one searches already.
    ///
    /// The returned state tells whether the pool has stopped. If it has not, the thread that stops it later sees the
    /// task.
    pub(super) fn notify(&self) -> State {
        // SeqCst: between the push and the look at the word; see the proof above. With `stop` it is the same: either
        // this sees the stop, or the thread that stops the pool sees the push.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence.
        let state = State(self.word.load(Ordering::Relaxed));
        if state.wants_searcher() {
            self.wake_one();
        }
        state
    }

    /// A worker has nothing to do.
    pub(super) fn begin_search(&self) {
        // Relaxed: the count only keeps other threads from waking a worker; the order matters only when the search
        // ends.
        self.word.fetch_add(SEARCHING, Ordering::Relaxed);
    }

    /// A searcher has found a task. `true`: it was the last, and has to call `notify` if there are more.
    #[must_use]
    pub(super) fn end_search(&self) -> bool {
        // AcqRel: a searcher that leaves later sees what this one has moved between queues.
        let before = State(self.word.fetch_sub(SEARCHING, Ordering::AcqRel));
        self.look_again(before)
    }

    /// A searcher has found nothing. It now waits for its unparker, the watch at most for a nap, and then calls
    /// `wake_up`.
    pub(super) fn fall_asleep(&self, worker: usize, has_guest: impl FnOnce() -> bool) -> Asleep {
        let mut sleepers = self.sleepers.lock();
        let is_watch = sleepers.add(worker, self.unparkers.len(), has_guest);
        // AcqRel: as in `end_search`.
        let before = State(self.word.fetch_add(SLEEPING - SEARCHING, Ordering::AcqRel));
        drop(sleepers);
        Asleep { was_last_searcher: self.look_again(before), is_watch }
    }

    /// A worker that has slept is a searcher from now on, whoever woke it. `true`: it is the watch, and has to call
    /// `hand_over_watch` when it has found a task.
    #[must_use]
    pub(super) fn wake_up(&self, worker: usize) -> bool {
        let mut sleepers = self.sleepers.lock();
        sleepers.wake_ups += 1;
        if let Some(at) = sleepers.asleep.iter().position(|sleeper| *sleeper == worker) {
            sleepers.asleep.remove(at);
            self.sleeper_searches();
        }
        sleepers.watch == Watch::Kept(worker)
    }

    /// How often workers have woken.
    pub(super) fn wake_ups(&self) -> u64 {
        self.sleepers.lock().wake_ups
    }

    /// A thread begins to lend branches.
    #[cold]
    pub(super) fn watch(&self) {
        let sleepers = self.sleepers.lock();
        if sleepers.watch == Watch::Unwanted {
            self.appoint_watch(sleepers);
        }
    }

    /// The watch has something else to do.
    #[cold]
    pub(super) fn hand_over_watch(&self) {
        self.appoint_watch(self.sleepers.lock());
    }

    fn appoint_watch(&self, mut sleepers: MutexGuard<'_, Sleepers>) {
        let sleeper = sleepers.asleep.pop();
        sleepers.watch = sleeper.map_or(Watch::Wanted, Watch::Kept);
        if let Some(worker) = sleeper {
            self.wake(worker, sleepers);
        }
    }

    fn look_again(&self, before: State) -> bool {
        // SeqCst: between the change of the word and the look at the queues; see the proof above.
        fence(Ordering::SeqCst);
        before.searching() == 1
    }

    fn wake_one(&self) {
        let mut sleepers = self.sleepers.lock();
        // Relaxed: the lock orders it after what other wakers did; the caller has passed its fence.
        if !State(self.word.load(Ordering::Relaxed)).wants_searcher() {
            return;
        }
        if let Some(worker) = sleepers.asleep.pop() {
            self.wake(worker, sleepers);
        }
    }

    /// Wakes a worker that was taken out of `sleepers`.
    fn wake(&self, worker: usize, sleepers: MutexGuard<'_, Sleepers>) {
        self.sleeper_searches();
        drop(sleepers);
        self.unparkers[worker].unpark();
    }

    /// With the lock, for a worker that was taken out of the sleepers.
    fn sleeper_searches(&self) {
        // Relaxed: as in `begin_search`.
        self.word.fetch_sub(SLEEPING - SEARCHING, Ordering::Relaxed);
    }

    /// Stops the pool, and wakes all workers, so that they see it.
    pub(super) fn stop(&self) {
        // Relaxed: ordered by the fence.
        self.word.fetch_or(STOPPED, Ordering::Relaxed);
        // SeqCst: pairs with that of `notify`. The caller throws away what is queued.
        fence(Ordering::SeqCst);
        self.unparkers.iter().for_each(Unparker::unpark);
    }

    pub(super) fn is_stopped(&self) -> bool {
        // Relaxed: workers notice it sooner or later; those that sleep are unparked, which orders it.
        State(self.word.load(Ordering::Relaxed)).is_stopped()
    }
}

impl Sleepers {
    /// `true`: the worker is the watch.
    fn add(&mut self, worker: usize, workers: usize, has_guest: impl FnOnce() -> bool) -> bool {
        if self.watch == Watch::Wanted {
            self.watch = Watch::Kept(worker);
        }
        if self.watch != Watch::Kept(worker) {
            self.asleep.push(worker);
            return false;
        }
        // Last in the order of waking: a watch that is woken for a task would have to wake another watch.
        self.asleep.insert(0, worker);
        let is_wanted = self.asleep.len() < workers || has_guest();
        if !is_wanted {
            self.watch = Watch::Unwanted;
        }
        is_wanted
    }
}

#[cfg(test)]
mod tests {
    use super::{Idle, Watch};
    use crossbeam_utils::sync::Parker;

    /// A pool whose workers are played by the test.
    struct Workers {
        idle: Idle,
        parkers: Vec<Parker>,
    }

    impl Workers {
        fn all_running(count: usize) -> Self {
            let parkers: Vec<Parker> = (0..count).map(|_| Parker::new()).collect();
            Workers {
                idle: Idle::new(parkers.iter().map(|parker| parker.unparker().clone()).collect()),
                parkers,
            }
        }

        /// `true`: the worker only naps.
        fn falls_asleep(&self, worker: usize, has_guest: bool) -> bool {
            self.idle.begin_search();
            self.idle.fall_asleep(worker, || has_guest).is_watch
        }

        fn naps_in_vain(&self, worker: usize, has_guest: bool) -> bool {
            assert!(self.idle.wake_up(worker));
            self.idle.fall_asleep(worker, || has_guest).is_watch
        }

        /// Whether the worker was woken.
        fn is_woken(&self, worker: usize) -> bool {
            self.parkers[worker].park();
            self.idle.wake_up(worker)
        }

        fn searching_and_sleeping(&self) -> (usize, usize) {
            let state = super::State(self.idle.word.load(super::Ordering::Relaxed));
            assert_eq!(self.idle.sleepers.lock().asleep.len(), state.sleeping());
            (state.searching(), state.sleeping())
        }
    }

    #[test]
    fn who_sleeps_while_nobody_lends_sleeps_for_good() {
        let workers = Workers::all_running(2);
        assert!(!workers.falls_asleep(1, true));
        assert!(!workers.falls_asleep(0, true));
    }

    #[test]
    fn the_first_branch_wakes_one_sleeper_which_naps_while_others_work() {
        let workers = Workers::all_running(3);
        assert!(!workers.falls_asleep(1, false) && !workers.falls_asleep(2, false));
        workers.idle.watch();
        workers.idle.watch();
        assert!(workers.is_woken(2));
        assert_eq!(workers.searching_and_sleeping(), (1, 1));
        assert!(workers.idle.fall_asleep(2, || false).is_watch);
        assert!(workers.naps_in_vain(2, false) && workers.naps_in_vain(2, false));
        assert_eq!(workers.searching_and_sleeping(), (0, 2));
    }

    #[test]
    fn when_all_sleep_the_watch_sleeps_for_good() {
        let workers = Workers::all_running(2);
        workers.idle.watch();
        assert!(workers.falls_asleep(1, false));
        assert!(!workers.falls_asleep(0, false));
        assert!(!workers.naps_in_vain(1, false));
        assert_eq!(workers.idle.sleepers.lock().watch, Watch::Unwanted);
    }

    #[test]
    fn the_watch_naps_while_a_guest_is_there() {
        let workers = Workers::all_running(1);
        assert!(!workers.falls_asleep(0, true));
        workers.idle.watch();
        assert!(workers.is_woken(0));
        assert!(workers.idle.fall_asleep(0, || true).is_watch);
        assert!(workers.naps_in_vain(0, true));
        assert!(!workers.naps_in_vain(0, false));
    }

    #[test]
    fn a_watch_that_has_found_a_task_wakes_another_one() {
        let workers = Workers::all_running(3);
        workers.idle.watch();
        assert!(workers.falls_asleep(1, false));
        assert!(!workers.falls_asleep(2, false));
        assert!(workers.idle.wake_up(1));
        assert!(workers.idle.end_search());
        workers.idle.hand_over_watch();
        assert!(workers.is_woken(2));
        assert!(workers.idle.fall_asleep(2, || false).is_watch);
        assert!(!workers.falls_asleep(1, false));
    }

    #[test]
    fn without_a_sleeper_whoever_falls_asleep_first_becomes_the_watch() {
        let workers = Workers::all_running(2);
        workers.idle.watch();
        assert!(workers.falls_asleep(1, false));
        assert!(workers.idle.wake_up(1));
        assert!(workers.idle.end_search());
        workers.idle.hand_over_watch();
        assert!(workers.falls_asleep(0, false));
    }

    #[test]
    fn a_task_wakes_the_watch_last() {
        let workers = Workers::all_running(3);
        workers.idle.watch();
        assert!(workers.falls_asleep(1, false) && !workers.falls_asleep(2, false));
        assert!(!workers.idle.notify().is_stopped());
        assert!(!workers.is_woken(2));
        assert!(workers.idle.end_search());
        assert!(!workers.idle.notify().is_stopped());
        assert!(workers.is_woken(1));
    }

    #[test]
    fn a_sleeper_that_wakes_itself_while_it_is_woken_searches_once() {
        let workers = Workers::all_running(2);
        assert!(!workers.falls_asleep(1, false));
        assert!(!workers.idle.notify().is_stopped());
        assert!(!workers.idle.wake_up(1));
        assert_eq!(workers.searching_and_sleeping(), (1, 0));
        // The token of the waker is still there.
        assert!(!workers.idle.fall_asleep(1, || false).is_watch);
        assert!(!workers.is_woken(1));
        assert_eq!(workers.searching_and_sleeping(), (1, 0));
    }
}
