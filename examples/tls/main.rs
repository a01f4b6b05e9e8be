//! WebSockets over TLS over a connection, without another runtime: rustls and tungstenite get this library's streams as types
//! that they know, and the stream of rustls becomes one of this library again.
//!
//! ```text
//! cargo run --release -p example-tls
//! ```
//!
//! The server and its client are two fibers of one program, with a certificate that is generated at its start.

mod chat;
mod secure;

use fiber_core::net::{TcpListener, TcpStream};
use fiber_core::{Either, Fiber, fiber};
use secure::Identity;

const MOST: usize = 100;

/// A server, and a client that sends it a few messages.
fn talk(identity: &Identity) -> Fiber<Vec<String>> {
    let (server, client) = (identity.server(), identity.client());
    fiber! {
        let (acceptor, connector) = (server?, client?);
        let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
        let at = listener.local_addr()?;
        let serve = listener.serve(MOST, move |stream, _| {
            secure::accept(&stream, &acceptor).bind(|stream| chat::shouts(&stream)).boxed()
        });
        let ask = fiber! {
            let! stream = TcpStream::connect(at);
            let! stream = secure::connect(&stream, &connector);
            let! answers = chat::says(&stream, vec!["hello", "is anybody there?"]);
            answers
        };
        let! first = serve.race(ask);
        let Either::Right(answers) = first else { unreachable!("it serves until it is cancelled") };
        answers
    }
}

fn main() {
    let answers = fiber_sched::run(talk(&Identity::new()));
    for answer in answers.unwrap() {
        println!("{answer}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::time::Duration;

    use fiber_core::net::{ByteStream, copy};
    use fiber_core::{Error, Outcome};
    use fiber_test::{Explore, TestScheduler, network};

    /// Small, but enough for the data that the server sends at the end of the handshake, which the client reads only when it waits for
    /// an answer.
    const LITTLE: usize = 500;

    /// The two ends of a connection with TLS.
    fn secured(identity: &Identity) -> Fiber<(ByteStream, ByteStream)> {
        let (server, client) = (identity.server(), identity.client());
        fiber! {
            let (acceptor, connector) = (server?, client?);
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
            let! client = secure::connect(&client, &connector) and! server = secure::accept(&server, &acceptor);
            (client, server)
        }
    }

    /// On a simulated network, with short writes, and on a real one.
    #[track_caller]
    fn everywhere(program: fn(&Identity) -> Fiber<()>) {
        let identity = Identity::new();
        for seed in 0..4 {
            let test = TestScheduler::with_seed(seed);
            test.network().set_capacity(LITTLE);
            test.network().set_latency(Duration::from_millis(5));
            test.run(program(&identity)).unwrap();
            test.assert_no_leaks();
        }
        for workers in [1, 2] {
            let pool = fiber_sched::Pool::builder().workers(workers).build();
            fiber_sched::block_on(pool.spawn(program(&identity))).unwrap();
        }
    }

    #[test]
    fn the_server_answers_each_word() {
        everywhere(|identity| {
            talk(identity).map(|answers| assert_eq!(answers, ["HELLO", "IS ANYBODY THERE?"])).boxed()
        });
    }

    #[test]
    fn the_server_answers_under_every_schedule() {
        let identity = Identity::new();
        Explore::default().schedules(30).threads(1).check(move || {
            let talk = talk(&identity);
            network().bind(move |network| {
                network.set_capacity(LITTLE);
                talk.map(|answers| assert_eq!(answers, ["HELLO", "IS ANYBODY THERE?"]))
            })
        });
    }

    #[test]
    fn lines_and_copies_work_under_tls() {
        const LONG: usize = 3_000;
        everywhere(|identity| {
            let connected = secured(identity);
            fiber! {
                let! (client, server) = connected;
                let echo = copy(server.clone(), server.clone()).bind(move |_| server.close());
                let asks = client.clone();
                let writes = fiber! {
                    do! asks.write_all("a line\n");
                    do! asks.write_all(vec![7; LONG]);
                    do! asks.close();
                };
                let reader = client.buffered();
                let reads = fiber! {
                    let! line = reader.line();
                    let! rest = reader.rest();
                    assert_eq!((line.as_deref(), rest), (Some("a line"), vec![7; LONG]));
                };
                let! () = echo and! () = writes and! () = reads;
            }
        });
    }

    #[test]
    fn a_cancelled_read_loses_no_byte_under_tls() {
        everywhere(|identity| {
            let connected = secured(identity);
            fiber! {
                let! (client, server) = connected;
                let asks = client.clone();
                let writes = fiber! {
                    for n in 0..20_u8 {
                        do! asks.write_all([n; 3]);
                        do! Fiber::delay(Duration::from_micros(300));
                    }
                    do! asks.close();
                };
                let reads = fiber! {
                    let mut all = Vec::new();
                    loop {
                        let! read = server.read([0; 8]).timeout_option(Duration::from_micros(200));
                        let Some((n, bytes)) = read else { continue };
                        if n == 0 { break }
                        all.extend_from_slice(&bytes[..n]);
                    }
                    all
                };
                let! () = writes and! all = reads;
                assert_eq!(all, (0..20_u8).flat_map(|n| [n; 3]).collect::<Vec<_>>());
                // Not earlier: with unread data (tickets for the next session), the system would reset the connection.
                drop(client);
            }
        });
    }

    fn kind<T>(outcome: Result<T, Error>) -> Option<io::ErrorKind> {
        outcome.err()?.downcast_ref::<io::Error>().map(io::Error::kind)
    }

    #[test]
    fn a_stream_that_is_not_closed_has_no_end() {
        everywhere(|identity| {
            let connected = secured(identity);
            fiber! {
                let! (client, server) = connected;
                do! client.write_all("a part");
                drop(client);
                // The server cannot know whether more data would have come.
                let! read = server.buffered().rest().map(Ok).catch(|error| Fiber::success(Err(error)));
                // If the client has not read everything either, the system resets the connection.
                let kind = kind(read).expect("an error of the stream");
                assert!(matches!(kind, io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset), "{kind}");
            }
        });
    }

    #[test]
    fn nobody_else_is_trusted() {
        let (identity, other) = (Identity::new(), Identity::new());
        let strangers = other.client();
        let (server, client) = (identity.server(), strangers);
        let program = fiber! {
            let (acceptor, connector) = (server?, client?);
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
            let! _ = secure::connect(&client, &connector) and! _ = secure::accept(&server, &acceptor);
        };
        let outcome: Outcome<()> = TestScheduler::new().run(program);
        assert!(outcome.failure().unwrap().to_string().contains("certificate"));
    }
}
