//! Streams of futures, for libraries that have or want them: [`Items`] receives those of any stream in a fiber, and [`ticks`] is a
//! stream of a clock. [`Receiver::into_stream`](crate::sync::Receiver::into_stream) is one of a channel,
//! [`BufReader::lines`](crate::net::BufReader::lines) one of lines, and
//! [`TcpListener::accepts`](crate::net::TcpListener::accepts) one of connections.

use std::fmt;
use std::future::Future;
use std::io;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll, Wake, Waker, ready};
use std::time::Duration;

use futures_core::Stream;

use crate::block::{FiberFuture, outside};
use crate::engine::boxed::Boxed;
use crate::engine::context::{Context, Cx, WaitsFor};
use crate::engine::network::{Attempted, Readiness};
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::error::{Error, Site};
use crate::fiber::Fiber;
use crate::footprint::Noted;
use crate::instant::Instant;
use crate::net::{Operation, SocketWait};
use crate::outcome::Outcome;

/// The items of a stream, for fibers: of a database, of a library for HTTP. Clones share the stream; each item goes to one of them.
///
/// ```
/// use fiber_core::fiber;
/// use fiber_core::stream::Items;
/// use futures_util::stream;
///
/// let rows = Items::of(stream::iter(["ada", "grace"]));
/// let longest = fiber! {
///     let mut longest = 0;
///     while let Some(row) = do! rows.next() { longest = longest.max(row.len()) }
///     longest
/// };
/// assert_eq!(fiber_sched::run(longest).unwrap(), 5);
/// ```
///
/// To let the source run ahead of its consumer, put a channel between them:
/// [`Sender::send_stream`](crate::sync::Sender::send_stream).
pub struct Items<T>(Arc<Shared<T>>);

struct Shared<T> {
    /// `None`: it has ended.
    stream: Noted<Option<Pin<Box<dyn Stream<Item = T> + Send>>>>,
    /// Wakes the fibers that wait.
    waker: Waker,
    wakes: Arc<Wakes>,
    subject: Subject,
}

/// The waker of the stream. It wakes all fibers that wait, which poll again.
#[derive(Default)]
struct Wakes {
    readiness: Readiness,
    /// Records accesses to the readiness, which does not.
    noted: Noted<()>,
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        drop(self.noted.lock());
        self.readiness.event(false).fire();
    }
}

impl<T: Send + 'static> Items<T> {
    /// The items of `stream`. No block polls it, so a fiber that it awaits fails with
    /// [`NoScheduler`](crate::error::NoScheduler); [`Sender::send_stream`](crate::sync::Sender::send_stream) takes streams that await
    /// fibers, such as [`ticks`].
    #[track_caller]
    pub fn of(stream: impl Stream<Item = T> + Send + 'static) -> Self {
        let wakes = Arc::<Wakes>::default();
        Items(Arc::new(Shared {
            stream: Noted::new(Some(Box::pin(stream))),
            waker: wakes.clone().into(),
            wakes,
            subject: Subject::new("Stream", Location::caller()),
        }))
    }

    /// The next item. `None`: the stream has ended.
    ///
    /// ```
    /// use fiber_core::stream::Items;
    /// use futures_util::stream;
    /// use std::time::Duration;
    ///
    /// let nothing = Items::of(stream::pending::<u32>());
    /// let waits = nothing.next().timeout_option(Duration::from_secs(3600));
    /// assert_eq!(fiber_test::TestScheduler::new().run(waits).unwrap(), None);
    /// ```
    ///
    /// # Panics
    /// A panic of the stream becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// A fiber that is cancelled, or loses a race, has taken no item.
    #[track_caller]
    pub fn next(&self) -> Fiber<Option<T>, impl Run<Out = Option<T>> + Clone + use<T>> {
        SocketWait::fiber(NextItem(self.clone()), Location::caller())
    }
}

impl<T> Clone for Items<T> {
    fn clone(&self) -> Self {
        Items(self.0.clone())
    }
}

impl<T> fmt::Debug for Items<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Items").field(&format_args!("{}", self.0.subject)).finish()
    }
}

/// The operation of [`Items::next`].
#[derive(Debug)]
struct NextItem<T>(Items<T>);

impl<T> Clone for NextItem<T> {
    fn clone(&self) -> Self {
        NextItem(self.0.clone())
    }
}

impl<T: Send + 'static> Operation for NextItem<T> {
    type Out = Option<T>;
    const WAITS_FOR: WaitsFor = WaitsFor::Future;

    fn operator(&self) -> &'static str {
        "next"
    }

    fn attempt(&mut self, _: &Cx<'_>) -> Option<Outcome<Option<T>>> {
        let Shared { stream, waker, wakes, .. } = &*self.0.0;
        drop(wakes.noted.lock());
        // Dropped without the lock.
        let mut ended = None;
        let mut stream = stream.lock();
        let next = || {
            let Some(live) = &mut *stream else { return Ok(Attempted::Done(None)) };
            match outside(|| live.as_mut().poll_next(&mut task::Context::from_waker(waker))) {
                Poll::Ready(item) => {
                    ended = if item.is_none() { stream.take() } else { None };
                    Ok(Attempted::Done(item))
                }
                Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
            }
        };
        wakes.readiness.attempt(next).map(Outcome::from)
    }

    fn readiness(&self) -> Option<&Readiness> {
        Some(&self.0.0.wakes.readiness)
    }

    fn subject(&self) -> Option<&Subject> {
        Some(&self.0.0.subject)
    }
}

/// A stream of the multiples of `period` after its first poll, each of them when it has come. Whoever polls late gets the latest
/// of those that have passed, and not the others. A fiber that repeats needs no stream: see
/// [`Policy::fixed_rate`](crate::Policy::fixed_rate).
///
/// ```
/// use fiber_core::{Error, Fiber, stream::ticks};
/// use fiber_test::TestScheduler;
/// use futures_util::StreamExt;
/// use std::time::Duration;
///
/// const SECOND: Duration = Duration::from_secs(1);
///
/// let third = Fiber::from_future(async {
///     let third = ticks(SECOND).skip(2).next().await.expect("it has no end")?;
///     Ok::<_, Error>(third)
/// });
/// assert_eq!(TestScheduler::new().run(third).unwrap().as_nanos(), 3_000_000_000);
/// ```
///
/// # Errors
/// The stream fails, and ends, if a poll comes from outside of any fiber, or from another fiber after that of the last poll was
/// cancelled.
///
/// # Panics
/// If `period` is zero.
#[track_caller]
pub fn ticks(period: Duration) -> Ticks {
    assert!(!period.is_zero(), "a period of 0 would tick for ever at one moment");
    Ticks { period, stage: Stage::Between(None), site: Location::caller() }
}

/// The stream of [`ticks`].
#[derive(Debug)]
pub struct Ticks {
    period: Duration,
    stage: Stage,
    site: Site,
}

#[derive(Debug)]
enum Stage {
    /// The last tick was at this moment.
    Between(Option<Instant>),
    Waits(FiberFuture<Instant, Boxed<Instant>>),
    Over,
}

impl Stream for Ticks {
    type Item = Result<Instant, Error>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
    ) -> Poll<Option<Result<Instant, Error>>> {
        if let Stage::Between(last) = self.stage {
            self.stage = Stage::Waits(tick(self.period, last, self.site).future_at(self.site));
        }
        let Stage::Waits(wait) = &mut self.stage else { return Poll::Ready(None) };
        let tick = ready!(Pin::new(wait).poll(cx));
        // Others may have passed since, if the consumer was busy, or this wait began with an earlier poll.
        let now = Context::current().map(|fiber| fiber.scheduler().now());
        let tick = tick.map(|at| now.map_or(at, |now| latest(at, self.period, now)));
        self.stage = tick.as_ref().map_or(Stage::Over, |at| Stage::Between(Some(*at)));
        Poll::Ready(Some(tick))
    }
}

/// Waits for the tick after `last`.
fn tick(period: Duration, last: Option<Instant>, site: Site) -> Fiber<Instant> {
    let wait = Fiber::now().bind_at(site, move |now| {
        let next = last.map_or(now + period, |last| last + period);
        Fiber::until_at(site, next).map_at(site, move |()| next)
    });
    wait.boxed()
}

/// The latest tick that has passed, or `next`.
fn latest(next: Instant, period: Duration, now: Instant) -> Instant {
    let passed = (now - next).as_nanos();
    let whole = passed - passed % period.as_nanos();
    next + Duration::from_nanos(u64::try_from(whole).unwrap_or(u64::MAX))
}
