use std::sync::Arc;

use fiber_core::{Fiber, Run};

use super::noted::Noted;

/// A variable that fibers share. Each access is atomic; the tests are about the steps of others between two accesses.
#[derive(Debug, Default)]
pub struct Shared<T>(Arc<Noted<T>>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(self.0.clone())
    }
}

impl<T: Send + 'static> Shared<T> {
    pub fn new(value: T) -> Self {
        Shared(Arc::new(Noted::new(value)))
    }

    /// Reads or modifies it immediately.
    pub fn with<U>(&self, f: impl FnOnce(&mut T) -> U) -> U {
        f(&mut self.0.lock())
    }

    /// The same as a fiber: one step of a program.
    pub fn step<U, F>(&self, f: F) -> Fiber<U, impl Run<Out = U> + use<T, U, F>>
    where
        U: Send + 'static,
        F: FnOnce(&mut T) -> U + Send + 'static,
    {
        let shared = self.clone();
        Fiber::lazy(move || shared.with(f))
    }
}
