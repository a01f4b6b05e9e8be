//! Primitives for coordination between fibers: permits, locks, channels, signals.
//!
//! Every primitive here is a handle: its clones share one state. All are fair: waiters are served first come, first served. A
//! cancelled waiter leaves its queue at once, and a value or permits already passed to it go to the next one, so nothing is
//! lost. No operation runs another fiber on its own stack: it schedules that fiber.

// The base, which is not public:
//   operation    operations that may have to wait, for fibers and for plain threads
//   waiters      the waiters, in the operations that wait
//   locked       a state behind a lock, and what is seen of it without
//   permits      counted permits, under semaphores and locks
//   guarded      a value behind a lock
//   recency      keys in the order of their use, under the cache

mod barrier;
mod broadcast;
mod cache;
mod channel;
mod circuit_breaker;
mod guarded;
mod latch;
mod locked;
#[cfg(all(test, fiber_loom))]
mod loom_tests;
mod mutex;
mod notify;
mod one_shot;
mod open_scope;
mod operation;
mod permits;
mod pipeline;
mod promise;
mod rate_limiter;
mod recency;
mod reference;
mod rw_lock;
mod semaphore;
mod waiters;
mod watch;

pub use crate::error::shared::PromiseFailed;
pub use barrier::Barrier;
pub use broadcast::{Broadcast, Missed, Subscriber};
pub use cache::Cache;
#[cfg(feature = "stream")]
pub use channel::ReceiverStream;
pub use channel::{Channel, Closed, Receiver, SendError, Sender, TryRecvError, TrySendError};
pub use circuit_breaker::{CircuitBreaker, CircuitOpen};
pub use guarded::Guard;
pub use latch::Latch;
pub use mutex::{Mutex, MutexGuard};
pub use notify::Notify;
pub use one_shot::one_shot;
pub use pipeline::{ParallelMap, Source, parallel_map};
pub use promise::Promise;
pub use rate_limiter::RateLimiter;
pub use reference::Ref;
pub use rw_lock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use semaphore::{Permit, Semaphore, TooManyPermits};
pub use watch::{Watch, Watcher};
