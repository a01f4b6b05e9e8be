//! The metrics of both kinds of pools.
//!
//! | file | what |
//! |---|---|
//! | `counters` | what each worker counts |
//! | `latency` | samples how long tasks wait |
//! | `report` | the public view of the numbers |
//! | `serde`, `publish` | the numbers for others |

mod counters;
mod latency;
#[cfg(feature = "metrics")]
mod publish;
mod report;
#[cfg(feature = "serde")]
mod serde;

#[cfg(feature = "inspector")]
pub(crate) use counters::KINDS;
pub(crate) use counters::{Count, Counters};
pub(crate) use latency::Latency;
pub use report::{Metrics, WorkerMetrics};
