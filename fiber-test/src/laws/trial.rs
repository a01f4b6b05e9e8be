//! Runs one law against one host.

use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use fiber_core::scheduler::Scheduler;
use fiber_core::{Context, Fiber, Handle, Outcome, Run};
use parking_lot::Mutex;

use super::host::{AnyHost, Host};
use crate::text::panic_message;

/// A scheduler broke a law.
///
/// ```
/// use fiber_test::TestScheduler;
/// use fiber_test::laws;
///
/// if let Err(broken) = laws::timers_are_never_early(TestScheduler::new) {
///     panic!("{broken}"); // names the law, and says what was seen
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Broken {
    law: &'static str,
    says: &'static str,
    seen: String,
}

impl Broken {
    /// The name of the law, which is that of its function.
    pub fn law(&self) -> &'static str {
        self.law
    }

    /// The text of the law, in one sentence.
    pub fn says(&self) -> &'static str {
        self.says
    }

    /// What the scheduler did instead.
    pub fn seen(&self) -> &str {
        &self.seen
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Broken { law, says, seen } = self;
        write!(f, "the scheduler breaks the law `{law}`\nlaw:  {says}\nseen: {seen}")
    }
}

impl std::error::Error for Broken {}

/// Checks a law on a thread of its own. `body` panics if the law is broken.
pub(super) fn hold<H: Host>(
    law: &'static str,
    says: &'static str,
    make: impl FnOnce() -> H + Send + 'static,
    body: fn(Trial<dyn AnyHost>),
) -> Result<(), Broken> {
    let (sender, ended) = mpsc::channel();
    let step = Step(Arc::new(Mutex::new("the host to be made")));
    let steps = step.clone();
    let checks = move || {
        let checked =
            catch_unwind(AssertUnwindSafe(|| body(Trial { host: Some(Box::new(make())), step: steps })));
        _ = sender.send(checked.map_err(panic_message));
    };
    let broken = |seen| Err(Broken { law, says, seen });
    if let Err(error) = thread::Builder::new().name(law.to_owned()).spawn(checks) {
        return broken(format!("the operating system gives no thread: {error}"));
    }
    match ended.recv_timeout(H::PATIENCE) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(message)) => broken(message),
        Err(RecvTimeoutError::Timeout) => {
            let step = *step.0.lock();
            broken(format!("after {:?}, the law still waits for {step}", H::PATIENCE))
        }
        Err(RecvTimeoutError::Disconnected) => broken("the thread of the law is gone".to_owned()),
    }
}

/// The current step of a law.
#[derive(Clone)]
pub(super) struct Step(Arc<Mutex<&'static str>>);

impl Step {
    /// Records what the law waits for next, for the message if it hangs.
    pub(super) fn expect(&self, what: &'static str) {
        *self.0.lock() = what;
    }
}

/// A host on which a law is tried.
///
/// `H` is always `dyn AnyHost`, so that a law is compiled once for all hosts of a crate. It is a type parameter all the same: a law without
/// one would be compiled with this crate, whether it is used or not.
pub(super) struct Trial<H: AnyHost + ?Sized> {
    host: Option<Box<H>>,
    step: Step,
}

impl<H: AnyHost + ?Sized> Trial<H> {
    pub(super) fn host(&self) -> &H {
        self.host.as_deref().expect("only `shut_down` takes it")
    }

    pub(super) fn context(&self) -> &Context {
        self.host().context()
    }

    pub(super) fn scheduler(&self) -> Arc<dyn Scheduler> {
        self.context().scheduler().clone()
    }

    /// Like [`Step::expect`].
    pub(super) fn expect(&self, what: &'static str) {
        self.step.expect(what);
    }

    /// For steps after the host's end.
    pub(super) fn step(&self) -> Step {
        self.step.clone()
    }

    pub(super) fn spawn<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Handle<T> {
        self.context().spawn(fiber.boxed())
    }

    /// Runs the host until a fiber has ended, and returns its outcome.
    pub(super) fn finish<T: Send + 'static>(&self, what: &'static str, handle: Handle<T>) -> Outcome<T> {
        self.expect(what);
        self.host().run(handle.ended().boxed());
        let ended = handle.try_outcome();
        ended.unwrap_or_else(|_| panic!("`Host::run` returns before the end of {what}"))
    }

    /// Runs a fiber to its outcome.
    pub(super) fn outcome<T, R>(&self, what: &'static str, fiber: Fiber<T, R>) -> Outcome<T>
    where
        T: Send + 'static,
        R: Run<Out = T>,
    {
        self.finish(what, self.spawn(fiber))
    }

    /// Runs a fiber that has to succeed.
    pub(super) fn run<T, R>(&self, what: &'static str, fiber: Fiber<T, R>) -> T
    where
        T: Send + 'static,
        R: Run<Out = T>,
    {
        match self.outcome(what, fiber) {
            Outcome::Success(value) => value,
            other => panic!("{what}: {:?} instead of a success", other.map(drop)),
        }
    }

    /// Runs fibers until a condition holds that a thread or a task of the host is about to meet.
    pub(super) fn eventually(&self, what: &'static str, is_so: impl Fn() -> bool) {
        while !is_so() {
            self.run(what, Fiber::yield_now());
            thread::yield_now();
        }
    }

    /// Shuts the host down. Returns the host's answer, whether everything has ended.
    pub(super) fn shut_down(mut self) -> bool {
        self.expect("the shutdown");
        let host = self.host.take();
        host.expect("it is shut down once").shut_down()
    }
}

impl<H: AnyHost + ?Sized> Drop for Trial<H> {
    fn drop(&mut self) {
        // The drop of a broken host may hang, which would hide the message.
        if thread::panicking() {
            mem::forget(self.host.take());
        }
    }
}
