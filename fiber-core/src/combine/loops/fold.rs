use std::ops::ControlFlow;

use super::iterate::{Loop, Rounds};
use crate::engine::context::Cx;
use crate::engine::step::Run;
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::{Panic, discard_part};

impl<S: Send + 'static> Fiber<S> {
    /// Runs the fiber that `f` makes of the state and the next item, one after the other; each gives the next state.
    ///
    /// ```
    /// use fiber_core::Fiber;
    ///
    /// let total = Fiber::fold([3, 4, 5], 100, |account, price| Fiber::lazy(move || account - price));
    /// assert_eq!(fiber_sched::run(total).unwrap(), 88);
    /// ```
    ///
    /// # Errors
    /// The first failure ends the loop.
    ///
    /// # Panics
    /// A panic of `f` or of the iterator becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// A cancellation is noticed before the next item is pulled, and where the fiber of an item starts or waits.
    #[track_caller]
    pub fn fold<I, R, F>(items: I, start: S, f: F) -> Fiber<S, Fold<I::IntoIter, S, F>>
    where
        I: IntoIterator,
        I::IntoIter: Send + 'static,
        R: Run<Out = S>,
        F: FnMut(S, I::Item) -> Fiber<S, R> + Send + 'static,
    {
        Fiber::new(Loop::new(FoldRounds { items: items.into_iter(), start: Some(start), f }))
    }
}

/// The description of [`Fiber::fold`].
pub(crate) type Fold<I, S, F> = Loop<FoldRounds<I, S, F>>;

/// The rounds of [`Fiber::fold`].
#[derive(Clone, Debug)]
pub struct FoldRounds<I, S, F> {
    items: I,
    start: Option<S>,
    f: F,
}

impl<I, S, R, F> Rounds for FoldRounds<I, S, F>
where
    I: Iterator + Send + 'static,
    S: Send + 'static,
    R: Run<Out = S>,
    F: FnMut(S, I::Item) -> Fiber<S, R> + Send + 'static,
{
    type Carry = S;
    type Out = S;
    type Round = R;
    const NAME: &'static str = "fold";
    const NEXT_MAY_END: bool = true;

    #[inline]
    fn carry(outcome: Outcome<S>) -> Result<S, Outcome<S>> {
        outcome.split()
    }

    fn next(&mut self, cx: &Cx<'_>, last: Option<S>) -> ControlFlow<Outcome<S>, R> {
        if cx.is_interrupted() {
            // A check of its own, before an item is pulled, and because the rounds may all be uncancelable.
            return ControlFlow::Break(Outcome::Cancelled);
        }
        let state = last.unwrap_or_else(|| self.start.take().expect("a loop starts once"));
        match self.items.next() {
            Some(item) => ControlFlow::Continue((self.f)(state, item).into_run()),
            None => ControlFlow::Break(Outcome::Success(state)),
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self.items, torn);
        discard_part(self.start, torn);
        discard_part(self.f, torn);
    }
}
