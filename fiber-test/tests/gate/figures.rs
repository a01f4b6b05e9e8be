//! The figures of the explorer over all programs, for those who change it: nothing is claimed here.
//!
//! ```sh
//! cargo test -p fiber-test --release --test gate -- --ignored --nocapture figures
//! ```

use fiber_test::{Explore, Search};

use crate::first_bug::first_bug;
use crate::programs::ALL;

const SEEDS: u64 = 50;

/// A bug that is not found by then counts as found there.
const MOST_SCHEDULES: u64 = 20_000;

/// The mean over the seeds, of one program.
fn mean(explore: impl Fn(u64) -> Explore, program: fn() -> fiber_core::Fiber<()>) -> f64 {
    let found = (0..SEEDS).map(|seed| first_bug(&explore(seed), program).unwrap_or(MOST_SCHEDULES));
    found.sum::<u64>() as f64 / SEEDS as f64
}

fn geometric_mean(all: &[f64]) -> f64 {
    (all.iter().map(|one| one.ln()).sum::<f64>() / all.len() as f64).exp()
}

#[test]
#[ignore = "measures, and claims nothing"]
fn figures_of_schedules_to_the_bug() {
    let portfolio = |seed| Explore::default().seed(seed).schedules(MOST_SCHEDULES);
    let only = |search| move |seed| portfolio(seed).only(search);
    let searches = [Search::RandomWalk, Search::Pct, Search::Urw];
    let mut columns = vec![Vec::new(); searches.len() + 1];
    println!("{:<20} {:>10} {:>10} {:>10} {:>10}", "program", "portfolio", "walk", "PCT", "URW");
    for program in ALL {
        columns[0].push(mean(portfolio, program.broken));
        for (column, search) in searches.iter().enumerate() {
            columns[column + 1].push(mean(only(*search), program.broken));
        }
        let row = columns.iter().map(|column| format!(" {:>10.2}", column[column.len() - 1]));
        println!("{:<20}{}", program.name, row.collect::<String>());
    }
    let row = columns.iter().map(|column| format!(" {:>10.2}", geometric_mean(column)));
    println!("{:<20}{}", "geometric mean", row.collect::<String>());
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
