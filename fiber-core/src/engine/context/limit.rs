//! Time limits without a node.
//!
//! The body of a time limit needs a node of its own only if something in it forks, or asks for its context. As long as it only
//! waits, it does so in the node around it, in whose [`Limit`] is what the body needs when it goes on. There, the driver runs it in
//! a place of its own, [`Resumed`]. If that gets a node after all, the limit moves into it.
//!
//! ```text
//!   Part, on the stack ── it waits ──> Limit of the node around it ── an event ──> Resumed ── it waits ──> Limit ..
//!          │                             (the timer is set once)                    │
//!          └── it forks ──> node, with a timer of its own <──────── it forks ───────┘
//! ```
//!
//! A node has at most one such limit: another one inside gets the node of this one first. A limit that is observed, named, or in an
//! uncancelable region has a node when it waits. So the schedulers for tests see each limit as a part, and everything has the same id
//! there: a limit takes its number when it waits for the first time, whether it gets a node or not.
//!
//! An awaited fiber that moves apart takes its limit along, which begins anew in the node of that fiber. (Only then do ids differ: where
//! somebody observes, the node of the limit stays below the block.)
//!
//! # The end of a limit
//! The thread of the timer may come while the fiber leaves the limit. `phase` decides, and its generation tells one limit of a node
//! from the next.
//!
//! | phase | the limit | left by | to |
//! |---|---|---|---|
//! | `IDLE` | is free | the fiber: it begins to wait in a limit | `RUNS` |
//! | `RUNS` | goes on | the fiber: it leaves the limit | `LEAVES`, or `IDLE` without a timer |
//! | | | the timer: it is due, or was lost | `OVER`, `LOST` |
//! | `OVER`, `LOST` | is over; the timer is about to wake the fiber | the timer | with `TOLD` |
//! | | | the fiber: it leaves the limit | `LEFT` |
//! | the same with `TOLD` | is over, and the fiber was woken | the fiber: it leaves the limit | `IDLE` |
//! | `LEAVES` | is left; the fiber removes the timer | the timer: too late | `CAME` |
//! | | | the fiber: the timer is removed | `IDLE` |
//! | | | the fiber: the timer will come | `LEFT` |
//! | `CAME` | is left, and the timer has come | the fiber | `IDLE` |
//! | `LEFT` | is left; the timer will come | the timer | `IDLE` |
//!
//! The fiber goes from `RUNS` to `LEAVES` by a store, which may hide an `OVER`: the timer finds out when it wants to add `TOLD`.
//! Until a phase is `IDLE` again, other limits in this node get nodes.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::part::Part;
use super::state::{Own, Shares, Structure};
use super::{Context, Cx, FiberState, NodeGuard, Origin, TurnView};
use crate::cell::{Fixed, LazyPlace, Node, Owner, Seed, Signal};
use crate::engine::scheduler::TimerKey;
use crate::engine::task::Task;
use crate::error::Site;
use crate::footprint::{Access, Side};
use crate::instant::Instant;
use crate::panic::{catch_panic, guard};

/// The limit without a node of a context, as described at the head of this file.
pub(super) struct Limit {
    /// See the table at the head of this file. The upper bits are the generation.
    phase: AtomicU64,
    until: AtomicU64,
    deadline: AtomicU64,
    /// The key of the timer, if there is one.
    timer: AtomicU64,
    number: AtomicU32,
    has_timer: AtomicU32,
    operator: Fixed<&'static str>,
    site: Fixed<std::panic::Location<'static>>,
    /// The node of a limit that has got one after all, until it is left.
    moved: Mutex<Option<(NodeGuard, Timer)>>,
}

const PHASE: u64 = 0b1111;
const GENERATION: u64 = PHASE + 1;

const IDLE: u64 = 0;
const RUNS: u64 = 1;
const OVER: u64 = 2;
const LOST: u64 = 3;
const LEAVES: u64 = 4;
const CAME: u64 = 5;
const LEFT: u64 = 6;
/// Added to `OVER` and `LOST`.
const TOLD: u64 = 8;

/// Why a timer's task comes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Comes {
    Due,
    /// It was dropped by the scheduler, or because the limit is left.
    Lost,
}

/// How a limit was left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LeftLimit {
    InTime,
    /// In time, but its timer is on the way.
    JustInTime,
    /// Its time had passed.
    Over,
    /// Its timer was lost.
    Lost,
}

impl Limit {
    fn new() -> Self {
        Limit {
            // The generation 0 names the timer of a node.
            phase: AtomicU64::new(GENERATION | IDLE),
            until: AtomicU64::new(0),
            deadline: AtomicU64::new(0),
            timer: AtomicU64::new(0),
            number: AtomicU32::new(0),
            has_timer: AtomicU32::new(0),
            operator: Fixed::new(),
            site: Fixed::new(),
            moved: Mutex::new(None),
        }
    }

    /// Only the fiber changes what is `Relaxed` in this file, and uses it, but for reports, and for a thief: that sees it because it takes
    /// its branch from the fiber.
    fn until(&self) -> Option<Instant> {
        let until = Instant::from_nanos(self.until.load(Ordering::Relaxed));
        (until < Instant::FAR_FUTURE).then_some(until)
    }

    fn deadline(&self) -> Instant {
        Instant::from_nanos(self.deadline.load(Ordering::Relaxed))
    }

    fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    fn operator(&self) -> &'static str {
        self.operator.get().copied().unwrap_or("timeout")
    }

    /// The first word of the timer's task.
    fn generation(&self) -> u64 {
        self.phase.load(Ordering::Relaxed) / GENERATION
    }

    /// Whether it has to end, although the fiber has not left it.
    #[inline]
    fn is_over(&self) -> bool {
        // Acquire: as in `is_idle`.
        matches!(self.phase.load(Ordering::Acquire) & PHASE & !TOLD, OVER | LOST)
    }

    /// Ends the node of the limit, if the limit is over.
    fn pass_on_end(&self, inside: &Context) {
        match self.phase.load(Ordering::Acquire) & PHASE & !TOLD {
            // First: only later was the fiber around it cancelled, if it was.
            OVER => inside.time_out_before(),
            LOST => inside.cancel(),
            _ => {}
        }
    }

    fn is_idle(&self) -> bool {
        // Acquire: pairs with the Release of the timer's thread, which has used this limit before.
        self.phase.load(Ordering::Acquire) & PHASE == IDLE
    }

    fn set_phase(&self, phase: u64) {
        // Release: publishes what a limit is to its timer, which sees the phase by its `change`.
        self.phase.store((self.generation() * GENERATION) | phase, Ordering::Release);
    }

    fn becomes_idle(&self) {
        self.phase.store((self.generation() + 1) * GENERATION, Ordering::Release);
    }

    /// By both sides, where they may meet.
    fn change(&self, from: u64, to: u64) -> bool {
        // AcqRel: Release for the side that comes later, Acquire because this one may.
        self.phase.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The fiber leaves the limit.
    #[inline]
    fn leave(&self, context: &Context) -> LeftLimit {
        loop {
            let phase = self.phase.load(Ordering::Acquire);
            let over = match phase & PHASE & !TOLD {
                OVER => LeftLimit::Over,
                LOST => LeftLimit::Lost,
                _ => return self.leave_in_time(context),
            };
            if phase & TOLD != 0 {
                context.0.forget_limit();
                self.becomes_idle();
                return over;
            }
            if self.change(phase, phase & !PHASE | LEFT) {
                return over;
            }
        }
    }

    fn leave_in_time(&self, context: &Context) -> LeftLimit {
        if self.has_timer.load(Ordering::Relaxed) == 0 {
            self.becomes_idle();
            return LeftLimit::InTime;
        }
        self.set_phase(LEAVES);
        let key = TimerKey::new(self.timer.load(Ordering::Relaxed));
        if guard(|| context.scheduler().cancel_timer(key)).unwrap_or(false) {
            self.becomes_idle();
            return LeftLimit::InTime;
        }
        let leaves = (self.generation() * GENERATION) | LEAVES;
        if !self.change(leaves, leaves & !PHASE | LEFT) {
            self.becomes_idle();
        }
        LeftLimit::JustInTime
    }
}

impl Context {
    #[inline]
    pub(super) fn limit(&self) -> Option<&Limit> {
        self.state().rare().and_then(|rare| rare.limit.get())
    }

    /// Whether the fiber is in a limit without a node.
    #[inline]
    pub(crate) fn is_in_limit(&self) -> bool {
        self.state().own.has(Own::IN_LIMIT)
    }

    /// Whether the fiber is leaving this limit, and is about to find out whether the timer was removed.
    #[inline]
    pub(crate) fn leaves_limit(&self, generation: u64) -> bool {
        // Relaxed: what follows changes nothing.
        let leaves = (generation * GENERATION) | LEAVES;
        self.limit().is_some_and(|limit| limit.phase.load(Ordering::Relaxed) == leaves)
    }

    /// The timer of a limit without a node is due, or lost.
    pub(crate) fn timer_comes(&self, generation: u64, comes: Comes) {
        let Some(limit) = self.limit() else { return };
        loop {
            let phase = limit.phase.load(Ordering::Acquire);
            if phase / GENERATION != generation {
                return;
            }
            let to = match phase & PHASE {
                RUNS if comes == Comes::Lost => LOST,
                // A body that is being cancelled has no limit.
                RUNS if !self.is_cancelled() => OVER,
                // Dropped by the fiber, which leaves the limit.
                LEAVES if comes == Comes::Lost => return,
                LEAVES => CAME,
                LEFT => {
                    if limit.change(phase, (generation + 1) * GENERATION) {
                        return;
                    }
                    continue;
                }
                _ => return,
            };
            let next = phase & !PHASE | to;
            if !limit.change(phase, next) || to == CAME {
                continue;
            }
            self.touch(Side::Life, Access::Write);
            let waiter = self.0.end_limit();
            if !limit.change(next, next | TOLD) {
                // The fiber has left the limit meanwhile.
                self.0.forget_limit();
                continue;
            }
            if let Some(waiter) = waiter {
                FiberState::wake(&self.0, waiter, Signal::Cancelled);
            }
            return;
        }
    }

    /// The fiber, which is in no limit without a node, begins one. `false`: the timer of the one before may still come.
    #[inline]
    fn begin_limit(
        &self,
        operator: &'static &'static str,
        site: Site,
        deadline: Instant,
        until: Option<Instant>,
    ) -> bool {
        let until = until.unwrap_or(Instant::FAR_FUTURE);
        let limit = self.state().rare_made().limit.get_or_make(Limit::new);
        if !limit.is_idle() {
            return false;
        }
        limit.number.store(self.0.take_number(), Ordering::Relaxed);
        limit.operator.set(operator);
        limit.site.set(site);
        limit.deadline.store(deadline.as_nanos(), Ordering::Relaxed);
        limit.until.store(until.as_nanos(), Ordering::Relaxed);
        limit.has_timer.store(0, Ordering::Relaxed);
        limit.set_phase(RUNS);
        self.state().own.set(Own::IN_LIMIT, true);
        if until < Instant::FAR_FUTURE {
            let task = Task::time_out(self.clone(), limit.generation());
            // A scheduler that panics has dropped the timer.
            if let Ok(key) = guard(|| self.scheduler().schedule_at(until, task)) {
                limit.timer.store(key.get(), Ordering::Relaxed);
                limit.has_timer.store(1, Ordering::Relaxed);
            }
        }
        true
    }

    /// The limit without a node in which the fiber is, if it is in one, goes on in the new context `to`, with the frames of the fiber.
    pub(crate) fn hand_limit(&self, to: &Context) {
        let Some(limit) = self.limit().filter(|_| self.is_in_limit()) else { return };
        // A timer that has come, or was lost, does so again.
        self.leave_limit();
        let operator = limit.operator.get().expect("set when it began");
        let site = limit.site.get().expect("set when it began");
        let has_begun = to.begin_limit(operator, site, limit.deadline(), limit.until());
        debug_assert!(has_begun, "a new context had no limit before");
    }

    /// Makes the node of the limit that the fiber is in.
    fn limit_node(&self, limit: &Limit) -> Context {
        let site = limit.site.get().unwrap_or(self.state().fork_site);
        let owner = self.structure_below(limit.deadline(), Origin::unnamed(site))(limit.number());
        let seed = Seed::without((Structure::new(limit.operator(), limit.deadline()), Shares(())));
        Context(Node::child_numbered(&self.0, false, owner, seed))
    }

    /// Leaves the limit, which has no node.
    #[inline]
    pub(crate) fn leave_limit(&self) -> LeftLimit {
        self.state().own.set(Own::IN_LIMIT, false);
        self.limit().map_or(LeftLimit::InTime, |limit| limit.leave(self))
    }

    /// The limit without a node in which the fiber is goes on in this node.
    #[cold]
    pub(crate) fn move_limit(&self, inside: NodeGuard) {
        let Some(limit) = self.limit() else { return };
        let timer = match self.leave_limit() {
            LeftLimit::InTime => Timer::start(&inside, limit.until()),
            LeftLimit::JustInTime => {
                inside.time_out();
                Timer::none()
            }
            LeftLimit::Over => {
                inside.time_out_before();
                Timer::none()
            }
            LeftLimit::Lost => Timer::lost(&inside),
        };
        *limit.moved.lock() = Some((inside, timer));
    }

    /// The node of the limit that was around `self`, and got it late.
    pub(crate) fn take_moved_limit(&self) -> Option<(NodeGuard, Timer)> {
        self.limit().and_then(|limit| limit.moved.lock().take())
    }

    /// Abandons the innermost limit without a node, or with a late one, around the place where a fiber has waited.
    pub(crate) fn abandon_limit(&self) {
        if self.is_in_limit() {
            self.leave_limit();
            return;
        }
        let mut around = self.around();
        while let Some(context) = around {
            if let Some((inside, timer)) = context.take_moved_limit() {
                drop(timer);
                drop(inside);
                return;
            }
            around = context.around();
        }
    }
}

impl<'a> Cx<'a> {
    /// Begins a limit without a node, in which the fiber waits: the limit of `part`, whose body has begun to wait with `masks`. `false`:
    /// the limit needs a node.
    pub(crate) fn begin_limit(
        &self,
        operator: &'static &'static str,
        part: &Part<'_>,
        masks: u32,
        until: Option<Instant>,
    ) -> bool {
        let Some((site, deadline)) = part.limit() else { return false };
        if self.masks() != 0 {
            return false;
        }
        let context = self.context();
        if context.is_observed() || context.is_in_limit() {
            return false;
        }
        let has_begun = context.begin_limit(operator, site, deadline, until);
        if has_begun && masks != 0 {
            self.set_masks(masks);
        }
        has_begun
    }
}

/// What a limit without a node shows in reports.
pub(crate) struct LimitReport {
    pub(crate) operator: &'static str,
    pub(crate) site: Site,
    pub(crate) number: u32,
    pub(crate) deadline: Option<Instant>,
}

impl Context {
    /// The limit without a node in which the fiber is. Fields may be stale, one by one.
    pub(crate) fn limit_report(&self) -> Option<LimitReport> {
        let limit = self.limit().filter(|_| self.is_in_limit())?;
        let deadline = Some(limit.deadline()).filter(|at| *at < Instant::FAR_FUTURE);
        let site = limit.site.get()?;
        Some(LimitReport { operator: limit.operator(), site, number: limit.number(), deadline })
    }
}

/// A limit that has waited without a node, while its body runs.
pub(crate) struct Resumed<'a> {
    outside: &'a Context,
    limit: &'a Limit,
    made: LazyPlace<'a, NodeGuard>,
}

impl<'a> Resumed<'a> {
    /// The limit in which the fiber of `outside` has waited.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(outside: &'a Context, view: TurnView<'a>) -> Self {
        let limit = outside.limit().expect("the fiber is in a limit");
        Resumed { outside, limit, made: LazyPlace::new(view.nodes_made()) }
    }

    /// The end of the limit, if it has a timer.
    pub(super) fn until(&self) -> Instant {
        // Relaxed: see `Limit::until`.
        Instant::from_nanos(self.limit.until.load(Ordering::Relaxed))
    }

    /// The context around the limit, in which the fiber has waited.
    #[inline]
    pub(super) fn outside(&self) -> &'a Context {
        self.outside
    }

    #[inline]
    pub(super) fn own_node(&self) -> Option<&Context> {
        self.made.get().map(|inside| &**inside)
    }

    #[inline]
    pub(super) fn nearest(&self) -> &Context {
        self.own_node().unwrap_or(self.outside)
    }

    /// Whether the limit is over, or the fiber was cancelled.
    #[inline]
    pub(super) fn is_cancelled(&self) -> bool {
        self.limit.is_over() || self.nearest().is_cancelled()
    }

    pub(super) fn deadline(&self) -> Instant {
        self.limit.deadline()
    }

    /// The node; makes it if there is none.
    #[inline]
    pub(super) fn context(&self) -> &Context {
        match self.own_node() {
            Some(inside) => inside,
            None => self.make(),
        }
    }

    #[cold]
    #[inline(never)]
    fn make(&self) -> &Context {
        let (made, is_new) = self.made.get_or_make(|| NodeGuard::new(self.outside.limit_node(self.limit)));
        if is_new {
            made.announce(self.outside);
            // Nobody tells it of an end before it was made.
            self.limit.pass_on_end(made);
        }
        made
    }

    /// Ends the node, if there is one, or has to be one for the parts inside, if the limit is over.
    #[inline]
    pub(crate) fn look(&self) {
        if self.limit.is_over() {
            self.limit.pass_on_end(self.context());
        }
    }

    /// Leaves the node in which the limit goes on, if it has got one.
    #[inline]
    pub(crate) fn leave(&mut self) -> Option<NodeGuard> {
        self.made.take()
    }
}

/// The timer of a node. Dropping it stops the timer.
pub(crate) struct Timer(Option<(Context, Option<TimerKey>)>);

impl Timer {
    pub(crate) fn start(child: &Context, until: Option<Instant>) -> Self {
        Timer(until.map(|at| {
            child.part_of_fiber().set_timer();
            // A scheduler that panics has dropped the timer.
            let key = guard(|| child.scheduler().schedule_at(at, Task::time_out(child.clone(), 0)));
            (child.clone(), key.ok())
        }))
    }

    pub(crate) fn none() -> Self {
        Timer(None)
    }

    /// The scheduler has dropped the timer.
    fn lost(child: &Context) -> Self {
        child.part_of_fiber().set_timer();
        child.lose_timer();
        Timer(Some((child.clone(), None)))
    }

    /// `true`: the scheduler has dropped the timer, which cancelled the child.
    pub(crate) fn stop(&mut self) -> bool {
        let Some((child, key)) = self.0.take() else { return false };
        let is_lost = child.part_of_fiber().stop_timer();
        if let Some(key) = key
            && !is_lost
        {
            catch_panic(|| _ = child.scheduler().cancel_timer(key));
        }
        is_lost
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.stop();
    }
}
