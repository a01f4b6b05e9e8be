//! Branches that lie on the stack of the thread that will run them, and that other threads may take until then.
//!
//! A thread that is about to run the first of several branches lends the others: it leaves a pointer to them in its
//! [`BranchDeque`], runs the first, and takes them back. Nothing is allocated. An idle thread that finds the pointer meanwhile makes
//! a fiber of what it points to.
//!
//! ```text
//!  stack of the owner                    deque of the owner
//!  | Lendable: right side of zip 1 | <── entry 0   <── thieves take the oldest
//!  |  frames of the left side      |
//!  |   Lendable: rest of parallel  | <── entry 1   <── the owner takes back the newest
//!  |    frames of the first item   |
//! ```
//!
//! The deque is that of Chase and Lev ("Dynamic Circular Work-Stealing Deque", 2005) with the fences of Lê, Pop, Cohen and
//! Zappa Nardelli ("Correct and Efficient Work-Stealing for Weak Memory Models", 2013), of a fixed size.
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
//! The frame of the owner goes only when the content belongs to the owner: it waits for a thief that has taken an entry and has
//! not settled it. That takes as long as making a fiber does.
#![allow(unsafe_code)]

use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::ptr;

use crate::engine::task::Task;
use crate::primitive::{Arc, AtomicBool, AtomicPtr, AtomicUsize, Ordering, UnsafeCell, fence, wait_a_moment};

/// How many branches one thread lends at a time. A program that nests deeper makes fibers of the oldest.
const CAPACITY: usize = if cfg!(fiber_loom) { 2 } else { 128 };

/// The branches that one thread lends: the owner's side of a work-stealing deque.
///
/// A scheduler gives each of its threads one ([`Worker::branches`](crate::Worker::branches)) and lets the others look for work at its
/// [stealer](BranchDeque::stealer). It stays on its thread; a scheduler may move it while no task runs.
///
/// ```
/// use fiber_core::BranchDeque;
///
/// let deque = BranchDeque::new();
/// assert!(deque.stealer().steal().is_none());
/// ```
pub struct BranchDeque {
    shared: Arc<Shared>,
    /// One thread at a time: it may be sent, not shared.
    not_sync: PhantomData<std::cell::Cell<()>>,
}

/// Takes branches out of the [`BranchDeque`] of another thread.
#[derive(Clone)]
pub struct BranchStealer(Arc<Shared>);

struct Shared {
    thieves: Thieves,
    owner: Owner,
    entries: [AtomicPtr<Header>; CAPACITY],
}

/// What others write, seldom. On a cache line of its own, as is what the owner writes: it writes for each branch, and looks at
/// `top` each time.
#[repr(align(64))]
#[derive(Default)]
struct Thieves {
    /// The oldest entry. Raised by whoever takes it.
    top: AtomicUsize,
    /// Whether somebody looks for what is lent here from time to time.
    is_watched: AtomicBool,
}

/// What the owner writes.
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

/// Something that its owner will run, unless a thief makes a fiber of it.
pub(crate) trait Latent: Send {
    /// What the owner gets instead.
    type Promoted: Send;

    /// Makes a fiber of it, whose task is returned. Never unwinds.
    fn promote(self) -> (Task, Self::Promoted);
}

/// The place of something that may be lent, on its owner's stack.
#[repr(C)]
pub(crate) struct Lendable<L: Latent> {
    header: Header,
    content: UnsafeCell<Content<L>>,
}

/// What a thief knows of a `Lendable`.
struct Header {
    /// The one who has taken it has promoted the content.
    is_settled: AtomicBool,
    /// A checkpoint of the owner has seen it. The owner's own.
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
    /// Nobody has taken it.
    Back(L),
    /// It has become a fiber.
    Taken(L::Promoted),
}

impl<L: Latent> Lendable<L> {
    #[inline]
    pub(crate) fn new(latent: L) -> Self {
        let (is_settled, was_seen) = (AtomicBool::new(false), AtomicBool::new(false));
        let header = Header { is_settled, was_seen, promote: promote::<L> };
        Lendable { header, content: UnsafeCell::new(Content::Latent(latent)) }
    }

    /// Calls `f` while the content is lent.
    #[inline]
    pub(crate) fn lend<T>(&mut self, deque: &BranchDeque, f: impl FnOnce() -> T) -> T {
        // SAFETY: the guard takes the entry back before this call returns or unwinds, and until then `self` stays borrowed.
        // Entries of calls inside `f` have been taken back by then.
        unsafe { deque.push(self) };
        let _lent = TakeBack { deque, header: &self.header };
        f()
    }

    /// The content, to be used by its owner. `None`: it has become a fiber.
    #[inline]
    pub(crate) fn get_mut(&mut self) -> Option<&mut L> {
        self.content.with_mut(|content| {
            // SAFETY: `self` is borrowed mutably, so it is not lent: the content is the owner's.
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
    // SAFETY: the header is the first field, and the contract. The owner moves or drops nothing before `is_settled`.
    let Lendable { header, content } = unsafe { &*lendable };
    // Whatever happens, the owner must not wait for ever.
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

/// Gives the content back to the owner of the frame, which may be gone afterwards.
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
        if !self.deque.pop() {
            self.header.wait_until_settled();
        }
    }
}

impl Header {
    #[cold]
    fn wait_until_settled(&self) {
        // Acquire: pairs with the Release of `Settle`.
        while !self.is_settled.load(Ordering::Acquire) {
            wait_a_moment();
        }
    }
}

impl BranchDeque {
    /// An empty one.
    pub fn new() -> Self {
        let shared = Shared {
            thieves: Thieves::default(),
            owner: Owner::default(),
            entries: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
        };
        BranchDeque { shared: Arc::new(shared), not_sync: PhantomData }
    }

    /// The other side, for any thread.
    pub fn stealer(&self) -> BranchStealer {
        BranchStealer(self.shared.clone())
    }

    /// The oldest branch, as the task of a fiber.
    pub(crate) fn promote_oldest(&self) -> Option<Task> {
        self.shared.steal()
    }

    /// The oldest branch, as the task of a fiber, if it was lent at the last checkpoint already. `None`: it was not, and neither were
    /// the others; the next checkpoint will find that they were.
    pub(crate) fn promote_overdue(&self) -> Option<Task> {
        let Shared { thieves: Thieves { top, .. }, owner: Owner { bottom, .. }, entries } = &*self.shared;
        loop {
            // Relaxed, here and below: thieves only raise it, and then the exchange of `steal` fails.
            let (oldest, end) = (top.load(Ordering::Relaxed), bottom.load(Ordering::Relaxed));
            let lent = (end.wrapping_sub(oldest) as isize).max(0) as usize;
            let headers = (0..lent).map(|index| {
                let header = entries[oldest.wrapping_add(index) % CAPACITY].load(Ordering::Relaxed);
                // SAFETY: the owner has pushed it, and is still inside of the call that will pop it. Of what a thief may change at the
                // same time nothing is touched.
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

    /// Whether one more has to wait until the oldest is promoted.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        // Relaxed: the owner's own. Acquire: an entry that was taken may be written again.
        let bottom = self.shared.owner.bottom.load(Ordering::Relaxed);
        bottom.wrapping_sub(self.shared.thieves.top.load(Ordering::Acquire)) >= CAPACITY
    }

    /// Whether nobody looks for what is lent.
    #[inline]
    pub(crate) fn is_unwatched(&self) -> bool {
        // Relaxed: what nobody sees is run by its owner.
        !self.shared.thieves.is_watched.load(Ordering::Relaxed)
    }

    /// # Safety
    /// The lendable stays where it is until `pop`, and those that are pushed later are popped before that. The deque is not full.
    #[inline]
    unsafe fn push<L: Latent>(&self, lendable: &Lendable<L>) {
        let Shared { owner: Owner { bottom, .. }, entries, .. } = &*self.shared;
        // Relaxed: the owner's own.
        let at = bottom.load(Ordering::Relaxed);
        debug_assert!(!self.is_full());
        // A pointer to the whole, of which the header is the first field: a thief gets at the content by it.
        let header = ptr::from_ref(lendable).cast::<Header>().cast_mut();
        // Relaxed: published with `bottom`.
        entries[at % CAPACITY].store(header, Ordering::Relaxed);
        // Release: publishes the entry and what it points to, to the Acquire of `steal`.
        bottom.store(at.wrapping_add(1), Ordering::Release);
    }

    /// Takes back the newest entry that was not popped. `false`: a thief has it.
    #[inline]
    fn pop(&self) -> bool {
        let Shared { thieves: Thieves { top, .. }, owner: Owner { bottom, progress }, .. } = &*self.shared;
        // Relaxed, here and for `bottom`: the owner's own, and thieves only compare the progress.
        progress.store(progress.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        let end = bottom.load(Ordering::Relaxed);
        let newest = end.wrapping_sub(1);
        // Release: a thief that finds this value and takes an older entry has to see that entry, which the Release of `push` alone does
        // not publish any more. The fence orders it before the look at `top`.
        bottom.store(newest, Ordering::Release);
        // SeqCst: between the write of `bottom` and the look at `top`. A thief does it the other way round, so that one of the
        // two sees what the other has done.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence.
        let oldest = top.load(Ordering::Relaxed);
        let others = newest.wrapping_sub(oldest) as isize;
        if others > 0 {
            return true;
        }
        // The last one: the exchange decides. SeqCst: as that of the thief. Relaxed on failure: `wait_until_settled` follows.
        let is_ours =
            others == 0 && top.compare_exchange(oldest, end, Ordering::SeqCst, Ordering::Relaxed).is_ok();
        // Relaxed: the deque is empty, and `top` is there already.
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
    /// The oldest branch, as the task of a fiber. `None`: there is none, or another thread was faster.
    pub fn steal(&self) -> Option<Task> {
        self.0.steal()
    }

    /// How far the owner has come, if it lends anything. Most branches are short, and then their owner is back before a thief has
    /// even made a fiber: a thief that finds the same progress twice, some microseconds apart, knows better.
    pub fn progress(&self) -> Option<Progress> {
        // Relaxed: `steal` decides.
        let Shared { thieves: Thieves { top, .. }, owner: Owner { bottom, progress }, .. } = &*self.0;
        let lent = bottom.load(Ordering::Relaxed).wrapping_sub(top.load(Ordering::Relaxed));
        (lent as isize > 0).then(|| Progress(progress.load(Ordering::Relaxed)))
    }

    /// Says whether somebody looks here from time to time. While nobody does, [`Worker::lent`](crate::Worker::lent) is called
    /// whenever a branch is lent.
    pub fn set_watched(&self, is_watched: bool) {
        // Relaxed: what nobody sees is run by its owner.
        self.0.thieves.is_watched.store(is_watched, Ordering::Relaxed);
    }
}

impl Shared {
    fn steal(&self) -> Option<Task> {
        let Shared { thieves: Thieves { top, .. }, owner: Owner { bottom, .. }, entries } = self;
        // Acquire: pairs with the exchanges of other thieves, so that `bottom` is not older than `top`.
        let oldest = top.load(Ordering::Acquire);
        // SeqCst: see `pop`.
        fence(Ordering::SeqCst);
        // Acquire: pairs with the Release of `push` and `pop`, for the entry and what it points to.
        let end = bottom.load(Ordering::Acquire);
        if end.wrapping_sub(oldest) as isize <= 0 {
            return None;
        }
        // Relaxed: published with `bottom`. If the owner has put another entry there, the exchange fails.
        let header = entries[oldest % CAPACITY].load(Ordering::Relaxed);
        // SeqCst: with `pop`, for the last entry. Relaxed on failure: another one has it.
        let next = oldest.wrapping_add(1);
        top.compare_exchange(oldest, next, Ordering::SeqCst, Ordering::Relaxed).ok()?;
        // SAFETY: the exchange gave this entry to this thread alone, and its owner, who will find it gone, keeps the frame until it
        // is settled.
        let promote = unsafe { (*header).promote };
        // SAFETY: as above, so the content is this thread's; and the function is that of its type.
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
