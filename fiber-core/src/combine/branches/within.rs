//! What has arrived when the time is up: `parallel(..).within(..)` and `first_successes(..).within(..)`.
//!
//! A time limit drops the outcome of what it cancels. So the operator leaves its values in a place that it shares with the limit,
//! and ends as cancelled. The limit takes them if its time is up. After any other cancellation they are dropped.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::combine::region::end::RegionEnd;
use crate::combine::region::timeout::run_limited;
use crate::engine::context::Cx;
use crate::engine::step::{Run, Step};
use crate::error::{Frame, Site};
use crate::outcome::Outcome;
use crate::panic::{Panic, discard_part};

const OPERATOR: &str = "within";

/// The description of [`Fiber::within`](crate::Fiber::within).
#[derive(Clone, Debug)]
pub struct Within<P> {
    branches: P,
    limit: Duration,
    site: Site,
}

/// An operator that leaves what has arrived if it is cancelled.
pub trait Leaves: Run<Out = Vec<Self::Value>> {
    /// What each branch gives.
    type Value: Send + 'static;
    /// What is left for each branch.
    type Left: Send + 'static;
    /// The value with what the user has to know about it.
    type Given: Send + 'static;

    /// Runs, and leaves there, if anywhere, what has arrived if it ends as cancelled.
    fn run_leaving<'s>(self, cx: &'s Cx<'_>, left: Option<Arc<Left<Self::Left>>>) -> Step<'s, Self::Out>;

    /// All values.
    fn all(values: Vec<Self::Value>) -> Vec<Self::Given>;

    /// Those that have arrived.
    fn arrived(left: Vec<Self::Left>) -> Vec<Self::Given>;
}

impl<P> Within<P> {
    pub(super) fn new(branches: P, limit: Duration, site: Site) -> Self {
        Within { branches, limit, site }
    }
}

impl<P: Leaves> Run for Within<P> {
    type Out = Vec<P::Given>;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let Within { branches, limit, site } = self;
        let left = Arc::new(Left(Mutex::default()));
        let end = Partial::<P> { left: left.clone(), site };
        run_limited(cx, &OPERATOR, Leaving { branches, left }, limit, end, site)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.branches.discard(torn);
    }
}

struct Leaving<P: Leaves> {
    branches: P,
    left: Arc<Left<P::Left>>,
}

impl<P: Leaves> Run for Leaving<P> {
    type Out = Vec<P::Value>;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        self.branches.run_leaving(cx, Some(self.left))
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.branches.discard(torn);
    }
}

/// What has arrived at an operator that has ended as cancelled.
#[derive(Debug)]
pub struct Left<V>(Mutex<Vec<V>>);

impl<V> Left<V> {
    pub(super) fn leave(&self, values: Vec<V>) {
        *self.0.lock() = values;
    }

    fn take(&self) -> Vec<V> {
        std::mem::take(&mut self.0.lock())
    }
}

impl<V> Drop for Left<V> {
    /// Values are left if the scheduler has dropped the fiber.
    fn drop(&mut self) {
        let mut torn = Vec::new();
        discard_each(std::mem::take(self.0.get_mut()), &mut torn);
        Panic::rethrow(torn);
    }
}

/// Drops one value after the other, because each drop may panic.
fn discard_each<V>(values: Vec<V>, torn: &mut Vec<Panic>) {
    values.into_iter().for_each(|value| discard_part(value, torn));
}

/// Gives all values, or those that have arrived when the time is up.
struct Partial<P: Leaves> {
    left: Arc<Left<P::Left>>,
    site: Site,
}

impl<P: Leaves> RegionEnd<Vec<P::Value>> for Partial<P> {
    type Out = Vec<P::Given>;

    fn conclude(self, cx: &Cx<'_>, ended: Option<Outcome<Vec<P::Value>>>) -> Outcome<Self::Out> {
        let left = self.left.take();
        match ended {
            None => Outcome::Success(P::arrived(left)),
            Some(ended) => {
                let outcome = ended.map(P::all).without_parts(left, discard_each, cx);
                outcome.passed(Frame::new(OPERATOR, self.site))
            }
        }
    }
}
