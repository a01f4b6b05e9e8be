use std::ops::Deref;
use std::sync::Arc;

use super::{Object, is_listening};

/// A value whose last handle has an effect when it is dropped.
pub(crate) trait Handles {
    /// Identifies the number of handles. `None` once the drop of the last one has no effect any more.
    fn handles(&self) -> Option<Object>;
}

/// A handle of such a value. The drop of the last one affects other fibers, so every drop is recorded.
#[derive(Debug)]
pub(crate) struct Counted<T: Handles + ?Sized>(Arc<T>);

impl<T: Handles> Counted<T> {
    pub(crate) fn new(value: T) -> Self {
        Counted(Arc::new(value))
    }
}

impl<T: Handles + ?Sized> Counted<T> {
    /// Whether both are handles of one value.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The value, if this is its only handle.
    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        Arc::get_mut(&mut self.0)
    }
}

impl<T: Handles + ?Sized> From<Arc<T>> for Counted<T> {
    fn from(shared: Arc<T>) -> Self {
        Counted(shared)
    }
}

impl<T: Handles + ?Sized> Deref for Counted<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Handles + ?Sized> Clone for Counted<T> {
    #[inline]
    fn clone(&self) -> Self {
        Counted(self.0.clone())
    }
}

impl<T: Handles + ?Sized> Drop for Counted<T> {
    #[inline]
    fn drop(&mut self) {
        if is_listening() {
            note_drop(&self.0);
        }
    }
}

#[cold]
fn note_drop<T: Handles + ?Sized>(handle: &Arc<T>) {
    if let Some(object) = handle.handles() {
        object.count_down(Arc::strong_count(handle) - 1);
    }
}
