//! The children of a node, each in its own slot.
//!
//! ```text
//!  in the node   [ child | null ]                            taken by an exchange
//!  near          [ child | child | null | .. ]               the same, in a block that is made for the third child at a time
//!  segments      [ child | free ──┐ | child | free | .. ]    from a stack of free slots; allocated on demand
//!  free           ────────────────┴────────────^
//! ```
//!
//! * A child takes a free slot when it is made, and returns it when it ends. It tries the slots in the node and near ones one after
//!   the other. With more children at a time than those, a search would take too long, so further slots are in a stack.
//! * A canceller or a report walks through the slots and takes nothing out. Several may walk at the same time, and each
//!   canceller has reached every child when it returns.
//! * A child that is made while its parent is cancelled either fills its slot before the canceller looks there, or sees
//!   the parent's flag and cancels itself: both sides write first and then read, all with `SeqCst`, so one of them sees
//!   the other (Dekker's argument).
//! * A slot does not count as a reference: a child leaves it before its cell is freed. A cell that never ended is not
//!   freed, because it may be in a slot (`Ref::end`).
//! * A walker counts itself in `walkers` before it reads a slot, because it may be about to use the child there, and sets `WALKED`
//!   in the [tally](super::node) of the node. A child that ends leaves its slot, and then its place in the tally. If the tally is not
//!   `WALKED` then, any walker comes later, and sees that the child has left. Otherwise the child looks for walkers (Dekker's
//!   argument again). If there is one, the child leaves a reference to itself in the slot, marked as dead.
//! * A walker reads only `LIVE` pointers. So a thread that has taken a dead reference out, and then sees no walker,
//!   may drop it; if it sees one, it puts the reference back. The last walker to leave takes out the dead references. A
//!   thread that has put back a dead reference checks for walkers once more, because the last one may have left before.
//!
//! | a slot holds | meaning | left by | to |
//! |---|---|---|---|
//! | `VACANT` | free; in a segment: never used | `try_fill`; `fill` | `LIVE` |
//! | `FREE(next)` | in the list of free slots, or just popped from it; in a segment | `fill` | `LIVE` |
//! | `LIVE(child)` | the child, which is not counted | `leave_slot`, called by the end of the child | `BUSY` |
//! | `BUSY` | nothing; belongs to a child that leaves | `free`, `free_after_walks` | `DEAD`; or `VACANT`; in a segment `FREE` |
//! | `DEAD(child)` | a reference to the child, which has ended | the last walker; or the thread that marked it, if no walker is left | `BUSY` |
//!
//! Every operation between a slot that was never used and a child that a walker finds is `SeqCst`: the count of used
//! slots, the segments, the free slots, the slots. Acquire and Release would order the thread that allocated a segment
//! before the one that fills a slot there, but not before a third thread that walks.
//!
//! The free slots form a stack of indices, as in Treiber ("Systems Programming: Coping with Parallelism", 1986). Every
//! push increments a tag, which distinguishes a top that came back from one that never left (the ABA problem).
#![allow(unsafe_code)]

use std::iter;
use std::mem::ManuallyDrop;
use std::num::NonZeroU32;
use std::ptr;

use super::lazy::LazyBox;
use super::node::{Node, Owner};
use super::reference::Ref;
use crate::primitive::{AtomicPtr, AtomicU32, AtomicU64, Ordering, between_seq_cst};

/// Most nodes have at most this many children at a time: a timeout has one, a race two.
const INLINE: usize = 2;

/// As many as fit into a block of 128 bytes beside what leads to the others. A model has few, because it tries all orders of
/// accesses.
const NEAR: usize = if cfg!(fiber_loom) { 1 } else { 12 };

/// The number of slots in the first segment; each segment has twice as many as the one before.
const FIRST_SEGMENT: usize = 16;

/// The number of slots in segments: fewer than a [tally](super::node) can count.
const MOST_FAR: u32 = 1 << 29;

pub(super) struct Children<O: Owner> {
    inline: [Slot<O>; INLINE],
    /// Made for the first child that finds no slot in the node.
    further: LazyBox<Further<O>>,
    walkers: AtomicU32,
}

struct Further<O: Owner> {
    near: [Slot<O>; NEAR],
    far: Segments<O>,
    /// The free slots in segments.
    free: FreeStack,
    /// The number of slots in segments that were ever reserved. A walk ends there.
    used: AtomicU32,
}

/// The slot of a child that has left it, and its index.
#[must_use = "the slot is lost"]
pub(super) struct LeftSlot<'a, O: Owner>(u32, &'a Slot<O>);

/// Identifies the slot of a child in its parent: the index of the slot, plus 1. The topmost bit says whether the child
/// is shielded from a cancellation of its parent, the next one whether the child has left its slot for good.
#[derive(Clone, Copy)]
pub(super) struct Place(NonZeroU32);

impl Place {
    const SHIELDED: u32 = 1 << 31;
    const LEFT: u32 = 1 << 30;
    const FLAGS: u32 = Self::SHIELDED | Self::LEFT;

    fn of(index: u32) -> Self {
        Place(NonZeroU32::MIN.saturating_add(index))
    }

    pub(super) fn shielded(self) -> Self {
        Place(self.0 | Self::SHIELDED)
    }

    pub(super) fn is_shielded(self) -> bool {
        self.0.get() & Self::SHIELDED != 0
    }

    pub(super) fn left(self) -> Self {
        Place(self.0 | Self::LEFT)
    }

    pub(super) fn has_left(self) -> bool {
        self.0.get() & Self::LEFT != 0
    }

    fn index(self) -> u32 {
        (self.0.get() & !Self::FLAGS) - 1
    }

    /// As a number, which is not 0.
    pub(super) fn to_number(self) -> u32 {
        self.0.get()
    }

    pub(super) fn from_number(number: u32) -> Option<Self> {
        NonZeroU32::new(number).map(Place)
    }
}

impl<O: Owner> Children<O> {
    pub(super) fn new() -> Self {
        Children {
            inline: std::array::from_fn(|_| Slot::new()),
            further: LazyBox::new(),
            walkers: AtomicU32::new(0),
        }
    }

    /// Whether no slot in the node is in use, and there were never more children at a time.
    #[inline]
    pub(super) fn has_none(&self) -> bool {
        // SeqCst, also in `is_vacant` and in `LazyBox`: the caller has set the flag of the node. A child that is not found here
        // will see the flag.
        self.inline.iter().all(Slot::is_vacant) && self.further.get().is_none()
    }

    /// Stores a new child in a slot. `note` records which one, before other threads find the child there.
    /// Afterwards, the caller has to check the flags of the parent.
    #[inline]
    pub(super) fn add(&self, child: &Ref<O>, note: impl Fn(Place)) {
        if !Slot::fill_one_of(&self.inline, 0, child, &note) {
            self.add_further(child, note);
        }
    }

    #[cold]
    #[inline(never)]
    fn add_further(&self, child: &Ref<O>, note: impl Fn(Place)) {
        let further = self.further.get_or_make(Further::new);
        if !Slot::fill_one_of(&further.near, INLINE, child, &note) {
            let index = self.reserve(further);
            note(Place::of(index));
            self.slot(index).fill(child);
        }
    }

    /// Reserves a slot in a segment.
    fn reserve(&self, further: &Further<O>) -> u32 {
        if let Some(index) = further.free.pop(|index| self.slot(index).next_free()) {
            return index;
        }
        // SeqCst: ordered before the child reads the flag of the parent; see `for_each_slot`.
        let index = further.used.fetch_add(1, Ordering::SeqCst);
        assert!(index < MOST_FAR, "a fiber has less than half a billion children at a time");
        further.far.grow_to(index as usize);
        (INLINE + NEAR) as u32 + index
    }

    /// How many slots hold a child or a reference, or were lost.
    #[cfg(all(test, fiber_loom))]
    pub(super) fn slots_in_use(&self) -> usize {
        let in_use = |slots: &[Slot<O>]| slots.iter().filter(|slot| !slot.is_free()).count();
        let further = self.further.get().map_or(0, |further| {
            let used = further.used.load(Ordering::SeqCst) as usize;
            let free = iter::from_fn(|| further.free.pop(|index| self.slot(index).next_free())).count();
            in_use(&further.near) + used - free
        });
        in_use(&self.inline) + further
    }

    /// A child that ends leaves its slot, to free it then.
    #[inline]
    pub(super) fn leave_slot(&self, place: Place) -> LeftSlot<'_, O> {
        let index = place.index();
        let slot = self.slot(index);
        slot.leave();
        LeftSlot(index, slot)
    }

    /// Frees the slot, when no walker can have found the child there.
    #[inline]
    pub(super) fn free(&self, LeftSlot(index, slot): LeftSlot<'_, O>) {
        self.free_slot(index, slot);
    }

    /// The same, unless a walker may still use the child.
    #[cold]
    #[inline(never)]
    pub(super) fn free_after_walks(&self, LeftSlot(index, slot): LeftSlot<'_, O>, child: &Ref<O>) {
        slot.leave_again();
        if self.has_walkers() {
            self.give_back(index, slot, child.clone());
        } else {
            self.free_slot(index, slot);
        }
    }

    /// Drops a reference for walkers, and frees the slot, unless a walker may still use the reference.
    fn give_back(&self, index: u32, slot: &Slot<O>, child: Ref<O>) {
        let mut child = child;
        while self.has_walkers() {
            slot.leave_dead(child);
            // The last walker may have left before this thread put the reference back.
            if self.has_walkers() {
                return;
            }
            // The reference taken out now may be another child's, seen by other walkers: check for walkers again.
            match slot.take_dead() {
                Some(dead) => child = dead,
                None => return,
            }
        }
        drop(child);
        self.free_slot(index, slot);
    }

    #[inline]
    fn free_slot(&self, index: u32, slot: &Slot<O>) {
        if (index as usize) < INLINE + NEAR {
            slot.set_vacant();
        } else if let Some(further) = self.further.get() {
            further.free.push(index, |next| slot.set_free(next));
        }
    }

    fn has_walkers(&self) -> bool {
        // SeqCst: ordered after the change of the slot. A walker that is not counted yet reads the slot later. It includes
        // Acquire: the clones made by walkers that have left happen before the drop of the reference.
        self.walkers.load(Ordering::SeqCst) != 0
    }

    /// Ends a walk. The last walker takes out the dead references.
    fn leave(&self) {
        // SeqCst: ordered before the reads of the slots below: a child that still saw a walker has left a reference
        // before. It includes Release (this walker's clones happen before the drop of a child) and Acquire (earlier walkers'
        // clones happen before the drops below).
        if self.walkers.fetch_sub(1, Ordering::SeqCst) == 1 {
            between_seq_cst();
            let mut index = 0;
            self.for_each_slot(|slot| {
                if let Some(dead) = slot.take_dead() {
                    self.give_back(index, slot, dead);
                }
                index += 1;
            });
        }
    }

    /// Calls `f` with every slot that is reserved when the call begins.
    fn for_each_slot(&self, mut f: impl FnMut(&Slot<O>)) {
        self.inline.iter().for_each(&mut f);
        // SeqCst, also in `LazyBox`: as in `has_none`, for the flag of the node or the count of walkers. A child that is added to
        // a cancelled node later sees the flag and cancels itself.
        if let Some(further) = self.further.get() {
            let used = further.used.load(Ordering::SeqCst) as usize;
            further.near.iter().chain(further.far.iter().take(used)).for_each(f);
        }
    }

    /// The slot at an index that was reserved.
    #[inline]
    fn slot(&self, index: u32) -> &Slot<O> {
        let index = index as usize;
        if index < INLINE { &self.inline[index] } else { self.further_slot(index - INLINE) }
    }

    #[inline(never)]
    fn further_slot(&self, index: usize) -> &Slot<O> {
        let further = self.further.get();
        let slot = further.and_then(|further| match index.checked_sub(NEAR) {
            None => further.near.get(index),
            Some(far) => further.far.find(far),
        });
        slot.expect("the slot was made before its index was handed out")
    }
}

impl<O: Owner> Further<O> {
    fn new() -> Self {
        Further {
            near: std::array::from_fn(|_| Slot::new()),
            far: Segments::new(),
            free: FreeStack::new(),
            used: AtomicU32::new(0),
        }
    }
}

/// A walk through the children of a node. While it lives, no child that it may have read is freed.
pub(super) struct Walk<O: Owner>(Ref<O>);

impl<O: Owner> Walk<O> {
    /// Begins a walk. A canceller sets the flag that new children check before it calls this.
    pub(super) fn enter(node: Ref<O>) -> Self {
        // SeqCst: ordered before the reads of the slots; see `has_walkers`.
        node.children().walkers.fetch_add(1, Ordering::SeqCst);
        between_seq_cst();
        node.announce_walk();
        Walk(node)
    }

    pub(super) fn node(&self) -> &Node<O> {
        &self.0
    }

    /// Calls `f` with every live child.
    pub(super) fn for_each(&self, mut f: impl FnMut(&Ref<O>)) {
        self.0.children().for_each_slot(|slot| {
            // SAFETY: this walk is counted.
            unsafe { slot.with_live(&mut f) }
        });
    }
}

impl<O: Owner> Drop for Walk<O> {
    fn drop(&mut self) {
        self.0.children().leave();
    }
}

/// One word: see the table above. A `Node` is aligned to at least 4, so the low two bits of its address are free.
struct Slot<O: Owner>(AtomicPtr<Node<O>>);

const FREE: usize = 0b01;
const DEAD: usize = 0b10;
/// The child leaves, and will free the slot.
const BUSY: usize = 0b11;
const KIND: usize = 0b11;
const INDEX_SHIFT: u32 = 2;

impl<O: Owner> Slot<O> {
    fn new() -> Self {
        Slot(AtomicPtr::new(ptr::null_mut()))
    }

    /// Stores the child in one of these slots, whose indices begin with `from`. `false`: none is free.
    #[inline]
    fn fill_one_of(slots: &[Self], from: usize, child: &Ref<O>, note: impl Fn(Place)) -> bool {
        (from as u32..).zip(slots).any(|(index, slot)| {
            slot.is_free() && {
                note(Place::of(index));
                slot.try_fill(child)
            }
        })
    }

    /// Whether a child may try to take this slot, which is not in a segment.
    #[inline]
    fn is_free(&self) -> bool {
        // Relaxed: the compare-and-swap of `try_fill` decides.
        self.0.load(Ordering::Relaxed).is_null()
    }

    /// Whether no child was in this slot at one moment.
    #[inline]
    fn is_vacant(&self) -> bool {
        // SeqCst: see `Children::has_none`.
        self.0.load(Ordering::SeqCst).is_null()
    }

    /// Stores the child, unless another one has taken the slot.
    #[inline]
    fn try_fill(&self, child: &Ref<O>) -> bool {
        let child = Ref::as_raw(child);
        // SeqCst: as in `fill`. Relaxed on failure: nothing is read.
        let filled = self.0.compare_exchange(ptr::null_mut(), child, Ordering::SeqCst, Ordering::Relaxed);
        between_seq_cst();
        filled.is_ok()
    }

    /// Frees a slot, which is `BUSY` and not in a segment.
    #[inline]
    fn set_vacant(&self) {
        // Release: the end of this child comes before the next one in the slot. A plain store, because no other thread writes
        // to a slot that is `BUSY`.
        self.0.store(ptr::null_mut(), Ordering::Release);
    }

    fn fill(&self, child: &Ref<O>) {
        // SeqCst: ordered before the child reads the flag of the parent, and publishes the node to `with_live`. A swap,
        // because a SeqCst store costs as much.
        self.0.swap(Ref::as_raw(child), Ordering::SeqCst);
        between_seq_cst();
    }

    /// The child of this slot leaves, once.
    #[inline]
    fn leave(&self) {
        // Relaxed: the child changes the tally next, which publishes this. A plain store, because no other thread writes to a slot
        // that is `LIVE`.
        debug_assert!(self.0.load(Ordering::Relaxed).addr() & KIND == 0);
        self.0.store(ptr::without_provenance_mut(BUSY), Ordering::Relaxed);
    }

    /// Stores once more that the child has left.
    fn leave_again(&self) {
        // SeqCst: ordered before the check for walkers.
        self.0.swap(ptr::without_provenance_mut(BUSY), Ordering::SeqCst);
        between_seq_cst();
    }

    /// Leaves a reference to a child that a walker may still use, marked as dead.
    fn leave_dead(&self, child: Ref<O>) {
        let dead = Ref::into_raw(child).map_addr(|address| address | DEAD);
        // SeqCst: ordered before the second check for walkers.
        self.0.swap(dead, Ordering::SeqCst);
        between_seq_cst();
    }

    /// Takes out the reference that `leave_dead` has left, if it is still there.
    fn take_dead(&self) -> Option<Ref<O>> {
        // SeqCst: ordered after the last walker left.
        let held = self.0.load(Ordering::SeqCst);
        if held.addr() & KIND != DEAD {
            return None;
        }
        // SeqCst: ordered before the next check for walkers. It includes Acquire, which pairs with `leave_dead`. Relaxed on
        // failure: another thread has taken the reference.
        self.0
            .compare_exchange(held, ptr::without_provenance_mut(BUSY), Ordering::SeqCst, Ordering::Relaxed)
            .ok()?;
        between_seq_cst();
        let child = held.map_addr(|address| address & !KIND);
        // SAFETY: `leave_dead` stored the pointer of a `Ref::into_raw` here, and only this thread's exchange
        // succeeded.
        Some(unsafe { Ref::from_raw(child) })
    }

    /// Calls `f` with the child, unless it has ended.
    ///
    /// # Safety
    /// The caller is counted in `walkers`.
    unsafe fn with_live(&self, f: impl FnOnce(&Ref<O>)) {
        // SeqCst: ordered after the walker was counted, and after the flag of the parent was set. It includes Acquire,
        // which pairs with `fill`.
        let held = self.0.load(Ordering::SeqCst);
        if held.is_null() || held.addr() & KIND != 0 {
            return;
        }
        // SAFETY: the pointer came from `Ref::as_raw`. A cell is not freed before its node has left its slot, and if the child then
        // sees this walker, it leaves a reference, which is not dropped before this walker leaves. The copy is not dropped.
        let child = ManuallyDrop::new(unsafe { Ref::from_raw(held) });
        f(&child);
    }

    fn set_free(&self, next: u32) {
        let next = ((next as usize) << INDEX_SHIFT) | FREE;
        // Relaxed: published by the Release in `FreeStack::push`.
        self.0.store(ptr::without_provenance_mut(next), Ordering::Relaxed);
    }

    /// The index that `set_free` wrote. If the slot is in use again, the result is arbitrary, and the compare-and-swap
    /// that follows fails.
    fn next_free(&self) -> u32 {
        // Relaxed: ordered by the Acquire in `FreeStack::pop`.
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
        // SeqCst, here and below: the slot was counted in `used` by the thread that reserved it first, and a walker that
        // comes after this child's read of the flag sees that count. It includes Acquire, which pairs with `push`, for the
        // link.
        let mut head = self.0.load(Ordering::SeqCst);
        loop {
            let top = head as u32;
            if top == Self::EMPTY {
                return None;
            }
            let tag = head >> 32;
            let rest = tag << 32 | u64::from(next(top));
            match self.0.compare_exchange_weak(head, rest, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return Some(top),
                Err(seen) => head = seen,
            }
        }
    }

    fn push(&self, index: u32, link: impl Fn(u32)) {
        // Relaxed: the value is only compared.
        let mut head = self.0.load(Ordering::Relaxed);
        loop {
            link(head as u32);
            let tag = (head >> 32).wrapping_add(1);
            let pushed = tag << 32 | u64::from(index);
            // SeqCst: as in `pop`. It includes Release, which publishes the link.
            match self.0.compare_exchange_weak(head, pushed, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return,
                Err(seen) => head = seen,
            }
        }
    }
}

/// A chain of blocks of slots, each twice as long as the one before. It only ever grows. The recursion depth of its
/// drop is logarithmic in the number of slots.
struct Segments<O: Owner>(LazyBox<Segment<O>>);

struct Segment<O: Owner> {
    slots: Box<[Slot<O>]>,
    next: Segments<O>,
}

impl<O: Owner> Segments<O> {
    fn new() -> Self {
        Segments(LazyBox::new())
    }

    fn find(&self, mut index: usize) -> Option<&Slot<O>> {
        let mut segment = self.0.get()?;
        while index >= segment.slots.len() {
            index -= segment.slots.len();
            segment = segment.next.0.get()?;
        }
        Some(&segment.slots[index])
    }

    fn iter(&self) -> impl Iterator<Item = &Slot<O>> {
        let segments = iter::successors(self.0.get(), |segment| segment.next.0.get());
        segments.flat_map(|segment| &segment.slots)
    }

    /// Allocates the missing segments up to this index.
    fn grow_to(&self, index: usize) {
        let mut index = index;
        let mut segments = self;
        let mut len = FIRST_SEGMENT;
        loop {
            let make = || Segment { slots: (0..len).map(|_| Slot::new()).collect(), next: Segments::new() };
            let segment = segments.0.get_or_make(make);
            if index < len {
                return;
            }
            index -= len;
            len *= 2;
            segments = &segment.next;
        }
    }
}
