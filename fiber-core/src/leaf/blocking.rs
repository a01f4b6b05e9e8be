use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::one_shot::{Receiver, Sender, one_shot};
use super::wait::{Leaf, Wait};
use crate::engine::context::{Context, Cx, WaitsFor, Wakeup};
use crate::engine::scheduler::Unobserved;
use crate::engine::suppress::discard;
use crate::engine::task::{Errand, Task};
use crate::error::{Abandoned, Error, Frame, IntoError, Site};
use crate::fiber::Fiber;
use crate::footprint::Noted;
use crate::local::Locals;
use crate::outcome::Outcome;
use crate::panic::guard;
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
    /// # Errors
    /// [`Abandoned`], if the scheduler has no thread for blocking calls and cannot start one.
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// The fiber ends at once. If `f` has not started, it never will. A running `f` cannot be stopped: it runs to its
    /// end, and its value is dropped; a panic of it then goes to
    /// [`Scheduler::unobserved`](crate::scheduler::Scheduler::unobserved). See [`blocking_with`](Fiber::blocking_with) for a
    /// closure that can be asked to stop, and [`uncancelable`](Fiber::uncancelable) to wait for its end.
    #[doc(alias = "spawn_blocking")]
    #[track_caller]
    pub fn blocking<F>(f: F) -> Fiber<T, Leaf<BlockingWait<F, T>>>
    where
        F: FnOnce() -> T + Send + 'static,
    {
        let call = |f: F, _: Option<&CancelToken>| Outcome::Success(f());
        BlockingWait::leaf(Location::caller(), Work { f, call, stops: false }, "blocking")
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
    /// The error of `f`, converted, and those of [`blocking`](Fiber::blocking).
    #[track_caller]
    pub fn try_blocking<E, F>(f: F) -> Fiber<T, Leaf<BlockingWait<F, T>>>
    where
        E: IntoError,
        F: FnOnce() -> Result<T, E> + Send + 'static,
    {
        Fiber::try_blocking_at(Location::caller(), f)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(crate) fn try_blocking_at<E, F>(site: Site, f: F) -> Fiber<T, Leaf<BlockingWait<F, T>>>
    where
        E: IntoError,
        F: FnOnce() -> Result<T, E> + Send + 'static,
    {
        let call = |f: F, _: Option<&CancelToken>| f().into();
        BlockingWait::leaf(site, Work { f, call, stops: false }, "try_blocking")
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
    pub fn blocking_with<E, F>(f: F) -> Fiber<T, Leaf<BlockingWait<F, T>>>
    where
        E: IntoError,
        F: FnOnce(&CancelToken) -> Result<T, E> + Send + 'static,
    {
        BlockingWait::leaf(Location::caller(), Work::stoppable(f), "blocking_with")
    }
}

/// Why a scheduler drops work.
const NO_THREAD: &str = "the scheduler has stopped, or could not start a thread for the call";

/// Work for a thread that may block: a closure, and how it is called.
pub(crate) struct Work<F, T> {
    f: F,
    call: fn(F, Option<&CancelToken>) -> Outcome<T>,
    /// Whether it can be asked to stop, by a token.
    stops: bool,
}

impl<F, T> Work<F, T> {
    /// A closure that can be asked to stop.
    pub(crate) fn stoppable<E: IntoError>(f: F) -> Self
    where
        F: FnOnce(&CancelToken) -> Result<T, E>,
    {
        let call = |f: F, token: Option<&CancelToken>| f(token.expect("made, because it stops")).into();
        Work { f, call, stops: true }
    }
}

impl<F: Clone, T> Clone for Work<F, T> {
    fn clone(&self) -> Self {
        Work { f: self.f.clone(), ..*self }
    }
}

/// Waits for work on another thread.
pub struct BlockingWait<F, T> {
    stage: Stage<F, T>,
    frame: Frame,
}

enum Stage<F, T> {
    New(Option<Work<F, T>>),
    Scheduled(Arc<Job<F, T>>, Receiver<T>),
}

/// Work for another thread.
pub(crate) struct Job<F, T> {
    /// Taken by the thread that does the work, or by the cancellation. With it are the locals of the fiber: permits in
    /// them are held until the work has ended.
    work: Noted<Option<Unstarted<F, T>>>,
    /// If the work stops.
    token: Option<CancelToken>,
}

/// Work that has not started, the locals that it carries, and where it leaves its result.
type Unstarted<F, T> = (Work<F, T>, Option<Locals>, Sender<T>);

impl<F, T> Job<F, T> {
    pub(super) fn ask_to_stop(&self) {
        self.token.iter().for_each(CancelToken::cancel);
    }

    /// The fiber no longer waits for the result. An abandoned fiber does not deregister its wait, so the work may not have been asked to stop.
    pub(super) fn give_up(&self, result: &Receiver<T>) {
        if self.token.is_some() && result.is_open() {
            self.ask_to_stop();
        }
    }
}

impl<F: Send + 'static, T: Send + 'static> Job<F, T> {
    pub(crate) fn new(work: Work<F, T>, carried: Option<Locals>) -> (Arc<Self>, Receiver<T>) {
        let token = work.stops.then(CancelToken::new);
        let (sender, receiver) = one_shot();
        (Arc::new(Job { work: Noted::new(Some((work, carried, sender))), token }), receiver)
    }

    /// The task that does the work, for `fiber`.
    pub(super) fn task(self: &Arc<Self>, fiber: &Context) -> Task {
        Task::errand(Some(fiber.clone()), self.clone())
    }

    /// Takes back work of `fiber` that has not started. `false` if it has.
    pub(crate) fn take_back(&self, fiber: &Context) -> bool {
        let unstarted = self.work.lock().take();
        let is_unstarted = unstarted.is_some();
        discard(unstarted, fiber);
        is_unstarted
    }
}

impl<F: Send + 'static, T: Send + 'static> BlockingWait<F, T> {
    fn leaf(site: Site, work: Work<F, T>, operator: &'static str) -> Fiber<T, Leaf<Self>> {
        let stage = Stage::New(Some(work));
        Fiber::new(Leaf::new(BlockingWait { stage, frame: Frame::new(operator, site) }, site))
    }
}

impl<F, T> Drop for BlockingWait<F, T> {
    fn drop(&mut self) {
        if let Stage::Scheduled(job, result) = &self.stage {
            job.give_up(result);
        }
    }
}

impl<F: Clone, T> Clone for BlockingWait<F, T> {
    /// Scheduled work is never cloned: only descriptions are.
    fn clone(&self) -> Self {
        let work = match &self.stage {
            Stage::New(work) => work.clone(),
            Stage::Scheduled(..) => None,
        };
        BlockingWait { stage: Stage::New(work), frame: self.frame }
    }
}

impl<F: Send + 'static, T: Send + 'static> Errand for Job<F, T> {
    fn carry_out(&self, fiber: Option<&Context>) {
        let fiber = fiber.expect("blocking work belongs to a fiber");
        // The lock is released before the work starts.
        let work = self.work.lock().take();
        if let Some((Work { f, call, .. }, carried, sender)) = work {
            let call = || guard(|| call(f, self.token.as_ref())).unwrap_or_else(Outcome::Panicked);
            let (outcome, carried) = fiber.call_apart(carried, call);
            discard(carried, fiber);
            forget(sender.deliver(outcome), fiber);
        }
    }

    fn abandon(&self) {
        let work = self.work.lock().take();
        if let Some((_, _, sender)) = work {
            // No effect if the fiber no longer waits.
            let error = Error::new(Abandoned).context(NO_THREAD);
            drop(sender.deliver(Outcome::Failure(error)));
        }
    }

    fn is_over(&self) -> bool {
        // Not an access of a fiber: schedulers ask.
        self.work.lock_unnoted().is_none()
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

impl<F: Send + 'static, T: Send + 'static> Wait for BlockingWait<F, T> {
    type Out = T;

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<T>> {
        match &mut self.stage {
            Stage::New(_) => None,
            Stage::Scheduled(_, result) => result.take().map(|outcome| outcome.passed(self.frame)),
        }
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<T>> {
        if let Stage::New(work) = &mut self.stage {
            let work = work.take().expect("work is scheduled once");
            let (job, mut result) = Job::new(work, cx.locals());
            let task = job.task(cx.context());
            let ready = result.take_or_wait(wakeup);
            self.stage = Stage::Scheduled(job, result);
            cx.scheduler().schedule_blocking(task);
            return ready;
        }
        let Stage::Scheduled(_, result) = &mut self.stage else { unreachable!("scheduled above") };
        result.take_or_wait(wakeup).map(|outcome| outcome.passed(self.frame))
    }

    fn deregister(&mut self, cx: &Cx<'_>) {
        if let Stage::Scheduled(job, result) = &mut self.stage {
            job.ask_to_stop();
            forget(result.close(), cx.context());
            let unstarted = job.work.lock().take();
            drop(unstarted);
        }
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Blocking
    }
}

impl<F, T> fmt::Debug for BlockingWait<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.frame)
    }
}
