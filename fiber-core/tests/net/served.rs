//! Servers.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use fiber_core::net::{TcpListener, TcpStream, copy};
use fiber_core::sync::Notify;
use fiber_core::{Either, Error, Fiber, fiber};

use crate::worlds::{Tried, everywhere};

fn echoes(stream: TcpStream) -> Fiber<()> {
    copy(stream.clone(), stream).map(drop).boxed()
}

fn asks(at: std::net::SocketAddr, question: String) -> Fiber<String> {
    fiber! {
        let! stream = TcpStream::connect(at);
        do! stream.write_all(format!("{question}\n"));
        let! answer = stream.buffered().line();
        answer.unwrap_or_default()
    }
}

#[test]
fn every_client_is_served() {
    everywhere(|| {
        fiber! {
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let at = listener.local_addr()?;
            let clients = Fiber::parallel((0..6).map(move |n| asks(at, format!("client {n}"))));
            let! first = listener.serve(100, |stream, _| echoes(stream)).race(clients);
            let Either::Right(answers) = first else { panic!("the server has ended") };
            assert_eq!(answers, (0..6).map(|n| format!("client {n}")).collect::<Vec<_>>());
        }
    });
}

#[test]
fn connections_end_with_their_server() {
    everywhere(|| {
        fiber! {
            let (live, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let (begins, ends) = (live.clone(), ended.clone());
            let serve = move |stream: TcpStream, _| {
                let (begins, ends) = (begins.clone(), ends.clone());
                let work = fiber! {
                    begins.fetch_add(1, SeqCst);
                    do! stream.write_all("hello\n");
                    do! stream.read([0]).map(drop);
                };
                work.ensure(Fiber::lazy(move || _ = ends.fetch_add(1, SeqCst))).boxed()
            };
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let at = listener.local_addr()?;
            let greeted = move |_| TcpStream::connect(at).bind(|stream| stream.buffered().line().map(|_| stream));
            let! first = listener.serve(100, serve).race(Fiber::parallel((0..3).map(greeted)));
            let Either::Right(streams) = first else { panic!("the server has ended") };
            assert_eq!((live.load(SeqCst), ended.load(SeqCst)), (3, 3));
            for stream in streams {
                let! rest = stream.buffered().rest().tried();
                assert!(rest.is_ok_and(|rest| rest.is_empty()));
            }
        }
    });
}

#[test]
fn a_server_that_is_stopped_ends_with_its_last_connection() {
    everywhere(|| {
        fiber! {
            let (stop, ended) = (Notify::new(), Arc::new(AtomicUsize::new(0)));
            let ends = ended.clone();
            let serve = move |stream: TcpStream, _| {
                let ends = ends.clone();
                fiber! {
                    do! stream.write_all("hello\n");
                    do! stream.read([0]).map(drop);
                    ends.fetch_add(1, SeqCst);
                }
            };
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let at = listener.local_addr()?;
            let serves = listener.serve_until(stop.wait(), 100, serve);
            let clients = fiber! {
                let greeted = move |_| {
                    TcpStream::connect(at).bind(|stream| stream.buffered().line().map(|_| stream))
                };
                let! streams = Fiber::parallel((0..3).map(greeted));
                stop.notify_one();
                for stream in streams {
                    do! Fiber::yield_now();
                    do! stream.write_all(".");
                }
            };
            let! () = serves and! () = clients;
            assert_eq!(ended.load(SeqCst), 3);
        }
    });
}

#[test]
fn a_server_whose_stop_fails_cancels_its_connections() {
    everywhere(|| {
        fiber! {
            let ended = Arc::new(AtomicUsize::new(0));
            let ends = ended.clone();
            let serve = move |stream: TcpStream, _| {
                let ends = ends.clone();
                let greets = stream.write_all("hello\n").bind(|_| Fiber::never());
                greets.ensure(Fiber::lazy(move || _ = ends.fetch_add(1, SeqCst))).boxed()
            };
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let at = listener.local_addr()?;
            let greeted = TcpStream::connect(at).bind(|stream| stream.buffered().line());
            let stop = greeted.bind(|_| Fiber::fail(Error::msg("no more")));
            let! failed = listener.serve_until(stop, 1, serve).tried();
            assert_eq!(failed.unwrap_err().to_string(), "no more");
            assert_eq!(ended.load(SeqCst), 1);
        }
    });
}

#[test]
fn no_more_than_the_limit_are_served_at_a_time() {
    everywhere(|| {
        fiber! {
            let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let seen = most.clone();
            let serve = move |stream: TcpStream, _| {
                let (now, most) = (now.clone(), most.clone());
                fiber! {
                    most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                    do! Fiber::delay(Duration::from_millis(3));
                    now.fetch_sub(1, SeqCst);
                    do! stream.write_all("done\n");
                }
            };
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let at = listener.local_addr()?;
            let client = move |_| TcpStream::connect(at).bind(|stream| stream.buffered().line());
            let! first = listener.serve(2, serve).race(Fiber::parallel((0..6).map(client)));
            let Either::Right(lines) = first else { panic!("the server has ended") };
            assert!(lines.iter().all(|line| line.as_deref() == Some("done")), "{lines:?}");
            assert!(seen.load(SeqCst) <= 2, "{seen:?} were served at a time");
        }
    });
}

/// What has ended, but not all of what it has forked, is still served.
#[test]
fn the_forks_of_a_connection_count_until_they_have_ended() {
    everywhere(|| {
        fiber! {
            let now = Arc::new(AtomicUsize::new(0));
            let serve = move |stream: TcpStream, _| {
                let now = now.clone();
                let begins = Fiber::lazy({
                    let now = now.clone();
                    move || assert_eq!(now.fetch_add(1, SeqCst), 0, "another one is served")
                });
                let ends = move |()| {
                    Fiber::delay(Duration::from_millis(3)).map(move |()| _ = now.fetch_sub(1, SeqCst))
                };
                let lasts = Fiber::bracket(begins, |()| Fiber::<()>::never(), ends);
                fiber! {
                    let! _forked = lasts.fork();
                    do! Fiber::yield_now(); // it starts
                    do! stream.write_all("done\n");
                }
            };
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let at = listener.local_addr()?;
            let client = move |_| TcpStream::connect(at).bind(|stream| stream.buffered().line());
            let! first = listener.serve(1, serve).race(Fiber::parallel((0..3).map(client)));
            let Either::Right(lines) = first else { panic!("the server has ended") };
            assert!(lines.iter().all(|line| line.as_deref() == Some("done")), "{lines:?}");
        }
    });
}

#[test]
fn a_connection_that_is_gone_ends_quietly_and_alone() {
    everywhere(|| {
        fiber! {
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let at = listener.local_addr()?;
            let clients = fiber! {
                let! rude = TcpStream::connect(at);
                rude.set_linger(Some(Duration::ZERO))?;
                do! rude.write_all("never mind");
                drop(rude);
                let! answer = asks(at, "still there?".to_owned());
                answer
            };
            let! first = listener.serve(1, |stream, _| echoes(stream)).race(clients);
            assert_eq!(right(first), Some("still there?".to_owned()));
        }
    });
}

#[test]
fn a_connection_that_fails_is_reported_and_ends_alone() {
    let program = || {
        fiber! {
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let at = listener.local_addr()?;
            let serve = |stream: TcpStream, _| fiber! {
                let! line = stream.buffered().line();
                if line.as_deref() == Some("bad") { return! Fiber::fail(Error::msg("a bad request")) }
                do! stream.write_all("good\n");
            };
            let clients = asks(at, "bad".to_owned()).bind(move |_| asks(at, "good".to_owned()));
            let! first = listener.serve(8, serve).race(clients);
            assert_eq!(right(first), Some("good".to_owned()));
        }
    };
    let test = fiber_test::TestScheduler::new();
    test.run(program()).unwrap();
    let unobserved = test.unobserved();
    assert_eq!(unobserved.len(), 1);
    assert!(unobserved[0].contains("a bad request"), "{unobserved:?}");
}

#[test]
fn what_fails_while_a_connection_ends_is_reported_even_if_the_peer_has_just_gone() {
    let program = |finalizer: fn() -> Fiber<()>| {
        fiber! {
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let at = listener.local_addr()?;
            let serve = move |stream: TcpStream, _| fiber! {
                let gone = Fiber::<()>::fail(io::Error::from(io::ErrorKind::ConnectionReset));
                do! stream.write_all("good\n");
                return! gone.ensure(finalizer()).boxed();
            };
            let! first = listener.serve(8, serve).race(asks(at, String::new()));
            assert_eq!(right(first), Some("good".to_owned()));
        }
    };
    let unobserved = |finalizer| {
        let test = fiber_test::TestScheduler::new();
        test.run(program(finalizer)).unwrap();
        test.unobserved()
    };
    assert_eq!(unobserved(|| Fiber::success(()).boxed()), [""; 0]);
    assert_eq!(unobserved(|| Fiber::fail(io::Error::from(io::ErrorKind::BrokenPipe)).boxed()), [""; 0]);
    let torn = unobserved(|| Fiber::fail(Error::msg("the database is down")).boxed());
    assert!(torn.len() == 1 && torn[0].contains("the database is down"), "{torn:?}");
}

fn right(either: Either<(), String>) -> Option<String> {
    match either {
        Either::Left(()) => None,
        Either::Right(value) => Some(value),
    }
}
