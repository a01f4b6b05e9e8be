//! The workloads, one file per topic.

pub mod cancel;
pub mod chain;
pub mod compute;
pub mod coordination;
pub mod coordination_locks;
pub mod direct;
pub mod explore;
pub mod parallel;
pub mod ready;
pub mod sleep;
pub mod spawn;
pub mod switch;
pub mod timers;

use crate::hosts::Hosts;
use crate::workload::Workload;

/// All workloads of all topics.
pub fn all(hosts: &Hosts) -> Vec<Workload<'_>> {
    let topics = [
        chain::all,
        spawn::all,
        switch::all,
        direct::all,
        sleep::all,
        timers::all,
        ready::all,
        parallel::all,
        compute::all,
        cancel::all,
        coordination::all,
        coordination_locks::all,
        explore::all,
    ];
    topics.iter().flat_map(|topic| topic(hosts)).collect()
}
