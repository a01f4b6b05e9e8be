//! The state word of a node: its flags, the phase of its parking slot, and the slot's generation.
//!
//! ```text
//!  63         16      15          14        13     12   10    9      8         7        6         5         4           3          2        1   0
//! +------------+------------+---------+--------+---------+------+---------+--------+-----------+-------+-----------+-----------+----------+-------+
//! | generation | LIMIT_OVER | LIMITED | MISSED |  INDEX  | ROOM | OFFERED | CLOSED | ABANDONED | ENDED | TIMED_OUT | CANCELLED | SHIELDED | phase |
//! +------------+------------+---------+--------+---------+------+---------+--------+-----------+-------+-----------+-----------+----------+-------+
//! ```
//!
//! The generation counts the waits of the fiber, so that the wake-up of an old wait cannot end a new one. A wait begins without
//! a change of the word: the wake-ups of a generation are made when the fiber begins to register for their events.
//!
//! | phase | the waiter is | left by | to |
//! |---|---|---|---|
//! | `IDLE` | nowhere: the fiber runs, or has ended; or on the fiber's stack, while it registers | the fiber: `park` | `PARKED` |
//! | | | the fiber: `end_wait` (the event has already happened) | `IDLE`, next generation |
//! | | | any thread: `fire`, `abandon`, by a wake-up of this generation | `FIRED` |
//! | `FIRED` | on the fiber's stack; the event came while the fiber registered, or will never come (`ABANDONED`) | the fiber: `park`, `end_wait` | `IDLE`, next generation |
//! | `PARKED` | in the slot | any thread: `fire`, `abandon`, or `cancel` unless `SHIELDED` | `IDLE`, next generation |
//!
//! `CANCELLED`, `TIMED_OUT`, `ENDED` and `CLOSED` are set in any phase and never cleared. `TIMED_OUT` is set only
//! together with `CANCELLED`, or later in a node that is made after its timeout, and says that a timeout cancelled the node. `ENDED` is
//! set when the node ends, unless its [tally](super::node) says so. `CLOSED` is set after `CANCELLED` or `ENDED`, when all children have been cancelled.
//! `OFFERED` is set from the start, or once, in `IDLE`, when the description of a fiber may be claimed. The thread that clears
//! it owns the description, and then the buffer in which that was, as long as the cell lives: the frames of the fiber lie there.
//! `ROOM` is set from the start if there is a buffer, and never a description. The thread that clears it, once, owns the buffer.
//! `SHIELDED` is set only while `PARKED`, `ABANDONED` only while `FIRED`. `INDEX` is set by a `fire` out of `IDLE` or `PARKED`,
//! if the fiber waits for one of several events, to the number of this one, and `MISSED` by a `fire_missed`. They stay until the next
//! `begin_wait`.
//! `LIMITED` is set only while `PARKED`: the fiber waits in a time limit that has no node of its own. `LIMIT_OVER` says that such a
//! limit is over; it means something only to a fiber that is in one, and is cleared when the limit is left.

use std::fmt;

/// A value of the state word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(pub(super) u64);

/// Where the waiter of a node's fiber is, and which side owns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    Fired,
    Parked,
}

impl Word {
    const PHASE: u64 = 0b11;
    const SHIELDED: u64 = 1 << 2;
    pub(super) const CANCELLED: u64 = 1 << 3;
    pub(super) const TIMED_OUT: u64 = 1 << 4;
    pub(super) const ENDED: u64 = 1 << 5;
    /// The wait ended because its event was lost, not because the event happened.
    pub(super) const ABANDONED: u64 = 1 << 6;
    pub(super) const CLOSED: u64 = 1 << 7;
    pub(super) const OFFERED: u64 = 1 << 8;
    pub(super) const ROOM: u64 = 1 << 9;
    const INDEX_SHIFT: u32 = 10;
    /// The number of the event that ended the wait.
    const INDEX: u64 = 0b111 << Self::INDEX_SHIFT;
    /// The event that ended the wait has missed a race, and took and gave nothing.
    pub(super) const MISSED: u64 = 1 << 13;
    /// How the wait ended.
    pub(super) const MARKS: u64 = Self::INDEX | Self::MISSED;
    /// The fiber waits in a limit without a node.
    const LIMITED: u64 = 1 << 14;
    /// Such a limit is over.
    pub(super) const LIMIT_OVER: u64 = 1 << 15;
    const GENERATION_SHIFT: u32 = 16;

    pub(super) fn phase(self) -> Phase {
        match self.0 & Self::PHASE {
            0 => Phase::Idle,
            1 => Phase::Fired,
            _ => Phase::Parked,
        }
    }

    #[inline]
    pub(super) fn generation(self) -> u64 {
        self.0 >> Self::GENERATION_SHIFT
    }

    /// The mark that event number `index` leaves.
    #[inline]
    pub(super) fn mark_of(index: u64) -> u64 {
        index << Self::INDEX_SHIFT
    }

    /// The number of the event that ended the wait.
    pub(super) fn index(self) -> u64 {
        (self.0 & Self::INDEX) >> Self::INDEX_SHIFT
    }

    /// Whether any of the flags is set.
    #[inline]
    pub(super) fn has(self, flags: u64) -> bool {
        self.0 & flags != 0
    }

    #[inline]
    pub(super) fn is_cancelled(self) -> bool {
        self.has(Self::CANCELLED)
    }

    #[inline]
    pub(super) fn is_claimed(self) -> bool {
        !self.has(Self::OFFERED)
    }

    /// Whether a child that is added now has to be cancelled at once.
    pub(super) fn is_over(self) -> bool {
        self.has(Self::CANCELLED | Self::ENDED)
    }

    /// Whether this wait has not ended, or only because its event has missed a race: then the fiber looks at the event again.
    pub(super) fn waits_in(self, generation: u64) -> bool {
        self.generation() == generation && (self.phase() != Phase::Fired || self.has(Self::MISSED))
    }

    pub(super) fn is_parked(self) -> bool {
        self.phase() == Phase::Parked
    }

    /// Whether `cancel` may take the waiter.
    pub(super) fn is_interruptible(self) -> bool {
        self.is_parked() && !self.has(Self::SHIELDED)
    }

    /// Whether the end of a limit may take the waiter.
    pub(super) fn is_limited(self) -> bool {
        self.is_interruptible() && self.has(Self::LIMITED)
    }

    pub(super) fn to_fired(self) -> Word {
        debug_assert_eq!(self.phase(), Phase::Idle);
        self.with_phase(Phase::Fired)
    }

    /// Fired by the loss of the event.
    pub(super) fn to_abandoned(self) -> Word {
        Word(self.to_fired().0 | Self::ABANDONED)
    }

    pub(super) fn to_parked(self, shielded: bool, limited: bool) -> Word {
        debug_assert_eq!(self.phase(), Phase::Idle);
        let parked = self.with_phase(Phase::Parked);
        let shielded = if shielded { Self::SHIELDED } else { 0 };
        Word(parked.0 | shielded | if limited { Self::LIMITED } else { 0 })
    }

    pub(super) fn to_idle(self) -> Word {
        let idle = self.with_phase(Phase::Idle).0 & !(Self::SHIELDED | Self::ABANDONED | Self::LIMITED);
        Word(idle.wrapping_add(1 << Self::GENERATION_SHIFT))
    }

    pub(super) fn with(self, flags: u64) -> Word {
        Word(self.0 | flags)
    }

    fn with_phase(self, phase: Phase) -> Word {
        Word(self.0 & !Self::PHASE | phase as u64)
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} #{}", self.phase(), self.generation())?;
        if self.index() > 0 {
            write!(f, " by event {}", self.index())?;
        }
        let flags = [
            (Self::SHIELDED, " shielded"),
            (Self::CANCELLED, " cancelled"),
            (Self::TIMED_OUT, " timed out"),
            (Self::ENDED, " ended"),
            (Self::ABANDONED, " abandoned"),
            (Self::CLOSED, " closed"),
            (Self::OFFERED, " offered"),
            (Self::ROOM, " room"),
            (Self::MISSED, " missed"),
            (Self::LIMITED, " limited"),
            (Self::LIMIT_OVER, " limit over"),
        ];
        flags.iter().filter(|(bit, _)| self.0 & bit != 0).try_for_each(|(_, name)| f.write_str(name))
    }
}
