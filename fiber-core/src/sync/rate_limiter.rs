use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::semaphore::Semaphore;
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::fiber::Fiber;
use crate::footprint::Noted;
use crate::instant::Instant;

/// Limits the number of operations that start in a period, on the clock of the scheduler.
///
/// It is a token bucket: it starts full, each operation takes a token, and tokens are refilled at a steady rate. So after
/// a pause, as many operations as the bucket holds may start at once.
///
/// ```
/// use fiber_core::{Fiber, sync::RateLimiter};
/// use fiber_test::TestScheduler;
/// use std::time::Duration;
///
/// // Two requests per second.
/// let limiter = RateLimiter::new(2, Duration::from_secs(1));
/// let request = move |_| limiter.limited(Fiber::now());
/// let begun = TestScheduler::new().run(Fiber::parallel((0..4).map(request))).unwrap();
/// let begun: Vec<u64> = begun.into_iter().map(|at| at.as_nanos() / 1_000_000).collect();
/// assert_eq!(begun, [0, 0, 500, 1000]); // milliseconds
/// ```
///
/// Time is counted in whole nanoseconds, so a rate near one operation per nanosecond is not exact.
///
/// Operations start in the order in which they asked. Clones share the bucket. Use it on one scheduler only: another
/// one has another clock.
///
/// The bucket is the generic cell rate algorithm of ITU-T I.371, which keeps one instant: the one at which it is full again.
#[derive(Clone)]
pub struct RateLimiter(Arc<Shared>);

struct Shared {
    /// Held by the fiber that is next.
    next: Semaphore,
    bucket: Noted<Bucket>,
}

/// Half of the range of [`Instant`], so that the sum of a period and an interval stays in the range.
const LONGEST: Duration = Duration::from_nanos(u64::MAX / 2);

struct Bucket {
    /// The time in which an empty bucket is refilled.
    period: Duration,
    /// The time in which one token is refilled.
    interval: Duration,
    is_full_at: Instant,
}

impl RateLimiter {
    /// A limiter that lets `operations` start in every `period`. A period of more than 292 years counts as 292 years.
    ///
    /// # Panics
    /// If `operations` is 0.
    #[track_caller]
    pub fn new(operations: u32, period: Duration) -> Self {
        assert!(
            operations > 0,
            "a rate limiter of 0 operations would hang every fiber; it has to be at least 1"
        );
        let period = period.min(LONGEST);
        let bucket = Bucket { period, interval: period / operations, is_full_at: Instant::EPOCH };
        let next = Semaphore::single(Subject::new("RateLimiter", Location::caller()));
        RateLimiter(Arc::new(Shared { next, bucket: Noted::new(bucket) }))
    }

    /// Names the limiter in reports. An existing name is kept.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::RateLimiter};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let limiter = RateLimiter::new(1, Duration::from_secs(1)).named("requests");
    /// let test = TestScheduler::new().record();
    /// test.run(Fiber::parallel((0..3).map(move |_| limiter.acquire()))).unwrap();
    /// assert!(test.trace().to_string().contains("RateLimiter `requests`"));
    /// ```
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        let _ = self.0.next.clone().named(name);
        self
    }

    /// Waits until an operation may start.
    ///
    /// ```
    /// use fiber_core::sync::RateLimiter;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let (test, limiter) = (TestScheduler::new(), RateLimiter::new(1, second));
    /// let (_, elapsed) = test.run_timed(limiter.acquire().bind(move |()| limiter.acquire()));
    /// assert_eq!(elapsed, second);
    /// ```
    ///
    /// # Cancellation
    /// The wait ends at once. The fiber takes no token, and the next one in the queue moves up.
    #[track_caller]
    pub fn acquire(&self) -> Fiber<(), impl Run<Out = ()> + use<>> {
        let (site, shared) = (Location::caller(), self.0.clone());
        self.0.next.acquire(1).bind_at(site, move |turn| {
            Fiber::now()
                .bind_at(site, move |now| {
                    let wait = shared.bucket.lock().wait(now);
                    // The token is taken when the operation starts, which may be late.
                    Fiber::delay_at(site, wait)
                        .bind_at(site, |()| Fiber::now())
                        .map_at(site, move |now| shared.bucket.lock().take(now))
                })
                .map_at(site, move |()| drop(turn))
        })
    }

    /// Takes a token if an operation may start now, and no fiber waits for one. Gives whether it did.
    ///
    /// ```
    /// use fiber_core::sync::RateLimiter;
    /// use std::time::Duration;
    ///
    /// let limiter = RateLimiter::new(1, Duration::from_secs(3600));
    /// let twice = limiter.try_acquire().zip(limiter.try_acquire());
    /// let (first, second) = fiber_sched::run(twice).unwrap();
    /// assert!(first != second, "one operation an hour");
    /// ```
    #[track_caller]
    pub fn try_acquire(&self) -> Fiber<bool, impl Run<Out = bool> + use<>> {
        let shared = self.0.clone();
        Fiber::now().map(move |now| {
            let mut bucket = shared.bucket.lock();
            // Only a look at the queue: holding the turn, even for a moment, would make another attempt fail.
            let is_nobodys_turn = shared.next.available() > 0;
            let may_begin = is_nobodys_turn && bucket.wait(now).is_zero();
            if may_begin {
                bucket.take(now);
            }
            may_begin
        })
    }

    /// Runs `fiber` when an operation may start.
    ///
    /// # Cancellation
    /// While it waits, as in [`acquire`](RateLimiter::acquire). Later, `fiber` is cancelled, and its token stays taken.
    #[track_caller]
    pub fn limited<T, R>(&self, fiber: Fiber<T, R>) -> Fiber<T, impl Run<Out = T> + use<T, R>>
    where
        T: Send + 'static,
        R: Run<Out = T>,
    {
        self.acquire().bind_at(Location::caller(), |()| fiber)
    }
}

impl Bucket {
    /// The time until there is a token.
    fn wait(&self, now: Instant) -> Duration {
        (self.is_full_at.max(now) + self.interval - now).saturating_sub(self.period)
    }

    fn take(&mut self, now: Instant) {
        self.is_full_at = self.is_full_at.max(now) + self.interval;
    }
}

impl fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RateLimiter: one operation in {:?}", self.0.bucket.lock().interval)
    }
}
