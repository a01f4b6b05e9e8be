//! A part of a fiber, or a whole fiber, that runs on the host's stack and has no node of the cancel tree yet.
//!
//! A timeout, or a branch that its owner runs itself, needs a node only when something in it waits, forks, or asks for its
//! [`Context`]. Until then it is a [`Part`] in the frame of the call that runs it. Parts link to the place around them:
//!
//! ```text
//!  Cx ──> Part (branch) ──> Part (zip) ──> Part (timeout) ──> Node: the context of the fiber that has the turn
//! ```
//!
//! Making the node of a part makes those around it first, so the parts that have nodes are always the outer ones.
//!
//! # Threads
//! The thread that runs the fiber makes nodes, and so does a thief that takes a lent branch: it makes those of the parts around
//! the branch. Everything that a thief looks at is `Sync`: constants, and the [`OnceLock`] of the node.

use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::{Context, Cx};
use crate::instant::Instant;

/// Where in the cancel tree a fiber runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    Node(&'a Context),
    Part(&'a Part<'a>),
}

/// Makes the node of a fiber that runs already, below the context around it.
pub(crate) type Make = fn(&Context, Option<Arc<str>>, &'static Location<'static>) -> Context;

/// See the head of the file.
pub(crate) struct Part<'a> {
    outer: Place<'a>,
    kind: Kind,
    name: Option<Arc<str>>,
    site: &'static Location<'static>,
    /// When it has to have ended, by a deadline of its own or around it.
    deadline: Instant,
    /// How many uncancelable regions the fiber has entered in it. Written by that fiber alone.
    masks: AtomicU32,
    made: OnceLock<NodeGuard>,
    /// The innermost node around it, and whether a cancellation of that one does not reach it. Both as of the count `seen`.
    nearest: &'a Context,
    is_sheltered: bool,
    nodes_made: &'a NodesMade,
    seen: u64,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Made by this operator of the fiber around it. `shielded`: a cancellation of that one does not reach it.
    Structure { operator: &'static str, shielded: bool },
    /// A fiber of its own.
    Fiber(Make),
}

impl<'a> Part<'a> {
    /// A part of the fiber of `cx`, made by `operator`, that has to have ended at `deadline`. In an uncancelable region it is
    /// shielded from a cancellation of the fiber.
    #[inline(always)]
    pub(crate) fn structure(
        cx: &Cx<'a>,
        operator: &'static str,
        deadline: Instant,
        name: Option<Arc<str>>,
        site: &'static Location<'static>,
    ) -> Self {
        Part::new(cx, Kind::Structure { operator, shielded: cx.is_masked() }, deadline, name, site)
    }

    /// A fiber below the place of `cx`, whose node is made by `make`.
    #[inline(always)]
    pub(crate) fn fiber(
        cx: &Cx<'a>,
        make: Make,
        name: Option<Arc<str>>,
        site: &'static Location<'static>,
    ) -> Self {
        Part::new(cx, Kind::Fiber(make), Instant::FAR_FUTURE, name, site)
    }

    // In the frame of the caller: a part is large, and is not to be moved.
    #[inline(always)]
    fn new(
        cx: &Cx<'a>,
        kind: Kind,
        deadline: Instant,
        name: Option<Arc<str>>,
        site: &'static Location<'static>,
    ) -> Self {
        let nodes_made = cx.nodes_made();
        // Before the look at the nodes: one that is made meanwhile is looked for again.
        let seen = nodes_made.settled();
        let outer = cx.place();
        let (nearest, outer_is_sheltered) = outer.nearest();
        let shielded = kind.is_shielded();
        // The deadline around it cancels what is around it, and so does not reach what is shielded.
        let deadline = if shielded { deadline } else { deadline.min(outer.deadline()) };
        let is_sheltered = shielded || outer_is_sheltered;
        let (masks, made) = (AtomicU32::new(0), OnceLock::new());
        Part { outer, kind, name, site, deadline, masks, made, nearest, is_sheltered, nodes_made, seen }
    }

    /// The node; made now, if there is none.
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
        self.nodes_made.begin();
        let made = self.made.get_or_init(|| {
            let name = self.name.clone();
            match self.kind {
                Kind::Structure { operator, shielded } => {
                    NodeGuard::new(outer.part(shielded, self.deadline, operator, name, self.site))
                }
                Kind::Fiber(make) => NodeGuard::new(make(outer, name, self.site)),
            }
        });
        self.nodes_made.end();
        made
    }

    /// Leaves the part. Gives its node, if it has one, to go on in.
    #[inline]
    pub(crate) fn leave(&mut self) -> Option<NodeGuard> {
        let inside = self.made.take()?;
        inside.set_masks(*self.masks.get_mut());
        Some(inside)
    }

    /// Leaves the part. Gives its node, to go on in.
    #[cold]
    pub(crate) fn into_inside(mut self) -> NodeGuard {
        self.context();
        self.leave().expect("it was made above")
    }

    /// The innermost node that there is, and whether a cancellation of that one does not reach the part.
    #[inline]
    fn nearest(&self) -> (&Context, bool) {
        if self.nodes_made.is_still(self.seen) { (self.nearest, self.is_sheltered) } else { self.look() }
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
            };
        }
    }
}

impl Kind {
    fn is_shielded(self) -> bool {
        matches!(self, Kind::Structure { shielded: true, .. })
    }
}

impl<'a> Place<'a> {
    #[inline]
    pub(super) fn context(self) -> &'a Context {
        match self {
            Place::Node(context) => context,
            Place::Part(part) => part.context(),
        }
    }

    /// The innermost node that there is, and whether a cancellation of that one does not reach here. Nobody can cancel a part
    /// that has no node in any other way.
    #[inline]
    pub(super) fn nearest(self) -> (&'a Context, bool) {
        match self {
            Place::Node(context) => (context, false),
            Place::Part(part) => part.nearest(),
        }
    }

    /// The node of exactly this place, if there is one.
    pub(super) fn own_node(self) -> Option<&'a Context> {
        match self {
            Place::Node(context) => Some(context),
            Place::Part(part) => part.made.get().map(|inside| &**inside),
        }
    }

    /// The node of the fiber, if it has one. It may be in a part of itself that has none.
    pub(super) fn node_of_fiber(self) -> Option<&'a Context> {
        let mut place = self;
        loop {
            place = match place {
                Place::Node(context) => return Some(context),
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
        let (nearest, is_sheltered) = self.nearest();
        nearest.is_cancelled() && !is_sheltered
    }

    /// Whether the fiber has to end its work now. For its own thread.
    #[inline]
    pub(super) fn is_interrupted(self) -> bool {
        self.is_cancelled() && self.masks() <= self.masks_outside()
    }

    #[inline]
    pub(super) fn masks(self) -> u32 {
        match self {
            Place::Node(context) => context.masks(),
            // Relaxed, here and below: the fiber's own, as those of a context are.
            Place::Part(part) => part.masks.load(Ordering::Relaxed),
        }
    }

    /// How many of the masks shield the place itself.
    #[inline]
    pub(super) fn masks_outside(self) -> u32 {
        match self {
            Place::Node(context) => context.masks_outside(),
            Place::Part(_) => 0,
        }
    }

    /// Returns how many there were before.
    #[inline]
    pub(super) fn set_masks(self, masks: u32) -> u32 {
        match self {
            Place::Node(context) => context.set_masks(masks),
            Place::Part(part) => {
                let before = part.masks.load(Ordering::Relaxed);
                part.masks.store(masks, Ordering::Relaxed);
                before
            }
        }
    }

    /// In the far future, if there is none.
    #[inline]
    pub(super) fn deadline(self) -> Instant {
        match self {
            Place::Node(context) => context.deadline().unwrap_or(Instant::FAR_FUTURE),
            Place::Part(part) => part.deadline,
        }
    }
}

/// Counts the nodes of parts that were made in a turn: begun in the upper half, ended in the lower.
///
/// A part that was opened at a count which still holds sees no other nodes around it than it saw then.
///
/// | halves | |
/// |---|---|
/// | equal | no node is being made |
/// | different | one may be there already, or not yet |
#[derive(Debug, Default)]
pub(crate) struct NodesMade(AtomicU64);

impl NodesMade {
    const BEGUN: u64 = 1 << 32;
    const ENDED: u64 = 1;
    /// A count that never is: more nodes have ended than have begun.
    const NEVER: u64 = Self::ENDED;

    fn begin(&self) {
        // Relaxed: comes before the node is published by its `OnceLock`, so whoever knows the node finds another count here.
        self.0.fetch_add(Self::BEGUN, Ordering::Relaxed);
    }

    fn end(&self) {
        // Release: pairs with `settled`. A part that is opened at the new count finds the node.
        self.0.fetch_add(Self::ENDED, Ordering::Release);
    }

    /// The count, if no node is being made.
    #[inline]
    fn settled(&self) -> u64 {
        // Acquire: pairs with `end`.
        let count = self.0.load(Ordering::Acquire);
        if count >> 32 == count & (Self::BEGUN - 1) { count } else { Self::NEVER }
    }

    #[inline]
    fn is_still(&self, seen: u64) -> bool {
        // Relaxed: see `begin`.
        self.0.load(Ordering::Relaxed) == seen
    }
}

/// The node of a part of a fiber. It is ended by its owner: in order, or, when what holds this is torn apart or dropped, by
/// the drop. So it has an owner from the moment when it is made.
#[derive(Debug)]
pub(crate) struct NodeGuard(Option<Context>);

impl NodeGuard {
    pub(crate) fn new(context: Context) -> Self {
        NodeGuard(Some(context))
    }

    /// The node's work and its children are over.
    pub(crate) fn end(mut self) {
        if let Some(context) = self.0.take() {
            context.end();
        }
    }

    /// The node, whose end is somebody else's task from now on.
    pub(crate) fn into_context(mut self) -> Context {
        self.0.take().expect("a node has not ended before its owner says so")
    }
}

impl Deref for NodeGuard {
    type Target = Context;

    fn deref(&self) -> &Context {
        self.0.as_ref().expect("a node has not ended before its owner says so")
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

impl fmt::Debug for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.made.get() {
            Some(inside) => inside.fmt(f),
            None => write!(f, "a part of {}", self.nearest().0),
        }
    }
}
