use parking_lot::{Mutex, MutexGuard};

use super::{Access, Object};

/// A lock that records the accesses of its holders.
#[derive(Debug, Default)]
pub(crate) struct Noted<T> {
    object: Object,
    value: Mutex<T>,
}

impl<T> Noted<T> {
    pub(crate) fn new(value: T) -> Self {
        Noted { object: Object::new(), value: Mutex::new(value) }
    }

    /// Locks the value to change it.
    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.lock_as(Access::Write)
    }

    /// Locks the value to read it only.
    #[inline]
    pub(crate) fn lock_to_read(&self) -> MutexGuard<'_, T> {
        self.lock_as(Access::Read)
    }

    #[inline]
    pub(crate) fn lock_as(&self, access: Access) -> MutexGuard<'_, T> {
        self.object.touch(access);
        self.lock_unnoted()
    }

    /// Locks without recording: the caller records its accesses to the [object](Noted::object).
    #[inline]
    pub(crate) fn lock_unnoted(&self) -> MutexGuard<'_, T> {
        self.value.lock()
    }

    pub(crate) fn object(&self) -> Object {
        self.object
    }
}
