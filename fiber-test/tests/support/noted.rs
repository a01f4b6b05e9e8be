use std::sync::{Mutex, MutexGuard};

use fiber_core::scheduler::footprint::{Access, Object};

/// State that declares its uses, for reduced explorations.
#[derive(Debug, Default)]
pub(super) struct Noted<T> {
    object: Object,
    value: Mutex<T>,
}

impl<T> Noted<T> {
    pub(super) fn new(value: T) -> Self {
        Noted { object: Object::new(), value: Mutex::new(value) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        self.object.touch(Access::Write);
        self.value.lock().unwrap()
    }
}
