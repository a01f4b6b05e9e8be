//! A scheduler that wraps that of the host, and adds a law's own hooks.

use std::sync::Arc;
use std::time::SystemTime;

use fiber_core::scheduler::{Checkpoint, Event, Scheduler, SwitchPoint, Task, TimerKey, Unobserved};
use fiber_core::{Context, Instant};

/// The hooks that a law adds to the host's scheduler.
pub(super) trait Hooks: Send + Sync + 'static {
    /// A task is about to be scheduled. If the hook does not return it, it is dropped.
    fn schedule(&self, task: Task) -> Option<Task> {
        Some(task)
    }

    fn observe(&self) {}

    fn unobserved(&self) {}
}

/// Calls its hooks, then passes everything on to the host's scheduler.
struct Around<K> {
    inner: Arc<dyn Scheduler>,
    hooks: K,
}

/// The root of fibers that run on the host, watched by `hooks`. The caller has to cancel it in the end.
pub(super) fn root_around(inner: Arc<dyn Scheduler>, hooks: impl Hooks) -> Context {
    Context::root(Arc::new(Around { inner, hooks }))
}

impl<K: Hooks> Scheduler for Around<K> {
    fn schedule(&self, task: Task) {
        if let Some(task) = self.hooks.schedule(task) {
            self.inner.schedule(task);
        }
    }

    fn schedule_at(&self, at: Instant, task: Task) -> TimerKey {
        self.inner.schedule_at(at, task)
    }

    fn cancel_timer(&self, key: TimerKey) -> bool {
        self.inner.cancel_timer(key)
    }

    fn now(&self) -> Instant {
        self.inner.now()
    }

    fn utc_now(&self) -> SystemTime {
        self.inner.utc_now()
    }

    fn random_u64(&self) -> u64 {
        self.inner.random_u64()
    }

    fn schedule_blocking(&self, task: Task) {
        self.inner.schedule_blocking(task);
    }

    fn budget(&self) -> u32 {
        self.inner.budget()
    }

    fn checkpoint(&self, context: &Context, at: SwitchPoint) -> Checkpoint {
        self.inner.checkpoint(context, at)
    }

    fn observe(&self, context: &Context, event: Event<'_>) {
        self.inner.observe(context, event);
        self.hooks.observe();
    }

    fn unobserved(&self, failure: &Unobserved) {
        let _ = failure;
        self.hooks.unobserved();
    }
}
