//! Proves that closures run at the same time: each waits, on its thread, until the others have begun.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fiber_core::Fiber;
use parking_lot::{Condvar, Mutex};

/// A place where closures meet.
#[derive(Clone)]
pub(super) struct Meeting {
    state: Arc<(Mutex<usize>, Condvar)>,
    size: usize,
    patience: Duration,
}

impl Meeting {
    /// For `size` closures.
    pub(super) fn new(size: usize, patience: Duration) -> Self {
        Meeting { state: Arc::default(), size, patience }
    }

    /// A fiber that blocks its thread until all closures have come. It panics if they do not come in time.
    pub(super) fn attend(&self) -> Fiber<()> {
        let meeting = self.clone();
        Fiber::lazy(move || meeting.meet()).boxed()
    }

    fn meet(&self) {
        let (come, changed) = &*self.state;
        let end = Instant::now() + self.patience;
        let mut come = come.lock();
        *come += 1;
        changed.notify_all();
        while *come < self.size {
            let is_over = changed.wait_until(&mut come, end).timed_out();
            assert!(!is_over || *come == self.size, "only {} of {} closures have begun", *come, self.size);
        }
    }
}
