//! The work: requests, the client that makes them, and computations.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use benches::step;
use fiber_core::compute;
use rayon::prelude::*;

/// The number of fibers or tasks that wait for requests.
const SERVERS: usize = 64;

/// The client sends this many requests at a time,
const BURST: u64 = 5;

/// and then sleeps until the next ones are due.
const PERIOD: Duration = Duration::from_millis(1);

/// A request costs a few microseconds.
const STEPS_OF_REQUEST: u64 = 3_000;

/// An element of a computation costs about one.
const STEPS_OF_ELEMENT: u64 = 400;

/// What a server receives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    number: u64,
    sent: Instant,
}

/// The results of a server.
#[derive(Debug, Default)]
pub(crate) struct Served {
    latencies: Vec<Duration>,
    sum: u64,
}

impl Served {
    /// Does the work of a request. Its latency counts from the moment when it was sent.
    pub(crate) fn serve(&mut self, request: Request) {
        let answer = (0..STEPS_OF_REQUEST).fold(request.number, |n, _| step(n));
        self.sum = self.sum.wrapping_add(answer);
        self.latencies.push(request.sent.elapsed());
    }
}

/// A server: its input, where `None` ends it, and its results after that.
pub(crate) struct Server {
    pub(crate) send: Box<dyn Fn(Option<Request>)>,
    pub(crate) join: Box<dyn FnOnce() -> Served>,
}

/// Sends requests for this time, in bursts at fixed times, to the servers in rotation. Returns their latencies.
///
/// A latency begins when the request is sent, so a client that wakes up late does not affect it.
///
/// # Panics
/// If a request is lost, or has a wrong answer.
pub(crate) fn request_for(time: Duration, start: impl Fn() -> Server) -> Vec<Duration> {
    let servers: Vec<Server> = (0..SERVERS).map(|_| start()).collect();
    let begin = Instant::now();
    let mut sent = 0;
    for due in (0..).map(|n| PERIOD * n).take_while(|due| *due < time) {
        thread::sleep((begin + due).saturating_duration_since(Instant::now()));
        for number in sent..sent + BURST {
            let request = Request { number, sent: Instant::now() };
            (servers[number as usize % SERVERS].send)(Some(request));
        }
        sent += BURST;
    }
    servers.iter().for_each(|server| (server.send)(None));
    let served: Vec<Served> = servers.into_iter().map(|server| (server.join)()).collect();
    let sum = served.iter().map(|served| served.sum).fold(0, u64::wrapping_add);
    assert_eq!(sum, (0..sent).map(|n| n + STEPS_OF_REQUEST).sum::<u64>(), "a wrong answer");
    let latencies = served.into_iter().flat_map(|served| served.latencies).collect::<Vec<_>>();
    assert_eq!(latencies.len() as u64, sent, "a lost request");
    latencies
}

/// A sum over many elements, each of which has to be computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Computation {
    elements: u64,
    answer: u64,
}

impl Computation {
    /// A computation of this duration on one idle core.
    pub(crate) fn of(time: Duration) -> Self {
        let elements = (time.as_secs_f64() / seconds_of_element()).ceil() as u64;
        Computation { elements, answer: sum_alone(elements) }
    }

    /// On this thread.
    pub(crate) fn alone(self) {
        self.check(sum_alone(self.elements));
    }

    /// By borrowed tasks of the current pool.
    pub(crate) fn by_borrowed_tasks(self) {
        let add = |sum: u64, n| sum.wrapping_add(element(n));
        self.check(compute::par_reduce(0..self.elements, || 0, add, u64::wrapping_add));
    }

    /// By rayon, on the current one of its threads.
    pub(crate) fn by_rayon(self) {
        self.check((0..self.elements).into_par_iter().map(element).reduce(|| 0, u64::wrapping_add));
    }

    fn check(self, sum: u64) {
        assert_eq!(sum, self.answer, "a wrong sum");
    }
}

fn sum_alone(elements: u64) -> u64 {
    (0..elements).map(element).fold(0, u64::wrapping_add)
}

fn element(n: u64) -> u64 {
    let mixed = |n: u64| (n ^ (n >> 31)).wrapping_mul(0x7FB5_D329_728E_A185);
    (0..STEPS_OF_ELEMENT).fold(black_box(n), |n, _| mixed(n))
}

/// The shortest of many measurements: those without interruptions.
fn seconds_of_element() -> f64 {
    const ELEMENTS: u64 = 100;
    let time = || {
        let start = Instant::now();
        black_box(sum_alone(ELEMENTS));
        start.elapsed()
    };
    let quickest = (0..200).map(|_| time()).min().expect("many tries");
    quickest.as_secs_f64() / ELEMENTS as f64
}
