//! The disks of hosts: the implementation of [`fiber_core::fs`] by this crate's schedulers.
//!
//! A program sees what it has written at once. What it has not synced is at the mercy of a crash of its host:
//!
//! | change since the last sync of the file | after a crash |
//! |---|---|
//! | a write | lost, whole, or torn: a first part of it |
//! | a file made empty or shorter | as before, or done |
//! | a new file | is there if any of its changes is |
//!
//! Each is a decision of the schedule, independently of the others: a disk writes in any order. First in, first out loses everything. If a
//! change survives and one before it does not, there are zeros in the gap.

mod file;
mod inode;

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fiber_core::footprint::touch_unknown;
use fiber_core::fs::{Files, OpenFile, Opening};
use parking_lot::Mutex;

use file::SimulatedFile;
use inode::Inode;

/// The disk of a host.
#[derive(Default)]
pub(crate) struct Disk {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    files: BTreeMap<PathBuf, Arc<Mutex<Inode>>>,
    /// The number of crashes: files that were opened before the last one are closed.
    crashes: u32,
}

impl Disk {
    /// The files, as the programs see them that have started after so many crashes.
    pub(crate) fn files(self: &Arc<Self>, crashes: u32) -> Arc<dyn Files> {
        Arc::new(Mounted { disk: self.clone(), crashes })
    }

    /// The host crashes. `choose` chooses one of so many outcomes.
    pub(crate) fn crash(&self, mut choose: impl FnMut(usize) -> usize) {
        let mut state = self.state.lock();
        state.crashes += 1;
        state.files.retain(|_, file| file.lock().crash(&mut choose));
    }
}

/// The disk between two crashes.
#[derive(Clone)]
struct Mounted {
    disk: Arc<Disk>,
    crashes: u32,
}

impl Mounted {
    fn is_there(&self) -> io::Result<()> {
        touch_unknown("the simulated disk");
        let is_there = self.disk.state.lock().crashes == self.crashes;
        if is_there { Ok(()) } else { Err(io::Error::other("the host of this disk has crashed")) }
    }
}

impl Files for Mounted {
    fn open(&self, path: &Path, how: Opening) -> io::Result<Box<dyn OpenFile>> {
        self.is_there()?;
        let mut state = self.disk.state.lock();
        let inode = match (state.files.get(path), how) {
            (Some(inode), _) => inode.clone(),
            (None, Opening::Read) => return Err(ErrorKind::NotFound.into()),
            (None, _) => state.files.entry(path.to_owned()).or_default().clone(),
        };
        if how == Opening::Create {
            inode.lock().set_len(0);
        }
        let mounted = self.clone();
        Ok(Box::new(SimulatedFile::new(inode, how, Box::new(move || mounted.is_there()))))
    }
}
