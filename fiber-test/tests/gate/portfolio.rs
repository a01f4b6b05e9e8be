//! The default portfolio finds every bug soon.

use fiber_test::Explore;

use crate::first_bug::first_bug;
use crate::programs::ALL;

const SEEDS: u64 = 100;

/// For this percentage of the seeds.
const FOUND: u64 = 95;

#[test]
fn every_bug_is_found_with_nearly_every_seed() {
    for program in ALL {
        let explore = |seed| Explore::default().seed(seed).schedules(program.within);
        let found: Vec<u64> =
            (0..SEEDS).filter_map(|seed| first_bug(&explore(seed), program.broken)).collect();
        let mean = found.iter().sum::<u64>() as f64 / found.len() as f64;
        println!("{}: {mean:.1} schedules to the first bug, {} of {SEEDS} seeds", program.name, found.len());
        let is_enough = found.len() as u64 * 100 >= FOUND * SEEDS;
        assert!(is_enough, "{}: with {} of {SEEDS} seeds", program.name, found.len());
    }
}
