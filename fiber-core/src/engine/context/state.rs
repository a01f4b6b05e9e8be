//! The data of a context.
//!
//! There are many contexts, so data that few of them need is stored apart: [`Structure`] only in the cells of parts, and
//! [`Rare`] in a box that is made on demand.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::limit::Limit;
use super::race::Race;
use super::{Context, Start, WaitsFor};
use crate::cell::{Body, LazyBox};
use crate::engine::host::Host;
use crate::engine::scheduler::Scheduler;
use crate::engine::step::Run;
use crate::engine::task::Task;
use crate::error::Site;
use crate::instant::Instant;
use crate::local::Locals;
use crate::panic::{catch_panic, guard};

/// The data that all contexts of a tree share, or of a hosted fiber and its parts.
pub(crate) struct Root {
    pub(super) scheduler: Arc<dyn Scheduler>,
    /// Whether the scheduler observes events.
    pub(super) is_observed: bool,
    /// Whether tags are the places where fibers run.
    pub(super) has_places: bool,
    pub(super) is_closing: AtomicBool,
    is_host: bool,
    /// Of a hosted fiber.
    pub(super) host: Option<Host>,
}

impl Root {
    pub(super) fn of(scheduler: Arc<dyn Scheduler>) -> Self {
        // A scheduler that panics here counts as an observer.
        let is_observed = guard(|| scheduler.is_observer()).unwrap_or(true);
        let has_places = guard(|| scheduler.has_places()).unwrap_or(false);
        let is_host = !has_places && guard(|| scheduler.is_host()).unwrap_or(false);
        Root { scheduler, is_observed, has_places, is_closing: AtomicBool::new(false), is_host, host: None }
    }

    /// For a fiber that is hosted inside of this tree. `None`: the scheduler has to run it itself.
    pub(super) fn hosting(&self) -> Option<Self> {
        self.is_host.then(|| Root {
            scheduler: self.scheduler.clone(),
            is_closing: AtomicBool::new(false),
            host: Some(Host::default()),
            ..*self
        })
    }

    /// Passes a task of this tree to its host, if it has one, and otherwise to the scheduler.
    #[inline]
    pub(super) fn schedule(&self, task: Task) {
        if let Some(host) = &self.host {
            return self.schedule_beside(host, task);
        }
        catch_panic(|| self.scheduler.schedule(task));
    }

    /// The task may be one of the hosted fiber or its parts, or of a fork.
    #[cold]
    fn schedule_beside(&self, host: &Host, task: Task) {
        let is_hosted = task.context().is_some_and(|fiber| ptr::eq(fiber.0.top(), self));
        catch_panic(|| match is_hosted {
            true => host.schedule(task, &*self.scheduler),
            false => self.scheduler.schedule(task),
        });
    }
}

/// The name of a fiber or part, if the program gave one, and the place in the program that makes it.
#[derive(Clone)]
pub(crate) struct Origin {
    name: Option<Arc<str>>,
    site: Site,
}

impl Origin {
    #[inline]
    pub(crate) fn of<R: Run>(run: &R, site: Site) -> Self {
        Origin { name: run.name(), site }
    }

    #[inline]
    pub(crate) fn unnamed(site: Site) -> Self {
        Origin { name: None, site }
    }

    pub(super) fn named(name: Arc<str>, site: Site) -> Self {
        Origin { name: Some(name), site }
    }

    pub(super) fn is_unnamed(&self) -> bool {
        self.name.is_none()
    }

    pub(super) fn site(&self) -> Site {
        self.site
    }
}

pub(crate) struct FiberState {
    pub(super) fork_site: Site,
    /// The tag, which the scheduler sets.
    pub(super) tag: AtomicU64,
    rare: LazyBox<Rare>,
    /// The last part of the id.
    pub(super) index: u32,
    pub(super) own: Own,
}

/// Data that few fibers need.
#[derive(Default)]
pub(super) struct Rare {
    /// The name that the program gave.
    pub(super) name: Option<Arc<str>>,
    /// Whether the cancellation of the fiber has ended a part of an uncancelable region that can be interrupted.
    pub(super) is_cut_short: AtomicBool,
    /// The number of uncancelable regions that belong to another fiber, from which this one has moved apart.
    pub(super) masks_outside: AtomicU32,
    /// Used almost only by the fiber itself (a blocking closure may read a local), so the lock is hardly ever
    /// contended.
    pub(super) carried: Mutex<Carried>,
    /// Whether there is a [place of forks](Carried::fork_place). Used by the fiber alone.
    pub(super) has_fork_place: AtomicBool,
    /// If the fiber has been in a limit without a node.
    pub(super) limit: LazyBox<Limit>,
}

impl Rare {
    // Not inlined: few fibers have a name or locals.
    #[inline(never)]
    fn boxed(name: Option<Arc<str>>, locals: Option<Locals>) -> LazyBox<Self> {
        let carried = Mutex::new(Carried { locals, fork_place: None });
        LazyBox::of(|| Rare { name, carried, ..Rare::default() })
    }
}

/// Settings that operators of a fiber make in its context, each as long as the operator runs.
#[derive(Default)]
pub(super) struct Carried {
    pub(super) locals: Option<Locals>,
    /// The parent of forks that are apart, once there are any.
    pub(super) fork_place: Option<Context>,
}

impl FiberState {
    #[inline]
    pub(super) fn new(index: u32, origin: Origin, flags: u32, tag: u64, locals: Option<Locals>) -> Self {
        let Origin { name, site: fork_site } = origin;
        let flags = flags | Own::flag(Own::LOCALS, locals.is_some());
        let rare =
            if name.is_some() || locals.is_some() { Rare::boxed(name, locals) } else { LazyBox::new() };
        FiberState { fork_site, tag: AtomicU64::new(tag), rare, index, own: Own(AtomicU32::new(flags)) }
    }

    #[inline]
    pub(super) fn rare(&self) -> Option<&Rare> {
        self.rare.get()
    }

    pub(super) fn carried_locals(&self) -> Option<Locals> {
        self.rare()?.carried.lock().locals.clone()
    }

    pub(super) fn rare_made(&self) -> &Rare {
        self.rare.get_or_make(Rare::default)
    }
}

/// Small numbers that only the fiber changes, on whichever thread it runs.
///
/// ```text
///  31   15 14        13         12         11      10      9            8           7         6       5        4         0
/// +-------+---------+----------+----------+-------+-------+------------+-----------+---------+-------+--------+-----------+
/// | masks | PROGRAM | IN_LIMIT | OUTLASTS | RACES | RACED | IS_LIMITED | STRUCTURE | SHIELDS | APART | LOCALS | waits for |
/// +-------+---------+----------+----------+-------+-------+------------+-----------+---------+-------+--------+-----------+
/// ```
///
/// `masks` counts the uncancelable regions that the fiber is in. `LOCALS` says whether its locals are here; a part without any uses those around it. `APART`
/// whether its forks are [apart](super::Forks), and `SHIELDS` whether the place of those is shielded.
/// `STRUCTURE` (a combinator made it for a part of its parent), `IS_LIMITED` (there is a deadline, its own or one above
/// it), `RACES` (its branches are the sides of a [race](super::race)) and `PROGRAM` (it is such a side, and known to wait more than once)
/// never change. `RACED` says that it is such a side, or a part of one; a part that leaves the races around it has `LEFT` instead,
/// which is the bit of `PROGRAM`: a part is no side.
/// `OUTLASTS` says that a side of a race waits, and that a cancellation of the race does not end this wait.
/// `IN_LIMIT` says that the fiber is in a [limit](super::limit) that has no node of its own.
pub(super) struct Own(AtomicU32);

impl Own {
    const WAITS_FOR: u32 = 0b1_1111;
    pub(super) const LOCALS: u32 = 1 << 5;
    pub(super) const APART: u32 = 1 << 6;
    pub(super) const SHIELDS: u32 = 1 << 7;
    pub(super) const STRUCTURE: u32 = 1 << 8;
    pub(super) const IS_LIMITED: u32 = 1 << 9;
    pub(super) const RACED: u32 = 1 << 10;
    pub(super) const RACES: u32 = 1 << 11;
    pub(super) const OUTLASTS: u32 = 1 << 12;
    pub(super) const IN_LIMIT: u32 = 1 << 13;
    pub(super) const PROGRAM: u32 = 1 << 14;
    pub(super) const LEFT: u32 = Self::PROGRAM;
    const MASKS_SHIFT: u32 = 15;
    const MOST_MASKS: u32 = u32::MAX >> Self::MASKS_SHIFT;

    pub(super) fn flag(flag: u32, is_set: bool) -> u32 {
        if is_set { flag } else { 0 }
    }

    #[inline]
    fn load(&self) -> u32 {
        // Relaxed: only the fiber itself uses it, and the scheduler's queues order its turns on different threads. For
        // other readers it is a report.
        self.0.load(Ordering::Relaxed)
    }

    /// Sets these bits. Returns all, as they were before.
    #[inline]
    pub(super) fn replace(&self, bits: u32, by: u32) -> u32 {
        let before = self.load();
        // Relaxed, and no read-modify-write: only the fiber writes it, as above.
        self.0.store(before & !bits | by, Ordering::Relaxed);
        before
    }

    #[inline]
    pub(super) fn has(&self, flag: u32) -> bool {
        self.load() & flag != 0
    }

    #[inline]
    pub(super) fn set(&self, flag: u32, is_set: bool) {
        self.replace(flag, Self::flag(flag, is_set));
    }

    #[inline]
    pub(super) fn masks(&self) -> u32 {
        self.load() >> Self::MASKS_SHIFT
    }

    #[inline]
    pub(super) fn set_masks(&self, masks: u32) {
        assert!(masks <= Self::MOST_MASKS, "a fiber is in less than 131,072 uncancelable regions");
        self.replace(Self::MOST_MASKS << Self::MASKS_SHIFT, masks << Self::MASKS_SHIFT);
    }

    pub(super) fn waits_for(&self) -> WaitsFor {
        WaitsFor::from_code(self.load() & Self::WAITS_FOR)
    }

    /// The beginning or the end of a wait.
    #[inline]
    pub(super) fn set_waits_for(&self, what: WaitsFor) {
        self.replace(Self::WAITS_FOR | Self::OUTLASTS, what as u32);
    }
}

/// What the cell of each part of a fiber holds.
pub(super) struct Structure {
    pub(super) operator: &'static str,
    /// The time by which the part has to end: its own deadline, or one above it.
    pub(super) deadline: Instant,
    timer: AtomicU8,
    /// If its branches are the sides of a race.
    pub(super) race: LazyBox<Race>,
}

/// There is no timer, or it is no longer needed.
const NO_TIMER: u8 = 0;
/// The scheduler has a timer for this part.
const TIMER_SET: u8 = 1;
/// The scheduler has dropped the timer.
const TIMER_LOST: u8 = 2;

impl Structure {
    pub(super) fn new(operator: &'static str, deadline: Instant) -> Self {
        Structure { operator, deadline, timer: AtomicU8::new(NO_TIMER), race: LazyBox::new() }
    }

    /// Records that the scheduler is about to receive the timer of this part.
    pub(super) fn set_timer(&self) {
        // Relaxed, here and below: this single value decides. A part that `lose_timer` cancels sees the loss, because the
        // cancellation orders it.
        self.timer.store(TIMER_SET, Ordering::Relaxed);
    }

    /// Records that the timer is no longer needed. `true` if it was lost before.
    pub(super) fn stop_timer(&self) -> bool {
        self.timer.swap(NO_TIMER, Ordering::Relaxed) == TIMER_LOST
    }

    /// Records that the scheduler has dropped the timer. `false` if the timer was no longer needed.
    pub(super) fn lose_timer(&self) -> bool {
        self.timer.compare_exchange(TIMER_SET, TIMER_LOST, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// The body of a part of a fiber: what the branches of its operator share. What all parts have is in front of it.
pub(super) struct Shares<S>(pub(super) S);

impl<S: Send + Sync + 'static> Body<FiberState> for Shares<S> {
    type Description = std::convert::Infallible;
    const ROOM: usize = 0;
    type Front = Structure;

    const BEHAVIOR: &'static Start = &Start::NONE;
}
