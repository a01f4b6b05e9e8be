//! The disks of hosts: the implementation of [`fiber_core::fs`] by this crate's schedulers.
//!
//! A program sees what it has written at once. What it has not synced is at the mercy of a crash of its host:
//!
//! | change | synced by | after a crash, otherwise |
//! |---|---|---|
//! | a write | a sync of the file | lost, whole, or torn: a first part of it |
//! | a file made empty, shorter or longer | a sync of the file | lost, or done |
//! | a new file or folder | its own sync, or that of its folder | lost with what is in it, or done |
//! | a rename | a sync of the old folder or the new one | lost, or done: never half of it |
//! | a removal | a sync of its folder | lost, or done |
//!
//! Each is a decision of the schedule, independently of the others: a disk writes in any order. First in, first out loses everything. If a
//! write survives and one before it does not, there are zeros in the gap.
//!
//! | file | what |
//! |---|---|
//! | `names` | folders, and the names in them |
//! | `inode` | the contents of a file |
//! | `mounted` | a disk, as programs see it between two crashes |
//! | `file` | an open file |

mod file;
mod inode;
mod mounted;
mod names;

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fiber_core::scheduler::fs::{Files, OpenFile, Opening};
use parking_lot::Mutex;

use file::SimulatedFile;
use mounted::{Mounted, State};
use names::{Names, Node};

/// The disk of a [`Host`](crate::Host), for fibers on the host that use [`fiber_core::fs`]. It may be full, slow, or fail.
///
/// ```
/// use fiber_core::{Fiber, fiber, fs};
/// use fiber_test::TestScheduler;
/// use std::time::Duration;
///
/// let test = TestScheduler::new();
/// let host = test.network().host("a");
/// host.disk().set_latency(Duration::from_millis(10));
/// host.disk().set_capacity(4);
/// let program = host.run(|| fiber! {
///     let! written = fs::write("log", "12345678").map(|()| true).catch(|_| Fiber::success(false));
///     let! left = fs::read_to_string("log");
///     (written, left)
/// });
/// let (outcome, elapsed) = test.run_timed(program);
/// assert_eq!(outcome.unwrap(), (false, "1234".to_owned()));
/// assert_eq!(elapsed, Duration::from_millis(20));
/// ```
#[derive(Clone)]
pub struct Disk(Arc<Mutex<State>>);

impl Disk {
    pub(crate) fn new() -> Self {
        Disk(Arc::new(Mutex::new(State {
            names: Names::default(),
            crashes: 0,
            capacity: u64::MAX,
            latency: Duration::ZERO,
            failures: 0,
            spared: 0,
        })))
    }

    /// Sets the room for the contents of all files, in bytes. The default is that there is no limit. A write that finds no room fails with
    /// `StorageFull`, after it has written what there was room for. Files that are on the disk stay, and a crash
    /// may bring back more than there is room for.
    pub fn set_capacity(&self, bytes: u64) {
        self.0.lock().capacity = bytes;
    }

    /// Sets how long every operation takes. The default is no time. A fiber that is cancelled meanwhile ends at once, and the operation takes
    /// place nevertheless, as on a real disk; until then, it is a fiber that lives. A crash of the host prevents it.
    ///
    /// ```
    /// use fiber_core::{Fiber, fiber, fs};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// let host = test.network().host("a");
    /// let disk = host.disk();
    /// let program = host.run(move || {
    ///     let disk = disk.clone();
    ///     fiber! {
    ///         disk.set_latency(Duration::from_secs(5));
    ///         let! in_time = fs::write("file", "late").timeout_option(Duration::from_secs(1));
    ///         disk.set_latency(Duration::ZERO);
    ///         do! fs::write("file", "new");
    ///         do! Fiber::delay(Duration::from_secs(10));
    ///         let! text = fs::read_to_string("file");
    ///         (in_time, text)
    ///     }
    /// });
    /// assert_eq!(test.run(program).unwrap(), (None, "late".to_owned()));
    /// ```
    pub fn set_latency(&self, latency: Duration) {
        self.0.lock().latency = latency;
    }

    /// The next operations fail, as many as this, with an error of the device. `u32::MAX`: the disk is broken. 0: it is repaired.
    /// [`Faults::disk_errors`](crate::Faults::disk_errors) lets the explorer choose the moment.
    ///
    /// If a sync fails, no later sync of the file keeps what was written before: as on Linux, which reports an error once, and does not
    /// write the data again.
    ///
    /// ```
    /// use fiber_core::{Fiber, fiber, fs};
    /// use fiber_test::TestScheduler;
    ///
    /// let test = TestScheduler::new();
    /// let host = test.network().host("a");
    /// let disk = host.disk();
    /// let program = host.run(move || {
    ///     let disk = disk.clone();
    ///     fiber! {
    ///         let! file = fs::File::create("file");
    ///         do! file.write_all("text");
    ///         disk.fail_next(1);
    ///         let! first = file.sync_all().map(|()| true).catch(|_| Fiber::success(false));
    ///         let! second = file.sync_all().map(|()| true).catch(|_| Fiber::success(false));
    ///         (first, second)
    ///     }
    /// });
    /// assert_eq!(test.run(program).unwrap(), (false, true));
    /// host.crash();
    /// host.restart();
    /// let text = test.run(host.run(|| fs::read_to_string("file"))).unwrap();
    /// assert_eq!(text, "", "the second sync was in vain");
    /// ```
    pub fn fail_next(&self, operations: u32) {
        let mut state = self.0.lock();
        (state.failures, state.spared) = (operations, 0);
    }

    /// One more operation is to fail, after so many that do not.
    pub(crate) fn fail_once(&self, spared: u32) {
        let mut state = self.0.lock();
        if state.failures == 0 {
            state.spared = spared;
        }
        state.failures = state.failures.saturating_add(1);
    }

    /// The files, as the programs see them that have started after so many crashes.
    pub(crate) fn files(&self, crashes: u32) -> Arc<dyn Files> {
        Arc::new(Mounted::new(self.0.clone(), crashes))
    }

    /// The host crashes. `choose` chooses one of so many outcomes.
    pub(crate) fn crash(&self, choose: impl FnMut(usize) -> usize) {
        let mut state = self.0.lock();
        state.crashes += 1;
        state.names.crash(choose);
    }
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.lock();
        f.debug_struct("Disk")
            .field("capacity", &state.capacity)
            .field("latency", &state.latency)
            .finish_non_exhaustive()
    }
}

impl Files for Mounted {
    fn open(&self, path: &Path, how: Opening) -> io::Result<Box<dyn OpenFile>> {
        let mut state = self.begins()?;
        let found =
            if how == Opening::Read { state.names.find(path)? } else { state.names.find_or_create(path)? };
        if let (Node::File(inode), Opening::Create) = (&found.1, how) {
            inode.lock().set_len(0);
        }
        Ok(Box::new(SimulatedFile::new(found, how, self.clone())))
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.begins()?.names.create_folders(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<OsString>> {
        let state = self.begins()?;
        let folder = state.names.find_folder(path)?;
        Ok(state.names.names_in(folder))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.begins()?.names.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.begins()?.names.remove(path, false)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.begins()?.names.remove(path, true)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.begins()?;
        let folder = state.names.find_folder(path)?;
        state.names.sync_folder(folder);
        Ok(())
    }

    fn latency(&self) -> Duration {
        self.state().latency
    }
}
