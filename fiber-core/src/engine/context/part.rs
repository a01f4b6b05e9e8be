//! A part of a fiber, or a whole fiber, that runs on the host's stack and has no node in the cancel tree yet.
//!
//! A timeout, or a branch that its owner runs itself, needs a node only when something in it waits, forks, or asks for
//! its [`Context`]. Until then it is a [`Part`] in the frame of the call that runs it. Parts link to the place around
//! them:
//!
//! ```text
//!  Cx ──> Part (branch) ──> Part (zip) ──> Part (timeout) ──> Node: the context of the running fiber
//! ```
//!
//! Making the node of a part makes the nodes of the parts around it first, so the parts with nodes are always the outer
//! ones.
//!
//! # Threads
//! The thread that runs the fiber makes nodes. A thief that takes a lent branch makes the nodes of the parts around the
//! branch. Everything that a thief reads is `Sync`: constants, and the [`LazyPlace`] of the node.

use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

use super::limit::Resumed;
use super::{Context, Cx, Origin};
use crate::cell::LazyPlace;
use crate::engine::step::Run;
use crate::error::Site;
use crate::instant::Instant;

/// The place in the cancel tree where a fiber runs.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    Node(&'a Context),
    Part(&'a Part<'a>),
    /// A limit that has waited without a node.
    Limit(&'a Resumed<'a>),
}

/// Makes the node of a running fiber, below the context around it.
pub(crate) type Make = fn(&Context, Origin) -> Context;

/// Makes the node of a structure, below the context around it.
type MakeStructure = fn(&Context, bool, Instant, &'static str, Origin) -> Context;

/// A part of a fiber, as described at the head of this file.
pub(crate) struct Part<'a> {
    outer: Place<'a>,
    kind: Kind,
    origin: Origin,
    /// The deadline: that of the part, or one around it.
    deadline: Instant,
    /// The number of uncancelable regions that the fiber has entered in this part. Only that fiber writes it.
    masks: AtomicU32,
    /// The node. All parts of a turn have the same count: while it is that at which a part was opened, the part has no other nodes around it
    /// than it had then.
    made: LazyPlace<'a, NodeGuard>,
    /// The innermost node around the part, and whether the part is sheltered from a cancellation of that node. Both were
    /// read at the count `seen`.
    nearest: &'a Context,
    is_sheltered: bool,
    /// Whether it is in a side of a [race](super::race).
    is_raced: bool,
    /// Whether it is a side that is known to wait more than once.
    is_program: bool,
    seen: u64,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Made by this operator of the fiber around it. `shielded`: a cancellation of that fiber does not reach the part. `races`: the
    /// fibers in it are the sides of a race.
    Structure { operator: &'static str, shielded: bool, races: bool, make: MakeStructure },
    /// A separate fiber.
    Fiber(Make),
}

impl<'a> Part<'a> {
    /// A part of the fiber of `cx`, made by `operator`, which has to end by `deadline`. In an uncancelable region, the
    /// part is shielded from a cancellation of the fiber.
    // Not inlined, so that the code of each operator is short.
    #[inline(never)]
    pub(crate) fn structure(cx: &Cx<'a>, operator: &'static str, deadline: Instant, site: Site) -> Self {
        Part::sharing::<()>(cx, operator, deadline, site)
    }

    /// The same for an operator whose branches [share](Context::shared) an `S`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn sharing<S: Default + Send + Sync + 'static>(
        cx: &Cx<'a>,
        operator: &'static str,
        deadline: Instant,
        site: Site,
    ) -> Self {
        let kind =
            Kind::Structure { operator, shielded: cx.is_masked(), races: false, make: Context::sharing::<S> };
        Part::new(cx, kind, deadline, site)
    }

    /// Makes this the structure of a race, if it `races`. Nothing is in it yet.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn set_races(&mut self, races: bool) {
        if let Kind::Structure { races: kept, .. } = &mut self.kind {
            *kept = races;
        }
    }

    /// A place for fibers below the place of `cx`, one after the other. Each of them [begins](Part::begin_fiber).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn for_fibers(cx: &Cx<'a>, site: Site) -> Self {
        Part::new(cx, Kind::Fiber(no_fiber), Instant::FAR_FUTURE, site)
    }

    /// The same in a structure.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn for_fibers_in(structure: &'a Part<'a>) -> Self {
        Part {
            outer: Place::Part(structure),
            kind: Kind::Fiber(no_fiber),
            origin: Origin::unnamed(structure.origin.site()),
            made: LazyPlace::new(structure.made.count()),
            masks: AtomicU32::new(0),
            is_raced: Place::Part(structure).races(),
            is_program: false,
            // As it was seen there, and perhaps is no longer: the first fiber looks again.
            ..*structure
        }
    }

    /// The next fiber begins here, whose node is made by `make`. That of the one before was taken, if there was one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin_fiber<R: Run>(&mut self, run: &R, make: Make) {
        if !self.made.count().is_still(self.seen) {
            self.look_again();
        }
        if !self.origin.is_unnamed() {
            self.origin = Origin::unnamed(self.origin.site());
        }
        self.kind = Kind::Fiber(make);
        *self.masks.get_mut() = 0;
        if self.is_raced {
            self.is_program = run.is_program();
        }
        self.describe(run);
    }

    /// Finds the innermost node around the part, since one was made.
    #[cold]
    fn look_again(&mut self) {
        self.seen = self.made.count().settled();
        (self.nearest, self.is_sheltered) = self.outer.nearest();
    }

    /// Records the name of what will run in the part.
    #[inline]
    pub(crate) fn describe<R: Run>(&mut self, run: &R) {
        // Written only if there is one: a name that is built elsewhere and moved here costs a stalled load.
        if let Some(name) = run.name() {
            self.origin = Origin::named(name, self.origin.site());
        }
    }

    // Inlined, so that the part is built in the frame of the caller: it is large, and should not be moved.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn new(cx: &Cx<'a>, kind: Kind, deadline: Instant, site: Site) -> Self {
        let count = cx.nodes_made();
        // Read before the search for nodes, so that a node made meanwhile causes another search.
        let seen = count.settled();
        let outer = cx.place();
        let (nearest, outer_is_sheltered) = outer.nearest();
        let shielded = kind.is_shielded();
        // The deadline around the part acts by a cancellation, which does not reach a shielded part.
        let deadline = if shielded { deadline } else { deadline.min(outer.deadline()) };
        let is_sheltered = shielded || outer_is_sheltered;
        let is_raced = match kind {
            Kind::Structure { .. } => outer.is_raced(),
            Kind::Fiber(_) => outer.races(),
        };
        let masks = AtomicU32::new(0);
        let origin = Origin::unnamed(site);
        Part {
            outer,
            kind,
            origin,
            deadline,
            masks,
            // Made here: as a variable that is moved here, it costs a stalled load.
            made: LazyPlace::new(count),
            nearest,
            is_sheltered,
            is_raced,
            is_program: false,
            seen,
        }
    }

    /// What a limit without a node has to know; `None` if this part needs a node, or has one.
    pub(super) fn limit(&self) -> Option<(Site, Instant)> {
        let needs_node = self.kind.is_shielded() || !self.origin.is_unnamed() || self.made.get().is_some();
        (!needs_node).then_some((self.origin.site(), self.deadline))
    }

    /// The deadline: its own, or one that reaches it from above.
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The number of masks that the fiber has entered in this part.
    #[inline]
    pub(crate) fn masks(&mut self) -> u32 {
        *self.masks.get_mut()
    }

    /// The node; makes it if there is none.
    #[inline]
    pub(crate) fn context(&self) -> &Context {
        match self.made.get() {
            Some(inside) => inside,
            None => self.make(),
        }
    }

    #[cold]
    #[inline(never)]
    fn make(&self) -> &Context {
        let outer = self.outer.context();
        let (made, is_new) = self.made.get_or_make(|| {
            let origin = self.origin.clone();
            match self.kind {
                Kind::Structure { operator, shielded, races, make } => {
                    let inside = NodeGuard::new(make(outer, shielded, self.deadline, operator, origin));
                    inside.set_races(races);
                    inside
                }
                Kind::Fiber(make) => {
                    let inside = NodeGuard::new(make(outer, origin));
                    if self.is_raced {
                        inside.become_side(self.is_program);
                    }
                    inside
                }
            }
        });
        if is_new {
            // Not inside `get_or_make`, for which other threads may wait: the observer is code of the scheduler.
            made.announce(outer);
        }
        made
    }

    /// Leaves the part. Returns its node, if it has one, to continue in.
    #[inline]
    pub(crate) fn leave(&mut self) -> Option<NodeGuard> {
        let inside = self.made.take()?;
        inside.set_masks(*self.masks.get_mut());
        Some(inside)
    }

    /// Leaves the part. Returns its node, to continue in.
    #[cold]
    pub(crate) fn leave_inside(&mut self) -> NodeGuard {
        self.context();
        self.leave().expect("`context` has made the node")
    }

    /// The innermost existing node, and whether the part is sheltered from a cancellation of that node.
    #[inline]
    fn nearest(&self) -> (&Context, bool) {
        if self.made.count().is_still(self.seen) {
            return (self.nearest, self.is_sheltered);
        }
        // Often the node that was made is that of this part.
        self.made.get().map_or_else(|| self.look(), |inside| (inside, false))
    }

    #[cold]
    fn look(&self) -> (&Context, bool) {
        let mut is_sheltered = false;
        let mut part = self;
        loop {
            if let Some(inside) = part.made.get() {
                return (inside, is_sheltered);
            }
            is_sheltered |= part.kind.is_shielded();
            part = match part.outer {
                Place::Node(context) => return (context, is_sheltered),
                Place::Part(outer) => outer,
                Place::Limit(limit) => return (limit.nearest(), is_sheltered),
            };
        }
    }
}

/// Before the first fiber begins.
fn no_fiber(_: &Context, _: Origin) -> Context {
    unreachable!("only a fiber that runs needs a node")
}

impl Kind {
    fn is_shielded(self) -> bool {
        matches!(self, Kind::Structure { shielded: true, .. })
    }
}

impl<'a> Place<'a> {
    #[inline]
    pub(crate) fn context(self) -> &'a Context {
        match self {
            Place::Node(context) => context,
            place => place.made_context(),
        }
    }

    #[inline(never)]
    fn made_context(self) -> &'a Context {
        match self {
            Place::Node(context) => context,
            Place::Part(part) => part.context(),
            Place::Limit(limit) => limit.context(),
        }
    }

    /// The innermost existing node, and whether this place is sheltered from a cancellation of that node. A part
    /// without a node can be cancelled in no other way.
    #[inline]
    pub(super) fn nearest(self) -> (&'a Context, bool) {
        match self {
            Place::Node(context) => (context, false),
            Place::Part(part) => part.nearest(),
            Place::Limit(limit) => (limit.nearest(), false),
        }
    }

    /// A node around this place, perhaps not the innermost: for what the whole tree shares.
    #[inline]
    pub(super) fn in_tree(self) -> &'a Context {
        match self {
            Place::Node(context) => context,
            Place::Part(part) => part.nearest,
            Place::Limit(limit) => limit.outside(),
        }
    }

    /// The node of exactly this place, if it has one.
    pub(super) fn own_node(self) -> Option<&'a Context> {
        match self {
            Place::Node(context) => Some(context),
            Place::Part(part) => part.made.get().map(|inside| &**inside),
            Place::Limit(limit) => limit.own_node(),
        }
    }

    /// The node in which the fiber has waited, in its next turn.
    #[inline]
    pub(super) fn waited_in(self) -> &'a Context {
        match self {
            Place::Limit(limit) => limit.outside(),
            place => place.context(),
        }
    }

    /// The context around a limit that has waited without a node.
    #[inline]
    pub(super) fn resumed_limit(self) -> Option<&'a Context> {
        match self {
            Place::Limit(limit) => Some(limit.outside()),
            Place::Node(_) | Place::Part(_) => None,
        }
    }

    /// The node of the fiber, if it has one. The fiber may be in a part without a node.
    pub(super) fn node_of_fiber(self) -> Option<&'a Context> {
        let mut place = self;
        loop {
            place = match place {
                Place::Node(context) => return Some(context),
                Place::Limit(limit) => return Some(limit.nearest()),
                Place::Part(part) => match (part.made.get(), part.kind) {
                    (Some(inside), _) => return Some(inside),
                    (None, Kind::Structure { .. }) => part.outer,
                    (None, Kind::Fiber(_)) => return None,
                },
            }
        }
    }

    #[inline]
    pub(super) fn is_cancelled(self) -> bool {
        match self {
            Place::Node(context) => context.is_cancelled(),
            Place::Limit(limit) => limit.is_cancelled(),
            Place::Part(part) => {
                let (nearest, is_sheltered) = part.nearest();
                nearest.is_cancelled() && !is_sheltered
            }
        }
    }

    /// Whether the fiber has to end its work now. Only the fiber's own thread may call this.
    // Each bind asks, so what is inlined there is short.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn is_interrupted(self) -> bool {
        let may_be = match self {
            Place::Node(context) => context.is_cancelled(),
            Place::Part(part) => !part.made.count().is_still(part.seen) || part.nearest.is_cancelled(),
            Place::Limit(_) => true,
        };
        may_be && self.has_to_end()
    }

    #[inline(never)]
    fn has_to_end(self) -> bool {
        self.is_cancelled() && self.masks() <= self.masks_outside()
    }

    /// Whether it is in a side of a race.
    #[inline]
    pub(super) fn is_raced(self) -> bool {
        match self {
            Place::Node(context) => context.is_raced(),
            Place::Part(part) => part.is_raced,
            Place::Limit(limit) => limit.outside().is_raced(),
        }
    }

    /// Whether the fibers right inside are the sides of a race.
    #[inline]
    fn races(self) -> bool {
        match self {
            Place::Node(context) => context.races(),
            Place::Limit(_) => false,
            Place::Part(part) => matches!(part.kind, Kind::Structure { races: true, .. }),
        }
    }

    #[inline]
    pub(super) fn masks(self) -> u32 {
        match self {
            Place::Node(context) => context.masks(),
            Place::Limit(limit) => limit.outside().masks(),
            // Relaxed, here and below: only the fiber itself uses it, as with the masks of a context.
            Place::Part(part) => part.masks.load(Ordering::Relaxed),
        }
    }

    /// The number of masks that shield this place itself.
    #[inline]
    pub(super) fn masks_outside(self) -> u32 {
        match self {
            Place::Node(context) => context.masks_outside(),
            Place::Part(_) | Place::Limit(_) => 0,
        }
    }

    /// Sets the number of masks, and returns the previous one.
    #[inline]
    pub(super) fn set_masks(self, masks: u32) -> u32 {
        match self {
            Place::Node(context) => context.set_masks(masks),
            Place::Limit(limit) => limit.outside().set_masks(masks),
            Place::Part(part) => {
                let before = part.masks.load(Ordering::Relaxed);
                part.masks.store(masks, Ordering::Relaxed);
                before
            }
        }
    }

    /// The deadline, in the far future if there is none.
    #[inline]
    pub(super) fn deadline(self) -> Instant {
        match self {
            Place::Node(context) => context.deadline().unwrap_or(Instant::FAR_FUTURE),
            Place::Part(part) => part.deadline,
            Place::Limit(limit) => limit.deadline(),
        }
    }
}

/// Owns the node of a part of a fiber, from the moment when the node is made. Normally, the owner ends the node; if a
/// panic or a drop destroys the guard before that, the drop ends it.
#[derive(Debug)]
pub(crate) struct NodeGuard(Option<Context>);

impl NodeGuard {
    pub(crate) fn new(context: Context) -> Self {
        NodeGuard(Some(context))
    }

    /// Ends the node. Its work and its children have ended.
    pub(crate) fn end(mut self) {
        if let Some(context) = self.0.take() {
            context.end();
        }
    }

    /// Releases the node, which the caller has to end.
    pub(crate) fn into_context(mut self) -> Context {
        self.0.take().expect("a node does not end before its guard")
    }
}

impl Deref for NodeGuard {
    type Target = Context;

    fn deref(&self) -> &Context {
        self.0.as_ref().expect("a node does not end before its guard")
    }
}

impl Drop for NodeGuard {
    fn drop(&mut self) {
        if let Some(context) = self.0.take() {
            context.cancel();
            context.end();
        }
    }
}
