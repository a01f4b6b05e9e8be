//! Fibers on a tokio runtime.

mod call;
mod disconnect;
mod echo;
mod laws;
mod metrics;
mod pool;
mod quiet;
mod scheduler;
