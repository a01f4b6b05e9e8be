//! Gates, by which fibers, tasks and threads signal fibers.

use std::sync::Arc;

use fiber_core::{Fiber, Resume};
use parking_lot::Mutex;

/// Opens when it has been passed a number of times.
#[derive(Clone)]
pub(super) struct Gate(Arc<Mutex<State>>);

struct State {
    left: usize,
    waiting: Vec<Resume<()>>,
}

impl Gate {
    pub(super) fn new(passes: usize) -> Self {
        Gate(Arc::new(Mutex::new(State { left: passes, waiting: Vec::new() })))
    }

    /// Can be called anywhere.
    pub(super) fn pass(&self) {
        let mut state = self.0.lock();
        state.left = state.left.saturating_sub(1);
        let woken = if state.left == 0 { std::mem::take(&mut state.waiting) } else { Vec::new() };
        // A resumption calls the scheduler, so the lock is released.
        drop(state);
        woken.into_iter().for_each(|resume| resume.success(()));
    }

    /// A fiber that passes.
    pub(super) fn passing(&self) -> Fiber<()> {
        let gate = self.clone();
        Fiber::lazy(move || gate.pass()).boxed()
    }

    /// A fiber that waits until the gate is open.
    pub(super) fn opened(&self) -> Fiber<()> {
        let gate = self.clone();
        let wait = move |resume: Resume<()>| {
            let mut state = gate.0.lock();
            if state.left > 0 {
                return state.waiting.push(resume);
            }
            drop(state);
            resume.success(());
        };
        Fiber::callback(wait).boxed()
    }
}
