//! Unix sockets.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use fiber_core::net::{ByteStream, UnixListener, UnixStream, copy};
use fiber_core::{Either, Fiber, fiber};
use tempfile::TempDir;

use crate::worlds::{Tried, everywhere, pattern, real};

/// A path that does not exist.
fn fresh(name: &str) -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let path = FOLDER.get_or_init(|| tempfile::tempdir().unwrap()).path().join(name);
    _ = std::fs::remove_file(&path);
    path
}

fn kind(error: &fiber_core::Error) -> ErrorKind {
    error.downcast_ref::<io::Error>().unwrap().kind()
}

#[test]
fn what_one_end_writes_the_other_one_reads() {
    everywhere(|| {
        fiber! {
            let path = fresh("reads");
            let! listener = UnixListener::bind(&path);
            assert_eq!(listener.path(), path);
            let! client = UnixStream::connect(&path) and! server = listener.accept();
            let! _ = client.write_all("ping") and! ping = server.read_exact([0; 4]);
            assert_eq!(&ping, b"ping");
            let (reads, writes) = server.split();
            let! () = writes.write_all(pattern(300)).map(move |_| drop(writes)) and! all = client.buffered().rest();
            assert_eq!(all, pattern(300));
            drop(reads);
        }
    });
}

#[test]
fn a_pair_is_connected() {
    everywhere(|| {
        fiber! {
            let! (one, other) = UnixStream::pair();
            let both = |stream: UnixStream| fiber! {
                let! _ = stream.write_all(pattern(200)) and! all = stream.read_exact(vec![0; 200]);
                assert_eq!(all, pattern(200));
                stream
            };
            let! one = both(one) and! other = both(other);
            drop(one);
            let! (n, _) = other.read([0; 8]);
            assert_eq!(n, 0, "the other end is closed");
        }
    });
}

#[test]
fn readable_tells_of_data_and_of_the_end_and_takes_nothing() {
    everywhere(|| {
        fiber! {
            let! (one, other) = UnixStream::pair();
            let! first = other.readable().race(Fiber::delay(Duration::from_millis(20)));
            assert!(matches!(first, Either::Right(())));
            do! one.write_all("x");
            do! other.readable();
            let! byte = other.read_exact([0]);
            assert_eq!(&byte, b"x");
            drop(one);
            do! other.readable();
            let! (n, _) = other.read([0; 8]);
            assert_eq!(n, 0);
        }
    });
}

#[test]
fn who_connects_to_nobody_fails() {
    everywhere(|| {
        fiber! {
            let path = fresh("nobody");
            let! failure = UnixStream::connect(&path).tried();
            let error = failure.unwrap_err();
            assert_eq!(kind(&error), ErrorKind::NotFound);
            assert!(error.to_string().starts_with(&format!("connecting to {}: ", path.display())), "{error}");
        }
    });
}

#[test]
fn a_path_has_one_listener() {
    everywhere(|| {
        fiber! {
            let path = fresh("one");
            let! _listener = UnixListener::bind(&path);
            let! second = UnixListener::bind(&path).tried();
            assert_eq!(kind(&second.unwrap_err()), ErrorKind::AddrInUse);
        }
    });
}

#[test]
fn clients_are_served_and_end_with_the_server() {
    everywhere(|| {
        fiber! {
            let path = fresh("served");
            let! listener = UnixListener::bind(&path);
            let echo = |stream: UnixStream| copy(stream.clone(), stream).map(drop).boxed();
            let client = |n: u8| {
                let path = path.clone();
                fiber! {
                    let! stream = UnixStream::connect(path);
                    let stream: ByteStream = stream.into();
                    let! _ = stream.write_all([n; 3]) and! answer = stream.read_exact([0; 3]);
                    assert_eq!(answer, [n; 3]);
                }
            };
            let clients: Vec<Fiber<()>> = (0..4).map(client).collect();
            let! first = listener.serve(2, echo).race(Fiber::parallel(clients));
            assert!(matches!(first, Either::Right(_)));
        }
    });
}

/// More clients than the queue of a listener holds: at most 4,096 by the default of Linux.
const CROWD: usize = 5_000;

#[test]
fn who_finds_the_queue_full_waits_for_a_place() {
    real(|| {
        fiber! {
            let path = fresh("full");
            let! listener = UnixListener::bind(&path);
            let clients: Vec<_> = (0..CROWD).map(|_| UnixStream::connect(&path).map(drop).boxed()).collect();
            let accepts = fiber! {
                // Until then, the queue is full.
                do! Fiber::delay(Duration::from_millis(20));
                for _ in 0..CROWD { do! listener.accept().map(drop); }
            };
            let! clients = Fiber::parallel(clients) and! () = accepts;
            assert_eq!(clients.len(), CROWD);
        }
    });
}

#[test]
fn who_waits_for_a_place_in_the_queue_is_cancelled_at_once() {
    real(|| {
        fiber! {
            let path = fresh("cancelled");
            let! _listener = UnixListener::bind(&path);
            let mut inside = 0;
            loop {
                // A client that has left still has its place.
                let! client = UnixStream::connect(&path).timeout_option(Duration::from_millis(100));
                if client.is_none() { break }
                inside += 1;
            }
            assert!(inside < CROWD);
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
fn an_abstract_address_is_in_no_folder() {
    real(|| {
        fiber! {
            let name = format!("\0fiber-{}-abstract", std::process::id());
            let! listener = UnixListener::bind(&name);
            assert_eq!(listener.path(), Path::new(&name));
            let! second = UnixListener::bind(&name).tried();
            assert_eq!(kind(&second.unwrap_err()), ErrorKind::AddrInUse);
            let! client = UnixStream::connect(&name) and! server = listener.accept();
            do! client.write_all("ping");
            let! ping = server.read_exact([0; 4]);
            assert_eq!(&ping, b"ping");
            drop((listener, client, server));
            let! failure = UnixStream::connect(&name).tried();
            let error = failure.unwrap_err();
            assert_eq!(kind(&error), ErrorKind::ConnectionRefused);
            // As the system shows them.
            assert!(error.to_string().starts_with(&format!("connecting to @{}: ", &name[1..])), "{error}");
            // Its end has freed the name.
            do! UnixListener::bind(&name);
        }
    });
}
