//! Metrics for the recorders of the [`metrics`] crate.

use metrics::{counter, gauge};

use super::counters::KINDS;
use super::report::Metrics;

impl Metrics {
    /// Passes the numbers to the recorder of the [`metrics`] crate, for Prometheus and others. Needs the feature
    /// `metrics`. Call it periodically, or whenever the numbers are requested.
    ///
    /// All names begin with `fiber_`, and have the label `pool`: the counters `turns_total` (with the label `kind`),
    /// `steals_total`, `wake_ups_total` and `stuck_total`, and the gauges `live`, `queued`, `timers`, `blocking_threads`
    /// and `blocking_queued`.
    ///
    /// ```
    /// use fiber_core::{Fiber, Policy};
    /// use fiber_sched::Pool;
    /// use std::sync::Arc;
    /// use std::time::Duration;
    ///
    /// let pool = Arc::new(Pool::new());
    /// let published = pool.clone();
    /// let publish = Fiber::lazy(move || published.metrics().publish("orders"));
    /// let every_second = publish.repeat(Policy::spaced(Duration::from_secs(1)));
    /// # drop(every_second);
    /// ```
    pub fn publish(&self, pool: &str) {
        for kind in KINDS {
            let turns = self.total(|worker| worker.tasks(kind));
            counter!("fiber_turns_total", "pool" => pool.to_owned(), "kind" => kind.to_string())
                .absolute(turns);
        }
        let total =
            |name: &'static str, number: u64| counter!(name, "pool" => pool.to_owned()).absolute(number);
        total("fiber_steals_total", self.total(|worker| worker.steals));
        total("fiber_wake_ups_total", self.total(|worker| worker.wake_ups));
        total("fiber_stuck_total", self.total(|worker| worker.stuck));
        let queued: usize = self.workers.iter().map(|worker| worker.queued).sum();
        let now =
            |name: &'static str, number: usize| gauge!(name, "pool" => pool.to_owned()).set(number as f64);
        now("fiber_live", self.fibers);
        now("fiber_queued", self.injected + queued);
        now("fiber_timers", self.timers);
        now("fiber_blocking_threads", self.blocking_threads);
        now("fiber_blocking_queued", self.blocking_queue);
    }
}
