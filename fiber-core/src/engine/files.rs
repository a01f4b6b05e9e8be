//! The files of a scheduler: the interface that a real and a simulated disk share.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

/// The files that the fibers of a scheduler use, if they are not those of the operating system: see
/// [`Scheduler::files`](crate::scheduler::Scheduler::files). All methods may block.
pub trait Files: Send + Sync + 'static {
    /// Opens the file at a path.
    ///
    /// # Errors
    /// Those of the operating system, such as `NotFound`.
    fn open(&self, path: &Path, how: Opening) -> io::Result<Box<dyn OpenFile>>;

    /// Creates a folder, and those above it that are missing. If it exists, nothing happens.
    ///
    /// # Errors
    /// Those of the operating system.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;

    /// The names in a folder, in any order.
    ///
    /// # Errors
    /// Those of the operating system.
    fn read_dir(&self, path: &Path) -> io::Result<Vec<OsString>>;

    /// Renames a file or a folder. A file that has the new name is replaced, and so is an empty folder.
    ///
    /// # Errors
    /// Those of the operating system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Those of the operating system.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder.
    ///
    /// # Errors
    /// Those of the operating system.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;

    /// Waits until the names in a folder are on the disk.
    ///
    /// # Errors
    /// Those of the operating system.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// How long an operation takes in the time of the scheduler, if that is not the time for which its thread is blocked: on a simulated
    /// disk.
    fn latency(&self) -> Duration {
        Duration::ZERO
    }
}

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Opening {
    /// Reading, from its beginning.
    Read,
    /// Writing, after its contents, if there are any, were removed.
    Create,
    /// Writing at its end. It is created if it does not exist.
    Append,
    /// Reading and writing, from its beginning. It is created if it does not exist, and its contents stay.
    Update,
}

/// An open file, with a position. Its drop closes it.
pub trait OpenFile: Read + Write + Seek + fmt::Debug + Send + 'static {
    /// Waits until everything that was written is on the disk.
    ///
    /// # Errors
    /// Those of the operating system.
    fn sync_all(&mut self) -> io::Result<()>;

    /// Cuts the file to a length, or fills it with zeros up to there.
    ///
    /// # Errors
    /// Those of the operating system.
    fn set_len(&mut self, length: u64) -> io::Result<()>;

    /// The file of the operating system, if it is one.
    fn as_system(&mut self) -> Option<&mut fs::File> {
        None
    }
}

/// The files of the operating system.
pub(crate) struct System;

impl Files for System {
    fn open(&self, path: &Path, how: Opening) -> io::Result<Box<dyn OpenFile>> {
        let mut options = fs::OpenOptions::new();
        match how {
            Opening::Read => options.read(true),
            Opening::Create => options.write(true).create(true).truncate(true),
            Opening::Append => options.append(true).create(true),
            Opening::Update => options.read(true).write(true).create(true).truncate(false),
        };
        Ok(Box::new(options.open(path)?))
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        if !fs::metadata(path)?.is_dir() {
            return Err(ErrorKind::NotADirectory.into());
        }
        // Windows opens no folders this way, and has no call that syncs them.
        if cfg!(windows) { Ok(()) } else { fs::File::open(path)?.sync_all() }
    }
}

impl OpenFile for fs::File {
    fn sync_all(&mut self) -> io::Result<()> {
        fs::File::sync_all(self)
    }

    fn set_len(&mut self, length: u64) -> io::Result<()> {
        fs::File::set_len(self, length)
    }

    fn as_system(&mut self) -> Option<&mut fs::File> {
        Some(self)
    }
}
