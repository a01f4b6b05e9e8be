//! The [`Context`] of a fiber, which lives as long as the fiber, and its parts.
//!
//! * [`carried`]: the locals of a fiber, and the place of its forks.
//! * [`current`]: the context of the fiber that runs on a thread.
//! * [`limit`]: time limits without a node.
//! * [`making`]: how contexts are made.
//! * [`part`]: parts of a fiber that run on the stack and have no context yet.
//! * [`race`]: which side of a race may take what its event gives.
//! * [`report`]: information about a running fiber.
//! * [`state`]: the data of a context.
//! * [`turn`]: the [`Cx`] of a running fiber, and the turn of the scheduler that it belongs to.
//! * [`wakeup`]: the wake-ups that end waits.
//! * [`waits`]: how a fiber begins to wait, parks, and goes on.
//! * [`waits_for`]: the kinds of waits.
//! * [`watch`]: frames below a fiber on the stack that cannot act by themselves.

mod carried;
mod current;
mod limit;
#[cfg(all(test, fiber_loom))]
mod loom_tests;
mod making;
mod part;
mod race;
mod report;
mod seat;
mod state;
mod turn;
mod waits;
mod waits_for;
mod wakeup;
mod watch;

pub(crate) use carried::Forks;
#[cfg(feature = "direct")]
pub(crate) use current::CurrentFiber;
pub(crate) use current::is_in_fiber;
pub(crate) use limit::{Comes, LeftLimit, LimitReport, Resumed, Timer};
pub(crate) use making::NewFiber;
pub(crate) use part::{Make, NodeGuard, Part, Place};
pub(crate) use seat::Seat;
pub(crate) use state::{FiberState, Origin};
pub use turn::Cx;
pub(crate) use turn::{Turn, TurnView};
pub use waits_for::WaitsFor;
pub(crate) use wakeup::Committed;
pub use wakeup::Wakeup;
pub(crate) use watch::Watch;

use std::borrow::Borrow;
use std::fmt;
use std::iter::successors;
use std::panic::Location;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::cell::{Body, Node, Owner, Ref, Room, Signal};
use crate::drop_queue::with_own_queue;
use crate::engine::event::Event;
use crate::engine::host::Host;
use crate::engine::scheduler::Scheduler;
use crate::engine::suppress::discard;
use crate::engine::task::{Start, Task, Waiter, take_back};
use crate::footprint::{Access, Side, Touched, is_listening, note};
use crate::instant::Instant;
use crate::panic::catch_panic;
use carried::AWAIT;
use state::{Own, Root, Structure};

/// The identity of a fiber: its place in the cancel tree, its scheduler, id, name and fork site. Cheap to clone.
///
/// Every fork, and every branch of `race`, `zip` and `parallel` has its own context. So has the body of a `timeout` as soon as
/// it forks or asks for its context. Sequential steps share one.
#[derive(Clone)]
pub struct Context(Ref<FiberState>);

impl Owner for FiberState {
    type Fiber = Context;
    type Waiter = Waiter;
    type Behavior = Start;
    /// The data that all contexts of a tree share.
    type Root = Root;

    const IDLE: &'static Start = &Start::NONE;

    fn wake(node: &Ref<Self>, waiter: Waiter, signal: Signal) {
        node.top().schedule(Task::wake(waiter, signal));
    }

    fn cancelled(node: &Ref<Self>) {
        take_back(&Context(node.clone()));
    }

    fn interrupted(node: &Ref<Self>) {
        if node.top().host.is_some() {
            leave_cancelled(node);
        }
    }

    fn touched(node: &Ref<Self>) {
        touch(node, Side::Life, Access::Write);
    }

    fn childless(node: &Ref<Self>) -> bool {
        if let Some(waiter) = node.fire_current() {
            touch(node, Side::Children, Access::Join);
            Self::wake(node, waiter, Signal::Fired);
        }
        // The fiber itself ends its node, after it has delivered its outcome.
        false
    }
}

/// A fiber that is cancelled leaves its host: who waits for its end may be the task that hosts it. A part stays.
#[cold]
fn leave_cancelled(node: &Ref<FiberState>) {
    let is_part = node.parent().is_some_and(|above| ptr::eq(above.top(), node.top()));
    if let Some(host) = node.top().host.as_ref().filter(|_| !is_part) {
        host.leave().go_on(&*node.top().scheduler);
    }
}

#[inline]
fn touch(node: &Ref<FiberState>, side: Side, access: Access) {
    if is_listening() {
        note_touch(node, side, access);
    }
}

#[cold]
fn note_touch(node: &Ref<FiberState>, side: Side, access: Access) {
    // Relaxed: see `Context::tag`.
    note(Touched::Fiber(node.owner().tag.load(Ordering::Relaxed), side), access);
}

impl From<Ref<FiberState>> for Context {
    fn from(node: Ref<FiberState>) -> Self {
        Context(node)
    }
}

impl From<Context> for Ref<FiberState> {
    fn from(context: Context) -> Self {
        context.0
    }
}

impl Borrow<Ref<FiberState>> for Context {
    #[inline]
    fn borrow(&self) -> &Ref<FiberState> {
        &self.0
    }
}

impl Context {
    /// Makes a context without a parent, in which fibers can be spawned. A scheduler makes one for itself; cancelling
    /// it cancels every fiber below it.
    ///
    /// Cancel it at the end of the scheduler. Until then, it may keep its scheduler and the last few fibers alive.
    ///
    /// ```
    /// use fiber_core::{Context, Fiber};
    /// use fiber_test::TestScheduler;
    ///
    /// let test = TestScheduler::new();
    /// let root = Context::root(test.context().scheduler().clone());
    /// let handle = root.spawn(Fiber::success(7));
    /// test.run_until_idle();
    /// assert_eq!(handle.try_outcome().unwrap().unwrap(), 7);
    /// root.cancel();
    /// ```
    #[track_caller]
    pub fn root(scheduler: Arc<dyn Scheduler>) -> Self {
        let state = FiberState::new(0, Origin::unnamed(Location::caller()), 0, 0, None);
        Context(Ref::root(state, Root::of(scheduler)))
    }

    /// Records that the root is being closed or drained. `false` if that was recorded before.
    pub(crate) fn begin_to_close(&self) -> bool {
        assert!(self.0.parent().is_none(), "only a root is closed: a fiber ends by itself");
        // Relaxed: the first caller closes, and passes nothing to later ones.
        !self.0.top().is_closing.swap(true, Ordering::Relaxed)
    }

    /// The fiber of this part, or this fiber.
    pub(crate) fn fiber(&self) -> Context {
        let is_fiber = |node: &&Ref<FiberState>| !node.owner().own.has(Own::STRUCTURE);
        let fiber = successors(Some(&self.0), |node| node.parent()).find(is_fiber);
        Context(fiber.unwrap_or(&self.0).clone())
    }

    /// The part around a branch.
    pub(crate) fn around(&self) -> Option<&Context> {
        self.0.above()
    }

    /// Records the access to a side of the fiber, for a scheduler that listens.
    #[inline]
    pub(crate) fn touch(&self, side: Side, access: Access) {
        touch(&self.0, side, access);
    }

    #[inline]
    fn state(&self) -> &FiberState {
        self.0.owner()
    }

    /// The scheduler that runs the fiber.
    pub fn scheduler(&self) -> &Arc<dyn Scheduler> {
        &self.0.top().scheduler
    }

    /// The address of what all contexts of its tree share.
    #[inline]
    fn tree(&self) -> *const () {
        ptr::from_ref(self.0.top()).cast()
    }

    /// Whether the fiber was cancelled: one load. In an uncancelable region this may be `true` while the fiber runs on.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// The part of the body that is visible without knowing the body's type, if it is an `F`.
    #[inline]
    pub(crate) fn front<F: 'static>(&self) -> Option<&F> {
        self.0.front()
    }

    /// The same, if there is no other context of the fiber.
    #[inline]
    pub(crate) fn front_mut<F: 'static>(&mut self) -> Option<&mut F> {
        Ref::front_mut(&mut self.0)
    }

    /// Drops another context of the same fiber.
    #[inline]
    pub(crate) fn absorb(&mut self, other: Context) {
        Ref::absorb(&mut self.0, other.0);
    }

    /// The description of a fiber that has not started, and the room for its frames, for the first caller.
    #[inline]
    pub(crate) fn claim<B: Body<FiberState>>(&self) -> Option<(B::Description, Room<'_>)> {
        self.0.claim::<B>()
    }

    /// Whether the fiber was started or taken back.
    #[inline]
    pub(crate) fn is_claimed(&self) -> bool {
        self.0.is_claimed()
    }

    /// Runs the fiber, unless it has been claimed. If it has to wait, its frames keep this reference.
    pub(crate) fn start(self, view: TurnView<'_>) -> Option<Context> {
        match (self.0.behavior().start)(&self, view) {
            Some(frames) => {
                frames.settle(self, view);
                None
            }
            None => Some(self),
        }
    }

    /// The same, without giving up a reference.
    pub(crate) fn start_here(&self, view: TurnView<'_>) {
        if let Some(frames) = (self.0.behavior().start)(self, view) {
            frames.settle(self.clone(), view);
        }
    }

    /// Abandons a fiber whose last starting task was dropped.
    pub(crate) fn abandon_unstarted(&self) {
        (self.0.behavior().abandon)(self);
    }

    /// Cancels the fiber and everything below it, without waiting for their end. Idempotent.
    ///
    /// Fibers that have not started end in this call, and their closures are dropped on this thread. Do not call this
    /// function while holding a lock that such a drop takes.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    ///
    /// let test = TestScheduler::new();
    /// let handle = test.context().spawn(Fiber::<()>::never());
    /// test.run_until_idle();
    /// handle.context().cancel();
    /// test.run_until_idle();
    /// assert!(handle.try_outcome().unwrap().is_cancelled());
    /// ```
    pub fn cancel(&self) {
        if self.is_observed() && !self.is_cancelled() && !self.0.progress().has_ended {
            self.tell_observer(Event::Cancelled);
        }
        Node::cancel(&self.0, 0);
    }

    /// Drops the rest of a waiting fiber: the fiber ends as [`Abandoned`](crate::error::Abandoned), and its finalizers
    /// do not run. A fiber that is inside one of its [parts](Context::is_structure) waits there, so the parts have to
    /// be abandoned too. This is for schedulers that shut down and have no time left; use [`cancel`](Context::cancel)
    /// otherwise.
    ///
    /// ```
    /// use fiber_core::{Fiber, error::Abandoned};
    /// use fiber_test::TestScheduler;
    ///
    /// let test = TestScheduler::new();
    /// let handle = test.context().spawn(Fiber::<()>::never());
    /// test.run_until_idle();
    /// handle.context().abandon();
    /// assert!(handle.try_outcome().unwrap().failure().unwrap().is::<Abandoned>());
    /// ```
    pub fn abandon(&self) {
        self.touch(Side::Life, Access::Write);
        throw_away(self.0.take_parked());
    }

    /// The fiber's name, as given by [`named`](crate::Fiber::named).
    pub fn name(&self) -> Option<&str> {
        let given = self.state().rare().and_then(|rare| rare.name.as_deref());
        given.or_else(|| self.0.front::<Structure>().map(|part| part.operator))
    }

    /// Names the fiber, or the part of one, that forked this fiber, if that has ended: its forks were cancelled then.
    pub(crate) fn ended_parent(&self) -> Option<String> {
        let operator = |node: &Ref<_>| node.front::<Structure>().map(|part| part.operator);
        let parent = self.0.parent().filter(|parent| parent.progress().has_ended)?;
        let above = parent.parent()?;
        Some(match (operator(parent), operator(above)) {
            (Some(operator), _) => format!("the body of `{operator}` that forked it has ended"),
            (None, Some(operator)) => format!("the branch of `{operator}` that forked it has ended"),
            (None, None) => "the fiber that forked it has ended".to_owned(),
        })
    }

    /// Whether this is not a separate fiber but a part of one, made by a combinator: the body of a timeout, or the
    /// group around branches.
    #[inline]
    pub fn is_structure(&self) -> bool {
        self.state().own.has(Own::STRUCTURE)
    }

    /// The number that the scheduler has set, initially 0; or that of the parent fiber, if tags are
    /// [places](Scheduler::has_places).
    #[inline]
    pub fn tag(&self) -> u64 {
        // Relaxed: only the scheduler uses it, and orders its own accesses.
        self.state().tag.load(Ordering::Relaxed)
    }

    /// Sets a number for the scheduler of this fiber, such as an index into its own table of fibers.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::CurrentThread;
    ///
    /// let thread = CurrentThread::new();
    /// let handle = thread.context().spawn(Fiber::success(()));
    /// assert_eq!(handle.context().tag(), 0);
    /// handle.context().set_tag(7);
    /// assert_eq!(handle.context().tag(), 7);
    /// ```
    #[inline]
    pub fn set_tag(&self, tag: u64) {
        // Relaxed: as above.
        self.state().tag.store(tag, Ordering::Relaxed);
    }

    /// The tag, if it is the place where the fiber has to run.
    #[inline]
    pub(crate) fn place(&self) -> Option<u64> {
        self.0.top().has_places.then(|| self.tag())
    }

    /// The host of the fiber, if it has, or had, one.
    #[inline]
    pub(crate) fn host(&self) -> Option<&Host> {
        self.0.top().host.as_ref()
    }

    /// Whether the fiber runs only in its host.
    pub(crate) fn is_hosted(&self) -> bool {
        self.host().is_some_and(|host| !host.has_left())
    }

    /// Whether both fibers may run in one turn: they have one scheduler, and one place.
    #[inline]
    pub(crate) fn is_served_with(&self, other: &Context) -> bool {
        let (root, of_other) = (self.0.top(), other.0.top());
        let is_hosted = root.host.is_some() || of_other.host.is_some();
        let is_one =
            ptr::eq(root, of_other) || !is_hosted && Arc::ptr_eq(&root.scheduler, &of_other.scheduler);
        is_one && (!root.has_places && !of_other.has_places || self.place() == other.place())
    }

    /// Whether a turn of this fiber may start the other one: also one of the scheduler, if this fiber has a host.
    #[inline]
    pub(crate) fn may_start(&self, other: &Context) -> bool {
        let is_between = self.host().is_some() && other.host().is_none();
        self.is_served_with(other) || is_between && Arc::ptr_eq(self.scheduler(), other.scheduler())
    }

    /// Sets the place. No effect on a scheduler without places.
    pub(crate) fn set_place(&self, place: Option<u64>) {
        if let Some(place) = place {
            self.set_tag(place);
        }
    }

    /// Reports to the scheduler. If the observer panics, the panic hook has reported it, and the fiber continues.
    #[inline]
    pub(crate) fn observe(&self, event: Event<'_>) {
        if self.is_observed() {
            self.tell_observer(event);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_observer(&self, event: Event<'_>) {
        catch_panic(|| self.scheduler().observe(self, event));
    }

    /// Whether the scheduler observes events.
    pub(crate) fn is_observed(&self) -> bool {
        self.0.top().is_observed
    }

    /// Passes a task to the scheduler. A scheduler that panics has dropped the task, which abandons its fiber.
    #[inline]
    pub(crate) fn schedule(&self, task: Task) {
        self.0.top().schedule(task);
    }

    /// The deadline of the fiber: its own, or that of an ancestor.
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        // Most fibers have none.
        if self.state().own.has(Own::IN_LIMIT | Own::IS_LIMITED) { self.find_deadline() } else { None }
    }

    fn find_deadline(&self) -> Option<Instant> {
        if self.is_in_limit() && self.registers() {
            // The context that its leaf is given is the one around the limit.
            return self.limit_report()?.deadline;
        }
        if !self.is_limited() {
            return None;
        }
        // Only parts have deadlines, and each part includes the deadlines above it.
        successors(Some(&self.0), |node| node.parent())
            .find_map(|node| node.front::<Structure>())
            .map(|part| part.deadline)
    }

    #[inline]
    fn is_limited(&self) -> bool {
        self.state().own.has(Own::IS_LIMITED)
    }

    /// The place in the program that forks or spawns the fiber.
    pub fn fork_site(&self) -> &'static Location<'static> {
        self.state().fork_site
    }

    /// The fiber's id, a path in the tree of fibers such as `0.2.1`. It is the same in every run of a deterministic
    /// scheduler.
    pub fn id(&self) -> String {
        let mut path: Vec<_> = Vec::new();
        let mut node = Some(&self.0);
        while let Some(at) = node {
            // The root of the scheduler is not a fiber.
            if at.parent().is_some() || path.is_empty() {
                path.push(at.owner().index);
            }
            node = at.parent();
        }
        let mut id = String::new();
        for (depth, index) in path.iter().rev().enumerate() {
            id.push_str(if depth == 0 { "" } else { "." });
            id.push_str(&index.to_string());
        }
        id
    }

    /// What the fiber waits for, for reports. The answer may be stale by the time it is read.
    pub fn waits_for(&self) -> WaitsFor {
        self.state().own.waits_for()
    }

    /// The number of fibers directly below this one that have not ended.
    pub fn live_children(&self) -> usize {
        self.0.live_children()
    }

    /// A number that no other live fiber of the process has. It differs from run to run.
    pub fn key(&self) -> usize {
        ptr::from_ref(&*self.0).addr()
    }

    /// Whether both contexts belong to the same fiber.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    ///
    /// let test = TestScheduler::new();
    /// let [one, other] = [1, 2].map(|n| test.context().spawn(Fiber::success(n)));
    /// assert!(one.context().is_same(&one.context().clone()));
    /// assert!(!one.context().is_same(other.context()));
    /// ```
    #[inline]
    pub fn is_same(&self, other: &Context) -> bool {
        Ref::ptr_eq(&self.0, &other.0)
    }

    /// Whether this is `other`, or the context of a fiber that was awaited in `other`, started there, and has moved
    /// apart.
    pub(crate) fn continues(&self, other: &Context) -> bool {
        let is_of_block =
            |above: &&Ref<_>| above.front::<Structure>().is_some_and(|part| part.operator == AWAIT);
        let above = || self.0.parent().filter(is_of_block);
        self.is_same(other)
            || above().and_then(|above| above.parent()).is_some_and(|node| Ref::ptr_eq(node, &other.0))
    }

    /// Whether something above was cancelled from where the cancellation reaches this context, at once or soon.
    pub(crate) fn is_below_cancelled(&self) -> bool {
        let reached = successors(Some(&self.0), |node| node.parent().filter(|_| !node.is_shielded()));
        reached.skip(1).any(|node| node.is_cancelled())
    }

    /// Whether this is `other` or below it.
    pub(crate) fn is_within(&self, other: &Context) -> bool {
        successors(Some(&self.0), |node| node.parent()).any(|node| Ref::ptr_eq(node, &other.0))
    }

    pub(crate) fn time_out(&self) {
        Node::time_out(&self.0);
    }

    /// The time of the part had passed before its node was made.
    pub(crate) fn time_out_before(&self) {
        Node::time_out_before(&self.0);
    }

    /// Cancels the part, whose timer the scheduler has dropped: without the timer, the part might never end.
    pub(crate) fn lose_timer(&self) {
        if self.part_of_fiber().lose_timer() {
            self.cancel();
        }
    }

    fn part_of_fiber(&self) -> &Structure {
        self.0.front().expect("only a part of a fiber has a timer")
    }

    pub(crate) fn is_timed_out(&self) -> bool {
        self.0.is_timed_out()
    }

    /// Ends the fiber's own work if no child is left. `false` if children are left; then nothing has changed.
    #[inline]
    pub(crate) fn finish_alone(&self) -> bool {
        self.touch(Side::Children, Access::Read);
        self.0.finish_alone()
    }

    /// Ends the fiber's own work. `true` if no child is left. `false`: the fiber has to wait, shielded, until the last
    /// child wakes it.
    pub(crate) fn finish_work(&self) -> bool {
        self.touch(Side::Children, Access::Read);
        self.0.finish_work()
    }

    /// Undoes [`finish_work`](Context::finish_work), unless the last child has ended meanwhile.
    pub(crate) fn resume_work(&self) -> bool {
        self.touch(Side::Children, Access::Write);
        self.0.hold()
    }

    /// Keeps the fiber from ending while code outside of it adds a child. `None` if the fiber has ended.
    pub(crate) fn hold(&self) -> Option<Held<'_>> {
        // The last child may end before or after this call.
        self.touch(Side::Children, Access::Write);
        self.0.hold().then(|| Held(self))
    }

    /// The topmost context, which is the scheduler's root.
    pub(crate) fn topmost(&self) -> Context {
        let mut top = &self.0;
        while let Some(parent) = top.parent() {
            top = parent;
        }
        Context(top.clone())
    }

    /// Leaves the tree, after the outcome was delivered and the last child has ended.
    pub(crate) fn end(&self) {
        if self.state().own.has(Own::LOCALS) || self.is_observed() || is_listening() {
            self.ends();
        }
        Node::end(&self.0);
    }

    /// What few fibers do before their end.
    #[cold]
    fn ends(&self) {
        // A handle may keep the context for a long time, but must not keep the locals of the fiber.
        if self.state().own.has(Own::LOCALS) {
            discard(self.set_locals(None), self);
        }
        self.observe(Event::Ended);
        if is_listening()
            && let Some(above) = self.0.parent()
        {
            // The last child to end wakes the parent fiber, unless that is cancelled first.
            touch(above, Side::Children, Access::Commute);
            touch(above, Side::Life, Access::Read);
        }
    }

    #[inline]
    pub(crate) fn is_masked(&self) -> bool {
        // Most fibers are in no region.
        let masks = self.masks();
        masks > 0 && masks > self.masks_outside()
    }

    /// The number of uncancelable regions that the fiber is in.
    #[inline]
    pub(crate) fn masks(&self) -> u32 {
        self.state().own.masks()
    }

    /// Sets the number of regions, and returns the previous one.
    #[inline]
    pub(crate) fn set_masks(&self, masks: u32) -> u32 {
        let before = self.masks();
        self.state().own.set_masks(masks);
        before
    }

    /// Sets whether the cancellation of the fiber has ended a part of a region that can be interrupted.
    #[cold]
    pub(crate) fn set_cut_short(&self, is_cut_short: bool) {
        let state = self.state();
        let rare = if is_cut_short { Some(state.rare_made()) } else { state.rare() };
        // Relaxed, here and below: only the fiber itself uses it.
        rare.into_iter().for_each(|rare| rare.is_cut_short.store(is_cut_short, Ordering::Relaxed));
    }

    #[cold]
    pub(crate) fn is_cut_short(&self) -> bool {
        self.state().rare().is_some_and(|rare| rare.is_cut_short.load(Ordering::Relaxed))
    }

    /// The number of those regions that shield the context itself.
    #[inline]
    pub(crate) fn masks_outside(&self) -> u32 {
        // Relaxed: only the fiber itself uses it, as with the number of regions.
        self.state().rare().map_or(0, |rare| rare.masks_outside.load(Ordering::Relaxed))
    }

    /// Starts the fiber in `masks` regions, `outside` of which shield its context. The numbers are those of the fiber that it
    /// moved away from, because the operators that begin and end regions have recorded them.
    pub(crate) fn begin_in_masks(&self, masks: u32, outside: u32) {
        if outside > 0 {
            // Relaxed: as above; the fiber does not run yet.
            self.state().rare_made().masks_outside.store(outside, Ordering::Relaxed);
        }
        self.set_masks(masks);
    }

    /// The room for frames in the cell of a fiber that had no description, for the first caller.
    pub(crate) fn take_room(&self) -> Option<Room<'_>> {
        self.0.take_room()
    }
}

/// Drops the rest of a fiber. That drop wakes the waiters of the fiber, so it must not be deferred.
fn throw_away(waiter: Option<Waiter>) {
    if let Some(waiter) = waiter {
        with_own_queue(|| waiter.discard());
    }
}

/// Keeps a fiber from ending while the hold lives.
pub(crate) struct Held<'a>(&'a Context);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        Node::release(&self.0.0);
    }
}

/// `fiber 0.1 "name" (forked at file:line)`.
impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fiber {}", self.id())?;
        if let Some(name) = self.name() {
            write!(f, " {name:?}")?;
        }
        let site = self.fork_site();
        write!(f, " (forked at {}:{})", site.file(), site.line())
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}: {:?}", self.0)
    }
}
