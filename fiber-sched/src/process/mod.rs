//! Child processes as fibers. Needs the feature `process`, and Unix.
//!
//! Commands are those of the standard library. Pipes are [byte streams](fiber_core::net::ByteStream), so line
//! readers, [`copy`](fiber_core::net::copy) and timeouts work on them as on sockets.
//!
//! ```
//! use fiber_core::fiber;
//! use fiber_sched::process;
//! use std::process::Command;
//! use std::time::Duration;
//!
//! let mut command = Command::new("sh");
//! command.args(["-c", "echo out; echo err >&2; exit 3"]);
//! let output = fiber_sched::Pool::new().run(process::output(command).timeout(Duration::from_secs(60))).unwrap();
//! assert_eq!((&*output.stdout, &*output.stderr), (&b"out\n"[..], &b"err\n"[..]));
//! assert_eq!(output.status.code(), Some(3));
//! ```
//!
//! | you want | use |
//! |---|---|
//! | its output and its exit status | [`output`] |
//! | only its exit status | [`status`] |
//! | to communicate with it, and to know that it is gone afterwards | [`with`] |
//! | a process that lives as long as a value | [`spawn`] |
//! | a pipe without a process | [`pipe`] |
//!
//! # Cancellation
//! [`output`], [`status`] and [`with`] kill the process (`SIGKILL`) and wait for its end, so the process is gone when the
//! cancelled fiber has ended. Processes that it has started itself are not killed.
//!
//! # Errors
//! On a scheduler without polls, such as those of `fiber-test`, everything here fails with `Unsupported`.

mod child;

use std::any::Any;
use std::io::{self, ErrorKind};
use std::process::{Command, ExitStatus, Output, Stdio};

use fiber_core::net::ByteStream;
use fiber_core::{Context, Fiber};

pub use child::Child;

use crate::net::{Here, Polls};

/// Calls `f` with the polls of the fiber's scheduler, on a thread where it may block. Its sockets are in the poll of the fiber's worker.
#[track_caller]
fn on_polls<T: Send + 'static>(f: impl FnOnce(&Polls) -> io::Result<T> + Send + 'static) -> Fiber<T> {
    let result = Fiber::current().bind(move |context: Context| {
        let here = Here::now();
        Fiber::blocking(move || {
            let net = context.scheduler().net().map(|net| net as &dyn Any);
            let polls = net.and_then(|net| net.downcast_ref::<Polls>());
            let polls = polls.ok_or_else(|| {
                io::Error::new(ErrorKind::Unsupported, "this scheduler starts no processes")
            })?;
            here.instead(|| f(polls))
        })
    });
    // Out here, the place of an error is that of the caller.
    result.try_map(|result| result).boxed()
}

/// Starts a process. The drop of the [`Child`] kills it.
///
/// ```
/// use fiber_core::fiber;
/// use fiber_sched::process;
/// use std::process::{Command, Stdio};
///
/// let fiber = fiber! {
///     let mut command = Command::new("cat");
///     command.stdin(Stdio::piped()).stdout(Stdio::piped());
///     let! mut cat = process::spawn(command);
///     let (stdin, stdout) = (cat.stdin.take().unwrap(), cat.stdout.take().unwrap());
///     do! stdin.write_all("hello\n");
///     let! line = stdout.buffered().line();
///     assert_eq!(line.as_deref(), Some("hello"));
///     // The end of its input.
///     drop(stdin);
///     let! status = cat.wait();
///     assert!(status.success());
/// };
/// assert!(fiber_sched::Pool::new().run(fiber).is_success());
/// ```
///
/// # Errors
/// `NotFound`, `PermissionDenied`... `Unsupported` on a scheduler without polls. The error names the program.
///
/// # Cancellation
/// If the process has started meanwhile, it is killed.
#[track_caller]
pub fn spawn(mut command: Command) -> Fiber<Child> {
    let starting = format!("starting {}", command.get_program().display());
    on_polls(move |polls| Child::new(polls, command.spawn()?)).context(starting).boxed()
}

/// Starts a process, and communicates with it. When the fiber that `f` makes has ended, with whatever outcome, the process is
/// killed if it still runs, and its end is awaited.
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_sched::process::{self, Child};
/// use std::process::{Command, Stdio};
///
/// let mut command = Command::new("sh");
/// command.args(["-c", "echo ready; exec sleep 3600"]).stdout(Stdio::piped());
/// let until_ready = process::with(command, |mut child: Child| {
///     let stdout = child.stdout.take().unwrap();
///     stdout.buffered().line()
/// });
/// assert_eq!(fiber_sched::Pool::new().run(until_ready).unwrap().as_deref(), Some("ready"));
/// ```
///
/// # Errors
/// As [`spawn`], and those of the fiber.
///
/// # Panics
/// A panic of `f` becomes the fiber's outcome.
///
/// # Cancellation
/// The fiber is cancelled; then the process is killed, and its end is awaited.
#[track_caller]
pub fn with<T, R>(command: Command, f: impl FnOnce(Child) -> Fiber<T, R> + Send + 'static) -> Fiber<T>
where
    T: Send + 'static,
    R: fiber_core::Run<Out = T>,
{
    let begin = spawn(command).map(child::Guarded::new);
    let using = |guarded: child::Guarded| Fiber::defer(move || f(guarded.take()));
    Fiber::bracket(begin, using, |guarded: child::Guarded| guarded.end()).boxed()
}

/// Runs a process to its end. Its input and outputs are those of the command; by default, those of this process.
///
/// ```
/// use fiber_sched::process;
/// use std::process::Command;
/// let status = fiber_sched::Pool::new().run(process::status(Command::new("true"))).unwrap();
/// assert!(status.success());
/// ```
///
/// # Errors
/// As [`spawn`]. A failure of the process is not an error: check the status.
///
/// # Cancellation
/// The process is killed, and its end is awaited.
#[track_caller]
pub fn status(command: Command) -> Fiber<ExitStatus> {
    with(command, |child: Child| {
        let wait = child.wait();
        wait.map(move |status| {
            drop(child);
            status
        })
    })
}

/// Runs a process to its end, and collects its output. Its input is empty, unless the command says otherwise, as with
/// [`Command::output`]. A pipe is empty, too; to write to one, use [`with`].
///
/// All output is kept in memory. For much output, or output as it comes, use [`with`].
///
/// ```
/// use fiber_sched::process;
/// use std::process::Command;
/// let mut command = Command::new("echo");
/// command.arg("hello");
/// let output = fiber_sched::Pool::new().run(process::output(command)).unwrap();
/// assert_eq!(output.stdout, b"hello\n");
/// ```
///
/// # Errors
/// As [`spawn`]. A failure of the process is not an error: check the status.
///
/// # Cancellation
/// The process is killed, and its end is awaited.
#[track_caller]
pub fn output(mut command: Command) -> Fiber<Output> {
    fn all(stream: Option<ByteStream>) -> Fiber<Vec<u8>> {
        let none = || Fiber::success(Vec::new()).boxed();
        stream.map_or_else(none, |stream| stream.buffered().limit(usize::MAX).rest().boxed())
    }
    if !has_input(&command) {
        command.stdin(Stdio::null());
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    with(command, |mut child: Child| {
        drop(child.stdin.take());
        let outputs = all(child.stdout.take()).zip(all(child.stderr.take()));
        outputs.bind(move |(stdout, stderr)| {
            child.wait().map(move |status| {
                drop(child);
                Output { status, stdout, stderr }
            })
        })
    })
}

/// Whether the command says what its input is. The standard library has no function for that, but its alternate debug format
/// lists the fields that are set; a line within an argument is escaped. Should the format change, the tests fail.
fn has_input(command: &Command) -> bool {
    format!("{command:#?}").lines().any(|line| line.starts_with("    stdin: "))
}

/// A pipe: the read end, and the write end. For both directions within a process, use
/// [`UnixStream::pair`](fiber_core::net::UnixStream::pair).
///
/// ```
/// use fiber_core::fiber;
/// use fiber_sched::process;
///
/// let fiber = fiber! {
///     let! (reads, writes) = process::pipe();
///     do! writes.write_all("over\n").map(|_| drop(writes));
///     let! all = reads.buffered().rest();
///     assert_eq!(all, b"over\n");
/// };
/// assert!(fiber_sched::Pool::new().run(fiber).is_success());
/// ```
///
/// # Errors
/// Those of the operating system.
///
/// # Cancellation
/// No descriptor is left open.
#[track_caller]
pub fn pipe() -> Fiber<(ByteStream, ByteStream)> {
    on_polls(|polls| {
        let [reader, writer] = polls.pipe()?;
        Ok((ByteStream::of(reader, "Pipe"), ByteStream::of(writer, "Pipe")))
    })
}
