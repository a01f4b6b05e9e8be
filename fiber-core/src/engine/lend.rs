//! Lent branches: they lie on the stack of the thread that will run them, and other threads may take them until then.
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
//! # Who may touch a `Lendable`
//!
//! | entry | `is_settled` | content belongs to |
//! |---|---|---|
//! | not in the deque | `false` | the owner |
//! | between `top` and `bottom` | `false` | nobody |
//! | taken by the owner: `bottom` lowered, and `top` not beyond it | `false` | the owner |
//! | taken by a thief: `top` raised by its exchange | `false` | the thief |
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

/// How many branches one thread lends at a time. If a program nests deeper, the oldest ones become fibers.
const CAPACITY: usize = if cfg!(fiber_loom) { 2 } else { 128 };

/// The branches that one thread lends: the owner's side of a work-stealing deque.
///
/// A scheduler gives each of its threads one ([`Worker::branches`](crate::Worker::branches)), and lets the other
/// threads look for work through its [stealer](BranchDeque::stealer). The deque stays on its thread; a scheduler may
/// move it while no task runs.
///
/// ```
/// use fiber_core::BranchDeque;
///
/// let deque = BranchDeque::new();
/// assert!(deque.stealer().steal().is_none());
/// ```
pub struct BranchDeque {
    shared: Arc<Shared>,
    /// How many branches of fibers are lent, whether or not a thief has them. The cell makes the deque belong to one thread
    /// at a time: it is `Send`, but not `Sync`.
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

/// The fields that other threads write, which is rare. They have their own cache line, as the fields of the owner do:
/// the owner writes for each branch, and reads `top` each time.
#[repr(align(64))]
struct Thieves {
    /// The oldest entry. The thread that takes it raises `top`.
    top: AtomicUsize,
    /// Whether another thread looks for lent branches here from time to time.
    is_watched: AtomicBool,
    /// Whether there may be few entries left for thieves: a hint for the owner.
    has_few: AtomicBool,
}

/// The fields that the owner writes.
#[repr(align(64))]
#[derive(Default)]
struct Owner {
    /// Behind the newest entry.
    bottom: AtomicUsize,
    /// How many entries the owner has taken back.
    progress: AtomicUsize,
}

/// How far the owner of a deque has come; see [`BranchStealer::progress`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress(usize);

/// Work that its owner will run, unless a thief makes a fiber of it.
pub(crate) trait Latent: Send {
    /// What the owner gets back instead of the work.
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

/// The part of a `Lendable` that a thief knows.
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

/// What the owner gets back.
pub(crate) enum Lent<L: Latent> {
    /// No thread has taken it.
    Back(L),
    /// It has become a fiber.
    Taken(L::Promoted),
}

impl<L: Latent> Lendable<L> {
    #[inline]
    pub(crate) fn new(latent: L) -> Self {
        Lendable { header: Header::new(promote::<L>), content: UnsafeCell::new(Content::Latent(latent)) }
    }

    /// Calls `f` while the content is lent.
    #[inline]
    pub(crate) fn lend<T>(&mut self, deque: &BranchDeque, f: impl FnOnce() -> T) -> T {
        // To the whole, of which the header is the first field: a thief gets at the content by it.
        let header = ptr::from_ref(self).cast();
        // SAFETY: the guard takes the entry back before this call returns or unwinds, and until then `self` stays borrowed.
        // Entries of calls inside `f` have been taken back by then.
        unsafe { deque.push(header) };
        deque.lent.set(deque.lent.get() + 1);
        let _lent = TakeBack { deque, header: &self.header };
        f()
    }

    /// The content, for its owner. `None`: it has become a fiber.
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
    // SAFETY: by the contract, and because the header is the first field. The owner moves or drops nothing before
    // `is_settled`.
    let Lendable { header, content } = unsafe { &*lendable };
    // Whatever happens, the owner must not wait forever.
    let _settled = Settle(&header.is_settled);
    content.with_mut(|content| {
        // SAFETY: the content belongs to the caller.
        let content = unsafe { &mut *content };
        let Content::Latent(latent) = mem::replace(content, Content::Gone) else {
            unreachable!("it is lent once, and promoted once")
        };
        let (task, promoted) = latent.promote();
        *content = Content::Promoted(promoted);
        task
    })
}

/// Gives the content back to the owner of the frame. The frame may be gone afterwards.
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
    /// For something of which the header is the first field. `promote` is called with a pointer to the header, by the thread
    /// that has taken the entry.
    #[inline]
    pub(crate) fn new(promote: unsafe fn(*const Header) -> Task) -> Self {
        Header { is_settled: AtomicBool::new(false), was_seen: AtomicBool::new(false), promote }
    }

    /// Gives the content back to the owner of the frame. The frame may be gone afterwards.
    pub(crate) fn settle(&self) {
        drop(Settle(&self.is_settled));
    }

    /// Waits until the thread that has taken the entry has promoted the content.
    #[cold]
    pub(crate) fn wait_until_settled(&self) {
        // Acquire: pairs with the Release of `Settle`.
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
            },
            owner: Owner::default(),
            entries: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
        };
        BranchDeque { shared: Arc::new(shared), lent: Cell::new(0) }
    }

    /// The side of the thieves, for any thread.
    pub fn stealer(&self) -> BranchStealer {
        BranchStealer(self.shared.clone())
    }

    /// Takes the oldest branch, as the task of a fiber.
    pub(crate) fn promote_oldest(&self) -> Option<Task> {
        self.shared.steal()
    }

    /// Takes the oldest branch, as the task of a fiber, if it was already lent at the last checkpoint. `None`: no
    /// branch was; the next checkpoint will take those that are lent now.
    pub(crate) fn promote_overdue(&self) -> Option<Task> {
        let Shared { thieves: Thieves { top, .. }, owner: Owner { bottom, .. }, entries } = &*self.shared;
        loop {
            // Relaxed, here and below: thieves only raise it, and then the exchange of `steal` fails.
            let (oldest, end) = (top.load(Ordering::Relaxed), bottom.load(Ordering::Relaxed));
            let lent = (end.wrapping_sub(oldest) as isize).max(0) as usize;
            let headers = (0..lent).map(|index| {
                let header = entries[oldest.wrapping_add(index) % CAPACITY].load(Ordering::Relaxed);
                // SAFETY: the owner has pushed the header, and is still inside the call that will pop it. No field is
                // touched that a thief may change at the same time.
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
        // Relaxed: only the owner writes `bottom`. Acquire: an entry that was taken may be overwritten.
        let bottom = self.shared.owner.bottom.load(Ordering::Relaxed);
        bottom.wrapping_sub(self.shared.thieves.top.load(Ordering::Acquire)) >= CAPACITY
    }

    /// Whether no thread looks for lent branches.
    #[inline]
    pub(crate) fn is_unwatched(&self) -> bool {
        // Relaxed: if the change is seen late, the owner runs the branch itself.
        !self.shared.thieves.is_watched.load(Ordering::Relaxed)
    }

    /// How many branches of fibers are lent. It is the same before and after a call that lends one.
    #[inline]
    pub(crate) fn lent(&self) -> usize {
        self.lent.get()
    }

    /// Whether there may be few entries for thieves, as far as the last one who knew has said.
    #[inline]
    pub(crate) fn has_few(&self) -> bool {
        // Relaxed, here and where it is set: a hint. A thief that finds nothing sets it again.
        self.shared.thieves.has_few.load(Ordering::Relaxed)
    }

    pub(crate) fn set_has_few(&self, has_few: bool) {
        self.shared.thieves.has_few.store(has_few, Ordering::Relaxed);
    }

    /// Whether there are fewer than `count` entries for thieves.
    #[inline]
    pub(crate) fn has_fewer_than(&self, count: isize) -> bool {
        // Relaxed: a hint. Only the owner, who asks, adds entries.
        let bottom = self.shared.owner.bottom.load(Ordering::Relaxed);
        (bottom.wrapping_sub(self.shared.thieves.top.load(Ordering::Relaxed)) as isize) < count
    }

    /// # Safety
    /// What the header belongs to stays where it is until `pop`, and entries that are pushed later are popped before that. Its
    /// `promote` may be called with this pointer. The deque is not full.
    #[inline]
    pub(crate) unsafe fn push(&self, header: *const Header) {
        let Shared { owner: Owner { bottom, .. }, entries, .. } = &*self.shared;
        // Relaxed: only the owner writes it.
        let at = bottom.load(Ordering::Relaxed);
        debug_assert!(!self.is_full());
        // Relaxed: published with `bottom`.
        entries[at % CAPACITY].store(header.cast_mut(), Ordering::Relaxed);
        // Release: publishes the entry and what it points to, to the Acquire of `steal`.
        bottom.store(at.wrapping_add(1), Ordering::Release);
    }

    /// Takes back the newest entry. `false`: a thief has it.
    #[inline]
    pub(crate) fn pop(&self) -> bool {
        let Shared { thieves: Thieves { top, .. }, owner: Owner { bottom, progress }, .. } = &*self.shared;
        // Relaxed, here and for `bottom`: only the owner writes them, and thieves only compare the progress.
        progress.store(progress.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        let end = bottom.load(Ordering::Relaxed);
        let newest = end.wrapping_sub(1);
        // Release: a thief that reads this value and takes an older entry has to see that entry, which the Release of
        // `push` alone no longer publishes. The fence orders this store before the read of `top`.
        bottom.store(newest, Ordering::Release);
        // SeqCst: between the write of `bottom` and the read of `top`. A thief accesses them the other way round, so
        // that one of the two sees what the other has done.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence.
        let oldest = top.load(Ordering::Relaxed);
        let others = newest.wrapping_sub(oldest) as isize;
        if others > 0 {
            return true;
        }
        // The last entry: the exchange decides. SeqCst: as in the thief. Relaxed on failure: `wait_until_settled`
        // follows.
        let is_ours =
            others == 0 && top.compare_exchange(oldest, end, Ordering::SeqCst, Ordering::Relaxed).is_ok();
        // Relaxed: the deque is empty, and `top` has this value already.
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
    /// Steals the oldest branch, as the task of a fiber. `None`: there is none, or another thread was faster.
    pub fn steal(&self) -> Option<Task> {
        self.0.steal()
    }

    /// How far the owner has come, if it lends any branch. The owner of a short branch is back before a thief could
    /// make a fiber, and most branches are short. If a thief finds the same progress twice, some microseconds apart,
    /// the branch is not.
    pub fn progress(&self) -> Option<Progress> {
        // Relaxed: `steal` decides.
        let Shared { thieves: Thieves { top, .. }, owner: Owner { bottom, progress }, .. } = &*self.0;
        let lent = bottom.load(Ordering::Relaxed).wrapping_sub(top.load(Ordering::Relaxed));
        if lent as isize <= 0 && !self.0.thieves.has_few.load(Ordering::Relaxed) {
            self.0.thieves.has_few.store(true, Ordering::Relaxed);
        }
        (lent as isize > 0).then(|| Progress(progress.load(Ordering::Relaxed)))
    }

    /// Calls the owner: if it runs borrowed tasks, [`Worker::make_way`](crate::Worker::make_way) is called at the next of them.
    pub fn call(&self) {
        // Relaxed, both: a hint. Only what changes is written, because the owner reads it for each task. An owner that believes to
        // have few entries looks whether that is so, and is called on the way.
        if !self.0.thieves.has_few.load(Ordering::Relaxed) {
            self.0.thieves.has_few.store(true, Ordering::Relaxed);
        }
    }

    /// Sets whether another thread looks here from time to time. While none does, [`Worker::lent`](crate::Worker::lent)
    /// is called whenever a branch is lent.
    pub fn set_watched(&self, is_watched: bool) {
        // Relaxed: if the change is seen late, the owner runs the branch itself.
        self.0.thieves.is_watched.store(is_watched, Ordering::Relaxed);
    }
}

impl Shared {
    fn steal(&self) -> Option<Task> {
        let Shared { thieves: thieves @ Thieves { top, .. }, owner: Owner { bottom, .. }, entries } = self;
        // Acquire: pairs with the exchanges of other thieves, so that `bottom` is not older than `top`.
        let oldest = top.load(Ordering::Acquire);
        // SeqCst: see `pop`.
        fence(Ordering::SeqCst);
        // Acquire: pairs with the Release of `push` and `pop`, for the entry and what it points to.
        let end = bottom.load(Ordering::Acquire);
        if end.wrapping_sub(oldest) as isize <= 0 {
            return None;
        }
        // Relaxed: published with `bottom`. If the owner has stored another entry there, the exchange fails.
        let header = entries[oldest % CAPACITY].load(Ordering::Relaxed);
        // SeqCst: with `pop`, for the last entry. Relaxed on failure: another thread has the entry.
        let next = oldest.wrapping_add(1);
        top.compare_exchange(oldest, next, Ordering::SeqCst, Ordering::Relaxed).ok()?;
        thieves.has_few.store(true, Ordering::Relaxed);
        // SAFETY: the exchange gave this entry to this thread alone. The owner will find it gone, and keeps the frame
        // until the entry is settled.
        let promote = unsafe { (*header).promote };
        // SAFETY: as above, so the content belongs to this thread; and the function is the one for the type of the
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
