//! The wait of the macro: `let!` and `do!`.
//!
//! ```text
//!  one allocation:  Block { future: { .. Wait { slot, stage: Waiting } .. }, .. } <── frame: Resume { block, slot }
//!                                     ^                                                           |
//!                                     +-----------------------------------------------------------+
//! ```
//!
//! The frame [`Resume`] points to the slot of the [`Wait`] that returned `Pending`, inside the pinned future. Only that frame, which owns
//! the block's box, may follow the pointer.
#![allow(unsafe_code)]

use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomPinned;
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{self, Poll};

use super::drive::Rest;
use super::port::Port;
use crate::engine::context::Cx;
use crate::engine::frames::{Frame as FrameOf, Left, Visit, Waiting};
use crate::engine::step::{Run, Step};
use crate::error::{Frame, Site};
use crate::fiber::IntoFiber;
use crate::outcome::Outcome;

/// `let!` and `do!`: waits for the value. Code of the block may have run before it in the same turn.
///
/// # Safety
/// The future is awaited at once, by the `async` block that is passed to [`block`](super::block), and not inside another future,
/// which might drop it before the block ends, or poll it beside another one.
#[doc(hidden)]
#[inline]
#[track_caller]
pub unsafe fn wait<I: IntoFiber>(fiber: I) -> Wait<I::Run, I::Out> {
    Wait::new(fiber)
}

/// As [`wait`], where the block has run no code yet, except between other waits.
///
/// # Safety
/// As [`wait`].
#[doc(hidden)]
#[inline]
#[track_caller]
pub unsafe fn wait_first<I: IntoFiber>(fiber: I) -> Wait<I::Run, I::Out, false> {
    Wait::new(fiber)
}

impl<R: Run, const AFTER_CODE: bool> Wait<R, R::Out, AFTER_CODE> {
    #[inline]
    #[track_caller]
    fn new<I: IntoFiber<Run = R, Out = R::Out>>(fiber: I) -> Self {
        Wait {
            slot: Slot { value: None, site: Location::caller() },
            stage: Stage::New(fiber.into_fiber().into_run()),
            _pin: PhantomPinned,
        }
    }
}

/// Replaces a wait in a position where none is allowed, so that its type is known and the misplaced wait is the only error.
#[doc(hidden)]
pub fn misplaced<I: IntoFiber>(_: I) -> I::Out {
    unreachable!("the macro has reported an error")
}

/// The future behind `let!` and `do!`.
///
/// `T` is the value of `R`. It is a parameter of its own, because the compiler checks the auto traits of a block with all lifetimes
/// erased, where a bound `R: Run` does not hold (rust-lang/rust#110338).
///
/// `AFTER_CODE`: code of the block may have run before it in the same turn, so it is a scheduling point.
#[must_use = "waits for nothing until it is awaited"]
pub struct Wait<R, T, const AFTER_CODE: bool = true> {
    slot: Slot<T>,
    stage: Stage<R>,
    _pin: PhantomPinned,
}

// SAFETY: only `Wait::new` makes a `Wait`, and it requires `R: Run`, which implies `R: Send` and `R::Out: Send`. The doc of the type says why the impl itself has no bounds.
unsafe impl<R, T, const AFTER_CODE: bool> Send for Wait<R, T, AFTER_CODE> {}

impl<R, T, const AFTER_CODE: bool> fmt::Debug for Wait<R, T, AFTER_CODE> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wait at {}", self.slot.site)
    }
}

/// The slot for the value of a wait.
struct Slot<T> {
    value: Option<T>,
    site: Site,
}

impl<T> Slot<T> {
    fn frame(&self) -> Frame {
        Frame::new("bind", self.site)
    }
}

enum Stage<R> {
    New(R),
    Waiting,
    Gone,
}

impl<R: Run, const AFTER_CODE: bool> Future for Wait<R, R::Out, AFTER_CODE> {
    type Output = R::Out;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut task::Context<'_>) -> Poll<R::Out> {
        // SAFETY: nothing that is pinned is moved: descriptions and values are not pinned.
        let this = unsafe { self.get_unchecked_mut() };
        let Some(port) = Port::of(task) else { not_in_a_block() };
        if !matches!(this.stage, Stage::New(_)) {
            return port.arrived(this.slot.value.take());
        }
        if !port.begin_wait(AFTER_CODE, || this.slot.frame()) {
            return Poll::Pending;
        }
        let Stage::New(run) = mem::replace(&mut this.stage, Stage::Gone) else {
            unreachable!("the state was matched above")
        };
        match run.run(port.cx()) {
            Step::Done(Outcome::Success(value)) => return port.arrived(Some(value)),
            Step::Done(other) => port.stop(failed(other, this.slot.frame())),
            Step::Wait(_) => {
                this.stage = Stage::Waiting;
                port.ask_for_pushed(NonNull::from(&mut this.slot).cast(), push::<R::Out>);
            }
        }
        Poll::Pending
    }
}

#[cold]
fn not_in_a_block() -> ! {
    panic!("a wait outside of the block that it belongs to")
}

#[cold]
fn failed<T>(outcome: Outcome<T>, frame: Frame) -> Outcome<Infallible> {
    outcome.passed(frame).map(|_| unreachable!("a success does not stop a block"))
}

/// # Safety
/// `slot` is that of a `Wait` of `T` in the future of `block`, whose frames were pushed by the last poll of it.
unsafe fn push<T: Send + 'static>(slot: NonNull<()>, cx: &Cx<'_>, block: Rest) {
    // SAFETY: by the contract, and a poll of a block pushes nothing after that.
    let waiting = unsafe { Waiting::<T>::of_newest(cx) };
    let _ = waiting.push(cx, Resume { block, slot: slot.cast() });
}

/// Continues a block whose [`Wait`] has an outcome: stores the value in its slot, and polls.
pub(crate) struct Resume<T> {
    block: Rest,
    /// The slot, which is inside the block.
    slot: NonNull<Slot<T>>,
}

// SAFETY: the slot is a part of the block, which this owns. The block is `Send`, and so is the value.
unsafe impl<T: Send> Send for Resume<T> {}

impl<T: Send + 'static> FrameOf<T> for Resume<T> {
    // The block leaves an outcome of its own type.
    type Out = ();
    const VISITS: bool = true;

    fn resume(mut self, cx: &Cx<'_>, outcome: Outcome<T>) -> Left {
        // SAFETY: the slot is inside the block, which this owns, so no other reference to it exists.
        let slot = unsafe { self.slot.as_mut() };
        match outcome {
            Outcome::Success(value) => {
                slot.value = Some(value);
                self.block.go_on(cx, None)
            }
            other => {
                let outcome = failed(other, slot.frame());
                self.block.stop(cx, outcome)
            }
        }
    }

    fn visit(&mut self, visit: &mut Visit<'_>) {
        self.block.visit(visit);
    }
}
