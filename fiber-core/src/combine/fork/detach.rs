use std::panic::Location;

use super::branch::Branch;
use super::fiber_wait::{FiberEnd, FiberWait};
use super::handle::Handle;
use super::result_cell::Home;
use super::tied::CancelOnDrop;
use crate::engine::context::{Context, Cx, Watch};
use crate::engine::step::{Run, Step};
use crate::engine::task::Task;
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::leaf::Leaf;
use crate::outcome::Outcome;
use crate::panic::Panic;

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Forks this fiber below the scheduler's root: it outlives the fiber that forks it.
    ///
    /// If the handle is dropped unused, a failure goes to [`Scheduler::unobserved`](crate::scheduler::Scheduler::unobserved). A
    /// scheduler that shuts down cancels and awaits it, as it does every other fiber.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// assert!(test.run(Fiber::delay(Duration::from_secs(60)).detach()).is_success());
    /// assert_eq!(test.live_fibers(), 1);
    /// ```
    #[doc(alias = "fork_daemon")]
    #[track_caller]
    pub fn detach(self) -> Fiber<Handle<T>, Detach<R>> {
        self.detach_at(Location::caller())
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(crate) fn detach_at(self, site: &'static Location<'static>) -> Fiber<Handle<T>, Detach<R>> {
        Fiber::new(Detach { run: self.into_run(), is_fork: true, site })
    }

    /// For combinators that detach a part of the fiber.
    pub(crate) fn detach_part_at(self, site: &'static Location<'static>) -> Fiber<Handle<T>, Detach<R>> {
        Fiber::new(Detach { run: self.into_run(), is_fork: false, site })
    }

    /// Lets a cancellation complete without waiting for this fiber. The fiber is cancelled, but its finalizers run
    /// detached.
    ///
    /// Use it for a branch of `race` or a fiber under a `timeout` whose end may take long and does not matter. A
    /// failure after the cancellation goes to [`Scheduler::unobserved`](crate::scheduler::Scheduler::unobserved).
    ///
    /// ```
    /// use fiber_core::{Either, Fiber};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let slow_to_end = Fiber::<()>::never().ensure(Fiber::delay(60 * second));
    /// let test = TestScheduler::new();
    /// assert_eq!(test.run(slow_to_end.disconnect().race(Fiber::delay(second))).unwrap(), Either::Right(()));
    /// assert_eq!(test.now().as_nanos(), 1_000_000_000);
    /// ```
    ///
    /// # Cancellation
    /// The fiber ends at once, and does not wait for its finalizers.
    #[track_caller]
    pub fn disconnect(self) -> Fiber<T, Disconnect<R>> {
        self.disconnect_at(Location::caller())
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(crate) fn disconnect_at(self, site: Site) -> Fiber<T, Disconnect<R>> {
        Fiber::new(Disconnect { run: self.into_run(), site })
    }
}

/// The description of [`Fiber::detach`].
#[derive(Clone, Debug)]
pub struct Detach<R> {
    run: R,
    /// Whether it inherits only those locals that forks inherit.
    is_fork: bool,
    site: Site,
}

impl<R: Run> Run for Detach<R> {
    type Out = Handle<R::Out>;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let (branch, task) = if self.is_fork {
            Branch::forked(cx, &cx.context().topmost(), self.run, Home, self.site)
        } else {
            Branch::detached(cx, self.run, Home, self.site)
        };
        cx.schedule(task);
        Step::Done(Outcome::Success(Handle::new(branch)))
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.run.discard(torn);
    }
}

/// The description of [`Fiber::disconnect`].
#[derive(Clone, Debug)]
pub struct Disconnect<R> {
    run: R,
    site: Site,
}

impl<R: Run> Run for Disconnect<R> {
    type Out = R::Out;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let (branch, task) = Branch::detached(cx, self.run, Home, self.site);
        let mut connection = Connection(start_here(cx, branch, task).cancel_on_drop());
        // If the fiber was cancelled meanwhile, its wait sees the cancellation, and cancels the branch.
        match connection.end(cx) {
            Some(outcome) => Step::Done(outcome),
            None => Step::Wait(cx.wait(Leaf::new(FiberWait::new(connection), self.site).placed())),
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.run.discard(torn);
    }
}

/// Runs a fork of `fiber` below the scheduler's root in this turn, if the scheduler agrees. `before` sees its context first.
pub(crate) fn detach_here<T: Send + 'static, R: Run<Out = T>>(
    cx: &Cx<'_>,
    fiber: Fiber<T, R>,
    site: Site,
    before: impl FnOnce(&Context),
) -> Handle<T> {
    let (branch, task) = Branch::forked(cx, &cx.context().topmost(), fiber.into_run(), Home, site);
    before(branch.context());
    start_here(cx, branch, task)
}

fn start_here<T: Send + 'static, R: Run<Out = T>>(
    cx: &Cx<'_>,
    branch: Branch<R, Home>,
    task: Task,
) -> Handle<T> {
    branch.run_last(&cx.above(&Watch::host(cx)), task);
    Handle::new(branch)
}

/// Takes the outcome of a fiber that is cancelled together with the waiting one, but not awaited.
#[derive(Debug)]
pub(crate) struct Connection<T: Send + 'static>(CancelOnDrop<T>);

impl<T: Send + 'static> FiberEnd for Connection<T> {
    type Value = T;
    type Out = T;

    fn context(&self) -> &Context {
        self.0.context()
    }

    fn end(&mut self, _: &Cx<'_>) -> Option<Outcome<T>> {
        Some(self.0.take()?.passed(Frame::new("disconnect", self.0.site())))
    }
}
