//! The metrics of both kinds of pools.
//!
//! | file | what |
//! |---|---|
//! | `counters` | what each worker counts |
//! | `latency` | samples how long tasks wait |
//! | `report` | the public view of the numbers |

mod counters;
mod latency;
#[cfg(feature = "metrics")]
mod publish;
mod report;

pub(crate) use counters::{Count, Counters};
pub(crate) use latency::Latency;
#[cfg(feature = "inspector")]
pub(crate) use report::KINDS;
pub use report::{Metrics, WorkerMetrics};
