//! A started process, and the fibers that await its end.

use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::process::{self, ExitStatus};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use fiber_core::Fiber;
use fiber_core::net::ByteStream;
use parking_lot::Mutex;

use crate::net::Polls;

/// Where the end of a process is not an event, it is polled for: with short pauses at first, then longer ones.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// Killed processes that no fiber waits for. The system keeps them as zombies until they are reaped.
static ORPHANS: Mutex<Orphans> = Mutex::new(Orphans { killed: Vec::new(), have_reaper: false });

struct Orphans {
    killed: Vec<process::Child>,
    /// Whether a thread reaps them.
    have_reaper: bool,
}

fn adopt(child: process::Child) {
    let mut orphans = ORPHANS.lock();
    orphans.killed.push(child);
    if !orphans.have_reaper {
        // If no thread can be started, the next adoption tries again.
        let reaper = thread::Builder::new().name("fiber-reaper".to_owned());
        orphans.have_reaper = reaper.spawn(bury_orphans).is_ok();
    }
}

/// Reaps the orphans until there are none. It blocks for none of them, because a process may take long to die.
fn bury_orphans() {
    let mut pause = FIRST_PAUSE;
    loop {
        let mut orphans = ORPHANS.lock();
        orphans.killed.retain_mut(|process| matches!(process.try_wait(), Ok(None)));
        if orphans.killed.is_empty() {
            orphans.have_reaper = false;
            return;
        }
        drop(orphans);
        thread::sleep(pause);
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

/// A process that was [started](super::spawn). Its drop kills the process, unless it has ended, and does not wait for its end. The fibers of
/// [`wait`](Child::wait) own the process, too, so it is killed when the last owner is dropped. Within [`with`](super::with), it is killed only at the end
/// of that fiber.
///
/// The command requests pipes by `Stdio::piped()`. Take them out to use them; the input of the process
/// ends when `stdin` is [closed](ByteStream::close), or its last clone is dropped.
pub struct Child {
    /// Its standard input.
    pub stdin: Option<ByteStream>,
    /// Its standard output.
    pub stdout: Option<ByteStream>,
    /// Its standard error output.
    pub stderr: Option<ByteStream>,
    process: Process,
}

/// Clones refer to the same process.
#[derive(Clone)]
struct Process(Arc<Running>);

struct Running {
    child: Mutex<Option<process::Child>>,
    id: u32,
    /// Becomes readable when the process has ended. `None` where the system does not support that.
    end: Option<ByteStream>,
}

impl Child {
    pub(super) fn new(polls: &Polls, mut child: process::Child) -> io::Result<Self> {
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        // From here on, a failure kills the process, and so does a panic: there may be no poll on a runtime without I/O.
        let mut running = Running { id: child.id(), child: Mutex::new(Some(child)), end: None };
        let end = running.child.get_mut().as_ref().and_then(|child| polls.end_of(child).ok());
        running.end = end.map(|end| ByteStream::of(end, "Process"));
        let process = Process(Arc::new(running));
        let mut child = Child { stdin: None, stdout: None, stderr: None, process };
        let pipe = |socket| ByteStream::of(socket, "Pipe");
        child.stdin = stdin.map(|stdin| polls.writer(stdin)).transpose()?.map(pipe);
        child.stdout = stdout.map(|stdout| polls.reader(stdout)).transpose()?.map(pipe);
        child.stderr = stderr.map(|stderr| polls.reader(stderr)).transpose()?.map(pipe);
        Ok(child)
    }

    /// The process id. The system may assign it to another process once this one has been waited for.
    ///
    /// ```
    /// use fiber_sched::process;
    /// use std::process::Command;
    /// let id = process::with(Command::new("true"), |child: process::Child| {
    ///     let id = child.id();
    ///     child.wait().map(move |_| id)
    /// });
    /// assert_ne!(fiber_sched::Pool::new().run(id).unwrap(), 0);
    /// ```
    pub fn id(&self) -> u32 {
        self.process.0.id
    }

    /// Waits for the end of the process, also if the `Child` is dropped meanwhile. This does not close its input: if the process reads until
    /// the end of its input, drop its `stdin` first.
    ///
    /// ```
    /// use fiber_core::fiber;
    /// use fiber_sched::process;
    /// use std::process::Command;
    ///
    /// let fiber = fiber! {
    ///     let! child = process::spawn(Command::new("true"));
    ///     let! status = child.wait();
    ///     assert!(status.success());
    /// };
    /// assert!(fiber_sched::Pool::new().run(fiber).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of the operating system.
    ///
    /// # Cancellation
    /// The process continues, and a later call can wait for it.
    #[track_caller]
    pub fn wait(&self) -> Fiber<ExitStatus> {
        self.process.clone().wait()
    }

    /// Kills the process (`SIGKILL`). It may end only later; [`wait`](Child::wait) awaits that.
    ///
    /// ```
    /// use fiber_core::fiber;
    /// use fiber_sched::process;
    /// use std::os::unix::process::ExitStatusExt;
    /// use std::process::Command;
    ///
    /// let fiber = fiber! {
    ///     let mut command = Command::new("sleep");
    ///     command.arg("3600");
    ///     let! child = process::spawn(command);
    ///     child.kill()?;
    ///     let! status = child.wait();
    ///     assert_eq!(status.signal(), Some(9));
    /// };
    /// assert!(fiber_sched::Pool::new().run(fiber).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of the operating system. A process that has already ended is not an error.
    pub fn kill(&self) -> io::Result<()> {
        self.process.kill()
    }
}

impl Process {
    fn try_wait(&self) -> io::Result<Option<ExitStatus>> {
        self.0.child.lock().as_mut().map_or(Ok(None), process::Child::try_wait)
    }

    fn kill(&self) -> io::Result<()> {
        self.0.child.lock().as_mut().map_or(Ok(()), process::Child::kill)
    }

    #[track_caller]
    fn wait(self) -> Fiber<ExitStatus> {
        Fiber::iterate(Duration::ZERO, move |pause: Duration| {
            let process = self.clone();
            self.pause(pause).try_map(move |()| {
                let next = (2 * pause).clamp(FIRST_PAUSE, LONGEST_PAUSE);
                process
                    .try_wait()
                    .map(|status| status.map_or(ControlFlow::Continue(next), ControlFlow::Break))
            })
        })
        .boxed()
    }

    /// Waits until the process has ended, or may have. The first pause is zero.
    fn pause(&self, pause: Duration) -> Fiber<()> {
        match self.0.end.clone() {
            Some(end) if pause.is_zero() => end.readable().boxed(),
            // The scheduler that has started the process has ended: there are no more events.
            Some(end) => Fiber::delay(pause).bind(move |()| end.readable()).boxed(),
            None => Fiber::delay(pause).boxed(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut child) = self.child.get_mut().take() else { return };
        if let Ok(None) = child.try_wait() {
            _ = child.kill();
            if let Ok(None) = child.try_wait() {
                adopt(child);
            }
        }
    }
}

/// A process whose end is awaited.
#[derive(Clone)]
pub(super) struct Guarded {
    process: Process,
    child: Arc<Mutex<Option<Child>>>,
}

impl Guarded {
    pub(super) fn new(child: Child) -> Self {
        Guarded { process: child.process.clone(), child: Arc::new(Mutex::new(Some(child))) }
    }

    /// Must be called once.
    pub(super) fn take(&self) -> Child {
        self.child.lock().take().expect("it is taken once")
    }

    /// Kills the process, and waits for its end.
    pub(super) fn end(self) -> Fiber<()> {
        Fiber::defer(move || {
            // If that fails, the wait reports the error.
            _ = self.process.kill();
            self.process.wait().map(drop)
        })
        .boxed()
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Child").field(&self.id()).finish()
    }
}
