//! The functions behind a frame, which know its type.

use std::marker::PhantomData;
use std::ptr;

use super::buffer::{Pair, Table, borrow_value, frame_size, is_over_aligned, read_value};
use super::leaf_table::{LeafTable, Park};
use super::{Begun, Frame, Given, Left, Visit, Waits};
use crate::cell::Signal;
use crate::engine::context::{Context, Cx};
use crate::engine::step::{Follow, follow};
use crate::outcome::Outcome;
use crate::panic::{Panic, guard};

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
        leaf: Some(&LeafTable {
            begin: Self::begin,
            cancel: Self::cancel,
            yields: L::YIELDS,
            counts: L::COUNTS,
        }),
        size: frame_size::<L>() as u32,
    };

    /// # Safety
    /// As [`Table::resume`].
    unsafe fn resume(cx: &Cx<'_>, _: Pair) -> Pair {
        // SAFETY: as here.
        unsafe { Self::wake(cx, Signal::Fired) }
    }

    /// # Safety
    /// As [`LeafTable::cancel`].
    unsafe fn cancel(cx: &Cx<'_>) -> Pair {
        // SAFETY: as here.
        unsafe { Self::wake(cx, Signal::Cancelled) }
    }

    /// # Safety
    /// The leaf is the first frame.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn wake(cx: &Cx<'_>, signal: Signal) -> Pair {
        // SAFETY: this frame was pushed.
        let frames = unsafe { cx.pushed() };
        // What yields is the engine's own, and pushes nothing.
        if const { !L::YIELDS } {
            frames.lock(true);
        }
        // SAFETY: the table is that of the first frame, and the buffer is locked.
        let outcome = unsafe { frames.first::<L>() }.wake(cx, signal);
        match outcome {
            Some(outcome) => {
                // SAFETY: by the contract.
                let outcome = unsafe { Self::end(cx, outcome) };
                cx.frames().pack(outcome)
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
    /// As [`LeafTable::begin`].
    unsafe fn begin(cx: &Cx<'_>, value: Option<&mut Pair>) -> Park {
        let frames = cx.frames();
        frames.lock(true);
        // SAFETY: as above.
        let park = match unsafe { frames.first::<L>() }.begin(cx) {
            Begun::Registered { is_shielded: false } => Park::InSlot,
            Begun::Registered { is_shielded: true } => Park::InShieldedSlot,
            Begun::FromBottom => Park::FromBottom,
            Begun::Elsewhere(submit) => Park::Elsewhere(submit),
            // SAFETY: by the contract.
            Begun::Ready(outcome) => return unsafe { Self::end_at_once(cx, outcome, value) },
        };
        frames.lock(false);
        park
    }

    /// Its event has happened while it registered.
    ///
    /// # Safety
    /// The leaf is the first frame, and the buffer is locked.
    #[inline]
    unsafe fn end_at_once(cx: &Cx<'_>, outcome: Outcome<L::Event>, value: Option<&mut Pair>) -> Park {
        // SAFETY: by the contract.
        let outcome = unsafe { Self::end(cx, outcome) };
        match value {
            Some(value) => {
                cx.spend_on_wait();
                *value = cx.frames().pack(outcome);
                Park::Not
            }
            None => {
                let _ = cx.wait(Given::<L::Out>(Some(outcome)));
                cx.frames().set_waits(false);
                Park::FromBottom
            }
        }
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
