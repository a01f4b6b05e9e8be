//! The children of a node, each in a slot of its own.
//!
//! ```text
//!  slots   [ child | free ──┐ | child | free | ..        index 0 and 1 lie in the node, the others in segments
//!  free     ────────────────┴────────────^               that are allocated when they are needed
//! ```
//!
//! * A child takes a free slot when it is made, and gives it back when it ends. A child that has ended leaves nothing behind.
//! * A canceller walks through the slots and takes nothing out, so several may walk at the same time, and each of them
//!   has reached every child when it returns.
//! * A child that is made while its parent is cancelled either fills its slot before the canceller looks there, or sees
//!   the parent's flag and cancels itself. Both sides write first, pass a `SeqCst` fence, and then read; so one of them
//!   sees the other (Dekker's argument).
//! * A walker counts itself in `walkers` before it reads a slot. A child that ends while there is a walker marks its slot
//!   as dead and leaves its reference there, because the walker may be about to clone it. The references that are left go
//!   when the last walker leaves a list that is closed.
//!
//! | a slot holds | meaning | left by | to |
//! |---|---|---|---|
//! | `FREE(next)` | in the list of free slots | `reserve` | `RESERVED` |
//! | `RESERVED` | belongs to a child, without a reference to it | `fill` | `LIVE` |
//! | | | `remove` | `FREE` |
//! | `LIVE(child)` | one reference to the child | `remove`, called by the end of the child | `DEAD` |
//! | | | `clear` | `RESERVED` |
//! | `DEAD(child)` | one reference, the child has ended | `remove`, without walkers; `clear` | `RESERVED` |
//!
//! The free slots are a stack as Treiber's ("Systems Programming: Coping with Parallelism", 1986), of indices. A tag that
//! every push increments tells a top that came back from one that never left (the ABA problem).
#![allow(unsafe_code)]

use std::mem::ManuallyDrop;
use std::ptr;

use super::node::{Node, Owner};
use crate::primitive::{Arc, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};

/// Nearly all nodes have no more children at a time: a timeout one, a race two.
const INLINE: usize = 2;

/// The slots of the first segment; each segment has twice as many as the one before.
const FIRST_SEGMENT: usize = 4;

pub(super) struct Children<O: Owner> {
    inline: [Slot<O>; INLINE],
    more: Segments<O>,
    free: FreeStack,
    /// Slots that were ever reserved, and so the end of a walk.
    used: AtomicU32,
    walkers: AtomicU32,
}

/// Names the slot of a child in its parent.
#[derive(Clone, Copy)]
pub(super) struct Place(u32);

impl<O: Owner> Children<O> {
    pub(super) fn new() -> Self {
        Children {
            inline: std::array::from_fn(|_| Slot::new()),
            more: Segments::new(),
            free: FreeStack::new(),
            used: AtomicU32::new(0),
            walkers: AtomicU32::new(0),
        }
    }

    /// Whether there never was a child. For a caller who passed a fence after its flag, or is the only one to add children.
    #[inline]
    pub(super) fn is_unused(&self) -> bool {
        // Relaxed: ordered by the caller's fence.
        self.used.load(Ordering::Relaxed) == 0
    }

    /// A slot for a child that is about to be made.
    pub(super) fn reserve(&self) -> Place {
        if let Some(index) = self.free.pop(|index| self.slot(index).next_free()) {
            self.slot(index).reserve();
            return Place(index);
        }
        // Relaxed: uniqueness is enough; a walker sees the increment through the fence of `fill`.
        let index = self.used.fetch_add(1, Ordering::Relaxed);
        assert!(index < FreeStack::EMPTY, "a fiber has less than a billion children at a time");
        self.more.grow_to(index);
        Place(index)
    }

    /// Leaves the reference to the child in its slot. Afterwards the caller has to look at the flags of the parent.
    pub(super) fn fill(&self, Place(index): Place, child: Arc<Node<O>>) {
        self.slot(index).fill(child);
        // SeqCst: the canceller sets its flag, passes its own fence in `Walk::enter`, and reads the slots. Whichever fence
        // comes second, its side sees what the other one wrote.
        fence(Ordering::SeqCst);
    }

    /// The child has ended: it gives back its slot, and the reference there, unless a walker may still look at it.
    pub(super) fn remove(&self, Place(index): Place, child: *const Node<O>) {
        let slot = self.slot(index);
        if slot.mark_dead(child) {
            // SeqCst: a walker counts itself, passes its own fence in `Walk::enter`, and reads the slot. So either it is seen
            // here, or it sees the mark.
            fence(Ordering::SeqCst);
            // Acquire: pairs with the Release of `leave`, so that the clones of a walker that has left come before the drop.
            if self.walkers.load(Ordering::Acquire) != 0 {
                return;
            }
            drop(slot.take());
        }
        self.free.push(index, |next| slot.set_free(next));
    }

    /// A walker leaves. The last one takes all references out, if it has found the list closed: then no walker comes any more
    /// that reads slots.
    fn leave(&self, is_closed: bool) {
        // Release: what the walker did comes before the drop of a child, in `remove` or by another walker; and a walker that
        // enters later sees the list closed. Acquire: what earlier walkers did comes before the drops in `clear`.
        if self.walkers.fetch_sub(1, Ordering::AcqRel) == 1 && is_closed {
            // SeqCst: pairs with the fence of `remove`: a child that still saw a walker has left its mark before.
            fence(Ordering::SeqCst);
            self.clear();
        }
    }

    fn clear(&self) {
        // Relaxed: children that are added to a closed list remove themselves.
        (0..self.used.load(Ordering::Relaxed)).filter_map(|index| self.find(index)).for_each(|slot| {
            drop(slot.take());
        });
    }

    /// The slot of an index that was reserved.
    fn slot(&self, index: u32) -> &Slot<O> {
        self.find(index).expect("the segment was made before the index was given away")
    }

    /// `None`: whoever reserved the index has not allocated its segment yet.
    fn find(&self, index: u32) -> Option<&Slot<O>> {
        let index = index as usize;
        if index < INLINE { Some(&self.inline[index]) } else { self.more.find(index - INLINE) }
    }
}

impl<O: Owner> Drop for Children<O> {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A walk through the children of a node. While it lives, every reference that it may have seen stays.
pub(super) struct Walk<O: Owner> {
    node: Arc<Node<O>>,
    /// The next slot; past the end if the list was closed before.
    at: u32,
}

impl<O: Owner> Walk<O> {
    /// The caller has set the flag that new children look at.
    pub(super) fn enter(node: Arc<Node<O>>) -> Self {
        let children = node.children();
        // Acquire: pairs with the Release of `leave`. An earlier walker that found the list closed may clear it now, so this
        // one has to find it closed as well.
        children.walkers.fetch_add(1, Ordering::Acquire);
        // SeqCst: pairs with the fences of `fill` and `remove`.
        fence(Ordering::SeqCst);
        let at = if node.is_closed() { u32::MAX } else { 0 };
        Walk { node, at }
    }

    pub(super) fn node(&self) -> &Node<O> {
        &self.node
    }
}

impl<O: Owner> Iterator for Walk<O> {
    type Item = Arc<Node<O>>;

    fn next(&mut self) -> Option<Arc<Node<O>>> {
        let children = self.node.children();
        // Relaxed: ordered by the fence of `enter`. Children that come later look after themselves.
        let used = children.used.load(Ordering::Relaxed);
        while self.at < used {
            let slot = children.find(self.at);
            self.at += 1;
            // SAFETY: this walk is counted, and the list was not closed when it began.
            if let Some(child) = slot.and_then(|slot| unsafe { slot.clone_live() }) {
                return Some(child);
            }
        }
        None
    }
}

impl<O: Owner> Drop for Walk<O> {
    fn drop(&mut self) {
        // Looked at before the walker leaves: whoever enters afterwards sees it, too.
        let is_closed = self.node.is_closed();
        self.node.children().leave(is_closed);
    }
}

/// One word: see the table above. A `Node` is aligned to at least 4, so two bits of its address are free.
struct Slot<O: Owner>(AtomicPtr<Node<O>>);

const FREE: usize = 0b01;
const DEAD: usize = 0b10;
const KIND: usize = 0b11;
const INDEX_SHIFT: u32 = 2;

impl<O: Owner> Slot<O> {
    fn new() -> Self {
        Slot(AtomicPtr::new(ptr::null_mut()))
    }

    fn reserve(&self) {
        // Relaxed: `pop` gave this slot to one thread; walkers skip both values.
        self.0.store(ptr::null_mut(), Ordering::Relaxed);
    }

    fn fill(&self, child: Arc<Node<O>>) {
        // Release: publishes the node to the Acquire of `clone_live`.
        self.0.store(Arc::into_raw(child).cast_mut(), Ordering::Release);
    }

    /// `false`: the reference was taken out by `clear`.
    fn mark_dead(&self, child: *const Node<O>) -> bool {
        let live = child.cast_mut();
        let dead = live.map_addr(|address| address | DEAD);
        // Release: what the child did comes before the drop of its reference, by whichever thread. Relaxed on failure: then
        // there is nothing to be dropped.
        self.0.compare_exchange(live, dead, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// The reference, if there is one.
    fn take(&self) -> Option<Arc<Node<O>>> {
        // Relaxed: the exchange decides.
        let held = self.0.load(Ordering::Relaxed);
        if held.is_null() || held.addr() & FREE != 0 {
            return None;
        }
        // Acquire: pairs with the Release of `fill` and `mark_dead`. Relaxed on failure: another thread has taken it.
        self.0.compare_exchange(held, ptr::null_mut(), Ordering::Acquire, Ordering::Relaxed).ok()?;
        let child = held.map_addr(|address| address & !KIND);
        // SAFETY: `fill` put the pointer of an `Arc::into_raw` here, and the exchange gave it to this thread alone.
        Some(unsafe { Arc::from_raw(child.cast_const()) })
    }

    /// Another reference to a child that has not ended.
    ///
    /// # Safety
    /// The caller is counted as a walker, and has found the list open after it was counted.
    unsafe fn clone_live(&self) -> Option<Arc<Node<O>>> {
        // Acquire: pairs with the Release of `fill`.
        let held = self.0.load(Ordering::Acquire);
        if held.is_null() || held.addr() & KIND != 0 {
            return None;
        }
        // SAFETY: the pointer came from `Arc::into_raw`, and the reference of the slot stays: `remove` leaves it while there
        // are walkers, and `clear` waits for the last of those that found the list open.
        let child = ManuallyDrop::new(unsafe { Arc::from_raw(held.cast_const()) });
        Some(Arc::clone(&child))
    }

    fn set_free(&self, next: u32) {
        let next = ((next as usize) << INDEX_SHIFT) | FREE;
        // Relaxed: published by the Release of `FreeStack::push`.
        self.0.store(ptr::without_provenance_mut(next), Ordering::Relaxed);
    }

    /// What `set_free` wrote. If the slot is in use again, anything: the exchange that follows fails then.
    fn next_free(&self) -> u32 {
        // Relaxed: ordered by the Acquire of `FreeStack::pop`.
        (self.0.load(Ordering::Relaxed).addr() >> INDEX_SHIFT) as u32
    }
}

/// The stack of free slots: the index of its top, and a tag.
struct FreeStack(AtomicU64);

impl FreeStack {
    const EMPTY: u32 = u32::MAX >> INDEX_SHIFT;

    fn new() -> Self {
        FreeStack(AtomicU64::new(u64::from(Self::EMPTY)))
    }

    fn pop(&self, next: impl Fn(u32) -> u32) -> Option<u32> {
        // Acquire, here and below: pairs with the Release of `push`, for the link in the slot.
        let mut head = self.0.load(Ordering::Acquire);
        loop {
            let top = head as u32;
            if top == Self::EMPTY {
                return None;
            }
            let tag = head >> 32;
            let rest = tag << 32 | u64::from(next(top));
            // Relaxed on success: nothing is published.
            match self.0.compare_exchange_weak(head, rest, Ordering::Relaxed, Ordering::Acquire) {
                Ok(_) => return Some(top),
                Err(seen) => head = seen,
            }
        }
    }

    fn push(&self, index: u32, link: impl Fn(u32)) {
        // Relaxed: only to be compared.
        let mut head = self.0.load(Ordering::Relaxed);
        loop {
            link(head as u32);
            let tag = (head >> 32).wrapping_add(1);
            let pushed = tag << 32 | u64::from(index);
            // Release: publishes the link.
            match self.0.compare_exchange_weak(head, pushed, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(seen) => head = seen,
            }
        }
    }
}

/// A chain of blocks of slots, each twice as long as the one before. It only ever grows.
struct Segments<O: Owner>(AtomicPtr<Segment<O>>);

struct Segment<O: Owner> {
    slots: Box<[Slot<O>]>,
    next: Segments<O>,
}

impl<O: Owner> Segments<O> {
    fn new() -> Self {
        Segments(AtomicPtr::new(ptr::null_mut()))
    }

    fn get(&self) -> Option<&Segment<O>> {
        // Acquire: pairs with the Release of `grow`.
        let segment = self.0.load(Ordering::Acquire);
        // SAFETY: `grow` put a leaked box here, which only `drop` takes out.
        unsafe { segment.as_ref() }
    }

    fn find(&self, mut index: usize) -> Option<&Slot<O>> {
        let mut segment = self.get()?;
        while index >= segment.slots.len() {
            index -= segment.slots.len();
            segment = segment.next.get()?;
        }
        Some(&segment.slots[index])
    }

    /// Allocates what is missing up to the slot `index` of the node.
    fn grow_to(&self, index: u32) {
        let Some(mut index) = (index as usize).checked_sub(INLINE) else { return };
        let mut segments = self;
        let mut len = FIRST_SEGMENT;
        loop {
            let segment = segments.get().unwrap_or_else(|| segments.grow(len));
            if index < len {
                return;
            }
            index -= len;
            len *= 2;
            segments = &segment.next;
        }
    }

    fn grow(&self, len: usize) -> &Segment<O> {
        let slots = (0..len).map(|_| Slot::new()).collect();
        let made = Box::into_raw(Box::new(Segment { slots, next: Segments::new() }));
        // Release: publishes the segment to `get`. Acquire on failure: another thread has published one.
        match self.0.compare_exchange(ptr::null_mut(), made, Ordering::Release, Ordering::Acquire) {
            // SAFETY: as in `get`.
            Ok(_) => unsafe { &*made },
            Err(other) => {
                // SAFETY: `made` came from a box, and no other thread has seen it.
                drop(unsafe { Box::from_raw(made) });
                // SAFETY: as in `get`.
                unsafe { &*other }
            }
        }
    }
}

impl<O: Owner> Drop for Segments<O> {
    /// Nested as deep as the logarithm of the longest list.
    fn drop(&mut self) {
        // Relaxed: the list is dropped by one thread, after all others.
        let segment = self.0.load(Ordering::Relaxed);
        if !segment.is_null() {
            // SAFETY: `grow` put a leaked box here, and nobody takes it out but this drop.
            drop(unsafe { Box::from_raw(segment) });
        }
    }
}
