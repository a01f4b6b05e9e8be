//! The wake-up of an operation that waits in the list of a primitive.

#![allow(unsafe_code)]

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;
use std::task::Waker;

use super::Context;
use super::race::RaceKey;
use super::wakeup::{Committed, EventOf, Wakeup};
use crate::cell::{EventKey, Target};

/// Ends the wait of one operation, which stays where it is until it has left its list, or its event has ended the wait.
///
/// So the fiber outlives the seat, which borrows it: in two words, without a count.
pub struct Seat(Target<Alias>);

/// A copy of a context that does not count as a reference. Only a [`Seat`] has one.
struct Alias(ManuallyDrop<Context>);

impl Alias {
    #[inline]
    fn of(fiber: &Context) -> Self {
        // SAFETY: it is not dropped, and not used after the fiber has ended, by the contract of `Seat::of_fiber`.
        Alias(ManuallyDrop::new(unsafe { ptr::read(fiber) }))
    }
}

impl Seat {
    /// # Safety
    /// The operation that gets it is a part of this fiber's frames. It is neither moved nor dropped before it has left, or its event has
    /// ended the wait.
    #[inline]
    pub(crate) unsafe fn of_fiber(fiber: &Context, event: EventKey) -> Self {
        Seat(Target::of_fiber(Alias::of(fiber), event.to_number()))
    }

    /// # Safety
    /// The operation that gets it is neither moved nor dropped before it has left, or its event has ended the wait.
    pub(crate) unsafe fn of_waker(waker: Waker) -> Self {
        Seat(Target::of_waker(waker))
    }

    #[inline]
    fn event(&self) -> Option<EventOf<'_>> {
        self.0.fiber().map(|(Alias(fiber), event)| EventOf::numbered((fiber, event)))
    }

    /// See [`Wakeup::is_raced`].
    #[inline]
    pub(crate) fn is_raced(&self) -> bool {
        self.event().is_some_and(EventOf::is_raced)
    }

    /// See [`Wakeup::claim`].
    pub(crate) fn claim(&self) -> bool {
        self.event().is_none_or(EventOf::claim)
    }

    /// Whether the fiber looks at the event once more. For a seat whose [`commit`](Seat::commit) has failed: see [`Wakeup::is_missed`].
    pub(crate) fn is_missed(&self) -> bool {
        self.event().is_some_and(EventOf::is_missed)
    }

    /// Whether both wake the same fiber, or sides of the same race that are single waits. So not both events can happen.
    pub(crate) fn is_beside(&self, other: &Seat) -> bool {
        self.event().zip(other.event()).is_some_and(|(one, other)| one.is_beside(other))
    }

    /// Two seats have one of these in common exactly if they are of one fiber, or of sides of one race: an event of a third fiber ends the
    /// wait of one of them.
    pub(crate) fn race_keys(&self) -> impl Iterator<Item = RaceKey> {
        self.event().into_iter().flat_map(EventOf::race_keys)
    }

    /// See [`Wakeup::commit`].
    ///
    /// # Errors
    /// Returns the seat if the wait is already over.
    #[inline]
    pub(crate) fn commit(self) -> Result<Committed, Seat> {
        match self.0.into_inner() {
            Ok((Alias(fiber), event)) => EventOf::numbered((&fiber, event))
                .commit()
                .ok_or_else(|| Seat(Target::of_fiber(Alias::of(&fiber), event))),
            Err(waker) => Ok(Committed::of_waker(waker)),
        }
    }

    /// For an event that needs no place in a list.
    pub(crate) fn into_wakeup(self) -> Wakeup {
        match self.0.into_inner() {
            Ok((Alias(fiber), event)) => {
                Wakeup::of_fiber(Context::clone(&fiber), EventKey::from_number(event))
            }
            Err(waker) => Wakeup::from(waker),
        }
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Seat").field(&self.event().map(|EventOf(fiber, _)| fiber)).finish()
    }
}
