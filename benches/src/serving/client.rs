//! The clients: one thread, which keeps one request in flight on each connection.

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use super::Protocol;
use super::load::Load;
use super::usage::Usage;

/// The pause between the answer to an expensive request and the next one.
const PAUSE: Duration = Duration::from_millis(20);

/// The time limit of an answer, after which the request counts as lost.
const PATIENCE: Duration = Duration::from_secs(5);

/// The measurements of a server's turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) requests: f64,
    pub(super) per_second: f64,
    /// In microseconds.
    pub(super) p50: f64,
    pub(super) p99: f64,
    pub(super) slowest: f64,
    /// Per request, in microseconds.
    pub(super) cpu: f64,
    /// Per request.
    pub(super) switches: f64,
}

struct Connection {
    stream: TcpStream,
    /// The number of bytes of the request that were sent.
    sent: usize,
    /// The number of bytes of the answer that have arrived.
    answered: usize,
    asked: Instant,
    is_answered: bool,
}

/// After this many connections, the server has to catch up: a connection that does not fit into the queue of its listener would
/// be retried after a second.
const AT_A_TIME: usize = 64;

impl Connection {
    fn open(to: SocketAddr, protocol: &Protocol, poll: &Poll, token: Token) -> Self {
        let mut stream = std::net::TcpStream::connect(to).expect("the server listens");
        stream.set_nodelay(true).expect("an option");
        if token.0 % AT_A_TIME == AT_A_TIME - 1 {
            // The server accepts them in order.
            stream.write_all(&protocol.request).expect("the server is there");
            stream.read_exact(&mut vec![0; protocol.answer]).expect("the server answers");
        }
        stream.set_nonblocking(true).expect("an option");
        let mut stream = TcpStream::from_std(stream);
        poll.registry()
            .register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)
            .expect("a poll");
        Connection { stream, sent: 0, answered: 0, asked: Instant::now(), is_answered: true }
    }

    fn ask(&mut self, request: &[u8]) {
        (self.asked, self.sent, self.answered, self.is_answered) = (Instant::now(), 0, 0, false);
        self.send(request);
    }

    /// Sends as many bytes as there is room for.
    fn send(&mut self, request: &[u8]) {
        while self.sent < request.len() {
            match self.stream.write(&request[self.sent..]) {
                Ok(n) => self.sent += n,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Sends and reads as much as possible. Returns the latency once the answer fills the buffer.
    fn turn(&mut self, request: &[u8], buffer: &mut [u8]) -> Option<Duration> {
        if self.is_answered {
            return None;
        }
        loop {
            self.send(request);
            match self.stream.read(&mut buffer[self.answered..]) {
                Ok(0) => panic!("the server has closed a connection"),
                Ok(n) => self.answered += n,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
                Err(error) => panic!("{error}"),
            }
            if self.answered == buffer.len() {
                // The answer to the next one fires an event.
                self.is_answered = true;
                return Some(self.asked.elapsed());
            }
        }
    }
}

/// Sends the expensive request repeatedly, over its own connection.
struct Burner {
    connection: Connection,
    request: Vec<u8>,
    rests_since: Instant,
}

impl Burner {
    fn turn(&mut self, buffer: &mut [u8]) {
        if self.connection.turn(&self.request, buffer).is_some() {
            self.rests_since = Instant::now();
        }
        if self.connection.is_answered && self.rests_since.elapsed() >= PAUSE {
            self.connection.ask(&self.request);
        }
    }
}

pub(super) fn ask(at: SocketAddr, load: &Load<'_>, time: Duration, usage: impl Fn() -> Usage) -> Sample {
    let Load { connections, protocol } = *load;
    let request = &*protocol.request;
    let mut poll = Poll::new().expect("a poll");
    let mut all: Vec<Connection> =
        (0..connections).map(|index| Connection::open(at, protocol, &poll, Token(index))).collect();
    let mut buffer = vec![0; protocol.answer];
    let mut burner = protocol.burner.clone().map(|request| {
        let connection = Connection::open(at, protocol, &poll, Token(connections));
        Burner { connection, request, rests_since: Instant::now() }
    });
    let mut events = Events::with_capacity(connections.clamp(64, 4096));
    let mut latencies = Vec::with_capacity(1 << 18);
    // The server has accepted them all, and sleeps.
    std::thread::sleep(Duration::from_millis(20));
    let limit = if burner.is_some() { Duration::from_millis(1) } else { PATIENCE };
    let (before, start) = (usage(), Instant::now());
    all.iter_mut().for_each(|connection| connection.ask(request));
    while start.elapsed() < time {
        poll.poll(&mut events, Some(limit)).expect("a poll");
        assert!(burner.is_some() || !events.is_empty(), "the server has lost a request");
        burner.iter_mut().for_each(|burner| burner.turn(&mut buffer));
        for event in &events {
            let Some(connection) = all.get_mut(event.token().0) else { continue };
            if let Some(latency) = connection.turn(request, &mut buffer) {
                latencies.push(latency);
                connection.ask(request);
            }
        }
    }
    let (elapsed, after) = (start.elapsed(), usage());
    // A request that still waits has waited for at least this long.
    let waiting = all.iter().filter(|one| !one.is_answered).map(|one| one.asked.elapsed());
    let slowest = waiting.chain(latencies.iter().copied()).max().unwrap_or_default();
    Sample::of(latencies, slowest, elapsed, before, after)
}

impl Sample {
    fn of(
        mut latencies: Vec<Duration>,
        slowest: Duration,
        elapsed: Duration,
        before: Usage,
        after: Usage,
    ) -> Self {
        latencies.sort_unstable();
        let requests = latencies.len().max(1) as f64;
        let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
        let percentile = |n: usize| {
            let at = latencies.len().saturating_sub(1) * n / 100;
            latencies.get(at).map_or(f64::NAN, |time| micros(*time))
        };
        Sample {
            requests: latencies.len() as f64,
            per_second: latencies.len() as f64 / elapsed.as_secs_f64(),
            p50: percentile(50),
            p99: percentile(99),
            slowest: micros(slowest),
            cpu: micros(after.cpu.saturating_sub(before.cpu)) / requests,
            switches: after.switches.saturating_sub(before.switches) as f64 / requests,
        }
    }
}
