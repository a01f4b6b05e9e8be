//! The primitives that fibers coordinate with: fair, and nothing is lost, whoever is cancelled when.

mod circuit_breaker;
mod everywhere;
mod rate_limiter;
mod semaphore;
mod token;
