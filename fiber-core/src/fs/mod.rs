//! Files, on threads that may block.
//!
//! The operating system reports files as always ready, and blocks while it reads them. So each operation here runs on a
//! blocking thread of the scheduler, as [`Fiber::try_blocking`] does with any closure; that costs some microseconds. Read and
//! write in large pieces, and do several steps on one file in one closure of your own.
//!
//! On a scheduler of `fiber-test`, a fiber on a host of the simulated network uses the disk of that host, which loses or tears what was
//! not synced when the host crashes. All others use the real files.
//!
//! ```
//! use fiber_core::{fiber, fs};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("greeting");
//! let fiber = fiber! {
//!     do! fs::write(&path, "hello");
//!     let! text = fs::read_to_string(&path);
//!     assert_eq!(text, "hello");
//! };
//! assert!(fiber_sched::run(fiber).is_success());
//! ```
//!
//! # What is on the disk
//! After a crash of the computer, a file has what was written before its last [`sync_all`](File::sync_all), and any part of what was
//! written since. Names are like contents of their folder: after [`rename`], [`remove_file`] or [`remove_dir`], [`sync_dir`] waits until
//! the change is on the disk. To replace a file as a whole, write another one, sync it, rename it, and sync the folder.
//!
//! # Cancellation
//! The fiber ends at once; the operation runs to its end on its thread. So a cancelled write may or may not have happened,
//! and a cancelled [`File::read`] may have moved the position of the file.

mod file;

use std::fmt;
use std::io;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::engine::context::Context;
use crate::engine::files::System;
use crate::engine::files::{Files, Opening};
use crate::error::{Error, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
pub use file::File;

/// Reads the whole file.
///
/// ```
/// # use fiber_core::{fiber, fs};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("file");
/// # let program = fiber! {
/// do! fs::write(&path, [1, 2, 3]);
/// let! bytes = fs::read(&path);
/// assert_eq!(bytes, [1, 2, 3]);
/// # };
/// # assert!(fiber_sched::run(program).is_success());
/// ```
///
/// # Errors
/// Those of [`std::fs::read`], with the path.
#[track_caller]
pub fn read(path: impl Into<PathBuf>) -> Fiber<Vec<u8>> {
    at_path(path.into(), "reading", |files, path| {
        let mut all = Vec::new();
        system_or(&files).open(path, Opening::Read)?.read_to_end(&mut all)?;
        Ok(all)
    })
}

/// Reads the whole file as text.
///
/// ```
/// # use fiber_core::{fiber, fs};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("file");
/// # let program = fiber! {
/// do! fs::write(&path, "text");
/// let! text = fs::read_to_string(&path);
/// assert_eq!(text, "text");
/// # };
/// # assert!(fiber_sched::run(program).is_success());
/// ```
///
/// # Errors
/// Those of [`std::fs::read_to_string`], with the path.
#[track_caller]
pub fn read_to_string(path: impl Into<PathBuf>) -> Fiber<String> {
    at_path(path.into(), "reading", |files, path| {
        let mut all = String::new();
        system_or(&files).open(path, Opening::Read)?.read_to_string(&mut all)?;
        Ok(all)
    })
}

/// Writes the whole file; the previous contents are lost.
///
/// ```
/// # use fiber_core::{fiber, fs};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("file");
/// # let program = fiber! {
/// do! fs::write(&path, "first");
/// do! fs::write(&path, "2nd");
/// let! text = fs::read_to_string(&path);
/// assert_eq!(text, "2nd");
/// # };
/// # assert!(fiber_sched::run(program).is_success());
/// ```
///
/// # Errors
/// Those of [`std::fs::write`], with the path.
#[track_caller]
pub fn write(path: impl Into<PathBuf>, contents: impl AsRef<[u8]> + Send + 'static) -> Fiber<()> {
    at_path(path.into(), "writing", move |files, path| {
        system_or(&files).open(path, Opening::Create)?.write_all(contents.as_ref())
    })
}

/// Creates a folder, and those above it that are missing. If it exists, nothing happens.
///
/// ```
/// # use fiber_core::{fiber, fs};
/// # let folder = tempfile::tempdir().unwrap();
/// # let program = fiber! {
/// let path = folder.path().join("2026").join("november");
/// do! fs::create_dir_all(&path);
/// do! fs::create_dir_all(&path);
/// do! fs::write(path.join("file"), "text");
/// # };
/// # assert!(fiber_sched::run(program).is_success());
/// ```
///
/// # Errors
/// Those of [`std::fs::create_dir_all`], with the path.
#[track_caller]
pub fn create_dir_all(path: impl Into<PathBuf>) -> Fiber<()> {
    at_path(path.into(), "creating", |files, path| system_or(&files).create_dir_all(path))
}

/// The paths of the files and folders in a folder, in the order of their names.
///
/// ```
/// # use fiber_core::{fiber, fs};
/// # let folder = tempfile::tempdir().unwrap();
/// # let program = fiber! {
/// do! fs::write(folder.path().join("b"), "");
/// do! fs::write(folder.path().join("a"), "");
/// let! paths = fs::read_dir(folder.path());
/// assert_eq!(paths, [folder.path().join("a"), folder.path().join("b")]);
/// # };
/// # assert!(fiber_sched::run(program).is_success());
/// ```
///
/// # Errors
/// Those of [`std::fs::read_dir`], with the path.
#[track_caller]
pub fn read_dir(path: impl Into<PathBuf>) -> Fiber<Vec<PathBuf>> {
    at_path(path.into(), "reading", |files, path| {
        let mut names = system_or(&files).read_dir(path)?;
        names.sort();
        Ok(names.into_iter().map(|name| path.join(name)).collect())
    })
}

/// Renames a file or a folder. A file that has the new name is replaced: a program, or a crash, sees either the old file or
/// the new one.
///
/// ```
/// # use fiber_core::{fiber, fs};
/// # let folder = tempfile::tempdir().unwrap();
/// # let program = fiber! {
/// let (next, path) = (folder.path().join("next"), folder.path().join("settings"));
/// do! fs::write(&path, "old");
/// let! file = fs::File::create(&next);
/// do! file.write_all("new");
/// do! file.sync_all();
/// do! fs::rename(&next, &path);
/// do! fs::sync_dir(folder.path());
/// let! text = fs::read_to_string(&path);
/// assert_eq!(text, "new");
/// # };
/// # assert!(fiber_sched::run(program).is_success());
/// ```
///
/// # Errors
/// Those of [`std::fs::rename`], with the old path.
#[track_caller]
pub fn rename(from: impl Into<PathBuf>, to: impl Into<PathBuf>) -> Fiber<()> {
    let (from, to) = (from.into(), to.into());
    with_files(move |files| {
        let failed = |error| failed(error, format_args!("renaming {} to {}", from.display(), to.display()));
        system_or(&files).rename(&from, &to).map_err(failed)
    })
}

/// Removes a file. Who has opened it can still read and write it.
///
/// ```
/// # use fiber_core::{fiber, fs};
/// # let folder = tempfile::tempdir().unwrap();
/// # let program = fiber! {
/// let path = folder.path().join("file");
/// do! fs::write(&path, "text");
/// do! fs::remove_file(&path);
/// assert!(!path.exists());
/// # };
/// # assert!(fiber_sched::run(program).is_success());
/// ```
///
/// # Errors
/// Those of [`std::fs::remove_file`], with the path.
#[track_caller]
pub fn remove_file(path: impl Into<PathBuf>) -> Fiber<()> {
    at_path(path.into(), "removing", |files, path| system_or(&files).remove_file(path))
}

/// Removes an empty folder.
///
/// ```
/// # use fiber_core::{fiber, fs};
/// # let folder = tempfile::tempdir().unwrap();
/// # let program = fiber! {
/// let path = folder.path().join("empty");
/// do! fs::create_dir_all(&path);
/// do! fs::remove_dir(&path);
/// assert!(!path.exists());
/// # };
/// # assert!(fiber_sched::run(program).is_success());
/// ```
///
/// # Errors
/// Those of [`std::fs::remove_dir`], with the path.
#[track_caller]
pub fn remove_dir(path: impl Into<PathBuf>) -> Fiber<()> {
    at_path(path.into(), "removing", |files, path| system_or(&files).remove_dir(path))
}

/// Waits until the names in a folder are on the disk: its new files and folders, and what was renamed or removed. On Windows, it does
/// nothing.
///
/// ```
/// # use fiber_core::{fiber, fs};
/// # let folder = tempfile::tempdir().unwrap();
/// # let program = fiber! {
/// let path = folder.path().join("file");
/// do! fs::write(&path, "text");
/// do! fs::remove_file(&path);
/// do! fs::sync_dir(folder.path());
/// # };
/// # assert!(fiber_sched::run(program).is_success());
/// ```
///
/// # Errors
/// Those of the operating system, with the path.
#[track_caller]
pub fn sync_dir(path: impl Into<PathBuf>) -> Fiber<()> {
    at_path(path.into(), "syncing", |files, path| system_or(&files).sync_dir(path))
}

fn system_or(files: &Option<Arc<dyn Files>>) -> &dyn Files {
    files.as_deref().unwrap_or(&System)
}

/// Runs an operation at a path. It gets the files of the fiber; `None`: those of the operating system.
#[track_caller]
fn at_path<T: Send + 'static>(
    path: PathBuf,
    doing: &'static str,
    f: impl FnOnce(Option<Arc<dyn Files>>, &Path) -> io::Result<T> + Send + 'static,
) -> Fiber<T> {
    with_files(move |files| {
        f(files, &path).map_err(|error| failed(error, format_args!("{doing} {}", path.display())))
    })
}

#[track_caller]
fn with_files<T: Send + 'static>(
    f: impl FnOnce(Option<Arc<dyn Files>>) -> Result<T, Error> + Send + 'static,
) -> Fiber<T> {
    let site = Location::caller();
    let at = move |context: Context| {
        // In the turn of the fiber, whose files they are.
        let files = context.scheduler().files();
        on_thread(site, files.clone().as_deref(), move || f(files))
    };
    Fiber::current().bind_at(site, at).boxed()
}

fn failed(error: io::Error, doing: fmt::Arguments<'_>) -> Error {
    Error::from(error).context(doing.to_string())
}

/// Runs an operation on a thread that may block, with files that may take a time of the scheduler.
/// `site` is the place where the user calls the operation.
fn on_thread<T: Send + 'static>(
    site: Site,
    files: Option<&dyn Files>,
    f: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Fiber<T> {
    let latency = files.map_or(Duration::ZERO, Files::latency);
    let works = Fiber::try_blocking_at(site, f);
    if latency.is_zero() {
        return works.boxed();
    }
    // Like a thread, it goes on if its fiber is cancelled.
    let slow = Fiber::delay_at(site, latency).bind_at(site, |()| works);
    let result = slow.map_at(site, Ok).catch_at(site, |error| Fiber::success(Err(error)));
    // Without a place in the trace that the error has already.
    let ends = |result: Result<T, Error>| Fiber::from_outcome(Outcome::from(result));
    result.uncancelable().disconnect_at(site).bind_at(site, ends).boxed()
}
