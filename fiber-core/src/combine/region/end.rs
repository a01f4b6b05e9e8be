//! The step from a node of a fiber back to the node around it.

use crate::engine::context::{Context, Cx, NodeGuard};
use crate::engine::frames::{Frame, Left, Visit};
use crate::outcome::Outcome;

/// Translates the end of a region into the outcome for the fiber around it.
pub trait RegionEnd<T>: Send + 'static {
    type Out: Send + 'static;
    /// `None`: the time limit of the region has passed.
    fn conclude(self, cx: &Cx<'_>, ended: Option<Outcome<T>>) -> Outcome<Self::Out>;
}

/// The outcome of a region, unless its timer cancelled it.
pub(super) fn in_time<T>(inside: &Context, outcome: Outcome<T>) -> Option<Outcome<T>> {
    (!outcome.is_cancelled() || !inside.is_timed_out()).then_some(outcome)
}

/// The frame of a region whose children are awaited.
pub(crate) struct Last<T, E> {
    pub(crate) place: Inside,
    pub(crate) end: E,
    pub(crate) outcome: Outcome<T>,
}

/// Where a region waits, and where the fiber continues after it.
pub(crate) struct Inside {
    pub(crate) inside: NodeGuard,
    pub(super) outside: Context,
    /// The masks outside.
    pub(super) masks: u32,
}

impl Inside {
    pub(crate) fn new(cx: &Cx<'_>, inside: NodeGuard) -> Self {
        Inside { inside, outside: cx.context().clone(), masks: cx.masks() }
    }

    /// Switches from inside back to outside. The work of the region and its children have ended.
    pub(crate) fn conclude<T: Send + 'static, E: RegionEnd<T>>(
        self,
        cx: &Cx<'_>,
        end: E,
        outcome: Outcome<T>,
    ) -> Left {
        let Inside { inside, outside, .. } = self;
        let ended = in_time(&inside, outcome);
        inside.end();
        let outcome = {
            let _current = outside.set_current();
            end.conclude(&cx.enter(&outside), ended)
        };
        cx.leave_to(outside, outcome)
    }

    pub(crate) fn visit(&mut self, visit: &mut Visit<'_>) {
        match visit {
            Visit::Parts(found) => {
                found.clear();
                found.push(Context::clone(&self.inside));
            }
            Visit::Forks(_) | Visit::Home(_) => {}
            Visit::Move { from, to, .. } => {
                if self.outside.is_same(from) {
                    self.outside = Context::clone(to);
                }
            }
            Visit::Undo(cx) => _ = cx.set_masks(self.masks),
        }
    }
}

impl<T: Send + 'static, E: RegionEnd<T>> Frame<()> for Last<T, E> {
    type Out = E::Out;
    const VISITS: bool = true;

    fn resume(self, cx: &Cx<'_>, _: Outcome<()>) -> Left {
        self.place.conclude(cx, self.end, self.outcome)
    }

    fn visit(&mut self, visit: &mut Visit<'_>) {
        self.place.visit(visit);
    }
}
