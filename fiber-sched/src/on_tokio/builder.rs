use std::fmt;

use fiber_core::Context;
use fiber_core::scheduler::Unobserved;
use tokio::runtime;

use super::TokioScheduler;
use super::scheduler::{Hooks, RuntimeScheduler};
use crate::observer::Observer;

/// Builds a [`TokioScheduler`].
///
/// ```
/// # #[tokio::main]
/// # async fn main() {
/// use fiber_core::Fiber;
/// use fiber_sched::TokioScheduler;
///
/// let runtime = tokio::runtime::Handle::current();
/// let builder = TokioScheduler::builder(&runtime).on_unobserved(|failure| eprintln!("lost: {failure}"));
/// assert!(builder.build().spawn(Fiber::success(())).await.is_success());
/// # }
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct TokioBuilder {
    runtime: runtime::Handle,
    hooks: Hooks,
}

impl TokioScheduler {
    /// A builder for a scheduler with hooks.
    ///
    /// ```
    /// # #[tokio::main]
    /// # async fn main() {
    /// use fiber_core::Fiber;
    /// use fiber_sched::TokioScheduler;
    /// use std::sync::mpsc;
    ///
    /// let (sender, lost) = mpsc::channel();
    /// let runtime = tokio::runtime::Handle::current();
    /// let builder = TokioScheduler::builder(&runtime);
    /// let fibers = builder.on_unobserved(move |failure| _ = sender.send(failure.message().to_owned())).build();
    /// drop(fibers.spawn(Fiber::<()>::fail("no such order")));
    /// assert_eq!(tokio::task::spawn_blocking(move || lost.recv()).await.unwrap().unwrap(), "no such order");
    /// # }
    /// ```
    pub fn builder(runtime: &runtime::Handle) -> TokioBuilder {
        TokioBuilder::new(runtime)
    }
}

impl TokioBuilder {
    pub(super) fn new(runtime: &runtime::Handle) -> Self {
        TokioBuilder { runtime: runtime.clone(), hooks: Hooks::default() }
    }

    /// Sets the hook for failures and panics of fibers whose outcome can no longer be taken. The default prints a
    /// line to stderr. A panic of the hook is ignored.
    pub fn on_unobserved(mut self, hook: impl Fn(&Unobserved) + Send + Sync + 'static) -> Self {
        self.hooks.on_unobserved = Box::new(hook);
        self
    }

    /// Adds an observer, which sees the events and turns of the fibers.
    ///
    /// ```
    /// # #[tokio::main]
    /// # async fn main() {
    /// use fiber_core::scheduler::Event;
    /// use fiber_core::{Context, Fiber};
    /// use fiber_sched::{Observer, TokioScheduler};
    /// use std::sync::{Arc, Mutex};
    ///
    /// /// The names of the fibers that were cancelled.
    /// #[derive(Default)]
    /// struct Cancelled(Mutex<Vec<String>>);
    ///
    /// impl Observer for Cancelled {
    ///     fn event(&self, fiber: &Context, event: Event<'_>) {
    ///         if let Event::Cancelled = event {
    ///             self.0.lock().unwrap().extend(fiber.name().map(str::to_owned));
    ///         }
    ///     }
    /// }
    ///
    /// let cancelled = Arc::new(Cancelled::default());
    /// let runtime = tokio::runtime::Handle::current();
    /// let fibers = TokioScheduler::builder(&runtime).observer(cancelled.clone()).build();
    /// let request = fibers.spawn(Fiber::<()>::never().named("request"));
    /// request.cancel_now();
    /// assert!(request.await.is_cancelled());
    /// assert_eq!(*cancelled.0.lock().unwrap(), ["request"]);
    /// # }
    /// ```
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.hooks.observers = self.hooks.observers.with(observer);
        self
    }

    /// Makes the scheduler, which begins to run fibers as soon as the runtime runs.
    ///
    /// # Panics
    /// If the timers of the runtime are not enabled.
    #[track_caller]
    pub fn build(self) -> TokioScheduler {
        let scheduler = RuntimeScheduler::start(self.runtime, self.hooks);
        TokioScheduler { root: Context::root(scheduler.clone()), scheduler, is_draining: false }
    }
}

impl fmt::Debug for TokioBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokioBuilder").field("runtime", &self.runtime).finish_non_exhaustive()
    }
}
