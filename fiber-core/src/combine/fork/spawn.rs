use std::panic::Location;

use super::branch::{Branch, Ran};
use super::handle::Handle;
use super::result_cell::Home;
use crate::engine::context::{Context, Cx, Part, Turn};
use crate::engine::frames::Slot;
use crate::engine::scheduler::Worker;
use crate::engine::step::{Run, Step};
use crate::engine::task::{Alone, Task};
use crate::error::Site;
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::{Panic, catch_panic};

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Starts this fiber beside the current one, and gives its [`Handle`].
    ///
    /// The child belongs to the current fiber. When the current fiber ends, the child is cancelled and awaited.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let fiber = Fiber::lazy(|| 6 * 7).fork().bind(|child| child.join());
    /// assert_eq!(fiber_sched::run(fiber).unwrap(), 42);
    /// ```
    ///
    /// A branch of [`zip`](Fiber::zip), [`race`](Fiber::race) or [`parallel`](Fiber::parallel), and the body of a
    /// [`timeout`](Fiber::timeout), own what they fork. In `a.fork().zip(b.fork())`, each branch ends with the handle as its
    /// value, so both children are cancelled. Fork one after the other, or with [`fork_all`](Fiber::fork_all); the children
    /// run at the same time:
    ///
    /// ```
    /// use fiber_core::{Fiber, fiber};
    ///
    /// let both = fiber! {
    ///     let! a = Fiber::success(1).fork();
    ///     let! b = Fiber::success(2).fork();
    ///     do! a.join().zip(b.join())
    /// };
    /// assert_eq!(fiber_sched::run(both).unwrap(), (1, 2));
    /// ```
    #[doc(alias("spawn", "start"))]
    #[track_caller]
    pub fn fork(self) -> Fiber<Handle<T>, Fork<R>> {
        self.fork_at(Location::caller())
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(crate) fn fork_at(self, site: Site) -> Fiber<Handle<T>, Fork<R>> {
        Fiber::new(Fork { run: self.into_run(), site })
    }
}

/// The description of [`Fiber::fork`].
#[derive(Clone, Debug)]
pub struct Fork<R> {
    run: R,
    site: Site,
}

impl<R: Run> Run for Fork<R> {
    type Out = Handle<R::Out>;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let (branch, task) = forked(cx, self.run, self.site);
        cx.schedule(task);
        Step::Done(Outcome::Success(Handle::new(branch)))
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.run.discard(torn);
    }
}

/// A fork of the fiber of `cx`, and the task that starts it.
pub(super) fn forked<R: Run>(cx: &Cx<'_>, run: R, site: Site) -> (Branch<R, Home>, Task) {
    let context = cx.context();
    match context.fork_place() {
        Some(place) => Branch::forked(cx, &place, run, Home, site),
        None if context.has_locals() => Branch::forked(cx, context, run, Home, site),
        None => Branch::new(context, run, Home, site),
    }
}

impl Context {
    /// Starts `fiber` below this context. Schedulers, and code outside of fibers, start work in this way. Below a fiber, it inherits the
    /// locals that a fork would.
    ///
    /// A fiber that is spawned below a fiber that was cancelled or has ended never runs: it ends as cancelled.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::{Pool, block_on};
    ///
    /// let pool = Pool::new();
    /// let context = pool.context().clone();
    /// assert_eq!(block_on(context.spawn(Fiber::success(7))).unwrap(), 7);
    /// ```
    #[track_caller]
    pub fn spawn<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Handle<T> {
        self.spawn_from(fiber, Location::caller())
    }

    /// Like [`spawn`](Context::spawn), but with an explicit fork site, for functions that spawn on behalf of their
    /// caller.
    ///
    /// ```
    /// use fiber_core::{Context, Fiber, Handle};
    /// use fiber_test::TestScheduler;
    /// use std::panic::Location;
    ///
    /// #[track_caller]
    /// fn serve(context: &Context) -> Handle<()> {
    ///     context.spawn_from(Fiber::success(()), Location::caller())
    /// }
    /// let test = TestScheduler::new();
    /// let (server, line) = (serve(test.context()), line!());
    /// assert_eq!(server.context().fork_site().line(), line);
    /// ```
    pub fn spawn_from<T: Send + 'static, R: Run<Out = T>>(
        &self,
        fiber: Fiber<T, R>,
        site: &'static Location<'static>,
    ) -> Handle<T> {
        self.spawn_by(fiber, site, |_, task| self.schedule(task))
    }

    /// Like [`spawn_from`](Context::spawn_from), but gives the fiber a [tag](Context::tag): for schedulers whose tags are
    /// [places](crate::scheduler::Scheduler::has_places).
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::CurrentThread;
    /// use std::panic::Location;
    ///
    /// let thread = CurrentThread::new();
    /// let handle = thread.context().spawn_tagged(Fiber::success(()), 7, Location::caller());
    /// assert_eq!(handle.context().tag(), 7);
    /// ```
    pub fn spawn_tagged<T: Send + 'static, R: Run<Out = T>>(
        &self,
        fiber: Fiber<T, R>,
        tag: u64,
        site: &'static Location<'static>,
    ) -> Handle<T> {
        self.spawn_by(fiber, site, |branch, task| {
            branch.context().set_tag(tag);
            self.schedule(task);
        })
    }

    /// Starts several fibers below this context. This costs less than calling [`spawn`](Context::spawn) for each: a
    /// scheduler wakes its threads once for all of them.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    ///
    /// let test = TestScheduler::new();
    /// let handles = test.context().spawn_all((1..=3).map(Fiber::success));
    /// test.run_until_idle();
    /// let values: Vec<i32> = handles.into_iter().map(|handle| handle.try_outcome().unwrap().unwrap()).collect();
    /// assert_eq!(values, [1, 2, 3]);
    /// ```
    ///
    /// # Panics
    /// If the iterator does. No fiber has been started then.
    #[track_caller]
    pub fn spawn_all<T: Send + 'static, R: Run<Out = T>>(
        &self,
        fibers: impl IntoIterator<Item = Fiber<T, R>>,
    ) -> Vec<Handle<T>> {
        let site = Location::caller();
        let fibers: Vec<_> = fibers.into_iter().collect();
        let held = self.hold();
        let fork = |fiber: Fiber<T, R>| Branch::spawned(self, fiber.into_run(), Home, site);
        let (branches, tasks): (Vec<_>, Vec<_>) = fibers.into_iter().map(fork).unzip();
        if held.is_none() {
            branches.iter().for_each(|branch| branch.context().cancel());
        }
        let mut tasks = tasks.into_iter().filter(|task| !task.is_void());
        catch_panic(|| self.scheduler().schedule_all(&mut tasks));
        // A scheduler that panics leaves the remaining tasks unscheduled; their fibers are abandoned.
        tasks.for_each(drop);
        branches.into_iter().map(Handle::new).collect()
    }

    /// Like [`spawn`](Context::spawn), but starts the fiber on the caller's thread. The fiber leaves that thread when it
    /// has to wait, or when a bind has used up its budget.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::Pool;
    ///
    /// let pool = Pool::new();
    /// let handle = pool.context().spawn_here(Fiber::lazy(|| std::thread::current().id()));
    /// assert_eq!(handle.try_outcome().unwrap().unwrap(), std::thread::current().id());
    /// ```
    #[track_caller]
    pub fn spawn_here<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Handle<T> {
        self.spawn_by(fiber, Location::caller(), |branch, _| {
            Turn::guest(branch.context(), &Alone).run(|turn| branch.start(turn.into()));
        })
    }

    /// Runs `fiber` below this context on the caller's thread, until it has to wait or
    /// [`Worker::checkpoint`](crate::scheduler::Worker::checkpoint) tells it to yield. A fiber that ends before that gets no context and
    /// is not reported to observers; its outcome is returned.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// # struct Here;
    /// # impl fiber_core::scheduler::Worker for Here {}
    ///
    /// let test = TestScheduler::new();
    /// let ended = test.context().run_here(Fiber::success(6 * 7), &Here);
    /// assert_eq!(ended.unwrap().unwrap(), 42);
    /// ```
    ///
    /// # Errors
    /// The handle of a fiber that continues on other threads.
    #[track_caller]
    pub fn run_here<T: Send + 'static, R: Run<Out = T>>(
        &self,
        fiber: Fiber<T, R>,
        worker: &dyn Worker,
    ) -> Result<Outcome<T>, Handle<T>> {
        self.run_here_from(fiber, worker, Location::caller())
    }

    /// Like [`run_here`](Context::run_here), but with an explicit fork site, for functions that run a fiber on behalf of their caller.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::panic::Location;
    /// # struct Here;
    /// # impl fiber_core::scheduler::Worker for Here {}
    ///
    /// let test = TestScheduler::new();
    /// let site = Location::caller();
    /// let waits = test.context().run_here_from(Fiber::<()>::never(), &Here, site).unwrap_err();
    /// assert_eq!(waits.context().fork_site(), site);
    /// # waits.cancel_now();
    /// # test.run_until_idle();
    /// ```
    ///
    /// # Errors
    /// The handle of a fiber that continues on other threads.
    pub fn run_here_from<T: Send + 'static, R: Run<Out = T>>(
        &self,
        fiber: Fiber<T, R>,
        worker: &dyn Worker,
        site: &'static Location<'static>,
    ) -> Result<Outcome<T>, Handle<T>> {
        let run = fiber.into_run();
        if self.is_cancelled() {
            return Ok(Outcome::Cancelled.without_run(run, self));
        }
        let mut ran = None;
        Turn::new(self, worker).run(|turn| {
            let slot = Slot::apart();
            let cx = &Cx::new(self, turn, &slot);
            let first = {
                let _current = self.set_current();
                Ran::made_by(Branch::<R, _>::begun_from_outside, cx, &mut Part::for_fibers(cx, site), run)
            };
            ran = Some(match first {
                Ran::Ended(outcome) => Ok(outcome),
                Ran::Lives(inside, step) => Err(Handle::new(Branch::<R, _>::adopt(inside, cx, step))),
            });
        });
        ran.expect("a fiber runs without unwinding")
    }

    fn spawn_by<T: Send + 'static, R: Run<Out = T>>(
        &self,
        fiber: Fiber<T, R>,
        site: Site,
        start: impl FnOnce(&Branch<R, Home>, Task),
    ) -> Handle<T> {
        let held = self.hold();
        let (branch, task) = Branch::spawned(self, fiber.into_run(), Home, site);
        if held.is_none() {
            // The fiber above no longer waits for this one, so this one ends without running.
            branch.context().cancel();
        }
        // If the cancellation happens inside too many nested drops, the branch is left to the scheduler.
        if held.is_some() || !branch.context().is_claimed() {
            start(&branch, task);
        }
        Handle::new(branch)
    }
}
