//! The end of a fiber: its children are cancelled and awaited before its outcome is delivered.

use super::end::{Leave, RegionEnd};
use crate::engine::context::{Context, Cx, NodeGuard, Origin, Turn, WaitsFor, Wakeup};
use crate::engine::step::{Callback, Run, Step, Suspension};
use crate::engine::task::Alone;
use crate::error::Site;
use crate::instant::Instant;
use crate::leaf::{Leaf, Wait};
use crate::outcome::{Outcome, catch_panic, guard};

/// Cancels the remaining children of the fiber of `cx`, and resumes `callback` once none are left.
#[inline]
pub(crate) fn when_childless<T: Send + 'static>(
    cx: &Cx<'_>,
    outcome: Outcome<T>,
    callback: impl Callback<T>,
) {
    if cx.context().finish_alone() {
        callback.resume(cx, outcome);
    } else {
        cx.context().cancel();
        wait_childless(cx, move |cx: &Cx<'_>, _| callback.resume(cx, outcome));
    }
}

impl Context {
    /// Cancels this context and everything below it, and calls `then` once no fiber is left there, either in this call or
    /// in a task. A scheduler that shuts down waits in this way for the fibers below its [root](Context::root). A fiber
    /// that is spawned there later ends as cancelled.
    ///
    /// A root is closed or [drained](Context::drain) once. `false` if that was done before; then this call has no effect, and
    /// drops `then`.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// let (sender, receiver) = mpsc::channel();
    /// let root = test.context();
    /// test.spawn(Fiber::<()>::never().ensure(Fiber::delay(Duration::from_secs(1))));
    /// test.run_until_idle();
    /// assert!(root.close(move || sender.send("closed").unwrap()));
    /// assert!(!root.close(|| unreachable!()));
    /// assert!(receiver.try_recv().is_err());
    /// test.run_until_idle();
    /// assert_eq!(receiver.try_recv().unwrap(), "closed");
    /// ```
    ///
    /// # Panics
    /// If the context belongs to a fiber: a fiber ends when its work does.
    pub fn close(&self, then: impl FnOnce() + Send + 'static) -> bool {
        let begins = self.begin_to_close();
        if begins {
            self.cancel();
            self.when_empty(then);
        }
        begins
    }

    /// Calls `then` once no fiber is left below this context, either in this call or in a task. Unlike
    /// [`close`](Context::close), it cancels nothing: the fibers end by themselves, and may fork and spawn others until
    /// then. [Cancel](Context::cancel) the context to end them sooner. A fiber that is spawned there afterwards ends as
    /// cancelled.
    ///
    /// A root is closed or drained once. `false` if that was done before; then this call has no effect, and drops `then`.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// let (sender, receiver) = mpsc::channel();
    /// let slow = test.spawn(Fiber::delay(Duration::from_secs(1)));
    /// assert!(test.context().drain(move || sender.send("drained").unwrap()));
    /// assert!(receiver.try_recv().is_err());
    /// test.run_until_idle();
    /// assert_eq!(receiver.try_recv().unwrap(), "drained");
    /// assert!(slow.outcome().is_success());
    /// assert!(test.context().spawn(Fiber::success(1)).try_outcome().unwrap().is_cancelled());
    /// ```
    ///
    /// # Panics
    /// If the context belongs to a fiber: a fiber ends when its work does.
    pub fn drain(&self, then: impl FnOnce() + Send + 'static) -> bool {
        let begins = self.begin_to_close();
        if begins {
            self.when_empty(then);
        }
        begins
    }

    fn when_empty(&self, then: impl FnOnce() + Send + 'static) {
        let closed = |_: &Cx<'_>, _: Outcome<()>| catch_panic(then);
        Turn::new(self, &Alone).run(|turn| {
            let cx = &Cx::new(self, turn);
            if self.finish_alone() {
                closed.resume(cx, Outcome::Success(()));
            } else {
                wait_childless(cx, closed);
            }
        });
    }
}

fn wait_childless<C: Callback<()>>(cx: &Cx<'_>, callback: C) {
    Leaf::new(Childless, cx.context().fork_site()).attach(cx, callback);
}

/// Runs the description of a separate fiber. Only the drop of a user value or closure can unwind out of it; that panic
/// becomes the outcome, so the fiber ends like any other.
#[inline]
pub(crate) fn run_guarded<R: Run>(run: R, cx: &Cx<'_>) -> Step<R::Out, R::Suspension> {
    guard(|| run.run(cx)).unwrap_or_else(|panic| Step::Done(Outcome::Panicked(panic)))
}

/// Waits until all children of the fiber have ended, after the fiber's own work.
#[derive(Debug)]
pub(crate) struct Childless;

impl Wait for Childless {
    type Out = ();
    const IS_SHIELDED: bool = true;

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        // Only the last child wakes this wait.
        Some(Outcome::Success(()))
    }

    /// The fiber is already marked as waiting. The last child ends either before `finish_work`, which then returns `true`, or
    /// after it, and then wakes the fiber. So the wake-up need not be stored anywhere.
    fn register(&mut self, cx: &Cx<'_>, _: Wakeup) -> Option<Outcome<()>> {
        cx.context().finish_work().then_some(Outcome::Success(()))
    }

    fn deregister(&mut self, _: &Cx<'_>) {}

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Children
    }
}

/// The structure of a combinator with branches: a node between the fiber and its branches, through which the branches
/// are cancelled and awaited together.
pub struct Group<E> {
    inside: NodeGuard,
    end: E,
}

/// Makes the node for branches. In an uncancelable region, the node shields them from a cancellation of the fiber.
pub(crate) fn open(cx: &Cx<'_>, name: &'static str, site: Site) -> NodeGuard {
    let (outside, origin) = (cx.context(), Origin::unnamed(site));
    let group = NodeGuard::new(outside.part(cx.is_masked(), Instant::FAR_FUTURE, name, origin));
    group.announce(outside);
    group
}

impl<E: RegionEnd<()>> Group<E> {
    /// Waits for the branches, which have been started. Continues at once if all of them have ended.
    #[inline]
    pub(crate) fn settle(cx: &Cx<'_>, inside: NodeGuard, end: E) -> Step<E::Out, Self> {
        if inside.finish_alone() {
            inside.end();
            Step::Done(end.conclude(cx, Some(Outcome::Success(()))))
        } else {
            Step::Suspend(Group { inside, end })
        }
    }
}

impl<E: RegionEnd<()>> Suspension for Group<E> {
    type Out = E::Out;

    fn attach<C: Callback<E::Out>>(self, cx: &Cx<'_>, callback: C) {
        let Group { inside, end } = self;
        let context = inside.clone();
        wait_childless(&cx.enter(&context), Leave::to(cx, inside, end, callback));
    }

    fn parts(&self, found: &mut Vec<Context>) {
        found.push(self.inside.clone());
    }
}

impl<E> std::fmt::Debug for Group<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inside.fmt(f)
    }
}
