use std::panic::Location;

use super::failures::Failures;
use super::pair::{Ended, Joint, Pair};
use crate::engine::context::Cx;
use crate::engine::step::Run;
use crate::error::Frame;
use crate::fiber::Fiber;
use crate::outcome::Outcome;

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Runs both fibers in parallel, and gives both values.
    ///
    /// Each side is a branch, which ends with its value; what it has [forked](Fiber::fork) is then cancelled. To start two
    /// fibers and keep their handles, fork them one after the other, and zip the handles: `a.join().zip(b.join())`.
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
    #[doc(alias("join", "both"))]
    #[track_caller]
    pub fn zip<U, S>(self, other: Fiber<U, S>) -> Fiber<(T, U), Zip<R, S>>
    where
        U: Send + 'static,
        S: Run<Out = U>,
    {
        Fiber::new(Pair::new(self, other, Both, Location::caller()))
    }
}

/// The description of [`Fiber::zip`].
pub(crate) type Zip<R, S> = Pair<R, S, Both>;

/// Combines the two values.
#[derive(Clone, Copy, Debug)]
pub struct Both;

impl<A: Send + 'static, B: Send + 'static> Joint<A, B> for Both {
    const NAME: &'static str = "zip";
    const NAMES_LAST: bool = false;
    type Out = (A, B);

    fn decides<T>(outcome: &Outcome<T>) -> bool {
        !outcome.is_success()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn conclude(self, cx: &Cx<'_>, ended: Ended<A, B>, frame: Frame) -> Outcome<(A, B)> {
        match ended {
            Ended { left: Outcome::Success(left), right: Outcome::Success(right), .. } => {
                Outcome::Success((left, right))
            }
            ended => fail(cx, ended, frame),
        }
    }
}

/// The failures together, in the order in which the branches ended.
#[cold]
fn fail<A: Send + 'static, B: Send + 'static>(
    cx: &Cx<'_>,
    ended: Ended<A, B>,
    frame: Frame,
) -> Outcome<(A, B)> {
    let Ended { left, right, right_was_first, .. } = ended;
    let mut failure = Failures::default();
    let (left, right) = if right_was_first {
        let right = failure.sift(cx, right);
        (failure.sift(cx, left), right)
    } else {
        (failure.sift(cx, left), failure.sift(cx, right))
    };
    let failure = failure.into_outcome::<(A, B)>();
    failure.without(left, cx).without(right, cx).passed(frame)
}
