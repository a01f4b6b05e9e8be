use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use super::branch::Branch;
use super::call::Call;
use super::handle::Handle;
use super::result_cell::{Home, ResultCell};
use super::sink::Sink;
use crate::engine::context::{Context, Cx, WaitsFor, Wakeup};
use crate::engine::step::Run;
use crate::engine::wait_list::{WaitKey, WaitList, Waiting};
use crate::fiber::{Fiber, IntoFiber};
use crate::footprint::Noted;
use crate::leaf::{Leaf, Wait};
use crate::outcome::Outcome;

/// Fibers that are spawned from outside of fibers and can be cancelled, drained and awaited together: the requests of
/// a service, the jobs of a tenant, the work of a connection. `Pool::group` and [`Context::group`] make one.
///
/// A group only keeps track: its fibers live below the context of the group, like any others, and a shutdown of the
/// scheduler ends them too. Clones are the same group. Dropping it has no effect. Inside a fiber, [`Fiber::scope`] is
/// simpler.
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_sched::{Pool, block_on};
/// use std::time::Duration;
///
/// let pool = Pool::new();
/// let requests = pool.group();
/// let served = requests.spawn(Fiber::delay(Duration::from_millis(1)).map(|()| "served"));
/// block_on(requests.drain()); // lets them end
/// assert_eq!(served.try_outcome().unwrap().unwrap(), "served");
///
/// let pollers = pool.group();
/// let poller = pollers.spawn(Fiber::<()>::never());
/// block_on(pollers.cancel());
/// assert!(poller.try_outcome().unwrap().is_cancelled());
/// ```
#[doc(alias = "TaskTracker")]
#[derive(Clone)]
pub struct Group(Arc<Shared>);

struct Shared {
    above: Context,
    live: Noted<Live>,
}

#[derive(Default)]
struct Live {
    /// By their keys, with their numbers in the order in which they came.
    members: BTreeMap<usize, (u64, Context)>,
    /// How many have come.
    came: u64,
    /// How many have ended, and are no members any more, but have not delivered their outcomes.
    delivering: usize,
    is_draining: bool,
    is_cancelled: bool,
    waiting: WaitList,
}

impl Live {
    /// Whether no fiber can come any more.
    fn is_closed(&self) -> bool {
        self.is_cancelled || self.is_draining && self.members.is_empty()
    }

    /// Whether the group is empty and closed, and all outcomes are there.
    fn is_over(&self) -> bool {
        self.is_closed() && self.members.is_empty() && self.delivering == 0
    }
}

impl Shared {
    /// Changes the group, and wakes those that wait for its end, if that has come.
    fn change(&self, change: impl FnOnce(&mut Live)) {
        let mut live = self.live.lock();
        change(&mut live);
        let waiting = live.is_over().then(|| live.waiting.take_all());
        drop(live);
        // Outside of the lock, because it calls schedulers.
        waiting.into_iter().for_each(Waiting::fire);
    }
}

impl Context {
    /// A [`Group`] of fibers below this context.
    pub fn group(&self) -> Group {
        Group(Arc::new(Shared { above: self.clone(), live: Noted::default() }))
    }
}

impl Group {
    /// Starts a fiber in the group, and gives its handle.
    ///
    /// # Cancellation
    /// If the group was cancelled, or was drained and has become empty, the fiber never runs, and ends as cancelled.
    #[track_caller]
    pub fn spawn<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Handle<T> {
        let admits = |context: &Context| self.admits(context);
        let (run, leaving) = (fiber.into_run(), Leaving(self.clone()));
        Handle::new(Branch::introduced(&self.0.above, run, leaving, Location::caller(), admits))
    }

    /// A fiber in the group that runs in the task that awaits it; see [`Call`].
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::{Pool, block_on};
    /// use std::time::Duration;
    ///
    /// let pool = Pool::new();
    /// let requests = pool.group();
    /// let answer = Fiber::delay(Duration::from_millis(1)).map(|()| "served");
    /// assert_eq!(block_on(requests.call(answer)).unwrap(), "served");
    /// ```
    ///
    /// # Cancellation
    /// As [`Call`] and [`spawn`](Group::spawn).
    #[track_caller]
    pub fn call<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Call<T> {
        let admits = |context: &Context| self.admits(context);
        Call::begin(&self.0.above, fiber, Leaving(self.clone()), Location::caller(), admits)
    }

    /// `false`: the group is closed.
    fn admits(&self, context: &Context) -> bool {
        let mut live = self.0.live.lock();
        let is_open = !live.is_closed();
        if is_open {
            let number = live.came;
            live.came += 1;
            live.members.insert(context.key(), (number, context.clone()));
        }
        is_open
    }

    fn is_over(&self) -> bool {
        self.0.live.lock().is_over()
    }

    /// Closes the group, and cancels all its fibers and everything below them. The result waits for their ends, finalizers
    /// included; the cancellation itself happens before this function returns.
    ///
    /// ```
    /// use fiber_core::{Fiber, IntoFiber};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// let group = test.context().group();
    /// let second = Duration::from_secs(1);
    /// let child = Fiber::<()>::never().ensure(Fiber::delay(second)).fork();
    /// group.spawn(child.bind(|_| Fiber::<()>::never()));
    /// test.run_until_idle();
    /// test.run(group.cancel().into_fiber()).unwrap();
    /// assert_eq!(test.now().as_nanos(), 1_000_000_000);
    /// assert_eq!(test.live_fibers(), 0);
    /// ```
    pub fn cancel(&self) -> GroupEnd {
        let mut members = Vec::new();
        self.0.change(|live| {
            live.is_cancelled = true;
            members.extend(live.members.values().cloned());
        });
        // The keys are addresses, which no test may depend on.
        members.sort_unstable_by_key(|(number, _)| *number);
        members.iter().for_each(|(_, member)| member.cancel());
        self.end()
    }

    /// Closes the group as soon as it is empty; until then, its fibers may spawn others in it. The result waits for the end.
    /// [Cancel](Group::cancel) the group to end it sooner.
    pub fn drain(&self) -> GroupEnd {
        self.0.change(|live| live.is_draining = true);
        self.end()
    }

    fn end(&self) -> GroupEnd {
        GroupEnd { group: self.clone(), key: None }
    }

    /// The number of fibers of the group that have not ended.
    pub fn len(&self) -> usize {
        self.0.live.lock().members.len()
    }

    /// Whether all fibers of the group have ended.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("fibers", &self.len()).finish_non_exhaustive()
    }
}

/// The sink of a fiber of a group.
struct Leaving(Group);

impl<T: Send + 'static> Sink<T> for Leaving {
    type Place = ResultCell<T>;
    const IS_OUTSIDE: bool = true;

    /// Whoever learns from its outcome that the fiber has ended does not find it in the group. The group is not over before
    /// the outcome is there.
    fn deliver(self, context: &Context, outcome: Outcome<T>) {
        let shared = &self.0.0;
        let mut live = shared.live.lock();
        let member = live.members.remove(&context.key());
        live.delivering += usize::from(member.is_some());
        drop(live);
        Home.deliver(context, outcome);
        if member.is_some() {
            shared.change(|live| live.delivering -= 1);
        }
    }
}

/// The wait for the end of a [`Group`]: a future for any executor, and a fiber where `fiber!` and [`IntoFiber`] take
/// one. If a fiber of the group awaits it, that fiber waits for its own end.
///
/// # Cancellation
/// The wait ends at once.
#[must_use = "the group is closed without a wait for its end: drop the result if that is intended"]
pub struct GroupEnd {
    group: Group,
    key: Option<WaitKey>,
}

impl GroupEnd {
    /// Leaves a wake-up. `false`: the group has ended, and no wake-up was left.
    fn wait(&mut self, wakeup: Wakeup) -> bool {
        let mut live = self.group.0.live.lock();
        if live.is_over() {
            return false;
        }
        self.key = Some(live.waiting.insert(wakeup));
        true
    }

    fn unwait(&mut self) {
        if let Some(key) = self.key.take() {
            let removed = self.group.0.live.lock().waiting.remove(key);
            drop(removed);
        }
    }
}

impl Drop for GroupEnd {
    fn drop(&mut self) {
        self.unwait();
    }
}

impl Future for GroupEnd {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<()> {
        self.unwait();
        if self.wait(Wakeup::from(cx.waker().clone())) { Poll::Pending } else { Poll::Ready(()) }
    }
}

impl Wait for GroupEnd {
    type Out = ();

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        self.group.is_over().then_some(Outcome::Success(()))
    }

    fn register(&mut self, _: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
        (!self.wait(wakeup)).then_some(Outcome::Success(()))
    }

    fn deregister(&mut self, _: &Cx<'_>) {
        self.unwait();
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Forks
    }
}

#[diagnostic::do_not_recommend]
impl IntoFiber for GroupEnd {
    type Out = ();
    type Run = Leaf<GroupEnd>;

    #[track_caller]
    fn into_fiber(self) -> Fiber<(), Leaf<GroupEnd>> {
        Fiber::wait(self)
    }
}

impl fmt::Debug for GroupEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GroupEnd").field(&self.group).finish()
    }
}
