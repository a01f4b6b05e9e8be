//! Finds what a scheduler of this crate tells, beside its fibers.

use std::any::Any;

use fiber_core::scheduler::Scheduler;

use super::History;
use crate::affinity::AffinityScheduler;
use crate::current_thread::ThreadScheduler;
use crate::metrics::Metrics;
use crate::pool::PoolScheduler;
use crate::source::Source;

/// `None`: the scheduler is of another crate, such as a test's.
fn source(scheduler: &dyn Scheduler) -> Option<&dyn Source> {
    fn is<S: Source + 'static>(scheduler: &dyn Any) -> Option<&dyn Source> {
        scheduler.downcast_ref::<S>().map(|source| source as _)
    }
    let scheduler: &dyn Any = scheduler;
    is::<PoolScheduler>(scheduler)
        .or_else(|| is::<AffinityScheduler>(scheduler))
        .or_else(|| is::<ThreadScheduler>(scheduler))
        .or_else(|| on_tokio(scheduler))
}

#[cfg(feature = "tokio")]
fn on_tokio(scheduler: &dyn Any) -> Option<&dyn Source> {
    scheduler.downcast_ref::<crate::on_tokio::RuntimeScheduler>().map(|source| source as _)
}

#[cfg(not(feature = "tokio"))]
fn on_tokio(_: &dyn Any) -> Option<&dyn Source> {
    None
}

/// The history that observes a scheduler.
pub(super) fn history(scheduler: &dyn Scheduler) -> Option<&History> {
    source(scheduler)?.observers().find()
}

pub(super) fn metrics(scheduler: &dyn Scheduler, fibers: usize) -> Option<Metrics> {
    source(scheduler)?.metrics(fibers)
}
