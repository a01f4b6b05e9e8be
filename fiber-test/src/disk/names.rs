//! The names on a disk: as programs see them, and as they are on the disk.
//!
//! A file or folder has a number, and at most one name, in a folder. So there is one kind of change: something gets a name, in the place of another
//! one or of none. A change is atomic; a crash loses it or does not. So that no file is lost with it, a change is made on the disk only
//! where it can be: in a folder that is there, at a name that is held by what it has replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::iter;
use std::mem;
use std::path::{self, Component, Path};
use std::sync::Arc;

use parking_lot::Mutex;

use super::inode::Inode;

/// A file or folder.
pub(super) type Number = u64;

/// The folder of all others, of paths that are relative as of those that are not.
pub(super) const ROOT: Number = 0;

/// The longest name, in bytes.
const LONGEST: usize = 255;

/// A name in a folder.
type Name = (Number, OsString);

#[derive(Clone)]
pub(super) enum Node {
    Folder,
    File(Arc<Mutex<Inode>>),
}

pub(super) struct Names {
    nodes: BTreeMap<Number, Node>,
    next: Number,
    seen: Tree,
    on_disk: Tree,
    /// What is seen and not on the disk, in its order.
    unsynced: Vec<Change>,
}

/// Who has which name.
#[derive(Clone, Default)]
struct Tree {
    numbers: BTreeMap<Name, Number>,
    names: BTreeMap<Number, Name>,
}

struct Change {
    node: Number,
    /// `None`: it is new.
    from: Option<Name>,
    /// `None`: it is removed.
    to: Option<Name>,
    /// What had the new name.
    replaced: Option<Number>,
}

impl Change {
    fn is_in(&self, folder: Number) -> bool {
        [&self.from, &self.to].into_iter().flatten().any(|(in_folder, _)| *in_folder == folder)
    }

    /// Whether it can be made without others.
    fn is_possible(&self, names: &Tree) -> bool {
        let is_empty = |folder: Number| names.in_folder(folder).next().is_none();
        match &self.to {
            None => is_empty(self.node),
            Some(to) => {
                names.get(to) == self.replaced
                    && self.replaced.is_none_or(is_empty)
                    && names.above(to.0).all(|folder| folder != self.node)
                    && names.above(to.0).last() == Some(ROOT)
            }
        }
    }
}

impl Default for Names {
    fn default() -> Self {
        Names {
            nodes: BTreeMap::from([(ROOT, Node::Folder)]),
            next: ROOT + 1,
            seen: Tree::default(),
            on_disk: Tree::default(),
            unsynced: Vec::new(),
        }
    }
}

/// The names and the `..` of a path, from the root on.
fn parts(path: &Path) -> io::Result<Vec<Component<'_>>> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.is_empty() {
        return Err(ErrorKind::NotFound.into());
    }
    if bytes.contains(&0) {
        return Err(ErrorKind::InvalidInput.into());
    }
    Ok(path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir)).collect())
}

/// How a path ends. [`Path::components`] leaves that out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Part,
    /// `a/`: it has to be a folder.
    Separator,
    /// `a/.`: as if `.` were a name in the folder.
    Dot,
}

fn ending(path: &Path) -> Ending {
    let is_separator = |byte: &u8| path::is_separator(char::from(*byte));
    let bytes = path.as_os_str().as_encoded_bytes();
    let last = bytes.rsplit(is_separator).find(|part| !part.is_empty());
    match last {
        Some(b".") => Ending::Dot,
        _ if bytes.last().is_some_and(is_separator) => Ending::Separator,
        _ => Ending::Part,
    }
}

/// What is last in a path, in a folder that exists.
enum Last {
    Name(Name, Ending),
    Root,
    Dot,
    Above,
}

impl Names {
    pub(super) fn find(&self, path: &Path) -> io::Result<(Number, Node)> {
        let found = self.walk(&parts(path)?)?;
        match &self.nodes[&found] {
            Node::File(_) if ending(path) != Ending::Part => Err(ErrorKind::NotADirectory.into()),
            node => Ok((found, node.clone())),
        }
    }

    pub(super) fn find_folder(&self, path: &Path) -> io::Result<Number> {
        match self.find(path)? {
            (number, Node::Folder) => Ok(number),
            _ => Err(ErrorKind::NotADirectory.into()),
        }
    }

    fn walk(&self, parts: &[Component<'_>]) -> io::Result<Number> {
        parts.iter().try_fold(ROOT, |folder, part| match part {
            Component::Normal(name) => {
                let name = self.name_in(folder, name)?;
                self.seen.get(&name).ok_or(ErrorKind::NotFound.into())
            }
            _ => self.folder_above(folder),
        })
    }

    /// The root is above itself.
    fn folder_above(&self, folder: Number) -> io::Result<Number> {
        self.has_names(folder)?;
        Ok(self.seen.above(folder).nth(1).unwrap_or(ROOT))
    }

    fn name_in(&self, folder: Number, name: &OsStr) -> io::Result<Name> {
        self.has_names(folder)?;
        if name.len() > LONGEST {
            Err(ErrorKind::InvalidFilename.into())
        } else {
            Ok((folder, name.to_owned()))
        }
    }

    fn has_names(&self, number: Number) -> io::Result<()> {
        if self.is_folder(number) { Ok(()) } else { Err(ErrorKind::NotADirectory.into()) }
    }

    fn last(&self, path: &Path) -> io::Result<Last> {
        let (parts, ending) = (parts(path)?, ending(path));
        match parts.split_last() {
            Some((Component::Normal(name), above)) if ending != Ending::Dot => {
                Ok(Last::Name(self.name_in(self.walk(above)?, name)?, ending))
            }
            _ => {
                self.has_names(self.walk(&parts)?)?;
                Ok(match parts.last() {
                    _ if ending == Ending::Dot => Last::Dot,
                    Some(_) => Last::Above,
                    None => Last::Root,
                })
            }
        }
    }

    fn is_folder(&self, number: Number) -> bool {
        matches!(self.nodes[&number], Node::Folder)
    }

    pub(super) fn names_in(&self, folder: Number) -> Vec<OsString> {
        self.seen.in_folder(folder).map(|(_, name)| name.clone()).collect()
    }

    /// All files that have a name.
    pub(super) fn files(&self) -> impl Iterator<Item = &Arc<Mutex<Inode>>> {
        self.seen.numbers.values().filter_map(|number| match &self.nodes[number] {
            Node::File(inode) => Some(inode),
            Node::Folder => None,
        })
    }

    /// The file at a path, or a new one.
    pub(super) fn find_or_create(&mut self, path: &Path) -> io::Result<(Number, Node)> {
        let Last::Name(name, Ending::Part) = self.last(path)? else {
            return Err(ErrorKind::IsADirectory.into());
        };
        match self.seen.get(&name).map(|there| (there, self.nodes[&there].clone())) {
            Some((_, Node::Folder)) => Err(ErrorKind::IsADirectory.into()),
            Some(found) => Ok(found),
            None => {
                let node = Node::File(Arc::default());
                Ok((self.add(name, node.clone()), node))
            }
        }
    }

    /// As [`std::fs::create_dir_all`] does it: nothing is above the empty path.
    pub(super) fn create_folders(&mut self, path: &Path) -> io::Result<()> {
        if path.as_os_str().is_empty() {
            return Ok(());
        }
        let (parts, ending, mut at) = (parts(path)?, ending(path), ROOT);
        let first = self.next;
        for (depth, part) in parts.iter().enumerate() {
            // Once one is missing, each is created, or exists: `missing/../file/folder`.
            if self.next > first && !self.is_folder(at) {
                return Err(ErrorKind::AlreadyExists.into());
            }
            at = match part {
                Component::Normal(name) => {
                    let name = self.name_in(at, name)?;
                    match self.seen.get(&name) {
                        Some(there) => there,
                        None if depth + 1 == parts.len() && ending == Ending::Dot => {
                            return Err(ErrorKind::NotFound.into());
                        }
                        None => self.add(name, Node::Folder),
                    }
                }
                _ => self.folder_above(at)?,
            };
        }
        match ending {
            _ if self.is_folder(at) => Ok(()),
            Ending::Dot => Err(ErrorKind::NotADirectory.into()),
            _ => Err(ErrorKind::AlreadyExists.into()),
        }
    }

    fn add(&mut self, name: Name, node: Node) -> Number {
        let number = self.next;
        self.next += 1;
        self.nodes.insert(number, node);
        self.change(Change { node: number, from: None, to: Some(name), replaced: None });
        number
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (Last::Name(from, one), Last::Name(to, other)) = (self.last(from)?, self.last(to)?) else {
            return Err(ErrorKind::ResourceBusy.into());
        };
        let node = self.seen.get(&from).ok_or(ErrorKind::NotFound)?;
        if [one, other].contains(&Ending::Separator) {
            self.has_names(node)?;
        }
        if from == to {
            return Ok(());
        }
        if self.seen.above(to.0).any(|folder| folder == node) {
            return Err(ErrorKind::InvalidInput.into());
        }
        let replaced = self.seen.get(&to);
        if let Some(replaced) = replaced {
            let is_above = self.seen.above(from.0).any(|folder| folder == replaced);
            match (self.is_folder(node), self.is_folder(replaced)) {
                _ if is_above => return Err(ErrorKind::DirectoryNotEmpty.into()),
                (false, true) => return Err(ErrorKind::IsADirectory.into()),
                (true, false) => return Err(ErrorKind::NotADirectory.into()),
                _ => self.is_empty(replaced)?,
            }
        }
        self.change(Change { node, from: Some(from), to: Some(to), replaced });
        Ok(())
    }

    fn is_empty(&self, number: Number) -> io::Result<()> {
        match self.seen.in_folder(number).next() {
            None => Ok(()),
            Some(_) => Err(ErrorKind::DirectoryNotEmpty.into()),
        }
    }

    pub(super) fn remove(&mut self, path: &Path, is_folder: bool) -> io::Result<()> {
        let (from, ending) = match self.last(path)? {
            Last::Name(from, ending) => (from, ending),
            _ if !is_folder => return Err(ErrorKind::IsADirectory.into()),
            Last::Root => return Err(ErrorKind::ResourceBusy.into()),
            Last::Dot => return Err(ErrorKind::InvalidInput.into()),
            Last::Above => return Err(ErrorKind::DirectoryNotEmpty.into()),
        };
        let node = self.seen.get(&from).ok_or(ErrorKind::NotFound)?;
        match self.is_folder(node) {
            true if !is_folder => return Err(ErrorKind::IsADirectory.into()),
            false if is_folder || ending == Ending::Separator => return Err(ErrorKind::NotADirectory.into()),
            _ => self.is_empty(node)?,
        }
        self.change(Change { node, from: Some(from), to: None, replaced: None });
        Ok(())
    }

    fn change(&mut self, change: Change) {
        self.seen.apply(&change);
        self.unsynced.push(change);
    }

    /// The names in a folder are on the disk.
    pub(super) fn sync_folder(&mut self, folder: Number) {
        self.sync_new(folder);
        self.keep(|change| change.is_in(folder));
    }

    /// A new file or folder is on the disk, and so are the new folders above it.
    pub(super) fn sync_new(&mut self, number: Number) {
        let is_new = |change: &Change| change.node == number && change.from.is_none();
        if self.unsynced.iter().any(is_new) {
            let folder = self.seen.above(number).nth(1);
            folder.into_iter().for_each(|folder| self.sync_new(folder));
            self.keep(|change| change.node == number);
        }
    }

    fn keep(&mut self, is_kept: impl Fn(&Change) -> bool) {
        // Those that were there before are not moved: there may be many.
        let first = self.unsynced.iter().position(&is_kept).unwrap_or(self.unsynced.len());
        let changes = self.unsynced.split_off(first);
        let mut left = mem::take(&mut self.unsynced);
        for change in changes {
            let is_of_it = |before: &Change| before.node == change.node;
            let has_replaced = |before: &Change| is_of_it(before) && before.replaced.is_some();
            if !is_kept(&change) {
                left.push(change);
            } else if change.is_possible(&self.on_disk) && !left.iter().any(has_replaced) {
                left.retain(|before| !is_of_it(before));
                self.on_disk.apply(&change);
            } else {
                // It takes others with it. A journal takes all.
                self.on_disk.clone_from(&self.seen);
                left.clear();
                break;
            }
        }
        self.unsynced = left;
        // Not for every sync of a new file: it looks at all of them.
        if self.nodes.len() > 2 * self.seen.names.len() {
            self.forget_nameless();
        }
    }

    fn forget_nameless(&mut self) {
        let named = self.seen.names.keys().chain(self.on_disk.names.keys()).copied();
        let named: BTreeSet<Number> =
            named.chain(self.unsynced.iter().map(|change| change.node)).chain([ROOT]).collect();
        self.nodes.retain(|number, _| named.contains(number));
    }

    /// `choose` chooses one of so many outcomes.
    pub(super) fn crash(&mut self, mut choose: impl FnMut(usize) -> usize) {
        for change in mem::take(&mut self.unsynced) {
            if choose(2) == 1 && change.is_possible(&self.on_disk) {
                self.on_disk.apply(&change);
            }
        }
        self.seen.clone_from(&self.on_disk);
        self.forget_nameless();
        self.files().for_each(|inode| inode.lock().crash(&mut choose));
    }
}

impl Tree {
    fn get(&self, name: &Name) -> Option<Number> {
        self.numbers.get(name).copied()
    }

    /// The folder, the one that it is in, and so on.
    fn above(&self, folder: Number) -> impl Iterator<Item = Number> {
        iter::successors(Some(folder), |number| self.names.get(number).map(|(folder, _)| *folder))
    }

    fn in_folder(&self, folder: Number) -> impl Iterator<Item = &Name> {
        self.numbers.range((folder, OsString::new())..(folder + 1, OsString::new())).map(|(name, _)| name)
    }

    fn apply(&mut self, change: &Change) {
        // Not the name that the change took from it: how it came to that one may be lost.
        if let Some(name) = self.names.remove(&change.node) {
            self.numbers.remove(&name);
        }
        if let Some(to) = &change.to {
            if let Some(replaced) = self.numbers.insert(to.clone(), change.node) {
                self.names.remove(&replaced);
            }
            self.names.insert(change.node, to.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    const PATHS: [&str; 12] =
        ["a", "b", "c", "a/a", "a/b", "a/c", "b/a", "b/b", "b/c", "a/b/a", "a/b/b", "b/a/b"];

    fn any_path(random: &mut SplitMix64) -> &'static Path {
        Path::new(PATHS[random.below(PATHS.len())])
    }

    /// Many of them fail.
    fn act(names: &mut Names, random: &mut SplitMix64) {
        let path = any_path(random);
        let _ = match random.below(7) {
            0 => names.find_or_create(path).map(drop),
            1 => names.create_folders(path),
            2 => names.remove(path, false),
            3 => names.remove(path, true),
            4 => names.find_folder(path).map(|folder| names.sync_folder(folder)),
            5 => names.find(path).map(|(number, _)| names.sync_new(number)),
            _ => names.rename(path, any_path(random)),
        };
    }

    /// All paths, with the number of what is there.
    fn tree(names: &Names) -> Vec<(&'static str, Number)> {
        let there = |path: &&'static str| Some((*path, names.find(Path::new(path)).ok()?.0));
        PATHS.iter().filter_map(there).collect()
    }

    #[test]
    fn names_are_kept_if_all_folders_are_synced() {
        for seed in 0..2_000 {
            let (mut names, mut random) = (Names::default(), SplitMix64::new(seed));
            (0..30).for_each(|_| act(&mut names, &mut random));
            let before = tree(&names);
            names.sync_folder(ROOT);
            let folders =
                before.iter().filter(|(_, number)| names.is_folder(*number)).map(|(_, number)| *number);
            folders.collect::<Vec<_>>().into_iter().for_each(|folder| names.sync_folder(folder));
            names.crash(|most| random.below(most));
            assert_eq!(tree(&names), before, "seed {seed}");
        }
    }

    #[test]
    fn a_file_has_one_name_after_a_crash_and_folders_have_a_path() {
        for seed in 0..2_000 {
            let (mut names, mut random) = (Names::default(), SplitMix64::new(seed));
            for _ in 0..3 {
                (0..20).for_each(|_| act(&mut names, &mut random));
                names.crash(|most| random.below(most));
                let all: BTreeSet<Number> = names.seen.numbers.values().copied().collect();
                assert_eq!(all.len(), names.seen.numbers.len(), "seed {seed}");
                assert_eq!(all.len() + 1, names.nodes.len(), "seed {seed}: something is forgotten or kept");
                assert!(names.unsynced.is_empty());
            }
        }
    }

    #[test]
    fn a_new_file_that_is_synced_is_kept_wherever_it_is_moved() {
        for seed in 0..2_000 {
            let (mut names, mut random) = (Names::default(), SplitMix64::new(seed));
            (0..20).for_each(|_| act(&mut names, &mut random));
            let (path, next) = (any_path(&mut random), names.next);
            match names.find_or_create(path) {
                Ok((number, _)) if number == next => names.sync_new(number),
                _ => continue,
            }
            (0..20).for_each(|_| act(&mut names, &mut random));
            let is_there = |names: &Names| names.seen.names.contains_key(&next);
            if is_there(&names) {
                names.crash(|most| random.below(most));
                assert!(is_there(&names), "seed {seed}");
            }
        }
    }
}
