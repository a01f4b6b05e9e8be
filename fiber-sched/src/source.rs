//! What a scheduler tells an inspector, beside its fibers.

use crate::metrics::Metrics;
use crate::observer::Observers;

/// A scheduler of this crate.
pub(crate) trait Source {
    fn observers(&self) -> &Observers;

    /// `fibers`: how many live.
    fn metrics(&self, fibers: usize) -> Option<Metrics>;
}
