//! The figures of the explorer over all programs, for its developers: nothing is asserted here.
//!
//! ```sh
//! cargo test -p fiber-test-tests --release --test gate -- --ignored --nocapture figures
//! ```

use std::time::Instant;

use fiber_core::Fiber;
use fiber_test::{Explore, Search};

use crate::apart;
use crate::first_bug::first_bug;
use crate::programs::ALL;

const SEEDS: u64 = 50;

/// A bug that is not found by then counts as found there.
const MOST_SCHEDULES: u64 = 20_000;

/// The mean over the seeds, for one program.
fn mean(explore: impl Fn(u64) -> Explore, program: fn() -> Fiber<()>) -> f64 {
    let found = (0..SEEDS).map(|seed| first_bug(&explore(seed), program).unwrap_or(MOST_SCHEDULES));
    found.sum::<u64>() as f64 / SEEDS as f64
}

fn geometric_mean(all: &[f64]) -> f64 {
    (all.iter().map(|one| one.ln()).sum::<f64>() / all.len() as f64).exp()
}

/// The schedules to the bug of each program, and their geometric mean, for each strategy.
fn print_table(programs: impl Iterator<Item = (&'static str, fn() -> Fiber<()>)>) {
    let portfolio = |seed| Explore::default().seed(seed).schedules(MOST_SCHEDULES);
    let only = |search| move |seed| portfolio(seed).only(search);
    let searches = [Search::RandomWalk, Search::Pct, Search::Urw];
    let mut columns = vec![Vec::new(); searches.len() + 1];
    println!("{:<20} {:>10} {:>10} {:>10} {:>10}", "program", "portfolio", "walk", "PCT", "URW");
    for (name, program) in programs {
        columns[0].push(mean(portfolio, program));
        for (column, search) in searches.iter().enumerate() {
            columns[column + 1].push(mean(only(*search), program));
        }
        let row = columns.iter().map(|column| format!(" {:>10.2}", column[column.len() - 1]));
        println!("{name:<20}{}", row.collect::<String>());
    }
    let row = columns.iter().map(|column| format!(" {:>10.2}", geometric_mean(column)));
    println!("{:<20}{}", "geometric mean", row.collect::<String>());
}

#[test]
#[ignore = "measures, and claims nothing"]
fn figures_of_schedules_to_the_bug() {
    print_table(ALL.iter().map(|program| (program.name, program.broken)));
    print_table(apart::ALL.into_iter());
}

#[test]
#[ignore = "measures, and claims nothing"]
fn figures_of_proofs() {
    let mut proofs = 0;
    for program in ALL {
        let explored = Explore::default().check(program.corrected);
        let is_proof = explored.is_complete();
        proofs += u32::from(is_proof);
        println!(
            "{:<20} {:>6} schedules{}",
            program.name,
            explored.schedules(),
            if is_proof { ", all" } else { "" }
        );
    }
    println!("{proofs} of {} corrected programs are completed", ALL.len());
}

/// The schedules of concurrent fibers, each with this many binds.
fn speed(name: &str, fibers: usize, binds: u32, search: Search) {
    const SCHEDULES: u64 = 20_000;
    let ten = move || Fiber::for_each(0..binds, |_| Fiber::success(()));
    let explore = Explore::default().only(search).schedules(SCHEDULES);
    let started = Instant::now();
    explore.check(move || Fiber::parallel((0..fibers).map(move |_| ten())));
    let second = SCHEDULES as f64 / started.elapsed().as_secs_f64();
    println!("{name}, {search}: {second:.0} schedules a second");
}

#[test]
#[ignore = "measures, and claims nothing"]
fn figures_of_speed() {
    for search in [Search::Fifo, Search::RandomWalk, Search::Pct] {
        speed("2 fibers of 10 binds", 2, 10, search);
        speed("10 fibers of 10 binds", 10, 10, search);
    }
}
