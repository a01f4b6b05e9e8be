//! Metrics for `serde`: each field by its name, the tasks by their kinds.

use serde_core::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use super::counters::KINDS;
use super::report::{Metrics, WorkerMetrics};

impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Metrics", 8)?;
        fields.serialize_field("workers", &self.workers)?;
        fields.serialize_field("hosts", &self.hosts)?;
        fields.serialize_field("may_run", &self.may_run)?;
        fields.serialize_field("injected", &self.injected)?;
        fields.serialize_field("timers", &self.timers)?;
        fields.serialize_field("blocking_threads", &self.blocking_threads)?;
        fields.serialize_field("blocking_queue", &self.blocking_queue)?;
        fields.serialize_field("fibers", &self.fibers)?;
        fields.end()
    }
}

/// `latencies`: pairs of an upper bound in nanoseconds and the number of samples, as [`WorkerMetrics::latencies`] gives them.
impl Serialize for WorkerMetrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let latencies = self.latencies().map(|(bound, samples)| (bound.as_nanos() as u64, samples));
        let mut fields = serializer.serialize_struct("WorkerMetrics", 13)?;
        fields.serialize_field("tasks", &Tasks(self))?;
        fields.serialize_field("latencies", &latencies.collect::<Vec<_>>())?;
        fields.serialize_field("steals", &self.steals)?;
        fields.serialize_field("stolen_branches", &self.stolen_branches)?;
        fields.serialize_field("searches", &self.searches)?;
        fields.serialize_field("wake_ups", &self.wake_ups)?;
        fields.serialize_field("notifications", &self.notifications)?;
        fields.serialize_field("cut_by_steps", &self.cut_by_steps)?;
        fields.serialize_field("cut_by_time", &self.cut_by_time)?;
        fields.serialize_field("stuck", &self.stuck)?;
        fields.serialize_field("queued", &self.queued)?;
        fields.serialize_field("runs", &self.runs.map(|site| site.to_string()))?;
        fields.serialize_field("is_stuck", &self.is_stuck)?;
        fields.end()
    }
}

struct Tasks<'a>(&'a WorkerMetrics);

impl Serialize for Tasks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut kinds = serializer.serialize_map(Some(KINDS.len()))?;
        for kind in KINDS {
            kinds.serialize_entry(&kind.to_string(), &self.0.tasks(kind))?;
        }
        kinds.end()
    }
}
