//! A scheduler for the calling thread, [`CurrentThread`].

mod scheduler;
mod thread;

use std::fmt;
use std::sync::{Arc, mpsc};

use fiber_core::scheduler::{BranchDeque, Scheduler};
use fiber_core::{Context, Dump, Fiber, Handle, Outcome, Run};

pub(crate) use self::scheduler::ThreadScheduler;
use self::thread::OnlyThread;
use crate::bed::Bed;
use crate::observer::{Observer, Observers};

/// Runs fibers on the thread that calls [`run`](CurrentThread::run), and on no other thread.
///
/// Fibers run only during a call of `run`. Wake-ups from other threads during the call interrupt its sleep; later ones
/// wait for the next call. Blocking calls have threads of their own, as in a [`Pool`](crate::Pool). A closure that computes keeps
/// all other fibers waiting, with their timers and sockets, because there is no other thread. Futures that are not `Send` run here as fibers by
/// [`on_this_thread`](crate::on_this_thread).
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_sched::CurrentThread;
/// use std::thread;
///
/// let here = thread::current().id();
/// let scheduler = CurrentThread::new();
/// let threads = Fiber::parallel((0..3).map(|_| Fiber::lazy(|| thread::current().id())));
/// assert_eq!(scheduler.run(threads).unwrap(), [here; 3]);
/// ```
///
/// # Cancellation
/// Dropping it cancels all remaining fibers and runs them to their ends, finalizers included. Fibers that are spawned
/// meanwhile or later end as cancelled.
///
/// # Blocking
/// Dropping it blocks until then, and until the blocking calls have returned; in a blocking closure of its own, only until then.
pub struct CurrentThread {
    root: Context,
    /// Holds the deque of lent branches. Like the deque, `CurrentThread` belongs to one thread at a time: it is `Send`,
    /// but not `Sync`.
    scheduler: Arc<ThreadScheduler>,
    branches: BranchDeque,
    bed: Bed,
}

impl CurrentThread {
    /// Makes a scheduler without threads of its own.
    #[track_caller]
    pub fn new() -> Self {
        CurrentThread::observed(Observers::default())
    }

    /// Like `new`, with an observer of the fibers.
    ///
    /// ```
    /// use fiber_core::scheduler::{Ending, Event};
    /// use fiber_core::{Context, Fiber};
    /// use fiber_sched::{CurrentThread, Observer};
    /// use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
    ///
    /// #[derive(Default)]
    /// struct Successes(AtomicU32);
    ///
    /// impl Observer for Successes {
    ///     fn event(&self, _: &Context, event: Event<'_>) {
    ///         if let Event::Outcome(Ending::Success) = event {
    ///             self.0.fetch_add(1, Ordering::Relaxed);
    ///         }
    ///     }
    /// }
    ///
    /// let successes = Arc::new(Successes::default());
    /// let scheduler = CurrentThread::with_observer(successes.clone());
    /// let handle = scheduler.spawn(Fiber::success(7));
    /// // The fiber that joins it ends in the call, without a wait, and is not observed.
    /// assert_eq!(scheduler.run(handle.join()).unwrap(), 7);
    /// assert_eq!(successes.0.load(Ordering::Relaxed), 1);
    /// ```
    #[track_caller]
    pub fn with_observer(observer: impl Observer) -> Self {
        CurrentThread::observed(Observers::default().with(observer))
    }

    #[track_caller]
    fn observed(observers: Observers) -> Self {
        let (scheduler, bed) = ThreadScheduler::new(observers);
        let root = Context::root(scheduler.clone());
        let branches = BranchDeque::new();
        // No other thread could take a branch, so no thread has to be notified of one.
        branches.stealer().set_watched(true);
        CurrentThread { root, scheduler, branches, bed }
    }

    /// Runs a fiber to its outcome, and meanwhile all other fibers.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let scheduler = fiber_sched::CurrentThread::new();
    /// let other = scheduler.spawn(Fiber::success(2));
    /// assert_eq!(scheduler.run(Fiber::success(40).zip(other.join())).unwrap(), (40, 2));
    /// ```
    ///
    /// # Blocking
    /// Until the fiber has ended.
    ///
    /// # Panics
    /// If it is called in a fiber or blocking closure of the same scheduler. Bind the fiber there instead, or spawn it
    /// in [`context`](CurrentThread::context) and join its handle.
    #[track_caller]
    pub fn run<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Outcome<T> {
        let _inside = self.scheduler.id().enter_blocking("CurrentThread::run");
        let thread = self.thread();
        let mut handle = match self.root.run_here(fiber, &thread) {
            Ok(outcome) => return outcome,
            Err(handle) => handle,
        };
        loop {
            self.scheduler.run_until(&thread, || handle.is_finished());
            match handle.try_outcome() {
                Ok(outcome) => return outcome,
                Err(unfinished) => handle = unfinished,
            }
        }
    }

    /// The calling thread, as the one that runs the fibers.
    fn thread(&self) -> OnlyThread<'_> {
        OnlyThread::new(&self.scheduler, &self.branches, &self.bed)
    }

    /// Spawns a fiber and returns its handle. The fiber runs during a call of [`run`](CurrentThread::run).
    #[track_caller]
    pub fn spawn<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Handle<T> {
        self.root.spawn(fiber)
    }

    /// The root context of all fibers, for spawning from other threads and for cancelling all fibers. Do not
    /// [close](Context::close) it: the drop of this scheduler would then not wait for the fibers.
    pub fn context(&self) -> &Context {
        &self.root
    }

    /// The live fibers, and what each of them waits for, as data and as text; see [`Dump`]. Another thread may call
    /// [`Context::dump`] of [`context`](CurrentThread::context), also during a call of `run`.
    ///
    /// ```
    /// use fiber_core::{DumpedState, Fiber};
    /// let scheduler = fiber_sched::CurrentThread::new();
    /// scheduler.spawn(Fiber::success(()));
    /// let dump = scheduler.dump();
    /// assert!(matches!(dump.fibers().next().unwrap().state(), DumpedState::NotStarted));
    /// ```
    pub fn dump(&self) -> Dump {
        self.root.dump()
    }

    /// The scheduler of the fibers, for code that takes a [`Scheduler`].
    pub fn scheduler(&self) -> Arc<dyn Scheduler> {
        self.scheduler.clone()
    }
}

impl Default for CurrentThread {
    fn default() -> Self {
        CurrentThread::new()
    }
}

impl Drop for CurrentThread {
    fn drop(&mut self) {
        // A blocking thread of its own would wait for itself.
        let joins = !self.scheduler.id().is_inside();
        let _inside = self.scheduler.id().enter();
        let (close, closed) = mpsc::channel();
        self.root.close(move || _ = close.send(()));
        self.scheduler.shut_down(self.thread(), &closed, joins);
    }
}

impl fmt::Debug for CurrentThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CurrentThread").field("fibers", &self.root.live_children()).finish_non_exhaustive()
    }
}
