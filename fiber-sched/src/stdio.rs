//! The standard input and output of the program.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
#[cfg(unix)]
use std::os::fd::AsFd;
use std::sync::{Arc, OnceLock};
use std::thread;

use fiber_core::Fiber;
use fiber_core::net::ByteStream;
use fiber_core::scheduler::net::{Readiness, Socket, StreamSocket};
use parking_lot::{Condvar, Mutex};
#[cfg(unix)]
use rustix::event::{PollFd, PollFlags, poll};

/// The number of bytes that are read ahead of the fibers' reads.
const MOST_AHEAD: usize = 64 * 1024;
/// The most bytes that are read at once: more than the buffer of `std::io::stdin`, which is then left out.
const PIECE: usize = 16 * 1024;

/// The standard input, which all its readers share. For lines, use one [`BufReader`](fiber_core::net::BufReader).
///
/// From the first call on, a thread reads it, because this works for terminals and files, too. The thread reads at most
/// 64 KiB ahead. Code that reads `std::io::stdin` besides gets only what the thread has not taken.
///
/// ```
/// use fiber_core::fiber;
/// let greeting = fiber! {
///     let! name = fiber_sched::stdin().buffered().line();
///     do! fiber_sched::print(format!("hello, {}\n", name.unwrap_or_default()));
/// };
/// fiber_sched::run(greeting).unwrap();
/// ```
///
/// # Cancellation
/// A cancelled read has taken nothing: the next one gets the input.
pub fn stdin() -> ByteStream {
    static STDIN: OnceLock<ByteStream> = OnceLock::new();
    STDIN.get_or_init(|| read_by_a_thread(Blocking(io::stdin()))).clone()
}

/// Writes to the standard output on a blocking thread, and flushes it before the fiber continues.
///
/// ```
/// fiber_sched::run(fiber_sched::print("one line\n")).unwrap();
/// ```
///
/// # Errors
/// Those of the operating system, such as `BrokenPipe`.
///
/// # Cancellation
/// A write that has begun continues to its end on its thread.
#[track_caller]
pub fn print(text: impl AsRef<[u8]> + Send + 'static) -> Fiber<()> {
    written(text, io::stdout)
}

/// Like [`print`](fn@print), for the standard error output.
///
/// ```
/// fiber_sched::run(fiber_sched::eprint("something is odd\n")).unwrap();
/// ```
///
/// # Errors
/// As with `print`.
///
/// # Cancellation
/// As with `print`.
#[track_caller]
pub fn eprint(text: impl AsRef<[u8]> + Send + 'static) -> Fiber<()> {
    written(text, io::stderr)
}

#[track_caller]
fn written<W: Write + 'static>(text: impl AsRef<[u8]> + Send + 'static, output: fn() -> W) -> Fiber<()> {
    Fiber::try_blocking(move || {
        let mut output = output();
        output.write_all(text.as_ref())?;
        output.flush()
    })
    .boxed()
}

/// Blocks although another program, with which this one shares a terminal or a pipe, has made that non-blocking.
struct Blocking<R>(R);

#[cfg(unix)]
impl<R: Read + AsFd> Read for Blocking<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(into) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    _ = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], None)?;
                }
                read => return read,
            }
        }
    }
}

#[cfg(not(unix))]
impl<R: Read> Read for Blocking<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

/// A stream of the bytes that a thread reads from a blocking source.
fn read_by_a_thread(from: impl Read + Send + 'static) -> ByteStream {
    let ahead = Arc::new(Ahead::default());
    let thread = ahead.clone();
    let started = thread::Builder::new().name("fiber-stdin".to_owned()).spawn(move || thread.fill(from));
    if let Err(error) = started {
        ahead.ends(Err(error));
    }
    ByteStream::of(Box::new(Reader(ahead)), "Stdin")
}

/// The bytes that were read and not taken.
#[derive(Default)]
struct Ahead {
    state: Mutex<State>,
    has_room: Condvar,
    readable: Readiness,
    writable: Readiness,
}

#[derive(Default)]
struct State {
    bytes: VecDeque<u8>,
    /// The end of the input, or an error that no read has reported yet.
    end: Option<io::Result<()>>,
}

impl Ahead {
    fn fill(&self, mut from: impl Read) {
        let mut buffer = vec![0; PIECE];
        loop {
            self.wait_for_room();
            match from.read(&mut buffer) {
                Ok(0) => return self.ends(Ok(())),
                Ok(n) => self.put(&buffer[..n]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return self.ends(Err(error)),
            }
        }
    }

    /// Waits until a piece can be kept. What the thread has taken from the source, nobody else gets.
    fn wait_for_room(&self) {
        let mut state = self.state.lock();
        self.has_room.wait_while(&mut state, |state| state.bytes.len() + PIECE > MOST_AHEAD);
    }

    fn put(&self, bytes: &[u8]) {
        self.state.lock().bytes.extend(bytes);
        self.readable.event(false).fire();
    }

    fn ends(&self, end: io::Result<()>) {
        self.state.lock().end = Some(end);
        self.readable.event(true).fire();
    }

    /// Takes bytes that are there. Otherwise reports the end, or the error once.
    fn take(&self, into: &mut [u8]) -> io::Result<usize> {
        let mut state = self.state.lock();
        if state.bytes.is_empty() && !into.is_empty() {
            let end = state.end.as_mut().ok_or(ErrorKind::WouldBlock)?;
            return std::mem::replace(end, Ok(())).map(|()| 0);
        }
        // The queue may be in two parts, of which a call takes one. A read that is short says that nothing is left.
        let first = state.bytes.read(into)?;
        let n = first + state.bytes.read(&mut into[first..])?;
        self.has_room.notify_one();
        Ok(n)
    }

    fn is_ready(&self) -> bool {
        let state = self.state.lock();
        !state.bytes.is_empty() || state.end.is_some()
    }
}

struct Reader(Arc<Ahead>);

impl Socket for Reader {
    fn readable(&self) -> &Readiness {
        &self.0.readable
    }

    fn writable(&self) -> &Readiness {
        &self.0.writable
    }

    /// New input fires an event.
    fn short_means_empty(&self) -> bool {
        true
    }
}

impl StreamSocket for Reader {
    fn connected(&self) -> io::Result<()> {
        Ok(())
    }

    fn try_read(&self, into: &mut [u8]) -> io::Result<usize> {
        self.0.take(into)
    }

    fn try_peek(&self) -> io::Result<()> {
        if self.0.is_ready() { Ok(()) } else { Err(ErrorKind::WouldBlock.into()) }
    }

    fn try_write(&self, _: &[u8]) -> io::Result<usize> {
        Err(ErrorKind::Unsupported.into())
    }

    fn shutdown(&self, _: Shutdown) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }
}

impl fmt::Debug for Ahead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ahead").field("bytes", &self.state.lock().bytes.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pool;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::mpsc;
    use std::time::Duration;

    /// Returns the pieces one by one.
    struct Pieces(mpsc::Receiver<Vec<u8>>);

    impl Read for Pieces {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let Ok(piece) = self.0.recv() else { return Ok(0) };
            into[..piece.len()].copy_from_slice(&piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn a_cancelled_read_of_what_a_thread_reads_loses_nothing() {
        let (pieces, from) = mpsc::channel();
        let input = read_by_a_thread(Pieces(from));
        let pool = Pool::builder().workers(1).build();
        let cut_off = input.read([0; 8]).timeout_option(Duration::from_millis(5));
        assert!(pool.run(cut_off).unwrap().is_none());
        pieces.send(b"hel".to_vec()).unwrap();
        let reader = input.buffered();
        let (first, again) = (reader.clone(), reader.clone());
        let cut_off = pool.run(first.line().timeout_option(Duration::from_millis(5)));
        assert!(cut_off.unwrap().is_none());
        pieces.send(b"lo\nrest".to_vec()).unwrap();
        assert_eq!(pool.run(again.line()).unwrap().as_deref(), Some("hello"));
        drop(pieces);
        assert_eq!(pool.run(reader.rest()).unwrap(), b"rest");
        assert_eq!(pool.run(input.read([0; 8])).unwrap().0, 0, "the end is the end");
    }

    #[test]
    fn a_reader_of_much_gets_all_of_it_in_order() {
        let (pieces, from) = mpsc::channel();
        let input = read_by_a_thread(Pieces(from));
        // More than the thread reads ahead.
        (0..10_u8).for_each(|n| pieces.send(vec![n; PIECE]).unwrap());
        drop(pieces);
        let all = Pool::builder().workers(1).build().run(input.buffered().limit(usize::MAX).rest()).unwrap();
        assert_eq!(all.len(), 10 * PIECE);
        assert!(all.is_sorted());
    }

    /// The queue is a ring, at whose end the second piece is split.
    #[test]
    fn a_read_takes_all_that_is_there() {
        let (pieces, from) = mpsc::channel();
        let input = read_by_a_thread(Pieces(from));
        let pool = Pool::builder().workers(1).build();
        let patience = Duration::from_secs(20);
        pieces.send(vec![1; 1000]).unwrap();
        assert_eq!(pool.run(input.read([0; 600]).timeout(patience)).unwrap().0, 600);
        pieces.send(vec![2; 500]).unwrap();
        thread::sleep(Duration::from_millis(20)); // so that it is there
        let mut left = 900;
        while left > 0 {
            // More would have to come before a read that waited for an event would end.
            left -= pool.run(input.read([0; 4096]).timeout(patience)).unwrap().0;
        }
    }

    #[cfg(unix)]
    #[test]
    fn input_that_others_have_made_non_blocking_is_waited_for() {
        use std::os::unix::net::UnixStream;
        let (mut program, shared) = UnixStream::pair().unwrap();
        shared.set_nonblocking(true).unwrap();
        let line = read_by_a_thread(Blocking(shared)).buffered().line();
        let pool = Pool::builder().workers(1).build();
        let line = pool.spawn(line.timeout(Duration::from_secs(20)));
        thread::sleep(Duration::from_millis(20)); // so that the thread has found nothing
        program.write_all(b"late\n").unwrap();
        assert_eq!(crate::block_on(line).unwrap().as_deref(), Some("late"));
    }

    /// Never ends, and counts the bytes that were taken.
    struct Endless(Arc<AtomicUsize>);

    impl Read for Endless {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0.fetch_add(into.len(), SeqCst);
            Ok(into.len())
        }
    }

    #[test]
    fn a_thread_takes_no_more_than_it_may_read_ahead() {
        let taken = Arc::new(AtomicUsize::new(0));
        let input = read_by_a_thread(Endless(taken.clone()));
        let pool = Pool::builder().workers(1).build();
        for reads in 0..100 {
            thread::sleep(Duration::from_millis(1));
            assert!(taken.load(SeqCst) <= MOST_AHEAD + reads * 1000, "{taken:?} bytes for {reads} reads");
            assert_eq!(pool.run(input.read([0; 1000])).unwrap().0, 1000);
        }
    }
}
