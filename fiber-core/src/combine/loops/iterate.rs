//! Loops without recursion: [`Loop`] runs [`Rounds`], the part in which loops differ.

use std::ops::ControlFlow;
use std::panic::Location;

use crate::engine::context::Cx;
use crate::engine::scheduler::SwitchPoint;
use crate::engine::step::{Follow, Run, RunAgain, Step, room_with};
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::{Panic, discard_part, guard};

impl<T: Send + 'static> Fiber<T> {
    /// A loop with state: runs the fiber that `f` makes of the state, until a fiber gives `Break` with the value of the
    /// loop. The loop uses no stack and, while its fibers do not wait, no heap.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use std::ops::ControlFlow;
    ///
    /// let sum = Fiber::iterate((0u64, 0u64), |(n, sum)| {
    ///     Fiber::success(if n > 100 { ControlFlow::Break(sum) } else { ControlFlow::Continue((n + 1, sum + n)) })
    /// });
    /// assert_eq!(fiber_sched::run(sum).unwrap(), 5050);
    /// ```
    ///
    /// # Errors
    /// The first failure of a round ends the loop.
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// A cancellation is noticed where the fiber of a round starts or waits.
    #[track_caller]
    pub fn iterate<S, R, F>(state: S, f: F) -> Fiber<T, Iterate<S, F>>
    where
        S: Send + 'static,
        R: Run<Out = ControlFlow<T, S>>,
        F: FnMut(S) -> Fiber<ControlFlow<T, S>, R> + Send + 'static,
    {
        Fiber::iterate_at(Location::caller(), state, f)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(crate) fn iterate_at<S, R, F>(site: Site, state: S, f: F) -> Fiber<T, Iterate<S, F>>
    where
        S: Send + 'static,
        R: Run<Out = ControlFlow<T, S>>,
        F: FnMut(S) -> Fiber<ControlFlow<T, S>, R> + Send + 'static,
    {
        Fiber::new(Loop::at(site, IterateRounds { start: Some(state), f }))
    }
}

impl Fiber<()> {
    /// Runs the fiber that `f` makes of each item, one after the other. See [`parallel`](Fiber::parallel) for several
    /// at a time.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let lines = Fiber::for_each(1..=3, |n| Fiber::lazy(move || println!("line {n}")));
    /// assert!(fiber_sched::run(lines).is_success());
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
    pub fn for_each<I, R, F>(items: I, f: F) -> Fiber<(), ForEach<I::IntoIter, F>>
    where
        I: IntoIterator,
        I::IntoIter: Send + 'static,
        R: Run<Out = ()>,
        F: FnMut(I::Item) -> Fiber<(), R> + Send + 'static,
    {
        Fiber::new(Loop::new(ForEachRounds { items: items.into_iter(), f }))
    }
}

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Repeats this fiber while its value satisfies `condition`. Gives the first value that does not.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
    ///
    /// let counter = Arc::new(AtomicU32::new(0));
    /// let fiber = Fiber::lazy(move || counter.fetch_add(1, Ordering::Relaxed)).repeat_while(|&n| n < 5);
    /// assert_eq!(fiber_sched::run(fiber).unwrap(), 5);
    /// ```
    ///
    /// # Errors
    /// The first failure ends the loop.
    ///
    /// # Panics
    /// A panic of `condition` becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// A cancellation is noticed before the next round, and where the fiber starts or waits.
    #[track_caller]
    pub fn repeat_while<F>(self, condition: F) -> Fiber<T, RepeatWhile<R, F>>
    where
        R: RunAgain,
        F: FnMut(&T) -> bool + Send + 'static,
    {
        Fiber::new(Loop::new(RepeatWhileRounds { fiber: self.into_run(), condition }))
    }
}

/// The description of [`Fiber::iterate`].
pub(crate) type Iterate<S, F> = Loop<IterateRounds<S, F>>;
/// The description of [`Fiber::for_each`].
pub(crate) type ForEach<I, F> = Loop<ForEachRounds<I, F>>;
/// The description of [`Fiber::repeat_while`].
pub(crate) type RepeatWhile<R, F> = Loop<RepeatWhileRounds<R, F>>;

/// The source of a loop's rounds.
pub trait Rounds: Send + 'static + Sized {
    /// The state that a round leaves for the next one.
    type Carry: Send + 'static;
    /// The value of the loop.
    type Out: Send + 'static;
    /// One round.
    type Round: Run;
    /// The loop's name in a trace.
    const NAME: &'static str;
    /// Whether only `next` knows if there is another round. In that case, the loop calls `next` before the scheduling
    /// point between two rounds, so that no scheduling point follows the last round.
    const NEXT_MAY_END: bool = false;

    /// The state for the next round, if there may be one after `outcome`. Never unwinds.
    ///
    /// # Errors
    /// The outcome of the loop, if it ends here.
    fn carry(outcome: Outcome<ValueOf<Self>>) -> Result<Self::Carry, Outcome<Self::Out>>;

    /// The next round, or the end. `last` is the state that the previous round left. May panic.
    fn next(
        &mut self,
        cx: &Cx<'_>,
        last: Option<Self::Carry>,
    ) -> ControlFlow<Outcome<Self::Out>, Self::Round>;

    /// Drops the source when there are no more rounds; see [`Run::discard`].
    fn discard(self, torn: &mut Vec<Panic>);
}

/// The value of one round.
type ValueOf<L> = <<L as Rounds>::Round as Run>::Out;

/// Runs rounds until there are none left.
#[derive(Clone, Debug)]
pub struct Loop<L> {
    rounds: L,
    site: Site,
}

impl<L> Loop<L> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub(crate) fn new(rounds: L) -> Self {
        Loop::at(Location::caller(), rounds)
    }

    /// For combinators built on a loop: `site` is the place where the user calls them.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn at(site: Site, rounds: L) -> Self {
        Loop { rounds, site }
    }
}

type LoopStep<'s, L> = Step<'s, <L as Rounds>::Out>;

impl<L: Rounds> Loop<L> {
    fn turn<'s>(mut self, cx: &'s Cx<'_>, mut from: Paused<L>) -> LoopStep<'s, L> {
        let mut is_first = matches!(from, Paused::After(None));
        loop {
            let round = match from {
                Paused::Made(round) => round,
                Paused::After(last) => match self.next(cx, last) {
                    Ok(round) if !L::NEXT_MAY_END || is_first || self.spend(cx) => round,
                    Ok(round) => return self.pause(cx, Paused::Made(round)),
                    Err(end) => return Step::Done(self.end(cx, end)),
                },
            };
            is_first = false;
            let outcome = match round.run(cx) {
                Step::Done(outcome) => outcome,
                Step::Wait(round) => return Step::Wait(round.then(cx, self)),
            };
            from = match L::carry(outcome) {
                Ok(carry) if L::NEXT_MAY_END || self.spend(cx) => Paused::After(Some(carry)),
                Ok(carry) => return self.pause(cx, Paused::After(Some(carry))),
                Err(end) => return Step::Done(self.end(cx, end)),
            };
        }
    }

    #[cold]
    fn pause<'s>(self, cx: &'s Cx<'_>, paused: Paused<L>) -> LoopStep<'s, L> {
        Step::Wait(cx.yields().then(cx, Later(self, paused)))
    }

    /// The next round, or the outcome of the loop.
    #[inline]
    fn next(&mut self, cx: &Cx<'_>, last: Option<L::Carry>) -> Result<L::Round, Outcome<L::Out>> {
        match guard(|| self.rounds.next(cx, last)) {
            Ok(ControlFlow::Continue(round)) => Ok(round),
            Ok(ControlFlow::Break(outcome)) => Err(outcome),
            Err(panic) => Err(Outcome::Panicked(panic)),
        }
    }

    /// Ends the loop, and drops the source of rounds.
    fn end(self, cx: &Cx<'_>, outcome: Outcome<L::Out>) -> Outcome<L::Out> {
        let frame = self.frame();
        outcome.without_parts(self.rounds, L::discard, cx).passed(frame)
    }

    fn spend(&self, cx: &Cx<'_>) -> bool {
        cx.spend() || cx.ask(SwitchPoint::Bind(self.frame()))
    }

    fn frame(&self) -> Frame {
        Frame::new(L::NAME, self.site)
    }
}

impl<L: Rounds> Run for Loop<L> {
    type Out = L::Out;
    const ROOM: usize = room_with::<Self>(L::Round::ROOM);

    fn run<'s>(self, cx: &'s Cx<'_>) -> LoopStep<'s, L> {
        self.turn(cx, Paused::After(None))
    }

    fn is_program(&self) -> bool {
        true
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.rounds.discard(torn);
    }
}

/// How a paused loop continues.
#[derive(Debug)]
pub(crate) enum Paused<L: Rounds> {
    /// With `next`, and the state that the last round left, if there was one.
    After(Option<L::Carry>),
    /// With this round, which was made before the pause.
    Made(L::Round),
}

/// A loop between two rounds, whose budget is used up.
struct Later<L: Rounds>(Loop<L>, Paused<L>);

impl<L: Rounds> Follow<()> for Later<L> {
    type Out = L::Out;

    fn follow<'s>(self, cx: &'s Cx<'_>, _: Outcome<()>) -> LoopStep<'s, L> {
        self.0.turn(cx, self.1)
    }
}

/// The loop after a round that had to wait.
impl<L: Rounds> Follow<ValueOf<L>> for Loop<L> {
    type Out = L::Out;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<ValueOf<L>>) -> LoopStep<'s, L> {
        match L::carry(outcome) {
            Err(end) => Step::Done(self.end(cx, end)),
            Ok(last) if L::NEXT_MAY_END || self.spend(cx) => self.turn(cx, Paused::After(Some(last))),
            Ok(last) => self.pause(cx, Paused::After(Some(last))),
        }
    }
}

/// The rounds of [`Fiber::iterate`].
#[derive(Clone, Debug)]
pub struct IterateRounds<S, F> {
    start: Option<S>,
    f: F,
}

impl<T, S, R, F> Rounds for IterateRounds<S, F>
where
    T: Send + 'static,
    S: Send + 'static,
    R: Run<Out = ControlFlow<T, S>>,
    F: FnMut(S) -> Fiber<ControlFlow<T, S>, R> + Send + 'static,
{
    type Carry = S;
    type Out = T;
    type Round = R;
    const NAME: &'static str = "iterate";

    #[inline]
    fn carry(outcome: Outcome<ControlFlow<T, S>>) -> Result<S, Outcome<T>> {
        match outcome.split()? {
            ControlFlow::Continue(state) => Ok(state),
            ControlFlow::Break(value) => Err(Outcome::Success(value)),
        }
    }

    fn next(&mut self, _: &Cx<'_>, last: Option<S>) -> ControlFlow<Outcome<T>, R> {
        let state = last.unwrap_or_else(|| self.start.take().expect("a loop starts once"));
        ControlFlow::Continue((self.f)(state).into_run())
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self.start, torn);
        discard_part(self.f, torn);
    }
}

/// The rounds of [`Fiber::for_each`].
#[derive(Clone, Debug)]
pub struct ForEachRounds<I, F> {
    items: I,
    f: F,
}

impl<I, R, F> Rounds for ForEachRounds<I, F>
where
    I: Iterator + Send + 'static,
    R: Run<Out = ()>,
    F: FnMut(I::Item) -> Fiber<(), R> + Send + 'static,
{
    type Carry = ();
    type Out = ();
    type Round = R;
    const NAME: &'static str = "for_each";
    const NEXT_MAY_END: bool = true;

    #[inline]
    fn carry(outcome: Outcome<()>) -> Result<(), Outcome<()>> {
        outcome.split()
    }

    fn next(&mut self, cx: &Cx<'_>, _: Option<()>) -> ControlFlow<Outcome<()>, R> {
        if cx.is_interrupted() {
            // A check of its own, before an item is pulled, and because the rounds may all be uncancelable.
            return ControlFlow::Break(Outcome::Cancelled);
        }
        match self.items.next() {
            Some(item) => ControlFlow::Continue((self.f)(item).into_run()),
            None => ControlFlow::Break(Outcome::Success(())),
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self.items, torn);
        discard_part(self.f, torn);
    }
}

/// The rounds of [`Fiber::repeat_while`].
#[derive(Clone, Debug)]
pub struct RepeatWhileRounds<R, F> {
    fiber: R,
    condition: F,
}

impl<R, F> Rounds for RepeatWhileRounds<R, F>
where
    R: Run + Clone,
    F: FnMut(&R::Out) -> bool + Send + 'static,
{
    type Carry = R::Out;
    type Out = R::Out;
    type Round = R;
    const NAME: &'static str = "repeat_while";

    #[inline]
    fn carry(outcome: Outcome<R::Out>) -> Result<R::Out, Outcome<R::Out>> {
        outcome.split()
    }

    fn next(&mut self, cx: &Cx<'_>, last: Option<R::Out>) -> ControlFlow<Outcome<R::Out>, R> {
        match last {
            Some(value) if !(self.condition)(&value) => ControlFlow::Break(Outcome::Success(value)),
            // A check of its own, because the rounds may all be uncancelable.
            Some(_) if cx.is_interrupted() => ControlFlow::Break(Outcome::Cancelled),
            last => {
                drop(last);
                ControlFlow::Continue(self.fiber.clone())
            }
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.fiber.discard(torn);
        discard_part(self.condition, torn);
    }
}
