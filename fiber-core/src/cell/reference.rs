//! Counted references to cells: one word, whatever the cell contains.
//!
//! ```text
//!   Ref ──> [ Node: refs, vtable, .., top | front | body | description ]
//!                           │          │
//!                           │          └──> the data of the tree, in its topmost cell
//!                           └──> the function table of the body's type: the drop of the cell, the type, the operations
//! ```
//!
//! The type of the body is erased. To access a body, the caller names its type, which is compared with the type in the
//! table.
//!
//! | `refs` | meaning | left by | to |
//! |---|---|---|---|
//! | n > 0 | there are n references | `clone` | n + 1 |
//! | n > 1 | | `drop` | n - 1 |
//! | 2 | both belong to one thread | `absorb` | 1 |
//! | 1 | | `drop`, which finds that it has the only reference, or reaches 0 | the cell belongs to it |
#![allow(unsafe_code)]

use std::alloc::Layout;
use std::any::TypeId;
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit, forget, offset_of};
use std::ops::Deref;
use std::process::abort;
use std::ptr::NonNull;

use super::node::{Node, Owner};
use super::recycle;
use super::word::Word;
use crate::primitive::{Ordering, UnsafeCell};

/// The body of a cell, behind its node.
pub(crate) trait Body<O: Owner>: Send + Sync + Sized + 'static {
    /// The description, which stays in the cell until it is claimed.
    type Description: Send + 'static;
    /// The number of bytes that the fiber needs when it waits. They are in the buffer that held the description. 0: it has no
    /// buffer.
    const ROOM: usize;
    /// What lies in front of the body, and is visible without knowing the body's type.
    type Front: Send + Sync + 'static;
    /// Whether a cell below a nested tree belongs to the tree around that.
    const IS_OUTSIDE: bool = false;
    /// Whether a nested tree may begin with the cell. If none does, the cell is [outside](Body::IS_OUTSIDE), too.
    const NESTS: bool = false;

    const BEHAVIOR: &'static O::Behavior;
}

/// The body of a node without a body.
impl<O: Owner> Body<O> for () {
    type Description = Infallible;
    const ROOM: usize = 0;
    type Front = ();

    const BEHAVIOR: &'static O::Behavior = O::IDLE;
}

/// The data that the nodes of a tree share: the body of the topmost node, or of a nested tree, in a box of its own.
struct Top<O: Owner> {
    shared: O::Root,
    /// That of the tree around a nested one.
    outside: Option<NonNull<Top<O>>>,
}

impl<O: Owner> Top<O> {
    /// Drops that of a nested tree.
    ///
    /// # Safety
    /// If it is one, it is not used any more, and `nested` has made it for the caller.
    unsafe fn free(top: NonNull<Self>) {
        // SAFETY: it is alive.
        if unsafe { top.as_ref() }.outside.is_some() {
            // SAFETY: `nested` has made it of a box, and it is not used any more.
            drop(unsafe { Box::from_raw(top.as_ptr()) });
        }
    }
}

// SAFETY: the target of `outside` is only shared, and `O::Root` is `Send` and `Sync`.
unsafe impl<O: Owner> Send for Top<O> {}
// SAFETY: as above.
unsafe impl<O: Owner> Sync for Top<O> {}

impl<O: Owner> Body<O> for Top<O> {
    type Description = Infallible;
    const ROOM: usize = 0;
    type Front = ();

    const BEHAVIOR: &'static O::Behavior = O::IDLE;
}

/// A cell, in one allocation. The node comes first, so that a pointer to the cell is also a pointer to the node.
///
/// The buffer comes last, because it is larger than the field for the description if the fiber needs more when it waits.
#[repr(C)]
struct Cell<O: Owner, B: Body<O>> {
    node: Node<O>,
    front: B::Front,
    body: B,
    buffer: UnsafeCell<Buffer<B::Description>>,
}

/// | the description was | the buffer |
/// |---|---|
/// | held back | holds it; its creator keeps the cell alive until it has offered the description |
/// | offered, not claimed | holds it; it belongs to the first claimer, or is dropped with the cell |
/// | claimed | belongs to the claimer, for the frames of the fiber |
/// | never there, `ROOM` is set | is empty |
/// | never there, `ROOM` was cleared | belongs to the thread that has cleared it |
#[repr(C, align(8))]
struct Buffer<D>(MaybeUninit<D>);

/// The place of a node in the tree.
pub(super) struct Links<O: Owner> {
    /// In the topmost node, or in a box of the first node of a nested tree.
    top: NonNull<Top<O>>,
    pub(super) parent: Option<O::Fiber>,
}

// SAFETY: the target of `top` is only shared, except for its drop, and is `Send` and `Sync`; so is the reference.
unsafe impl<O: Owner> Send for Links<O> {}
// SAFETY: as above.
unsafe impl<O: Owner> Sync for Links<O> {}

/// The function table of a cell's type.
pub(super) struct Vtable<O: Owner> {
    drop: unsafe fn(NonNull<Node<O>>),
    body: TypeId,
    front_type: TypeId,
    /// [`Body::NESTS`], and whether the cell [belongs](Body::IS_OUTSIDE) to the tree around a nested one.
    nests: bool,
    is_outside: bool,
    /// Where the front is, in bytes from the node.
    front: usize,
    /// Where the buffer begins, in bytes from the node, and its size.
    buffer: (usize, usize),
    behavior: &'static O::Behavior,
}

impl<O: Owner, B: Body<O>> Cell<O, B> {
    const VTABLE: &'static Vtable<O> = &Vtable {
        drop: Self::drop,
        body: TypeId::of::<B>(),
        front_type: TypeId::of::<B::Front>(),
        nests: B::NESTS,
        is_outside: B::IS_OUTSIDE || B::NESTS,
        front: offset_of!(Self, front),
        buffer: (Self::BUFFER, Self::ROUNDED - Self::BUFFER),
        behavior: B::BEHAVIOR,
    };

    const BUFFER: usize = offset_of!(Self, buffer);
    const LAYOUT: Layout = {
        let cell = Layout::new::<Self>();
        let with_room = Self::BUFFER + B::ROOM;
        let size = if with_room > cell.size() { with_room } else { cell.size() };
        match Layout::from_size_align(size.next_multiple_of(cell.align()), cell.align()) {
            Ok(layout) => layout,
            Err(_) => panic!("a cell is small"),
        }
    };
    /// The size of the block that the cell gets.
    const ROUNDED: usize = recycle::rounded(Self::LAYOUT).size();

    /// # Safety
    /// `node` is the first field of a cell of this type, and no reference to the cell is left.
    unsafe fn drop(node: NonNull<Node<O>>) {
        let cell = node.cast::<Self>();
        // SAFETY: the cell is still allocated, and the caller has exclusive access to it.
        let has_description = unsafe { node.as_ref() }.claim();
        if has_description {
            // SAFETY: the description was never claimed, and with no reference left it cannot be claimed any more.
            drop(unsafe { Self::take_description(cell) });
        }
        // SAFETY: the cell is still allocated.
        let top = unsafe { (*cell.as_ptr()).node.links.top };
        // SAFETY: its parts and its node were written, and the caller has exclusive access to it.
        unsafe { cell.drop_in_place() };
        if B::NESTS {
            // SAFETY: `top` is in the topmost cell, which the caller keeps alive, or in the box of this one.
            unsafe { Top::free(top) };
        }
        // SAFETY: `Seed::of` took the block, for this type.
        unsafe { recycle::give_block(cell.cast(), const { Self::LAYOUT }) };
    }

    /// # Safety
    /// The caller has claimed the description, and calls this once.
    unsafe fn take_description(cell: NonNull<Self>) -> B::Description {
        // SAFETY: the caller keeps the cell alive, and the buffer is an `UnsafeCell`.
        let buffer = unsafe { &(*cell.as_ptr()).buffer };
        buffer.with_mut(|buffer| {
            // SAFETY: the buffer is `repr(C)`, and is the description until that is claimed; the claim
            // gives the description to the caller.
            unsafe { buffer.cast::<B::Description>().read() }
        })
    }
}

/// A new cell without its node. What comes after it in the making of a fiber does not depend on the type of the body.
#[must_use = "the cell is lost"]
pub(crate) struct Seed<O: Owner> {
    cell: NonNull<Node<O>>,
    vtable: &'static Vtable<O>,
    flags: u64,
}

impl<O: Owner> Seed<O> {
    /// For a fiber that any thread may start.
    #[inline]
    pub(crate) fn with<B: Body<O>>(description: B::Description, parts: (B::Front, B)) -> Self {
        Seed::of(Buffer(MaybeUninit::new(description)), Word::OFFERED, parts)
    }

    /// For a part of a fiber, or for a fiber that already runs.
    #[inline]
    pub(crate) fn without<B: Body<O, Description = Infallible>>(parts: (B::Front, B)) -> Self {
        Seed::of(Buffer(MaybeUninit::uninit()), if B::ROOM > 0 { Word::ROOM } else { 0 }, parts)
    }

    #[inline]
    fn of<B: Body<O>>(buffer: Buffer<B::Description>, flags: u64, (front, body): (B::Front, B)) -> Self {
        let cell = recycle::take_block(const { Cell::<O, B>::LAYOUT }).cast::<Cell<O, B>>();
        let at = cell.as_ptr();
        // SAFETY: the block is one for this type.
        let front_at = unsafe { &raw mut (*at).front };
        // SAFETY: as above.
        let body_at = unsafe { &raw mut (*at).body };
        // SAFETY: as above.
        let buffer_at = unsafe { &raw mut (*at).buffer };
        // SAFETY: the place is in the block, and no other code has a pointer to it yet.
        unsafe { front_at.write(front) };
        // SAFETY: as above.
        unsafe { body_at.write(body) };
        // SAFETY: as above.
        unsafe { buffer_at.write(UnsafeCell::new(buffer)) };
        Seed { cell: cell.cast(), vtable: Cell::<O, B>::VTABLE, flags }
    }

    /// [`Body::NESTS`].
    pub(crate) fn nests(&self) -> bool {
        self.vtable.nests
    }

    /// The description can be claimed only once it has been [offered](Node::offer).
    pub(super) fn hold_back(&mut self) {
        self.flags &= !Word::OFFERED;
    }

    /// Makes the node, below `parent`, to be put into a slot there. Returns all references to it. `nested`: what the nodes from here
    /// on share, instead of what those around them do, if the cell may begin a nested tree.
    #[inline]
    pub(super) fn below<const N: usize>(
        self,
        parent: &Ref<O>,
        nested: Option<O::Root>,
        owner: O,
    ) -> [Ref<O>; N] {
        let top = match nested {
            Some(shared) => Ref::nested(Top { shared, outside: Some(parent.outside()) }),
            None if self.vtable.is_outside => parent.outside(),
            None => parent.links.top,
        };
        let cell = self.grow(N as u32, Links { top, parent: Some(parent.clone().into()) }, owner);
        [cell; N].map(|cell| Ref(cell, PhantomData))
    }

    #[inline]
    fn grow(self, references: u32, links: Links<O>, owner: O) -> NonNull<Node<O>> {
        let node = Node::new(self.vtable, references, links, self.flags, owner);
        // SAFETY: the node is the first field of the cell, and no other code has a pointer to it yet.
        unsafe { self.cell.write(node) };
        self.cell
    }
}

/// The right to use the buffer of a cell, which lives as long as the cell.
pub(crate) struct Room<'a> {
    pub(crate) start: NonNull<u8>,
    /// In bytes.
    pub(crate) size: usize,
    cell: PhantomData<&'a ()>,
}

/// A counted reference to a cell.
pub(crate) struct Ref<O: Owner>(NonNull<Node<O>>, PhantomData<Node<O>>);

// SAFETY: a reference gives access to a `Node` and a `Body`, which are `Send` and `Sync`, and moves a description,
// which is `Send`.
unsafe impl<O: Owner> Send for Ref<O> {}
// SAFETY: as above.
unsafe impl<O: Owner> Sync for Ref<O> {}

impl<O: Owner> Ref<O> {
    /// Makes a new tree, whose nodes share `root`.
    pub(crate) fn root(owner: O, shared: O::Root) -> Self {
        let seed = Seed::without(((), Top { shared, outside: None }));
        let cell = seed.cell.cast::<Cell<O, Top<O>>>();
        // SAFETY: the cell was just made, and this is the only pointer to it.
        let top = unsafe { &raw mut (*cell.as_ptr()).body };
        // SAFETY: the address of a field is not null.
        let top = unsafe { NonNull::new_unchecked(top) };
        Ref(seed.grow(1, Links { top, parent: None }, owner), PhantomData)
    }

    /// The outermost tree around the node.
    #[inline]
    fn outside(&self) -> NonNull<Top<O>> {
        let top = self.links.top;
        // SAFETY: as in `top`.
        unsafe { top.as_ref() }.outside.unwrap_or(top)
    }

    /// For the first node of a nested tree.
    #[cold]
    fn nested(top: Top<O>) -> NonNull<Top<O>> {
        NonNull::from(Box::leak(Box::new(top)))
    }

    /// The data that all nodes of its tree share.
    #[inline]
    pub(crate) fn top(&self) -> &O::Root {
        // SAFETY: it lies in the topmost cell, or belongs to the first cell of a nested tree, and is only ever shared. A node keeps
        // its parent alive, so those cells live as long as this reference.
        &unsafe { self.links.top.as_ref() }.shared
    }

    /// The operations of the body.
    pub(crate) fn behavior(&self) -> &'static O::Behavior {
        self.vtable.behavior
    }

    /// The body, if it is a `B`.
    #[inline]
    pub(crate) fn body<B: Body<O>>(&self) -> Option<&B> {
        if self.vtable.body != TypeId::of::<B>() {
            return None;
        }
        let cell = self.0.cast::<Cell<O, B>>();
        // SAFETY: the cell lives as long as the reference, its body is a `B`, and a body is not borrowed mutably before
        // its drop.
        Some(unsafe { &(*cell.as_ptr()).body })
    }

    /// What lies in front of the body, if it is an `F`.
    #[inline]
    pub(crate) fn front<F: 'static>(&self) -> Option<&F> {
        if self.vtable.front_type != TypeId::of::<F>() {
            return None;
        }
        // SAFETY: the table is that of the cell, whose block begins with the node, and which the pointer may access as a whole, as in
        // `room`.
        let front = unsafe { self.0.cast::<u8>().add(self.vtable.front) };
        // SAFETY: an `F` lies there, which is not borrowed mutably before its drop, and lives as long as this reference.
        Some(unsafe { front.cast::<F>().as_ref() })
    }

    /// The same, if there is no other reference.
    #[inline]
    pub(crate) fn front_mut<F: 'static>(this: &mut Self) -> Option<&mut F> {
        if !this.are_all(1) || this.vtable.front_type != TypeId::of::<F>() {
            return None;
        }
        // SAFETY: as in `front`.
        let front = unsafe { this.0.cast::<u8>().add(this.vtable.front) };
        // SAFETY: an `F` lies there, and only this reference, which is borrowed mutably, leads to the cell.
        Some(unsafe { front.cast::<F>().as_mut() })
    }

    /// Drops `other`, which refers to the same cell.
    #[inline]
    pub(crate) fn absorb(this: &mut Self, other: Self) {
        if Ref::ptr_eq(this, &other) && this.are_all(2) {
            // Relaxed: no other thread has a reference, as with the only one in `release`.
            this.refs.store(1, Ordering::Relaxed);
            forget(other);
        }
    }

    /// Whether there are no references but these, which the caller has exclusive access to. Then no other thread can get one.
    #[inline]
    fn are_all(&self, own: u32) -> bool {
        // Acquire: as in `release`. A node in a slot may be found there. A walk that has found it before it left its slot is over if its
        // end, or the last walk, has left no reference.
        self.refs.load(Ordering::Acquire) == own && !self.is_linked()
    }

    /// The description in the cell, and the room that it leaves, for the first caller. `None` also if the body is not a `B`.
    pub(crate) fn claim<B: Body<O>>(&self) -> Option<(B::Description, Room<'_>)> {
        let room = self.claim_buffer(TypeId::of::<B>())?;
        // SAFETY: this call has claimed the description, and the reference keeps the cell alive, which is of this type.
        let description = unsafe { Cell::<O, B>::take_description(self.0.cast()) };
        Some((description, room))
    }

    /// Claims the description, whatever its type, if the body is of this one.
    fn claim_buffer(&self, body: TypeId) -> Option<Room<'_>> {
        (self.vtable.body == body && Node::claim(self)).then(|| self.room())
    }

    /// The room of a cell that never had a description, for the first caller.
    pub(crate) fn take_room(&self) -> Option<Room<'_>> {
        Node::take_room(self).then(|| self.room())
    }

    /// The buffer of the cell. The callers have made sure that it is empty, and that this happens once.
    fn room(&self) -> Room<'_> {
        let (offset, size) = self.vtable.buffer;
        // SAFETY: the table is that of the cell, whose block begins with the node, and which the pointer may access as a whole:
        // `below` has made it of the pointer to the cell.
        let start = unsafe { self.0.cast::<u8>().add(offset) };
        Room { start, size, cell: PhantomData }
    }

    #[inline]
    pub(crate) fn ptr_eq(this: &Self, other: &Self) -> bool {
        this.0 == other.0
    }

    /// The pointer for a slot that does not count as a reference.
    pub(super) fn as_raw(this: &Self) -> *mut Node<O> {
        this.0.as_ptr()
    }

    /// Turns the reference into a pointer for a slot.
    pub(super) fn into_raw(this: Self) -> *mut Node<O> {
        ManuallyDrop::new(this).0.as_ptr()
    }

    /// # Safety
    /// `node` came from `into_raw`, and is passed to this function once; or it came from `as_raw`, the cell lives as long as the
    /// result, and that is not dropped.
    pub(super) unsafe fn from_raw(node: *mut Node<O>) -> Self {
        // SAFETY: a pointer from `into_raw` or `as_raw` is not null.
        Ref(unsafe { NonNull::new_unchecked(node) }, PhantomData)
    }

    /// Gives up this reference. `true` if it was the last one.
    #[inline]
    fn release(&self) -> bool {
        // If this is the only reference, no other thread can make a second one of it. Acquire: pairs with the Release of the
        // other references, for the last one, which ends the cell. Release: everything done through this reference happens
        // before that.
        self.refs.load(Ordering::Acquire) == 1 || self.refs.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Frees a cell without references, and the ancestors that only this cell kept alive. A loop, because a tree may be a
    /// million levels deep. A node that was not ended is still in the slot of its parent, so its cell is not freed: this is
    /// the leak of a parent that waits for it.
    // Not inlined: every drop of a reference would have a copy.
    #[inline(never)]
    fn end(last: NonNull<Node<O>>) {
        let mut last = last;
        loop {
            // SAFETY: no reference is left, so the cell is not freed elsewhere.
            if unsafe { last.as_ref() }.is_linked() {
                return;
            }
            // SAFETY: no reference is left, and no slot has a pointer, so this call has exclusive access to the cell.
            let parent = unsafe { (*last.as_ptr()).links.parent.take() };
            // SAFETY: as above.
            let drop = unsafe { last.as_ref() }.vtable.drop;
            // SAFETY: as above, and the table is that of the cell.
            unsafe { drop(last) };
            let parent = parent.map(|parent| ManuallyDrop::new(parent.into()));
            let Some(parent) = parent.filter(|parent| parent.release()) else {
                return;
            };
            last = parent.0;
        }
    }
}

impl<O: Owner> Clone for Ref<O> {
    #[inline]
    fn clone(&self) -> Self {
        // Relaxed: a new reference is made from an existing one, which keeps the cell alive.
        if self.refs.fetch_add(1, Ordering::Relaxed) > MOST {
            abort();
        }
        Ref(self.0, PhantomData)
    }
}

/// The largest number of references, which only leaked references can reach. The upper half of the range is for
/// threads that pass the limit at the same time.
const MOST: u32 = u32::MAX / 2;

impl<O: Owner> Deref for Ref<O> {
    type Target = Node<O>;

    #[inline]
    fn deref(&self) -> &Node<O> {
        // SAFETY: the cell lives as long as the reference, and its node is not borrowed mutably before its drop.
        unsafe { self.0.as_ref() }
    }
}

impl<O: Owner> Drop for Ref<O> {
    #[inline]
    fn drop(&mut self) {
        if self.release() {
            Ref::end(self.0);
        }
    }
}

impl<O: Owner> fmt::Debug for Ref<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Node::fmt(self, f)
    }
}
