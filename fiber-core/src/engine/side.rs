//! A race of waits in one fiber: what each of them is.

#![allow(unsafe_code)]

use std::convert::Infallible;
use std::marker::PhantomData;

use crate::cell::EventKey;
use crate::engine::context::{Context, Cx, WaitsFor};
use crate::engine::subject::Subject;
use crate::outcome::Outcome;
use crate::panic::{Panic, discard_part};

/// A wait, and the plain steps behind it, that may be a side of a race in the fiber of that race.
#[doc(hidden)]
pub trait Side: Send + 'static + Sized {
    /// What the event gives.
    type Event: Send + 'static;
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

    /// What it waits for, for reports.
    fn awaited(&self) -> Awaited<'_>;
}

/// What kind of side a description is, or several are together.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Single(u8);

impl Single {
    /// No single wait.
    pub(crate) const NO: Single = Single(0);
    /// One that ends with its event.
    pub(crate) const ONCE: Single = Single(1);
    /// One that may wait again after its event.
    pub(crate) const AGAIN: Single = Single(1 | 2);
    /// One that ends with its event, which comes only once: while the fiber is awake for another event, it is refused.
    pub(crate) const REFUSES: Single = Single(1 | 4);

    /// Whether they can be one wait: an event that comes only once must not be refused between two waits of another side.
    pub(crate) const fn is_one(self) -> bool {
        self.0 != 0 && self.0 != Self::AGAIN.0 | Self::REFUSES.0
    }

    pub(crate) const fn and(self, other: Single) -> Single {
        if self.0 == 0 || other.0 == 0 { Single::NO } else { Single(self.0 | other.0) }
    }

    /// The same, as far as the types say: `None` if they do not.
    pub(crate) const fn and_of_types(one: Option<Single>, other: Option<Single>) -> Option<Single> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (Some(Single::NO), None) | (None, Some(Single::NO)) => Some(Single::NO),
            _ => None,
        }
    }
}

/// What a side waits for, for reports.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Awaited<'a> {
    /// The kind of event.
    pub(crate) what: WaitsFor,
    /// The fiber whose end it waits for.
    pub(crate) on: Option<&'a Context>,
    /// The primitive, and the number of permits that it asks for.
    pub(crate) at: Option<(&'a Subject, usize)>,
}

impl Awaited<'_> {
    pub(crate) fn of(what: WaitsFor) -> Self {
        Awaited { what, on: None, at: None }
    }

    /// Whether it is one of several events of the same kind that have no names.
    pub(crate) fn is_like(self, other: Awaited<'_>) -> bool {
        let is_nameless = |side: Awaited<'_>| side.on.is_none() && side.at.is_none();
        self.what == other.what && is_nameless(self) && is_nameless(other)
    }
}

/// A side that is switched off waits for ever.
impl<S: Side> Side for Option<S> {
    type Event = S::Event;
    type Out = S::Out;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<S::Event> {
        self.as_mut()?.poll(cx)
    }

    unsafe fn register(&mut self, cx: &Cx<'_>, event: EventKey) -> Option<S::Event> {
        // SAFETY: by the contract.
        unsafe { self.as_mut()?.register(cx, event) }
    }

    fn woken(&mut self, cx: &Cx<'_>, index: u64) -> Option<S::Event> {
        self.as_mut()?.woken(cx, index)
    }

    fn missed(&mut self, cx: &Cx<'_>) -> Option<S::Event> {
        self.as_mut()?.missed(cx)
    }

    fn deregister(&mut self, cx: &Cx<'_>) {
        if let Some(side) = self {
            side.deregister(cx);
        }
    }

    fn leave(&mut self) {
        if let Some(side) = self {
            side.leave();
        }
    }

    fn end(self, cx: &Cx<'_>, event: S::Event) -> Outcome<S::Out> {
        self.expect("its event has happened").end(cx, event)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        if let Some(side) = self {
            side.discard(torn);
        }
    }

    fn awaited(&self) -> Awaited<'_> {
        self.as_ref().map_or(Awaited::of(WaitsFor::Never), Side::awaited)
    }
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

    fn awaited(&self) -> Awaited<'_> {
        match self.0 {}
    }
}

/// A side with its type hidden.
pub(crate) struct HiddenSide<T>(Box<dyn AnySide<T>>);

impl<T: Send + 'static> HiddenSide<T> {
    pub(crate) fn new(side: impl Side<Out = T>) -> Self {
        HiddenSide(Box::new(Happened { side, event: None }))
    }
}

/// The event stays in the box, which knows its type.
impl<T: Send + 'static> Side for HiddenSide<T> {
    type Event = ();
    type Out = T;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<()> {
        self.0.poll(cx)
    }

    unsafe fn register(&mut self, cx: &Cx<'_>, event: EventKey) -> Option<()> {
        // SAFETY: by the contract. The side is in the box, wherever this moves.
        unsafe { self.0.register(cx, event) }
    }

    fn woken(&mut self, cx: &Cx<'_>, index: u64) -> Option<()> {
        self.0.woken(cx, index)
    }

    fn missed(&mut self, cx: &Cx<'_>) -> Option<()> {
        self.0.missed(cx)
    }

    fn deregister(&mut self, cx: &Cx<'_>) {
        self.0.deregister(cx);
    }

    fn leave(&mut self) {
        self.0.leave();
    }

    fn end(self, cx: &Cx<'_>, (): ()) -> Outcome<T> {
        self.0.end(cx)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.0.discard(torn);
    }

    fn awaited(&self) -> Awaited<'_> {
        self.0.awaited()
    }
}

/// As [`Side`], of any type.
trait AnySide<T>: Send {
    fn poll(&mut self, cx: &Cx<'_>) -> Option<()>;
    /// # Safety
    /// As [`Side::register`].
    unsafe fn register(&mut self, cx: &Cx<'_>, event: EventKey) -> Option<()>;
    fn woken(&mut self, cx: &Cx<'_>, index: u64) -> Option<()>;
    fn missed(&mut self, cx: &Cx<'_>) -> Option<()>;
    fn deregister(&mut self, cx: &Cx<'_>);
    fn leave(&mut self);
    fn end(self: Box<Self>, cx: &Cx<'_>) -> Outcome<T>;
    fn discard(self: Box<Self>, torn: &mut Vec<Panic>);
    fn awaited(&self) -> Awaited<'_>;
}

/// A side, and its event when that has happened.
struct Happened<S: Side> {
    side: S,
    event: Option<S::Event>,
}

impl<S: Side> Happened<S> {
    #[inline]
    fn keep(&mut self, event: Option<S::Event>) -> Option<()> {
        self.event = event;
        self.event.is_some().then_some(())
    }
}

impl<S: Side> AnySide<S::Out> for Happened<S> {
    fn poll(&mut self, cx: &Cx<'_>) -> Option<()> {
        let event = self.side.poll(cx);
        self.keep(event)
    }

    unsafe fn register(&mut self, cx: &Cx<'_>, event: EventKey) -> Option<()> {
        // SAFETY: by the contract.
        let event = unsafe { self.side.register(cx, event) };
        self.keep(event)
    }

    fn woken(&mut self, cx: &Cx<'_>, index: u64) -> Option<()> {
        let event = self.side.woken(cx, index);
        self.keep(event)
    }

    fn missed(&mut self, cx: &Cx<'_>) -> Option<()> {
        let event = self.side.missed(cx);
        self.keep(event)
    }

    fn deregister(&mut self, cx: &Cx<'_>) {
        self.side.deregister(cx);
    }

    fn leave(&mut self) {
        self.side.leave();
    }

    fn end(self: Box<Self>, cx: &Cx<'_>) -> Outcome<S::Out> {
        let Happened { side, event } = *self;
        side.end(cx, event.expect("its event has happened"))
    }

    fn discard(self: Box<Self>, torn: &mut Vec<Panic>) {
        let Happened { side, event } = *self;
        side.discard(torn);
        discard_part(event, torn);
    }

    fn awaited(&self) -> Awaited<'_> {
        self.side.awaited()
    }
}
