//! The parking slot, which holds the only waiter of a node's fiber while the fiber waits.
//!
//! A wait starts with `begin_wait`; then the leaf registers for its event; then it calls `park`. The side that moves
//! the word out of `PARKED` (the event, or a cancellation) owns the waiter and resumes it, so the waiter is resumed
//! exactly once. If the event arrives while the leaf still registers, `fire` leaves the mark `FIRED`, and `park` returns
//! the waiter. A lost event does the same. The table of phases is in [`word`](super::word).
#![allow(unsafe_code)]

use super::word::{Phase, Word};
use crate::primitive::{AtomicU64, Ordering, UnsafeCell};

/// Why a waiter is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Its event happened.
    Fired,
    /// Its fiber was cancelled.
    Cancelled,
    /// Its event will never happen: the waiter has to be dropped.
    Abandoned,
}

/// Identifies an event of one wait: its only event, or one of [several](EventKey::MAX_EVENTS); and whether the fiber is a side of a race, so
/// that the event has to win that race first. No fiber waits so often that the generation would lose a bit.
///
/// ```text
///   | generation: 48 | RACED | INDEX: 3 |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventKey(u64);

impl EventKey {
    const INDEX: u64 = 0b111;
    const RACED: u64 = 1 << 3;
    const SHIFT: u32 = 4;
    /// The most events of one wait.
    pub(crate) const MAX_EVENTS: usize = Self::INDEX as usize + 1;

    /// The first event of wait `generation`.
    pub(crate) fn first_of(generation: u64) -> Self {
        EventKey(generation << Self::SHIFT)
    }

    /// The same event, of a side of a race.
    pub(crate) fn raced(self) -> Self {
        EventKey(self.0 | Self::RACED)
    }

    pub(crate) fn is_raced(self) -> bool {
        self.0 & Self::RACED != 0
    }

    /// The next event of the same wait.
    pub(crate) fn next(self) -> Self {
        debug_assert!(self.index() < Self::INDEX, "one of {} events", Self::MAX_EVENTS);
        EventKey(self.0 + 1)
    }

    /// The number of the event in its wait, from 0.
    pub(crate) fn index(self) -> u64 {
        self.0 & Self::INDEX
    }

    /// Whether another event may end the wait, or another side win the race.
    #[inline]
    pub(crate) fn is_contested(self) -> bool {
        self.0 & (Self::RACED | Self::INDEX) != 0
    }

    pub(crate) fn generation(self) -> u64 {
        self.0 >> Self::SHIFT
    }

    /// The key as a number of at most 52 bits.
    pub(crate) fn to_number(self) -> u64 {
        self.0
    }

    pub(crate) fn from_number(number: u64) -> Self {
        EventKey(number)
    }
}

/// What `fire` found.
#[must_use]
#[derive(Debug)]
pub(crate) enum Fired<W> {
    /// The wait was already over.
    Late,
    /// The fiber still registers. `park` will return the signal.
    Armed,
    /// The wait has ended by this event. The caller has to wake the waiter.
    Parked(W),
}

impl<W> Fired<W> {
    /// The waiter that the caller has to wake.
    pub(crate) fn waiter(self) -> Option<W> {
        match self {
            Fired::Parked(waiter) => Some(waiter),
            Fired::Late | Fired::Armed => None,
        }
    }
}

/// The waiter that `park` returns, because the wait is already over.
#[derive(Debug)]
pub(crate) struct Unparked<W>(pub(crate) W, pub(crate) Signal);

/// Where the fiber of a node waits.
pub(crate) struct Parking<W> {
    word: AtomicU64,
    /// Written by the fiber in `IDLE` or `FIRED`; read by the thread that moves the word out of `PARKED`.
    waiter: UnsafeCell<Option<W>>,
}

// SAFETY: the waiter moves between threads (hence `W: Send`) but is never shared: the phase in the word determines
// the one thread that may access the cell.
unsafe impl<W: Send> Sync for Parking<W> {}

impl<W> Parking<W> {
    /// The slot of a fiber that is not waiting, with these flags.
    pub(super) fn new(flags: u64) -> Self {
        Parking { word: AtomicU64::new(flags), waiter: UnsafeCell::new(None) }
    }

    /// The current state, as the expected value of a compare-and-swap. It may be stale, except for flags that are never
    /// cleared.
    #[inline]
    fn load(&self) -> Word {
        // Relaxed: the compare-and-swap that follows decides.
        Word(self.word.load(Ordering::Relaxed))
    }

    /// The current state. A caller that sees a flag also sees everything done before the flag was set.
    #[inline]
    pub(super) fn load_acquire(&self) -> Word {
        // Acquire: pairs with the AcqRel `set`.
        Word(self.word.load(Ordering::Acquire))
    }

    /// The current state, for a child that has filled its slot: either the child sees a flag here, or the thread that
    /// set the flag sees the child.
    pub(super) fn load_seq_cst(&self) -> Word {
        // SeqCst: ordered after the child filled its slot (`Slot::fill`), and pairs with `set`.
        Word(self.word.load(Ordering::SeqCst))
    }

    /// Sets flags, and returns the state before.
    pub(super) fn set(&self, flags: u64) -> Word {
        // SeqCst: ordered before the canceller reads the children; see `load_seq_cst`. It includes Release, which publishes
        // the writes before the flag to `load_acquire` and to the CAS of `park`, and Acquire, which pairs with the CAS of
        // `park`, so that a canceller which sees `PARKED` may take the waiter.
        Word(self.word.fetch_or(flags, Ordering::SeqCst))
    }

    /// Clears flags, and returns the state before.
    pub(super) fn clear(&self, flags: u64) -> Word {
        // Acquire: pairs with the `set` that offered the description, so that earlier accesses to the
        // buffer are visible. A description that was offered from the start is visible to every thread that knows the
        // node. Release is not needed: the thread that clears a flag becomes the only user of the buffer, and publishes
        // nothing.
        Word(self.word.fetch_and(!flags, Ordering::Acquire))
    }

    /// Begins a wait. Returns the state, with the generation for `fire`.
    #[inline]
    pub(super) fn begin_wait(&self) -> Word {
        let word = self.load();
        assert_eq!(word.phase(), Phase::Idle, "a fiber has one wait at a time");
        if word.has(Word::MARKS) {
            // Relaxed: only the fiber itself reads them, and `fire` gets the generation through the registration.
            self.word.fetch_and(!Word::MARKS, Ordering::Relaxed);
        }
        word
    }

    /// Ends a wait that was not needed: `IDLE` or `FIRED` to `IDLE`.
    pub(super) fn end_wait(&self) {
        let mut current = self.load();
        // Acquire: pairs with the Release of `fire`, whose event the fiber reads next.
        while let Err(seen) = self.compare_exchange(current, current.to_idle(), Ordering::Acquire) {
            current = seen;
        }
    }

    /// Leaves the waiter in the slot: `IDLE` to `PARKED`.
    ///
    /// # Errors
    /// Returns the waiter if the event has already arrived, or the fiber was cancelled and is not `shielded`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn park(&self, waiter: W, shielded: bool) -> Result<(), Unparked<W>> {
        self.park_in::<false>(waiter, shielded)
    }

    /// The same for a fiber in a limit without a node.
    ///
    /// # Errors
    /// Returns the waiter also if the limit is over, and the fiber is not `shielded`.
    #[inline(never)]
    pub(crate) fn park_limited(&self, waiter: W, shielded: bool) -> Result<(), Unparked<W>> {
        self.park_in::<true>(waiter, shielded)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn park_in<const LIMITED: bool>(&self, waiter: W, shielded: bool) -> Result<(), Unparked<W>> {
        self.waiter.with_mut(|slot| {
            // SAFETY: in `IDLE` and `FIRED` the cell belongs to the fiber, which is the caller.
            unsafe { *slot = Some(waiter) }
        });
        let interrupts = Word::CANCELLED | if LIMITED { Word::LIMIT_OVER } else { 0 };
        let mut current = self.load();
        loop {
            let signal = match current.phase() {
                Phase::Fired if current.has(Word::ABANDONED) => Signal::Abandoned,
                Phase::Fired => Signal::Fired,
                _ if current.has(interrupts) && !shielded => Signal::Cancelled,
                _ => {
                    let next = current.to_parked(shielded, LIMITED);
                    // Release: publishes the waiter to the Acquire of `take`. A canceller either did its
                    // `set` before this CAS, which then fails and sees the flag, or sees `PARKED`: both are
                    // read-modify-writes of one word, so they are totally ordered.
                    match self.compare_exchange(current, next, Ordering::Release) {
                        Ok(()) => return Ok(()),
                        Err(seen) => current = seen,
                    }
                    continue;
                }
            };
            // An event that comes before this CAS ends the wait even of a cancelled fiber: its source relies on that.
            // Acquire: as in `end_wait`.
            if let Err(seen) = self.compare_exchange(current, current.to_idle(), Ordering::Acquire) {
                current = seen;
                continue;
            }
            // SAFETY: the word was never `PARKED` in this generation, so the fiber still owns the cell.
            return Err(Unparked(unsafe { self.take_cell() }, signal));
        }
    }

    /// Reports an event of a wait. Unless the result is `Late`, this event ends the wait, and neither a cancellation nor
    /// another event can end it any more.
    #[inline]
    pub(crate) fn fire(&self, event: EventKey) -> Fired<W> {
        let mark = Word::mark_of(event.index());
        let current = self.load();
        // Usually, the fiber has parked.
        if current.generation() == event.generation()
            && current.is_parked()
            && let Ok(waiter) = self.take(current, mark)
        {
            return Fired::Parked(waiter);
        }
        self.fire_anyhow(event, mark)
    }

    #[cold]
    #[inline(never)]
    fn fire_anyhow(&self, event: EventKey, mark: u64) -> Fired<W> {
        self.settle(event.generation(), mark, Word::to_fired)
    }

    /// Ends a wait whose event came while another side of a race held that: nothing was given or taken. Otherwise like `fire`.
    pub(crate) fn fire_missed(&self, event: EventKey) -> Fired<W> {
        self.settle(event.generation(), Word::MISSED, Word::to_fired)
    }

    /// Reports that an event of a wait will never happen. Returns the waiter if the caller has to drop it. Otherwise the
    /// wait is over, or the fiber sees the loss itself when it parks.
    pub(crate) fn abandon(&self, event: EventKey) -> Option<W> {
        self.settle(event.generation(), 0, Word::to_abandoned).waiter()
    }

    /// Ends wait `generation`, and sets `mark`. If the fiber still registers, applies `edge`.
    fn settle(&self, generation: u64, mark: u64, edge: fn(Word) -> Word) -> Fired<W> {
        let mut current = self.load();
        while current.generation() == generation {
            match current.phase() {
                Phase::Fired => return Fired::Late,
                Phase::Idle => {
                    // Release: publishes the event to the Acquire of `end_wait`.
                    match self.compare_exchange(current, edge(current).with(mark), Ordering::Release) {
                        Ok(()) => return Fired::Armed,
                        Err(seen) => current = seen,
                    }
                }
                Phase::Parked => match self.take(current, mark) {
                    Ok(waiter) => return Fired::Parked(waiter),
                    Err(seen) => current = seen,
                },
            }
        }
        Fired::Late
    }

    /// Takes the waiter for a canceller, if it is parked and not shielded.
    pub(super) fn interrupt(&self) -> Option<W> {
        self.take_if(Word::is_interruptible)
    }

    /// Records that a limit without a node is over. Takes the waiter, if it waits in one and is not shielded.
    pub(super) fn end_limit(&self) -> Option<W> {
        // Either the fiber parks later, and `park` sees the flag, or it is parked, and is taken here: one word, as with a cancellation.
        self.set(Word::LIMIT_OVER);
        self.take_if(Word::is_limited)
    }

    /// Takes the waiter, as long as `condition` holds.
    pub(super) fn take_if(&self, condition: fn(Word) -> bool) -> Option<W> {
        let mut current = self.load();
        while condition(current) {
            match self.take(current, 0) {
                Ok(waiter) => return Some(waiter),
                Err(seen) => current = seen,
            }
        }
        None
    }

    /// `PARKED` to `IDLE`, with `mark`; moves the waiter out of its cell.
    #[inline]
    fn take(&self, current: Word, mark: u64) -> Result<W, Word> {
        // Acquire: pairs with the Release of `park`. Release is not needed: the next owner of the cell is the fiber,
        // which this thread resumes by the waiter that it takes here.
        self.compare_exchange(current, current.to_idle().with(mark), Ordering::Acquire)?;
        // SAFETY: this thread moved the word out of `PARKED`, so it owns the cell until the fiber, which only this
        // waiter can resume, waits again.
        Ok(unsafe { self.take_cell() })
    }

    /// # Safety
    /// The caller owns the cell by the table of phases, and the cell is filled.
    unsafe fn take_cell(&self) -> W {
        let waiter = self.waiter.with_mut(|slot| {
            // SAFETY: exclusive by the contract of this function.
            unsafe { (*slot).take() }
        });
        waiter.expect("`park` put a waiter into the slot")
    }

    fn compare_exchange(&self, current: Word, next: Word, success: Ordering) -> Result<(), Word> {
        // Relaxed on failure: the value is only used to retry.
        self.word.compare_exchange(current.0, next.0, success, Ordering::Relaxed).map(drop).map_err(Word)
    }
}

impl<W> std::fmt::Debug for Parking<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.load().fmt(f)
    }
}
