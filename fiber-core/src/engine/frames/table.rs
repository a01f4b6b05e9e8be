//! The functions behind a frame, which know its type.

use std::marker::PhantomData;
use std::ptr;

use super::buffer::{Table, borrow_value, frame_size, read_value};
use super::leaf_table::{LeafTable, Park, Why};
use super::pair::{Pair, is_over_aligned};
use super::{Begun, Frame, Left, Visit, Waits};
use crate::cell::Signal;
use crate::engine::context::{Context, Cx};
use crate::engine::step::{Follow, follow};
use crate::outcome::Outcome;
use crate::panic::{Panic, discard_part, guard};

/// A step, as a frame.
pub(crate) struct Stepped<N>(pub(crate) N);

impl<T: Send + 'static, N: Follow<T>> Frame<T> for Stepped<N> {
    type Out = N::Out;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn resume(self, cx: &Cx<'_>, outcome: Outcome<T>) -> Left {
        cx.leave_step(follow(self.0, cx, outcome))
    }

    fn discard(self, torn: &mut Vec<Panic>, _: Option<&Context>) {
        self.0.discard(torn);
    }
}

/// The frames of type `F`, after an outcome of `T`.
pub(super) struct Of<T, F>(PhantomData<(T, F)>);

impl<T: Send + 'static, F: Frame<T>> Of<T, F> {
    pub(super) const TABLE: &'static Table = &Table {
        resume: Self::resume,
        drop: Self::drop,
        visit: if F::VISITS { Some(Self::visit) } else { None },
        leaf: None,
        size: frame_size::<F>() as u32,
    };

    /// # Safety
    /// As [`Table::resume`].
    unsafe fn resume(cx: &Cx<'_>, value: Pair) -> Pair {
        // SAFETY: this frame was pushed.
        let frames = unsafe { cx.pushed() };
        // SAFETY: the frame before has left an outcome of this type, by the types of `Waiting::push`.
        let outcome = unsafe { frames.unpack::<Outcome<T>>(value) };
        // SAFETY: the table is that of the first frame.
        let frame = unsafe { frames.pop::<F>() };
        frame.resume(cx, outcome).0
    }

    /// # Safety
    /// As [`Table::drop`].
    unsafe fn drop(value: *mut u8, torn: &mut Vec<Panic>, place: Option<&Context>) {
        // SAFETY: the table is that of the frame.
        unsafe { read_value::<F>(value) }.discard(torn, place);
    }

    /// # Safety
    /// As [`Table::visit`].
    unsafe fn visit(value: *mut u8, visit: &mut Visit<'_>) {
        // SAFETY: the table is that of the frame.
        unsafe { borrow_value::<F>(value) }.visit(visit);
    }
}

/// The frames of leaves of type `L`.
pub(super) struct LeafOf<L>(PhantomData<L>);

impl<L: Waits> LeafOf<L> {
    pub(super) const TABLE: &'static Table = &Table {
        resume: Self::resume,
        drop: Self::drop,
        visit: None,
        leaf: Some(&LeafTable { begin: L::BEGIN, yields: L::YIELDS, counts: L::COUNTS }),
        size: frame_size::<L>() as u32,
    };

    /// # Safety
    /// As [`Table::resume`].
    unsafe fn resume(cx: &Cx<'_>, why: Pair) -> Pair {
        // SAFETY: this frame was pushed.
        let frames = unsafe { cx.pushed() };
        // What yields is the engine's own, and pushes nothing.
        let outcome = if const { L::YIELDS } {
            // SAFETY: the table is that of the first frame.
            unsafe { frames.first::<L>() }.wake(cx, Signal::Fired)
        } else {
            frames.lock(true);
            // SAFETY: a leaf is resumed with such a pair.
            match unsafe { why.take::<Why<L::Event>>() } {
                // SAFETY: as above, and the buffer is locked.
                Why::Woken(signal) => unsafe { frames.first::<L>() }.wake(cx, signal),
                // SAFETY: it is valid for this call.
                Why::Ready(outcome) => unsafe { (*outcome).take() },
                Why::Kept(outcome) => Some(*outcome),
            }
        };
        match outcome {
            Some(outcome) => {
                // SAFETY: by the contract.
                let outcome = unsafe { Self::end(cx, outcome) };
                cx.pack(outcome)
            }
            None => {
                frames.set_waits(true);
                Pair::EMPTY
            }
        }
    }

    /// # Safety
    /// As [`Table::drop`].
    unsafe fn drop(value: *mut u8, torn: &mut Vec<Panic>, _: Option<&Context>) {
        // SAFETY: the table is that of the leaf.
        torn.extend(guard(|| unsafe { borrow_value::<L>(value) }.leave()).err());
        // SAFETY: as above.
        unsafe { read_value::<L>(value) }.discard(torn);
    }

    /// # Safety
    /// As [`Begin`](super::leaf_table::Begin).
    pub(super) unsafe fn begin(cx: &Cx<'_>, value: Option<&mut Pair>) -> Park {
        let frames = cx.frames();
        frames.lock(true);
        // SAFETY: by the contract. A step that goes along lies behind the leaf.
        let begun = unsafe { frames.first::<L>() }.begin(cx);
        frames.lock(false);
        match begun {
            Begun::Registered { is_shielded: false } => Park::InSlot,
            Begun::Registered { is_shielded: true } => Park::InShieldedSlot,
            Begun::FromBottom => Park::FromBottom,
            Begun::Elsewhere(submit) => Park::Elsewhere(submit),
            Begun::Ready(outcome) => Self::end_at_once(cx, outcome, value),
        }
    }

    /// Its event has happened while it registered.
    #[inline]
    fn end_at_once(cx: &Cx<'_>, outcome: Outcome<L::Event>, value: Option<&mut Pair>) -> Park {
        let Some(value) = value else {
            cx.keep(outcome);
            return Park::FromBottom;
        };
        let mut outcome = Some(outcome);
        let why = Pair::of(Why::Ready(&raw mut outcome));
        // SAFETY: the table is that of the first frame, a leaf with such an event.
        *value = unsafe { (cx.frames().table().resume)(cx, why) };
        cx.spend_on_wait();
        Park::Not
    }

    /// Unlocks the buffer.
    ///
    /// # Safety
    /// The leaf is the first frame.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn end(cx: &Cx<'_>, outcome: Outcome<L::Event>) -> Outcome<L::Out> {
        let frames = cx.frames();
        if const { is_over_aligned::<L>() } {
            frames.lock(false);
            // SAFETY: by the contract.
            return unsafe { frames.pop::<L>() }.end(cx, outcome);
        }
        // SAFETY: by the contract.
        let at = ptr::from_mut(unsafe { frames.first::<L>() });
        frames.skip(const { frame_size::<L>() } as u32);
        // SAFETY: the frame was skipped, so nothing else takes it, and its bytes stay until a frame is pushed, which is when the buffer is
        // unlocked.
        unsafe { L::end_at(at, cx, outcome) }
    }
}

/// The frame of an outcome for the leaf of the group below.
struct KeptFor<E>(PhantomData<E>);

impl<E: Send + 'static> KeptFor<E> {
    const TABLE: &'static Table = &Table {
        resume: Self::resume,
        drop: Self::drop,
        visit: None,
        // It has begun.
        leaf: None,
        size: frame_size::<Box<Outcome<E>>>() as u32,
    };

    /// # Safety
    /// As [`Table::resume`].
    unsafe fn resume(cx: &Cx<'_>, _: Pair) -> Pair {
        // SAFETY: the table is that of the first frame.
        Pair::of(Why::Kept(unsafe { cx.frames().pop::<Box<Outcome<E>>>() }))
    }

    /// # Safety
    /// As [`Table::drop`].
    unsafe fn drop(value: *mut u8, torn: &mut Vec<Panic>, _: Option<&Context>) {
        // SAFETY: the table is that of the frame.
        discard_part(unsafe { read_value::<Box<Outcome<E>>>(value) }, torn);
    }
}

impl Cx<'_> {
    /// Leaves an outcome for the first frame, which is a leaf. The fiber continues from the bottom of the stack.
    #[cold]
    fn keep<E: Send + 'static>(&self, outcome: Outcome<E>) {
        // SAFETY: the table is that of such frames.
        unsafe { self.push(None, KeptFor::<E>::TABLE, Box::new(outcome)) };
        self.frames().set_waits(false);
    }
}
