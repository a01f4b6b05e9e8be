//! Stages that work on the items of a channel, several at a time.
//!
//! ```text
//!   as completed:  iterator ─> branches, one item each ─> results ─> consumer
//!                  channel ─> lanes, one item at a time ─> results ─> consumer
//!
//!   in order:      source ─> feeder ──(item, its slot)──> lanes
//!                               └──answer of its slot──> collector ─> results ─> consumer
//! ```
//!
//! The fibers of a stage are branches of a race with its consumer. So they end before the stage does, however it ends,
//! and a failure of one of them ends the consumer.
//!
//! The results are closed only when the stage has succeeded, so the consumer never mistakes a failure for the end.

use std::convert::Infallible;
use std::fmt;
use std::mem;
use std::panic::Location;

use super::channel::{Channel, Receiver, Sender};
use super::one_shot::one_shot_at;
use crate::combine::{Either, each};
use crate::engine::step::Run;
use crate::error::{Error, Site};
use crate::fiber::Fiber;
use crate::footprint::{Counted, Handles, Object};
use crate::leaf::Resume;
use crate::outcome::Outcome;

impl<T: Send + 'static> Receiver<T> {
    /// Receives until the channel is closed, and runs the fiber that `f` makes of each item, at most `limit` at a time.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Channel};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let (sender, receiver) = Channel::bounded(10);
    /// let test = TestScheduler::new();
    /// let work = receiver.for_each_recv(3, |_| Fiber::delay(Duration::from_secs(1)));
    /// let send = sender.send_all(0..6);
    /// drop((sender, receiver));
    /// assert!(test.run(send.zip(work)).is_success());
    /// assert_eq!(test.now().as_nanos(), 2_000_000_000);
    /// ```
    ///
    /// It runs `limit` fibers, each of which receives one item after the other.
    ///
    /// # Errors
    /// The first failure. The other fibers are cancelled and awaited.
    ///
    /// # Panics
    /// If `limit` is 0 or above 65,536. A panic of `f` becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// All fibers are cancelled and awaited. Items that were not received stay in the channel.
    #[track_caller]
    pub fn for_each_recv<R, F>(&self, limit: usize, f: F) -> Fiber<(), impl Run<Out = ()> + use<T, R, F>>
    where
        R: Run<Out = ()>,
        F: Fn(T) -> Fiber<(), R> + Send + Sync + 'static,
    {
        check(limit);
        lanes(self.clone(), limit, f)
    }
}

#[track_caller]
fn check(limit: usize) {
    assert!(limit > 0, "a limit of 0 lets no fiber run; it has to be at least 1");
    assert!(
        limit <= MOST_LANES,
        "a stage runs as many fibers as its limit, so {limit} is above {MOST_LANES}, the most"
    );
}

/// The most lanes: each is a fiber, even if no item comes for it.
const MOST_LANES: usize = 65_536;

/// The function of a stage, which its fibers share. The last of them drops what it has captured: a sender, for example.
struct Shared<F> {
    f: F,
    references: Object,
}

impl<F> Shared<F> {
    fn new(f: F) -> Counted<Self> {
        Counted::new(Shared { f, references: Object::new() })
    }
}

impl<F> Handles for Shared<F> {
    fn handles(&self) -> Option<Object> {
        mem::needs_drop::<F>().then_some(self.references)
    }
}

/// This many fibers, each of which receives one item after the other, until the channel is closed.
#[track_caller]
fn lanes<T, R, F>(receiver: Receiver<T>, limit: usize, f: F) -> Fiber<(), impl Run<Out = ()> + use<T, R, F>>
where
    T: Send + 'static,
    R: Run<Out = ()>,
    F: Fn(T) -> Fiber<(), R> + Send + Sync + 'static,
{
    let f = Shared::new(f);
    // All at once: the receiver and the captures of `f` must not outlive the lanes.
    let mut lanes = Vec::new();
    for _ in 0..limit {
        let f = f.clone();
        lanes.push(receiver.clone().for_each(move |item| (f.f)(item)).named("lane"));
    }
    Fiber::parallel(lanes).map(drop)
}

/// The source of a stage's items: an iterator or a collection, or the [`Receiver`] of a channel.
pub trait Source: Send + 'static + Sized {
    /// The items.
    type Item: Send + 'static;

    /// Runs the fiber that `f` makes of each item, one after the other.
    #[doc(hidden)]
    #[track_caller]
    fn one_by_one<R, F>(self, f: F) -> Fiber<()>
    where
        R: Run<Out = ()>,
        F: FnMut(Self::Item) -> Fiber<(), R> + Send + 'static;

    /// The same, at most `limit` at a time.
    #[doc(hidden)]
    #[track_caller]
    fn several<R, F>(self, limit: usize, f: F) -> Fiber<()>
    where
        R: Run<Out = ()>,
        F: Fn(Self::Item) -> Fiber<(), R> + Send + Sync + 'static;
}

impl<T: Send + 'static> Source for Receiver<T> {
    type Item = T;

    fn one_by_one<R, F>(self, f: F) -> Fiber<()>
    where
        R: Run<Out = ()>,
        F: FnMut(T) -> Fiber<(), R> + Send + 'static,
    {
        self.for_each(f).boxed()
    }

    fn several<R, F>(self, limit: usize, f: F) -> Fiber<()>
    where
        R: Run<Out = ()>,
        F: Fn(T) -> Fiber<(), R> + Send + Sync + 'static,
    {
        lanes(self, limit, f).boxed()
    }
}

impl<T, I> Source for I
where
    T: Send + 'static,
    I: IntoIterator<Item = T, IntoIter: Send + 'static> + Send + 'static,
{
    type Item = T;

    fn one_by_one<R, F>(self, f: F) -> Fiber<()>
    where
        R: Run<Out = ()>,
        F: FnMut(T) -> Fiber<(), R> + Send + 'static,
    {
        Fiber::for_each(self, f).boxed()
    }

    fn several<R, F>(self, limit: usize, f: F) -> Fiber<()>
    where
        R: Run<Out = ()>,
        F: Fn(T) -> Fiber<(), R> + Send + Sync + 'static,
    {
        let (site, f) = (Location::caller(), Shared::new(f));
        // One thread at a time reads the items, so `f` is called by the branches.
        let branches = self.into_iter().map(move |item| {
            let f = f.clone();
            Fiber::defer_at(site, move || (f.f)(item))
        });
        each(branches, limit, site).boxed()
    }
}

/// A stage that runs the fiber which `f` makes of each item of `source`, at most `limit` at a time. It starts when the
/// fiber of [`feed`](ParallelMap::feed) runs. An item is read when there is a place for it.
///
/// ```
/// use fiber_core::{Fiber, sync::{Receiver, parallel_map}};
/// use fiber_test::TestScheduler;
/// use std::time::Duration;
///
/// // Each takes so many seconds.
/// let double = |n: u32| Fiber::delay(Duration::from_secs(n.into())).map(move |()| 2 * n);
/// let two = |results: Receiver<u32>| results.recv().bind(move |a| results.recv().map(move |b| [a, b]));
///
/// let as_completed = parallel_map([3, 1], 2, double).feed(two);
/// assert_eq!(TestScheduler::new().run(as_completed).unwrap(), [2, 6]);
/// let in_order = parallel_map([3, 1], 2, double).ordered().feed(two);
/// assert_eq!(TestScheduler::new().run(in_order).unwrap(), [6, 2]);
/// ```
///
/// # Panics
/// If `limit` is 0 or above 65,536.
#[track_caller]
pub fn parallel_map<S, U, R, F>(source: S, limit: usize, f: F) -> ParallelMap<S, F>
where
    S: Source,
    U: Send + 'static,
    R: Run<Out = U>,
    F: Fn(S::Item) -> Fiber<U, R> + Send + Sync + 'static,
{
    check(limit);
    ParallelMap { source, limit, f, is_ordered: false }
}

/// The stage that [`parallel_map`] makes.
#[must_use = "a stage does nothing until the fiber of `feed` is run"]
pub struct ParallelMap<S, F> {
    source: S,
    limit: usize,
    f: F,
    is_ordered: bool,
}

impl<S, F> ParallelMap<S, F> {
    /// Gives the results in the order of the source, instead of the order in which they are complete.
    ///
    /// A complete result waits for those before it. So the stage starts at most `limit` items, and two more, after
    /// the oldest incomplete one.
    pub fn ordered(self) -> Self {
        ParallelMap { is_ordered: true, ..self }
    }
}

impl<S, F> fmt::Debug for ParallelMap<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, is_ordered, .. } = self;
        f.debug_struct("ParallelMap")
            .field("limit", limit)
            .field("is_ordered", is_ordered)
            .finish_non_exhaustive()
    }
}

impl<S, U, R, F> ParallelMap<S, F>
where
    S: Source,
    U: Send + 'static,
    R: Run<Out = U>,
    F: Fn(S::Item) -> Fiber<U, R> + Send + Sync + 'static,
{
    /// Runs the stage, and beside it the consumer of its results, whose outcome is the outcome of both. The channel of
    /// results is closed when all results have been sent.
    ///
    /// A slow consumer slows the stage: `limit` results wait for it, and as many further items are started. A consumer can
    /// feed a stage of its own.
    ///
    /// # Errors
    /// The first failure of the stage, which ends the consumer; or the failure of the consumer. The other fibers are
    /// cancelled and awaited.
    ///
    /// # Panics
    /// A panic of the source, of `f` or of `consumer` becomes the fiber's outcome, like a failure.
    ///
    /// # Cancellation
    /// The consumer and all fibers of the stage are cancelled and awaited. The fibers of the stage also are when the
    /// consumer ends before the stage.
    #[track_caller]
    pub fn feed<V, C, E>(self, consumer: C) -> Fiber<V, impl Run<Out = V> + use<S, U, R, F, V, C, E>>
    where
        V: Send + 'static,
        C: FnOnce(Receiver<U>) -> Fiber<V, E> + Send + 'static,
        E: Run<Out = V>,
    {
        let site = Location::caller();
        let (sender, results) = Channel::bounded(self.limit);
        // Keeps the results open while a failure of the stage propagates.
        let keeps_open = sender.clone();
        let closes = sender.clone();
        let stage = self.into_fiber(sender).bind(move |()| {
            closes.close();
            Fiber::<Infallible>::never_at(site)
        });
        let consumer = Fiber::defer(move || consumer(results)).named("consumer");
        stage.named("parallel_map").race(consumer).map(move |ended| {
            drop(keeps_open);
            match ended {
                Either::Left(never) => match never {},
                Either::Right(value) => value,
            }
        })
    }

    /// Ends when all results have been sent, or when no receiver of the results is left.
    #[track_caller]
    fn into_fiber(self, results: Sender<U>) -> Fiber<()> {
        let ParallelMap { source, limit, f, is_ordered } = self;
        let site = Location::caller();
        if is_ordered {
            return in_order(source, limit, f, results);
        }
        until_unwanted(source.several(limit, move |item| {
            let results = results.clone();
            f(item).bind_at(site, move |result| deliver(&results, result, site))
        }))
    }
}

/// Sends a result, or fails with [`Unwanted`].
fn deliver<U: Send + 'static>(
    results: &Sender<U>,
    result: U,
    site: Site,
) -> Fiber<(), impl Run<Out = ()> + use<U>> {
    let unwanted = |_| Fiber::from_outcome(Outcome::Failure(Error::new(Unwanted)));
    results.send_at(site, result).catch_at(site, unwanted)
}

/// The error when no receiver of the results is left.
#[derive(Debug)]
struct Unwanted;

impl fmt::Display for Unwanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no receiver of the results is left")
    }
}

impl std::error::Error for Unwanted {}

/// Succeeds when no receiver of the results is left.
#[track_caller]
fn until_unwanted(fiber: Fiber<(), impl Run<Out = ()>>) -> Fiber<()> {
    let unless =
        |error: Error| if error.is::<Unwanted>() { Outcome::Success(()) } else { Outcome::Failure(error) };
    fiber.catch(move |error| Fiber::from_outcome(unless(error))).boxed()
}

/// The lanes, with a slot in the order for each item.
#[track_caller]
fn in_order<S, U, R, F>(source: S, limit: usize, f: F, results: Sender<U>) -> Fiber<()>
where
    S: Source,
    U: Send + 'static,
    R: Run<Out = U>,
    F: Fn(S::Item) -> Fiber<U, R> + Send + Sync + 'static,
{
    let site = Location::caller();
    let (places, placed) = Channel::bounded(limit);
    let (jobs, work) = Channel::rendezvous();
    let feeder = source.one_by_one(move |item| {
        let (place, result) = one_shot_at::<U>(site);
        let jobs = jobs.clone();
        deliver(&places, result, site).bind_at(site, move |()| deliver(&jobs, (item, place), site))
    });
    let lanes = lanes(work, limit, move |(item, place): (S::Item, Resume<U>)| {
        f(item).bind_at(site, move |result| Fiber::from_result(place.send(result).map_err(|_| Unwanted)))
    });
    let collector = placed.for_each(move |result| {
        let results = results.clone();
        // A slot without a result belongs to a lane that has failed, which is about to end this fiber too.
        let result = result.catch_at(site, move |_| Fiber::never_at(site));
        result.bind_at(site, move |result| deliver(&results, result, site))
    });
    let all = until_unwanted(feeder).zip(until_unwanted(lanes)).zip(until_unwanted(collector));
    all.map(drop).boxed()
}
