//! Who sleeps, and who is woken.
//!
//! A worker runs tasks, searches for one, or sleeps. Waking costs microseconds, so whoever queues a task wakes nobody
//! while somebody searches: the searcher will find it. One word counts both:
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
//! | queues a task | pushes it; *fence*; reads the word; if nobody searches and somebody sleeps: wakes one |
//! | wakes | with the lock: reads the word again, takes a sleeper, moves it from `sleeping` to `searching` |
//! | begins to search | adds itself to `searching` |
//! | finds a task | leaves `searching`; if it was the last: *fence*; if there is a task in any queue, wakes one |
//! | falls asleep | moves itself from `searching` to `sleeping`; if it was the last: *fence*; as above |
//!
//! **No wake-up is lost**: it never happens that a task stays queued while somebody sleeps and nobody searches.
//!
//! Take a task, and the value `v` of the word that its pusher reads. (The pusher may also read it again with the
//! lock; then `v` is that value, which the same fence precedes.)
//! 1. `v` has a sleeper and no searcher: the pusher wakes one, who searches. Go on with 2.
//! 2. `v` has a searcher: consider the first change of the word after `v` that leaves none. Its author was the last
//!    searcher, so it passes a fence and looks at all queues. It sees the push: of two SeqCst fences one comes first; if that
//!    were the author's, then the pusher's read, behind its own fence, would see the author's change, but it saw `v`, which
//!    is older. So the task is gone by then, or the author wakes one, who searches, and 2 applies to the word as it
//!    is then; or nobody sleeps, and 3 does.
//! 3. `v` has neither: all run tasks, and whoever falls asleep later has to search before, which leads to 2.
//!
//! Each round of 2 is paid for by a search that found some other task or came too late for this one, so the rounds end.
//!
//! Tasks that are moved from one queue to another are in none for a moment. Who moves them is a searcher, which looks again
//! when it was the last and otherwise leaves that to a later one (the word orders the two), or takes from the
//! injector without a search; then it counts as a pusher of what it has moved.

use std::sync::atomic::{AtomicUsize, Ordering, fence};

use crossbeam_utils::CachePadded;
use crossbeam_utils::sync::Unparker;
use parking_lot::Mutex;

pub(super) struct Idle {
    word: CachePadded<AtomicUsize>,
    /// Those who sleep, or have counted themselves and are about to. The word's `sleeping` changes with this lock only.
    sleepers: Mutex<Vec<usize>>,
    unparkers: Box<[Unparker]>,
}

/// A value of the word.
#[derive(Clone, Copy)]
pub(super) struct State(usize);

const SEARCHING: usize = 1;
const SLEEPING: usize = 1 << 16;
const STOPPED: usize = 1 << (usize::BITS - 1);

/// What fits into both counts, also where a word has 32 bits, with the top one taken.
pub(super) const MOST_WORKERS: usize = (1 << 14) - 1;

impl State {
    /// The pool runs nothing any more.
    pub(super) fn is_stopped(self) -> bool {
        self.0 & STOPPED != 0
    }

    fn searching(self) -> usize {
        self.0 % SLEEPING
    }

    fn sleeping(self) -> usize {
        (self.0 & !STOPPED) / SLEEPING
    }

    /// Whether one who sleeps has to be woken for a task.
    fn wants_searcher(self) -> bool {
        self.searching() == 0 && self.sleeping() > 0 && !self.is_stopped()
    }
}

impl Idle {
    /// For workers that all run at first.
    pub(super) fn new(unparkers: Box<[Unparker]>) -> Self {
        let sleepers = Mutex::new(Vec::with_capacity(unparkers.len()));
        Idle { word: CachePadded::default(), sleepers, unparkers }
    }

    /// A task was queued: wakes a worker for it, unless one searches already.
    ///
    /// The state tells whether the pool has stopped. If it does not say so, then whoever stops it sees the task.
    pub(super) fn notify(&self) -> State {
        // SeqCst: between the push and the look at the word; see the proof above. With `stop` it is the same: either
        // this sees the stop, or the one who stops sees the push.
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
        // Relaxed: the count only keeps others from waking somebody; what matters is how it is left.
        self.word.fetch_add(SEARCHING, Ordering::Relaxed);
    }

    /// A searcher has found a task. `true`: it was the last, and has to call `notify` if there are more.
    #[must_use]
    pub(super) fn end_search(&self) -> bool {
        // AcqRel: a searcher that leaves later sees what this one has moved between queues.
        let before = State(self.word.fetch_sub(SEARCHING, Ordering::AcqRel));
        self.look_again(before)
    }

    /// A searcher has found nothing. `true`: it was the last, and has to call `notify` if there is something now.
    ///
    /// It sleeps then by waiting for its unparker, and is a searcher when it is woken.
    #[must_use]
    pub(super) fn fall_asleep(&self, worker: usize) -> bool {
        let mut sleepers = self.sleepers.lock();
        sleepers.push(worker);
        // AcqRel: as in `end_search`.
        let before = State(self.word.fetch_add(SLEEPING - SEARCHING, Ordering::AcqRel));
        drop(sleepers);
        self.look_again(before)
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
        let Some(worker) = sleepers.pop() else { return };
        // Relaxed: as in `begin_search`, on behalf of the sleeper.
        self.word.fetch_sub(SLEEPING - SEARCHING, Ordering::Relaxed);
        drop(sleepers);
        self.unparkers[worker].unpark();
    }

    /// Nothing is run any more; wakes all, so that they see it.
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
