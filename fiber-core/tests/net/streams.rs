//! Connections, reads and writes.

use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::time::Duration;

use fiber_core::net::{TcpListener, TcpStream, WriteFailed, copy};
use fiber_core::{Fiber, fiber};

use crate::worlds::{Tried, connected, everywhere, everywhere_at_length, pattern, real};

/// More than any world buffers for a reader that does not read.
const LONG: usize = 300;

/// Fails a test that would hang.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn what_one_end_writes_the_other_one_reads() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let! _ = client.write_all("ping") and! ping = server.buffered().read_exact(4);
            assert_eq!(ping, b"ping");
            let! _ = server.write_all("pong") and! pong = client.buffered().read_exact(4);
            assert_eq!(pong, b"pong");
        }
    });
}

#[test]
fn both_directions_at_the_same_time_keep_their_order() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let talks = |stream: TcpStream| fiber! {
                let (reads, writes) = stream.split();
                let writing = fiber! {
                    for part in pattern(LONG).chunks(7) { do! writes.write_all(part.to_vec()); }
                    drop(writes);
                };
                let! () = writing and! all = reads.buffered().rest();
                assert_eq!(all, pattern(LONG));
            };
            let! () = talks(client) and! () = talks(server);
        }
    });
}

#[test]
fn the_end_comes_after_all_that_was_written() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            do! client.write_all("last words");
            client.shutdown(Shutdown::Write)?;
            let! words = server.buffered().rest();
            assert_eq!(words, b"last words");
            let! (n, _) = server.read([0; 8]);
            assert_eq!(n, 0, "the end is the end");
            // The other direction is open.
            do! server.write_all("heard");
            let! heard = client.buffered().read_exact(5);
            assert_eq!(heard, b"heard");
        }
    });
}

#[test]
fn a_drop_of_the_last_clone_is_the_end() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let clone = client.clone();
            drop(client);
            do! clone.write_all("x");
            drop(clone);
            let! rest = server.buffered().rest();
            assert_eq!(rest, b"x");
        }
    });
}

#[test]
fn who_writes_after_its_own_end_fails() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            client.shutdown(Shutdown::Write)?;
            let! failure = client.write_all("x").map(drop).tried();
            let error = failure.unwrap_err();
            let failed = error.downcast_ref::<WriteFailed>().unwrap();
            assert_eq!(failed.error().kind(), ErrorKind::BrokenPipe);
            assert_eq!((failed.torn().written, failed.torn().of), (0, 1));
            assert_eq!(client.torn_write(), None, "the other end saw nothing of it");
            drop(server);
        }
    });
}

#[test]
fn who_connects_to_nobody_is_refused() {
    everywhere(|| {
        fiber! {
            // A port that was free just before.
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let at = listener.local_addr()?;
            drop(listener);
            let! refused = TcpStream::connect(at).tried();
            let error = refused.unwrap_err();
            assert_eq!(error.downcast_ref::<io::Error>().unwrap().kind(), ErrorKind::ConnectionRefused);
            assert!(error.to_string().starts_with(&format!("connecting to {at}: ")), "{error}");
        }
    });
}

#[test]
fn all_addresses_are_tried_in_their_order() {
    everywhere(|| {
        fiber! {
            let! gone = TcpListener::bind(([127, 0, 0, 1], 0));
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let (dead, alive) = (gone.local_addr()?, listener.local_addr()?);
            drop(gone);
            let! client = TcpStream::connect(vec![dead, dead, alive]) and! (_server, from) = listener.accept();
            assert_eq!(client.peer_addr()?, alive);
            assert_eq!(client.local_addr()?, from);
            drop(listener);
            let! refused = TcpStream::connect(vec![dead, alive]).tried();
            let error = refused.unwrap_err();
            assert!(error.to_string().starts_with(&format!("connecting to {alive}: ")), "{error}");
            assert_eq!(error.suppressed().len(), 1);
            let! nowhere = TcpStream::connect(Vec::new()).tried();
            assert!(nowhere.unwrap_err().to_string().contains("no address"));
        }
    });
}

#[test]
fn an_address_has_one_listener() {
    everywhere(|| {
        fiber! {
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let at = listener.local_addr()?;
            let! second = TcpListener::bind(at).tried();
            assert_eq!(second.unwrap_err().downcast_ref::<io::Error>().unwrap().kind(), ErrorKind::AddrInUse);
            drop(listener);
            do! TcpListener::bind(at).map(drop);
        }
    });
}

#[test]
fn several_fibers_accept_at_one_listener() {
    everywhere(|| {
        fiber! {
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let at = listener.local_addr()?;
            let one = move |n: u8| {
                let listener = listener.clone();
                let accepts = fiber! {
                    let! (stream, _) = listener.accept();
                    let! (_, byte) = stream.read([0]);
                    byte[0]
                };
                let connects = TcpStream::connect(at).bind(move |stream| stream.write_all([n]).map(move |_| stream));
                accepts.zip(connects).map(|(n, _)| n)
            };
            let! mut seen = Fiber::parallel((0..5).map(one));
            seen.sort_unstable();
            assert_eq!(seen, [0, 1, 2, 3, 4]);
        }
    });
}

#[test]
fn several_buffers_are_written_in_one_call() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let sends = fiber! {
                let all = pattern(40);
                let mut sent = 0;
                while sent < all.len() {
                    let parts = all[sent..].chunks(9).map(<[u8]>::to_vec).collect::<Vec<_>>();
                    let! (n, _) = client.write_vectored(parts);
                    sent += n;
                }
                drop(client);
            };
            let! () = sends and! all = server.buffered().rest();
            assert_eq!(all, pattern(40));
        }
    });
}

#[test]
fn a_copy_ends_with_its_source_and_counts() {
    everywhere(|| {
        fiber! {
            let! (client, entrance) = connected();
            let! (exit, server) = connected();
            let sends = client.write_all(pattern(LONG)).map(move |_| drop(client));
            let carries = copy(entrance, exit);
            let! () = sends and! copied = carries and! all = server.buffered().rest();
            assert_eq!(copied, LONG as u64);
            assert_eq!(all, pattern(LONG));
        }
    });
}

#[test]
fn who_leaves_something_unread_resets_the_connection() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            do! client.write_all("x");
            do! server.readable();
            drop(server);
            // The reset is in transit; after that, there is nothing else.
            let! read = client.read([0; 8]).map(|(n, _)| n).tried();
            let error = read.unwrap_err();
            assert_eq!(error.downcast_ref::<io::Error>().unwrap().kind(), ErrorKind::ConnectionReset);
        }
    });
}

#[test]
fn a_host_that_is_an_address_needs_no_look_up() {
    everywhere(|| {
        fiber! {
            let! one = fiber_core::net::resolve("::1", 7);
            assert_eq!(one, ["[::1]:7".parse().unwrap()]);
            let! local = fiber_core::net::resolve("localhost", 7);
            assert!(local.iter().all(|address| address.ip().is_loopback() && address.port() == 7), "{local:?}");
            let! unknown = fiber_core::net::resolve("no-such-host.invalid", 7).tried();
            let error = unknown.unwrap_err();
            assert!(error.to_string().starts_with("resolving no-such-host.invalid: "), "{error}");
            assert!(error.downcast_ref::<io::Error>().is_some());
        }
    });
}

#[test]
fn an_exact_read_fills_its_buffer_or_fails() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let sends = client.write_all(pattern(LONG)).map(move |_| drop(client));
            let reads = fiber! {
                let! most = server.read_exact(vec![0; LONG - 3]);
                let! nothing = server.read_exact([0; 0]);
                let! failure = server.read_exact([0; 4]).tried();
                let error = failure.unwrap_err();
                assert_eq!(error.downcast_ref::<io::Error>().unwrap().kind(), ErrorKind::UnexpectedEof);
                assert_eq!(nothing, []);
                most
            };
            let! () = sends and! most = reads;
            assert_eq!(most, pattern(LONG)[..LONG - 3]);
        }
    });
}

#[test]
fn all_of_several_buffers_is_written_in_order() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            // More than one call sends, with some empty parts.
            let parts = pattern(LONG).chunks(2).flat_map(|part| [part.to_vec(), Vec::new()]).collect::<Vec<_>>();
            let sends = client.write_all_vectored(parts.clone()).map(move |given| {
                assert_eq!(given, parts);
                assert_eq!(client.torn_write(), None);
            });
            let! () = sends and! all = server.buffered().rest();
            assert_eq!(all, pattern(LONG));
        }
    });
}

/// Numbers of buffers around the most that a system takes in one call, which is 1,024 on Linux.
const MANY: [usize; 4] = [1_023, 1_024, 1_025, 5_000];

#[test]
fn more_buffers_than_one_call_takes_are_written_by_several() {
    everywhere_at_length(|| {
        fiber! {
            for many in MANY {
                let! (client, server) = connected();
                let sends = fiber! {
                    let mut left: Vec<_> = pattern(many).into_iter().map(|byte| vec![byte]).collect();
                    while !left.is_empty() {
                        let! (n, given) = client.write_vectored(left);
                        assert!(n > 0);
                        left = given;
                        left.drain(..n);
                    }
                    drop(client);
                };
                let! () = sends and! all = server.buffered().rest();
                assert_eq!(all, pattern(many));
            }
        }
    });
}

#[test]
fn a_write_of_as_many_buffers_as_a_call_takes_leaves_the_stream_writable() {
    real(|| {
        fiber! {
            for many in MANY {
                let! (client, server) = connected();
                let one_by_one = |bytes: &[u8]| bytes.iter().map(|byte| [*byte]).collect::<Vec<_>>();
                do! client.write_vectored(one_by_one(&pattern(many))).timeout(SOON);
                do! client.writable().timeout(SOON);
                do! client.write_all_vectored(one_by_one(&pattern(many))).timeout(SOON);
                drop(server);
            }
        }
    });
}

#[test]
fn empty_buffers_among_many_are_left_out() {
    everywhere_at_length(|| {
        fiber! {
            let! (client, server) = connected();
            let mut buffers = vec![Vec::new(); 3_000];
            buffers[2_000].push(b'x');
            buffers[2_999].push(b'y');
            let! (n, buffers) = client.write_vectored(buffers).timeout(SOON);
            assert!(n > 0);
            do! client.write_all_vectored(buffers).timeout(SOON).map(|_| drop(client));
            let! all = server.buffered().rest();
            assert_eq!(&all[n..], b"xy");
        }
    });
}

#[test]
fn an_empty_read_or_write_ends_at_once_with_0_bytes() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            // Nothing has arrived.
            let! (n, _) = server.read(Vec::new()).timeout(SOON);
            assert_eq!(n, 0);
            let! late = server.read([0]).timeout_option(Duration::from_millis(1));
            assert!(late.is_none());
            let! (n, _) = server.read([0; 0]).timeout(SOON);
            assert_eq!(n, 0);
            let! (n, _) = client.write("").timeout(SOON);
            assert_eq!(n, 0);
            let! (n, _) = client.write_vectored(vec![""; 3]).timeout(SOON);
            assert_eq!(n, 0);
            let! (n, _) = client.write_vectored(Vec::<Vec<u8>>::new()).timeout(SOON);
            assert_eq!(n, 0);
            // They say nothing of the state of the connection, and take no error of it.
            client.set_linger(Some(Duration::ZERO))?;
            drop(client);
            do! server.readable();
            let! (n, _) = server.read(Vec::new());
            assert_eq!(n, 0);
            let! read = server.read([0]).tried();
            let error = read.unwrap_err();
            assert_eq!(error.downcast_ref::<io::Error>().unwrap().kind(), ErrorKind::ConnectionReset);
        }
    });
}

#[test]
fn a_try_says_what_is_there_now_and_never_waits() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let would_block = |tried: io::Result<usize>| tried.unwrap_err().kind() == ErrorKind::WouldBlock;
            assert!(would_block(server.try_read(&mut [0; 8])));
            assert_eq!(server.try_read(&mut [])?, 0);
            assert_eq!(client.try_write(b"")?, 0);
            assert_eq!(client.try_write(b"x")?, 1);
            do! server.readable();
            let mut buffer = [0; 8];
            assert_eq!(server.try_read(&mut buffer)?, 1);
            assert_eq!(buffer[0], b'x');
            assert!(would_block(server.try_read(&mut buffer)));
            // Fibers that wait and functions that do not may take turns.
            let! _ = client.write_all("y") and! (n, _) = server.read([0; 8]);
            assert_eq!(n, 1);
            drop(client);
            do! server.readable();
            assert_eq!(server.try_read(&mut buffer)?, 0, "the end");
        }
    });
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test that hangs says nothing")]
fn a_try_sees_what_has_come_since_the_last_event() {
    real(|| {
        fiber! {
            let! (client, server) = connected();
            let! late = server.read([0]).timeout_option(Duration::from_millis(1));
            assert!(late.is_none());
            assert_eq!(client.try_write(b"x")?, 1);
            // In the same turn, so no worker of this scheduler need have looked.
            let deadline = std::time::Instant::now() + SOON;
            while server.try_read(&mut [0; 8]).is_err() { assert!(std::time::Instant::now() < deadline); }
        }
    });
}

#[test]
fn a_try_writes_until_there_is_no_room_and_again_when_there_is() {
    everywhere_at_length(|| {
        fiber! {
            let! (client, server) = connected();
            let mut written = 0;
            let full = loop {
                match client.try_write(&[7; 4096]) {
                    Ok(n) => written += n,
                    Err(error) => break error,
                }
            };
            assert_eq!(full.kind(), ErrorKind::WouldBlock);
            let! all = server.read_exact(vec![0; written]);
            assert!(all.iter().all(|byte| *byte == 7));
            let mut n = 0;
            while n == 0 {
                do! client.writable();
                n = client.try_write(b"more").or_else(|error| if error.kind() == ErrorKind::WouldBlock { Ok(0) } else { Err(error) })?;
                do! Fiber::yield_now();
            }
        }
    });
}

#[test]
fn a_fiber_waits_for_room_after_a_try_that_found_none() {
    const LONG: Duration = Duration::from_millis(100);
    everywhere_at_length(|| {
        fiber! {
            let! (client, server) = connected();
            let (mut written, mut rounds) = (0, 0);
            loop {
                while let Ok(n) = client.try_write(&[7; 65536]) { written += n }
                // The system may move what was written, which makes room a few times.
                let! room = client.writable().timeout_option(LONG);
                if room.is_none() { break }
                rounds += 1;
                assert!(rounds < 1_000, "it does not wait");
            }
            let! _ = server.read_exact(vec![0; written]) and! () = client.writable();
            assert_eq!(client.try_write(b"x")?, 1);
        }
    });
}

#[test]
fn the_halves_of_a_stream_do_what_it_does() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let (reads, _answers) = server.split();
            let (_replies, writes) = client.split();
            assert_eq!(writes.try_write(b"a")?, 1);
            do! reads.readable();
            assert_eq!(reads.try_read(&mut [0; 8])?, 1);
            let sends = fiber! {
                do! writes.write_all_vectored(vec!["b", "", "c"]);
                let! (n, _) = writes.write_vectored(vec!["d"]);
                assert_eq!(n, 1);
                do! writes.flush();
                assert_eq!(writes.torn_write(), None);
                do! writes.close();
            };
            let! () = sends and! three = reads.read_exact([0; 3]);
            assert_eq!(&three, b"bcd");
            let! (n, _) = reads.read([0; 8]);
            assert_eq!(n, 0, "the end");
        }
    });
}
