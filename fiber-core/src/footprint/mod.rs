//! What a step of a fiber reads and writes of the things that it shares with other fibers.
//!
//! A scheduler for tests that knows this need not run two orders that differ only in steps which have nothing to do with
//! each other. The primitives of [`sync`](crate::sync) and the engine say what they touch. State that belongs to a program
//! says so by [`touch`] and [`touch_read`].
//!
//! In production nobody listens: what is touched costs a load and a branch that is never taken.
//!
//! * [`listen`]: who listens, on which thread.
//! * `object`: what tells one shared thing from another in the same way in every run.
//! * `noted`: a lock whose holders have touched what it guards.
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

/// Something that a step has touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Touch {
    /// What.
    pub what: Touched,
    /// And how.
    pub access: Access,
}

/// What a step can touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Touched {
    /// A primitive, or the state of a program. The number is the same in all runs in which the same step of the same fiber
    /// has made it, if the scheduler has [named](made_by) that step.
    Object(u64),
    /// A side of the fiber whose context has this [tag](crate::Context::tag).
    Fiber(u64, Side),
    /// [Something](touch_unknown) of which nobody knows what it is.
    Unknown(&'static str),
}

/// The sides of a fiber that others touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Whether it was cancelled, and whether its wait is over. A step of the fiber itself reads this.
    Life,
    /// Its outcome, which others wait for, or no longer want.
    End,
    /// How many children it has.
    Children,
    /// What its branches have given so far.
    Branches,
}

/// How a step touches something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// It makes no difference to others who read.
    Read,
    /// It changes something, such as a count, in such a way that the order of several such changes makes no difference.
    Commute,
    /// As [`Commute`](Access::Commute), and the next one will be the last, which has an effect.
    LastButOne,
    /// It may change anything.
    Write,
    /// The task that is scheduled next goes on after all who have made a [commutative](Access::Commute) change here.
    Join,
}

impl Access {
    /// Whether two steps with these accesses to the same thing may behave differently in the other order.
    ///
    /// ```
    /// use fiber_core::footprint::Access;
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

/// Tells a scheduler for tests that this step changes state of the program that other fibers use, too: an atomic, a static,
/// a file. The key names the state; equal keys are the same state.
///
/// Call it in the closure that uses the state. Everything in [`sync`](crate::sync) says this by itself. Without a scheduler
/// that listens, nothing happens.
///
/// ```
/// use fiber_core::{Fiber, footprint::touch};
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
/// use fiber_core::{Fiber, footprint::touch_read};
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

/// Tells a scheduler for tests that this step uses something that does not say what it touches: its name.
///
/// ```
/// use fiber_core::footprint::{self, Listening, Touched};
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
