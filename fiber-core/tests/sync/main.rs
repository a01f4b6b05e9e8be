//! The synchronization primitives: fair, and without loss under any cancellation.

mod broadcast;
mod cache;
mod channel;
mod channel_cancelled;
mod channel_fold;
mod channel_laws;
mod channel_storm;
mod channel_stream;
mod circuit_breaker;
mod everywhere;
mod gates;
mod laws;
mod mutex;
mod notify;
mod pipeline;
mod promise;
mod race;
mod rate_limiter;
mod rw_lock;
mod semaphore;
mod streams;
mod token;
mod watch;

#[path = "../support/mod.rs"]
mod support;
