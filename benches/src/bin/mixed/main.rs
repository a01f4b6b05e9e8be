//! Requests beside computations that saturate the machine: the latency of the answers, and the number of computations.
//!
//! ```text
//! mixed [MILLISECONDS [ROUNDS]]    computations of this duration on one core; several numbers, such as 1,10,100: some rows for each
//! ```
//!
//! In every round, each contender has a turn. Requests are sent at fixed times, regardless of earlier ones, and their latency
//! counts from the moment when they are sent. All answers are checked.

mod contenders;
mod work;

use std::sync::Arc;
use std::time::{Duration, Instant};

use benches::Hosts;
use contenders::{Contender, Count, OnePool, SpawnBlocking, TokioAlone, TokioAndRayon, TwoPools, Yielding};
use fiber_sched::Pool;
use work::{Computation, request_for};

/// The duration of a turn.
const TURN: Duration = Duration::from_millis(400);

/// The number of clients of computations, each with one computation at a time: as many as workers, so that no core is idle even if
/// a computation has only one thread.
const CLIENTS: usize = 2;

/// The results of a turn, or the medians of several.
struct Figures {
    computations_per_second: f64,
    requests_per_second: f64,
    median: f64,
    late: f64,
    slowest: f64,
}

type Contenders<'a> = Vec<(&'static str, Box<dyn Contender + 'a>)>;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let sizes = arguments.next().unwrap_or_else(|| "1,10,100".to_owned());
    let rounds = arguments.next().map_or(5, |text| text.parse().expect("ROUNDS is a number"));
    let hosts = Hosts::start();
    let beside = Pool::builder().workers(2).build();
    let rayon = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("rayon"));
    let tokio_and_rayon = || TokioAndRayon { hosts: &hosts, rayon: rayon.clone() };
    let idle: Contenders<'_> =
        vec![("fiber", Box::new(OnePool(&hosts.pool))), ("tokio", Box::new(tokio_and_rayon()))];
    let busy: Contenders<'_> = vec![
        ("fiber, one pool", Box::new(OnePool(&hosts.pool))),
        ("fiber, one pool, yields", Box::new(Yielding(&hosts.pool))),
        ("fiber, two pools", Box::new(TwoPools { requests: &hosts.pool, computations: &beside })),
        ("tokio and rayon", Box::new(tokio_and_rayon())),
        ("tokio, `spawn_blocking`", Box::new(SpawnBlocking(&hosts))),
        ("tokio, in tasks", Box::new(TokioAlone(&hosts))),
    ];
    println!("| computations | contender | computations/s | requests/s | p50 us | p99 us | slowest us |");
    println!("|---|---|---:|---:|---:|---:|---:|");
    print_rows("none", &idle, None, rounds);
    for size in sizes.split(',') {
        let millis = size.parse().expect("MILLISECONDS is a number");
        let computation = Computation::of(Duration::from_millis(millis));
        print_rows(&format!("{millis} ms"), &busy, Some(computation), rounds);
    }
}

/// Alternates between the contenders, after a warm-up round.
fn print_rows(load: &str, contenders: &Contenders<'_>, computation: Option<Computation>, rounds: usize) {
    let mut turns: Vec<Vec<Figures>> = contenders.iter().map(|_| Vec::new()).collect();
    for round in 0..=rounds {
        for ((_, contender), turns) in contenders.iter().zip(&mut turns) {
            let figures = turn(contender.as_ref(), computation);
            if round > 0 {
                turns.push(figures);
            }
        }
    }
    for ((name, _), turns) in contenders.iter().zip(&turns) {
        println!("| {load} | {name} |{}", cells(turns));
    }
}

fn turn(contender: &dyn Contender, computation: Option<Computation>) -> Figures {
    let start = Instant::now();
    let clients = if computation.is_some() { CLIENTS } else { 0 };
    let counts: Vec<Count> = (0..clients)
        .zip(computation.iter().cycle())
        .map(|(_, computation)| contender.compute(*computation, start + TURN))
        .collect();
    let mut latencies = request_for(TURN, || contender.serve());
    let answered = start.elapsed();
    let computations: u64 = counts.into_iter().map(|count| count()).sum();
    let computed = start.elapsed();
    latencies.sort_unstable();
    let percentile = |n: usize| latencies[(latencies.len() - 1) * n / 100].as_secs_f64() * 1e6;
    Figures {
        computations_per_second: computations as f64 / computed.as_secs_f64(),
        requests_per_second: latencies.len() as f64 / answered.as_secs_f64(),
        median: percentile(50),
        late: percentile(99),
        slowest: percentile(100),
    }
}

fn cells(turns: &[Figures]) -> String {
    let figures: [fn(&Figures) -> f64; 5] = [
        |figures| figures.computations_per_second,
        |figures| figures.requests_per_second,
        |figures| figures.median,
        |figures| figures.late,
        |figures| figures.slowest,
    ];
    figures.map(|figure| format!(" {:.0} |", median(turns.iter().map(figure).collect()))).concat()
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
