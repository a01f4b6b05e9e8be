//! Readers and writers with buffers.

use std::io::{self, ErrorKind};
use std::time::Duration;

use fiber_core::net::TcpStream;
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
                assert_eq!(reader.buffered(), 8);
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
