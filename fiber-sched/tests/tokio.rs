//! Fibers on a tokio runtime.
#![cfg(feature = "tokio")]

#[path = "tokio/disconnect.rs"]
mod disconnect;
#[path = "tokio/echo.rs"]
mod echo;
#[path = "tokio/laws.rs"]
mod laws;
#[path = "tokio/metrics.rs"]
mod metrics;
#[path = "tokio/pool.rs"]
mod pool;
#[path = "tokio/quiet.rs"]
mod quiet;
#[path = "tokio/scheduler.rs"]
mod scheduler;
