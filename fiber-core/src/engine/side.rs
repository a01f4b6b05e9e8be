//! A race of waits in one fiber: what each of them is.

#![allow(unsafe_code)]

use std::convert::Infallible;
use std::marker::PhantomData;

use crate::cell::EventKey;
use crate::engine::context::{Cx, WaitsFor};
use crate::engine::subject::Subject;
use crate::outcome::Outcome;
use crate::panic::{Panic, discard_part};

/// A wait, and the plain steps behind it, that may be a side of a race in the fiber of that race.
#[doc(hidden)]
pub trait Side: Send + 'static + Sized {
    /// What the event gives.
    type Event;
    /// What the steps behind it give.
    type Out: Send + 'static;

    /// Looks whether the event has happened, before the first wait.
    fn poll(&mut self, cx: &Cx<'_>) -> Option<Self::Event>;

    /// Leaves a wake-up with the event, or gives what the event has given meanwhile.
    ///
    /// # Safety
    /// The side is neither moved nor dropped until `deregister`, `missed` or `leave` was called, or until `woken` has given an outcome.
    unsafe fn register(&mut self, cx: &Cx<'_>, event: EventKey) -> Option<Self::Event>;

    /// Its wake-up was fired, that of event number `index` of the side. `None`: it is registered again.
    fn woken(&mut self, cx: &Cx<'_>, index: u64) -> Option<Self::Event>;

    /// See [`Awaits::missed`](crate::leaf::Awaits::missed).
    fn missed(&mut self, cx: &Cx<'_>) -> Option<Self::Event>;

    /// Removes the wake-up, and passes on a value that was already given to it.
    fn deregister(&mut self, cx: &Cx<'_>);

    /// The same, because the fiber is abandoned.
    fn leave(&mut self);

    /// Takes the steps of a side that has won.
    fn end(self, cx: &Cx<'_>, event: Self::Event) -> Outcome<Self::Out>;

    /// Drops a side that has lost.
    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self, torn);
    }

    /// The kind of event, and the primitive, for reports.
    fn awaited(&self) -> (WaitsFor, Option<&Subject>);
}

/// The side that a description gives which is no wait. It is never made.
pub(crate) struct NoSide<T>(Infallible, PhantomData<fn() -> T>);

impl<T> NoSide<T> {
    pub(crate) fn unreachable() -> Self {
        unreachable!("a description that is no wait is no side")
    }
}

impl<T: Send + 'static> Side for NoSide<T> {
    type Event = Infallible;
    type Out = T;

    fn poll(&mut self, _: &Cx<'_>) -> Option<Infallible> {
        match self.0 {}
    }

    unsafe fn register(&mut self, _: &Cx<'_>, _: EventKey) -> Option<Infallible> {
        match self.0 {}
    }

    fn woken(&mut self, _: &Cx<'_>, _: u64) -> Option<Infallible> {
        match self.0 {}
    }

    fn missed(&mut self, _: &Cx<'_>) -> Option<Infallible> {
        match self.0 {}
    }

    fn deregister(&mut self, _: &Cx<'_>) {
        match self.0 {}
    }

    fn leave(&mut self) {
        match self.0 {}
    }

    fn end(self, _: &Cx<'_>, _: Infallible) -> Outcome<T> {
        match self.0 {}
    }

    fn awaited(&self) -> (WaitsFor, Option<&Subject>) {
        match self.0 {}
    }
}
