//! The waiters of a primitive: first come, first served.
//!
//! The list is behind the lock of its primitive, and has no memory of its own: each [`Waiter`] is a part of the operation that waits,
//! which lies in the frames of its fiber. It joins with its seat and a request. To serve the oldest waiter, a thread unlinks it,
//! [commits](Seat::commit) its wait, and then stores the answer in the place of the request:
//!
//! | the oldest waiter | `commit` | then |
//! |---|---|---|
//! | is waiting | ends its wait: no cancellation can end it any more | it gets the answer |
//! | was cancelled, or its fiber abandoned | fails | it gets nothing; the next one is tried |
//!
//! The commit is one compare-and-swap in the waiter's cell, and it comes before the answer moves. So an answer is never
//! given to a waiter that will not take it.
//!
//! # Why no pointer dangles
//!
//! | the waiter | in the list | the node is accessed by |
//! |---|---|---|
//! | has not joined, or has left | no | no thread; it may be moved and dropped |
//! | has joined | yes | the thread that holds the lock |
//! | was unlinked: served, or its wait was over | no | the same thread, until it has committed the wait, or has stored the answer |
//!
//! The owner takes the lock to [leave](Waiter::leave), so no other thread uses the node afterwards; or it [sees](Waiter::take_answer) that the answer is
//! there, which is the last that the other thread does with the node. It leaves before it is moved or
//! dropped: the engine promises so by the [`Seat`], which is needed to join. A waiter that [was dismissed](Waiters::dismiss_if) is not
//! used after the commit, so its owner [need not take the lock](Waiter::is_dismissed).

#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::collections::BTreeSet;
use std::fmt;
use std::iter::successors;
use std::marker::{PhantomData, PhantomPinned};
use std::mem::{MaybeUninit, offset_of};
use std::process::abort;
use std::ptr::NonNull;

use crate::engine::context::{Committed, Cx, Seat};
use crate::footprint::is_listening;
use crate::primitive::{AtomicBool, Ordering};

/// The waiters, each with a `T`: first its request, then the answer.
pub(super) struct Waiters<T> {
    list: List,
    _nodes: PhantomData<T>,
}

/// The list, whose code is the same for all `T`.
struct List {
    oldest: Link,
    youngest: Link,
}

type Link = Option<NonNull<Front>>;

/// A place in the list, as a part of the operation that waits.
pub struct Waiter<T> {
    /// Whether it has joined, and not left. Only its owner uses this.
    has_joined: bool,
    /// Initialised while it has joined.
    node: UnsafeCell<MaybeUninit<Node<T>>>,
    // A reference to the operation does not claim to be the only one to the node.
    _stays: PhantomPinned,
}

#[repr(C)]
struct Node<T> {
    front: Front,
    request: T,
}

/// What the list knows of a node.
struct Front {
    older: Link,
    younger: Link,
    is_linked: bool,
    /// `None` after the waiter was served.
    seat: Option<Seat>,
    /// Whether the answer is in the place of the request.
    is_answered: AtomicBool,
}

/// The place of the request of a node, which is a `Node<T>`.
#[inline]
fn request<T>(node: NonNull<Front>) -> *mut T {
    node.as_ptr().wrapping_byte_add(offset_of!(Node<T>, request)).cast()
}

// SAFETY: the nodes are used only by a thread that has a reference to the list, or to the waiter, and a request is moved between the
// threads of the waiters and those that serve.
unsafe impl<T: Send> Send for Waiters<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Waiter<T> {}
// SAFETY: a shared reference to a waiter gives access to nothing but `has_joined`.
unsafe impl<T: Send> Sync for Waiter<T> {}

impl<T> Waiter<T> {
    pub(super) fn has_joined(&self) -> bool {
        self.has_joined
    }

    /// Joins the list as the youngest waiter.
    #[inline]
    pub(super) fn join(&mut self, waiters: &mut Waiters<T>, seat: Seat, request: T) {
        assert!(!self.has_joined, "a waiter joins once");
        self.has_joined = true;
        let is_answered = AtomicBool::new(false);
        let front = Front { older: None, younger: None, is_linked: true, seat: Some(seat), is_answered };
        let place = NonNull::from(self.node.get_mut().write(Node { front, request }));
        waiters.list.push(place.cast());
    }

    /// Leaves the list, if it has joined: the request, or the answer. `true` if it was served.
    #[inline]
    pub(super) fn leave(&mut self, waiters: &mut Waiters<T>) -> Option<(T, bool)> {
        if !self.has_joined {
            return None;
        }
        self.has_joined = false;
        let node = NonNull::from(self.node.get_mut()).cast::<Node<T>>();
        // SAFETY: the node is initialised, and the caller holds the lock.
        if unsafe { (*node.as_ptr()).front.is_linked } {
            waiters.list.unlink(node.cast());
        }
        // SAFETY: as above; it is not read again before it joins again.
        let Node { front, request } = unsafe { node.read() };
        Some((request, front.seat.is_none()))
    }

    /// The answer, if it is there. If so, the waiter has left, and need not take the lock.
    #[inline]
    pub(super) fn take_answer(&mut self) -> Option<T> {
        if !self.has_joined {
            return None;
        }
        let node = self.node.get_mut().as_mut_ptr();
        // SAFETY: the node is initialised.
        let is_answered = unsafe { &(*node).front.is_answered };
        // Acquire: pairs with the Release of `serve`, after which that thread does not use the node.
        if !is_answered.load(Ordering::Acquire) {
            return None;
        }
        self.has_joined = false;
        // SAFETY: as above.
        let request = unsafe { &raw mut (*node).request };
        // SAFETY: as above; the rest of the node needs no drop, because its seat was taken, and it is not read again.
        Some(unsafe { request.read() })
    }

    /// Whether the waiter has joined, and has to take the lock to leave. Otherwise it has left: its [answer](Waiter::take_answer) is there. While
    /// an explorer listens, it has to, so that the explorer knows of the look at the list.
    #[inline]
    pub(super) fn needs_lock(&mut self) -> bool {
        self.has_joined && (is_listening() || self.take_answer().is_none())
    }

    /// For a waiter whose wait has ended, and that is only ever [dismissed](Waiters::dismiss_if): whether it was. If so, it has left.
    #[inline]
    pub(super) fn is_dismissed(&mut self) -> bool
    where
        T: Copy,
    {
        // Nothing is left in the node: its seat was taken, and a request that is `Copy` needs no drop.
        std::mem::take(&mut self.has_joined)
    }
}

impl<T> Default for Waiter<T> {
    #[inline]
    fn default() -> Self {
        Waiter { has_joined: false, node: UnsafeCell::new(MaybeUninit::uninit()), _stays: PhantomPinned }
    }
}

impl<T> Drop for Waiter<T> {
    #[inline]
    fn drop(&mut self) {
        if self.has_joined {
            // The list would contain a dangling pointer.
            abort();
        }
    }
}

impl<T> fmt::Debug for Waiter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.has_joined { "in the queue" } else { "not in the queue" })
    }
}

impl List {
    /// Adds the youngest waiter.
    #[inline]
    fn push(&mut self, node: NonNull<Front>) {
        match self.youngest {
            Some(older) => {
                // SAFETY: both are in the list, and the caller holds the lock.
                unsafe { (*older.as_ptr()).younger = Some(node) };
                // SAFETY: as above.
                unsafe { (*node.as_ptr()).older = Some(older) };
            }
            None => self.oldest = Some(node),
        }
        self.youngest = Some(node);
    }

    /// Unlinks a waiter, and ends its wait. `None` if that is over.
    // Not inlined, so that there is one copy of this code.
    #[inline(never)]
    fn commit(&mut self, node: NonNull<Front>) -> Option<Committed> {
        self.unlink(node);
        // SAFETY: it was in the list.
        let seat = unsafe { (*node.as_ptr()).seat.take() }?;
        match seat.commit() {
            Ok(committed) => Some(committed),
            Err(late) => {
                // SAFETY: the wait was not ended here, so the owner takes the lock to leave.
                unsafe { (*node.as_ptr()).seat = Some(late) };
                None
            }
        }
    }

    #[inline]
    fn unlink(&mut self, node: NonNull<Front>) {
        // SAFETY: this node and its neighbours are in the list.
        let Front { older, younger, .. } = unsafe { node.as_ref() };
        let (older, younger) = (*older, *younger);
        match older {
            // SAFETY: as above.
            Some(older) => unsafe { (*older.as_ptr()).younger = younger },
            None => self.oldest = younger,
        }
        match younger {
            // SAFETY: as above.
            Some(younger) => unsafe { (*younger.as_ptr()).older = older },
            None => self.youngest = older,
        }
        // SAFETY: as above.
        unsafe { (*node.as_ptr()).is_linked = false };
    }
}

impl<T> Waiters<T> {
    pub(super) const fn new() -> Self {
        Waiters { list: List { oldest: None, youngest: None }, _nodes: PhantomData }
    }

    /// Whether nobody waits. Served waiters do not count.
    pub(super) fn is_empty(&self) -> bool {
        self.list.oldest.is_none()
    }

    /// The waiters that an operation of `seat` can serve: not its own fiber, and not another side of its race, unless one is a program.
    pub(super) fn others(&self, seat: &Seat) -> impl Iterator<Item = &Seat> {
        self.seats().filter(move |other| !other.is_beside(seat))
    }

    /// How many of them it can serve together: one side of each race, and of its own race the programs. Without a `seat`, of all.
    pub(super) fn together(&self, seat: Option<&Seat>) -> usize {
        let (is_any_raced, mut older) = (self.seats().any(Seat::is_raced), BTreeSet::new());
        let own: Vec<_> = seat.filter(|_| is_any_raced).into_iter().flat_map(Seat::race_keys).collect();
        let is_served = |other: &&Seat| {
            // Of the sides of a race in one fiber, all but the first one are raced. They join after it.
            let is_first = !other.is_raced()
                || other.race_keys().any(|key| own.contains(&key))
                || other.race_keys().all(|key| !older.contains(&key));
            if is_any_raced {
                older.extend(other.race_keys());
            }
            is_first && seat.is_none_or(|seat| !other.is_beside(seat))
        };
        self.seats().filter(is_served).count()
    }

    /// The seats of the waiters, the oldest first.
    fn seats(&self) -> impl Iterator<Item = &Seat> {
        // SAFETY: the nodes of the list are initialised, and the list is borrowed, so they stay.
        let nodes = successors(self.list.oldest, |node| unsafe { node.as_ref() }.younger);
        // SAFETY: as above.
        nodes.filter_map(|node| unsafe { node.as_ref() }.seat.as_ref())
    }

    /// Serves the oldest waiter whose wait is not over. `answer` stores the answer.
    #[inline]
    pub(super) fn serve(&mut self, answer: impl FnOnce(&mut T)) -> Option<Committed> {
        while let Some(node) = self.list.oldest {
            if let Some(committed) = self.list.commit(node) {
                // SAFETY: the wait of this node was committed here.
                unsafe { Self::answer(node, answer) };
                return Some(committed);
            }
        }
        None
    }

    /// Stores the answer in a node, and does not use the node afterwards.
    ///
    /// # Safety
    /// The caller has unlinked the node and committed its wait, and still holds the lock.
    #[inline]
    unsafe fn answer(node: NonNull<Front>, answer: impl FnOnce(&mut T)) {
        // SAFETY: the owner takes the lock to leave, unless it sees the answer, so the node is still there.
        answer(unsafe { &mut *request(node) });
        // SAFETY: as above.
        let is_answered = unsafe { &(*node.as_ptr()).is_answered };
        // Release: publishes the answer to the Acquire of `take_answer`.
        is_answered.store(true, Ordering::Release);
    }

    /// Wakes the oldest waiter whose wait is not over, if its request `fits`. Gives the request. The wake-up alone is the answer.
    pub(super) fn dismiss_if(&mut self, fits: impl Fn(T) -> bool) -> Option<(Committed, T)>
    where
        T: Copy,
    {
        loop {
            let node = self.list.oldest?;
            // SAFETY: it is in the list.
            let request = unsafe { *request(node) };
            if !fits(request) {
                return None;
            }
            if let Some(committed) = self.list.commit(node) {
                return Some((committed, request));
            }
        }
    }

    /// Serves all waiters, and adds their wake-ups.
    pub(super) fn serve_all(&mut self, mut answer: impl FnMut(&mut T), wakes: &mut Wakes) {
        while let Some(committed) = self.serve(&mut answer) {
            wakes.push(committed);
        }
    }

    /// Ends the waits of all waiters, and adds their wake-ups. `answer` gets the number of those whose wait was not over, and whether
    /// it was; this gives that number.
    pub(super) fn serve_together(&mut self, wakes: &mut Wakes, answer: impl Fn(usize, bool) -> T) -> usize {
        let (mut all, mut served) = (Vec::new(), 0);
        while let Some(node) = self.list.oldest {
            let committed = self.list.commit(node);
            all.push((node, committed.is_some()));
            served += usize::from(committed.is_some());
            committed.into_iter().for_each(|committed| wakes.push(committed));
        }
        for (node, is_served) in all {
            // SAFETY: the owner takes the lock to leave, so the node is still there.
            unsafe { *request(node) = answer(served, is_served) };
        }
        served
    }

    /// Serves all waiters by an event that takes nothing and is not seen again: a waiter whose race is held by another side finds the
    /// answer in its node when it looks again.
    pub(super) fn tell_all(&mut self, mut answer: impl FnMut(&mut T), wakes: &mut Wakes) {
        while let Some(node) = self.list.oldest {
            if let Some(committed) = self.list.commit(node) {
                // SAFETY: the wait of this node was committed here.
                unsafe { Self::answer(node, &mut answer) };
                wakes.push(committed);
                continue;
            }
            // SAFETY: the wait was not ended here, so the owner takes the lock to leave.
            if unsafe { node.as_ref() }.seat.as_ref().is_some_and(Seat::is_missed) {
                // SAFETY: as above.
                answer(unsafe { &mut *request(node) });
            }
        }
    }
}

/// Waiters that were served under a lock, and are woken without it. A single one needs no allocation.
#[must_use = "the fibers would wait for ever"]
#[derive(Debug, Default)]
pub(super) struct Wakes {
    first: Option<Committed>,
    others: Vec<Committed>,
}

/// The number of waiters, besides the first one, for which room is made at once.
const OTHERS: usize = 15;

impl Wakes {
    pub(super) fn push(&mut self, committed: Committed) {
        if self.first.is_none() {
            self.first = Some(committed);
            return;
        }
        if self.others.is_empty() {
            self.others.reserve(OTHERS);
        }
        self.others.push(committed);
    }

    /// Releases the lock under which they were served, then schedules their fibers in the same order.
    pub(super) fn wake_after<L>(self, lock: L) {
        self.wake_after_in(None, lock);
    }

    /// The same in the turn of a fiber, if there is one.
    pub(super) fn wake_after_in<L>(self, cx: Option<&Cx<'_>>, lock: L) {
        let Wakes { first, others } = self;
        wake_after(first, lock, cx);
        if !others.is_empty() {
            others.into_iter().for_each(|committed| wake_after(Some(committed), (), cx));
        }
    }
}

/// Releases the lock under which a waiter was served, then schedules its fiber.
#[inline]
pub(super) fn wake_after<L>(served: Option<Committed>, lock: L, cx: Option<&Cx<'_>>) {
    drop(lock);
    match (served, cx) {
        (Some(committed), Some(cx)) => committed.wake_in(cx),
        (Some(committed), None) => committed.wake(),
        (None, _) => {}
    }
}

impl From<Option<Committed>> for Wakes {
    fn from(first: Option<Committed>) -> Self {
        Wakes { first, others: Vec::new() }
    }
}

// Loom's atomics exist in models only.
#[cfg(all(test, not(fiber_loom)))]
mod tests {
    use std::task::Waker;

    use super::*;

    fn seat() -> Seat {
        // SAFETY: the waiters of these tests stay where they are.
        unsafe { Seat::of_waker(Waker::noop().clone()) }
    }

    #[test]
    fn an_owner_that_was_dismissed_may_join_again() {
        let mut list = Waiters::new();
        let mut waiters = [Waiter::default(), Waiter::default()];
        waiters[0].join(&mut list, seat(), 1);
        let (committed, request) = list.dismiss_if(|_| true).expect("one waits");
        committed.wake();
        assert_eq!(request, 1);
        waiters[1].join(&mut list, seat(), 2);
        assert!(waiters[0].is_dismissed() && !waiters[0].has_joined());
        waiters[0].join(&mut list, seat(), 3);
        assert_eq!(waiters[1].leave(&mut list), Some((2, false)));
        assert_eq!(waiters[0].leave(&mut list), Some((3, false)));
        assert!(list.is_empty());
    }

    #[test]
    fn an_owner_that_was_served_finds_the_answer() {
        let mut list = Waiters::new();
        let mut waiters = [Waiter::default(), Waiter::default(), Waiter::default()];
        waiters.iter_mut().for_each(|waiter| waiter.join(&mut list, seat(), "?"));
        list.serve(|answer| *answer = "!").expect("three wait").wake();
        assert_eq!(waiters[0].leave(&mut list), Some(("!", true)));
        assert_eq!(waiters[0].leave(&mut list), None);
        assert_eq!(waiters[1].leave(&mut list), Some(("?", false)), "from the front");
        assert_eq!(waiters[2].leave(&mut list), Some(("?", false)));
        assert!(list.is_empty());
    }

    #[test]
    fn waiters_leave_from_every_place() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut list = Waiters::new();
            let mut waiters = [Waiter::default(), Waiter::default(), Waiter::default()];
            for (number, waiter) in waiters.iter_mut().enumerate() {
                waiter.join(&mut list, seat(), number);
            }
            let [first, second, third] = order;
            assert_eq!(waiters[first].leave(&mut list), Some((first, false)));
            assert_eq!(waiters[second].leave(&mut list), Some((second, false)));
            list.serve(|_| {}).expect("one waits").wake();
            assert_eq!(waiters[third].leave(&mut list), Some((third, true)));
            assert!(list.is_empty());
        }
    }
}
