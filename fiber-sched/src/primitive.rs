//! The primitives of the idle workers' protocol: the usual types, or loom's under `--cfg fiber_loom`.

#[cfg(not(fiber_loom))]
mod chosen {
    pub(crate) use std::sync::atomic::{AtomicUsize, Ordering, fence};
    #[cfg(feature = "net")]
    pub(crate) use std::thread::yield_now;

    pub(crate) use crossbeam_utils::sync::{Parker, Unparker};
    pub(crate) use parking_lot::{Mutex, MutexGuard};
}

#[cfg(fiber_loom)]
mod chosen {
    use std::sync::Arc;
    use std::time::Instant;

    pub(crate) use loom::sync::MutexGuard;
    use loom::sync::Notify;
    pub(crate) use loom::sync::atomic::{AtomicUsize, Ordering, fence};
    #[cfg(feature = "net")]
    pub(crate) use loom::thread::yield_now;

    /// Without poisoning.
    #[derive(Default)]
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("no thread has panicked with the lock")
        }
    }

    /// Never wakes spuriously or by a timeout: a lost wake-up is a deadlock, which loom reports.
    pub(crate) struct Parker(Arc<Notify>);

    #[derive(Clone)]
    pub(crate) struct Unparker(Arc<Notify>);

    impl Parker {
        pub(crate) fn new() -> Self {
            Parker(Arc::new(Notify::new()))
        }

        pub(crate) fn unparker(&self) -> Unparker {
            Unparker(self.0.clone())
        }

        pub(crate) fn park(&self) {
            self.0.wait();
        }

        pub(crate) fn park_deadline(&self, _: Instant) {
            self.0.wait();
        }
    }

    impl Unparker {
        pub(crate) fn unpark(&self) {
            self.0.notify();
        }
    }
}

pub(crate) use chosen::*;
