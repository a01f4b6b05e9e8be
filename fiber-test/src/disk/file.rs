//! An open file of a simulated disk.

use std::fmt;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use fiber_core::fs::{OpenFile, Opening};
use parking_lot::Mutex;

use super::inode::Inode;

/// Fails once the disk is no longer that of the program.
type IsThere = Box<dyn Fn() -> io::Result<()> + Send + Sync>;

pub(super) struct SimulatedFile {
    inode: Arc<Mutex<Inode>>,
    how: Opening,
    position: u64,
    is_there: IsThere,
}

impl SimulatedFile {
    pub(super) fn new(inode: Arc<Mutex<Inode>>, how: Opening, is_there: IsThere) -> Self {
        SimulatedFile { inode, how, position: 0, is_there }
    }

    /// A file that was opened to be read cannot be written, and the reverse.
    fn is_open_to(&self, read: bool) -> io::Result<()> {
        (self.is_there)()?;
        if (self.how == Opening::Read) == read { Ok(()) } else { Err(bad_descriptor()) }
    }
}

/// The error has no kind.
fn bad_descriptor() -> io::Error {
    io::Error::from_raw_os_error(if cfg!(windows) { 6 } else { 9 })
}

impl Read for SimulatedFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.is_open_to(true)?;
        let inode = self.inode.lock();
        let at = usize::try_from(self.position).unwrap_or(usize::MAX).min(inode.contents().len());
        let n = into.len().min(inode.contents().len() - at);
        into[..n].copy_from_slice(&inode.contents()[at..at + n]);
        self.position += n as u64;
        Ok(n)
    }
}

impl Write for SimulatedFile {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.is_open_to(false)?;
        let mut inode = self.inode.lock();
        let end = inode.contents().len();
        let at = if self.how == Opening::Append { end } else { position(self.position)? };
        inode.write(at, from);
        self.position = (at + from.len()) as u64;
        Ok(from.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A position in memory.
fn position(of: u64) -> io::Result<usize> {
    usize::try_from(of).map_err(|_| ErrorKind::FileTooLarge.into())
}

impl Seek for SimulatedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (self.is_there)()?;
        let end = self.inode.lock().contents().len() as u64;
        let to = match to {
            SeekFrom::Start(to) => Some(to),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => end.checked_add_signed(by),
        };
        self.position = to.ok_or(ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl OpenFile for SimulatedFile {
    fn sync_all(&mut self) -> io::Result<()> {
        (self.is_there)()?;
        self.inode.lock().sync();
        Ok(())
    }

    fn set_len(&mut self, length: u64) -> io::Result<()> {
        (self.is_there)()?;
        if self.how == Opening::Read {
            return Err(ErrorKind::InvalidInput.into());
        }
        self.inode.lock().set_len(position(length)?);
        Ok(())
    }
}

impl fmt::Debug for SimulatedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (how, position) = (self.how, self.position);
        f.debug_struct("SimulatedFile")
            .field("open", &how)
            .field("position", &position)
            .finish_non_exhaustive()
    }
}
