//! The worlds, in all of which a program has to behave the same.

use fiber_core::net::{TcpListener, TcpStream};
use fiber_core::{Error, Fiber, Outcome, Run, fiber};
use fiber_test::{Explore, TestScheduler, network};

/// The number of seeds, and of schedules of the explorer.
const SEEDS: u64 = 8;
const RUNS: u64 = 50;

/// A capacity of a connection that makes writes short, and fits a greeting.
const LITTLE: usize = 64;

/// A program fails if it panics, fails or hangs in any world. It closes what it opens.
#[track_caller]
pub(crate) fn everywhere(program: fn() -> Fiber<()>) {
    simulated(program);
    real(program);
}

/// The same, for programs that transfer so much that one schedule takes long.
#[track_caller]
pub(crate) fn everywhere_at_length(program: fn() -> Fiber<()>) {
    let test = TestScheduler::new();
    test.run(program()).unwrap();
    test.assert_no_leaks();
    real(program);
}

/// On the simulated network.
#[track_caller]
pub(crate) fn simulated(program: fn() -> Fiber<()>) {
    for seed in 0..SEEDS {
        let test = TestScheduler::with_seed(seed);
        test.run(program()).unwrap();
        test.assert_no_leaks();
        assert_eq!(test.network().connections(), 0, "seed {seed}: a connection is open");
        assert_eq!(test.unobserved(), [""; 0]);
    }
    Explore::default().no_regressions().schedules(RUNS).check(program);
    // Short writes, and packets with latencies.
    Explore::default().no_regressions().schedules(RUNS).check(move || {
        network().bind(move |network| {
            network.set_capacity(LITTLE);
            network.set_latency(std::time::Duration::from_millis(20));
            network.set_jitter(std::time::Duration::from_millis(5));
            program()
        })
    });
}

/// On the network of the operating system, on each scheduler.
#[track_caller]
pub(crate) fn real(program: fn() -> Fiber<()>) {
    for workers in [1, 2, 3] {
        let pool = fiber_sched::Pool::builder().workers(workers).build();
        ends_well(pool.run(program()), "on the thread that calls it");
        ends_well(fiber_sched::block_on(pool.spawn(program())), "on a pool");
    }
    let pool = fiber_sched::AffinityPool::builder().workers(2).pinned(false).build();
    ends_well(pool.run(program()), "on an affinity pool");
    drop(pool);
    ends_well(fiber_sched::CurrentThread::new().run(program()), "on the current thread");
}

#[track_caller]
fn ends_well(outcome: Outcome<()>, place: &str) {
    assert!(outcome.is_success(), "{place}: {outcome:?}");
}

/// Two ends of a connection.
pub(crate) fn connected() -> Fiber<(TcpStream, TcpStream)> {
    fiber! {
        let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
        let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
        (client, server)
    }
}

/// A pattern whose bytes differ over a long range.
pub(crate) fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n * 31 + n / 251) as u8).collect()
}

/// The error of a socket.
pub(crate) fn kind<T: std::fmt::Debug>(outcome: Outcome<T>) -> std::io::ErrorKind {
    let error = outcome.failure().expect("it fails");
    error.downcast_ref::<std::io::Error>().expect("with an error of a socket").kind()
}

/// A failure as a value.
pub(crate) trait Tried<T> {
    fn tried(self) -> Fiber<Result<T, Error>>;
}

impl<T: Send + 'static, R: Run<Out = T>> Tried<T> for Fiber<T, R> {
    fn tried(self) -> Fiber<Result<T, Error>> {
        self.map(Ok).catch(|error| Fiber::success(Err(error))).boxed()
    }
}
