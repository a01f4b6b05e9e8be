//! The identity of shared state, the same in every run: the step that made it, and the number of objects that this step had
//! made before. It is not the address, which differs from run to run, and not the order in which objects are touched.

use super::access::{Access, Touched};
use super::listen::{is_listening, mixed, new_number, note};

/// The identity of state that fibers share, the same in all runs. It is a field of the value with the state, for types with
/// many values; [`touch`](super::touch) is for state that has a name.
///
/// All objects made while no scheduler listens are equal, which is safe: it can only make steps look dependent.
///
/// ```
/// use fiber_core::scheduler::footprint::{Access, Object};
/// use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
///
/// #[derive(Default)]
/// struct Count { value: AtomicU32, object: Object }
///
/// impl Count {
///     fn increment(&self) {
///         self.object.touch(Access::Write);
///         self.value.fetch_add(1, SeqCst);
///     }
///     fn value(&self) -> u32 {
///         self.object.touch(Access::Read);
///         self.value.load(SeqCst)
///     }
/// }
/// let count = Count::default();
/// count.increment();
/// assert_eq!(count.value(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object(u64);

impl Object {
    /// The object of all cancel tokens: tracking which token is above which is not worth its cost.
    pub(crate) const TOKENS: Object = Object(1);

    /// Makes a new object.
    ///
    /// ```
    /// use fiber_core::scheduler::footprint::{self, Listening, Object};
    ///
    /// let listening = Listening::begin();
    /// footprint::made_by(1);
    /// assert_ne!(Object::new(), Object::new());
    /// drop(listening);
    /// ```
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        Object(if is_listening() { new_number() } else { 0 })
    }

    /// A second object that belongs to this one.
    pub(crate) fn second(self) -> Self {
        Object(mixed(self.0, 1))
    }

    /// A third object that belongs to this one.
    pub(crate) fn third(self) -> Self {
        Object(mixed(self.0, 2))
    }

    /// Records that the running step touches it.
    #[inline]
    pub fn touch(self, access: Access) {
        note(Touched::Object(self.0), access);
    }

    /// Records that one of several counted handles is gone, and `left` remain. The effect of the last one is recorded
    /// separately.
    ///
    /// The order of these steps makes no difference, except for the last one.
    #[inline]
    pub(crate) fn count_down(self, left: usize) {
        self.touch(match left {
            0 => Access::Write,
            1 => Access::LastButOne,
            _ => Access::Commute,
        });
    }
}

impl Default for Object {
    fn default() -> Self {
        Object::new()
    }
}
