//! The default portfolio finds every bug soon.

use fiber_core::Fiber;
use fiber_test::Explore;

use crate::programs::ALL;

/// Shrinking what was found takes most of the time.
const SEEDS: u64 = if cfg!(debug_assertions) { 20 } else { 100 };

/// With so many of the seeds, in percent.
const FOUND: u64 = 95;

fn is_found(program: fn() -> Fiber<()>, seed: u64, within: u64) -> bool {
    Explore::default().seed(seed).schedules(within).try_check(program).is_err()
}

#[test]
fn every_bug_is_found_with_nearly_every_seed() {
    for program in ALL {
        let found = (0..SEEDS).filter(|seed| is_found(program.broken, *seed, program.within)).count() as u64;
        assert!(found * 100 >= FOUND * SEEDS, "{}: with {found} of {SEEDS} seeds", program.name);
    }
}
