//! What tells one shared thing from another in the same way in every run: the step that has made it, and how many that step
//! had made before. Not its address, which differs from run to run, and not the order in which things are touched.

use super::listen::{is_listening, mixed, new_number, note};
use super::{Access, Touched};

/// State that fibers share, as it is told apart in all runs. It is a field of whatever has the state, for types of which
/// there may be many; [`touch`](super::touch) is for state that has a name.
///
/// Those that were made while nobody listened are all the same, which is safe.
///
/// ```
/// use fiber_core::footprint::{Access, Object};
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
    /// All cancel tokens: which of them are above each other is not worth knowing.
    pub(crate) const TOKENS: Object = Object(1);

    /// A new one.
    ///
    /// ```
    /// use fiber_core::footprint::{self, Listening, Object};
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

    /// A second thing that belongs to it.
    pub(crate) fn second(self) -> Self {
        Object(mixed(self.0, 1))
    }

    /// A third thing that belongs to it.
    pub(crate) fn third(self) -> Self {
        Object(mixed(self.0, 2))
    }

    /// Notes that it is touched.
    #[inline]
    pub fn touch(self, access: Access) {
        note(Touched::Object(self.0), access);
    }

    /// Notes that something that is counted was taken away, and so many are left. What happens when none are left is noted
    /// besides.
    ///
    /// The order in which they go makes no difference, except to the one that is the last.
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
