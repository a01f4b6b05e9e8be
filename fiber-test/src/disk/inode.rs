//! The contents of a file: as programs see them, and as they are on the disk.

use std::mem;

use crate::machine::cuts;

/// A file.
#[derive(Debug, Default)]
pub(super) struct Inode {
    contents: Vec<u8>,
    /// `None`: the file was never synced, so it may be gone.
    on_disk: Option<Vec<u8>>,
    unsynced: Vec<Change>,
}

#[derive(Debug)]
enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Length(usize),
}

impl Change {
    /// How many outcomes of a crash it has: lost, whole, and for a write each way to be torn.
    fn outcomes(&self) -> usize {
        match self {
            Change::Write { bytes, .. } => 1 + cuts::choices(bytes.len()) as usize,
            Change::Length(_) => 2,
        }
    }

    /// Outcome 0 is that it is lost, and 1 that it is whole; the others, that it is torn.
    fn survive(&self, outcome: usize, contents: &mut Vec<u8>) {
        match self {
            _ if outcome == 0 => {}
            Change::Write { at, bytes } => {
                let torn = cuts::length(outcome as u32 - 1, bytes.len());
                write(contents, *at, &bytes[..torn.unwrap_or(bytes.len())]);
            }
            Change::Length(length) => contents.resize(*length, 0),
        }
    }
}

fn write(contents: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let end = at + bytes.len();
    contents.resize(contents.len().max(end), 0);
    contents[at..end].copy_from_slice(bytes);
}

impl Inode {
    pub(super) fn contents(&self) -> &[u8] {
        &self.contents
    }

    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        if !bytes.is_empty() {
            write(&mut self.contents, at, bytes);
            self.unsynced.push(Change::Write { at, bytes: bytes.to_vec() });
        }
    }

    pub(super) fn set_len(&mut self, length: usize) {
        if length != self.contents.len() {
            self.contents.resize(length, 0);
            self.unsynced.push(Change::Length(length));
        }
    }

    pub(super) fn sync(&mut self) {
        self.unsynced.clear();
        self.on_disk = Some(self.contents.clone());
    }

    /// `choose` chooses one of so many outcomes. `false`: nothing of the file is left.
    pub(super) fn crash(&mut self, mut choose: impl FnMut(usize) -> usize) -> bool {
        let mut is_left = self.on_disk.is_some();
        self.contents = self.on_disk.take().unwrap_or_default();
        for change in mem::take(&mut self.unsynced) {
            let outcome = choose(change.outcomes());
            is_left |= outcome > 0;
            change.survive(outcome, &mut self.contents);
        }
        self.on_disk = Some(self.contents.clone());
        is_left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contents after a crash with these outcomes. `None`: the file is gone.
    fn after(outcomes: &[usize], changes: impl FnOnce(&mut Inode)) -> Option<Vec<u8>> {
        let mut inode = Inode::default();
        changes(&mut inode);
        let mut left = outcomes.iter();
        let is_left =
            inode.crash(|most| *left.next().filter(|outcome| **outcome < most).expect("an outcome"));
        assert_eq!(left.next(), None, "fewer changes");
        is_left.then(|| inode.contents().to_vec())
    }

    fn two_writes(inode: &mut Inode) {
        inode.write(0, b"abc");
        inode.write(3, b"de");
    }

    #[test]
    fn a_write_is_lost_whole_or_torn() {
        assert_eq!(after(&[0, 0], two_writes), None);
        assert_eq!(after(&[1, 1], two_writes).unwrap(), b"abcde");
        assert_eq!(after(&[3, 0], two_writes).unwrap(), b"ab");
        assert_eq!(after(&[0, 2], two_writes).unwrap(), b"\0\0\0d", "a disk writes in any order");
    }

    #[test]
    fn what_is_synced_stays() {
        let synced = |inode: &mut Inode| {
            two_writes(inode);
            inode.sync();
            inode.set_len(0);
            inode.write(0, b"new");
        };
        assert_eq!(after(&[0, 0], synced).unwrap(), b"abcde");
        assert_eq!(after(&[1, 0], synced).unwrap(), b"", "emptied, and not yet written");
        assert_eq!(after(&[1, 1], synced).unwrap(), b"new");
        assert_eq!(after(&[0, 1], synced).unwrap(), b"newde");
    }

    #[test]
    fn a_file_that_was_synced_while_it_was_empty_is_there() {
        assert_eq!(after(&[], Inode::sync).unwrap(), b"");
    }
}
