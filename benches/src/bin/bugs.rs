//! How soon explorers find bugs, ours compared with shuttle and loom, as a Markdown table: schedules to the bug, schedules
//! per second, and microseconds to the bug.
//!
//! ```sh
//! cargo run --release -p benches --bin bugs               # all programs
//! cargo run --release -p benches --bin bugs -- counter    # those whose name contains this
//! ```
//!
//! A program is a list of fibers, and a fiber is a list of steps on one state. Between two steps, and before the first, the
//! explorer may switch: at binds of our fibers, and at accesses of an atomic of shuttle's or loom's threads. A run that ends
//! in the wrong state is the bug. A contender runs once for each seed, or once if it takes no seed, until it finds the bug or
//! reaches a limit of schedules, which then counts as the number. Its time ends with the run that shows the bug: it includes
//! neither shrinking nor reports.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fiber_core::Fiber;
use fiber_test::{Explore, Search};
use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler, UrwRandomScheduler};
use shuttle::{Config, FailurePersistence};

/// The number of runs of a contender with seeds.
const SEEDS: u64 = 50;
/// A bug that was not found by then counts as found there.
const MOST_SCHEDULES: u64 = 20_000;
/// The depth of shuttle's PCT: as many priority changes as ours makes on average.
const DEPTH: usize = 4;

/// The state that the steps of all programs share.
#[derive(Clone, Copy, Default)]
struct State {
    value: i32,
    other: i32,
    flag: bool,
    /// The value that each fiber has read.
    seen: [i32; 3],
}

type Step = fn(&mut State, usize);

#[derive(Clone, Copy)]
struct Program {
    name: &'static str,
    fibers: &'static [&'static [Step]],
    is_broken: fn(&State) -> bool,
}

const READ: Step = |state, fiber| state.seen[fiber] = state.value;
const WRITE: Step = |state, fiber| state.value = state.seen[fiber] + 1;
const INCREMENT: &[Step] = &[READ, WRITE];
const THREE_TIMES: &[Step] = &[READ, WRITE, READ, WRITE, READ, WRITE];
const COUNT: Step = |state, _| state.value += 1;
const TAKE_700: Step = |state, fiber| state.value += 700 * state.seen[fiber];
const TAKE_500: Step = |state, fiber| state.value += 500 * state.seen[fiber];
const MAY_700: Step = |state, fiber| state.seen[fiber] = i32::from(state.value + 700 <= 1000);
const MAY_500: Step = |state, fiber| state.seen[fiber] = i32::from(state.value + 500 <= 1000);

const PROGRAMS: [Program; 8] = [
    Program {
        name: "order violation",
        fibers: &[
            &[|state, _| state.flag = true],
            &[|state, fiber| state.seen[fiber] = i32::from(!state.flag)],
        ],
        is_broken: |state| state.seen[1] == 1,
    },
    Program { name: "lost update", fibers: &[INCREMENT; 2], is_broken: |state| state.value < 2 },
    Program { name: "two lost of three", fibers: &[INCREMENT; 3], is_broken: |state| state.value == 1 },
    Program {
        name: "check then act",
        fibers: &[&[MAY_700, TAKE_700], &[MAY_500, TAKE_500]],
        is_broken: |state| state.value > 1000,
    },
    Program {
        name: "close and send",
        fibers: &[
            &[
                |state, fiber| state.seen[fiber] = i32::from(state.flag),
                |state, fiber| state.value += 1 - state.seen[fiber],
            ],
            &[|state, _| state.flag = true, |state, _| state.other = state.value],
        ],
        is_broken: |state| state.value != state.other,
    },
    Program {
        name: "torn pair",
        fibers: &[
            &[|state, _| state.value = 1, |state, _| state.other = 1],
            &[
                |state, fiber| state.seen[fiber] = state.value,
                |state, fiber| state.seen[fiber] -= state.other,
            ],
        ],
        is_broken: |state| state.seen[1] != 0,
    },
    Program { name: "counter, three times", fibers: &[THREE_TIMES; 2], is_broken: |state| state.value == 2 },
    Program {
        name: "held back for 25 steps",
        fibers: &[
            &[READ, |state, fiber| state.flag = state.seen[fiber] == 0 && state.value == 25],
            &[COUNT; 25],
        ],
        is_broken: |state| state.flag,
    },
];

/// Counts the runs of a program until one is broken.
#[derive(Clone)]
struct Trial(Arc<Mutex<Progress>>);

struct Progress {
    started: Instant,
    runs: u64,
    found: Option<Duration>,
}

impl Trial {
    fn new() -> Self {
        Trial(Arc::new(Mutex::new(Progress { started: Instant::now(), runs: 0, found: None })))
    }

    /// A run begins. `false`: the bug was found.
    fn begins(&self) -> bool {
        let mut progress = self.0.lock().expect("no panic");
        let is_wanted = progress.found.is_none();
        progress.runs += u64::from(is_wanted);
        is_wanted
    }

    /// A run has ended. Returns whether it shows the bug.
    fn ends(&self, program: Program, state: &Mutex<State>) -> bool {
        let is_broken = (program.is_broken)(&state.lock().expect("no panic"));
        if is_broken {
            let mut progress = self.0.lock().expect("no panic");
            let elapsed = progress.started.elapsed();
            progress.found.get_or_insert(elapsed);
        }
        is_broken
    }

    fn found(&self) -> Found {
        let progress = self.0.lock().expect("no panic");
        let (runs, found) = (progress.runs, progress.found);
        Found { runs, time: found.unwrap_or_else(|| progress.started.elapsed()), is_found: found.is_some() }
    }
}

#[derive(Clone, Copy)]
struct Found {
    runs: u64,
    time: Duration,
    is_found: bool,
}

fn run_step(state: &Mutex<State>, step: Step, fiber: usize) {
    step(&mut state.lock().expect("no panic"), fiber);
}

// Ours.

fn fibers(program: Program, state: &Arc<Mutex<State>>) -> Vec<Fiber<()>> {
    let fiber = |(number, steps): (usize, &'static [Step])| {
        let state = state.clone();
        Fiber::for_each(steps.iter(), move |step| {
            let state = state.clone();
            Fiber::lazy(move || run_step(&state, *step, number))
        })
        .boxed()
    };
    program.fibers.iter().copied().enumerate().map(fiber).collect()
}

fn ours(explore: Explore, program: Program) -> Found {
    let trial = Trial::new();
    // The state is repaired as soon as the bug was found, so that it is not shrunk.
    let _ = explore.no_regressions().try_check(|| {
        if !trial.begins() {
            return Fiber::success(()).boxed();
        }
        let (trial, state) = (trial.clone(), Arc::new(Mutex::new(State::default())));
        let all = Fiber::parallel(fibers(program, &state));
        all.map(move |_| assert!(!trial.ends(program, &state), "the bug")).boxed()
    });
    trial.found()
}

// shuttle.

fn shuttled(scheduler: impl Scheduler + 'static, program: Program) -> Found {
    let trial = Trial::new();
    let runs = trial.clone();
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    let _ = catch_unwind(AssertUnwindSafe(|| {
        shuttle::Runner::new(scheduler, config).run(move || {
            runs.begins();
            let (state, point) = (Arc::new(Mutex::new(State::default())), shuttle_point());
            let threads = program.fibers.iter().enumerate().map(|(number, steps)| {
                let (state, point) = (state.clone(), point.clone());
                shuttle::thread::spawn(move || {
                    for step in *steps {
                        point.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        run_step(&state, *step, number);
                    }
                })
            });
            let threads: Vec<_> = threads.collect();
            threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
            assert!(!runs.ends(program, &state), "the bug");
        })
    }));
    trial.found()
}

fn shuttle_point() -> Arc<shuttle::sync::atomic::AtomicUsize> {
    Arc::new(shuttle::sync::atomic::AtomicUsize::new(0))
}

// loom.

fn modelled(program: Program) -> Found {
    let trial = Trial::new();
    let runs = trial.clone();
    let mut model = loom::model::Builder::new();
    // loom counts from 1, and checks the limit whenever it would save its position.
    model.max_permutations = Some(MOST_SCHEDULES as usize + 1);
    model.checkpoint_interval = MOST_SCHEDULES as usize + 1;
    let _ = catch_unwind(AssertUnwindSafe(|| {
        model.check(move || {
            runs.begins();
            let state = Arc::new(Mutex::new(State::default()));
            let point = Arc::new(loom::sync::atomic::AtomicUsize::new(0));
            let threads = program.fibers.iter().enumerate().map(|(number, steps)| {
                let (state, point) = (state.clone(), point.clone());
                loom::thread::spawn(move || {
                    for step in *steps {
                        point.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        run_step(&state, *step, number);
                    }
                })
            });
            let threads: Vec<_> = threads.collect();
            threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
            assert!(!runs.ends(program, &state), "the bug");
        })
    }));
    trial.found()
}

// The table.

type Contender = (&'static str, u64, fn(u64, Program) -> Found);

fn only(seed: u64, search: Search) -> Explore {
    Explore::default().only(search).seed(seed).schedules(MOST_SCHEDULES)
}

const CONTENDERS: [Contender; 10] = [
    ("fiber, portfolio", SEEDS, |seed, program| {
        ours(Explore::default().seed(seed).schedules(MOST_SCHEDULES), program)
    }),
    ("fiber, random walk", SEEDS, |seed, program| ours(only(seed, Search::RandomWalk), program)),
    ("fiber, PCT", SEEDS, |seed, program| ours(only(seed, Search::Pct), program)),
    ("fiber, URW", SEEDS, |seed, program| ours(only(seed, Search::Urw), program)),
    ("fiber, exhaustive", SEEDS, |seed, program| {
        ours(Explore::exhaustive().seed(seed).schedules(MOST_SCHEDULES), program)
    }),
    ("shuttle, random", SEEDS, |seed, program| {
        shuttled(RandomScheduler::new_from_seed(seed, MOST_SCHEDULES as usize), program)
    }),
    ("shuttle, PCT", SEEDS, |seed, program| {
        shuttled(PctScheduler::new_from_seed(seed, DEPTH, MOST_SCHEDULES as usize), program)
    }),
    ("shuttle, URW", SEEDS, |seed, program| {
        shuttled(UrwRandomScheduler::new_from_seed(seed, MOST_SCHEDULES as usize), program)
    }),
    ("shuttle, depth first", 1, |_, program| {
        shuttled(DfsScheduler::new(Some(MOST_SCHEDULES as usize), false), program)
    }),
    ("loom", 1, |_, program| modelled(program)),
];

fn row(program: Program, (name, seeds, find): Contender) {
    let found: Vec<Found> = (0..seeds).map(|seed| find(seed, program)).collect();
    let runs: u64 = found.iter().map(|found| found.runs).sum();
    let time: Duration = found.iter().map(|found| found.time).sum();
    let missed = found.iter().filter(|found| !found.is_found).count();
    let count = seeds as f64;
    let note = if missed > 0 { format!(" (not found: {missed} of {seeds})") } else { String::new() };
    println!(
        "| {} | {name} | {:.1}{note} | {:.0} | {:.0} |",
        program.name,
        runs as f64 / count,
        runs as f64 / time.as_secs_f64(),
        time.as_secs_f64() * 1e6 / count
    );
}

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    // A found bug is a panic, which must not be printed.
    set_hook(Box::new(|_| {}));
    println!("| program | explorer | schedules to the bug | schedules in a second | µs to the bug |");
    println!("|---|---|---:|---:|---:|");
    for program in PROGRAMS.into_iter().filter(|program| program.name.contains(&filter)) {
        CONTENDERS.into_iter().for_each(|contender| row(program, contender));
    }
}
