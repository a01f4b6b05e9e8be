//! A value that one side sends, once, and the other one waits for.
//!
//! | state | the value | the waiter | left by the sender, to | left by the receiver, to |
//! |---|---|---|---|---|
//! | `EMPTY` | | | `SENT`, with the value; `ALONE` | `WAITING`, `CLOSED`, `ALONE` |
//! | `WAITING` | | may be taken by the side that leaves the state | `ENDING`, with the value; `ALONE` | `EMPTY`, for another waiter; `CLOSED`, `ALONE` |
//! | `ENDING` | may be taken by the side that leaves the state | is the sender's, which ends its wait | `SENT`, `CLOSED`, `ALONE` | `TAKEN`; `CLOSED` and `ALONE` without the value |
//! | `SENT` | is the receiver's. The sender has left | | | `ALONE`, or freed |
//! | `TAKEN` | is the receiver's | | `ALONE` | `ALONE` |
//! | `CLOSED` | is the sender's, if there is one | | `ALONE` | `ALONE` |
//! | `ALONE` | one side has left: all is the other's, which frees it | | | |
//!
//! A sender that finds a waiter gives the value before it ends the wait, so the woken receiver finds it. If the wait was over, the sender
//! takes the value back, unless the receiver has taken it meanwhile.
#![allow(unsafe_code)]

use std::mem::{forget, replace};
use std::ptr::NonNull;

use super::recycle::{boxed, give};
use crate::primitive::{AtomicU32, Ordering, UnsafeCell};

const EMPTY: u32 = 0;
const WAITING: u32 = 1;
const ENDING: u32 = 2;
const SENT: u32 = 3;
const TAKEN: u32 = 4;
const CLOSED: u32 = 5;
const ALONE: u32 = 6;

/// What both sides have: room for the value and for the waiter, and what they share.
struct Place<V, W, S> {
    state: AtomicU32,
    value: UnsafeCell<Option<V>>,
    waiter: UnsafeCell<Option<W>>,
    shared: S,
}

impl<V, W, S> Place<V, W, S> {
    /// # Safety
    /// By the state, the value is the caller's.
    unsafe fn take_value(&self) -> Option<V> {
        // SAFETY: by the contract.
        self.value.with_mut(|value| unsafe { (*value).take() })
    }

    /// # Safety
    /// The same.
    unsafe fn put_value(&self, new: V) {
        // SAFETY: by the contract.
        self.value.with_mut(|value| unsafe { *value = Some(new) });
    }

    /// # Safety
    /// By the state, the waiter is the caller's.
    unsafe fn swap_waiter(&self, new: Option<W>) -> Option<W> {
        // SAFETY: by the contract.
        self.waiter.with_mut(|waiter| unsafe { replace(&mut *waiter, new) })
    }

    /// Leaves a state for another one, or says which one it is by now.
    #[inline]
    fn pass(&self, from: u32, to: u32) -> Result<(), u32> {
        // AcqRel: Release publishes the value or the waiter to the other side; Acquire, also on failure, pairs with that.
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).map(drop)
    }

    #[inline]
    fn now(&self) -> u32 {
        // Acquire: pairs with the Release of `pass`, and of the drop of an end.
        self.state.load(Ordering::Acquire)
    }
}

/// One of the two handles of a place.
struct End<V, W, S>(NonNull<Place<V, W, S>>);

// SAFETY: the value and the waiter go from one side to the other, which the state decides, and are never shared.
unsafe impl<V: Send, W: Send, S: Send + Sync> Send for End<V, W, S> {}
// SAFETY: a shared end gives access to the state and to what is shared.
unsafe impl<V: Send, W: Send, S: Send + Sync> Sync for End<V, W, S> {}

impl<V, W, S> End<V, W, S> {
    #[inline]
    fn place(&self) -> &Place<V, W, S> {
        // SAFETY: the end that comes second frees the place, when it is dropped.
        unsafe { self.0.as_ref() }
    }
}

impl<V, W, S> Drop for End<V, W, S> {
    /// Leaves. The second side frees the place.
    #[inline]
    fn drop(&mut self) {
        let (place, is_last) = (self.place(), |now| matches!(now, SENT | ALONE));
        // AcqRel: Release for the accesses of this side; Acquire for those of the other one, before the place is freed.
        if is_last(place.now()) || is_last(place.state.swap(ALONE, Ordering::AcqRel)) {
            // SAFETY: the other side has left, and this one uses the place no more.
            unsafe { self.0.drop_in_place() };
            // SAFETY: it came from `boxed`, and its contents were dropped.
            unsafe { give(self.0) };
        }
    }
}

/// The side that sends the value.
pub(crate) struct Sender<V, W, S>(End<V, W, S>);

/// The side that waits for the value.
pub(crate) struct Receiver<V, W, S>(End<V, W, S>);

/// A sender that has given its value, and ends the wait of the receiver.
#[must_use = "the value stays, or is taken back"]
pub(crate) struct Ending<V, W, S>(End<V, W, S>);

/// What became of a value.
#[must_use]
pub(crate) enum Sent<V, W, S> {
    /// It is there for the receiver.
    Left,
    /// The receiver wants none.
    Refused(V),
    /// It is there, and the sender has to end the wait of the receiver.
    Ends(W, Ending<V, W, S>),
}

/// The two sides. Both see what is `shared`.
#[inline]
pub(crate) fn one_shot<V, W, S>(shared: S) -> (Sender<V, W, S>, Receiver<V, W, S>) {
    let place = boxed(|| Place {
        state: AtomicU32::new(EMPTY),
        value: UnsafeCell::new(None),
        waiter: UnsafeCell::new(None),
        shared,
    });
    (Sender(End(place)), Receiver(End(place)))
}

impl<V, W, S> Sender<V, W, S> {
    pub(crate) fn shared(&self) -> &S {
        &self.0.place().shared
    }

    /// Whether the receiver has a value, or wants none.
    pub(crate) fn is_closed(&self) -> bool {
        !matches!(self.0.place().now(), EMPTY | WAITING)
    }

    /// Sends the value.
    #[inline]
    pub(crate) fn send(self, value: V) -> Sent<V, W, S> {
        let place = self.0.place();
        let mut now = place.now();
        if !matches!(now, EMPTY | WAITING) {
            return Sent::Refused(value);
        }
        // SAFETY: before it was sent, the value is the sender's.
        unsafe { place.put_value(value) };
        loop {
            match now {
                EMPTY => match place.pass(EMPTY, SENT) {
                    Ok(()) => {
                        forget(self);
                        return Sent::Left;
                    }
                    Err(other) => now = other,
                },
                WAITING => match place.pass(WAITING, ENDING) {
                    Ok(()) => {
                        // SAFETY: the waiter is the sender's, which has left `WAITING`.
                        let waiter = unsafe { place.swap_waiter(None) }.expect("put there before `WAITING`");
                        return Sent::Ends(waiter, Ending(self.0));
                    }
                    Err(other) => now = other,
                },
                _ => {
                    // SAFETY: the receiver has closed before the value was sent.
                    let value = unsafe { place.take_value() }.expect("put there above");
                    return Sent::Refused(value);
                }
            }
        }
    }
}

impl<V, W, S> Ending<V, W, S> {
    /// Leaves the value to the receiver. Gives it back if the receiver has closed.
    #[inline]
    pub(crate) fn keep(self) -> Option<V> {
        match self.0.place().pass(ENDING, SENT) {
            Ok(()) => {
                forget(self);
                None
            }
            Err(now) => self.left_in(now),
        }
    }

    /// Takes the value back. `None`: the receiver has taken it.
    pub(crate) fn take_back(self) -> Option<V> {
        let now = self.0.place().pass(ENDING, CLOSED).err().unwrap_or(CLOSED);
        self.left_in(now)
    }

    #[cold]
    fn left_in(self, now: u32) -> Option<V> {
        // SAFETY: in `CLOSED`, the value is the sender's; in `ALONE` all is. It is there unless the receiver has taken it.
        if now == TAKEN { None } else { unsafe { self.0.place().take_value() } }
    }
}

impl<V, W, S> Receiver<V, W, S> {
    pub(crate) fn shared(&self) -> &S {
        &self.0.place().shared
    }

    /// Whether the value may still come.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.0.place().now(), EMPTY | WAITING)
    }

    /// Whether the value was taken, or none will come.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.0.place().now(), TAKEN | CLOSED | ALONE)
    }

    /// The value, if it is there.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<V> {
        let place = self.0.place();
        let mut now = place.now();
        if now == ENDING {
            match place.pass(ENDING, TAKEN) {
                // SAFETY: the value is the receiver's, which has left `ENDING` for `TAKEN`.
                Ok(()) => return unsafe { place.take_value() },
                Err(other) => now = other,
            }
        }
        if now != SENT {
            return None;
        }
        // Relaxed: the sender has left.
        place.state.store(ALONE, Ordering::Relaxed);
        // SAFETY: in `SENT`, the value is the receiver's.
        unsafe { place.take_value() }
    }

    /// Leaves the waiter for the sender. Gives the one that was there before.
    ///
    /// # Errors
    /// Gives the waiter back if there is a value, or none will come.
    #[inline]
    pub(crate) fn wait(&mut self, waiter: W) -> Result<Option<W>, W> {
        let place = self.0.place();
        let now = place.now();
        if now != EMPTY && (now != WAITING || place.pass(WAITING, EMPTY).is_err()) {
            return Err(waiter);
        }
        // SAFETY: in `EMPTY`, the waiter is the receiver's.
        let before = unsafe { place.swap_waiter(Some(waiter)) };
        match place.pass(EMPTY, WAITING) {
            Ok(()) => Ok(before),
            // SAFETY: the sender takes none out of `EMPTY`.
            Err(_) => Err(unsafe { place.swap_waiter(None) }.expect("put there above")),
        }
    }

    /// Wants no value any more. Gives the one that has been sent.
    pub(crate) fn close(&mut self) -> Option<V> {
        let place = self.0.place();
        let mut now = place.now();
        loop {
            match now {
                EMPTY | WAITING | ENDING => match place.pass(now, CLOSED) {
                    Ok(()) if now == WAITING => {
                        // SAFETY: the waiter is the receiver's, which has left `WAITING`.
                        drop(unsafe { place.swap_waiter(None) });
                        return None;
                    }
                    Ok(()) => return None,
                    Err(other) => now = other,
                },
                SENT => return self.take(),
                _ => return None,
            }
        }
    }
}
