use std::panic::Location;
use std::time::Duration;

use super::failures::Failures;
use super::gather::{Arrived, Gather, run_pulled};
use super::within::{Within, is_cut_off};
use crate::combine::sequence::fibers::{Fibers, Out};
use crate::engine::context::{Context, Cx};
use crate::engine::scheduler::Unobserved;
use crate::engine::step::{Run, Step};
use crate::engine::suppress::{HasContext, discard};
use crate::error::{Error, Frame, Site, counted};
use crate::fiber::Fiber;
use crate::outcome::Outcome;

impl<T: Send + 'static> Fiber<T> {
    /// Runs all fibers until `wanted` of them have succeeded, and gives their values in the order in which they came.
    /// The others are then cancelled, and awaited. Use it for quorums: a write to two of three replicas.
    ///
    /// The iterator is read to its end when the fiber runs, before the first branch starts.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let replica = |seconds| Fiber::delay(Duration::from_secs(seconds)).map(move |()| seconds);
    /// let quorum = Fiber::first_successes(2, [replica(3), replica(60), replica(1)]);
    /// let test = TestScheduler::new();
    /// assert_eq!(test.run(quorum).unwrap(), [1, 3]);
    /// assert_eq!(test.now().as_nanos(), 3_000_000_000);
    /// ```
    ///
    /// # Errors
    /// As soon as too many fibers have failed for `wanted` successes: the first failure, with the others suppressed into
    /// it. If there are fewer than `wanted` fibers, none of them runs.
    ///
    /// # Panics
    /// This function panics if `wanted` is zero. A panic of a branch goes to
    /// [`Scheduler::unobserved`](crate::scheduler::Scheduler::unobserved) if enough others succeed; otherwise it becomes the
    /// outcome. A panic of the iterator becomes the outcome.
    ///
    /// # Cancellation
    /// All branches are cancelled and awaited.
    #[track_caller]
    pub fn first_successes<I, R>(wanted: usize, fibers: I) -> Fiber<Vec<T>, FirstSuccesses<I::IntoIter>>
    where
        I: IntoIterator<Item = Fiber<T, R>>,
        I::IntoIter: Send + 'static,
        R: Run<Out = T>,
    {
        assert!(wanted > 0, "`wanted` is 0; it has to be at least 1");
        let (fibers, site) = (fibers.into_iter(), Location::caller());
        Fiber::new(FirstSuccesses { fibers, wanted, is_partial: false, site })
    }
}

impl<I: Fibers> Fiber<Vec<Out<I>>, FirstSuccesses<I>> {
    /// Gives the values that have come when `limit` has passed, also if they are fewer than wanted. The fibers that still run are then
    /// cancelled, and awaited.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let replica = |seconds| Fiber::delay(Duration::from_secs(seconds)).map(move |()| seconds);
    /// let answers = Fiber::first_successes(2, [3, 60, 70].map(replica)).within(Duration::from_secs(5));
    /// assert_eq!(TestScheduler::new().run(answers).unwrap(), [3]);
    /// ```
    ///
    /// # Errors
    /// As without a limit: if too many fibers have failed for the wanted number.
    ///
    /// # Cancellation
    /// All fibers are cancelled and awaited, and the values are dropped.
    #[track_caller]
    pub fn within(self, limit: Duration) -> Fiber<Vec<Out<I>>, Within<FirstSuccesses<I>>> {
        let branches = FirstSuccesses { is_partial: true, ..self.into_run() };
        Fiber::new(Within::new(branches, limit, Location::caller()))
    }
}

/// The description of [`Fiber::first_successes`].
#[derive(Clone, Debug)]
pub struct FirstSuccesses<I> {
    fibers: I,
    wanted: usize,
    /// Whether it gives the values that have come when the time is up.
    is_partial: bool,
    site: Site,
}

impl<I: Fibers> Run for FirstSuccesses<I> {
    type Out = Vec<Out<I>>;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        let frame = Frame::new("first_successes", self.site);
        let (wanted, is_partial) = (self.wanted, self.is_partial);
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let quorum = |count| {
            if count < wanted {
                return Err(Error::msg(format!(
                    "{} cannot give {wanted} successes",
                    counted(count, "fiber")
                )));
            }
            let (failures, panics) = (Failures::default(), Failures::default());
            let may_fail = count - wanted;
            let (values, pending, failed) = (Vec::new(), count, 0);
            Ok(Quorum { wanted, values, pending, failed, may_fail, failures, panics, is_partial, frame })
        };
        run_pulled(cx, self.fibers, quorum, frame)
    }
}

/// The first successes, or all failures.
#[derive(Debug)]
pub(crate) struct Quorum<T> {
    wanted: usize,
    values: Vec<T>,
    /// How many branches have not ended.
    pending: usize,
    /// How many have failed or panicked, and how many may.
    failed: usize,
    may_fail: usize,
    failures: Failures,
    /// A separate field, as in `first_success`.
    panics: Failures,
    is_partial: bool,
    frame: Frame,
}

impl<T> Quorum<T> {
    fn is_reached(&self) -> bool {
        self.values.len() == self.wanted
    }
}

impl<T: Send + 'static> Gather<T> for Quorum<T> {
    type Out = Vec<T>;
    const RACES: bool = true;

    fn arrive(&mut self, _: usize, outcome: Outcome<T>, fiber: &dyn HasContext) -> Arrived<T> {
        self.pending = self.pending.saturating_sub(1);
        self.failed += usize::from(outcome.is_wrong());
        match outcome {
            outcome if self.is_reached() => return Arrived::Unused(outcome),
            Outcome::Success(value) => self.values.push(value),
            Outcome::Panicked(_) => self.panics.add(fiber, outcome),
            outcome => self.failures.add(fiber, outcome),
        }
        let is_decided = self.is_reached() || self.values.len() + self.pending < self.wanted;
        if is_decided { Arrived::Decided } else { Arrived::Kept }
    }

    fn conclude(self, cx: &Cx<'_>) -> Outcome<Vec<T>> {
        // Of those that have not failed, enough could have succeeded.
        let is_partial = self.is_partial && self.failed <= self.may_fail && is_cut_off(cx);
        let succeeds = self.is_reached() || is_partial;
        let Quorum { values, failures, panics, frame, .. } = self;
        let (panicked, failed) = (panics.take(), failures.take());
        if succeeds {
            panicked.iter().for_each(|panicked| Unobserved::report(cx, panicked));
            // The drop of an error may panic, which must not lose the values.
            discard::<Option<Outcome<Vec<T>>>>(failed, cx);
            return Outcome::Success(values);
        }
        let outcome = match (panicked, failed) {
            (Some(panicked), Some(failed)) => panicked.suppress(failed, cx),
            (one, other) => one.or(other).unwrap_or(Outcome::Cancelled),
        };
        values.into_iter().fold(outcome, |outcome, value| outcome.without(value, cx)).passed(frame)
    }

    fn discard(self, fiber: &Context) {
        self.values.into_iter().for_each(|value| discard(value, fiber));
        discard(self.failures, fiber);
        discard(self.panics, fiber);
    }
}
