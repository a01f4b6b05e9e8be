//! The files of a scheduler: the interface that a real and a simulated disk share.

use std::fmt;
use std::fs;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

/// The files that the fibers of a scheduler use, if they are not those of the operating system: see
/// [`Scheduler::files`](crate::Scheduler::files). All methods may block.
pub trait Files: Send + Sync + 'static {
    /// Opens the file at a path.
    ///
    /// # Errors
    /// Those of the operating system, such as `NotFound`.
    fn open(&self, path: &Path, how: Opening) -> io::Result<Box<dyn OpenFile>>;
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
        let file = match how {
            Opening::Read => fs::File::open(path),
            Opening::Create => fs::File::create(path),
            Opening::Append => fs::OpenOptions::new().append(true).create(true).open(path),
        };
        Ok(Box::new(file?))
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
