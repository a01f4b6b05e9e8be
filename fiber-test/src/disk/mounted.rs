//! A disk, as the programs see it that have started after so many crashes.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use fiber_core::scheduler::footprint::touch_unknown;
use parking_lot::{Mutex, MutexGuard};

use super::names::Names;

pub(super) struct State {
    pub(super) names: Names,
    /// The number of crashes: files that were opened before the last one are closed.
    pub(super) crashes: u32,
    pub(super) capacity: u64,
    pub(super) latency: Duration,
    /// So many operations are to fail.
    pub(super) failures: u32,
    /// After so many that do not.
    pub(super) spared: u32,
}

impl State {
    /// How many bytes there is room for.
    pub(super) fn room(&self) -> usize {
        if self.capacity == u64::MAX {
            return usize::MAX;
        }
        let used: u64 = self.names.files().map(|inode| inode.lock().contents().len() as u64).sum();
        usize::try_from(self.capacity.saturating_sub(used)).unwrap_or(usize::MAX)
    }
}

/// The disk between two crashes.
#[derive(Clone)]
pub(super) struct Mounted {
    disk: Arc<Mutex<State>>,
    crashes: u32,
}

impl Mounted {
    pub(super) fn new(disk: Arc<Mutex<State>>, crashes: u32) -> Self {
        Mounted { disk, crashes }
    }

    /// Of the disk, whether it is still that of the program or not.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.disk.lock()
    }

    pub(super) fn is_there(&self) -> io::Result<MutexGuard<'_, State>> {
        touch_unknown("the simulated disk");
        let state = self.disk.lock();
        if state.crashes == self.crashes {
            Ok(state)
        } else {
            Err(io::Error::other("the host of this disk has crashed"))
        }
    }

    /// An operation begins, unless it is to fail.
    pub(super) fn begins(&self) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.is_there()?;
        if state.failures == 0 {
            return Ok(state);
        }
        if state.spared > 0 {
            state.spared -= 1;
            return Ok(state);
        }
        if state.failures < u32::MAX {
            state.failures -= 1;
        }
        Err(device_error())
    }
}

/// The error has no kind.
fn device_error() -> io::Error {
    io::Error::from_raw_os_error(if cfg!(windows) { 1117 } else { 5 })
}
