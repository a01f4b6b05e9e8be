//! Everything at once, on 2, 4 and 8 workers: forks, cancellations, steals, lent branches, timers that fire and timers
//! that are cancelled, blocking calls, panics and stuck workers. No outcome may be lost.
//!
//! Each pool runs families of fibers. A family forks its children in rounds, cancels some, and observes the end of each. Some
//! families are cancelled from outside.
//!
//! A failure prints the seed of the run: `STORM=seed cargo test -p fiber-sched-tests --release --test storms storm::`.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::{Either, Error, Fiber, Outcome, fiber};
use fiber_sched::{Pool, Settings, Shutdown, block_on};

/// The number of rounds of children of a family. In optimised builds, the three pools fork a million fibers in all.
const ROUNDS: u64 = if cfg!(debug_assertions) { 4 } else { 120 };
const CHILDREN: u64 = 50;

/// User threads. In the end, each runs one family itself, as a guest of the pool.
const THREADS: u64 = 4;
const FAMILIES: u64 = 16;
/// The number of a thread's families that it cancels.
const CANCELLED: u64 = 2;

/// Fails a test that would hang.
const PATIENCE: Duration = Duration::from_secs(120);
const HOUR: Duration = Duration::from_secs(3600);

/// The same numbers in every run with the same seed.
#[derive(Clone)]
struct Draws(u64);

impl Draws {
    fn new(seed: u64, stream: u64) -> Self {
        let mut draws = Draws(seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (0..4).for_each(|_| _ = draws.below(2));
        draws
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// The observations of one pool.
#[derive(Default)]
struct Tally {
    forks: AtomicU64,
    /// Forks that have ended, or were dropped.
    gone: AtomicU64,
    acquired: AtomicU64,
    /// Finalizers that have run.
    released: AtomicU64,
}

impl Tally {
    fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// Is owned by a fork, and dropped with it.
struct Token(Arc<Tally>);

impl Token {
    fn new(tally: &Arc<Tally>) -> Self {
        Tally::count(&tally.forks);
        Token(tally.clone())
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        Tally::count(&self.0.gone);
    }
}

/// The end of a child that is not cancelled.
#[derive(Clone, Copy, Debug)]
enum End {
    Value(u64),
    Failure,
    Panic,
    Never,
}

impl End {
    fn fits(self, outcome: &Outcome<u64>, was_cancelled: bool) -> bool {
        match (self, outcome) {
            (End::Value(value), Outcome::Success(found)) => *found == value,
            (End::Failure, Outcome::Failure(_)) | (End::Panic, Outcome::Panicked(_)) => true,
            (_, Outcome::Cancelled) => was_cancelled,
            _ => false,
        }
    }
}

fn sleep(draws: &mut Draws) -> Fiber<()> {
    Fiber::delay(Duration::from_micros(draws.below(300))).boxed()
}

/// Some computation that the compiler cannot optimise away.
fn compute(steps: u64) {
    (0..steps).for_each(|step| _ = std::hint::black_box(step));
}

/// The work of a child that has a value.
fn work(draws: &mut Draws, tally: &Arc<Tally>) -> Fiber<()> {
    let steps = draws.below(200);
    match draws.below(1_000) {
        0..400 => Fiber::lazy(move || compute(steps)).boxed(),
        400..600 => Fiber::for_each(0..steps % 4 + 1, |_| Fiber::yield_now()).boxed(),
        600..680 => sleep(draws),
        680..760 => sleep(draws).timeout(HOUR).boxed(),
        760..820 => sleep(draws).race(Fiber::delay(HOUR)).map(Either::into_inner).boxed(),
        820..920 => {
            let half = move || Fiber::lazy(move || compute(50 * steps));
            half().zip(half()).map(drop).boxed()
        }
        920..930 => Fiber::blocking(move || compute(steps)).boxed(),
        930..999 => {
            let (token, work) = (Token::new(tally), work(draws, tally));
            work.map(move |()| drop(token)).fork().bind(|child| child.join()).boxed()
        }
        // Rarely, a worker is stuck.
        _ if draws.below(50) == 0 => Fiber::lazy(|| thread::sleep(Duration::from_millis(25))).boxed(),
        _ => Fiber::parallel((0..20).map(|_| Fiber::yield_now())).map(drop).boxed(),
    }
}

fn child(draws: &mut Draws, tally: &Arc<Tally>) -> (Fiber<u64>, End) {
    let value = draws.below(1_000);
    let (body, end) = match draws.below(20) {
        0 => (Fiber::fail(Error::msg("a child fails")).boxed(), End::Failure),
        // Without a message by the panic hook.
        1 => (Fiber::lazy(|| resume_unwind(Box::new("a child panics"))).boxed(), End::Panic),
        2 => (Fiber::delay(HOUR).map(move |()| value).boxed(), End::Never),
        3 => {
            let endless = Fiber::iterate((), |()| Fiber::yield_now().map(ControlFlow::Continue));
            (endless.map(move |()| value).boxed(), End::Never)
        }
        _ => (work(draws, tally).map(move |()| value).boxed(), End::Value(value)),
    };
    let (token, acquired, released) = (Token::new(tally), tally.clone(), tally.clone());
    let bracket = Fiber::bracket(
        Fiber::lazy(move || Tally::count(&acquired.acquired)),
        move |()| body,
        move |()| Fiber::lazy(move || Tally::count(&released.released)),
    );
    let fiber = bracket.map(move |value| {
        drop(token);
        value
    });
    (fiber.boxed(), end)
}

/// Forks children, and returns the number of those whose end it has observed.
fn family(mut draws: Draws, tally: Arc<Tally>) -> Fiber<u64> {
    fiber! {
        let mut ended = 0;
        for _ in 0..ROUNDS {
            let mut children = Vec::new();
            for _ in 0..CHILDREN {
                let (fiber, end) = child(&mut draws, &tally);
                let! handle = fiber.fork();
                children.push((handle, end));
            }
            for (handle, end) in children {
                let is_cancelled = matches!(end, End::Never) || draws.below(10) == 0;
                match draws.below(2) {
                    _ if !is_cancelled => {}
                    0 => handle.cancel_now(),
                    _ => do! handle.cancel(),
                }
                let! outcome = handle.outcome();
                if outcome.is_cancelled() {
                    // A family that is cancelled may still observe that the child was cancelled with it. Then it ends here.
                    do! Fiber::yield_now();
                }
                assert!(end.fits(&outcome, is_cancelled), "{end:?} has ended as {outcome:?}");
                ended += 1;
            }
        }
        ended
    }
}

/// One user thread with its families.
fn run_families(pool: &Pool, seed: u64, thread: u64, tally: &Arc<Tally>) {
    let mut draws = Draws::new(seed, thread);
    let mut families = (0..FAMILIES).map(|number| {
        let stream = (thread + 1) * 1_000 + number;
        family(Draws::new(seed, stream), tally.clone())
    });
    let last = families.next();
    let handles: Vec<_> = families.map(|family| pool.spawn(family)).collect();
    for (number, handle) in (0..).zip(handles) {
        let is_cancelled = number < CANCELLED;
        if is_cancelled {
            compute(draws.below(1_000_000));
            handle.cancel_now();
        }
        match block_on(handle) {
            Outcome::Success(ended) => assert_eq!(ended, ROUNDS * CHILDREN),
            Outcome::Cancelled if is_cancelled => {}
            other => panic!("family {number} of thread {thread}: {other:?}"),
        }
    }
    // The calm after the storm: most workers search or sleep.
    let ended = last.map(|family| pool.run(family).unwrap());
    assert_eq!(ended, Some(ROUNDS * CHILDREN));
}

fn storm(workers: usize, seed: u64) {
    // Different from the name of the test's file, which Linux gives to its main thread.
    let name = format!("pool-of-{workers}");
    let silent = Settings::new().on_unobserved(|_| ());
    let pool = Arc::new(Pool::builder().workers(workers).name(&name).settings(silent).build());
    let tally = Arc::new(Tally::default());
    let (end, ends) = mpsc::channel();
    for thread in 0..THREADS {
        let (pool, tally, end) = (pool.clone(), tally.clone(), end.clone());
        thread::spawn(move || {
            run_families(&pool, seed, thread, &tally);
            drop(pool);
            end.send(()).unwrap();
        });
    }
    drop(end);
    let deadline = Instant::now() + PATIENCE;
    for _ in 0..THREADS {
        if let Err(error) = ends.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            // Leaks the pool: its shutdown would wait for what hangs.
            let (metrics, dump) = (pool.metrics(), pool.dump());
            std::mem::forget(pool);
            panic!("{workers} workers: {error}\n{metrics}\n{dump}");
        }
    }
    let metrics = pool.metrics();
    Arc::into_inner(pool).unwrap().shutdown(Shutdown::within(PATIENCE)).unwrap();
    println!("{workers} workers: {} forks\n{metrics}", tally.forks.load(Ordering::Relaxed));
    assert_nothing_is_lost(&tally);
    #[cfg(target_os = "linux")]
    assert_no_thread_is_left(&name);
}

fn assert_nothing_is_lost(tally: &Tally) {
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    assert!(count(&tally.forks) >= THREADS * (FAMILIES - CANCELLED) * ROUNDS * CHILDREN);
    assert_eq!(count(&tally.gone), count(&tally.forks), "forks are left");
    assert!(count(&tally.acquired) > 0);
    assert_eq!(count(&tally.released), count(&tally.acquired), "finalizers have not run");
}

/// Linux keeps 15 bytes of a thread's name.
#[cfg(target_os = "linux")]
fn assert_no_thread_is_left(name: &str) {
    let is_left = || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        // A thread may end while the list is read.
        let mut names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.any(|thread| thread.starts_with(name))
    };
    let end = Instant::now() + PATIENCE;
    // The list of threads may lag behind.
    while is_left() {
        assert!(Instant::now() < end, "a thread is left");
        thread::yield_now();
    }
}

#[test]
fn nothing_is_lost_in_a_storm() {
    let seed = match std::env::var("STORM") {
        Ok(seed) => seed.parse().expect("STORM is a number"),
        Err(_) => RandomState::new().hash_one(0),
    };
    println!("STORM={seed}");
    for workers in [2, 4, 8] {
        storm(workers, seed);
    }
}
