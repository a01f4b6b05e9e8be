//! What a thread offers to the borrowed tasks on it: the deque of its worker, and a list of tasks that no other thread sees
//! yet.
//!
//! An entry in the deque costs a fence when it is taken back. Few entries are enough for thieves, as long as there are others
//! when those are gone. So a thread keeps the tasks that it lends in a list through its own stack, which costs a few plain
//! stores, and puts the *oldest* of them, which are the largest, into the deque when there are few:
//!
//! ```text
//!  list (this thread only):  newest -> task 7 -> task 6 -> task 5          in the deque: tasks 4, 3, 2, 1
//! ```
//!
//! Branches that fibers lend lie in the same deque. Tasks are published only while none of those lies above them, so entries
//! are taken back in the reverse order.

use std::cell::Cell;
use std::ptr::{self, NonNull};

use crate::engine::lend::{BranchDeque, Header};
use crate::engine::scheduler::Worker;
use crate::engine::task::Task;
use crate::outcome::catch_panic;
use crate::primitive::wait_a_moment;

/// A thread that runs borrowed tasks. It lives in the frame of [`serve`].
pub(crate) struct Crew<'a> {
    /// Of which scheduler the thread is.
    key: u64,
    /// The crew of the thread around this one.
    outer: Option<NonNull<Crew<'static>>>,
    worker: &'a dyn Worker,
    branches: Option<&'a BranchDeque>,
    /// The two ends of the list; null if it is empty.
    oldest: Cell<*const Link>,
    newest: Cell<*const Link>,
    /// The depth of the deque at which the oldest one may be published.
    level: Cell<usize>,
}

/// So many tasks of each thread lie where others find them. A thread that computes for long publishes no more meanwhile, so
/// one or two would be too few; each of the recursions in flight pays for the fences of these, so many are too many: of the
/// calls of a binary recursion 30 deep, one in 300 has fewer than four callers whose right side waits.
const ENOUGH: isize = if cfg!(fiber_loom) { 1 } else { 4 };

/// The place of a task in the list of its thread.
pub(super) struct Link {
    older: Cell<*const Link>,
    newer: Cell<*const Link>,
    header: *const Header,
    /// It has left the list, and is in the deque.
    is_published: Cell<bool>,
}

thread_local! {
    // A closure of the user has no argument that leads to the thread that it runs on.
    static CREW: Cell<Option<NonNull<Crew<'static>>>> = const { Cell::new(None) };
}

/// Calls `f`, during which the functions of [`compute`](crate::compute) use `worker`. A scheduler calls it around the loop
/// of its threads. `key` is a number that tells the threads of one scheduler from those of others: see
/// [`is_served`](crate::compute::is_served). The key 0 is for tests, whose threads serve calls that are meant for any scheduler.
///
/// ```
/// use fiber_core::{BranchDeque, Worker, compute};
///
/// #[derive(Default)]
/// struct Thread(BranchDeque);
///
/// impl Worker for Thread {
///     fn branches(&self) -> Option<&BranchDeque> {
///         Some(&self.0)
///     }
/// }
///
/// let thread = Thread::default();
/// // Another thread would run one of the two if it looked into `thread.0.stealer()`.
/// assert_eq!(compute::serve(&thread, 1, || compute::join(|| 1, || 2)), (1, 2));
/// ```
///
/// # Panics
/// If `f` does.
pub fn serve<T>(worker: &dyn Worker, key: u64, f: impl FnOnce() -> T) -> T {
    let crew = Crew {
        key,
        outer: CREW.get(),
        worker,
        branches: worker.branches(),
        oldest: Cell::new(ptr::null()),
        newest: Cell::new(ptr::null()),
        level: Cell::new(0),
    };
    let _before = Before(crew.outer);
    CREW.set(Some(NonNull::from(&crew).cast()));
    f()
}

/// Puts back the crew that was there before.
struct Before(Option<NonNull<Crew<'static>>>);

impl Drop for Before {
    fn drop(&mut self) {
        CREW.set(self.0);
    }
}

/// Calls `f` with the crew of this thread.
#[inline]
pub(crate) fn with_crew<T>(f: impl FnOnce(Option<&Crew<'_>>) -> T) -> T {
    let crew = CREW.get().map(|crew| {
        // SAFETY: `serve` made the pointer from a variable that it drops after it has removed the pointer, when its `f` has
        // returned or unwound. This call is inside of that `f`, or of one that is. `f` gets the crew by a lifetime that does
        // not outlive this call.
        unsafe { crew.as_ref() }
    });
    f(crew)
}

/// Whether this thread runs borrowed tasks for the scheduler with this key, or with `None`, for any.
#[inline]
pub(crate) fn is_served(key: Option<u64>) -> bool {
    with_crew(|crew| crew.is_some_and(|crew| crew.key == 0 || key.is_none_or(|key| key == crew.key)))
}

impl Crew<'_> {
    /// Whether tasks can be lent to other threads.
    #[inline]
    pub(crate) fn lends(&self) -> bool {
        self.branches.is_some()
    }

    /// Which of `count` tasks runs next, if that is not for the threads to decide.
    #[inline]
    pub(crate) fn choose(&self, count: usize) -> Option<usize> {
        self.worker.choose(count).map(|choice| choice.min(count - 1))
    }

    /// Whether other threads have nothing to take here, so it is time to split what this one does.
    #[inline]
    pub(crate) fn is_hungry(&self) -> bool {
        self.branches.is_some_and(|branches| branches.has_fewer_than(1) && !self.publish(branches))
    }

    /// Adds a task to the list.
    ///
    /// # Safety
    /// The link and the lendable of its header stay where they are until `remove` is called. Links that are added later are
    /// removed before that.
    #[inline]
    pub(super) unsafe fn add(&self, link: &Link) {
        let newest = self.newest.replace(link);
        if newest.is_null() {
            self.oldest.set(link);
            self.level.set(self.branches.map_or(0, BranchDeque::depth));
        } else {
            link.older.set(newest);
            // SAFETY: it is in the list, so by the contract of its own `add` it is where it was.
            let newer = unsafe { &(*newest).newer };
            newer.set(link);
        }
        self.look();
    }

    /// Removes the newest task. `false`: another thread has taken it.
    #[inline]
    pub(super) fn remove(&self, link: &Link) -> bool {
        if link.is_published.get() {
            return self.branches.is_none_or(BranchDeque::pop);
        }
        let older = link.older.get();
        self.newest.set(older);
        if older.is_null() {
            self.oldest.set(older);
        } else {
            self.look();
        }
        true
    }

    /// Sees to it that other threads find something.
    #[inline]
    fn look(&self) {
        if let Some(branches) = self.branches
            && branches.has_fewer_than(ENOUGH)
        {
            self.publish(branches);
        }
    }

    /// Moves the oldest task of the list into the deque. `false`: there is none, or branches of a fiber lie above it.
    #[cold]
    fn publish(&self, branches: &BranchDeque) -> bool {
        let oldest = self.oldest.get();
        if oldest.is_null() || branches.depth() != self.level.get() || branches.is_full() {
            return false;
        }
        // SAFETY: it is in the list, so by the contract of `add` it is where it was.
        let link = unsafe { &*oldest };
        if ptr::eq(oldest, self.newest.get()) {
            self.oldest.set(ptr::null());
            self.newest.set(ptr::null());
        } else {
            let next = link.newer.get();
            self.oldest.set(next);
            // SAFETY: as above.
            let older = unsafe { &(*next).older };
            older.set(ptr::null());
        }
        link.is_published.set(true);
        self.level.set(self.level.get() + 1);
        // SAFETY: by the contract of `add`. The depth tells that no entry of a caller further up is above it, and those that
        // come later are taken back before: they belong to calls inside of the one that added this link.
        unsafe { branches.push(link.header) };
        if branches.is_unwatched() {
            catch_panic(|| self.worker.lent());
        }
        true
    }

    /// Gives a task to any thread.
    pub(super) fn share(&self, task: Task) {
        catch_panic(|| self.worker.share(task));
    }

    /// Blocks this thread by `wait`, which may be called twice.
    pub(super) fn block(&self, wait: &mut dyn FnMut()) {
        catch_panic(|| self.block_all(wait));
        // Whatever the workers have done.
        wait();
    }

    /// A guest of another scheduler blocks a thread of its own, too.
    fn block_all(&self, wait: &mut dyn FnMut()) {
        match self.outer {
            None => self.worker.block(wait),
            Some(outer) => {
                // SAFETY: it lives in the frame of a call of `serve` around the one of this crew.
                let outer = unsafe { outer.as_ref() };
                outer.block_all(&mut || self.worker.block(wait));
            }
        }
    }
}

impl Link {
    /// A link to nothing, until it is added.
    #[inline]
    pub(super) fn new(header: *const Header) -> Self {
        let (older, newer) = (Cell::new(ptr::null()), Cell::new(ptr::null()));
        Link { older, newer, header, is_published: Cell::new(false) }
    }
}

/// Before a thread blocks, it waits for about as long as waking another one takes.
#[derive(Default)]
pub(super) struct Patience(u32);

/// A microsecond or two.
const SPINS: u32 = if cfg!(fiber_loom) { 0 } else { 200 };
const YIELDS: u32 = if cfg!(fiber_loom) { 0 } else { 10 };

impl Patience {
    /// `false`: it has waited for long enough.
    pub(super) fn pause(&mut self) -> bool {
        self.0 += 1;
        match self.0 {
            n if n <= SPINS => std::hint::spin_loop(),
            n if n <= SPINS + YIELDS => wait_a_moment(),
            _ => return false,
        }
        true
    }
}
