//! The words of a directory tree, counted: files are read where a thread may block, and counted by all cores.
//!
//! ```text
//! words [PATH [TIMES [ROUNDS]]]    the files below a path, each TIMES times; by default this repository's docs, 64 times
//! ```
//!
//! In every round, each contender has a turn. All have to find the same counts as the plain loop.

mod contenders;
mod counting;

use std::sync::Arc;
use std::time::{Duration, Instant};

use benches::Hosts;
use contenders::{Counted, Input, fibers, plain, rayon_alone, tokio_and_rayon};

/// The times of a turn.
#[derive(Clone, Copy, Default)]
struct Times {
    reading: Duration,
    counting: Duration,
    all: Duration,
}

type Contender<'a> = (&'static str, Box<dyn Fn() -> Counted + 'a>);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs").to_owned();
    let path = arguments.next().unwrap_or(docs).into();
    let mut number = |default| arguments.next().map_or(default, |text| text.parse().expect("a number"));
    let input = Input { path, times: number(64) };
    let rounds = number(7);
    let hosts = Hosts::start();
    let rayon = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("rayon"));
    let contenders: Vec<Contender<'_>> = vec![
        ("plain", Box::new(|| plain(&input))),
        ("fiber", Box::new(|| fibers(&hosts, &input))),
        ("tokio and rayon", Box::new(|| tokio_and_rayon(&hosts, &rayon, &input))),
        ("rayon", Box::new(|| rayon_alone(&rayon, &input))),
    ];
    let megabytes = input.bytes() as f64 / 1e6;
    println!("| {megabytes:.1} MB | reading, ms | counting, ms | all, ms | MB/s |");
    println!("|---|---:|---:|---:|---:|");
    for ((name, _), times) in contenders.iter().zip(in_turns(&contenders, rounds)) {
        let [reading, counting, all] =
            [times.reading, times.counting, times.all].map(|time| time.as_secs_f64() * 1e3);
        println!(
            "| {name} | {reading:.1} | {counting:.1} | {all:.1} | {:.0} |",
            megabytes / times.all.as_secs_f64()
        );
    }
}

/// The medians, after a warm-up round, which also reads the files into the system's cache.
///
/// # Panics
/// If the contenders' counts differ.
fn in_turns(contenders: &[Contender<'_>], rounds: usize) -> Vec<Times> {
    let mut turns = vec![Vec::new(); contenders.len()];
    let (_, expected) = contenders[0].1();
    for round in 0..=rounds {
        for ((name, contender), turns) in contenders.iter().zip(&mut turns) {
            let start = Instant::now();
            let (read, counts) = contender();
            let end = Instant::now();
            assert!(counts == expected, "{name} counts differently");
            if round > 0 {
                turns.push(Times { reading: read - start, counting: end - read, all: end - start });
            }
        }
    }
    turns.iter().map(|turns| medians(turns)).collect()
}

fn medians(turns: &[Times]) -> Times {
    let median = |time: fn(&Times) -> Duration| {
        let mut times: Vec<Duration> = turns.iter().map(time).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    };
    Times { reading: median(|t| t.reading), counting: median(|t| t.counting), all: median(|t| t.all) }
}
