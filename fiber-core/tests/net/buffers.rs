//! Readers and writers with buffers.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::net::Shutdown;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::net::{BufReader, ByteStream, PolledStream, TcpStream};
use fiber_core::scheduler::net::{Readiness, Socket, StreamSocket};
use fiber_core::{Either, Error, Fiber, fiber};

use crate::worlds::{Tried, connected, everywhere, everywhere_at_length, pattern};

fn sends(stream: TcpStream, text: &'static str) -> Fiber<()> {
    stream.write_all(text).map(move |_| drop(stream)).boxed()
}

fn kind(error: &Error) -> ErrorKind {
    error.downcast_ref::<io::Error>().unwrap().kind()
}

#[test]
fn lines_come_one_by_one_without_their_ends() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let reads = fiber! {
                let reader = server.buffered();
                let mut lines = Vec::new();
                loop {
                    let! line = reader.line();
                    let Some(line) = line else { break };
                    lines.push(line);
                }
                lines
            };
            let! () = sends(client, "one\r\n\ntwo\nthree") and! lines = reads;
            assert_eq!(lines, ["one", "", "two", "three"]);
        }
    });
}

#[test]
fn what_is_read_until_a_byte_has_the_byte() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let reader = server.buffered();
            let reads = fiber! {
                let! first = reader.read_until(b';');
                let! second = reader.read_until(b';');
                let! third = reader.read_until(b';');
                (first, second, third)
            };
            let! () = sends(client, "a;bc") and! parts = reads;
            assert_eq!(parts, (b"a;".to_vec(), b"bc".to_vec(), Vec::new()));
        }
    });
}

#[test]
fn exact_reads_share_a_buffer_and_say_what_is_missing() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let reader = server.buffered();
            let reads = fiber! {
                let! two = reader.read_exact(2);
                let! four = reader.read_exact(4).tried();
                let! rest = reader.rest();
                (two, four, rest)
            };
            let! () = sends(client, "abcde") and! (two, four, rest) = reads;
            assert_eq!(two, b"ab");
            assert_eq!(kind(&four.unwrap_err()), ErrorKind::UnexpectedEof);
            assert_eq!(rest, b"cde", "what came is still there");
        }
    });
}

#[test]
fn messages_of_a_protocol_are_cut_out_of_the_stream() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let reader = server.buffered();
            let frame = || |bytes: &[u8]| {
                let length = usize::from(*bytes.first()?);
                Some((1 + length, bytes.get(1..1 + length)?.to_vec()))
            };
            let reads = fiber! {
                let mut frames = Vec::new();
                loop {
                    let! one = reader.decode(frame());
                    let Some(one) = one else { break };
                    frames.push(one);
                }
                frames
            };
            let! () = sends(client, "\x03abc\x00\x01d") and! frames = reads;
            assert_eq!(frames, [b"abc".to_vec(), b"".to_vec(), b"d".to_vec()]);
        }
    });
}

#[test]
fn half_a_message_at_the_end_is_an_error() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let whole = |bytes: &[u8]| (bytes.len() >= 5).then_some((5, ()));
            let reader = server.buffered();
            let! () = sends(client, "abc") and! read = reader.decode(whole).tried();
            assert_eq!(kind(&read.unwrap_err()), ErrorKind::UnexpectedEof);
            assert_eq!(reader.buffered(), 3);
        }
    });
}

#[test]
fn a_line_that_is_too_long_is_an_error_and_not_a_large_buffer() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let reader = server.buffered().limit(8);
            let sends = client.write_all(pattern(4000)).map(drop).tried();
            let reads = fiber! {
                let! line = reader.line().tried();
                assert_eq!(kind(&line.unwrap_err()), ErrorKind::InvalidData);
                // The end of a line of 8 bytes could have followed.
                assert!(matches!(reader.buffered(), 9..=10), "{reader:?}");
                drop((reader, server));
            };
            let! _ = sends and! () = reads;
        }
    });
}

#[test]
fn a_cancelled_line_stays_in_the_buffer() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let reader = server.buffered();
            do! client.write_all("hel");
            let! first = reader.line().timeout_option(Duration::from_millis(30));
            assert_eq!(first, None);
            do! client.write_all("lo\n");
            let! line = reader.line();
            assert_eq!(line.as_deref(), Some("hello"));
        }
    });
}

#[test]
fn small_writes_go_out_together_and_in_order() {
    everywhere_at_length(|| {
        fiber! {
            let! (client, server) = connected();
            let writer = client.buffered_writer();
            let writes = fiber! {
                for n in 0..3000 { do! writer.put(format!("{n}\n")); }
                assert!(writer.buffered() < 9 * 1024);
                do! writer.flush();
                assert_eq!(writer.buffered(), 0);
                drop((writer, client));
            };
            let expected: String = (0..3000).map(|n| format!("{n}\n")).collect();
            let! () = writes and! all = server.buffered().rest();
            assert_eq!(String::from_utf8(all).unwrap(), expected);
        }
    });
}

#[test]
fn a_cancelled_flush_tears_nothing() {
    everywhere_at_length(|| {
        fiber! {
            let! (client, server) = connected();
            let writer = client.buffered_writer();
            // More than there is room for without a reader.
            let all = pattern(8 * 1024 * 1024);
            do! writer.put(all.clone());
            let! first = writer.flush().race(Fiber::delay(Duration::from_millis(30)));
            assert!(matches!(first, Either::Right(())));
            let ends = fiber! {
                do! writer.flush();
                drop((writer, client));
            };
            let! () = ends and! read = server.buffered().limit(usize::MAX).rest();
            assert!(read == all, "{} of {} bytes came", read.len(), all.len());
        }
    });
}

#[test]
fn a_line_that_is_not_utf_8_is_an_error_and_the_next_one_comes() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let reader = server.buffered();
            let reads = fiber! {
                let! first = reader.line();
                let! second = reader.line().tried();
                let! third = reader.line();
                let! last = reader.line().tried();
                let! end = reader.line();
                (first, second.unwrap_err(), third, last.unwrap_err(), end)
            };
            let sends = client.write_all(b"one\n\xffwo\r\nthree\nf\xffur").map(move |_| drop(client));
            let! () = sends and! (first, second, third, last, end) = reads;
            assert_eq!((first.as_deref(), third.as_deref(), end), (Some("one"), Some("three"), None));
            for (error, bytes) in [(second, &b"\xffwo"[..]), (last, b"f\xffur")] {
                assert_eq!(kind(&error), ErrorKind::InvalidData);
                // The error has the bytes of the line.
                let error: &io::Error = error.downcast_ref().unwrap();
                let error: &std::string::FromUtf8Error = error.get_ref().unwrap().downcast_ref().unwrap();
                assert_eq!(error.as_bytes(), bytes);
            }
        }
    });
}

/// What a reader with a limit of 4 bytes gives for a text.
fn limited(text: &'static str, read: fn(&BufReader) -> Fiber<Vec<u8>>) -> Fiber<Result<Vec<u8>, ErrorKind>> {
    fiber! {
        let! (client, server) = connected();
        let reads = read(&server.buffered().limit(4)).tried();
        let! () = sends(client, text) and! given = reads;
        given.map_err(|error| kind(&error))
    }
}

fn line(reader: &BufReader) -> Fiber<Vec<u8>> {
    reader.line().map(|line| line.unwrap_or_default().into_bytes()).boxed()
}

fn until(reader: &BufReader) -> Fiber<Vec<u8>> {
    reader.read_until(b';').boxed()
}

fn rest(reader: &BufReader) -> Fiber<Vec<u8>> {
    reader.rest().boxed()
}

/// A message ends with a dot, which belongs to it.
fn message(reader: &BufReader) -> Fiber<Vec<u8>> {
    let whole = |bytes: &[u8]| {
        let end = bytes.iter().position(|byte| *byte == b'.')? + 1;
        Some((end, bytes[..end].to_vec()))
    };
    reader.decode(whole).map(Option::unwrap_or_default).boxed()
}

#[test]
fn the_limit_is_the_length_of_the_longest_line_without_its_end() {
    everywhere(|| {
        fiber! {
            for text in ["abc\n", "abc\r\n", "abc", "abcd\n", "abcd\r\n", "abcd", "abc\r\r\n", "abcd\nnext", "abcd\r\nnext"] {
                let! given = limited(text, line);
                let end = text.find('\n').map_or(text, |end| &text[..end]);
                let expected = end.strip_suffix('\r').unwrap_or(end).as_bytes();
                assert_eq!(given.as_deref(), Ok(expected), "{text:?}");
            }
            for text in ["abcde\n", "abcde\r\n", "abcde", "abcd\r", "abcd\rx\n", "abcd\r\r\n"] {
                let! given = limited(text, line);
                assert_eq!(given, Err(ErrorKind::InvalidData), "{text:?}");
            }
        }
    });
}

#[test]
fn the_limit_is_the_longest_of_everything_else_too() {
    everywhere(|| {
        fiber! {
            for text in ["abc;", "abcd;", "abcd", "abcd;next"] {
                let! given = limited(text, until);
                assert_eq!(given.as_deref(), Ok(text.trim_end_matches("next").as_bytes()));
            }
            for text in ["abc.", "abc.next"] {
                let! given = limited(text, message);
                assert_eq!(given.as_deref(), Ok(&b"abc."[..]));
            }
            let! given = limited("abcd", rest);
            assert_eq!(given.as_deref(), Ok(&b"abcd"[..]));
            let! given = limited("abcd", |reader| reader.read_exact(4).boxed());
            assert_eq!(given.as_deref(), Ok(&b"abcd"[..]));
            for read in [until, message, rest] {
                let! given = limited("abcde;.", read);
                assert_eq!(given, Err(ErrorKind::InvalidData));
            }
            let! given = limited("abcde", |reader| reader.read_exact(5).boxed());
            assert_eq!(given, Err(ErrorKind::InvalidInput));
        }
    });
}

#[test]
fn readers_of_one_buffer_have_limits_of_their_own() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let wide = server.buffered();
            let narrow = wide.clone().limit(2);
            do! client.write_all("four\nlong;.").map(move |_| drop(client));
            let! length = wide.decode(|bytes| (bytes.len() == 11).then_some((0, bytes.len())));
            assert_eq!(length, Some(11), "all is in the buffer");
            for read in [line, until, message, rest] {
                let! given = read(&narrow).tried();
                assert_eq!(kind(&given.unwrap_err()), ErrorKind::InvalidData);
            }
            let! four = wide.line();
            assert_eq!(four.as_deref(), Some("four"));
        }
    });
}

/// A line of which much is there at once, and the rest comes byte by byte.
struct Trickle {
    at_once: usize,
    one_by_one: usize,
    is_waiting: bool,
}

impl PolledStream for Trickle {
    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        if self.at_once > 0 {
            let n = into.len().min(self.at_once);
            self.at_once -= n;
            into[..n].fill(b'x');
            return Poll::Ready(Ok(n));
        }
        self.is_waiting = !self.is_waiting;
        if self.is_waiting {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        into[0] = if self.one_by_one == 0 { b'\n' } else { b'y' };
        self.one_by_one = self.one_by_one.saturating_sub(1);
        Poll::Ready(Ok(1))
    }

    fn poll_write(&mut self, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(ErrorKind::Unsupported.into()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the time that a search takes is what is tested")]
fn a_long_line_that_comes_byte_by_byte_is_searched_once() {
    const AT_ONCE: usize = 1024 * 1024;
    const ONE_BY_ONE: usize = 20_000;
    let stream = ByteStream::polled(Trickle { at_once: AT_ONCE, one_by_one: ONE_BY_ONE, is_waiting: false });
    let line = stream.buffered().limit(AT_ONCE + ONE_BY_ONE).line();
    let began = Instant::now();
    let line = fiber_sched::run(line).unwrap();
    assert_eq!(line.unwrap().len(), AT_ONCE + ONE_BY_ONE);
    // To search all of it at each byte takes minutes.
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

/// Two lines arrive between a look of a fiber and its wait, and another fiber reads both and takes one: the look after this many.
#[derive(Clone, Default)]
struct Interrupted(Arc<State>);

#[derive(Default)]
struct State {
    readable: Readiness,
    writable: Readiness,
    bytes: Mutex<VecDeque<u8>>,
    looks_left: AtomicUsize,
    /// Taken once, so that the socket does not keep its own reader alive.
    other: Mutex<Option<BufReader>>,
}

impl Socket for Interrupted {
    #[expect(clippy::disallowed_methods, reason = "another thread is what interrupts")]
    fn readable(&self) -> &Readiness {
        let state = &*self.0;
        let left = state.looks_left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
        if left == Ok(1) {
            state.bytes.lock().unwrap().extend(b"one\ntwo\n");
            state.readable.event(false).fire();
            let other = state.other.lock().unwrap().take().unwrap().line();
            let line = thread::spawn(|| fiber_sched::run(other).unwrap()).join().unwrap();
            assert_eq!(line.as_deref(), Some("one"));
        }
        &state.readable
    }

    fn writable(&self) -> &Readiness {
        &self.0.writable
    }

    fn short_means_empty(&self) -> bool {
        true
    }
}

impl StreamSocket for Interrupted {
    fn connected(&self) -> io::Result<()> {
        Ok(())
    }

    fn try_read(&self, into: &mut [u8]) -> io::Result<usize> {
        let mut bytes = self.0.bytes.lock().unwrap();
        if bytes.is_empty() { Err(ErrorKind::WouldBlock.into()) } else { bytes.read(into) }
    }

    fn try_peek(&self) -> io::Result<()> {
        Ok(())
    }

    fn try_write(&self, from: &[u8]) -> io::Result<usize> {
        Ok(from.len())
    }

    fn shutdown(&self, _: Shutdown) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_fiber_that_is_about_to_wait_finds_what_another_one_has_read_ahead() {
    let socket = Interrupted::default();
    let reader = ByteStream::of(Box::new(socket.clone()), "Interrupted").buffered();
    *socket.0.other.lock().unwrap() = Some(reader.clone());
    // One look for the attempt, and one for the wait.
    socket.0.looks_left.store(2, SeqCst);
    let line = fiber_sched::run(reader.line().timeout(Duration::from_secs(60))).unwrap();
    assert_eq!(line.as_deref(), Some("two"));
}
