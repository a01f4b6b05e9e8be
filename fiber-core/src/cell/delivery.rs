//! The place where a fiber leaves its outcome for the holder of its handle, or of the future that awaits it, and where the first one that
//! waits for the outcome leaves its wake-up.
//!
//! | bit | set by | when |
//! |---|---|---|
//! | `DONE` | the fiber, once | after it has written the value |
//! | `TAKEN` | the thread that takes the value, once | before it reads the value; only if `DONE`. A store if no other thread uses the place |
//! | `AWAITED` | a further waiter | after its wake-up is in a list |
//! | `FORGOTTEN` | the drop of the handle | after its last access to the value |
//! | `JOINED` | a waiter, with the release of `HELD` | after it has written the joiner; cleared so by the one that takes it back |
//! | `HELD` | a thread that reads or writes the joiner; not after `DONE` | before that; cleared after that |
//!
//! | set first | set second | what the second does |
//! |---|---|---|
//! | `AWAITED` | `DONE` | the fiber fires the wake-ups of the list |
//! | `DONE` | `AWAITED` | the waiter removes its wake-up and continues |
//! | `FORGOTTEN` | `DONE` | the fiber takes the value back |
//! | `DONE` | `FORGOTTEN` | the drop of the handle takes the value, unless it is `TAKEN` |
//! | `JOINED` | `DONE` | the fiber takes the joiner |
//! | `HELD` | `DONE` | the fiber waits until `HELD` is cleared, then takes the joiner if there is one |
//! | `DONE` | `HELD` | is not set: there is nothing to wait for |
//!
//! All bits are in one word, so one of two changes comes first and the other sees it.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use crate::primitive::{AtomicU32, Ordering, UnsafeCell, wait_a_moment};

const DONE: u32 = 1;
const TAKEN: u32 = 2;
const AWAITED: u32 = 4;
const FORGOTTEN: u32 = 8;
const JOINED: u32 = 16;
const HELD: u32 = 32;

pub(crate) struct Delivery<V, J> {
    state: AtomicU32,
    /// Written by the fiber before `DONE`, read by the thread that sets `TAKEN`.
    value: UnsafeCell<Option<V>>,
    /// Initialised in `JOINED`, until `DONE`. Belongs to the thread that has set `HELD`, and after `DONE` to the fiber.
    joiner: UnsafeCell<MaybeUninit<J>>,
}

// SAFETY: the value and the joiner move between threads (hence `Send`) but are never shared: the bits determine their owner.
unsafe impl<V: Send, J: Send> Sync for Delivery<V, J> {}

/// What was there before the value arrived.
#[must_use]
pub(crate) struct Before<J> {
    pub(crate) joiner: Option<J>,
    pub(crate) is_awaited: bool,
    pub(crate) is_forgotten: bool,
}

/// The answer to a joiner.
#[must_use]
#[derive(Debug)]
pub(crate) enum Joining<J> {
    /// The fiber will take it.
    Waits,
    /// The value has arrived.
    Over(J),
    /// Another one is there.
    Occupied(J),
}

impl<V, J> Delivery<V, J> {
    pub(crate) fn new() -> Self {
        Delivery {
            state: AtomicU32::new(0),
            value: UnsafeCell::new(None),
            joiner: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Delivers the value of the fiber, once. `None`: nothing was there before.
    #[inline]
    pub(crate) fn complete(&self, value: V) -> Option<Before<J>> {
        self.value.with_mut(|place| {
            // SAFETY: before `DONE`, the fiber owns the value's cell, and this is called once, so nothing was there.
            unsafe { place.write(Some(value)) }
        });
        // AcqRel: Release publishes the value to `take`; Acquire pairs with the Release of `expect` and `release`. An addition sets the bit,
        // because this is called once: one instruction, where `fetch_or` is a loop.
        let before = self.state.fetch_add(DONE, Ordering::AcqRel);
        (before != 0).then(|| self.found(before))
    }

    /// Takes what was there before `DONE`.
    #[inline]
    fn found(&self, before: u32) -> Before<J> {
        let mut now = before;
        while now & HELD != 0 {
            wait_a_moment();
            // Acquire: pairs with the Release of `release`.
            now = self.state.load(Ordering::Acquire);
        }
        // SAFETY: after `DONE` and without `HELD`, the joiner belongs to the fiber, which calls this once.
        let joiner = (now & JOINED != 0).then(|| unsafe { self.read_joiner() });
        Before { joiner, is_awaited: before & AWAITED != 0, is_forgotten: before & FORGOTTEN != 0 }
    }

    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        // Acquire: pairs with the Release of `complete`, so that the fiber's writes are visible.
        self.state.load(Ordering::Acquire) & DONE != 0
    }

    /// The value, for the first caller after the end.
    pub(crate) fn take(&self) -> Option<V> {
        // Relaxed `fetch_or`: the Acquire in `is_done` has made the value visible, and nothing is published.
        if !self.is_done() || self.state.fetch_or(TAKEN, Ordering::Relaxed) & TAKEN != 0 {
            return None;
        }
        self.value.with_mut(|place| {
            // SAFETY: the fiber gave up the cell with `DONE`, and only the thread that set `TAKEN` gets here.
            unsafe { (*place).take() }
        })
    }

    /// The same, without other users of the place.
    #[inline]
    pub(crate) fn take_alone(&mut self) -> Option<V> {
        // Relaxed, here and below: `&mut` orders all accesses.
        let state = self.state.load(Ordering::Relaxed);
        if state & (DONE | TAKEN) != DONE {
            return None;
        }
        self.state.store(state | TAKEN, Ordering::Relaxed);
        self.value.with_mut(|place| {
            // SAFETY: exclusive by `&mut`.
            unsafe { (*place).take() }
        })
    }

    /// Leaves a joiner for the fiber.
    pub(crate) fn join(&self, joiner: J) -> Joining<J> {
        match self.hold() {
            None => Joining::Over(joiner),
            Some(JOINED) => {
                self.release(0);
                Joining::Occupied(joiner)
            }
            Some(_) => {
                self.joiner.with_mut(|place| {
                    // SAFETY: this thread has set `HELD`.
                    unsafe { (*place).write(joiner) };
                });
                self.release(JOINED);
                Joining::Waits
            }
        }
    }

    /// Takes the joiner back, if the fiber has not taken it. Called by the one that has left it.
    pub(crate) fn withdraw(&self) -> Option<J> {
        let joined = self.hold()?;
        // SAFETY: this thread has set `HELD`, and clears `JOINED`.
        let joiner = (joined == JOINED).then(|| unsafe { self.read_joiner() });
        self.release(joined);
        joiner
    }

    /// A copy of the joiner, for reports.
    pub(crate) fn joiner(&self) -> Option<J>
    where
        J: Clone,
    {
        let joined = self.hold()?;
        let joiner = (joined == JOINED).then(|| {
            // SAFETY: this thread has set `HELD`, and there is a joiner.
            self.joiner.with(|place| unsafe { &*place.cast::<J>() }.clone())
        });
        self.release(0);
        joiner
    }

    /// Sets `HELD`. Gives `JOINED` if it is set; `None` after `DONE`.
    fn hold(&self) -> Option<u32> {
        loop {
            // Relaxed, also on failure: the exchange decides. After `DONE` the callers ask `is_done` for the value.
            let state = self.state.load(Ordering::Relaxed);
            if state & DONE != 0 {
                return None;
            }
            if state & HELD != 0 {
                wait_a_moment();
            // Acquire: pairs with the Release of `release`, for the joiner.
            } else if self
                .state
                .compare_exchange(state, state | HELD, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
            {
                return Some(state & JOINED);
            }
        }
    }

    /// Clears `HELD`, and changes `JOINED` if `change` is that.
    fn release(&self, change: u32) {
        // Release: publishes the joiner to `hold` and `complete`.
        self.state.fetch_xor(HELD | change, Ordering::Release);
    }

    /// # Safety
    /// There is a joiner, which belongs to this thread, and which nothing else takes.
    unsafe fn read_joiner(&self) -> J {
        // SAFETY: by the contract.
        self.joiner.with(|place| unsafe { place.cast::<J>().read() })
    }

    /// Announces a waiter, whose wake-up is in a list. `false`: the value has already arrived.
    pub(crate) fn expect(&self) -> bool {
        // AcqRel: Release publishes the waiter's wake-up to `complete`; Acquire pairs with the Release of `complete`,
        // so that the value can be taken at once.
        self.state.fetch_or(AWAITED, Ordering::AcqRel) & DONE == 0
    }

    /// Records that the handle is gone. Returns the value if it has arrived; otherwise the fiber takes it back.
    pub(crate) fn forget(&self) -> Option<V> {
        // Relaxed: a check that saves a write; a value that was taken needs no further action.
        if self.state.load(Ordering::Relaxed) & TAKEN != 0 {
            return None;
        }
        // Relaxed: only the order of the bits matters. `take` orders the access to the value.
        self.state.fetch_or(FORGOTTEN, Ordering::Relaxed);
        self.take()
    }
}

impl<V, J> Drop for Delivery<V, J> {
    fn drop(&mut self) {
        // Relaxed: `&mut` orders all accesses.
        if self.state.load(Ordering::Relaxed) & (JOINED | DONE) == JOINED {
            // SAFETY: there is a joiner, and the fiber has not taken it.
            drop(unsafe { self.read_joiner() });
        }
    }
}
