//! An open file.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, SeekFrom};
use std::panic::Location;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;

use super::{at_path, failed, on_thread, system_or};
use crate::engine::files::{Files, OpenFile, Opening};
use crate::error::Error;
use crate::fiber::Fiber;

/// An open file. Its clones share it and its position. One operation runs at a time.
/// The error of an operation says what failed, and names the path at which the file was opened.
///
/// ```
/// use fiber_core::fiber;
/// use fiber_core::fs::File;
/// use std::io::SeekFrom;
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("log");
/// let fiber = fiber! {
///     let! log = File::create(&path);
///     do! log.write_all("one\ntwo\n");
///     do! log.sync_all();
///     let! log = File::open(&path);
///     do! log.seek(SeekFrom::Start(4));
///     let! (n, buffer) = log.read([0; 16]);
///     assert_eq!(&buffer[..n], b"two\n");
/// };
/// assert!(fiber_sched::run(fiber).is_success());
/// ```
#[derive(Clone)]
pub struct File(Arc<Open>);

struct Open {
    file: Mutex<Box<dyn OpenFile>>,
    /// Where it was opened, for errors.
    path: Option<PathBuf>,
    /// `None`: it is a file of the operating system.
    files: Option<Arc<dyn Files>>,
}

impl File {
    fn new(file: Box<dyn OpenFile>, path: Option<PathBuf>, files: Option<Arc<dyn Files>>) -> Self {
        File(Arc::new(Open { file: Mutex::new(file), path, files }))
    }

    /// Opens a file to read from it. For other ways, see [`std::fs::OpenOptions`] and [`File::from`].
    ///
    /// ```
    /// # use fiber_core::{fiber, fs};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("file");
    /// # let program = fiber! {
    /// do! fs::write(&path, "text");
    /// let! file = fs::File::open(&path);
    /// let! (n, _) = file.read([0; 8]);
    /// assert_eq!(n, 4);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`std::fs::File::open`], with the path.
    #[track_caller]
    pub fn open(path: impl Into<PathBuf>) -> Fiber<File> {
        opens(path.into(), "opening", Opening::Read)
    }

    /// Creates a file to write to. The previous contents at that path are lost.
    ///
    /// ```
    /// # use fiber_core::{fiber, fs};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("file");
    /// # let program = fiber! {
    /// let! file = fs::File::create(&path);
    /// do! file.write_all("text");
    /// let! text = fs::read_to_string(&path);
    /// assert_eq!(text, "text");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`std::fs::File::create`], with the path.
    #[track_caller]
    pub fn create(path: impl Into<PathBuf>) -> Fiber<File> {
        opens(path.into(), "creating", Opening::Create)
    }

    /// Opens a file to write at its end. It is created if it does not exist.
    ///
    /// ```
    /// # use fiber_core::{fiber, fs};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("file");
    /// # let program = fiber! {
    /// do! fs::write(&path, "one");
    /// let! file = fs::File::append(&path);
    /// do! file.write_all(" two");
    /// let! text = fs::read_to_string(&path);
    /// assert_eq!(text, "one two");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`std::fs::OpenOptions::open`], with the path.
    #[track_caller]
    pub fn append(path: impl Into<PathBuf>) -> Fiber<File> {
        opens(path.into(), "opening", Opening::Append)
    }

    /// Opens a file to read and to write it, anywhere. It is created if it does not exist; its contents stay.
    ///
    /// ```
    /// # use fiber_core::{fiber, fs};
    /// # use std::io::SeekFrom;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("file");
    /// # let program = fiber! {
    /// do! fs::write(&path, "one two");
    /// let! file = fs::File::update(&path);
    /// do! file.seek(SeekFrom::Start(4));
    /// do! file.write_all("six");
    /// do! file.seek(SeekFrom::Start(0));
    /// let! (n, buffer) = file.read([0; 16]);
    /// assert_eq!(&buffer[..n], b"one six");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`std::fs::OpenOptions::open`], with the path.
    #[track_caller]
    pub fn update(path: impl Into<PathBuf>) -> Fiber<File> {
        opens(path.into(), "opening", Opening::Update)
    }

    /// Reads at the current position. Gives the number of bytes, and the buffer. 0 bytes: the end of the file, or an empty
    /// buffer.
    ///
    /// ```
    /// # use fiber_core::{fiber, fs};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("file");
    /// # let program = fiber! {
    /// do! fs::write(&path, "text");
    /// let! file = fs::File::open(&path);
    /// let! (n, buffer) = file.read([0; 8]);
    /// assert_eq!(&buffer[..n], b"text");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of the operating system. The buffer is dropped.
    #[track_caller]
    pub fn read<B>(&self, mut buffer: B) -> Fiber<(usize, B)>
    where
        B: AsMut<[u8]> + Send + 'static,
    {
        self.does("reading", move |file| file.read(buffer.as_mut()).map(|n| (n, buffer)))
    }

    /// Writes the whole buffer at the current position, and returns it.
    ///
    /// ```
    /// # use fiber_core::{fiber, fs};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("file");
    /// # let program = fiber! {
    /// let! file = fs::File::create(&path);
    /// let! buffer = file.write_all(vec![7; 3]);
    /// assert_eq!(buffer, [7; 3]);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of the operating system. Part of the buffer may have been written.
    #[track_caller]
    pub fn write_all<B>(&self, buffer: B) -> Fiber<B>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        self.does("writing", move |file| file.write_all(buffer.as_ref()).map(|()| buffer))
    }

    /// Moves the position, and returns it.
    ///
    /// ```
    /// # use fiber_core::{fiber, fs};
    /// # use std::io::SeekFrom;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("file");
    /// # let program = fiber! {
    /// do! fs::write(&path, "one two");
    /// let! file = fs::File::open(&path);
    /// do! file.seek(SeekFrom::Start(4));
    /// let! (n, buffer) = file.read([0; 8]);
    /// assert_eq!(&buffer[..n], b"two");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of the operating system.
    #[track_caller]
    pub fn seek(&self, to: SeekFrom) -> Fiber<u64> {
        self.does("seeking in", move |file| file.seek(to))
    }

    /// Waits until everything written is on the disk. The name of a file that was renamed is on the disk after
    /// [`sync_dir`](super::sync_dir).
    ///
    /// ```
    /// # use fiber_core::{fiber, fs};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("file");
    /// # let program = fiber! {
    /// let! file = fs::File::create(&path);
    /// do! file.write_all("kept");
    /// do! file.sync_all();
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of the operating system. What was written since the sync before may be lost, although a later sync succeeds: write it
    /// again.
    #[track_caller]
    pub fn sync_all(&self) -> Fiber<()> {
        self.does("syncing", |file| file.sync_all())
    }

    /// Cuts the file to a length in bytes, or fills it with zeros up to there. The position stays.
    ///
    /// ```
    /// # use fiber_core::{fiber, fs};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("file");
    /// # let program = fiber! {
    /// let! file = fs::File::create(&path);
    /// do! file.write_all("text");
    /// do! file.set_len(2);
    /// let! text = fs::read_to_string(&path);
    /// assert_eq!(text, "te");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of the operating system.
    #[track_caller]
    pub fn set_len(&self, length: u64) -> Fiber<()> {
        self.does("setting the length of", move |file| file.set_len(length))
    }

    #[track_caller]
    fn does<T: Send + 'static>(
        &self,
        doing: &'static str,
        f: impl FnOnce(&mut dyn OpenFile) -> io::Result<T> + Send + 'static,
    ) -> Fiber<T> {
        let (site, open) = (Location::caller(), self.0.clone());
        let works = move |open: &Open| f(&mut **open.file.lock()).map_err(|error| open.failed(error, doing));
        if open.files.is_none() {
            return on_thread(site, None, move || works(&open));
        }
        // Its latency is that of the moment in which it runs.
        Fiber::defer_at(site, move || {
            let files = open.files.clone();
            on_thread(site, files.as_deref(), move || works(&open))
        })
        .boxed()
    }

    /// Runs any other operation on a file of the operating system, on a thread that may block.
    ///
    /// ```
    /// use fiber_core::fs::File;
    /// let length = File::open("Cargo.toml").bind(|file| file.run(|file| Ok(file.metadata()?.len())));
    /// assert_ne!(fiber_sched::run(length).unwrap(), 0);
    /// ```
    ///
    /// # Errors
    /// Those of `f`. `Unsupported`: it is a file of a simulated disk.
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    #[track_caller]
    pub fn run<T: Send + 'static>(
        &self,
        f: impl FnOnce(&mut fs::File) -> io::Result<T> + Send + 'static,
    ) -> Fiber<T> {
        self.does("using", move |file| f(file.as_system().ok_or(ErrorKind::Unsupported)?))
    }
}

impl Open {
    fn failed(&self, error: io::Error, doing: &str) -> Error {
        match &self.path {
            Some(path) => failed(error, format_args!("{doing} {}", path.display())),
            None => failed(error, format_args!("{doing} a file")),
        }
    }
}

impl From<fs::File> for File {
    fn from(file: fs::File) -> Self {
        File::new(Box::new(file), None, None)
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The file may be in use.
        f.debug_tuple("File").field(&self.0.file.try_lock()).finish()
    }
}

#[track_caller]
fn opens(path: PathBuf, doing: &'static str, how: Opening) -> Fiber<File> {
    at_path(path, doing, move |files, path| {
        let file = system_or(&files).open(path, how)?;
        Ok(File::new(file, Some(path.to_owned()), files))
    })
}
