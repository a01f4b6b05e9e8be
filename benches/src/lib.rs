//! Compares the library with its peers: the same work, written for each, timed alternately in one process.
//!
//! A [`Workload`] is one row: the work, and each contender's implementation. The criterion benchmarks and the
//! table (`cargo run --release -p benches --bin table`) measure the same ones. Servers are measured by [`serving`].

mod hosts;
mod may;
mod report;
mod rounds;
pub mod serving;
mod table;
mod workload;
pub mod workloads;

pub use hosts::Hosts;
pub use may::{cancel_on_may, spawn_on_may};
pub use report::report;
pub use rounds::{Timing, time_in_turns};
pub use table::Table;
pub use workload::{Column, Contender, Operation, Workload, step};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
