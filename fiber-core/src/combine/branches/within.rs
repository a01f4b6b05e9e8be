//! What has arrived when the time is up: `parallel(..).within(..)` and `first_successes(..).within(..)`.
//!
//! A time limit drops the outcome of what it cancels. So the operator leaves its values in a place that it shares with the limit,
//! also if it ends as cancelled. The limit takes them if the operator has succeeded, or if its time is up. After any other
//! cancellation they are dropped.

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

/// An operator that can leave its values instead of giving them.
pub trait Leaves: Run {
    /// A value with what the user has to know about it.
    type Given: Send + 'static;

    /// Runs, and leaves there, if anywhere, all values if it succeeds, or what has arrived if it ends as cancelled.
    fn run_leaving<'s>(self, cx: &'s Cx<'_>, left: Option<Arc<Left<Self::Given>>>) -> Step<'s, Self::Out>;
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
    left: Arc<Left<P::Given>>,
}

impl<P: Leaves> Run for Leaving<P> {
    type Out = P::Out;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        self.branches.run_leaving(cx, Some(self.left))
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.branches.discard(torn);
    }
}

/// What has arrived at an operator that has succeeded, or has ended as cancelled.
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
    left: Arc<Left<P::Given>>,
    site: Site,
}

impl<P: Leaves> RegionEnd<P::Out> for Partial<P> {
    type Out = Vec<P::Given>;

    fn conclude(self, cx: &Cx<'_>, ended: Option<Outcome<P::Out>>) -> Outcome<Self::Out> {
        let left = self.left.take();
        match ended.and_then(|ended| ended.split().err()) {
            None => Outcome::Success(left),
            Some(wrong) => {
                let wrong: Outcome<Self::Out> = wrong.without_parts(left, discard_each, cx);
                wrong.passed(Frame::new(OPERATOR, self.site))
            }
        }
    }
}
