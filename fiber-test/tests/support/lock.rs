use std::collections::VecDeque;
use std::sync::Arc;

use fiber_core::{Fiber, Resume, Run};

use super::noted::Noted;

/// A lock that is handed from fiber to fiber, in the order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Lock(Arc<Noted<State>>);

#[derive(Debug, Default)]
struct State {
    is_taken: bool,
    queue: VecDeque<Resume<Held>>,
}

impl Lock {
    /// Waits until the lock is free, and acquires it. A fiber that is cancelled meanwhile leaves the queue.
    pub fn take(&self) -> Fiber<Held> {
        let lock = self.clone();
        Fiber::callback(move |resume| lock.enter(resume)).boxed()
    }

    /// Runs `fiber` while it holds the lock.
    pub fn hold<T, R>(&self, fiber: Fiber<T, R>) -> Fiber<T>
    where
        T: Send + 'static,
        R: Run<Out = T>,
    {
        let release = |held: Held| move |value| (drop(held), value).1;
        self.take().bind(move |held| fiber.map(release(held))).boxed()
    }

    fn enter(&self, resume: Resume<Held>) {
        let mut state = self.0.lock();
        if state.is_taken {
            state.queue.push_back(resume);
            return;
        }
        state.is_taken = true;
        drop(state);
        resume.success(Held(self.clone()));
    }

    fn release(&self) {
        let mut state = self.0.lock();
        match state.queue.pop_front() {
            Some(next) => {
                drop(state);
                next.success(Held(self.clone()));
            }
            None => state.is_taken = false,
        }
    }
}

/// Holds the lock while it lives.
///
/// It is a value, so that it cannot be lost: if it is handed to a fiber that was cancelled, it is dropped there, and the next one in the
/// queue gets it. Checking [`Resume::is_closed`] first would not be enough: a fiber that was cancelled and has had no turn yet still
/// looks as if it waited.
#[derive(Debug)]
#[must_use = "the lock is free again when this is dropped"]
pub struct Held(Lock);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.release();
    }
}
