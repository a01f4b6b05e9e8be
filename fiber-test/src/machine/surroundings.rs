//! What the machine asks of the simulated network.

use std::any::Any;
use std::sync::Arc;

use fiber_core::scheduler::fs::Files;
use fiber_core::scheduler::net::Net;

use super::faults::Aim;
use crate::fault::{Fault, FaultKind};

/// The hosts around the programs of a machine: their sockets and disks, and what breaks there.
pub(crate) trait Surroundings: Any + Send + Sync {
    /// The sockets of the fiber whose turn it is.
    fn net(&self) -> &dyn Net;

    /// The files of the fiber whose turn it is. `None`: those of the operating system.
    fn files(&self) -> Option<Arc<dyn Files>>;

    /// All is as new, for another run.
    fn restart(&self);

    /// All faults of these kinds that are possible now, with the hosts that they affect.
    fn possible(&self, kinds: &[FaultKind]) -> Vec<(FaultKind, Vec<String>)>;

    /// Injects a fault before a turn. `None`: no host could be affected.
    fn inflict(&self, turn: u32, aim: Aim) -> Option<Fault>;

    /// Its state, for the report of a stuck program.
    fn condition(&self) -> Vec<String>;
}
