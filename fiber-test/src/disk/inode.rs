//! The contents of a file: as programs see them, and as they are on the disk.

use std::mem;

use crate::machine::cuts;

/// A file.
#[derive(Debug, Default)]
pub(super) struct Inode {
    contents: Vec<u8>,
    /// Without the changes that follow.
    on_disk: Vec<u8>,
    changes: Vec<(Change, Fate)>,
}

#[derive(Debug)]
enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Length(usize),
}

/// What becomes of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// The next sync keeps it.
    Unsynced,
    /// It is on the disk. A change before it may be lost.
    Synced,
    /// A sync has failed, and no later one keeps it.
    GivenUp,
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
            self.changes.push((Change::Write { at, bytes: bytes.to_vec() }, Fate::Unsynced));
        }
    }

    pub(super) fn set_len(&mut self, length: usize) {
        if length != self.contents.len() {
            self.contents.resize(length, 0);
            self.changes.push((Change::Length(length), Fate::Unsynced));
        }
    }

    pub(super) fn sync(&mut self) {
        self.decide(Fate::Synced);
        // What follows a change that may be lost has to be written over it.
        let open = self.changes.iter().position(|(_, fate)| *fate != Fate::Synced);
        for (change, _) in self.changes.drain(..open.unwrap_or(self.changes.len())) {
            change.survive(1, &mut self.on_disk);
        }
    }

    /// A sync has failed. As on Linux, the system does not try again to write what it has not written.
    pub(super) fn give_up(&mut self) {
        self.decide(Fate::GivenUp);
    }

    fn decide(&mut self, decided: Fate) {
        let unsynced = self.changes.iter_mut().filter(|(_, fate)| *fate == Fate::Unsynced);
        unsynced.for_each(|(_, fate)| *fate = decided);
    }

    /// `choose` chooses one of so many outcomes.
    pub(super) fn crash(&mut self, mut choose: impl FnMut(usize) -> usize) {
        for (change, fate) in mem::take(&mut self.changes) {
            let outcome = if fate == Fate::Synced { 1 } else { choose(change.outcomes()) };
            change.survive(outcome, &mut self.on_disk);
        }
        self.contents.clone_from(&self.on_disk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contents after a crash with these outcomes.
    fn after(outcomes: &[usize], changes: impl FnOnce(&mut Inode)) -> Vec<u8> {
        let mut inode = Inode::default();
        changes(&mut inode);
        let mut left = outcomes.iter();
        inode.crash(|most| *left.next().filter(|outcome| **outcome < most).expect("an outcome"));
        assert_eq!(left.next(), None, "fewer changes");
        inode.contents().to_vec()
    }

    fn two_writes(inode: &mut Inode) {
        inode.write(0, b"abc");
        inode.write(3, b"de");
    }

    #[test]
    fn a_write_is_lost_whole_or_torn() {
        assert_eq!(after(&[0, 0], two_writes), b"");
        assert_eq!(after(&[1, 1], two_writes), b"abcde");
        assert_eq!(after(&[3, 0], two_writes), b"ab");
        assert_eq!(after(&[0, 2], two_writes), b"\0\0\0d", "a disk writes in any order");
    }

    #[test]
    fn what_is_synced_stays() {
        let synced = |inode: &mut Inode| {
            two_writes(inode);
            inode.sync();
            inode.set_len(0);
            inode.write(0, b"new");
        };
        assert_eq!(after(&[0, 0], synced), b"abcde");
        assert_eq!(after(&[1, 0], synced), b"", "emptied, and not yet written");
        assert_eq!(after(&[1, 1], synced), b"new");
        assert_eq!(after(&[0, 1], synced), b"newde");
    }

    #[test]
    fn no_later_sync_keeps_what_a_sync_has_failed_to_keep() {
        let failed = |inode: &mut Inode| {
            inode.write(0, b"abc");
            inode.give_up();
            inode.write(1, b"de");
            inode.sync();
        };
        assert_eq!(after(&[0], failed), b"\0de");
        assert_eq!(after(&[1], failed), b"ade");
        let written_again = |inode: &mut Inode| {
            failed(inode);
            inode.write(0, b"abc");
            inode.sync();
        };
        assert_eq!(after(&[0], written_again), b"abc");
        assert_eq!(after(&[2], written_again), b"abc");
    }
}
