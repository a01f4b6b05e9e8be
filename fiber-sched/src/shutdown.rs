//! The end of a pool, in numbered steps.
//!
//! | step | what happens | time limit |
//! |---|---|---|
//! | 1 | *Drain*: the fibers continue as usual, and may fork, wait and block. The pool waits until none is left. | the time of [`after_draining`](Shutdown::after_draining) |
//! | 2 | *Cancel* what is left. A fiber that is spawned from now on ends as cancelled. | |
//! | 3 | *Await*: the finalizers run, and may fork, wait and block too. | the limit |
//! | 4 | *Report* what has not ended. | |
//! | 5 | *Stop*: no further task runs. The pool drops the tasks in the queues, the timers, and the blocking calls that have not begun, which abandons their fibers. It also drops every task that is scheduled later, by a foreign callback for example. | |
//! | 6 | *Join* the threads. A busy worker ends after its task, and a blocking thread after its call. | what is left of the limit |
//!
//! Nothing new can be submitted to the pool meanwhile, because `shutdown` and `drop` own it. Only code with a clone of its
//! root context may spawn, until the pool is drained or cancelled.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use fiber_core::Context;

use crate::blocking::Blocking;
use crate::inside::SchedulerId;
use crate::threads::Threads;
use crate::unfinished::Unfinished;

/// The view of a scheduler with threads that its shutdown needs.
pub(crate) trait Stops: Send + Sync + 'static {
    fn id(&self) -> SchedulerId;

    fn threads(&self) -> &Arc<Threads>;

    fn blocking(&self) -> &Blocking;

    /// Step 5.
    fn stop(&self);

    /// Steps 5 and 6. `false`: the deadline has passed.
    fn end(&self, deadline: Option<Instant>) -> bool {
        self.stop();
        self.threads().join(deadline)
    }
}

/// How long [`Pool::shutdown`](crate::Pool::shutdown) waits for the fibers, before and after it cancels them.
///
/// ```
/// use fiber_sched::Shutdown;
/// use std::time::Duration;
///
/// // Fibers have a minute to end by themselves. Then they are cancelled, and have ten seconds for their finalizers.
/// let graceful = Shutdown::within(Duration::from_secs(10)).after_draining(Duration::from_secs(60));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Shutdown {
    drain: Duration,
    /// `None`: without a limit.
    limit: Option<Duration>,
}

impl Shutdown {
    /// Cancels the fibers, and waits at most `limit` until they and the threads have ended.
    pub fn within(limit: Duration) -> Self {
        Shutdown { drain: Duration::ZERO, limit: Some(limit) }
    }

    /// Before it cancels anything, lets the fibers end by themselves: for at most the time `drain`, and only until none
    /// is left.
    pub fn after_draining(self, drain: Duration) -> Self {
        Shutdown { drain, ..self }
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn drain(&self) -> Duration {
        self.drain
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn limit(&self) -> Option<Duration> {
        self.limit
    }

    /// Cancels the fibers, and waits for as long as it takes.
    pub(crate) fn without_limit() -> Self {
        Shutdown { drain: Duration::ZERO, limit: None }
    }

    /// Ends the pool. If the caller is code of the pool itself, the end continues in the background.
    pub(crate) fn begin<S: Stops>(self, root: &Context, scheduler: &Arc<S>) -> Result<(), Unfinished> {
        let (drain, drained) = mpsc::channel();
        root.drain(move || _ = drain.send(()));
        if self.drain.is_zero() {
            root.cancel();
        }
        let ending = Ending { plan: self, root: root.clone(), scheduler: scheduler.clone(), empty: drained };
        if !scheduler.id().is_inside() && !is_in_fiber_of(root) {
            return ending.run();
        }
        // The caller would wait for its own end, so another thread waits instead.
        let unfinished = ending.unfinished();
        if scheduler.threads().start_detached("closer", move || _ = ending.run()).is_err() {
            // No thread can wait for the finalizers.
            root.cancel();
            scheduler.stop();
        }
        Err(unfinished)
    }
}

/// Whether a fiber of the scheduler calls. It may be on any thread: one that has not started ends on the thread that cancels it, where
/// its closure is dropped.
fn is_in_fiber_of(root: &Context) -> bool {
    Context::current().is_some_and(|fiber| Arc::ptr_eq(fiber.scheduler(), root.scheduler()))
}

/// A pool that is ending.
struct Ending<S> {
    plan: Shutdown,
    root: Context,
    scheduler: Arc<S>,
    /// Signals that no fiber is left. If other code has closed the root, the channel disconnects without a signal.
    empty: Receiver<()>,
}

impl<S: Stops> Ending<S> {
    fn run(self) -> Result<(), Unfinished> {
        let is_drained = !self.plan.drain.is_zero() && self.is_empty_by(later(self.plan.drain));
        self.root.cancel();
        let deadline = self.plan.limit.and_then(later);
        let unfinished = (!is_drained && !self.is_empty_by(deadline)).then(|| self.unfinished());
        let have_threads_ended = self.scheduler.end(deadline);
        match unfinished {
            Some(unfinished) => Err(unfinished),
            None if have_threads_ended => Ok(()),
            None => Err(self.unfinished()),
        }
    }

    /// Waits until no fiber is left. `false`: the deadline has passed.
    fn is_empty_by(&self, deadline: Option<Instant>) -> bool {
        match deadline {
            None => self.empty.recv().is_ok(),
            Some(at) => self.empty.recv_timeout(at.saturating_duration_since(Instant::now())).is_ok(),
        }
    }

    fn unfinished(&self) -> Unfinished {
        let scheduler = &*self.scheduler;
        Unfinished::new(self.root.dump(), scheduler.blocking().calls(), scheduler.threads().names())
    }
}

/// `None`: beyond the range of the clock.
fn later(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}
