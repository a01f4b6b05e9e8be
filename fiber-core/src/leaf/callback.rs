use std::fmt;
use std::panic::Location;

use super::gone::cancelled_or;
use super::one_shot::{Receiver, Sender, one_shot};
use super::wait::{Leaf, Wait};
use crate::engine::context::{Cx, WaitsFor, Wakeup};
use crate::error::{Abandoned, Error, Frame, IntoError};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::guard;

impl<T: Send + 'static> Fiber<T> {
    /// Waits until a [`Resume`] is called: the bridge from any callback interface.
    ///
    /// `register` is called when the fiber reaches this wait. It may resume at once, or pass the `Resume` to another
    /// thread.
    ///
    /// ```
    /// use fiber_core::Fiber;
    ///
    /// let fiber = Fiber::callback(|resume| {
    ///     std::thread::spawn(move || resume.success("from another thread"));
    /// });
    /// assert_eq!(fiber_sched::run(fiber).unwrap(), "from another thread");
    /// ```
    ///
    /// # Errors
    /// [`Abandoned`], if the `Resume` is dropped without being called.
    ///
    /// # Panics
    /// A panic of `register` becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// The wait ends at once. After that, [`Resume::is_closed`] is `true`, and calling the `Resume` has no effect.
    #[doc(alias = "async_")]
    #[track_caller]
    pub fn callback<F>(register: F) -> Fiber<T, Leaf<Callback<T, F>>>
    where
        F: FnOnce(Resume<T>) + Send + 'static,
    {
        Fiber::wait(Callback { stage: Stage::New(register), site: Location::caller() })
    }
}

/// The wait of [`Fiber::callback`].
pub struct Callback<T, F> {
    stage: Stage<T, F>,
    site: &'static Location<'static>,
}

enum Stage<T, F> {
    New(F),
    Registered(Receiver<T>),
    Over,
}

impl<T, F: Clone> Clone for Callback<T, F> {
    /// Clones the description. A callback that has been registered is never cloned.
    fn clone(&self) -> Self {
        let stage = match &self.stage {
            Stage::New(register) => Stage::New(register.clone()),
            Stage::Registered(_) | Stage::Over => Stage::Over,
        };
        Callback { stage, site: self.site }
    }
}

impl<T, F> Callback<T, F> {
    fn end(&self, cx: &Cx<'_>, outcome: Outcome<T>) -> Option<Outcome<T>> {
        let outcome = cancelled_or(outcome, Some(cx));
        Some(outcome.passed(Frame::new("callback", self.site)))
    }
}

impl<T, F> Wait for Callback<T, F>
where
    T: Send + 'static,
    F: FnOnce(Resume<T>) + Send + 'static,
{
    type Out = T;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<T>> {
        if let Stage::New(_) = self.stage {
            let (sender, mut receiver) = one_shot();
            let old = std::mem::replace(&mut self.stage, Stage::Over);
            let Stage::New(register) = old else { unreachable!("the stage was checked above") };
            if let Err(panic) = guard(|| register(Resume::of(sender))) {
                let outcome = Outcome::Panicked(panic).passed(Frame::new("callback", self.site));
                // The `Resume` may live on, and hands back what it is to send.
                return Some(outcome.without(receiver.close(), cx));
            }
            self.stage = Stage::Registered(receiver);
        }
        let Stage::Registered(receiver) = &mut self.stage else { unreachable!("polled after the end") };
        let outcome = receiver.take()?;
        self.end(cx, outcome)
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<T>> {
        let Stage::Registered(receiver) = &mut self.stage else { unreachable!("polled before") };
        let outcome = receiver.take_or_wait(wakeup)?;
        self.end(cx, outcome)
    }

    fn deregister(&mut self, _: &Cx<'_>) {
        if let Stage::Registered(receiver) = &mut self.stage {
            drop(receiver.close());
        }
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Callback
    }
}

impl<T, F> fmt::Debug for Callback<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "callback at {}", self.site)
    }
}

/// Resumes the fiber that waits in [`Fiber::callback`], once, from any thread.
///
/// If it is dropped unused, the fiber fails with [`Abandoned`].
#[must_use = "dropping a Resume fails the fiber that waits for it"]
pub struct Resume<T>(Option<Sender<T>>);

impl<T> Resume<T> {
    pub(crate) fn of(sender: Sender<T>) -> Self {
        Resume(Some(sender))
    }

    /// Makes the fiber succeed with `value`, unless it no longer waits.
    ///
    /// ```
    /// use fiber_core::sync::one_shot;
    ///
    /// let (reply, answer) = one_shot();
    /// drop(answer);
    /// assert_eq!(reply.send("hello"), Err("hello"));
    /// ```
    ///
    /// # Errors
    /// Returns the value if the wait was cancelled or has lost a race, if its fiber was dropped, or if the closure of
    /// [`Fiber::callback`] panicked.
    pub fn send(mut self, value: T) -> Result<(), T> {
        let refused = self.0.take().and_then(|sender| sender.hand_over(Outcome::Success(value)));
        refused.and_then(Outcome::success).map_or(Ok(()), Err)
    }

    /// Makes the fiber succeed with `value`.
    pub fn success(self, value: T) {
        self.outcome(Outcome::Success(value));
    }

    /// Makes the fiber fail with `error`.
    ///
    /// ```
    /// use fiber_core::Fiber;
    ///
    /// let fiber = Fiber::<()>::callback(|resume| resume.fail("line is busy"));
    /// assert_eq!(fiber_sched::run(fiber).failure().unwrap().to_string(), "line is busy");
    /// ```
    pub fn fail(self, error: impl IntoError) {
        self.outcome(Outcome::Failure(error.into_error()));
    }

    /// Makes the fiber succeed or fail with `result`.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let fiber = Fiber::callback(|resume| resume.result("7".parse::<u8>()));
    /// assert_eq!(fiber_sched::run(fiber).unwrap(), 7);
    /// ```
    pub fn result<E: IntoError>(self, result: Result<T, E>) {
        self.outcome(result.into());
    }

    /// Ends the wait with `outcome`.
    ///
    /// ```
    /// use fiber_core::{Fiber, Outcome};
    ///
    /// let fiber = Fiber::<()>::callback(|resume| resume.outcome(Outcome::Cancelled));
    /// assert!(fiber_sched::run(fiber).is_cancelled());
    /// ```
    pub fn outcome(mut self, outcome: Outcome<T>) {
        if let Some(sender) = self.0.take() {
            drop(sender.deliver(outcome));
        }
    }

    /// Whether the fiber no longer waits, because it was cancelled.
    pub fn is_closed(&self) -> bool {
        self.0.as_ref().is_none_or(Sender::is_closed)
    }
}

impl<T> Drop for Resume<T> {
    fn drop(&mut self) {
        if let Some(sender) = self.0.take() {
            drop(sender.deliver(Outcome::Failure(Error::new(Abandoned))));
        }
    }
}

impl<T> fmt::Debug for Resume<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resume")
    }
}
