//! The atomics and locks of lock-free files: those of the standard library, or loom's under `--cfg fiber_loom`.

#[cfg(not(fiber_loom))]
mod chosen {
    pub(crate) use std::sync::Arc;
    pub(crate) use std::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
    pub(crate) use std::thread::LocalKey;

    pub(crate) use parking_lot::{Mutex, MutexGuard};

    /// A condition variable with loom's interface for waiting.
    #[derive(Debug, Default)]
    pub(crate) struct Condvar(parking_lot::Condvar);

    impl Condvar {
        pub(crate) fn new() -> Self {
            Condvar::default()
        }

        pub(crate) fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(&mut guard);
            guard
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    /// Placed between a SeqCst write and a SeqCst read, whose order SeqCst alone guarantees.
    #[inline]
    pub(crate) fn between_seq_cst() {}

    /// For a loop that waits for another thread to finish within a microsecond, unless that thread was preempted.
    #[inline]
    pub(crate) fn wait_a_moment() {
        std::thread::yield_now();
    }

    /// `std::cell::UnsafeCell` with loom's interface for access.
    #[derive(Debug, Default)]
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) fn new(value: T) -> Self {
            UnsafeCell(std::cell::UnsafeCell::new(value))
        }

        #[inline]
        pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        #[inline]
        pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}

#[cfg(fiber_loom)]
mod chosen {
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::Arc;
    pub(crate) use loom::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };

    pub(crate) use loom::sync::MutexGuard;
    pub(crate) use loom::thread::LocalKey;

    /// Without poisoning.
    pub(crate) struct Condvar(loom::sync::Condvar);

    impl Condvar {
        pub(crate) fn new() -> Self {
            Condvar(loom::sync::Condvar::new())
        }

        pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(guard).expect("no thread has panicked with the lock")
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    /// Without poisoning.
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Mutex(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
            self.0.lock().expect("no thread has panicked with the lock")
        }
    }

    pub(crate) fn wait_a_moment() {
        loom::thread::yield_now();
    }

    /// Loom treats SeqCst accesses as AcqRel only, but models SeqCst fences in full.
    pub(crate) fn between_seq_cst() {
        loom::sync::atomic::fence(Ordering::SeqCst);
    }
}

pub(crate) use chosen::*;

/// Runs a model with up to so many preemptions: all interleavings of three threads, or of many steps, would take hours.
#[cfg(all(test, fiber_loom))]
pub(crate) fn model_up_to(preemptions: usize, f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(f);
}

/// Runs a model with up to three preemptions.
#[cfg(all(test, fiber_loom))]
pub(crate) fn model_with_a_bound(f: impl Fn() + Send + Sync + 'static) {
    model_up_to(3, f);
}

/// Calls `f` on another thread of a model, with a clone of `shared`.
#[cfg(all(test, fiber_loom))]
pub(crate) fn beside<A: Clone + 'static, T: 'static>(
    shared: &A,
    f: impl FnOnce(&A) -> T + 'static,
) -> loom::thread::JoinHandle<T> {
    let shared = shared.clone();
    loom::thread::spawn(move || f(&shared))
}
