//! Tasks that belong to no fiber, for calling a scheduler directly.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

use fiber_core::scheduler::Task;
use parking_lot::Mutex;

use super::gate::Gate;

/// A task that calls `f` when it runs, and drops `f` when it is dropped.
pub(super) fn task(f: impl FnOnce() + Send + 'static) -> Task {
    Task::fire(Waker::from(Arc::new(Call(Mutex::new(Some(f))))).into())
}

struct Call<F>(Mutex<Option<F>>);

impl<F: FnOnce() + Send + 'static> Wake for Call<F> {
    fn wake(self: Arc<Self>) {
        let f = self.0.lock().take();
        f.into_iter().for_each(|f| f());
    }
}

/// Observes what happens to a task.
#[derive(Clone)]
pub(super) struct Probe {
    runs: Arc<AtomicUsize>,
    alive: Weak<()>,
}

impl Probe {
    /// A task that passes `gate` when it runs.
    pub(super) fn task(gate: &Gate) -> (Task, Probe) {
        let (runs, alive) = (Arc::new(AtomicUsize::new(0)), Arc::new(()));
        let probe = Probe { runs: runs.clone(), alive: Arc::downgrade(&alive) };
        let gate = gate.clone();
        let task = task(move || {
            let _alive = alive;
            // Release: pairs with the Acquire of `runs`, for readers that do not wait for the gate.
            runs.fetch_add(1, Ordering::Release);
            gate.pass();
        });
        (task, probe)
    }

    /// The number of times that the task has run.
    pub(super) fn runs(&self) -> usize {
        // Acquire: pairs with the Release of the task.
        self.runs.load(Ordering::Acquire)
    }

    /// Whether the task has run, or was dropped.
    pub(super) fn is_gone(&self) -> bool {
        self.alive.strong_count() == 0
    }
}
