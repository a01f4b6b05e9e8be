//! Fibers and computations that want more turns than there are workers: all of them get theirs, within their time limits.

mod busy;
mod coarse;
mod compute_laws;
mod endless;
mod laws;
mod make_way;
mod stuck;

/// Fails a test that would hang. Far longer than any of these takes, on any machine.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);
