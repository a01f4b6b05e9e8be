//! What fibers coordinate with: permits, locks, channels, signals.
//!
//! Every primitive here is a handle: its clones share one state. All are fair: who came first is served first. A waiter
//! that is cancelled leaves its queue at once, and what was already on its way to it goes to the next one, so nothing is
//! lost. No operation runs another fiber on its own stack: it schedules it.
//!
//! * [`operation`]: operations that may have to wait, of fibers and of plain threads.
//! * [`wait_queue`]: the queue of those who wait.
//! * [`permits`]: counted permits.

mod circuit_breaker;
mod operation;
mod permits;
mod rate_limiter;
mod semaphore;
mod wait_queue;

pub use circuit_breaker::{CircuitBreaker, CircuitOpen};
pub use operation::{Attempt, Operation};
pub use rate_limiter::RateLimiter;
pub use semaphore::{Acquire, Permit, Semaphore, TooManyPermits};
