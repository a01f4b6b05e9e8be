//! The memory of frames: one block, in the cell of the fiber while that is large enough, otherwise on the heap.
//!
//! ```text
//!   Head | group ..  | group ..                                    |
//!        | record .. | record | leaf | step | step | wide outcome? |
//!                    start             head         top
//! ```
//!
//! A group is one suspension: a record of the group below, the leaf that waits, and the steps after it, from the inside
//! out. A newer group lies above, and runs first. Taking a frame moves `head`; the last frame of a group frees the bytes of
//! the whole group. All positions are offsets, so a group can be moved by a copy of its bytes.
//!
//! A frame is a pointer to the [`Table`] of its type, and a value. This file knows only bytes and tables; the types are
//! known to the functions in the tables, and to the tokens that push the frames.

use std::alloc::Layout;
use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, forget, size_of};
use std::ops::Range;
use std::ptr::{self, NonNull};

use super::Visit;
use super::leaf_table::LeafTable;
use super::pair::{ALIGN, Pair, is_over_aligned, is_small};
use crate::cell::{Room, give_block, take_block};
use crate::engine::context::{Context, Cx, Place};
use crate::panic::{Panic, guard};

/// The least size of a block on the heap.
const LEAST: usize = 256;
/// The least size of a block in a cell: that of a fiber whose first wait is a leaf without data. The cell of a fiber that
/// [never waits](crate::Run::ROOM) may have less.
const LEAST_IN_CELL: usize = OVERHEAD + 2 * size_of::<&Table>();

/// The most bytes of the frames of a fiber: so many as a recursion has that is some ten million calls deep.
const MOST: usize = 1 << 30;

/// The functions of a frame's type.
pub(super) struct Table {
    /// Takes the frame, which is the first one, and runs it with the outcome of the frame before; a leaf, with the reason for which it is
    /// [resumed](super::leaf_table::Why). Gives its own outcome, unless the fiber has to wait again.
    ///
    /// # Safety
    /// The frame is the first of the fiber, and the outcome is of the type that it takes.
    pub(super) resume: unsafe fn(&Cx<'_>, Pair) -> Pair,
    /// The context is the one in which the fiber has waited, if it has.
    ///
    /// # Safety
    /// The pointer is to the value of such a frame, which is not used afterwards.
    pub(super) drop: unsafe fn(*mut u8, &mut Vec<Panic>, Option<&Context>),
    /// # Safety
    /// The pointer is to the value of such a frame.
    pub(super) visit: Option<unsafe fn(*mut u8, &mut Visit<'_>)>,
    /// If the frame waits.
    pub(super) leaf: Option<&'static LeafTable>,
    /// The bytes of the frame.
    pub(super) size: u32,
}

/// Where a frame has its value, behind its table.
const VALUE: usize = size_of::<&'static Table>().next_multiple_of(ALIGN);

/// The size of a frame with this value.
pub(crate) const fn frame_size<F>() -> usize {
    let value = if is_over_aligned::<F>() { size_of::<Box<F>>() } else { size_of::<F>() };
    VALUE + value.next_multiple_of(ALIGN)
}

/// The group below.
#[repr(C)]
#[derive(Clone, Copy)]
struct Record {
    head: u32,
    start: u32,
}

/// The size of a record.
const RECORD: u32 = size_of::<Record>() as u32;

/// What a fiber needs besides its frames: the front, and the records of a group and of one above it.
pub(crate) const OVERHEAD: usize = size_of::<Head>() + 2 * size_of::<Record>();

/// The front of the block.
#[repr(C)]
pub(super) struct Head {
    /// While the fiber waits: the context in which it does. While it runs: the context in which it has to wait or to continue,
    /// if that is not the one in which it runs.
    pub(super) node: Option<Context>,
    /// The number of bytes behind the head.
    capacity: u32,
    /// The end of the newest group; 0 if there is none.
    top: u32,
    /// Where the first frame of the newest group is. If no frame of it was taken, behind its record.
    head: u32,
    /// Where the newest group begins.
    start: u32,
    /// Why the next frame does not run. See the constants.
    state: u32,
    is_on_heap: bool,
}

/// The next frame runs.
const RUNS: u32 = 0;
/// The newest group has not begun to wait.
const WAITS: u32 = 1;
/// The fiber continues in `node`.
const SWITCHES: u32 = 2;
/// A leaf is in use at its place, so nothing is pushed.
const LOCKED: u32 = 4;
/// The fiber has left its limit, which had no node, and continues in the same context.
const LEAVES: u32 = 8;

/// What a driver does next.
pub(super) enum Next {
    /// Begins the wait of the newest group.
    Waits,
    /// Continues in another context.
    Switches(Context),
    /// No frame is left.
    Ends,
}

/// Owns the frames of a fiber that does not run.
pub(crate) struct Frames(NonNull<Head>);

// SAFETY: a frame is made of a `Send` value only (`Waits`, `Frame`), and a `Context` is `Send`.
unsafe impl Send for Frames {}

/// The frames of a running fiber, on the stack of the call that runs it. The block is made when the first frame is pushed.
pub(crate) struct Slot<'a> {
    frames: Cell<Option<NonNull<Head>>>,
    home: Home<'a>,
}

/// Where the block may be.
enum Home<'a> {
    /// In the room of a cell, of this size. `None`: it was used. (A `Cell` of the `Room` would make the lifetime invariant.)
    In(Cell<Option<NonNull<u8>>>, usize, PhantomData<Room<'a>>),
    /// In the cell of the fiber of this place, if its room was not taken.
    At(Place<'a>),
    Heap,
}

impl<'a> Slot<'a> {
    #[inline]
    fn new(frames: Option<NonNull<Head>>, home: Home<'a>) -> Self {
        Slot { frames: Cell::new(frames), home }
    }

    /// For a fiber in whose cell this room is.
    #[inline]
    pub(crate) fn in_room(room: Room<'a>) -> Self {
        Slot::new(None, Home::In(Cell::new(Some(room.start)), room.size, PhantomData))
    }

    /// For the fiber of `place`, in whose cell the frames lie if there is room.
    #[inline]
    pub(crate) fn at(place: Place<'a>) -> Self {
        Slot::new(None, Home::At(place))
    }

    #[inline]
    pub(crate) fn of(fiber: &'a Context) -> Self {
        Slot::at(Place::Node(fiber))
    }

    /// For a fiber without a cell of its own.
    #[inline]
    pub(crate) fn apart() -> Self {
        Slot::new(None, Home::Heap)
    }

    #[inline]
    pub(crate) fn holding(frames: Frames) -> Self {
        Slot::new(Some(ManuallyDrop::new(frames).0), Home::Heap)
    }

    #[inline]
    pub(crate) fn take(&self) -> Option<Frames> {
        self.frames.take().map(Frames)
    }

    /// The buffer, if it was made.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn buffer(&self) -> Option<Buffer<'_>> {
        self.frames.get().map(|head| Buffer { head, slot: self })
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn made(&self) -> Buffer<'_> {
        self.buffer().unwrap_or_else(|| self.make())
    }

    #[cold]
    #[inline(never)]
    fn make(&self) -> Buffer<'_> {
        let room = match &self.home {
            Home::In(start, size, _) => start.take().map(|start| (start, *size)),
            Home::At(place) => place.context().take_room().map(|room| (room.start, room.size)),
            Home::Heap => None,
        };
        let (head, capacity, is_on_heap) = match room {
            Some((block, size)) if size >= LEAST_IN_CELL => (block.cast(), size - size_of::<Head>(), false),
            _ => (allocate(LEAST), LEAST - size_of::<Head>(), true),
        };
        let capacity = capacity as u32;
        let new = Head { node: None, capacity, top: 0, head: RECORD, start: 0, state: RUNS, is_on_heap };
        // SAFETY: the block is large enough and aligned, and belongs to this call: it is new, or was taken from the cell.
        unsafe { head.write(new) };
        self.frames.set(Some(head));
        Buffer { head, slot: self }
    }
}

impl Drop for Slot<'_> {
    // Inlined, because most branches are ready and have no frames.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if self.frames.get().is_some() {
            self.drop_frames();
        }
    }
}

impl Slot<'_> {
    #[cold]
    #[inline(never)]
    fn drop_frames(&self) {
        drop(self.take());
    }
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, ALIGN).expect("frames are not that large")
}

fn allocate(bytes: usize) -> NonNull<Head> {
    take_block(layout(bytes)).cast()
}

/// # Safety
/// The block is on the heap, has this capacity, and is not used afterwards.
unsafe fn free(head: NonNull<Head>, capacity: u32) {
    // SAFETY: `allocate` has taken it so.
    unsafe { give_block(head.cast(), layout(size_of::<Head>() + capacity as usize)) };
}

/// The buffer of a slot. A copy of the slot's pointer: it is got again after each call that may push.
#[derive(Clone, Copy)]
pub(super) struct Buffer<'s> {
    head: NonNull<Head>,
    slot: &'s Slot<'s>,
}

impl Buffer<'_> {
    /// The front. No other reference to it lives: each use ends before the next call of this function, and none is kept.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn front(&mut self) -> &mut Head {
        // SAFETY: the slot owns the block, and belongs to this thread; see above for other references.
        unsafe { self.head.as_mut() }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn at(self, offset: u32) -> *mut u8 {
        at(self.head, offset)
    }

    /// The table of the first frame.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn table(mut self) -> &'static Table {
        let head = self.front().head;
        // SAFETY: a frame lies there, as there is one: the callers have pushed it, or have asked `is_empty`.
        unsafe { self.at(head).cast::<&'static Table>().read() }
    }

    /// Where the newest group ends: its token.
    pub(super) fn end(mut self) -> u32 {
        self.front().top
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_empty(mut self) -> bool {
        self.front().top == 0
    }

    /// Whether the next frame runs here.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn goes_on(mut self) -> bool {
        let front = self.front();
        front.state == RUNS && front.top != 0
    }

    /// Whether the newest group begins to wait, in the context in which the fiber runs. Then it does so from now on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn begins_here(mut self) -> bool {
        let front = self.front();
        let begins = front.state == WAITS && front.node.is_none();
        if begins {
            front.state = RUNS;
        }
        begins
    }

    /// What comes next, if no frame runs here.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn next(mut self) -> Next {
        let front = self.front();
        match front.state {
            WAITS => Next::Waits,
            SWITCHES => {
                front.state = RUNS;
                Next::Switches(front.node.take().expect("`switch_to` has set it"))
            }
            _ => Next::Ends,
        }
    }

    /// The fiber will continue in `outside`.
    pub(super) fn switch_to(mut self, outside: Context) {
        let front = self.front();
        (front.state, front.node) = (SWITCHES, Some(outside));
    }

    /// The fiber leaves its limit.
    #[inline]
    pub(super) fn leave_limit(mut self) {
        self.front().state = LEAVES;
    }

    /// Whether the fiber has just left its limit. It goes on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn has_left_limit(mut self) -> bool {
        let front = self.front();
        let has_left = front.state == LEAVES;
        if has_left {
            front.state = RUNS;
        }
        has_left
    }

    /// The newest group begins to wait, or has to begin again.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn set_waits(mut self, waits: bool) {
        self.front().state = if waits { WAITS } else { RUNS };
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn waits(mut self) -> bool {
        self.front().state == WAITS
    }

    /// Makes room for `size` bytes above the frames.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn with_room(mut self, size: usize) -> Self {
        let front = self.front();
        if (front.capacity - front.top) as usize >= size { self } else { self.grow(size) }
    }

    #[cold]
    #[inline(never)]
    fn grow(mut self, size: usize) -> Self {
        let Head { top, capacity, is_on_heap, .. } = *self.front();
        let least = size_of::<Head>() + top as usize + size;
        let bytes = least.max(2 * capacity as usize).next_power_of_two().max(LEAST);
        assert!(bytes <= MOST, "a fiber waits in frames of more than 1 GiB: does it recurse without an end?");
        let new = allocate(bytes);
        // SAFETY: both blocks have so many bytes, and the new one is not a part of the old one. Frames may be moved so.
        unsafe {
            new.cast::<u8>().copy_from_nonoverlapping(self.head.cast(), size_of::<Head>() + top as usize)
        };
        if is_on_heap {
            // SAFETY: the frames have moved, and the slot forgets the block.
            unsafe { free(self.head, capacity) };
        }
        let mut grown = Buffer { head: new, slot: self.slot };
        let front = grown.front();
        (front.capacity, front.is_on_heap) = ((bytes - size_of::<Head>()) as u32, true);
        self.slot.frames.set(Some(new));
        grown
    }

    /// Begins a group, with a frame of this table. Gives the place of its value, and the token.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lead(mut self, table: &'static Table) -> (*mut u8, u32) {
        let Head { state, head, start, top, capacity, .. } = *self.front();
        if state == RUNS && head == start + RECORD && capacity - top >= RECORD + table.size {
            self.lead_here(table)
        } else {
            self.lead_elsewhere(table)
        }
    }

    #[cold]
    #[inline(never)]
    fn lead_elsewhere(mut self, table: &'static Table) -> (*mut u8, u32) {
        let state = self.front().state;
        if state != RUNS {
            left_over(state);
        }
        self.slide();
        self.with_room((RECORD + table.size) as usize).lead_here(table)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lead_here(mut self, table: &'static Table) -> (*mut u8, u32) {
        let front = self.front();
        let (start, record) = (front.top, Record { head: front.head, start: front.start });
        (front.start, front.head, front.state) = (start, start + RECORD, WAITS);
        // SAFETY: there is room.
        unsafe { self.at(start).cast::<Record>().write(record) };
        self.put(start + RECORD, table)
    }

    /// Adds a frame of this table to the newest group, which ends where the token says.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn follow(mut self, token: u32, table: &'static Table) -> (*mut u8, u32) {
        let Head { state, top, capacity, .. } = *self.front();
        if state == WAITS && top == token && capacity - top >= table.size {
            self.put(token, table)
        } else {
            self.follow_elsewhere(token, table)
        }
    }

    #[cold]
    #[inline(never)]
    fn follow_elsewhere(mut self, token: u32, table: &'static Table) -> (*mut u8, u32) {
        let Head { state, top, .. } = *self.front();
        assert!(state == WAITS && top == token, "a wait is continued once, in order");
        self.with_room(table.size as usize).put(token, table)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put(mut self, offset: u32, table: &'static Table) -> (*mut u8, u32) {
        let top = offset + table.size;
        self.front().top = top;
        let at = self.at(offset);
        // SAFETY: the callers have made room.
        unsafe { at.cast::<&'static Table>().write(table) };
        (at.wrapping_add(VALUE), top)
    }

    /// Moves the rest of a group, of which frames were taken, down to the begin of the group: otherwise a fiber would need
    /// the room of its first wait and that of its second one.
    fn slide(mut self) {
        let Head { head, start, top, .. } = *self.front();
        let first = start + RECORD;
        if head != first {
            // SAFETY: both ranges are in the block; the frames are moved.
            unsafe { ptr::copy(self.at(head), self.at(first), (top - head) as usize) };
            let front = self.front();
            (front.head, front.top) = (first, top - (head - first));
        }
    }

    /// Skips the first frame, whose value was taken or dropped.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn skip(mut self, size: u32) {
        let front = self.front();
        front.head += size;
        if front.head == front.top {
            self.leave_group();
        }
    }

    /// Frees the bytes of the newest group.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn leave_group(mut self) {
        let start = self.front().start;
        // SAFETY: a group begins with a record.
        let below = unsafe { self.at(start).cast::<Record>().read() };
        let front = self.front();
        (front.top, front.head, front.start) = (start, below.head, below.start);
    }

    /// The value of the first frame, in its place.
    ///
    /// # Safety
    /// It is an `F`. No frame moves while the result is used: the buffer is [locked](Buffer::lock).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn first<'f, F>(self) -> &'f mut F {
        // SAFETY: by the contract, and each use of this function ends before the next one.
        unsafe { borrow_value::<F>(self.first_value()) }
    }

    /// Takes the first frame.
    ///
    /// # Safety
    /// It is an `F`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn pop<F>(self) -> F {
        // SAFETY: by the contract; the frame is skipped, so nothing else takes it.
        let value = unsafe { read_value::<F>(self.first_value()) };
        self.skip(const { frame_size::<F>() } as u32);
        value
    }

    /// Where the first frame has its value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn first_value(mut self) -> *mut u8 {
        self.at(self.front().head).wrapping_add(VALUE)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn lock(mut self, is_locked: bool) {
        self.front().state = if is_locked { LOCKED } else { RUNS };
    }

    /// Takes the outcome that was left.
    ///
    /// # Safety
    /// The last use of this buffer was to [`pack`](Cx::pack) a `V`, with this result.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn unpack<V>(mut self, pair: Pair) -> V {
        if const { is_small::<V>() } {
            // SAFETY: by the contract.
            return unsafe { pair.take::<V>() };
        }
        if const { is_over_aligned::<V>() } {
            // SAFETY: as above.
            return *unsafe { pair.take::<Box<V>>() };
        }
        let top = self.front().top;
        // SAFETY: as above; nothing was pushed since.
        unsafe { self.at(top).cast::<V>().read() }
    }

    /// Drops the newest group, which has not begun to wait.
    #[cold]
    #[inline(never)]
    pub(super) fn drop_newest(mut self, cx: &Cx<'_>) -> Vec<Panic> {
        let front = self.front();
        // Nothing is pushed meanwhile.
        front.state = LOCKED;
        // The group may be one that waits in a region, which goes with it.
        let inside = front.node.take();
        let Head { mut head, top, .. } = *front;
        let mut torn = Vec::new();
        while head < top {
            let (table, value) = frame_at(self.head, head);
            if let Some(visit) = table.visit {
                // SAFETY: the table is that of the frame.
                torn.extend(guard(|| unsafe { visit(value, &mut Visit::Undo(cx)) }).err());
            }
            // SAFETY: as above, and the frame is dropped once.
            unsafe { (table.drop)(value, &mut torn, None) };
            head += table.size;
        }
        self.leave_group();
        self.front().state = RUNS;
        drop(inside);
        torn
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn at(head: NonNull<Head>, offset: u32) -> *mut u8 {
    head.as_ptr().cast::<u8>().wrapping_add(size_of::<Head>() + offset as usize)
}

/// The table of a frame, and the place of its value.
fn frame_at(head: NonNull<Head>, offset: u32) -> (&'static Table, *mut u8) {
    let at = at(head, offset);
    // SAFETY: the callers walk from frame to frame, so one lies there.
    let table = unsafe { at.cast::<&'static Table>().read() };
    (table, at.wrapping_add(VALUE))
}

/// Takes the value of a frame. It is moved out before it is dropped, because its drop may end the fiber, and free the bytes.
///
/// # Safety
/// `value` is where a frame with an `F` has its value, and nothing else takes that.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn read_value<F>(value: *mut u8) -> F {
    if const { is_over_aligned::<F>() } {
        // SAFETY: by the contract.
        *unsafe { value.cast::<Box<F>>().read() }
    } else {
        // SAFETY: by the contract.
        unsafe { value.cast::<F>().read() }
    }
}

/// # Safety
/// `value` is where a frame with an `F` has its value, and nothing else uses that.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn borrow_value<'f, F>(value: *mut u8) -> &'f mut F {
    if const { is_over_aligned::<F>() } {
        // SAFETY: by the contract.
        unsafe { &mut *value.cast::<Box<F>>() }
    } else {
        // SAFETY: by the contract.
        unsafe { &mut *value.cast::<F>() }
    }
}

#[cold]
#[inline(never)]
fn left_over(state: u32) -> ! {
    if state == LOCKED {
        panic!("a leaf that waits runs no fibers in its own context");
    }
    panic!("a wait of this run is left over");
}

impl Cx<'_> {
    /// The buffer of the fiber.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn frames(&self) -> Buffer<'_> {
        self.slot().made()
    }

    /// The buffer of a fiber of which a frame was pushed.
    ///
    /// # Safety
    /// A frame was pushed to this slot.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn pushed(&self) -> Buffer<'_> {
        let slot = self.slot();
        // SAFETY: by the contract, and only `Slot::take` empties a slot, after which its fiber does not run.
        Buffer { head: unsafe { slot.frames.get().unwrap_unchecked() }, slot }
    }

    /// Leaves an outcome for the next frame.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn pack<V>(&self, value: V) -> Pair {
        if const { is_small::<V>() } {
            return Pair::of(value);
        }
        if const { is_over_aligned::<V>() } {
            return Pair::of(Box::new(value));
        }
        // Not dropped if there is no room: otherwise it would have an address, and be moved through memory.
        let value = ManuallyDrop::new(value);
        let mut frames = self.frames().with_room(size_of::<V>());
        let top = frames.front().top;
        // SAFETY: there is room, and it is aligned, as all sizes are.
        unsafe { frames.at(top).cast::<V>().write(ManuallyDrop::into_inner(value)) };
        Pair::EMPTY
    }

    /// Whether a group has been pushed that has not begun to wait.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn has_left_over(&self) -> bool {
        self.slot().buffer().is_some_and(Buffer::waits)
    }

    /// Pushes a leaf, or a step behind the newest one.
    ///
    /// # Safety
    /// The table is that of frames with an `F`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn push<F>(&self, after: Option<u32>, table: &'static Table, value: F) -> u32 {
        let (at, token) = self.push_unwritten(after, table);
        if const { is_over_aligned::<F>() } {
            // SAFETY: the place is for the value of such a frame, which has room for a box.
            unsafe { at.cast::<Box<F>>().write(Box::new(value)) };
        } else {
            // SAFETY: the place is for an `F`.
            unsafe { at.cast::<F>().write(value) };
        }
        token
    }

    /// Pushes a frame whose value is not there yet.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn push_unwritten(&self, after: Option<u32>, table: &'static Table) -> (*mut u8, u32) {
        match after {
            None => self.push_leading(table),
            Some(token) => self.push_following(token, table),
        }
    }

    // Not generic, and not inlined, so that the code at each wait is short.
    #[inline(never)]
    fn push_leading(&self, table: &'static Table) -> (*mut u8, u32) {
        match self.slot().buffer() {
            Some(buffer) => buffer.lead(table),
            None => self.slot().make().lead(table),
        }
    }

    #[inline(never)]
    fn push_following(&self, token: u32, table: &'static Table) -> (*mut u8, u32) {
        // SAFETY: the frame of the token was pushed.
        unsafe { self.pushed() }.follow(token, table)
    }

    /// Moves the newest group, which has not begun to wait and ends at the token, into a block of its own.
    #[cold]
    pub(super) fn split(&self, token: u32) -> Frames {
        let mut buffer = self.frames();
        let Head { state, start, head, top, .. } = *buffer.front();
        assert!(state == WAITS && top == token && head == start + RECORD, "one wait is continued, once");
        let size = top - start;
        let slot = Slot::apart();
        let mut moved = slot.made().with_room(size as usize);
        // SAFETY: there is room in the new block, and the other one has so many bytes. Frames may be moved so.
        unsafe { ptr::copy_nonoverlapping(buffer.at(start), moved.at(0), size as usize) };
        // SAFETY: a group begins with a record.
        unsafe { moved.at(0).cast::<Record>().write(Record { head: RECORD, start: 0 }) };
        buffer.leave_group();
        let left = buffer.front();
        left.state = RUNS;
        let node = left.node.take();
        let front = moved.front();
        (front.node, front.top, front.state) = (node, size, WAITS);
        slot.take().expect("it was made")
    }

    /// Shows the frames of the newest group to `visit`, from the inside out.
    pub(crate) fn visit_newest(&self, visit: &mut Visit<'_>) {
        let mut buffer = self.frames();
        let Head { head, top, .. } = *buffer.front();
        visit_group(buffer.head, head..top, visit);
    }
}

/// Shows the frames between these offsets to `visit`.
fn visit_group(block: NonNull<Head>, frames: Range<u32>, visit: &mut Visit<'_>) {
    let Range { start: mut head, end } = frames;
    while head < end {
        let (table, value) = frame_at(block, head);
        if let Some(show) = table.visit {
            // SAFETY: the table is that of the frame.
            unsafe { show(value, visit) };
        }
        head += table.size;
    }
}

impl Frames {
    #[inline]
    fn front(&self) -> &Head {
        // SAFETY: this owns the block.
        unsafe { self.0.as_ref() }
    }

    /// Where the newest group ends: its token.
    pub(super) fn end(&self) -> u32 {
        self.front().top
    }

    /// The context in which the fiber has waited, and now runs.
    pub(super) fn take_node(&mut self) -> Context {
        // SAFETY: this owns the block.
        unsafe { self.0.as_mut() }.node.take().expect("the fiber waits")
    }

    /// The context in which the fiber will wait.
    #[inline]
    pub(super) fn leave_node(&mut self, node: Context) {
        // SAFETY: this owns the block.
        let before = unsafe { self.0.as_mut() }.node.replace(node);
        debug_assert!(before.is_none());
        forget(before);
    }

    /// The context in which the fiber waits.
    #[inline]
    pub(crate) fn fiber(&self) -> &Context {
        self.front().node.as_ref().expect("the fiber waits")
    }

    /// Shows all frames to `visit`, from the inside out.
    pub(crate) fn visit(&mut self, visit: &mut Visit<'_>) {
        let Head { mut head, mut top, mut start, .. } = *self.front();
        while top != 0 {
            visit_group(self.0, head..top, visit);
            // SAFETY: a group begins with a record.
            let below = unsafe { at(self.0, start).cast::<Record>().read() };
            (top, head, start) = (start, below.head, below.start);
        }
    }
}

impl std::fmt::Debug for Frames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "frames of {:?}", self.front().node)
    }
}

impl Drop for Frames {
    /// Drops the frames from the inside out. The last one ends its fiber as abandoned.
    fn drop(&mut self) {
        // The last frame may drop the last other reference to the cell in which the frames lie.
        // SAFETY: this owns the block.
        let node = unsafe { self.0.as_mut() }.node.take();
        let torn = if self.front().top == 0 { Vec::new() } else { self.drop_frames(node.as_ref()) };
        let Head { capacity, is_on_heap, .. } = *self.front();
        if is_on_heap {
            // SAFETY: no frame is left, and this is the end of its owner.
            unsafe { free(self.0, capacity) };
        }
        drop(node);
        if !torn.is_empty() {
            Panic::rethrow(torn);
        }
    }
}

impl Frames {
    // Not inlined: usually all frames have run.
    #[cold]
    #[inline(never)]
    fn drop_frames(&mut self, node: Option<&Context>) -> Vec<Panic> {
        let slot = Slot::new(Some(self.0), Home::Heap);
        let mut torn = Vec::new();
        while let Some(mut buffer) = slot.buffer()
            && !buffer.is_empty()
        {
            let (table, value) = frame_at(self.0, buffer.front().head);
            // The bytes stay where they are until the block is freed.
            buffer.skip(table.size);
            // SAFETY: the frame was skipped, so it is dropped once.
            unsafe { (table.drop)(value, &mut torn, node) };
        }
        slot.frames.set(None);
        torn
    }
}
