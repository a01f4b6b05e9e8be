//! The clients: one thread, which keeps a request on its way in each connection.

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use super::Protocol;
use super::usage::Usage;

/// More than one answer has.
const BUFFER: usize = 4096;

/// A server that does not answer for so long has lost a request.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a server did in a turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) requests: f64,
    pub(super) per_second: f64,
    /// In microseconds.
    pub(super) p50: f64,
    pub(super) p99: f64,
    /// Per request, in microseconds.
    pub(super) cpu: f64,
    /// Per request.
    pub(super) switches: f64,
}

struct Connection {
    stream: TcpStream,
    protocol: Protocol,
    /// How much of the answer has come.
    answered: usize,
    asked: Instant,
}

impl Connection {
    fn open(to: SocketAddr, protocol: Protocol, poll: &Poll, token: Token) -> Self {
        let stream = std::net::TcpStream::connect(to).expect("the server listens");
        stream.set_nodelay(true).expect("an option");
        stream.set_nonblocking(true).expect("an option");
        let mut stream = TcpStream::from_std(stream);
        poll.registry().register(&mut stream, token, Interest::READABLE).expect("a poll");
        Connection { stream, protocol, answered: 0, asked: Instant::now() }
    }

    fn ask(&mut self) {
        self.asked = Instant::now();
        let request = self.protocol.request;
        assert_eq!(self.stream.write(request).expect("the server is there"), request.len());
    }

    /// Reads answers, and asks again after each.
    fn turn(&mut self, latencies: &mut Vec<Duration>) {
        let (mut buffer, whole) = ([0; BUFFER], self.protocol.answer);
        loop {
            match self.stream.read(&mut buffer[..whole - self.answered]) {
                Ok(0) => panic!("the server has closed a connection"),
                Ok(n) => self.answered += n,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => panic!("{error}"),
            }
            if self.answered == whole {
                self.answered = 0;
                latencies.push(self.asked.elapsed());
                // The answer to this one comes with an event.
                return self.ask();
            }
        }
    }
}

pub(super) fn ask(
    at: SocketAddr,
    protocol: Protocol,
    connections: usize,
    time: Duration,
    usage: impl Fn() -> Usage,
) -> Sample {
    let mut poll = Poll::new().expect("a poll");
    let mut all: Vec<Connection> =
        (0..connections).map(|index| Connection::open(at, protocol, &poll, Token(index))).collect();
    let mut events = Events::with_capacity(connections.max(64));
    let mut latencies = Vec::with_capacity(1 << 18);
    // The server has accepted them all, and sleeps.
    std::thread::sleep(Duration::from_millis(20));
    let (before, start) = (usage(), Instant::now());
    all.iter_mut().for_each(Connection::ask);
    while start.elapsed() < time {
        poll.poll(&mut events, Some(PATIENCE)).expect("a poll");
        assert!(!events.is_empty(), "the server has lost a request");
        events.iter().for_each(|event| all[event.token().0].turn(&mut latencies));
    }
    let (elapsed, after) = (start.elapsed(), usage());
    Sample::of(latencies, elapsed, before, after)
}

impl Sample {
    fn of(mut latencies: Vec<Duration>, elapsed: Duration, before: Usage, after: Usage) -> Self {
        latencies.sort_unstable();
        let requests = latencies.len() as f64;
        let percentile = |n: usize| latencies[(latencies.len() - 1) * n / 100].as_nanos() as f64 / 1e3;
        Sample {
            requests,
            per_second: requests / elapsed.as_secs_f64(),
            p50: percentile(50),
            p99: percentile(99),
            cpu: (after.cpu.saturating_sub(before.cpu)).as_nanos() as f64 / 1e3 / requests,
            switches: after.switches.saturating_sub(before.switches) as f64 / requests,
        }
    }
}
