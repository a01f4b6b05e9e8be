//! The driver of a block, and the frame that continues it.
#![allow(unsafe_code)]

use std::convert::Infallible;
use std::mem::{self, ManuallyDrop};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

use super::awaited::{Arrived, end_apart};
use super::port::{Current, Guest, LeftBy, Own, Port, Waits, keep};
use super::stop::{Gives, Leaving, Stop};
use super::waker::Park;
use crate::cell::Recycled;
use crate::engine::boxed::{Boxed, Erased};
use crate::engine::context::{Context, Cx};
use crate::engine::frames::{Frame as FrameOf, Left, Visit, Waiting};
use crate::engine::hidden::{Hidden, Table};
use crate::engine::scheduler::SwitchPoint;
use crate::engine::step::{Run, Step};
use crate::error::{Cancelled, Frame};
use crate::fiber::Fiber;
use crate::leaf::Leaf;
use crate::outcome::Outcome;
use crate::panic::guard;

/// Makes the fiber of a block of the macro.
#[doc(hidden)]
#[inline]
#[track_caller]
pub fn block<T, F>(_: Gives<T>, future: F) -> Fiber<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Stop<T>>> + Send + 'static,
{
    Fiber::new(new(future, Frame::new("fiber!", Location::caller()), |output, _| output))
}

/// Makes a block, erased. `end` translates the output of its future.
#[inline]
pub(crate) fn new<T: Send + 'static, F: Future + Send + 'static>(
    future: F,
    frame: Frame,
    end: fn(F::Output, Frame) -> Result<T, Stop<T>>,
) -> Boxed<T> {
    Boxed::erased(Recycled::new(|| Block { future, is_paused: false, own: Own::default(), frame, end }))
}

/// A block, in one allocation for its whole life: not started, running, waiting.
struct Block<T, F: Future> {
    future: F,
    /// Whether the next turn begins with the wait that is due.
    is_paused: bool,
    own: Own,
    frame: Frame,
    /// Translates the output of the future into the end of the block.
    end: fn(F::Output, Frame) -> Result<T, Stop<T>>,
}

impl<T: Send + 'static, F: Future + Send + 'static> Block<T, F> {
    /// Returns `None` if the block has to [wait](Block::wait).
    fn poll(&mut self, cx: &Cx<'_>, arrived: Option<&dyn Arrived>, left: &LeftBy) -> Option<Over<T>> {
        if let Some(waker) = self.own.waker.get() {
            waker.begin_poll();
        }
        let is_paused = mem::replace(&mut self.is_paused, false);
        let port = Port::new(cx, left, &self.own, is_paused, arrived);
        // SAFETY: the port stays here.
        let waker = unsafe { port.waker() };
        // SAFETY: the block is in a box, and is never moved out of it.
        let future = unsafe { Pin::new_unchecked(&mut self.future) };
        let polled = {
            let _current = Current::enter(&port);
            guard(|| future.poll(&mut task::Context::from_waker(&waker)))
        };
        port.settle(!matches!(polled, Ok(Poll::Pending)));
        if matches!(polled, Ok(Poll::Pending)) && !port.is_stopped() {
            return None;
        }
        let waits = left.waits.replace(Waits::Parked);
        Some(match (polled, waits) {
            (Ok(Poll::Ready(output)), _) => over((self.end)(output, self.frame), &port),
            (Err(panic), _) => Over::Done(Outcome::Panicked(panic).passed(self.frame)),
            (Ok(Poll::Pending), Waits::Stopped(outcome)) => Over::Done(outcome.map(|never| match never {})),
            (Ok(Poll::Pending), _) => unreachable!("the block has ended"),
        })
    }
}

impl<T: Send + 'static, F: Future + Send + 'static> Recycled<Block<T, F>> {
    fn wait<'s>(mut self, cx: &'s Cx<'_>, left: &mut LeftBy) -> Step<'s, T> {
        match left.waits.get_mut() {
            // SAFETY: the pointer came from the last poll of this block, which this call owns.
            Waits::Pushed(slot, push) => unsafe { push(*slot, cx, Rest::of(self)) },
            Waits::Await => match left.guest.replace(Guest::None) {
                Guest::Waits(asked) => asked.wait_here(cx, Rest::of(self)),
                _ => unreachable!("it was asked for"),
            },
            Waits::Paused => {
                self.as_mut().is_paused = true;
                let _ = cx.yields().push(cx, Woken(Rest::of(self)));
            }
            Waits::Parked => {
                let block = self.as_mut();
                let park = Park(block.own.waker.get_or_init(Arc::default).clone());
                let leaf = Leaf::new(park, block.frame.location()).placed();
                let _ = cx.wait(leaf).push(cx, Woken(Rest::of(self)));
            }
            Waits::Stopped(_) => unreachable!("the block would have ended"),
        }
        // SAFETY: the newest frame continues this block, which gives a `T`.
        Step::Wait(unsafe { Waiting::of_newest(cx) })
    }

    /// Drops the variables of the block, which is user code. That cancels awaited fibers that have moved apart, which
    /// have to end before the block does. Continues with the rest of the program.
    fn end<'s>(mut self, cx: &'s Cx<'_>, over: Over<T>) -> Step<'s, T> {
        let apart = self.as_mut().own.apart.take();
        let over = match over {
            Over::Done(outcome) => Over::Done(outcome.without(self, cx)),
            Over::Tail(next, may_start) => match guard(|| drop(self)) {
                Ok(()) => Over::Tail(next, may_start),
                Err(panic) => Over::Done(Outcome::Panicked(panic).without(next, cx)),
            },
        };
        end_apart(cx, over, apart)
    }

    /// Polls the block.
    fn step<'s>(mut self, cx: &'s Cx<'_>, arrived: Option<&dyn Arrived>) -> Step<'s, T> {
        // Not dropped: nothing in it has a drop when this ends.
        let mut left = ManuallyDrop::new(LeftBy::nothing());
        match self.as_mut().poll(cx, arrived, &left) {
            None => self.wait(cx, &mut left),
            Some(over) => self.end(cx, over),
        }
    }
}

/// The end of a block, for its driver.
pub(super) enum Over<T> {
    Done(Outcome<T>),
    /// It continues as the fiber in tail position; the flag says whether that may start in this turn.
    Tail(Boxed<T>, bool),
}

impl<T: Send + 'static> Over<T> {
    pub(super) fn go_on<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        match self {
            Over::Done(outcome) => Step::Done(outcome),
            Over::Tail(next, false) => next.run_later(cx),
            Over::Tail(next, true) => next.run(cx),
        }
    }
}

fn over<T: Send + 'static>(end: Result<T, Stop<T>>, port: &Port<'_>) -> Over<T> {
    match end {
        Ok(value) => Over::Done(Outcome::Success(value)),
        // An ancestor was cancelled, and with it the block and a fiber that the block awaited.
        Err(Stop(Leaving::Failed(error))) if error.is::<Cancelled>() && port.cx().is_interrupted() => {
            Over::Done(Outcome::Cancelled)
        }
        Err(Stop(Leaving::Failed(error))) => Over::Done(Outcome::Failure(error)),
        Err(Stop(Leaving::Tail(next, site, after_code))) => {
            let goes_on = !port.pass_point(after_code)
                || port.cx().spend()
                || port.cx().ask(SwitchPoint::Bind(Frame::new("return!", site)));
            Over::Tail(next, goes_on)
        }
    }
}

impl<T: Send + 'static, F: Future + Send + 'static> Erased<T> for Block<T, F> {
    fn run<'s>(this: Recycled<Self>, cx: &'s Cx<'_>) -> Step<'s, T> {
        if cx.is_interrupted() { this.end(cx, Over::Done(Outcome::Cancelled)) } else { this.step(cx, None) }
    }
}

/// A block that waits, with its type hidden.
pub(super) struct Rest(Hidden<Functions>);

/// Called with blocks of their type only, by [`Rest`].
struct Functions {
    go_on: fn(Rest, &Cx<'_>, Option<&dyn Arrived>) -> Left,
    stop: fn(Rest, &Cx<'_>, Outcome<Infallible>) -> Left,
    /// Its future may refer to itself, so nothing makes a shared reference to the whole of a block, which would deny the references
    /// inside.
    own: fn(&mut Rest) -> &mut Own,
}

impl Rest {
    #[inline]
    fn of<T: Send + 'static, F: Future + Send + 'static>(block: Recycled<Block<T, F>>) -> Self {
        // SAFETY: the table is that of the type.
        Rest(unsafe { Hidden::new(block, Block::<T, F>::TABLE) })
    }

    /// Polls the block again. `arrived`: because of the end of an awaited fiber.
    #[inline]
    pub(super) fn go_on(self, cx: &Cx<'_>, arrived: Option<&dyn Arrived>) -> Left {
        (self.0.functions().go_on)(self, cx, arrived)
    }

    /// Drops the block, and continues with the outcome.
    pub(super) fn stop(self, cx: &Cx<'_>, outcome: Outcome<Infallible>) -> Left {
        (self.0.functions().stop)(self, cx, outcome)
    }

    fn own(&mut self) -> &mut Own {
        (self.0.functions().own)(self)
    }

    /// Stores the place in which a fiber that was awaited in place has forked.
    pub(super) fn keep(&mut self, place: &Context) {
        keep(&self.own().apart, Some(place));
    }

    /// Shows the node of the awaited fibers that have moved apart.
    pub(super) fn visit(&mut self, visit: &mut Visit<'_>) {
        if let Visit::Parts(found) = visit {
            found.extend(self.own().apart.get().map(|apart| Context::clone(apart)));
        }
    }

    /// Drops the block. `arrived`: the end of the fiber that it has waited for in place, whose future may be elsewhere.
    pub(super) fn abandon(mut self, arrived: &dyn Arrived) {
        let exchange = self.own().exchange.take();
        drop(self);
        // With one reference, the future was in the block.
        if let Some(exchange) = exchange.filter(|exchange| Arc::strong_count(exchange) > 1) {
            arrived.leave(&exchange);
        }
    }
}

impl<T: Send + 'static, F: Future + Send + 'static> Block<T, F> {
    const TABLE: &'static Table<Functions> = &Table::of::<Self>(Functions {
        go_on: |Rest(block), cx, arrived| {
            // SAFETY: the block is of this type.
            let block = unsafe { block.reveal::<Self>() };
            cx.leave_step(block.step(cx, arrived))
        },
        stop: |Rest(block), cx, outcome| {
            // SAFETY: as above.
            let block = unsafe { block.reveal::<Self>() };
            cx.leave_step(block.end(cx, Over::Done(outcome.map(|never| match never {}))))
        },
        // SAFETY: as above.
        own: |Rest(block)| unsafe { &mut block.as_mut::<Self>().own },
    });
}

/// Continues a block that its waker has woken, or that has to be polled again for another reason.
struct Woken(Rest);

impl FrameOf<()> for Woken {
    type Out = ();
    const VISITS: bool = true;

    fn visit(&mut self, visit: &mut Visit<'_>) {
        self.0.visit(visit);
    }

    fn resume(self, cx: &Cx<'_>, outcome: Outcome<()>) -> Left {
        match outcome.split::<Infallible>() {
            Ok(()) => self.0.go_on(cx, None),
            Err(other) => self.0.stop(cx, other),
        }
    }
}
