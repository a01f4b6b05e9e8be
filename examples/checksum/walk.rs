//! The search for files.

use std::cmp::Ordering;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fiber_core::{CancelToken, Error, Fiber};
use walkdir::{DirEntry, WalkDir};

/// The files to read.
#[derive(Default)]
pub(crate) struct Tree {
    /// In the order of the listing.
    pub(crate) files: Vec<Found>,
    /// Directories that could not be read, and why.
    pub(crate) unreadable: Vec<String>,
}

pub(crate) struct Found {
    pub(crate) path: Arc<Path>,
    /// In bytes, as far as known.
    pub(crate) size: u64,
}

/// Finds the regular files at or below `root`, all of them before the first is read. This takes a small part of the time
/// that reading takes, and gives the progress line its total.
///
/// # Errors
/// If there is no file or directory `root`. A directory below it that cannot be read does not stop the walk.
pub(crate) fn walk(root: PathBuf) -> Fiber<Tree> {
    Fiber::blocking_with(move |token| find(&root, token).map_err(|error| error.context(root.display())))
        .boxed()
}

fn find(root: &Path, token: &CancelToken) -> Result<Tree, Error> {
    let metadata = fs::metadata(root)?;
    let mut tree = Tree::default();
    if metadata.is_file() {
        tree.files.push(Found { path: root.into(), size: metadata.len() });
    } else if metadata.is_dir() {
        let below = WalkDir::new(root).min_depth(1).sort_by(by_path).into_iter();
        // A cancelled walk may stop anywhere: its result is discarded.
        below.take_while(|_| !token.is_cancelled()).for_each(|entry| tree.add(entry));
    } else {
        return Err(Error::msg("neither a regular file nor a directory"));
    }
    Ok(tree)
}

impl Tree {
    fn add(&mut self, entry: walkdir::Result<DirEntry>) {
        match entry {
            Ok(entry) if entry.file_type().is_file() => {
                // If the size is not available, reading the file will report the error.
                let size = entry.metadata().map_or(0, |metadata| metadata.len());
                self.files.push(Found { path: entry.into_path().into(), size });
            }
            Ok(_) => {}
            Err(error) => self.unreadable.push(described(&error)),
        }
    }
}

fn described(error: &walkdir::Error) -> String {
    match (error.path(), error.io_error()) {
        (Some(path), Some(reason)) => format!("{}: {reason}", path.display()),
        _ => error.to_string(),
    }
}

/// The order of the paths' bytes, in which `a.txt` comes before `a/b`, as if the names of directories ended in a slash.
fn by_path(left: &DirEntry, right: &DirEntry) -> Ordering {
    fn key(entry: &DirEntry) -> impl Iterator<Item = &u8> {
        let slash = entry.file_type().is_dir().then_some(&b'/');
        entry.file_name().as_encoded_bytes().iter().chain(slash)
    }
    key(left).cmp(key(right))
}
