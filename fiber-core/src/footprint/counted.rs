use std::ops::Deref;
use std::sync::Arc;

use super::{Object, is_listening};

/// Something with an effect when its last handle is dropped.
pub(crate) trait Handles {
    /// Stands for the number of handles. `None`: it makes no difference any more who drops the last one.
    fn handles(&self) -> Option<Object>;
}

/// A handle of it. Who drops the last one has an effect on others, so all who drop one have to be known.
#[derive(Debug)]
pub(crate) struct Counted<T: Handles>(Arc<T>);

impl<T: Handles> Counted<T> {
    pub(crate) fn new(value: T) -> Self {
        Counted(Arc::new(value))
    }
}

impl<T: Handles> Deref for Counted<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Handles> Clone for Counted<T> {
    #[inline]
    fn clone(&self) -> Self {
        Counted(self.0.clone())
    }
}

impl<T: Handles> Drop for Counted<T> {
    #[inline]
    fn drop(&mut self) {
        if is_listening() {
            note_drop(&self.0);
        }
    }
}

#[cold]
fn note_drop<T: Handles>(handle: &Arc<T>) {
    if let Some(object) = handle.handles() {
        object.count_down(Arc::strong_count(handle) - 1);
    }
}
