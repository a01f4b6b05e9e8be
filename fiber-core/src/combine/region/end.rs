//! The step from a node of a fiber back to the node around it.

use crate::engine::context::{Context, Cx, NodeGuard};
use crate::engine::step::Callback;
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

/// The callback of a region whose work and children have ended.
pub(super) struct Leave<E, C> {
    inside: NodeGuard,
    outside: Context,
    end: E,
    callback: C,
}

impl<E, C> Leave<E, C> {
    /// Switches from `inside` back to the context of `cx`.
    pub(super) fn to(cx: &Cx<'_>, inside: NodeGuard, end: E, callback: C) -> Self {
        Leave { inside, outside: cx.context().clone(), end, callback }
    }
}

impl<T: Send + 'static, E: RegionEnd<T>, C: Callback<E::Out>> Callback<T> for Leave<E, C> {
    fn resume(self, cx: &Cx<'_>, outcome: Outcome<T>) {
        let Leave { inside, outside, end, callback } = self;
        let ended = in_time(&inside, outcome);
        inside.end();
        let cx = &cx.enter(&outside);
        outside.run_as(|| {
            let outcome = end.conclude(cx, ended);
            callback.resume(cx, outcome);
        });
    }
}
