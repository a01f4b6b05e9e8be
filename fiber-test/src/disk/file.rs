//! An open file of a simulated disk.

use std::fmt;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};

use fiber_core::scheduler::fs::{OpenFile, Opening};
use parking_lot::Mutex;

use super::inode::Inode;
use super::mounted::Mounted;
use super::names::{Node, Number};

/// The most bytes of a file: it lies in memory.
const LARGEST: usize = 1 << 30;

/// The greatest position of Linux.
const FARTHEST: u64 = i64::MAX as u64;

pub(super) struct SimulatedFile {
    number: Number,
    node: Node,
    how: Opening,
    position: u64,
    disk: Mounted,
}

impl SimulatedFile {
    pub(super) fn new((number, node): (Number, Node), how: Opening, disk: Mounted) -> Self {
        SimulatedFile { number, node, how, position: 0, disk }
    }

    fn inode(&self) -> io::Result<&Mutex<Inode>> {
        match &self.node {
            Node::File(inode) => Ok(inode),
            Node::Folder => Err(ErrorKind::IsADirectory.into()),
        }
    }
}

/// The error has no kind.
fn bad_descriptor() -> io::Error {
    io::Error::from_raw_os_error(if cfg!(windows) { 6 } else { 9 })
}

impl Read for SimulatedFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if matches!(self.how, Opening::Create | Opening::Append) {
            return Err(bad_descriptor());
        }
        let disk = self.disk.begins()?;
        let inode = self.inode()?.lock();
        let at = usize::try_from(self.position).unwrap_or(usize::MAX).min(inode.contents().len());
        let n = into.len().min(inode.contents().len() - at);
        into[..n].copy_from_slice(&inode.contents()[at..at + n]);
        drop((inode, disk));
        self.position += n as u64;
        Ok(n)
    }
}

impl Write for SimulatedFile {
    /// Writes what there is room for.
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        if self.how == Opening::Read {
            return Err(bad_descriptor());
        }
        let disk = self.disk.begins()?;
        let room = disk.room();
        let mut inode = self.inode()?.lock();
        let end = inode.contents().len();
        let at = if self.how == Opening::Append { end } else { length(self.position)? };
        let n = from.len().min(LARGEST - at).min(end.saturating_add(room).saturating_sub(at));
        if n == 0 && !from.is_empty() {
            return Err(if at == LARGEST { ErrorKind::FileTooLarge } else { ErrorKind::StorageFull }.into());
        }
        inode.write(at, &from[..n]);
        drop((inode, disk));
        self.position = (at + n) as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A length that a file may have.
fn length(of: u64) -> io::Result<usize> {
    let length = usize::try_from(of).ok().filter(|length| *length <= LARGEST);
    length.ok_or(ErrorKind::FileTooLarge.into())
}

impl Seek for SimulatedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        drop(self.disk.is_there()?);
        let to = match to {
            SeekFrom::Start(to) => Some(to),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => (self.inode()?.lock().contents().len() as u64).checked_add_signed(by),
        };
        self.position = to.filter(|to| *to <= FARTHEST).ok_or(ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl OpenFile for SimulatedFile {
    fn sync_all(&mut self) -> io::Result<()> {
        drop(self.disk.is_there()?);
        let begun = self.disk.begins();
        if let (Node::File(inode), Err(_)) = (&self.node, &begun) {
            inode.lock().give_up();
        }
        let mut disk = begun?;
        match &self.node {
            Node::File(inode) => {
                inode.lock().sync();
                disk.names.sync_new(self.number);
            }
            Node::Folder => disk.names.sync_folder(self.number),
        }
        Ok(())
    }

    fn set_len(&mut self, to: u64) -> io::Result<()> {
        if self.how == Opening::Read || to > FARTHEST {
            return Err(ErrorKind::InvalidInput.into());
        }
        let disk = self.disk.begins()?;
        let room = disk.room();
        let mut inode = self.inode()?.lock();
        let length = length(to)?;
        if length > inode.contents().len().saturating_add(room) {
            return Err(ErrorKind::StorageFull.into());
        }
        inode.set_len(length);
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
