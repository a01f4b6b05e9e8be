//! The tree: a node has a state, a parking slot, a parent and children.
//!
//! `pending` counts the children that have not ended, and one for the node's own work. Who brings it to zero goes
//! on: the node's work when it finds no children left, otherwise the last child.

use super::children::{Chain, Children, Link};
use super::parking::{Parking, Signal, Unparked};
use super::word::Word;
use crate::primitive::{self, Arc, AtomicUsize, Ordering};

/// What a node belongs to.
pub(crate) trait Owner: Send + Sync + Sized + 'static {
    /// What waits in the parking slot.
    type Waiter: Send;

    /// Resumes a waiter that was taken out of the slot of `node`.
    fn wake(node: &Arc<Node<Self>>, waiter: Self::Waiter, signal: Signal);

    /// The node was cancelled while nothing lay in its slot that could be woken: its fiber runs, has ended, or was not
    /// started yet. Called once. It may end the node.
    fn cancelled(node: &Arc<Node<Self>>) {
        let _ = node;
    }

    /// The last child has ended, after the node's own work was over. `true`: so has the node.
    fn childless(node: &Arc<Node<Self>>) -> bool;
}

pub(crate) struct Node<O: Owner> {
    parking: Parking<O::Waiter>,
    children: Children<O>,
    link: Link<O>,
    pending: AtomicUsize,
    parent: Option<Arc<Node<O>>>,
    /// Whether the node is in its parent's list, so that a cancellation of the parent reaches it.
    is_linked: bool,
    owner: O,
}

impl<O: Owner> Node<O> {
    pub(crate) fn root(owner: O) -> Arc<Self> {
        Arc::new(Self::new(None, false, owner))
    }

    /// A child of `parent`; cancelled already if the parent is. A `shielded` child is awaited by the parent but
    /// not cancelled with it.
    ///
    /// The caller runs on behalf of the parent, or of a live child of it.
    pub(crate) fn child(parent: &Arc<Self>, shielded: bool, owner: O) -> Arc<Self> {
        // Relaxed: the count cannot reach zero meanwhile, because the caller itself is part of it; the Release
        // of the caller's own decrement publishes this increment.
        parent.pending.fetch_add(1, Ordering::Relaxed);
        let child = Arc::new(Self::new(Some(parent.clone()), !shielded, owner));
        if !shielded && !parent.children.push(child.clone()) {
            Node::cancel(&child, 0);
        }
        child
    }

    fn new(parent: Option<Arc<Self>>, is_linked: bool, owner: O) -> Self {
        Node {
            parking: Parking::new(),
            children: Children::new(),
            link: Link::new(),
            pending: AtomicUsize::new(1),
            parent,
            is_linked,
            owner,
        }
    }

    pub(crate) fn owner(&self) -> &O {
        &self.owner
    }

    pub(crate) fn parent(&self) -> Option<&Arc<Self>> {
        self.parent.as_ref()
    }

    pub(super) fn link(&self) -> &Link<O> {
        &self.link
    }

    /// One load.
    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.parking.load().is_cancelled()
    }

    /// Like `is_cancelled`, for the maker of what [`Owner::cancelled`] looks for: if this is `false`, then the one who cancels
    /// the node later sees everything that was done before this call.
    pub(crate) fn is_cancelled_before(&self) -> bool {
        // A read-modify-write, as that of the canceller is (AcqRel, both): one of the two comes first, and the other sees it.
        self.parking.set(0).is_cancelled()
    }

    /// Whether a timeout cancelled the node, first or at the same time as somebody else.
    pub(crate) fn is_timed_out(&self) -> bool {
        self.parking.load().is_timed_out()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.parking.load_acquire().is_ended()
    }

    /// How many children have not ended. Exact only when nobody adds or ends one at the same time.
    pub(crate) fn live_children(&self) -> usize {
        // Acquire: pairs with the decrement of a child that ended, so that what the child did is visible.
        self.pending.load(Ordering::Acquire).saturating_sub(1)
    }

    pub(crate) fn begin_wait(&self) -> u64 {
        self.parking.begin_wait()
    }

    pub(crate) fn end_wait(&self) {
        self.parking.end_wait();
    }

    pub(crate) fn park(&self, waiter: O::Waiter, shielded: bool) -> Result<(), Unparked<O::Waiter>> {
        self.parking.park(waiter, shielded)
    }

    pub(crate) fn fire(&self, generation: u64) -> Option<O::Waiter> {
        self.parking.fire(generation)
    }

    pub(crate) fn abandon(&self, generation: u64) -> Option<O::Waiter> {
        self.parking.abandon(generation)
    }

    /// Takes the waiter out of the slot, shielded or not.
    pub(crate) fn take_parked(&self) -> Option<O::Waiter> {
        self.parking.take_if(Word::is_parked)
    }

    /// Fires whatever wait is going on.
    pub(crate) fn fire_current(&self) -> Option<O::Waiter> {
        self.parking.fire(self.parking.load_acquire().generation())
    }

    /// Keeps a node from ending while somebody from outside adds a child. `false`: it has ended already.
    ///
    /// Ends with [`Node::release`].
    #[must_use]
    pub(crate) fn hold(&self) -> bool {
        // Relaxed to look and on failure: the value is only used to try again. Relaxed on success: as in `child`, what
        // counts is that the count is not zero, and the Release of the decrement publishes what follows.
        let mut pending = self.pending.load(Ordering::Relaxed);
        while pending > 0 {
            match self.pending.compare_exchange_weak(
                pending,
                pending + 1,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(seen) => pending = seen,
            }
        }
        false
    }

    /// The node's own work is over, if no child is left. `false`: there are some, and nothing has changed.
    #[must_use]
    #[inline]
    pub(crate) fn finish_alone(&self) -> bool {
        // Acquire: pairs with the Release of the children's `leave`, so that what they did is visible. Relaxed on
        // failure: nothing follows from the count. Release is not needed: whoever sees zero only stays away.
        self.pending.compare_exchange(1, 0, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// The node's own work is over. `true`: no child is left either. `false`: [`Owner::childless`] will be told.
    #[must_use]
    pub(crate) fn finish_work(&self) -> bool {
        self.leave()
    }

    /// One of those that `pending` counts is gone. `true` for the last.
    fn leave(&self) -> bool {
        // AcqRel: Release publishes what the leaver did, Acquire lets the last one see what all others did.
        self.pending.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

impl<O: Owner> Node<O> {
    /// Marks the node as ended and leaves the tree. Its own work and all its children are over.
    pub(crate) fn end(node: &Arc<Self>) {
        let mut node = node;
        // A token whose own work was over before ends with its last child; that may go on up the tree.
        while let Some(parent) = Node::end_alone(node) {
            if !parent.leave() || !O::childless(parent) {
                return;
            }
            node = parent;
        }
    }

    /// Undoes `hold`.
    pub(crate) fn release(node: &Arc<Self>) {
        if node.leave() && O::childless(node) {
            Node::end(node);
        }
    }

    /// Returns the parent, which still counts this node.
    fn end_alone(node: &Arc<Self>) -> Option<&Arc<Self>> {
        // Live ones are left only by a fiber that was abandoned, or were added from outside at the last moment.
        for orphan in node.children.close().filter(|child| !child.has_ended()) {
            Node::cancel(&orphan, 0);
        }
        let Some(parent) = &node.parent else {
            node.parking.set(Word::ENDED);
            return None;
        };
        if node.is_linked {
            parent.children.count_dead();
        }
        node.parking.set(Word::ENDED);
        for orphan in parent.children.sweep(parent.live_children()) {
            Node::cancel(&orphan, 0);
        }
        Some(parent)
    }

    /// Cancels this node and all below it. Idempotent. Parents are cancelled before their children.
    pub(crate) fn cancel(node: &Arc<Self>, cause: u64) {
        // The lists on the way down, in place of a recursion as deep as the tree.
        let mut lists: Vec<Chain<O>> = Vec::new();
        let mut children = Node::cancel_alone(node, cause);
        loop {
            match children.next() {
                Some(child) => {
                    let below = std::mem::replace(&mut children, Node::cancel_alone(&child, 0));
                    if !below.is_empty() {
                        lists.push(below);
                    }
                }
                None => match lists.pop() {
                    Some(list) => children = list,
                    None => return,
                },
            }
        }
    }

    pub(crate) fn time_out(node: &Arc<Self>) {
        Node::cancel(node, Word::TIMED_OUT);
    }

    /// Returns the children, which have to be cancelled by the caller.
    fn cancel_alone(node: &Arc<Self>, cause: u64) -> Chain<O> {
        if node.parking.load().is_cancelled() || node.parking.set(Word::CANCELLED | cause).is_cancelled() {
            // Whoever set the flag sees to the children.
            return Chain::empty();
        }
        let children = node.children.close();
        match node.parking.interrupt() {
            Some(waiter) => O::wake(node, waiter, Signal::Cancelled),
            None => O::cancelled(node),
        }
        children
    }
}

impl<O: Owner> Drop for Node<O> {
    /// A loop, because a tree may be a million deep.
    fn drop(&mut self) {
        let mut parent = self.parent.take();
        while let Some(mut node) = parent.and_then(primitive::into_inner) {
            parent = node.parent.take();
        }
    }
}

impl<O: Owner> std::fmt::Debug for Node<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}, {} children", self.parking, self.live_children())
    }
}
