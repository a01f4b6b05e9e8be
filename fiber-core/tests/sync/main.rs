//! The primitives that fibers coordinate with: fair, and nothing is lost, whoever is cancelled when.

mod cache;
mod channel;
mod channel_cancelled;
mod channel_laws;
mod circuit_breaker;
mod everywhere;
mod gates;
mod mutex;
mod notify;
mod promise;
mod rate_limiter;
mod rw_lock;
mod semaphore;
mod token;

#[path = "../support/mod.rs"]
mod support;
