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
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use crate::engine::lend::{BranchDeque, Header};
use crate::engine::scheduler::Worker;
use crate::engine::task::Task;
use crate::panic::catch_panic;
use crate::primitive::wait_a_moment;

/// A thread that runs borrowed tasks. It lives in the frame of [`serve`].
pub(crate) struct Crew<'a> {
    /// `None`: the worker is asked when a task is lent.
    branches: Cell<Option<&'a BranchDeque>>,
    /// The newest task of the list; `end` if there is none.
    newest: Cell<*const Link>,
    /// Where the list begins: its `newer` is the oldest task, if there is any.
    end: Link,
    /// How many tasks are in the deque, or were taken from there, and have not been removed.
    published: Cell<usize>,
    /// Of which scheduler the thread is.
    key: u64,
    worker: &'a dyn Worker,
    /// The crew of the thread around this one.
    outer: Option<NonNull<Crew<'static>>>,
}

/// A crew that lends tasks to other threads.
#[derive(Clone, Copy)]
pub(crate) struct Lender<'a, 'c> {
    pub(super) crew: &'a Crew<'c>,
    pub(super) branches: &'a BranchDeque,
}

/// So many tasks of each thread lie where others find them. A thread that computes for long publishes no more meanwhile, so
/// one or two would be too few; each of them costs a fence, so many are too many: of the calls of a binary recursion 30 deep,
/// one in 300 has fewer than four callers whose right side waits.
const ENOUGH: isize = if cfg!(fiber_loom) { 1 } else { 4 };

/// The place of a task in the list of its thread, and in the deque. It is the first field of the task.
#[repr(C)]
pub(super) struct Link {
    header: Header,
    /// It has left the list, and is in the deque.
    is_published: Cell<bool>,
    older: Cell<*const Link>,
    /// Set when a newer one is added.
    newer: Cell<MaybeUninit<*const Link>>,
    /// How many branches of fibers were lent on this thread when the link was made.
    lent: usize,
}

thread_local! {
    // A closure of the user has no argument that leads to the thread that it runs on.
    static CREW: Cell<Option<NonNull<Crew<'static>>>> = const { Cell::new(None) };
}

/// Calls `f`, during which the functions of [`compute`](crate::compute) use `worker`. A scheduler calls it around the loop
/// of its threads. `key` is a number that tells the threads of one scheduler from those of others: see
/// [`is_served`](crate::scheduler::is_served). The key 0 is for tests, whose threads serve calls that are meant for any scheduler.
///
/// ```
/// use fiber_core::compute::join;
/// use fiber_core::scheduler::{BranchDeque, Worker, serve};
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
/// assert_eq!(serve(&thread, 1, || join(|| 1, || 2)), (1, 2));
/// ```
///
/// # Panics
/// If `f` does.
pub fn serve<T>(worker: &dyn Worker, key: u64, f: impl FnOnce() -> T) -> T {
    let crew = Crew {
        branches: Cell::new(None),
        newest: Cell::new(ptr::null()),
        end: Link::after(ptr::null(), 0, never),
        published: Cell::new(0),
        key,
        worker,
        outer: CREW.get(),
    };
    crew.newest.set(&crew.end);
    let _before = Before(crew.outer);
    CREW.set(Some(NonNull::from(&crew).cast()));
    f()
}

/// The end of a list is in no deque.
unsafe fn never(_: *const Header) -> Task {
    unreachable!("the end of a list is not published")
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

/// Whether this thread runs borrowed tasks for the scheduler that has passed this key to [`serve`]; with `None`, for any.
///
/// ```
/// use fiber_core::scheduler::is_served;
/// assert!(!is_served(None));
/// assert!(fiber_sched::run(fiber_core::Fiber::lazy(|| is_served(None))).unwrap());
/// ```
#[inline]
pub fn is_served(key: Option<u64>) -> bool {
    with_crew(|crew| crew.is_some_and(|crew| crew.key == 0 || key.is_none_or(|key| key == crew.key)))
}

/// Whether a test drives this thread, which is the only one of its fibers.
pub(crate) fn is_of_test() -> bool {
    with_crew(|crew| crew.is_some_and(|crew| crew.key == 0))
}

/// What this thread does for borrowed tasks now: another value while a call borrows the thread for another scheduler, or
/// lends a task from its stack.
#[cfg(feature = "direct")]
#[derive(PartialEq)]
pub(crate) struct BorrowedTasks {
    crew: usize,
    lent: usize,
}

#[cfg(feature = "direct")]
impl BorrowedTasks {
    pub(crate) fn now() -> Self {
        with_crew(|crew| BorrowedTasks {
            crew: crew.map_or(0, |crew| ptr::from_ref(crew).addr()),
            lent: crew.map_or(0, Crew::lent),
        })
    }
}

#[cfg(feature = "direct")]
impl Crew<'_> {
    /// How many tasks the calls on this thread lend.
    fn lent(&self) -> usize {
        let (mut link, mut lent) = (self.newest.get(), self.published.get());
        while link != ptr::from_ref(&self.end) {
            // SAFETY: it is in the list, so by the contract of `add` it is where it was.
            link = unsafe { &*link }.older.get();
            lent += 1;
        }
        lent
    }
}

impl<'c> Crew<'c> {
    /// The crew with its deque for what is lent to other threads, if there is one.
    #[inline]
    pub(crate) fn lender(&self) -> Option<Lender<'_, 'c>> {
        let branches = self.branches.get().or_else(|| self.ask_for_branches())?;
        Some(Lender { crew: self, branches })
    }

    #[cold]
    fn ask_for_branches(&self) -> Option<&'c BranchDeque> {
        self.branches.set(self.worker.branches());
        self.branches.get()
    }

    /// Which of `count` tasks runs next, if that is not for the threads to decide.
    #[inline]
    pub(crate) fn choose(&self, count: usize) -> Option<usize> {
        self.worker.choose(count).map(|choice| choice.min(count - 1))
    }

    /// A link for the next task.
    #[inline]
    pub(super) fn link(&self, branches: &BranchDeque, promote: unsafe fn(*const Header) -> Task) -> Link {
        Link::after(self.newest.get(), branches.lent(), promote)
    }

    /// Adds a task to the list. The link is the one that was made last.
    ///
    /// # Safety
    /// What the link is the first field of stays where it is until `remove` is called, and the promotion of the link may be
    /// called with a pointer to it. Links that are made later are removed before that.
    #[inline]
    pub(super) unsafe fn add(&self, branches: &BranchDeque, link: *const Link) {
        let newest = self.newest.replace(link);
        // SAFETY: it is in the list, so by the contract of its own `add` it is where it was; or it is the end of the list, which
        // lives as long as the crew.
        let newer = unsafe { &(*newest).newer };
        newer.set(MaybeUninit::new(link));
        if branches.has_few() {
            self.publish(branches);
        }
    }

    /// Removes the newest task. `false`: another thread has taken it.
    #[inline]
    pub(super) fn remove(&self, branches: &BranchDeque, link: &Link) -> bool {
        if link.is_published.get() {
            self.published.set(self.published.get() - 1);
            branches.set_has_few(true);
            return branches.pop();
        }
        self.newest.set(link.older.get());
        if branches.has_few() {
            self.publish(branches);
        }
        true
    }

    /// Moves the oldest tasks of the list into the deque, until there are enough for others.
    ///
    /// A call of the owner (`BranchStealer::call`) leads here.
    #[cold]
    fn publish(&self, branches: &BranchDeque) {
        let is_called = self.make_way();
        branches.set_called(is_called);
        while branches.has_fewer_than(ENOUGH) {
            if !self.publish_oldest(branches) {
                return;
            }
        }
        branches.set_has_few(false);
    }

    /// `false`: the list is empty, or branches of a fiber lie above its oldest task, so it has to stay there.
    fn publish_oldest(&self, branches: &BranchDeque) -> bool {
        let (newest, end) = (self.newest.get(), ptr::from_ref(&self.end));
        if newest == end {
            return false;
        }
        // SAFETY: the list is not empty, so one was added behind its end.
        let oldest = unsafe { self.end.newer.get().assume_init() };
        // SAFETY: it is in the list, so by the contract of `add` it is where it was.
        let link = unsafe { &*oldest };
        if branches.lent() != link.lent || branches.is_full() {
            return false;
        }
        if newest == oldest {
            self.newest.set(end);
        } else {
            let next = link.newer.get();
            self.end.newer.set(next);
            // SAFETY: it is not the newest, so one was added behind it.
            let next = unsafe { next.assume_init() };
            // SAFETY: as above.
            let older = unsafe { &(*next).older };
            older.set(end);
        }
        link.is_published.set(true);
        self.published.set(self.published.get() + 1);
        // SAFETY: by the contract of `add`. The branches that are lent are those of when the link was added, so they lie below
        // it, and tasks that were published before are older. What comes later is taken back before: it belongs to calls inside
        // of the one that has added the link.
        unsafe { branches.push(oldest.cast()) };
        if branches.is_unwatched() {
            catch_panic(|| self.worker.lent());
        }
        true
    }

    /// Lets this thread and those that it is a guest of make way for fibers. `true`: fibers still wait.
    pub(super) fn make_way(&self) -> bool {
        let has_lent = self.branches.get().is_some_and(|branches| branches.lent() > 0);
        let mut is_called = false;
        catch_panic(|| is_called = self.worker.make_way(has_lent));
        let is_outer_called = self.outer.is_some_and(|outer| {
            // SAFETY: it lives in the frame of a call of `serve` around the one of this crew.
            unsafe { outer.as_ref() }.make_way()
        });
        is_called || is_outer_called
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

impl Lender<'_, '_> {
    /// Whether other threads have nothing to take here, so it is time to split what this one does.
    #[inline]
    pub(crate) fn is_hungry(self) -> bool {
        let Lender { crew, branches } = self;
        branches.has_few() && (branches.has_fewer_than(1) || branches.is_called()) && {
            crew.publish(branches);
            branches.has_fewer_than(1)
        }
    }
}

impl Link {
    /// A link behind `older`. `promote` makes a task for another thread.
    #[inline]
    fn after(older: *const Link, lent: usize, promote: unsafe fn(*const Header) -> Task) -> Self {
        Link {
            header: Header::new(promote),
            is_published: Cell::new(false),
            older: Cell::new(older),
            newer: Cell::new(MaybeUninit::uninit()),
            lent,
        }
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
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
