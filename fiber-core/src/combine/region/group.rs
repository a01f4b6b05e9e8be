//! The end of a fiber: its children are cancelled and awaited before its outcome is delivered.

use super::end::{Inside, Last, RegionEnd};
use crate::cell::Signal;
use crate::engine::context::{Context, Cx, NodeGuard, Origin, Turn, WaitsFor};
use crate::engine::frames::{Begun, Slot, Waiting, Waits};
use crate::engine::side::Awaited;
use crate::engine::step::{Follow, Run, Step};
use crate::engine::task::Alone;
use crate::error::Site;
use crate::instant::Instant;
use crate::outcome::Outcome;
use crate::panic::{catch_panic, guard};

/// Cancels the remaining children of the fiber of `cx`, and calls `end` once none are left.
#[inline]
pub(crate) fn when_childless<'s, T: Send + 'static>(
    cx: &'s Cx<'_>,
    outcome: Outcome<T>,
    end: impl FnOnce(&Cx<'_>, Outcome<T>) + Send + 'static,
) -> Step<'s, ()> {
    if cx.context().finish_alone() {
        end(cx, outcome);
        return Step::Done(Outcome::Success(()));
    }
    cx.context().cancel();
    let waiting = cx.wait(Childless::new(cx.context()));
    Step::Wait(waiting.then(cx, Remains { outcome, end }))
}

/// The frame after the last child.
struct Remains<T, F> {
    outcome: Outcome<T>,
    end: F,
}

impl<T: Send + 'static, F: FnOnce(&Cx<'_>, Outcome<T>) + Send + 'static> Follow<()> for Remains<T, F> {
    type Out = ();

    fn follow<'s>(self, cx: &'s Cx<'_>, _: Outcome<()>) -> Step<'s, ()> {
        (self.end)(cx, self.outcome);
        Step::Done(Outcome::Success(()))
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
        Turn::new(self, &Alone).run(|turn| {
            let slot = Slot::apart();
            let cx = &Cx::new(self, turn, &slot);
            if self.finish_alone() {
                catch_panic(then);
            } else {
                let waiting = cx.wait(Childless::new(self));
                let end = |_: &Cx<'_>, _| catch_panic(then);
                let _ = waiting.then(cx, Remains { outcome: Outcome::Success(()), end });
                cx.settle();
            }
        });
    }
}

/// Runs the description of a separate fiber. Only the drop of a user value or closure can unwind out of it; that panic
/// becomes the outcome, so the fiber ends like any other.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn run_guarded<'s, R: Run>(run: R, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
    assert!(!cx.has_left_over(), "a wait of this run is left over");
    let step = guard(|| run.run(cx)).unwrap_or_else(|panic| Step::Done(Outcome::Panicked(panic)));
    if matches!(step, Step::Done(_)) && cx.has_left_over() {
        cx.drop_left_over();
    }
    step
}

/// Waits until all children of the fiber have ended, after the fiber's own work.
pub(crate) struct Childless(Site);

impl Childless {
    pub(crate) fn new(context: &Context) -> Self {
        Childless(context.fork_site())
    }
}

impl Waits for Childless {
    type Event = ();
    type Out = ();

    /// The last child ends either before `finish_work`, which then returns `true`, or after it, and then wakes the fiber. So no
    /// wake-up is needed.
    fn begin(&mut self, cx: &Cx<'_>) -> Begun<()> {
        let context = cx.context();
        // The last child wakes the fiber.
        let _ = context.begin_wait(self.0, Awaited::of(WaitsFor::Children));
        if context.finish_work() {
            context.end_wait();
            return Begun::Ready(Outcome::Success(()));
        }
        Begun::Registered { is_shielded: true }
    }

    fn wake(&mut self, _: &Cx<'_>, _: Signal) -> Option<Outcome<()>> {
        // Only the last child wakes this wait.
        Some(Outcome::Success(()))
    }

    fn end(self, _: &Cx<'_>, outcome: Outcome<()>) -> Outcome<()> {
        outcome
    }
}

/// Makes the node for branches: it is between the fiber and its branches, which are cancelled and awaited together
/// through it. In an uncancelable region, the node shields them from a cancellation of the fiber.
pub(crate) fn open(cx: &Cx<'_>, name: &'static str, site: Site) -> NodeGuard {
    open_sharing::<()>(cx, name, site)
}

/// The same for branches that [share](Context::shared) an `S`.
pub(crate) fn open_sharing<S: Default + Send + Sync + 'static>(
    cx: &Cx<'_>,
    name: &'static str,
    site: Site,
) -> NodeGuard {
    let (outside, origin) = (cx.context(), Origin::unnamed(site));
    let group = outside.sharing::<S>(cx.is_masked(), Instant::FAR_FUTURE, name, origin);
    let group = NodeGuard::new(group);
    group.announce(outside);
    group
}

/// Waits for the branches, which have been started. Continues at once if all of them have ended.
#[inline]
pub(crate) fn settle<'s, E: RegionEnd<()>>(cx: &'s Cx<'_>, inside: NodeGuard, end: E) -> Step<'s, E::Out> {
    if inside.finish_alone() {
        inside.end();
        Step::Done(end.conclude(cx, Some(Outcome::Success(()))))
    } else {
        Step::Wait(wait_last(cx, inside, end, Outcome::Success(())))
    }
}

/// Waits for the children of a region, then leaves it.
pub(crate) fn wait_last<'s, T: Send + 'static, E: RegionEnd<T>>(
    cx: &'s Cx<'_>,
    inside: NodeGuard,
    end: E,
    outcome: Outcome<T>,
) -> Waiting<'s, E::Out> {
    let context = Context::clone(&inside);
    // The last child wakes the fiber there. The node may have been made while the fiber was elsewhere.
    context.set_place(cx.nearest().place());
    let place = Inside::new(cx, inside);
    let waiting = cx.wait(Childless::new(&context));
    waiting.push_inside(cx, context, Last { place, end, outcome })
}
