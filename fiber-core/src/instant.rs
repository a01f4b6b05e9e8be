//! Points in a scheduler's time.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

/// A point in the time of a scheduler: nanoseconds since its epoch.
///
/// ```
/// use fiber_core::Instant;
/// use std::time::Duration;
/// let at = Instant::EPOCH + Duration::from_secs(2);
/// assert_eq!(at - Instant::EPOCH, Duration::from_secs(2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Instant(u64);

impl Instant {
    /// The start of the scheduler's time.
    pub const EPOCH: Instant = Instant(0);

    /// Later than any program runs (584 years).
    pub const FAR_FUTURE: Instant = Instant(u64::MAX);

    /// The instant `nanos` nanoseconds after the epoch.
    ///
    /// ```
    /// use fiber_core::Instant;
    /// assert_eq!(Instant::from_nanos(1_500).as_nanos(), 1_500);
    /// ```
    pub const fn from_nanos(nanos: u64) -> Self {
        Instant(nanos)
    }

    /// Nanoseconds since the epoch.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    /// Saturates at [`Instant::FAR_FUTURE`].
    fn add(self, duration: Duration) -> Instant {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Instant(self.0.saturating_add(nanos))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub for Instant {
    type Output = Duration;

    /// Zero when `earlier` is the later one, as with `std::time::Instant`.
    fn sub(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&Duration::from_nanos(self.0), f)
    }
}
