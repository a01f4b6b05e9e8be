//! The shared state that a step of a fiber reads and writes.
//!
//! With this, a scheduler for tests need not run two orders that differ only in independent steps. The primitives of
//! [`sync`](crate::sync) and the engine record what they touch. A program records accesses to its own state by [`touch`] and
//! [`touch_read`].
//!
//! A count of references is such state, if the drop of the last one has an effect: closes a channel, gives back a permit, lets go of
//! the handle of a fiber. So what fibers share in an `Arc` contains nothing like that, or is in a `Counted` in its place.
//!
//! In production no scheduler listens: a touch costs a load and a branch that is never taken.
//!
//! * `listen`: the listeners, and the record of each thread.
//! * `object`: the identity of shared state, the same in every run.
//! * `noted`: a lock that records the accesses of its holders.
//! * `counted`: handles of which the last one to be dropped has an effect.

mod access;
mod counted;
mod listen;
mod noted;
mod object;

pub use access::{Access, Side, Touch, Touched};
pub(crate) use counted::{Counted, Handles};
pub use listen::{Listening, made_by, take};
pub(crate) use listen::{is_listening, note};
pub(crate) use noted::Noted;
pub use object::Object;

use std::hash::{DefaultHasher, Hash, Hasher};

use listen::mixed;

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
