//! The list of a node's children: a stack that is only ever pushed to, or taken whole.
//!
//! ```text
//!  head ──> child ──> child ──> child ──> null        (each arrow owns one reference of an Arc)
//!  head ──> CLOSED                                    (cancelled or ended: no child is added any more)
//! ```
//!
//! * A new child is pushed by CAS. If the list is `CLOSED`, the pusher keeps the child, and cancels it itself.
//! * Cancelling and ending swap in `CLOSED` and own what was there. So a child is either pushed before the swap,
//!   and the canceller finds it, or after, and the pusher sees `CLOSED`: there is no third case to close by a fence.
//! * A child that ends stays in the list as a dead entry. Once there are more dead than live ones, the list is
//!   taken whole, the dead are dropped and the rest is pushed back: a walk of `n` is paid for by `n / 2` ends.
//!   Nobody pops single entries, so there is no ABA problem.
//!
//! The stack is Treiber's ("Systems Programming: Coping with Parallelism", 1986), without its pop.
#![allow(unsafe_code)]

use std::ptr;

use super::node::{Node, Owner};
use crate::primitive::{Arc, AtomicPtr, AtomicUsize, Ordering, SMALLEST_SWEEP, UnsafeCell};

pub(super) struct Children<O: Owner> {
    head: AtomicPtr<Node<O>>,
    /// Children that have ended and may still be in the list; read only to decide when to sweep.
    dead: AtomicUsize,
}

/// The link of a node in its parent's list. It belongs to whoever owns the list that the node is in.
pub(super) struct Link<O: Owner>(UnsafeCell<*mut Node<O>>);

// SAFETY: the pointer is one reference of an `Arc<Node<O>>`, which is Send; the link is touched by one thread at
// a time, the owner of the list.
unsafe impl<O: Owner> Send for Link<O> {}
// SAFETY: as above: shared access to the node never touches its link.
unsafe impl<O: Owner> Sync for Link<O> {}

impl<O: Owner> Link<O> {
    pub(super) fn new() -> Self {
        Link(UnsafeCell::new(ptr::null_mut()))
    }

    /// # Safety
    /// The caller owns the list that the node is in.
    unsafe fn replace(&self, next: *mut Node<O>) -> *mut Node<O> {
        self.0.with_mut(|link| {
            // SAFETY: exclusive by the contract of this function.
            unsafe { ptr::replace(link, next) }
        })
    }
}

impl<O: Owner> Children<O> {
    pub(super) fn new() -> Self {
        Children { head: AtomicPtr::new(ptr::null_mut()), dead: AtomicUsize::new(0) }
    }

    /// Adds a child. `false`: the list is closed and the child is not in it.
    #[must_use]
    pub(super) fn push(&self, child: Arc<Node<O>>) -> bool {
        let pushed = Chain::single(child);
        self.push_chain(pushed).is_ok()
    }

    /// No child is added any more; those that are there are the caller's.
    pub(super) fn close(&self) -> Chain<O> {
        // AcqRel: Acquire pairs with the Release of `push_chain`, for the links; Release lets a pusher that
        // sees `CLOSED` also see why (the flag in the state word).
        Chain::from_head(self.head.swap(closed(), Ordering::AcqRel))
    }

    /// A child has ended. `live` is how many have not.
    ///
    /// Called before the child is marked as ended, so that a sweep never removes more than were counted.
    pub(super) fn count_dead(&self) {
        // Relaxed: a hint only.
        self.dead.fetch_add(1, Ordering::Relaxed);
    }

    /// Drops the dead entries if there are more of them than of `live` ones. Children that were found live when
    /// the list turned out to be closed meanwhile are returned: they have to be cancelled.
    pub(super) fn sweep(&self, live: usize) -> Chain<O> {
        // Relaxed: a hint only.
        let dead = self.dead.load(Ordering::Relaxed);
        if dead < SMALLEST_SWEEP || dead <= live { Chain::empty() } else { self.sweep_now() }
    }

    fn sweep_now(&self) -> Chain<O> {
        let mut kept = Chain::empty();
        let mut removed = 0;
        for child in self.take() {
            if child.has_ended() {
                removed += 1;
            } else {
                kept.push(child);
            }
        }
        // Relaxed: a hint only.
        self.dead.fetch_sub(removed, Ordering::Relaxed);
        self.push_chain(kept).err().unwrap_or(Chain::empty())
    }

    /// Everything that is in the list, which stays open.
    fn take(&self) -> Chain<O> {
        // Relaxed: only to be compared.
        let mut head = self.head.load(Ordering::Relaxed);
        while !head.is_null() && head != closed() {
            // Acquire: pairs with the Release of `push_chain`, for the links.
            match self.head.compare_exchange_weak(head, ptr::null_mut(), Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(head) => return Chain::from_head(head),
                Err(seen) => head = seen,
            }
        }
        Chain::empty()
    }

    fn push_chain(&self, chain: Chain<O>) -> Result<(), Chain<O>> {
        let Some(tail) = chain.tail() else { return Ok(()) };
        // Acquire, here and on failure: one who sees `CLOSED` also sees why.
        let mut head = self.head.load(Ordering::Acquire);
        while head != closed() {
            // SAFETY: `tail` is in `chain`, which is ours.
            unsafe { tail.link().replace(head) };
            // Release: publishes the links of the chain, and the nodes themselves.
            match self.head.compare_exchange_weak(head, chain.head, Ordering::Release, Ordering::Acquire) {
                Ok(_) => {
                    std::mem::forget(chain);
                    return Ok(());
                }
                Err(seen) => head = seen,
            }
        }
        // SAFETY: as above. Nobody else saw the tail's link.
        unsafe { tail.link().replace(ptr::null_mut()) };
        Err(chain)
    }
}

impl<O: Owner> Drop for Children<O> {
    fn drop(&mut self) {
        drop(self.close());
    }
}

/// A list of nodes that one thread owns: dropping it drops the references, iterating hands them out.
pub(super) struct Chain<O: Owner> {
    head: *mut Node<O>,
}

impl<O: Owner> Chain<O> {
    pub(super) fn empty() -> Self {
        Chain { head: ptr::null_mut() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head.is_null()
    }

    fn single(node: Arc<Node<O>>) -> Self {
        let mut chain = Chain::empty();
        chain.push(node);
        chain
    }

    fn from_head(head: *mut Node<O>) -> Self {
        Chain { head: if head == closed() { ptr::null_mut() } else { head } }
    }

    fn push(&mut self, node: Arc<Node<O>>) {
        let node = Arc::into_raw(node).cast_mut();
        // SAFETY: `node` is alive by the reference that `into_raw` gave.
        let link = unsafe { (*node).link() };
        // SAFETY: the node is in no list but this one, which is ours.
        unsafe { link.replace(self.head) };
        self.head = node;
    }

    fn tail(&self) -> Option<&Node<O>> {
        let mut last = None;
        let mut at = self.head;
        while !at.is_null() {
            // SAFETY: the chain owns a reference to each of its nodes.
            let node = unsafe { &*at };
            at = node.link().0.with_mut(|link| {
                // SAFETY: the links of the chain are ours.
                unsafe { *link }
            });
            last = Some(node);
        }
        last
    }
}

impl<O: Owner> Iterator for Chain<O> {
    type Item = Arc<Node<O>>;

    fn next(&mut self) -> Option<Arc<Node<O>>> {
        if self.head.is_null() {
            return None;
        }
        // SAFETY: the chain owns a reference to the node, made by `Arc::into_raw`, and gives it up here.
        let node = unsafe { Arc::from_raw(self.head.cast_const()) };
        // SAFETY: the links of the chain are ours.
        self.head = unsafe { node.link().replace(ptr::null_mut()) };
        Some(node)
    }
}

impl<O: Owner> Drop for Chain<O> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

/// The head of a closed list: an address that no node has, and that is never followed.
fn closed<O: Owner>() -> *mut Node<O> {
    ptr::without_provenance_mut(1)
}
