//! The tree: a node has a state, a parking slot, a parent and children.
//!
//! `tally` counts, in its lower half, the children that have not ended, plus one for the node's own work. Whichever side
//! drops this count to zero finishes the node: the node's own work if no children are left, otherwise the last child. The
//! upper half counts all children that were ever made. It numbers them, and may wrap.
//!
//! | lower half of `tally` | left by | to |
//! |---|---|---|
//! | n > 0 | a new child, `hold` | n + 1 |
//! | n > 1 | the end of a child, the end of the work, `release` | n - 1 |
//! | 1 | the same | 0 |
//! | 1 | `finish_alone` | 0 and `FINISHED` |
//! | any | the first walk through the children | the same and `WALKED` |
//!
//! A child that is made although `hold` has failed is counted, and cancelled by the one that makes it. So that it does not let
//! `hold` succeed, the end of the node leaves a mark: `FINISHED`, or if the count reached 0 otherwise, `ENDED` in the state word.
#![allow(unsafe_code)]

use std::borrow::Borrow;
use std::{fmt, ptr};

use super::children::{Children, Place, Walk};
use super::parking::{EventKey, Parking, Signal};
use super::reference::{Links, Ref, Seed, Vtable};
use super::word::{Phase, Word};
use crate::primitive::{AtomicU32, AtomicU64, Ordering, between_seq_cst};

/// The owner of a node.
pub(crate) trait Owner: Send + Sync + Sized + 'static {
    /// A reference to a node, as its owner stores it.
    type Fiber: Borrow<Ref<Self>> + From<Ref<Self>> + Into<Ref<Self>> + Clone + Send + Sync;
    /// The waiter in the parking slot.
    type Waiter: Send;
    /// The operations of a node's body.
    type Behavior: Sync + 'static;
    /// The data that a whole tree shares.
    type Root: Send + Sync + 'static;

    /// The behavior of a node without a body.
    const IDLE: &'static Self::Behavior;

    /// Resumes a waiter that was taken out of the slot of `node`.
    fn wake(node: &Ref<Self>, waiter: Self::Waiter, signal: Signal);

    /// Called when the node was cancelled before its description was claimed. It may end the node.
    fn cancelled(node: &Ref<Self>) {
        let _ = node;
    }

    /// Called when the node was cancelled after that, before its waiter is woken.
    fn interrupted(node: &Ref<Self>) {
        let _ = node;
    }

    /// Called when a cancellation reaches the node.
    fn touched(node: &Ref<Self>) {
        let _ = node;
    }

    /// Called when the last child has ended after the node's own work. `true`: the node has ended too.
    fn childless(node: &Ref<Self>) -> bool;
}

pub(crate) struct Node<O: Owner> {
    /// The number of references.
    pub(super) refs: AtomicU32,
    tally: AtomicU64,
    pub(super) vtable: &'static Vtable<O>,
    pub(super) links: Links<O>,
    /// The slot of the node in its parent. 0 if there is no parent. Written before the node is in its slot, and when it ends.
    place: AtomicU32,
    parking: Parking<O::Waiter>,
    children: Children<O>,
    owner: O,
}

/// How far a fiber has run at one moment.
pub(crate) struct Progress {
    pub(crate) has_ended: bool,
    /// Not started.
    pub(crate) is_offered: bool,
    pub(crate) is_cancelled: bool,
    pub(crate) is_waiting: bool,
    /// The number of waits it has begun.
    pub(crate) waits: u64,
}

/// In the tally: one child that has not ended, or the node's own work.
const PENDING: u64 = 1;
/// In the tally: one child, added.
const MADE: u64 = 1 << 32;

/// In the tally: the node's own work has ended when no child was left, and none will be added.
const FINISHED: u64 = 1 << 31;

/// In the tally: a thread has walked through the children, or is about to. Never cleared.
const WALKED: u64 = 1 << 30;

/// The number of pending children and own work in a tally.
fn pending(tally: u64) -> u32 {
    (tally & (WALKED - 1)) as u32
}

fn is_finished(tally: u64) -> bool {
    tally & FINISHED != 0
}

/// The right to offer the description of one node, once. Holds the address of the node.
#[must_use = "a fiber that is not offered never starts"]
pub(crate) struct Offer(usize);

impl<O: Owner> Node<O> {
    #[inline]
    pub(super) fn new(
        vtable: &'static Vtable<O>,
        references: u32,
        links: Links<O>,
        flags: u64,
        owner: O,
    ) -> Self {
        Node {
            refs: AtomicU32::new(references),
            tally: AtomicU64::new(PENDING),
            vtable,
            links,
            place: AtomicU32::new(0),
            parking: Parking::new(flags),
            children: Children::new(),
            owner,
        }
    }

    /// Makes a child of `parent`, which is cancelled at once if the parent is. The parent awaits a `shielded` child, but a
    /// cancellation of the parent does not reach it. `owner` receives the number of the child.
    ///
    /// The caller runs on behalf of the parent, or of a live child of it.
    #[inline]
    pub(crate) fn child(
        parent: &Ref<O>,
        shielded: bool,
        owner: impl FnOnce(u32) -> O,
        seed: Seed<O>,
    ) -> Ref<O> {
        let number = Node::reserve(parent);
        Node::linked(parent, shielded, owner(number), seed)
    }

    /// Takes the number of a child that may be made later, by [`child_numbered`](Node::child_numbered).
    pub(crate) fn take_number(&self) -> u32 {
        // Relaxed: as in `reserve`.
        (self.tally.fetch_add(MADE, Ordering::Relaxed) >> 32) as u32
    }

    /// Like [`child`](Node::child), for one whose number was taken before.
    pub(crate) fn child_numbered(parent: &Ref<O>, shielded: bool, owner: O, seed: Seed<O>) -> Ref<O> {
        // Relaxed: as in `reserve`.
        parent.tally.fetch_add(PENDING, Ordering::Relaxed);
        Node::linked(parent, shielded, owner, seed)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn linked(parent: &Ref<O>, shielded: bool, owner: O, seed: Seed<O>) -> Ref<O> {
        let [child] = seed.below(parent, None, owner);
        Node::link(&child, shielded);
        child
    }

    /// Makes a child with a description, and two references to it. The caller [links](Node::link_fiber) it, before it publishes,
    /// cancels or ends it. `nested`: what the child and the nodes below it share, instead of what the tree around them shares.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn fiber(
        parent: &Ref<O>,
        nested: Option<O::Root>,
        owner: impl FnOnce(u32) -> O,
        mut seed: Seed<O>,
        is_held_back: bool,
    ) -> [O::Fiber; 2] {
        let number = Node::reserve(parent);
        if is_held_back {
            seed.hold_back();
        }
        let [first, second] = seed.below(parent, nested, owner(number));
        [first.into(), second.into()]
    }

    /// Shows a child to other threads, which may claim its description from now on; or, if it was held back, once it has been
    /// [offered](Node::offer).
    #[inline]
    pub(crate) fn link_fiber(child: &Ref<O>, is_held_back: bool) -> Option<Offer> {
        Node::link(child, false);
        is_held_back.then(|| Offer(ptr::from_ref::<Node<O>>(child).addr()))
    }

    /// Counts a child that is about to be made. Returns its number among all children of the parent.
    #[inline]
    fn reserve(parent: &Ref<O>) -> u32 {
        // Relaxed: the lower half cannot reach zero meanwhile, because it includes the caller; the Release of the
        // caller's own decrement publishes this increment. The number only has to be unique.
        let before = parent.tally.fetch_add(MADE + PENDING, Ordering::Relaxed);
        (before >> 32) as u32
    }

    /// Stores a new child in its slot, where other threads find it.
    #[inline]
    fn link(child: &Ref<O>, shielded: bool) {
        let Some(parent) = child.parent() else { return };
        parent.children.add(child, |place| {
            let place = if shielded { place.shielded() } else { place };
            // Relaxed: the slot publishes it.
            child.place.store(place.to_number(), Ordering::Relaxed);
        });
        if !shielded && parent.parking.load_seq_cst().is_over() {
            Node::cancel(child, 0);
        }
    }

    #[inline]
    pub(crate) fn owner(&self) -> &O {
        &self.owner
    }

    #[inline]
    pub(crate) fn parent(&self) -> Option<&Ref<O>> {
        self.above().map(Borrow::borrow)
    }

    /// The parent, as the owner stores it.
    #[inline]
    pub(crate) fn above(&self) -> Option<&O::Fiber> {
        self.links.parent.as_ref()
    }

    pub(super) fn children(&self) -> &Children<O> {
        &self.children
    }

    /// Whether a cancellation of the parent does not reach the node.
    pub(crate) fn is_shielded(&self) -> bool {
        self.place().is_some_and(Place::is_shielded)
    }

    /// Whether the node is in the slot of its parent.
    pub(super) fn is_linked(&self) -> bool {
        // Relaxed: the thread that has ended the node has dropped its reference since.
        Place::from_number(self.place.load(Ordering::Relaxed)).is_some_and(|place| !place.has_left())
    }

    fn place(&self) -> Option<Place> {
        // Acquire: pairs with the Release of `end_alone`, for `progress`. The place itself was published by the slot.
        Place::from_number(self.place.load(Ordering::Acquire))
    }

    /// How far the fiber has run, for reports.
    pub(crate) fn progress(&self) -> Progress {
        let word = self.parking.load_acquire();
        let is_waiting = word.phase() != Phase::Idle;
        Progress {
            has_ended: word.has(Word::ENDED) || self.place().is_some_and(Place::has_left),
            is_offered: !word.is_claimed(),
            is_cancelled: word.is_cancelled(),
            is_waiting,
            waits: word.generation() + u64::from(is_waiting),
        }
    }

    /// Whether the node was cancelled: one load. A caller that sees the flag also sees everything the canceller did before.
    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.parking.load_acquire().is_cancelled()
    }

    /// Allows the description to be claimed. `true` if the node was cancelled before, so that the canceller did not take
    /// the description.
    #[must_use]
    pub(crate) fn offer(&self, offer: Offer) -> bool {
        assert!(offer.0 == ptr::from_ref(self).addr(), "an offer belongs to the node that it was made with");
        self.parking.set(Word::OFFERED).is_cancelled()
    }

    /// Whether the description cannot be claimed (any more).
    #[inline]
    pub(crate) fn is_claimed(&self) -> bool {
        self.parking.load_acquire().is_claimed()
    }

    /// Claims the description. `true` for the first caller only, which then owns the description.
    pub(super) fn claim(&self) -> bool {
        !self.is_claimed() && !self.parking.clear(Word::OFFERED).is_claimed()
    }

    /// Whether a timeout cancelled the node, first or at the same time as another canceller.
    pub(crate) fn is_timed_out(&self) -> bool {
        self.parking.load_acquire().has(Word::TIMED_OUT)
    }

    /// How many children have not ended. Exact only if no child is added or ends at the same time.
    pub(crate) fn live_children(&self) -> usize {
        // Acquire: pairs with the decrement of a child that ended, so that what the child did is visible.
        pending(self.tally.load(Ordering::Acquire)).saturating_sub(1) as usize
    }

    /// The number of children's slots that are neither free nor unused.
    #[cfg(all(test, fiber_loom))]
    pub(super) fn slots_in_use(&self) -> usize {
        self.children.slots_in_use()
    }
    pub(crate) fn end_wait(&self) {
        self.parking.end_wait();
    }

    /// The slot. As soon as a call has changed its word, another thread may end the fiber and free the node. So such calls borrow the
    /// slot, all of whose bytes are in cells, and not the node.
    #[inline]
    pub(crate) fn parking(&self) -> &Parking<O::Waiter> {
        &self.parking
    }

    /// Ends the limit without a node in which the fiber is. Gives the waiter if the caller has to wake it.
    pub(crate) fn end_limit(&self) -> Option<O::Waiter> {
        self.parking.end_limit()
    }

    /// Forgets the end of a limit without a node, which was left.
    pub(crate) fn forget_limit(&self) {
        self.parking.clear(Word::LIMIT_OVER);
    }

    /// Whether the wait of this event goes on, or has ended because an event has missed a race. A snapshot: the event of another side of
    /// a race may end it.
    pub(crate) fn waits_in(&self, event: EventKey) -> bool {
        self.parking.load_acquire().waits_in(event.generation())
    }

    /// The number of the event that ended the last wait of the fiber. Called by the fiber itself, after the wait.
    pub(crate) fn last_event(&self) -> u64 {
        self.parking.load_acquire().index()
    }

    /// Whether the event of the last wait of the fiber has missed a race. Called by the fiber itself, after the wait.
    pub(crate) fn was_missed(&self) -> bool {
        self.parking.load_acquire().has(Word::MISSED)
    }

    /// Takes the waiter out of the slot, whether it is shielded or not.
    pub(crate) fn take_parked(&self) -> Option<O::Waiter> {
        self.parking.take_if(Word::is_parked)
    }

    /// Fires the current wait.
    pub(crate) fn fire_current(&self) -> Option<O::Waiter> {
        self.parking.fire(EventKey::first_of(self.parking.load_acquire().generation())).waiter()
    }

    /// Keeps a node from ending while code outside the tree adds a child. `false` if the node has already ended.
    ///
    /// [`Node::release`] ends the hold.
    #[must_use]
    pub(crate) fn hold(&self) -> bool {
        // Relaxed to load and on failure: the value is only used to retry. Relaxed on success: as in `reserve`, only
        // the count being nonzero matters, and the Release of the decrement publishes what follows.
        let mut tally = self.tally.load(Ordering::Relaxed);
        while pending(tally) > 0 && !is_finished(tally) {
            match self.tally.compare_exchange_weak(
                tally,
                tally + PENDING,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(seen) => tally = seen,
            }
        }
        false
    }

    /// Ends the node's own work if no child is left. `false` if children are left; then nothing has changed.
    #[must_use]
    #[inline]
    pub(crate) fn finish_alone(&self) -> bool {
        // Relaxed: the compare-and-swap decides.
        let tally = self.tally.load(Ordering::Relaxed);
        // Acquire: pairs with the Release in the children's `leave`, so that their writes are visible. Relaxed on
        // failure: a child was added from outside meanwhile. Release is not needed: a thread that sees zero only gives
        // up.
        pending(tally) == 1
            && self
                .tally
                .compare_exchange(tally, (tally - PENDING) | FINISHED, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// The node's own work has ended, or a child. `true` if nothing is pending; otherwise [`Owner::childless`] will be called.
    #[must_use]
    pub(crate) fn finish_work(&self) -> bool {
        // AcqRel: Release publishes the writes of this child or work; Acquire lets the last one see those of all others.
        pending(self.tally.fetch_sub(PENDING, Ordering::AcqRel)) == 1
    }
}

impl<O: Owner> Node<O> {
    /// Begins a wait of the fiber. Returns its first event.
    #[inline]
    pub(crate) fn begin_wait(&self) -> EventKey {
        EventKey::first_of(self.parking.begin_wait().generation())
    }

    /// Takes the right to the buffer of a node without a description; `false` if it was taken before, or there is none.
    pub(super) fn take_room(&self) -> bool {
        self.parking.load_acquire().has(Word::ROOM) && self.parking.clear(Word::ROOM).has(Word::ROOM)
    }

    /// Marks the node as ended and removes it from the tree. Its own work and all its children have ended.
    pub(crate) fn end(node: &Ref<O>) {
        let mut node = node;
        // A token whose own work ended earlier ends with its last child; this may continue up the tree.
        while let Some(parent) = Node::end_alone(node) {
            if !O::childless(parent) {
                return;
            }
            node = parent;
        }
    }

    /// Undoes `hold`.
    pub(crate) fn release(node: &Ref<O>) {
        if node.finish_work() && O::childless(node) {
            Node::end(node);
        }
    }

    /// Ends this node only. Returns the parent if nothing is pending there.
    fn end_alone(node: &Ref<O>) -> Option<&Ref<O>> {
        // Relaxed: the node's own thread has set it.
        if !is_finished(node.tally.load(Ordering::Relaxed)) {
            node.parking.set(Word::ENDED);
            // An abandoned fiber leaves children, and code outside may add one at the last moment. Acquire: pairs with the
            // `leave` of the last child, or of the node's own work.
            if pending(node.tally.load(Ordering::Acquire)) > 0 {
                Node::cancel_below(Walk::enter(node.clone()));
            }
        }
        let (parent, place) = (node.parent()?, node.place()?);
        // Release: publishes what the fiber did to `progress`. A plain store, because only the end of the node changes it.
        node.place.store(place.left().to_number(), Ordering::Release);
        let slot = parent.children.leave_slot(place);
        // AcqRel: as in `finish_work`. It also decides whether a walker may use this child: a walk that `WALKED` does not announce
        // here sees, by its own change of the tally, that the child has left.
        let before = parent.tally.fetch_sub(PENDING, Ordering::AcqRel);
        if before & WALKED == 0 {
            parent.children.free(slot);
        } else {
            parent.children.free_after_walks(slot, node);
        }
        (pending(before) == 1).then_some(parent)
    }

    /// A walk through the children begins: those that end from now on look for it.
    pub(super) fn announce_walk(&self) {
        // Acquire, and AcqRel below: pairs with the Release of each child that has ended before, whose slot the walk finds empty.
        // Each change of the tally is a read-modify-write, so the first walk, and what it has seen, is seen here.
        if self.tally.load(Ordering::Acquire) & WALKED == 0 {
            self.tally.fetch_or(WALKED, Ordering::AcqRel);
        }
    }

    /// The live children, shielded ones too, in no order. Children that begin or end meanwhile may be missing.
    pub(crate) fn live(node: &Ref<O>) -> Vec<Ref<O>> {
        let mut found = Vec::new();
        if !node.children.has_none() {
            Walk::enter(node.clone()).for_each(|child| found.push(child.clone()));
        }
        found
    }

    /// Cancels this node and everything below it, parents before their children. When it returns, all of them are
    /// cancelled, by this call or by a concurrent one. Idempotent.
    pub(crate) fn cancel(node: &Ref<O>, cause: u64) {
        if Node::cancel_alone(node, cause) {
            Node::cancel_below(Walk::enter(node.clone()));
        }
    }

    pub(crate) fn time_out(node: &Ref<O>) {
        Node::cancel(node, Word::TIMED_OUT);
    }

    /// The same for a node that is made after its timeout: a later cancellation may have reached the node first.
    pub(crate) fn time_out_before(node: &Ref<O>) {
        Node::time_out(node);
        node.parking.set(Word::TIMED_OUT);
    }

    /// A loop, because a tree may be a million levels deep. The walks on the current path are kept on the heap.
    fn cancel_below(walk: Walk<O>) {
        let mut steps = Vec::new();
        let mut walk = walk;
        let mut below = Vec::new();
        loop {
            walk.for_each(|child| {
                if !child.is_shielded() && Node::cancel_alone(child, 0) {
                    below.push(child.clone());
                }
            });
            if below.is_empty() {
                walk.node().parking.set(Word::CLOSED);
            } else {
                // `CLOSED` is set when everything below is cancelled. Until then the walk stays open, so that no reference
                // is dropped.
                steps.push(Step::Close(walk));
                steps.extend(below.drain(..).rev().map(Step::Descend));
            }
            walk = loop {
                match steps.pop() {
                    Some(Step::Descend(node)) => break Walk::enter(node),
                    Some(Step::Close(walk)) => drop(walk.node().parking.set(Word::CLOSED)),
                    None => return,
                }
            };
        }
    }

    /// Cancels this node only. `true`: the children have to be cancelled too.
    fn cancel_alone(node: &Ref<O>, cause: u64) -> bool {
        O::touched(node);
        let before = node.parking.load_acquire();
        if before.is_cancelled() && before.has(Word::CLOSED) {
            return false;
        }
        if !before.is_cancelled() {
            let before = node.parking.set(Word::CANCELLED | cause);
            if before.is_cancelled() {
                // Another thread is about to wake the fiber, or to take its description back.
            } else if !before.is_claimed() {
                O::cancelled(node);
            } else {
                O::interrupted(node);
                if let Some(waiter) = node.parking.interrupt() {
                    O::wake(node, waiter, Signal::Cancelled);
                }
            }
        }
        between_seq_cst();
        !node.children.has_none()
    }
}

/// The remaining steps of a walk through a tree; the last is taken first.
enum Step<O: Owner> {
    Descend(Ref<O>),
    Close(Walk<O>),
}

impl<O: Owner> fmt::Debug for Node<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, {} children", self.parking, self.live_children())
    }
}
