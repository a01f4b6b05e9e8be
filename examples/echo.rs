//! An echo server: it sends back what a client writes. Try it with two terminals:
//!
//! ```text
//! cargo run --release --example echo -- 127.0.0.1:7000
//! nc 127.0.0.1 7000
//! ```
//!
//! Ctrl-C ends it: all connections are cancelled and awaited. A client that is silent for a minute, or does not read its
//! data, is disconnected, so no client can keep a connection for ever.

use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use fiber_core::net::{Part, TcpListener, TcpStream};
use fiber_core::{CancelToken, Fiber, fiber};

/// More connections wait in the queue of the listener.
const MOST: usize = 10_000;

/// How long a client may be silent, or not read.
const PATIENCE: Duration = Duration::from_secs(60);

/// One connection, to its end.
fn echo(stream: TcpStream) -> Fiber<()> {
    fiber! {
        let mut buffer = vec![0; 4096];
        loop {
            // If data arrives at the last moment, the read returns it: the timeout loses no byte.
            let! read = stream.read(buffer).timeout_option(PATIENCE);
            let Some((n @ 1.., filled)) = read else { break };
            let! part = stream.write_all(Part::new(filled, n)).timeout(PATIENCE);
            buffer = part.into_buffer();
        }
    }
}

/// Serves until it is cancelled.
fn serve(listener: &TcpListener) -> Fiber<()> {
    listener.serve(MOST, |stream, _| echo(stream))
}

fn main() {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7000".to_owned());
    let address: SocketAddr = address.parse().expect("an address, such as 127.0.0.1:7000");
    let stop = Arc::new(CancelToken::new());
    let on_signal = stop.clone();
    ctrlc::set_handler(move || on_signal.cancel()).expect("a handler for Ctrl-C");
    let (report, reports) = mpsc::channel();
    let server = TcpListener::bind(address).bind(move |listener| {
        _ = report.send(listener.local_addr());
        serve(&listener)
    });
    let pool = fiber_sched::Pool::new();
    let server = pool.spawn(server.cancelled_by(&stop));
    if let Ok(Ok(at)) = reports.recv() {
        println!("listening at {at}");
    }
    if let Some(error) = fiber_sched::block_on(server).failure() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fiber_core::Either;
    use fiber_test::{Explore, TestScheduler};

    const AT: ([u8; 4], u16) = ([127, 0, 0, 1], 0);

    /// Runs clients beside a server.
    fn beside_a_server<T, F>(clients: F) -> Fiber<T>
    where
        T: Send + 'static,
        F: FnOnce(SocketAddr) -> Fiber<T> + Send + 'static,
    {
        fiber! {
            let! listener = TcpListener::bind(AT);
            let at = listener.local_addr()?;
            let! first = serve(&listener).race(clients(at));
            let Either::Right(value) = first else { unreachable!("it serves until it is cancelled") };
            value
        }
    }

    fn asks(at: SocketAddr, question: String) -> Fiber<()> {
        fiber! {
            let! stream = TcpStream::connect(at);
            let length = question.len();
            let! question = stream.write_all(question) and! answer = stream.buffered().read_exact(length);
            assert_eq!(answer, question.as_bytes());
        }
    }

    fn three_clients() -> Fiber<()> {
        beside_a_server(|at| {
            Fiber::parallel((0..3).map(move |n| asks(at, format!("I am client {n}")))).map(drop).boxed()
        })
    }

    #[test]
    fn every_client_gets_its_own_words_under_every_schedule() {
        Explore::default().schedules(300).check(three_clients);
    }

    #[test]
    fn every_client_gets_its_own_words_on_a_real_network() {
        fiber_sched::Pool::new().run(three_clients()).unwrap();
    }

    #[test]
    fn a_silent_client_is_turned_away_after_a_minute() {
        let test = TestScheduler::new();
        let silent = |at| {
            fiber! {
                let! stream = TcpStream::connect(at);
                let! (n, _) = stream.read([0]);
                assert_eq!(n, 0, "the server has ended the connection");
            }
        };
        let (outcome, time) = test.run_timed(beside_a_server(silent));
        outcome.unwrap();
        assert_eq!(time, PATIENCE);
        test.assert_no_leaks();
    }

    #[test]
    fn a_client_that_does_not_read_is_turned_away() {
        let test = TestScheduler::new();
        test.network().set_capacity(100);
        let greedy = |at| {
            fiber! {
                let! stream = TcpStream::connect(at);
                let! failure = stream.write_all([7; 10_000]).map(|_| None).catch(|error| Fiber::success(Some(error)));
                assert!(failure.is_some(), "the server has ended the connection");
            }
        };
        test.run(beside_a_server(greedy)).unwrap();
        // The server reports the connection that timed out.
        assert!(test.unobserved()[0].contains("timed out after 60s"), "{:?}", test.unobserved());
    }
}
