//! The shared state that a step of a fiber reads and writes.
//!
//! With this, a scheduler for tests need not run two orders that differ only in independent steps. The primitives of
//! [`sync`](crate::sync) and the engine record what they touch. A program records accesses to its own state by [`touch`] and
//! [`touch_read`].
//!
//! In production no scheduler listens: a touch costs a load and a branch that is never taken.
//!
//! * `listen`: the listeners, and the record of each thread.
//! * `object`: the identity of shared state, the same in every run.
//! * `noted`: a lock that records the accesses of its holders.
//! * `counted`: handles of which the last one to be dropped has an effect.

mod counted;
mod listen;
mod noted;
mod object;

pub(crate) use counted::{Counted, Handles};
pub use listen::{Listening, made_by, take};
pub(crate) use listen::{is_listening, note};
pub(crate) use noted::Noted;
pub use object::Object;

use std::hash::{DefaultHasher, Hash, Hasher};

use listen::mixed;

/// An access of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Touch {
    /// The state.
    pub what: Touched,
    /// The kind of access.
    pub access: Access,
}

/// The state that a step can touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Touched {
    /// A primitive, or the state of a program. The number is the same in all runs in which the same step of the same fiber
    /// has made it, if the scheduler has [named](made_by) that step.
    Object(u64),
    /// A side of the fiber whose context has this [tag](crate::Context::tag).
    Fiber(u64, Side),
    /// State that a step uses [without saying which](touch_unknown).
    Unknown(&'static str),
}

/// The sides of a fiber that other fibers touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Whether it was cancelled, and whether its wait is over. Each step of the fiber itself reads this.
    Life,
    /// Its outcome, which other fibers wait for, or no longer want.
    End,
    /// The number of its children.
    Children,
    /// The results of its branches so far.
    Branches,
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// It commutes with other reads.
    Read,
    /// It changes the state, such as a count, in a way that commutes with other such changes.
    Commute,
    /// As [`Commute`](Access::Commute), but the next change will be the last one, which has an effect; or the step makes several changes.
    LastButOne,
    /// It may change anything, and commutes with nothing.
    Write,
    /// The task that is scheduled next continues after all steps that have made a [commutative](Access::Commute) change here.
    Join,
}

impl Access {
    /// Whether two steps with these accesses to the same state may behave differently in the other order.
    ///
    /// ```
    /// use fiber_core::scheduler::footprint::Access;
    ///
    /// assert!(Access::Read.depends_on(Access::Write));
    /// assert!(!Access::Read.depends_on(Access::Read));
    /// ```
    pub fn depends_on(self, other: Access) -> bool {
        use Access::{Commute, Join, LastButOne, Read};
        !matches!(
            (self, other),
            (Read, Read) | (Commute | LastButOne, Commute | LastButOne) | (Join, _) | (_, Join)
        )
    }
}

/// Tells a scheduler for tests that this step changes state of the program that other fibers use too: an atomic, a static,
/// a file. The key names the state; equal keys are the same state.
///
/// Call it in the closure that uses the state. Everything in [`sync`](crate::sync) does this by itself. Without a scheduler
/// that listens, it has no effect.
///
/// ```
/// use fiber_core::scheduler::footprint::touch;
/// use fiber_core::Fiber;
/// use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
///
/// static VISITS: AtomicU32 = AtomicU32::new(0);
///
/// let visit = Fiber::lazy(|| {
///     touch("visits");
///     VISITS.fetch_add(1, SeqCst)
/// });
/// assert_eq!(fiber_sched::run(visit).unwrap(), 0);
/// ```
#[inline]
pub fn touch<K: Hash + ?Sized>(key: &K) {
    touch_as(key, Access::Write);
}

/// Like [`touch`], of a step that only reads the state.
///
/// ```
/// use fiber_core::scheduler::footprint::touch_read;
/// use fiber_core::Fiber;
/// use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
///
/// static VISITS: AtomicU32 = AtomicU32::new(0);
///
/// let visits = Fiber::lazy(|| {
///     touch_read("visits");
///     VISITS.load(SeqCst)
/// });
/// assert_eq!(fiber_sched::run(visits).unwrap(), 0);
/// ```
#[inline]
pub fn touch_read<K: Hash + ?Sized>(key: &K) {
    touch_as(key, Access::Read);
}

/// Tells a scheduler for tests that this step uses state that does not record its accesses; the argument names it.
///
/// ```
/// use fiber_core::scheduler::footprint::{self, Listening, Touched};
///
/// let listening = Listening::begin();
/// footprint::touch_unknown("the database");
/// footprint::take(|one| assert_eq!(one.what, Touched::Unknown("the database")));
/// drop(listening);
/// ```
#[inline]
pub fn touch_unknown(what: &'static str) {
    note(Touched::Unknown(what), Access::Write);
}

#[inline]
fn touch_as<K: Hash + ?Sized>(key: &K, access: Access) {
    if is_listening() {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        note(Touched::Object(mixed(hasher.finish(), 0)), access);
    }
}
