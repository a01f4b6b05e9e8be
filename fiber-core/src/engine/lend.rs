//! Lent branches: they stay on the stack of the thread that will run them, and other threads may steal them until then.
//!
//! A thread that is about to run the first of several branches lends the others: it leaves a pointer to them in its
//! [`BranchDeque`], runs the first, and takes them back. Nothing is allocated. An idle thread that finds the pointer
//! meanwhile makes a fiber of its target.
//!
//! ```text
//!  stack of the owner                    deque of the owner
//!  | Lendable: right side of zip 1 | <── entry 0   <── thieves take the oldest
//!  |  frames of the left side      |
//!  |   Lendable: rest of parallel  | <── entry 1   <── the owner takes back the newest
//!  |    frames of the first item   |
//! ```
//!
//! The deque is that of Chase and Lev ("Dynamic Circular Work-Stealing Deque", 2005) with the fences of Lê, Pop, Cohen
//! and Zappa Nardelli ("Correct and Efficient Work-Stealing for Weak Memory Models", 2013), of a fixed size.
//!
//! # Access to a `Lendable`
//!
//! | entry | `is_settled` | the content belongs to |
//! |---|---|---|
//! | not in the deque | `false` | the owner |
//! | between `top` and `bottom` | `false` | neither side |
//! | taken by the owner: `bottom` lowered, and `top` not beyond it | `false` | the owner |
//! | taken by a thief: `top` raised by its compare-and-swap | `false` | the thief |
//! | taken by a thief | `true` | the owner |
//!
//! The frame of the owner ends only when the content belongs to the owner: the owner waits for a thief that has taken
//! an entry and has not settled it. That takes as long as making a fiber.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::fmt;
use std::mem;
use std::ptr;

use crate::engine::task::Task;
use crate::primitive::{Arc, AtomicBool, AtomicPtr, AtomicUsize, Ordering, UnsafeCell, fence, wait_a_moment};

/// The number of branches that one thread can lend at a time. If a program nests deeper, the oldest ones become fibers.
const CAPACITY: usize = if cfg!(fiber_loom) { 2 } else { 128 };

/// The branches that one thread lends: the owner's side of a work-stealing deque.
///
/// A scheduler gives each of its threads one ([`Worker::branches`](crate::scheduler::Worker::branches)), and lets the other
/// threads look for work through its [stealer](BranchDeque::stealer). The deque stays on its thread; a scheduler may
/// move it while no task runs.
///
/// ```
/// use fiber_core::scheduler::BranchDeque;
///
/// let deque = BranchDeque::new();
/// assert!(deque.stealer().steal().is_none());
/// ```
pub struct BranchDeque {
    shared: Arc<Shared>,
    /// The number of lent branches of fibers, stolen or not. The `Cell` makes the deque belong to one thread at a time: it is
    /// `Send`, but not `Sync`.
    lent: Cell<usize>,
}

/// Steals branches from the [`BranchDeque`] of another thread.
#[derive(Clone)]
pub struct BranchStealer(Arc<Shared>);

struct Shared {
    thieves: Thieves,
    owner: Owner,
    entries: [AtomicPtr<Header>; CAPACITY],
}

/// The fields that other threads write, rarely. They have their own cache line, as the fields of the owner do: the owner
/// writes its fields for each branch, and reads `top` each time.
#[repr(align(64))]
struct Thieves {
    /// The oldest entry. The thread that takes it raises `top`.
    top: AtomicUsize,
    /// Whether another thread looks for lent branches here from time to time.
    is_watched: AtomicBool,
    /// Whether few entries may be left for thieves: a hint for the owner.
    has_few: AtomicBool,
    /// Whether fibers may wait for the owner, which computes. If so, `has_few` is set, too, or will be soon.
    is_called: AtomicBool,
}

/// The fields that the owner writes.
#[repr(align(64))]
#[derive(Default)]
struct Owner {
    /// The index behind the newest entry.
    bottom: AtomicUsize,
    /// The number of entries that the owner has taken back.
    progress: AtomicUsize,
}

/// The owner's progress; see [`BranchStealer::progress`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress(usize);

/// Work that its owner will run, unless a thief makes a fiber of it.
pub(crate) trait Latent: Send {
    /// The value that the owner gets back instead of the work.
    type Promoted: Send;

    /// Makes a fiber of the work, and returns its task. Never unwinds.
    fn promote(self) -> (Task, Self::Promoted);
}

/// The place of lendable work, on its owner's stack.
#[repr(C)]
pub(crate) struct Lendable<L: Latent> {
    header: Header,
    content: UnsafeCell<Content<L>>,
}

/// The part of a `Lendable` that a thief accesses without knowing its type.
pub(crate) struct Header {
    /// The thread that took the entry has promoted the content.
    is_settled: AtomicBool,
    /// A checkpoint of the owner has seen the entry. Only the owner uses this flag.
    was_seen: AtomicBool,
    promote: unsafe fn(*const Header) -> Task,
}

enum Content<L: Latent> {
    Latent(L),
    Promoted(L::Promoted),
    Gone,
}

/// The result of lending, for the owner.
pub(crate) enum Lent<L: Latent> {
    /// The content: no thread has stolen it.
    Back(L),
    /// The content has become a fiber.
    Taken(L::Promoted),
}

impl<L: Latent> Lendable<L> {
    #[inline]
    pub(crate) fn new(latent: L) -> Self {
        Lendable { header: Header::new(promote::<L>), content: UnsafeCell::new(Content::Latent(latent)) }
    }

    /// Calls `f` while the content is lent, if there is a deque.
    // With one call of `f`, which is compiled in place.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn lend<T>(&mut self, deque: Option<&BranchDeque>, f: impl FnOnce() -> T) -> T {
        let _lent = deque.map(|deque| {
            // A pointer to the whole, whose first field is the header: a thief reaches the content through it.
            let header = ptr::from_ref(self).cast();
            // SAFETY: the guard takes the entry back before this call returns or unwinds, and until then `self` stays borrowed.
            // Entries of calls inside `f` have been taken back by then.
            unsafe { deque.push(header) };
            deque.lent.set(deque.lent.get() + 1);
            TakeBack { deque, header: &self.header }
        });
        f()
    }

    /// The content, for its owner. `None` if it has become a fiber.
    #[inline]
    pub(crate) fn get_mut(&mut self) -> Option<&mut L> {
        self.content.with_mut(|content| {
            // SAFETY: `self` is borrowed mutably, so it is not lent, and the content belongs to the owner.
            match unsafe { &mut *content } {
                Content::Latent(latent) => Some(latent),
                Content::Promoted(_) | Content::Gone => None,
            }
        })
    }

    #[inline]
    pub(crate) fn into_inner(self) -> Lent<L> {
        let content = self.content.with_mut(|content| {
            // SAFETY: as in `get_mut`.
            mem::replace(unsafe { &mut *content }, Content::Gone)
        });
        match content {
            Content::Latent(latent) => Lent::Back(latent),
            Content::Promoted(promoted) => Lent::Taken(promoted),
            Content::Gone => panic!("the thread that took a branch could not make a fiber of it"),
        }
    }
}

/// # Safety
/// `header` points to a live `Lendable<L>`, and not only to its header. The content belongs to the caller.
unsafe fn promote<L: Latent>(header: *const Header) -> Task {
    let lendable = header.cast::<Lendable<L>>();
    // SAFETY: by the contract, and because the header is the first field. The owner does not move or drop the content
    // before `is_settled`.
    let Lendable { header, content } = unsafe { &*lendable };
    // Settles even if `promote` unwinds: the owner must not wait forever.
    let _settled = Settle(&header.is_settled);
    content.with_mut(|content| {
        // SAFETY: the content belongs to the caller.
        let content = unsafe { &mut *content };
        let Content::Latent(latent) = mem::replace(content, Content::Gone) else {
            unreachable!("a branch is promoted once")
        };
        let (task, promoted) = latent.promote();
        *content = Content::Promoted(promoted);
        task
    })
}

/// Returns the content to the owner of the frame. The frame may end right after that.
struct Settle<'a>(&'a AtomicBool);

impl Drop for Settle<'_> {
    fn drop(&mut self) {
        // Release: publishes the content to the Acquire of `wait_until_settled`.
        self.0.store(true, Ordering::Release);
    }
}

struct TakeBack<'a> {
    deque: &'a BranchDeque,
    header: &'a Header,
}

impl Drop for TakeBack<'_> {
    #[inline]
    fn drop(&mut self) {
        self.deque.lent.set(self.deque.lent.get() - 1);
        if !self.deque.pop() {
            self.header.wait_until_settled();
        }
    }
}

impl Header {
    /// For a value whose first field is the header. The thread that has taken the entry calls `promote` with a pointer to the
    /// header.
    #[inline]
    pub(crate) fn new(promote: unsafe fn(*const Header) -> Task) -> Self {
        Header { is_settled: AtomicBool::new(false), was_seen: AtomicBool::new(false), promote }
    }

    /// Returns the content to the owner of the frame. The frame may end right after that.
    pub(crate) fn settle(&self) {
        drop(Settle(&self.is_settled));
    }

    /// Waits until the thread that has taken the entry has promoted the content.
    #[cold]
    pub(crate) fn wait_until_settled(&self) {
        // Acquire: pairs with the Release in `Settle`.
        while !self.is_settled.load(Ordering::Acquire) {
            wait_a_moment();
        }
    }
}

impl BranchDeque {
    /// Makes an empty deque.
    pub fn new() -> Self {
        let shared = Shared {
            thieves: Thieves {
                top: AtomicUsize::new(0),
                is_watched: AtomicBool::new(false),
                has_few: AtomicBool::new(true),
                is_called: AtomicBool::new(false),
            },
            owner: Owner::default(),
            entries: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
        };
        BranchDeque { shared: Arc::new(shared), lent: Cell::new(0) }
    }

    /// The thieves' side of the deque, for any thread.
    pub fn stealer(&self) -> BranchStealer {
        BranchStealer(self.shared.clone())
    }

    /// Takes the oldest branch, as the task of a fiber.
    pub(crate) fn promote_oldest(&self) -> Option<Task> {
        self.shared.steal()
    }

    /// Takes the oldest branch, as the task of a fiber, if it was already lent at the last checkpoint. `None` if no branch
    /// was; the next checkpoint will take the branches that are lent now.
    pub(crate) fn promote_overdue(&self) -> Option<Task> {
        let Shared { thieves: Thieves { top, .. }, owner: Owner { bottom, .. }, entries } = &*self.shared;
        loop {
            // Relaxed, here and below: only thieves raise `top`, and then the compare-and-swap in `steal` fails.
            let (oldest, end) = (top.load(Ordering::Relaxed), bottom.load(Ordering::Relaxed));
            let lent = (end.wrapping_sub(oldest) as isize).max(0) as usize;
            let headers = (0..lent).map(|index| {
                let header = entries[oldest.wrapping_add(index) % CAPACITY].load(Ordering::Relaxed);
                // SAFETY: the owner has pushed the header, and is still inside the call that will pop it. This accesses
                // no field that a thief may change at the same time.
                unsafe { &(*header).was_seen }
            });
            if !headers.clone().next().is_some_and(|was_seen| was_seen.load(Ordering::Relaxed)) {
                headers.for_each(|was_seen| was_seen.store(true, Ordering::Relaxed));
                return None;
            }
            if let Some(task) = self.shared.steal() {
                return Some(task);
            }
        }
    }

    /// Whether the deque is full, so that the oldest branch has to be promoted first.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        // Relaxed: only the owner writes `bottom`. Acquire: pairs with the thief's exchange; a taken entry may be
        // overwritten.
        let bottom = self.shared.owner.bottom.load(Ordering::Relaxed);
        bottom.wrapping_sub(self.shared.thieves.top.load(Ordering::Acquire)) >= CAPACITY
    }

    /// Whether no thread looks for lent branches.
    #[inline]
    pub(crate) fn is_unwatched(&self) -> bool {
        // Relaxed: if the change is seen late, the owner runs the branch itself.
        !self.shared.thieves.is_watched.load(Ordering::Relaxed)
    }

    /// The number of lent branches of fibers. It is the same before and after a call that lends one.
    #[inline]
    pub(crate) fn lent(&self) -> usize {
        self.lent.get()
    }

    /// Whether few entries may be left for thieves, by the last hint.
    #[inline]
    pub(crate) fn has_few(&self) -> bool {
        // Relaxed, here and where it is set: a hint. A thief that finds nothing sets it again.
        self.shared.thieves.has_few.load(Ordering::Relaxed)
    }

    pub(crate) fn set_has_few(&self, has_few: bool) {
        self.shared.thieves.has_few.store(has_few, Ordering::Relaxed);
    }

    /// Whether fibers may wait for this thread, by the last hint.
    #[inline]
    pub(crate) fn is_called(&self) -> bool {
        // Relaxed, here and where it is set: a hint.
        self.shared.thieves.is_called.load(Ordering::Relaxed)
    }

    pub(crate) fn set_called(&self, is_called: bool) {
        self.shared.thieves.is_called.store(is_called, Ordering::Relaxed);
    }

    /// Whether there are fewer than `count` entries for thieves.
    #[inline]
    pub(crate) fn has_fewer_than(&self, count: isize) -> bool {
        // Relaxed: a hint. Only the owner, who asks, adds entries.
        let bottom = self.shared.owner.bottom.load(Ordering::Relaxed);
        (bottom.wrapping_sub(self.shared.thieves.top.load(Ordering::Relaxed)) as isize) < count
    }

    /// # Safety
    /// The value that the header belongs to is not moved until `pop`, and entries that are pushed later are popped
    /// before that. Its `promote` may be called with this pointer. The deque is not full.
    #[inline]
    pub(crate) unsafe fn push(&self, header: *const Header) {
        let Shared { owner: Owner { bottom, .. }, entries, .. } = &*self.shared;
        // Relaxed: only the owner writes `bottom`.
        let at = bottom.load(Ordering::Relaxed);
        debug_assert!(!self.is_full());
        // Relaxed: published by the store of `bottom`.
        entries[at % CAPACITY].store(header.cast_mut(), Ordering::Relaxed);
        // Release: publishes the entry and what it points to, to the Acquire of `steal`.
        bottom.store(at.wrapping_add(1), Ordering::Release);
    }

    /// Whether there is no thief. Only the owner makes the first one.
    #[inline]
    fn is_private(&self) -> bool {
        let is_private = Arc::strong_count(&self.shared) == 1;
        if is_private {
            // Acquire: pairs with the Release of the drop of a stealer, so that what it has taken is visible.
            fence(Ordering::Acquire);
        }
        is_private
    }

    /// Takes back the newest entry. `false` if a thief has it.
    #[inline]
    pub(crate) fn pop(&self) -> bool {
        let Shared { thieves: Thieves { top, .. }, owner: Owner { bottom, progress }, .. } = &*self.shared;
        // Relaxed, here and for `bottom`: only the owner writes them, and thieves only compare the progress.
        progress.store(progress.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        let end = bottom.load(Ordering::Relaxed);
        let newest = end.wrapping_sub(1);
        if self.is_private() {
            // Relaxed, both: no other thread uses them. The owner itself may have promoted the entry.
            let is_there = top.load(Ordering::Relaxed) != end;
            if is_there {
                bottom.store(newest, Ordering::Relaxed);
            }
            return is_there;
        }
        // Relaxed: only thieves raise `top`, so if this entry seems to be the last one, it is, or a thief has it.
        if top.load(Ordering::Relaxed) == newest {
            return self.shared.take_last(newest);
        }
        // Release: a thief that reads this value and takes an older entry has to see that entry, which the Release of
        // `push` alone no longer publishes. The fence orders this store before the read of `top`.
        bottom.store(newest, Ordering::Release);
        // SeqCst: between the write of `bottom` and the read of `top`. A thief accesses them in the opposite order, so at
        // least one side sees the other's write.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence.
        let oldest = top.load(Ordering::Relaxed);
        let others = newest.wrapping_sub(oldest) as isize;
        if others > 0 {
            return true;
        }
        let is_ours = others == 0 && self.shared.take_last(newest);
        // Relaxed: the deque is empty, and `top` already has this value.
        bottom.store(end, Ordering::Relaxed);
        is_ours
    }
}

impl Default for BranchDeque {
    fn default() -> Self {
        BranchDeque::new()
    }
}

impl BranchStealer {
    /// Steals the oldest branch, as the task of a fiber. `None` if there is none, or another thread took it first.
    pub fn steal(&self) -> Option<Task> {
        self.0.steal()
    }

    /// The owner's progress, if it lends any branch. Most branches are short, and their owner takes them back before a thief
    /// could make a fiber. If a thief reads the same progress twice, some microseconds apart, the owner's current branch is
    /// not short.
    pub fn progress(&self) -> Option<Progress> {
        // Relaxed: `steal` decides.
        let Shared { thieves: Thieves { top, .. }, owner: Owner { bottom, progress }, .. } = &*self.0;
        let lent = bottom.load(Ordering::Relaxed).wrapping_sub(top.load(Ordering::Relaxed));
        if lent as isize <= 0 && !self.0.thieves.has_few.load(Ordering::Relaxed) {
            self.0.thieves.has_few.store(true, Ordering::Relaxed);
        }
        (lent as isize > 0).then(|| Progress(progress.load(Ordering::Relaxed)))
    }

    /// Calls the owner: if it runs borrowed tasks, [`Worker::make_way`](crate::scheduler::Worker::make_way) is called at the next of them.
    ///
    /// ```
    /// use fiber_core::compute::join;
    /// use fiber_core::scheduler::{BranchDeque, Worker, serve};
    /// use std::cell::Cell;
    ///
    /// #[derive(Default)]
    /// struct Thread {
    ///     branches: BranchDeque,
    ///     has_made_way: Cell<bool>,
    /// }
    ///
    /// impl Worker for Thread {
    ///     fn branches(&self) -> Option<&BranchDeque> {
    ///         Some(&self.branches)
    ///     }
    ///     fn make_way(&self, _has_lent: bool) -> bool {
    ///         self.has_made_way.set(true);
    ///         false
    ///     }
    /// }
    ///
    /// let thread = Thread::default();
    /// serve(&thread, 1, || {
    ///     thread.branches.stealer().call(); // on another thread, which has queued a task
    ///     join(|| 1, || 2)
    /// });
    /// assert!(thread.has_made_way.get());
    /// ```
    pub fn call(&self) {
        // Relaxed, all: hints. Only what changes is written, because the owner reads it for each task. An owner that believes that
        // it has few entries checks its deque, and calls `make_way` there.
        for hint in [&self.0.thieves.is_called, &self.0.thieves.has_few] {
            if !hint.load(Ordering::Relaxed) {
                hint.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Sets whether another thread looks for branches in this deque from time to time. While none does, the owner calls
    /// [`Worker::lent`](crate::scheduler::Worker::lent) whenever it lends a branch.
    ///
    /// ```
    /// use fiber_core::scheduler::{BranchDeque, Worker};
    /// use fiber_core::Fiber;
    /// use std::cell::Cell;
    ///
    /// struct Thread {
    ///     branches: BranchDeque,
    ///     calls: Cell<u32>,
    /// }
    ///
    /// impl Worker for Thread {
    ///     fn branches(&self) -> Option<&BranchDeque> {
    ///         Some(&self.branches)
    ///     }
    ///     fn lent(&self) {
    ///         self.calls.set(self.calls.get() + 1);
    ///     }
    /// }
    ///
    /// let pool = fiber_sched::Pool::new();
    /// let thread = Thread { branches: BranchDeque::new(), calls: Cell::new(0) };
    /// let run = || pool.context().run_here(Fiber::success(1).zip(Fiber::success(2)), &thread).unwrap().unwrap();
    /// run();
    /// assert_eq!(thread.calls.get(), 1);
    /// thread.branches.stealer().set_watched(true);
    /// run();
    /// assert_eq!(thread.calls.get(), 1);
    /// ```
    pub fn set_watched(&self, is_watched: bool) {
        // Relaxed: if the change is seen late, the owner runs the branch itself.
        self.0.thieves.is_watched.store(is_watched, Ordering::Relaxed);
    }
}

impl Shared {
    /// Takes the last entry for its owner. `false` if a thief has it.
    #[inline]
    fn take_last(&self, newest: usize) -> bool {
        let taken = newest.wrapping_add(1);
        // The compare-and-swap decides. SeqCst: as in `steal`. Relaxed on failure: `wait_until_settled` follows.
        self.thieves.top.compare_exchange(newest, taken, Ordering::SeqCst, Ordering::Relaxed).is_ok()
    }

    fn steal(&self) -> Option<Task> {
        let Shared { thieves: thieves @ Thieves { top, .. }, owner: Owner { bottom, .. }, entries } = self;
        // Acquire: pairs with the compare-and-swaps of other thieves, so that `bottom` is not older than `top`.
        let oldest = top.load(Ordering::Acquire);
        // SeqCst: orders the read of `top` before that of `bottom`; see `pop`.
        fence(Ordering::SeqCst);
        // Acquire: pairs with the Release of `push` and `pop`, for the entry and what it points to.
        let end = bottom.load(Ordering::Acquire);
        if end.wrapping_sub(oldest) as isize <= 0 {
            return None;
        }
        // Relaxed: published by `bottom`. If the owner has stored another entry there, the compare-and-swap fails.
        let header = entries[oldest % CAPACITY].load(Ordering::Relaxed);
        // SeqCst: pairs with `pop`, for the last entry. Relaxed on failure: another thread has the entry.
        let next = oldest.wrapping_add(1);
        top.compare_exchange(oldest, next, Ordering::SeqCst, Ordering::Relaxed).ok()?;
        thieves.has_few.store(true, Ordering::Relaxed);
        // SAFETY: only this thread's compare-and-swap took this entry. The owner will find it taken, and keeps the frame
        // until the entry is settled.
        let promote = unsafe { (*header).promote };
        // SAFETY: as above, so the content belongs to this thread; and the function was stored with this type of
        // content.
        Some(unsafe { promote(header) })
    }
}

impl fmt::Debug for BranchDeque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stealer().fmt(f)
    }
}

impl fmt::Debug for BranchStealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.progress().is_some() { "branches to steal" } else { "no branch to steal" })
    }
}

#[cfg(all(test, fiber_loom))]
mod loom_tests;
