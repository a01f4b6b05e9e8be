use std::panic::Location;
use std::time::Duration;

use super::failures::Failures;
use super::gather::{Arrived, Gather, Plan, run_all};
use super::within::{Within, is_cut_off};
use crate::combine::sequence::fibers::{Fibers, Out};
use crate::engine::context::{Context, Cx};
use crate::engine::step::{Run, Step};
use crate::engine::suppress::{HasContext, discard};
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::guard;

impl<T: Send + 'static> Fiber<T> {
    /// Runs all fibers in parallel, and gives their values in the order of the iterator. With
    /// [`limit(n)`](Fiber::limit), at most `n` run at a time.
    ///
    /// The iterator is read when the fiber runs: at once, or, with a limit, one item whenever another fiber may start.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let squares = Fiber::parallel((1..=4).map(|n| Fiber::lazy(move || n * n))).limit(2);
    /// assert_eq!(fiber_sched::run(squares).unwrap(), [1, 4, 9, 16]);
    /// ```
    ///
    /// # Errors
    /// The first failure. After it, no more fibers are started, the others are cancelled and awaited, and their
    /// failures are suppressed into the first. An empty iterator gives an empty `Vec`.
    ///
    /// # Panics
    /// A panic of the iterator counts as a failure.
    ///
    /// # Cancellation
    /// All fibers are cancelled and awaited.
    #[doc(alias("join_all", "try_join_all", "for_each_par"))]
    #[track_caller]
    pub fn parallel<I, R>(fibers: I) -> Fiber<Vec<T>, Parallel<I::IntoIter>>
    where
        I: IntoIterator<Item = Fiber<T, R>>,
        I::IntoIter: Send + 'static,
        R: Run<Out = T>,
    {
        Fiber::new(Parallel::new(fibers.into_iter(), "parallel"))
    }

    /// Like [`parallel`](Fiber::parallel), but a failure does not stop the others: all fibers run to their ends. Use it
    /// where the user should see all errors at once.
    ///
    /// ```
    /// use fiber_core::Fiber;
    ///
    /// let fields = ["7", "x", "9", ""];
    /// let parsed = Fiber::validate(fields.map(|field| Fiber::try_lazy(move || field.parse::<u8>())));
    /// let error = fiber_sched::run(parsed).failure().unwrap();
    /// assert_eq!(error.to_string(), "invalid digit found in string");
    /// assert_eq!(error.suppressed()[0].to_string(), "cannot parse integer from empty string");
    /// ```
    ///
    /// # Errors
    /// The first failure, with all others [suppressed](crate::Error::suppressed) into it.
    ///
    /// # Panics
    /// After the panic of a fiber or of the iterator, no more fibers are started, and the others are cancelled.
    ///
    /// # Cancellation
    /// All fibers are cancelled and awaited.
    #[track_caller]
    pub fn validate<I, R>(fibers: I) -> Fiber<Vec<T>, Parallel<I::IntoIter>>
    where
        I: IntoIterator<Item = Fiber<T, R>>,
        I::IntoIter: Send + 'static,
        R: Run<Out = T>,
    {
        let parallel = Parallel::new(fibers.into_iter(), "validate");
        Fiber::new(Parallel { stops: false, ..parallel })
    }
}

impl<I: Fibers> Fiber<Vec<Out<I>>, Parallel<I>> {
    /// Runs at most `most` fibers at a time.
    ///
    /// # Panics
    /// If `most` is zero, because no fiber could ever run.
    #[track_caller]
    pub fn limit(self, most: usize) -> Self {
        assert!(most > 0, "a limit of 0 lets no fiber run; it has to be at least 1");
        let mut parallel = self.into_run();
        parallel.limit = most;
        Fiber::new(parallel)
    }

    /// Gives the values that have arrived when `limit` has passed, each with the index of its fiber, in the order of the iterator. The
    /// fibers that still run are then cancelled, and awaited; no more are started. If all end earlier, it gives all values.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let quote = |seconds| Fiber::delay(Duration::from_secs(seconds)).map(move |()| seconds);
    /// let quotes = Fiber::parallel([3, 60, 1].map(quote)).within(Duration::from_secs(5));
    /// let test = TestScheduler::new();
    /// assert_eq!(test.run(quotes).unwrap(), [(0, 3), (2, 1)]);
    /// assert_eq!(test.now().as_nanos(), 5_000_000_000);
    /// ```
    ///
    /// A fiber that succeeds while it is being cancelled has succeeded. Where the time of a part inside is up at the same moment, the limit around
    /// it may come first: give the part less time.
    ///
    /// An iterator without an end needs a [`limit`](Fiber::limit): without one, all fibers start at once, and under test no time passes before they have.
    ///
    /// # Errors
    /// Those of [`parallel`](Fiber::parallel), or [`validate`](Fiber::validate): the first failure ends all, in time or while the fibers
    /// are being cancelled. With [`attempt`](Fiber::attempt) on each fiber, a failure is one of the values.
    ///
    /// # Cancellation
    /// All fibers are cancelled and awaited, and the values that have arrived are dropped.
    #[track_caller]
    pub fn within(self, limit: Duration) -> Fiber<Vec<(usize, Out<I>)>, Within<Parallel<I, true>>> {
        let Parallel { fibers, limit: most, stops, name, site } = self.into_run();
        let branches = Parallel { fibers, limit: most, stops, name, site };
        Fiber::new(Within::new(branches, limit, Location::caller()))
    }
}

/// The description of [`Fiber::parallel`] and [`Fiber::validate`]. If it is `PARTIAL`, it gives the values that have arrived when the time is up, each
/// with its index.
#[derive(Clone, Debug)]
pub struct Parallel<I, const PARTIAL: bool = false> {
    fibers: I,
    limit: usize,
    /// Whether the first failure stops the others.
    stops: bool,
    name: &'static str,
    site: Site,
}

impl<I> Parallel<I> {
    #[track_caller]
    fn new(fibers: I, name: &'static str) -> Self {
        Parallel { fibers, limit: usize::MAX, stops: true, name, site: Location::caller() }
    }
}

impl<I: Fibers> Run for Parallel<I> {
    type Out = Vec<Out<I>>;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        // Without a failure, all started branches have succeeded.
        self.run_giving(cx, |values| values.into_iter().map(|value| value.expect("a value")).collect())
    }
}

impl<I: Fibers> Run for Parallel<I, true> {
    type Out = Vec<(usize, Out<I>)>;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        self.run_giving(cx, |values| {
            let numbered = values.into_iter().enumerate();
            numbered.filter_map(|(index, value)| value.map(|value| (index, value))).collect()
        })
    }
}

impl<I: Fibers, const PARTIAL: bool> Parallel<I, PARTIAL> {
    fn run_giving<'s, V>(self, cx: &'s Cx<'_>, give: Give<Out<I>, V>) -> Step<'s, Vec<V>>
    where
        V: Send + 'static,
        Self: Run<Out = Vec<V>>,
    {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let frame = Frame::new(self.name, self.site);
        let count = guard(|| self.fibers.at_least()).unwrap_or(0).min(MOST_AT_ONCE);
        let values = Vec::with_capacity(count);
        let failure = Failures::default();
        let all = All::<_, _, PARTIAL> { values, failure, stops: self.stops, give, frame };
        run_all(cx, self.fibers, all, Plan { limit: self.limit, frame })
    }
}

/// The most values for which memory is taken before they arrive: what an iterator promises may be far more than it gives.
const MOST_AT_ONCE: usize = 1_024;

/// Makes the value of the operator of those that have arrived.
type Give<T, V> = fn(Vec<Option<T>>) -> Vec<V>;

/// All values, or the failures.
#[derive(Debug)]
struct All<T, V, const PARTIAL: bool> {
    /// The values that have arrived, in the order of the iterator.
    values: Vec<Option<T>>,
    failure: Failures,
    stops: bool,
    give: Give<T, V>,
    frame: Frame,
}

impl<T: Send + 'static, V: Send + 'static, const PARTIAL: bool> Gather<T> for All<T, V, PARTIAL> {
    type Out = Vec<V>;
    const COMMUTES: bool = true;

    #[inline]
    fn arrive(&mut self, index: usize, outcome: Outcome<T>, fiber: &dyn HasContext) -> Arrived<T> {
        let is_harmless = !self.stops && outcome.is_failure();
        let Some(value) = self.failure.sift(fiber, outcome) else {
            return if is_harmless { Arrived::Kept } else { Arrived::Decided };
        };
        if index == self.values.len() {
            self.values.push(Some(value));
            return Arrived::Kept;
        }
        if index > self.values.len() {
            self.values.resize_with(index + 1, || None);
        }
        self.values[index] = Some(value);
        Arrived::Kept
    }

    fn conclude(self, cx: &Cx<'_>) -> Outcome<Vec<V>> {
        let All { values, failure, give, frame, .. } = self;
        match failure.take::<Vec<V>>() {
            Some(failure) if !(PARTIAL && failure.is_cancelled() && is_cut_off(cx)) => {
                values.into_iter().fold(failure, |outcome, value| outcome.without(value, cx)).passed(frame)
            }
            _ => Outcome::Success(give(values)),
        }
    }

    fn discard(self, fiber: &Context) {
        self.values.into_iter().for_each(|value| discard(value, fiber));
    }
}
