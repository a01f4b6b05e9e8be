//! What has arrived when the time is up: `parallel(..).within(..)` and `first_successes(..).within(..)`.
//!
//! A fiber that succeeds while its time limit cancels it has succeeded. So the operator does just that: when its branches have ended, and the
//! time is up, it gives the values that have arrived. After any other cancellation it ends as cancelled, and drops them.

use std::time::Duration;

use crate::combine::region::body::Passed;
use crate::combine::region::timeout::run_limited;
use crate::engine::context::{Context, Cx};
use crate::engine::step::{Run, Step};
use crate::error::{Frame, Site};
use crate::panic::Panic;

const OPERATOR: &str = "within";

/// The description of [`Fiber::within`](crate::Fiber::within).
#[derive(Clone, Debug)]
pub struct Within<P> {
    branches: P,
    limit: Duration,
    site: Site,
}

impl<P> Within<P> {
    pub(super) fn new(branches: P, limit: Duration, site: Site) -> Self {
        Within { branches, limit, site }
    }
}

impl<P: Run> Run for Within<P> {
    type Out = P::Out;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, P::Out> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let end = Passed(Frame::new(OPERATOR, self.site));
        run_limited(cx, &OPERATOR, self.branches, self.limit, end, self.site)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.branches.discard(torn);
    }
}

/// Whether the time of the branches in a [`Within`] is up. A region whose time is up has a node.
pub(super) fn is_cut_off(cx: &Cx<'_>) -> bool {
    cx.own_node().is_some_and(Context::is_timed_out)
}
