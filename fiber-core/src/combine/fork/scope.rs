use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::branch::Branch;
use super::handle::Handle;
use super::result_cell::{Home, ResultCell};
use super::sink::Sink;
use crate::combine::region::body::{Passed, end_region, run_in};
use crate::combine::region::group;
use crate::engine::context::{Context, Cx, WaitsFor, Wakeup};
use crate::engine::step::{Run, Step};
use crate::engine::task::Task;
use crate::engine::wait_list::{WaitKey, WaitList};
use crate::error::{Error, Frame, ScopeEnded, Site};
use crate::fiber::Fiber;
use crate::footprint::{Access, Noted};
use crate::leaf::Wait;
use crate::outcome::Outcome;
use crate::panic::{Panic, guard};

impl<T: Send + 'static> Fiber<T> {
    /// Opens a scope for forks, and passes it to `f`. When the fiber that `f` makes has ended, the forks of the scope
    /// are cancelled and awaited. To let them end by themselves, wait for [`Scope::await_all`] first.
    ///
    /// The [`Scope`] can be cloned, and passed to the fibers in it.
    ///
    /// ```
    /// use fiber_core::{Fiber, Scope};
    /// use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
    ///
    /// let sum = Arc::new(AtomicU32::new(0));
    /// let add = { let sum = sum.clone(); move |n| { let sum = sum.clone(); Fiber::lazy(move || { sum.fetch_add(n, Ordering::Relaxed); }) } };
    /// let fiber = Fiber::scope(move |scope: Scope| {
    ///     let all = scope.await_all();
    ///     Fiber::for_each(1..=4, move |n| scope.fork(add(n)).map(drop)).bind(move |()| all)
    /// });
    /// assert!(fiber_sched::run(fiber).is_success());
    /// assert_eq!(sum.load(Ordering::Relaxed), 10);
    /// ```
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// The body and all forks are cancelled and awaited.
    #[track_caller]
    pub fn scope<R, F>(f: F) -> Fiber<T, InScope<F>>
    where
        R: Run<Out = T>,
        F: FnOnce(Scope) -> Fiber<T, R> + Send + 'static,
    {
        Fiber::scope_at(Location::caller(), f)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(crate) fn scope_at<R, F>(site: Site, f: F) -> Fiber<T, InScope<F>>
    where
        R: Run<Out = T>,
        F: FnOnce(Scope) -> Fiber<T, R> + Send + 'static,
    {
        Fiber::new(InScope { f, site })
    }
}

/// Owns forks, which end with the [`Fiber::scope`].
#[doc(alias("JoinSet", "nursery"))]
#[derive(Clone)]
pub struct Scope(Arc<Shared>);

struct Shared {
    context: Context,
    live: Noted<Live>,
}

/// The live forks of a scope, and the fibers that wait for the last of them.
#[derive(Default)]
struct Live {
    count: usize,
    waiting: WaitList,
}

impl Scope {
    /// Forks a fiber that belongs to the scope, whichever fiber forks it.
    ///
    /// # Errors
    /// [`ScopeEnded`], if the scope and all fibers in it have ended.
    ///
    /// # Cancellation
    /// A fiber that is forked while the scope is being cancelled is cancelled too.
    #[track_caller]
    pub fn fork<T: Send + 'static, R: Run<Out = T>>(
        &self,
        fiber: Fiber<T, R>,
    ) -> Fiber<Handle<T>, ScopeFork<R>> {
        self.fork_at(Location::caller(), fiber)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(crate) fn fork_at<T: Send + 'static, R: Run<Out = T>>(
        &self,
        site: &'static Location<'static>,
        fiber: Fiber<T, R>,
    ) -> Fiber<Handle<T>, ScopeFork<R>> {
        Fiber::new(ScopeFork { scope: self.clone(), run: fiber.into_run(), site })
    }

    /// A fork, and the task that starts it. The scope has not ended.
    pub(crate) fn branch<R: Run>(&self, cx: &Cx<'_>, run: R, site: Site) -> (Branch<R, Leaving>, Task) {
        self.0.live.lock_as(Access::Commute).count += 1;
        Branch::forked(cx, &self.0.context, run, Leaving(self.clone()), site)
    }

    /// Waits until all forks of the scope have ended by themselves.
    ///
    /// Call it in the body of the scope. A fork of the scope that calls it waits for itself.
    ///
    /// # Cancellation
    /// The wait ends at once; the forks run on until the scope ends.
    #[track_caller]
    pub fn await_all(&self) -> Fiber<(), impl Run<Out = ()> + use<>> {
        Fiber::wait(AwaitAll { scope: self.clone(), key: None })
    }

    /// Cancels the body of the scope and all its forks, without waiting.
    ///
    /// ```
    /// use fiber_core::{Fiber, Scope};
    ///
    /// let fiber = Fiber::scope(|scope: Scope| {
    ///     let forked = scope.fork(Fiber::<()>::never());
    ///     forked.bind(move |_| {
    ///         scope.cancel_now();
    ///         Fiber::<()>::never()
    ///     })
    /// });
    /// assert!(fiber_sched::run(fiber).is_cancelled());
    /// ```
    pub fn cancel_now(&self) {
        self.0.context.cancel();
    }

    /// The number of forks of the scope that have not ended. A fork on another thread counts for a moment after its outcome was joined.
    pub fn live_forks(&self) -> usize {
        self.0.live.lock_to_read().count
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scope of {}", self.0.context)
    }
}

/// The description of [`Fiber::scope`].
#[derive(Clone, Debug)]
pub struct InScope<F> {
    f: F,
    site: Site,
}

impl<R, F> Run for InScope<F>
where
    R: Run,
    F: FnOnce(Scope) -> Fiber<R::Out, R> + Send + 'static,
{
    type Out = R::Out;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let context = group::open(cx, "scope", self.site);
        let passed = Passed(Frame::new("scope", self.site));
        let scope = Scope(Arc::new(Shared { context: context.clone(), live: Noted::default() }));
        match guard(|| (self.f)(scope)) {
            Ok(body) => run_in(cx, body.into_run(), context, passed),
            // `f` may have passed the scope on before it panicked, so the scope may be in use.
            Err(panic) => end_region(cx, context, Outcome::Panicked(panic), passed),
        }
    }
}

/// The description of [`Scope::fork`].
#[derive(Clone, Debug)]
pub struct ScopeFork<R> {
    scope: Scope,
    run: R,
    site: Site,
}

impl<R: Run> Run for ScopeFork<R> {
    type Out = Handle<R::Out>;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let ScopeFork { scope, run, site } = self;
        let context = &scope.0.context;
        let Some(_held) = context.hold() else {
            let refused = Outcome::Failure(Error::new(ScopeEnded)).without_run(run, cx);
            return Step::Done(refused.passed(Frame::new("fork", site)));
        };
        let (branch, task) = scope.branch(cx, run, site);
        // The forking fiber need not be the fiber of the scope, and may run on another scheduler.
        if Arc::ptr_eq(cx.nearest().scheduler(), context.scheduler()) {
            cx.schedule(task);
        } else {
            context.schedule(task);
        }
        Step::Done(Outcome::Success(Handle::new(branch)))
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.run.discard(torn);
    }
}

/// The sink of a fork of a scope.
pub(crate) struct Leaving(Scope);

impl<T: Send + 'static> Sink<T> for Leaving {
    type Place = ResultCell<T>;
    const IS_OUTSIDE: bool = true;

    fn deliver(self, context: &Context, outcome: Outcome<T>) {
        Home.deliver(context, outcome);
        let mut live = self.0.0.live.lock_unnoted();
        live.count -= 1;
        self.0.0.live.object().count_down(live.count);
        if live.count == 0 {
            let waiting = live.waiting.take_all();
            drop(live);
            waiting.fire();
        }
    }
}

/// The wait of [`Scope::await_all`].
#[derive(Debug)]
pub(crate) struct AwaitAll {
    scope: Scope,
    key: Option<WaitKey>,
}

impl Wait for AwaitAll {
    type Out = ();

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        (self.scope.live_forks() == 0).then_some(Outcome::Success(()))
    }

    fn register(&mut self, _: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
        let mut live = self.scope.0.live.lock();
        if live.count == 0 {
            return Some(Outcome::Success(()));
        }
        self.key = Some(live.waiting.insert(wakeup));
        None
    }

    fn deregister(&mut self, _: &Cx<'_>) {
        if let Some(key) = self.key {
            let removed = self.scope.0.live.lock().waiting.remove(key);
            drop(removed);
        }
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Forks
    }

    /// The scope, which is the parent of the forks.
    fn waits_on(&self) -> Option<&Context> {
        Some(&self.scope.0.context)
    }
}
