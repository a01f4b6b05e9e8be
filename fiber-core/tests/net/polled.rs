//! Polled streams, as streams for fibers.

use std::collections::VecDeque;
use std::io;
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use fiber_core::net::{ByteStream, PolledStream, WriteFailed, copy};
use fiber_core::{Fiber, fiber};
use fiber_test::TestScheduler;
use parking_lot::Mutex;

use crate::worlds::{connected, everywhere, kind, pattern};

/// How much one end buffers before it has to send, and how much may be in transit.
const TAKES: usize = 16;
const ROOM: usize = 8;

/// Bytes in transit. Buffered bytes stay where they are until they are flushed and there is room.
#[derive(Default)]
struct Direction {
    taken: VecDeque<u8>,
    sent: VecDeque<u8>,
    is_closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// One end of a connection in memory. It moves its buffered bytes only while it is polled.
struct End {
    reads: Arc<Mutex<Direction>>,
    writes: Arc<Mutex<Direction>>,
}

fn ends() -> (End, End) {
    let (one, other) = (Arc::<Mutex<Direction>>::default(), Arc::default());
    (End { reads: one.clone(), writes: Arc::clone(&other) }, End { reads: other, writes: one })
}

fn pair() -> (ByteStream, ByteStream) {
    let (one, other) = ends();
    (ByteStream::polled(one), ByteStream::polled(other))
}

fn wake(waker: Option<Waker>) {
    waker.into_iter().for_each(Waker::wake);
}

impl PolledStream for End {
    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut direction = self.reads.lock();
        if direction.sent.is_empty() && !direction.is_closed {
            direction.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let n = io::Read::read(&mut direction.sent, into)?;
        let writer = direction.writer.take();
        drop(direction);
        wake(writer);
        Poll::Ready(Ok(n))
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        let mut direction = self.writes.lock();
        if direction.is_closed {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let n = from.len().min(TAKES - direction.taken.len());
        if n == 0 && !from.is_empty() {
            direction.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        direction.taken.extend(&from[..n]);
        Poll::Ready(Ok(n))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut direction = self.writes.lock();
        while direction.sent.len() < ROOM
            && let Some(byte) = direction.taken.pop_front()
        {
            direction.sent.push_back(byte);
        }
        let is_done = direction.taken.is_empty();
        if !is_done {
            direction.writer = Some(cx.waker().clone());
        }
        let reader = direction.reader.take();
        drop(direction);
        wake(reader);
        if is_done { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = self.poll_flush(cx);
        if flushed.is_ready() {
            let mut direction = self.writes.lock();
            direction.is_closed = true;
            let reader = direction.reader.take();
            drop(direction);
            wake(reader);
        }
        flushed
    }
}

impl Drop for End {
    fn drop(&mut self) {
        for direction in [&self.reads, &self.writes] {
            let mut direction = direction.lock();
            direction.is_closed = true;
            let wakers = [direction.reader.take(), direction.writer.take()];
            drop(direction);
            wakers.into_iter().for_each(wake);
        }
    }
}

#[test]
fn lines_and_messages_come_over_a_polled_stream() {
    everywhere(|| {
        fiber! {
            let (one, other) = pair();
            let writes = fiber! {
                do! one.write_all("a line that is longer than what is taken at once\n");
                do! one.write_all_vectored(vec!["1234", "5678", "9\nrest"]);
                do! one.close();
            };
            let reads = fiber! {
                let reader = other.buffered();
                let! line = reader.line();
                let! exact = reader.read_exact(4);
                let! until = reader.read_until(b'\n');
                let! rest = reader.rest();
                (line, exact, until, rest)
            };
            let! () = writes and! (line, exact, until, rest) = reads;
            assert_eq!(line.as_deref(), Some("a line that is longer than what is taken at once"));
            assert_eq!((&*exact, &*until, &*rest), (&b"1234"[..], &b"56789\n"[..], &b"rest"[..]));
        }
    });
}

#[test]
fn what_comes_by_a_socket_is_copied_through_polled_streams() {
    const LONG: usize = 200;
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let (one, other) = pair();
            let sends = client.write_all(pattern(LONG)).map(move |_| drop(client));
            let forwards = copy(server, one.clone()).bind(move |copied| one.close().map(move |()| copied));
            let! () = sends and! copied = forwards and! all = other.buffered().rest();
            assert_eq!((copied, all), (LONG as u64, pattern(LONG)));
        }
    });
}

#[test]
fn both_directions_are_used_at_once() {
    everywhere(|| {
        fiber! {
            let (one, other) = pair();
            let echo = copy(other.clone(), other.clone()).bind(move |_| other.close());
            let asks = one.clone();
            let sends = fiber! { do! asks.write_all(pattern(100)); do! asks.close(); };
            let! () = echo and! () = sends and! all = one.buffered().rest();
            assert_eq!(all, pattern(100));
        }
    });
}

#[test]
fn a_cancelled_read_has_taken_nothing_from_a_polled_stream() {
    const CUT: Duration = Duration::from_micros(200);
    everywhere(|| {
        fiber! {
            let (one, other) = pair();
            let sends = fiber! {
                for part in pattern(60).chunks(3) {
                    do! one.write_all(part.to_vec());
                    do! Fiber::delay(Duration::from_micros(300));
                }
                do! one.close();
            };
            let reads = fiber! {
                let mut all = Vec::new();
                loop {
                    let! read = other.read([0; 16]).timeout_option(CUT);
                    let Some((n, bytes)) = read else { continue };
                    if n == 0 { break }
                    all.extend_from_slice(&bytes[..n]);
                }
                all
            };
            let! () = sends and! all = reads;
            assert_eq!(all, pattern(60));
        }
    });
}

#[test]
fn readable_takes_nothing_from_a_polled_stream() {
    everywhere(|| {
        fiber! {
            let (one, other) = pair();
            let! _ = one.write_all("there") and! () = other.readable();
            do! other.readable();
            let! all = other.read_exact([0; 5]);
            assert_eq!(&all, b"there");
            // The end, too.
            do! one.close();
            do! other.readable();
            let! (n, _) = other.read([0; 5]);
            assert_eq!(n, 0);
        }
    });
}

#[test]
fn a_write_all_ends_when_all_is_sent() {
    let (one, other) = pair();
    let test = TestScheduler::new();
    // All bytes are buffered, but there is no room for all of them.
    let writes = test.spawn(one.write_all([7; ROOM + 1]).map(drop));
    test.run_until_idle();
    assert!(writes.is_pending());
    let reads = test.spawn(other.read_exact([0; ROOM + 1]).map(drop));
    test.run_until_idle();
    assert!(!reads.is_pending() && !writes.is_pending());
}

#[test]
fn a_write_all_that_is_cancelled_before_all_is_sent_says_so() {
    let (one, _other) = pair();
    let test = TestScheduler::new();
    let writes = one.write_all([7; ROOM + 1]).map(drop).timeout_option(Duration::from_secs(1));
    assert_eq!(test.run(writes).unwrap(), None);
    let torn = one.torn_write().expect("the rest may never be sent");
    assert_eq!((torn.written, torn.of), (ROOM + 1, ROOM + 1));
}

#[test]
fn what_a_write_has_left_is_sent_by_whatever_comes_next() {
    type Next = fn(ByteStream) -> Fiber<()>;
    let nexts: [Next; 5] = [
        |one| one.flush().boxed(),
        |one| one.close().boxed(),
        |one| one.read([0]).map(drop).boxed(),
        |one| one.readable().boxed(),
        |one| one.write("more").map(drop).boxed(),
    ];
    for next in nexts {
        let test = TestScheduler::new();
        let (one, other) = pair();
        let (n, _) = test.run(one.write([7; TAKES])).unwrap();
        assert_eq!(n, TAKES, "all is taken, and a part is held back");
        let _next = test.spawn(next(one));
        let all = test.spawn(other.read_exact([0; TAKES]));
        test.run_until_idle();
        assert!(!all.is_pending());
    }
}

#[test]
fn the_end_that_cannot_be_sent_at_once_is_sent_by_close() {
    let test = TestScheduler::new();
    let (one, other) = pair();
    test.run(one.write([7; TAKES])).unwrap();
    assert_eq!(one.shutdown(Shutdown::Write).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    let all = test.run(one.close().zip(other.buffered().rest())).unwrap().1;
    assert_eq!(all, [7; TAKES]);
    assert_eq!(kind(test.run(one.write("more"))), io::ErrorKind::BrokenPipe);
    // No reader is left.
    other.shutdown(Shutdown::Read).unwrap();
    assert_eq!(test.run(other.read([0; 8])).unwrap().0, 0);
}

#[test]
fn a_fiber_that_reads_when_nobody_does_any_more_is_woken() {
    let test = TestScheduler::new();
    let (one, _other) = pair();
    let reads = test.spawn(one.read([0; 8]).map(|(n, _)| n));
    test.run_until_idle();
    one.shutdown(Shutdown::Read).unwrap();
    test.run_until_idle();
    assert_eq!(reads.outcome().unwrap(), 0);
}

/// Wakes its task in every call, and returns something after `calls` of them.
struct Yields {
    calls: u32,
}

impl PolledStream for Yields {
    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        match self.calls {
            0 => {
                into.fill(7);
                Poll::Ready(Ok(into.len()))
            }
            _ => {
                self.calls -= 1;
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }

    fn poll_write(&mut self, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[test]
fn others_run_while_a_stream_tells_its_task_to_yield() {
    fn beside(read: impl FnOnce(ByteStream) -> Fiber<()>) -> u32 {
        let (turns, turn) =
            (Arc::new(AtomicU32::new(0)), |turns: &AtomicU32| turns.fetch_add(1, Ordering::SeqCst));
        let counted = turns.clone();
        let works = fiber! {
            loop {
                turn(&counted);
                do! Fiber::yield_now();
            }
        };
        let program = works.race(read(ByteStream::polled(Yields { calls: 200 })));
        assert!(TestScheduler::new().run(program.map(drop)).is_success());
        turns.load(Ordering::SeqCst)
    }
    assert!(beside(|stream| stream.read([0]).map(drop).boxed()) > 5);
    let polls = |stream: ByteStream| {
        let mut stream = stream.asynchronous();
        let read = async move { std::future::poll_fn(|cx| stream.poll_read(cx, &mut [0])).await };
        Fiber::from_future(read).map(drop).boxed()
    };
    assert!(beside(polls) > 5);
}

/// Fails, or panics.
struct Breaks {
    panics: bool,
}

impl PolledStream for Breaks {
    fn poll_read(&mut self, _: &mut Context<'_>, _: &mut [u8]) -> Poll<io::Result<usize>> {
        assert!(!self.panics, "a stream that panics");
        // Once; then it ends.
        self.panics = true;
        Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))
    }

    fn poll_write(&mut self, _: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(from.len()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()))
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

#[test]
fn an_error_is_given_to_whoever_reads_after_readable() {
    let test = TestScheduler::new();
    let stream = ByteStream::polled(Breaks { panics: false });
    test.run(stream.readable()).unwrap();
    test.run(stream.readable()).unwrap();
    assert_eq!(kind(test.run(stream.read([0]))), io::ErrorKind::ConnectionReset);
}

#[test]
fn what_cannot_be_sent_fails() {
    let test = TestScheduler::new();
    let stream = ByteStream::polled(Breaks { panics: false });
    let failed = test.run(stream.write_all("lost")).failure().expect("it was taken, and cannot be sent");
    let failed: &fiber_core::net::WriteFailed = failed.downcast_ref().unwrap();
    assert_eq!(failed.error().kind(), io::ErrorKind::ConnectionAborted);
    assert_eq!(kind(test.run(stream.flush())), io::ErrorKind::ConnectionAborted);
    assert_eq!(kind(test.run(stream.close())), io::ErrorKind::ConnectionAborted);
}

/// Accepts everything, and says once that it cannot be sent: as a file of tokio on a full disk.
#[derive(Default)]
struct FailsOnce {
    has_failed: bool,
}

impl PolledStream for FailsOnce {
    fn poll_read(&mut self, _: &mut Context<'_>, _: &mut [u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(0))
    }

    fn poll_write(&mut self, _: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(from.len()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let has_failed = std::mem::replace(&mut self.has_failed, true);
        Poll::Ready(if has_failed { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) })
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[test]
fn what_cannot_be_sent_fails_although_the_stream_says_so_once() {
    type Next = fn(ByteStream) -> Fiber<()>;
    let nexts: [Next; 5] = [
        |stream| stream.flush().boxed(),
        |stream| stream.close().boxed(),
        |stream| stream.write("more").map(drop).boxed(),
        |stream| stream.read([0]).bind(move |_| stream.flush()).boxed(),
        |stream| stream.readable().bind(move |()| stream.close()).boxed(),
    ];
    let test = TestScheduler::new();
    for next in nexts {
        let stream = ByteStream::polled(FailsOnce::default());
        test.run(stream.write("lost")).unwrap();
        assert_eq!(kind(test.run(next(stream))), io::ErrorKind::StorageFull);
    }
    let stream = ByteStream::polled(FailsOnce::default());
    assert!(test.run(stream.write_all("lost")).is_failure());
    test.run(stream.write_all("sent")).unwrap();
}

#[test]
fn a_stream_that_panics_ends_its_fiber_and_no_more() {
    let test = TestScheduler::new();
    let stream = ByteStream::polled(Breaks { panics: true });
    assert!(test.run(stream.read([0])).is_panicked());
    test.run(stream.write("still there")).unwrap();
}

#[test]
fn a_deadlock_report_names_a_polled_stream() {
    let (one, other) = pair();
    let both_read = one.read([0]).zip(other.read([0])).map(drop);
    let report = TestScheduler::new().try_run(both_read).unwrap_err().to_string();
    assert!(report.contains("waits for data from the Polled stream of "), "{report}");
}

#[test]
fn there_and_back_again_by_the_traits_of_futures() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let client = ByteStream::from_futures_io(client.asynchronous());
            let server = ByteStream::from_futures_io(server.asynchronous());
            let asks = fiber! { do! client.write_all("hello\n"); do! client.close(); };
            let! () = asks and! line = server.buffered().line();
            assert_eq!(line.as_deref(), Some("hello"));
        }
    });
}

#[test]
fn there_and_back_again_by_the_traits_of_tokio() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let client = ByteStream::from_tokio_io(client.asynchronous());
            let server = ByteStream::from_tokio_io(server.asynchronous());
            let asks = fiber! { do! client.write_all("hello\n"); do! client.close(); };
            let! () = asks and! line = server.buffered().line();
            assert_eq!(line.as_deref(), Some("hello"));
        }
    });
}

#[test]
fn a_duplex_of_tokio_needs_no_runtime() {
    everywhere(|| {
        fiber! {
            let (one, other) = tokio::io::duplex(16);
            let (one, other) = (ByteStream::from_tokio_io(one), ByteStream::from_tokio_io(other));
            let writes = one.write_all(pattern(100)).map(move |_| drop(one));
            let! () = writes and! all = other.buffered().rest();
            assert_eq!(all, pattern(100));
        }
    });
}

#[test]
fn a_writer_that_waits_for_room_is_woken_by_the_close() {
    for how in [Shutdown::Write, Shutdown::Both] {
        let (one, other) = tokio::io::duplex(8);
        let (one, _other) = (ByteStream::from_tokio_io(one), ByteStream::from_tokio_io(other));
        let closes = one.clone();
        let closes = Fiber::delay(Duration::from_secs(1)).try_map(move |()| closes.shutdown(how));
        let test = TestScheduler::new();
        let error = test.run(one.write_all([0; 16]).zip(closes)).failure().expect("it writes no more");
        let failed: &WriteFailed = error.downcast_ref().expect("the write");
        assert_eq!(failed.error().kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(test.now().as_nanos(), 1_000_000_000);
    }
}
