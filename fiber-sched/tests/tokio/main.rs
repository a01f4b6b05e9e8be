//! Fibers on a tokio runtime.
#![cfg(feature = "tokio")]

mod call;
mod disconnect;
mod echo;
mod laws;
mod metrics;
mod pool;
mod quiet;
mod scheduler;
