//! Alternating timing: every round times each contender once, so that a slow moment of the machine affects all.

use std::time::Duration;

use crate::workload::{Contender, Workload};

/// The number of turns of every contender: the median tolerates 15 outliers.
const ROUNDS: usize = 31;

/// The minimum duration of a turn, which may repeat the work: thousands of times the resolution of
/// the clock, and short enough for all rounds of all workloads in half a minute.
const SHORTEST_TURN: Duration = Duration::from_millis(2);

/// The limit for a contender that is too quick to be calibrated.
const MOST_RUNS: u64 = 1 << 20;

/// Nanoseconds per operation of one contender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Half of the rounds took less.
    pub median: f64,
    /// Half of the distance between the quartiles.
    pub spread: f64,
}

/// Times all contenders of a workload, in their order.
pub fn time_in_turns(workload: &mut Workload<'_>) -> Vec<Timing> {
    let operations = workload.operations;
    let runs: Vec<u64> = workload.contenders.iter_mut().map(runs_per_turn).collect();
    let mut rounds = vec![Vec::with_capacity(ROUNDS); runs.len()];
    for _ in 0..ROUNDS {
        for ((contender, &runs), times) in workload.contenders.iter_mut().zip(&runs).zip(&mut rounds) {
            let time = contender.time(runs);
            times.push(time.as_nanos() as f64 / (runs * operations) as f64);
        }
    }
    rounds.into_iter().map(Timing::of).collect()
}

/// Warms up, and finds out how many runs make a turn.
fn runs_per_turn(contender: &mut Contender<'_>) -> u64 {
    let mut runs = 1;
    while contender.time(runs) < SHORTEST_TURN && runs < MOST_RUNS {
        runs *= 2;
    }
    runs
}

impl Timing {
    fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let quartile = |n: usize| times[(times.len() - 1) * n / 4];
        Timing { median: quartile(2), spread: (quartile(3) - quartile(1)) / 2.0 }
    }
}
