//! `fiber!` has the semantics of plain Rust: random programs, each as plain Rust, as `async` and as `fiber!`, have the same values and
//! the same effects in the same order.
//!
//! `generated.rs` contains the programs. To regenerate it after a change of the generator:
//!
//! ```text
//! WRITE_PROGRAMS=1 cargo test -p fiber-core-tests --test differential the_programs_are_those_of_the_generator
//! ```
//!
//! `WRITE_PROGRAMS="seed count"` generates other programs, or more of them; then `the_programs_are_those_of_the_generator` fails until
//! the file is regenerated.

mod generator;
mod matrix;
mod world;

#[rustfmt::skip]
#[allow(unused, clippy::all, reason = "generated code")]
mod generated;

use std::path::Path;

use fiber_core::Error;
use fiber_test::TestScheduler;
use world::{Async, Plain};

const SEED: u64 = 0;

const COUNT: usize = 20;

/// The arguments that each program is called with.
const ARGUMENTS: [i64; 5] = [0, 1, 2, 5, 11];

fn describe(result: Result<i64, Error>) -> String {
    result.map_or_else(|error| error.to_string(), |value| value.to_string())
}

fn run(program: fn(&Async, i64) -> fiber_core::Fiber<i64>, n: i64) -> (String, Vec<String>) {
    let (world, test) = (Async::default(), TestScheduler::new());
    let outcome = test.run(program(&world, n));
    test.assert_no_leaks();
    (describe(outcome.into_result()), world.0.events())
}

#[test]
fn every_program_does_the_same_in_all_three_forms() {
    for (number, (plain, with_async, with_fiber)) in generated::PROGRAMS.into_iter().enumerate() {
        for n in ARGUMENTS {
            let world = Plain::default();
            let value = describe(plain(&world, n));
            let expected = (value, world.0.events());
            assert_eq!(run(with_fiber, n), expected, "fiber_{number}({n})");
            assert_eq!(run(with_async, n), expected, "async_{number}({n})");
        }
    }
}

#[test]
fn temporaries_live_as_long_as_in_an_async_block() {
    for (position, operand, with_async, with_fiber) in generated::MATRIX {
        for n in ARGUMENTS.into_iter().chain([4]) {
            assert_eq!(run(with_fiber, n), run(with_async, n), "n = {n}, {position}, {operand}");
        }
    }
}

/// Otherwise the first test would prove little.
#[test]
fn the_programs_do_many_things() {
    let mut all = Vec::new();
    for (plain, ..) in generated::PROGRAMS {
        for n in ARGUMENTS {
            let world = Plain::default();
            let value = describe(plain(&world, n));
            all.push(value);
            all.extend(world.0.events());
        }
    }
    for word in ["wait", "check", "drop", "log", "refused", "invalid digit"] {
        let times = all.iter().filter(|event| event.contains(word)).count();
        assert!(times >= 10, "{word}: {times} times");
    }
}

#[test]
fn the_programs_are_those_of_the_generator() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("differential/generated.rs");
    if let Ok(wanted) = std::env::var("WRITE_PROGRAMS") {
        let mut numbers = wanted.split_whitespace();
        let mut number = |default| numbers.next().and_then(|text| text.parse().ok()).unwrap_or(default);
        let (seed, count) =
            if wanted == "1" { (SEED, COUNT) } else { (number(SEED), number(COUNT as u64) as usize) };
        std::fs::write(&path, generator::file(seed, count)).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written == generator::file(SEED, COUNT), "`generated.rs` is to be written anew: see above");
}
