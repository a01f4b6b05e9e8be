use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::one_shot::OneShot;
use super::wait::{Leaf, Wait};
use crate::engine::context::{Context, Cx, WaitsFor, Wakeup};
use crate::engine::scheduler::Unobserved;
use crate::engine::suppress::discard;
use crate::engine::task::{Errand, Task};
use crate::error::{Abandoned, Error, Frame, Site};
use crate::fiber::Fiber;
use crate::footprint::Noted;
use crate::local::Locals;
use crate::outcome::{Outcome, guard};
use crate::token::CancelToken;

impl<T: Send + 'static> Fiber<T> {
    /// Calls `f` on a thread that may block: for files, name lookups, and libraries that block.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let size = Fiber::blocking(|| std::fs::metadata("Cargo.toml").map(|file| file.len()).unwrap_or(0));
    /// assert!(fiber_sched::run(size).unwrap() > 0);
    /// ```
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// The fiber ends at once. If `f` has not started, it never will. A running `f` cannot be stopped: it runs to its
    /// end, and its value is dropped; a panic of it then goes to
    /// [`Scheduler::unobserved`](crate::scheduler::Scheduler::unobserved). See [`blocking_with`](Fiber::blocking_with) for a
    /// closure that can be asked to stop, and [`uncancelable`](Fiber::uncancelable) to wait for its end.
    #[track_caller]
    pub fn blocking<F>(f: F) -> Fiber<T, Leaf<Blocking<F>>>
    where
        F: FnOnce() -> T + Send + 'static,
    {
        BlockingWait::leaf(Location::caller(), Plain(f), "blocking")
    }

    /// Like [`blocking`](Fiber::blocking), for a closure that may fail.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let text = Fiber::try_blocking(|| std::fs::read_to_string("no such file"));
    /// assert!(fiber_sched::run(text).failure().unwrap().is::<std::io::Error>());
    /// ```
    ///
    /// # Errors
    /// The error of `f`, converted.
    #[track_caller]
    pub fn try_blocking<E, F>(f: F) -> Fiber<T, Leaf<TryBlocking<F>>>
    where
        E: Into<Error>,
        F: FnOnce() -> Result<T, E> + Send + 'static,
    {
        Fiber::try_blocking_at(Location::caller(), f)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(crate) fn try_blocking_at<E, F>(site: Site, f: F) -> Fiber<T, Leaf<TryBlocking<F>>>
    where
        E: Into<Error>,
        F: FnOnce() -> Result<T, E> + Send + 'static,
    {
        BlockingWait::leaf(site, Fallible(f), "try_blocking")
    }

    /// Like [`try_blocking`](Fiber::try_blocking), for a long closure that checks from time to time whether it should
    /// stop.
    ///
    /// ```
    /// use fiber_core::{CancelToken, Error, Fiber};
    ///
    /// fn count(token: &CancelToken) -> Result<u32, Error> {
    ///     let mut rounds = 0;
    ///     while rounds < 1000 && !token.is_cancelled() {
    ///         rounds += 1;
    ///     }
    ///     Ok(rounds)
    /// }
    /// assert_eq!(fiber_sched::run(Fiber::blocking_with(count)).unwrap(), 1000);
    /// ```
    ///
    /// # Cancellation
    /// The token is cancelled, and the fiber ends at once, without the value of the closure.
    #[track_caller]
    pub fn blocking_with<E, F>(f: F) -> Fiber<T, Leaf<BlockingWith<F>>>
    where
        E: Into<Error>,
        F: FnOnce(&CancelToken) -> Result<T, E> + Send + 'static,
    {
        BlockingWait::leaf(Location::caller(), Stoppable(f), "blocking_with")
    }
}

/// The wait of [`Fiber::blocking`].
pub(crate) type Blocking<F> = BlockingWait<Plain<F>>;
/// The wait of [`Fiber::try_blocking`].
pub(crate) type TryBlocking<F> = BlockingWait<Fallible<F>>;
/// The wait of [`Fiber::blocking_with`].
pub(crate) type BlockingWith<F> = BlockingWait<Stoppable<F>>;

/// Work for a thread that may block.
pub trait Work: Send + 'static {
    /// The value of a success.
    type Out: Send + 'static;
    /// Whether it can be asked to stop, by a token.
    const STOPS: bool = false;
    /// Does the work. May panic.
    fn work(self, token: Option<&CancelToken>) -> Outcome<Self::Out>;
}

/// A closure that gives a value.
#[derive(Clone, Debug)]
pub struct Plain<F>(F);

impl<T: Send + 'static, F: FnOnce() -> T + Send + 'static> Work for Plain<F> {
    type Out = T;

    fn work(self, _: Option<&CancelToken>) -> Outcome<T> {
        Outcome::Success((self.0)())
    }
}

/// A closure that gives a result.
#[derive(Clone, Debug)]
pub struct Fallible<F>(F);

impl<T, E, F> Work for Fallible<F>
where
    T: Send + 'static,
    E: Into<Error>,
    F: FnOnce() -> Result<T, E> + Send + 'static,
{
    type Out = T;

    fn work(self, _: Option<&CancelToken>) -> Outcome<T> {
        (self.0)().into()
    }
}

/// A closure that gives a result and can be asked to stop.
#[derive(Clone, Debug)]
pub struct Stoppable<F>(F);

impl<F> Stoppable<F> {
    pub(crate) fn new(f: F) -> Self {
        Stoppable(f)
    }
}

impl<T, E, F> Work for Stoppable<F>
where
    T: Send + 'static,
    E: Into<Error>,
    F: FnOnce(&CancelToken) -> Result<T, E> + Send + 'static,
{
    type Out = T;
    const STOPS: bool = true;

    fn work(self, token: Option<&CancelToken>) -> Outcome<T> {
        (self.0)(token.expect("made, because it stops")).into()
    }
}

/// Waits for work on another thread.
pub struct BlockingWait<W: Work> {
    stage: Stage<W>,
    frame: Frame,
}

enum Stage<W: Work> {
    New(Option<W>),
    Scheduled(Arc<Job<W>>),
}

/// Work for another thread, and its result.
pub(crate) struct Job<W: Work> {
    /// Taken by the thread that does the work, or by the cancellation. With it are the locals of the fiber: permits in
    /// them are held until the work has ended.
    work: Noted<Option<(W, Option<Arc<Locals>>)>>,
    /// If the work stops.
    token: Option<CancelToken>,
    result: OneShot<W::Out>,
}

impl<W: Work> Job<W> {
    pub(crate) fn new(work: W, carried: Option<Arc<Locals>>) -> Arc<Self> {
        let work = Noted::new(Some((work, carried)));
        Arc::new(Job { work, token: W::STOPS.then(CancelToken::new), result: OneShot::new() })
    }

    /// The task that does the work, for `fiber`.
    pub(super) fn task(self: &Arc<Self>, fiber: &Context) -> Task {
        Task::errand(fiber.clone(), self.clone())
    }

    pub(super) fn result(&self) -> &OneShot<W::Out> {
        &self.result
    }

    pub(super) fn ask_to_stop(&self) {
        self.token.iter().for_each(CancelToken::cancel);
    }

    /// Takes back work of `fiber` that has not started. `false` if it has.
    pub(crate) fn take_back(&self, fiber: &Context) -> bool {
        let unstarted = self.work.lock().take();
        let is_unstarted = unstarted.is_some();
        discard(unstarted, fiber);
        is_unstarted
    }
}

impl<W: Work> fmt::Debug for Job<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("token", &self.token).finish_non_exhaustive()
    }
}

impl<W: Work> BlockingWait<W> {
    fn leaf(site: Site, work: W, operator: &'static str) -> Fiber<W::Out, Leaf<Self>> {
        let stage = Stage::New(Some(work));
        Fiber::new(Leaf::new(BlockingWait { stage, frame: Frame::new(operator, site) }, site))
    }
}

impl<W: Work + Clone> Clone for BlockingWait<W> {
    /// Scheduled work is never cloned: only descriptions are.
    fn clone(&self) -> Self {
        let work = match &self.stage {
            Stage::New(work) => work.clone(),
            Stage::Scheduled(_) => None,
        };
        BlockingWait { stage: Stage::New(work), frame: self.frame }
    }
}

impl<W: Work> Errand for Job<W> {
    fn carry_out(&self, fiber: &Context) {
        // The lock is released before the work starts.
        let work = self.work.lock().take();
        if let Some((work, carried)) = work {
            let outcome =
                fiber.run_as(|| guard(|| work.work(self.token.as_ref())).unwrap_or_else(Outcome::Panicked));
            discard(carried, fiber);
            forget(self.result.deliver(outcome), fiber);
        }
    }

    fn abandon(&self) {
        // No effect if the fiber no longer waits.
        drop(self.result.deliver(Outcome::Failure(Error::new(Abandoned))));
    }
}

/// Handles the outcome of work whose fiber was cancelled. A failure may result from the request to stop, and is
/// dropped; a panic is a defect, and is reported.
fn forget<T>(outcome: Option<Outcome<T>>, fiber: &Context) {
    if let Some(panicked @ Outcome::Panicked(_)) = &outcome {
        Unobserved::report(fiber, panicked);
    }
    discard(outcome, fiber);
}

impl<W: Work> Wait for BlockingWait<W> {
    type Out = W::Out;

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<W::Out>> {
        match &self.stage {
            Stage::New(_) => None,
            Stage::Scheduled(job) => job.result.take().map(|outcome| outcome.passed(self.frame)),
        }
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<W::Out>> {
        if let Stage::New(work) = &mut self.stage {
            let job = Job::new(work.take().expect("work is scheduled once"), cx.locals());
            self.stage = Stage::Scheduled(job.clone());
            let ready = job.result.take_or_wait(wakeup);
            cx.scheduler().schedule_blocking(job.task(cx.context()));
            return ready;
        }
        let Stage::Scheduled(job) = &self.stage else { unreachable!("scheduled above") };
        job.result.take_or_wait(wakeup).map(|outcome| outcome.passed(self.frame))
    }

    fn deregister(&mut self, cx: &Cx<'_>) {
        if let Stage::Scheduled(job) = &self.stage {
            job.ask_to_stop();
            forget(job.result.close(), cx.context());
            let unstarted = job.work.lock().take();
            drop(unstarted);
        }
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Blocking
    }
}

impl<W: Work> fmt::Debug for BlockingWait<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.frame)
    }
}
