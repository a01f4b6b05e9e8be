use std::panic::Location;

use super::failures::Failures;
use super::pair::{Ended, Joined, Joint, run_pair};
use crate::combine::region::group::Group;
use crate::engine::context::Cx;
use crate::engine::step::{Run, Step};
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::outcome::{Outcome, Panic};

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Runs both fibers in parallel, and gives both values.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let both = Fiber::lazy(|| 1).zip(Fiber::lazy(|| "one"));
    /// assert_eq!(fiber_sched::run(both).unwrap(), (1, "one"));
    /// ```
    ///
    /// # Errors
    /// The first failure. The other side is then cancelled and awaited, and its failure is suppressed into the first.
    ///
    /// # Cancellation
    /// Both sides are cancelled and awaited.
    #[track_caller]
    pub fn zip<U, S>(self, other: Fiber<U, S>) -> Fiber<(T, U), Zip<R, S>>
    where
        U: Send + 'static,
        S: Run<Out = U>,
    {
        let site = Location::caller();
        Fiber::new(Zip { left: self.into_run(), right: other.into_run(), site })
    }
}

/// The description of [`Fiber::zip`].
#[derive(Clone, Debug)]
pub struct Zip<R, S> {
    left: R,
    right: S,
    site: Site,
}

impl<R: Run, S: Run> Run for Zip<R, S> {
    type Out = (R::Out, S::Out);
    type Suspension = Group<Joined<R::Out, S::Out, Both>>;

    fn run(self, cx: &Cx<'_>) -> Step<Self::Out, Self::Suspension> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        run_pair(cx, self.left, self.right, Both(self.site), self.site)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.left.discard(torn);
        self.right.discard(torn);
    }
}

/// Combines the two values.
#[derive(Clone, Copy, Debug)]
pub struct Both(Site);

impl<A: Send + 'static, B: Send + 'static> Joint<A, B> for Both {
    const NAME: &'static str = "zip";
    type Out = (A, B);

    fn decides<T>(outcome: &Outcome<T>) -> bool {
        !outcome.is_success()
    }

    fn conclude(self, cx: &Cx<'_>, ended: Ended<A, B>) -> Outcome<(A, B)> {
        let (left, right) = match (ended.left, ended.right) {
            (Outcome::Success(left), Outcome::Success(right)) => return Outcome::Success((left, right)),
            others => others,
        };
        let mut failure = Failures::default();
        let (left, right) = if ended.right_was_first {
            let right = failure.sift(cx, right);
            (failure.sift(cx, left), right)
        } else {
            (failure.sift(cx, left), failure.sift(cx, right))
        };
        let failure = failure.into_outcome::<(A, B)>();
        failure.without(left, cx).without(right, cx).passed(Frame::new(<Self as Joint<A, B>>::NAME, self.0))
    }
}
