//! `checksum [PATH]`: the SHA-256 of every file below a path, and of the whole tree, as `sha256sum` prints them.
//!
//! ```text
//! cargo run --release -p example-checksum --example checksum -- --help
//! ```
//!
//! ```text
//! main                 runs the fiber on a pool, cancels it on Ctrl-C, prints the outcome
//! └ checksum           the program: one fiber
//!   ├ walk             finds the files, in order                           (a blocking thread)
//!   └ parallel, limit  at most --jobs files at a time
//!     └ check          one file, whose failure does not fail the program
//!       ├ sum          reads it; under a timeout, with a retry             (a blocking thread)
//!       └ listing      prints the next lines in order                      (a blocking thread)
//! ```
//!
//! Ctrl-C cancels the pool's root, and everything below it ends: no file is begun, open files are closed
//! after the next chunk, the progress line is cleared by its finalizer, and dropping the pool joins its threads.

mod listing;
mod options;
mod progress;
mod retry;
mod sum;
mod walk;

use std::panic::resume_unwind;
use std::process::ExitCode;
use std::sync::Arc;

use fiber_core::{Context, Fiber, Outcome, fiber};
use fiber_sched::Pool;

use listing::Listing;
use options::{Command, HELP, Options};
use progress::Progress;
use sum::sum;
use walk::{Found, walk};

/// Every file was read.
const ALL_READ: u8 = 0;
/// Some files could not be read, and are missing in the listing.
const SOME_UNREADABLE: u8 = 1;
/// There is no listing, or it could not be written.
const TROUBLE: u8 = 2;
/// The exit status that a shell reports for a program that SIGINT has ended.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let code = match options::parse(lexopt::Parser::from_env()) {
        Ok(Command::Sum(options)) => run(options),
        Ok(Command::Help) => {
            print!("{HELP}");
            ALL_READ
        }
        Err(error) => {
            eprintln!("checksum: {error}\nTry 'checksum --help'.");
            TROUBLE
        }
    };
    ExitCode::from(code)
}

/// The state that the fibers share.
struct Job {
    options: Options,
    progress: Arc<Progress>,
    listing: Listing,
}

fn run(options: Options) -> u8 {
    let progress = Arc::new(Progress::new());
    let job = Arc::new(Job { options, progress: progress.clone(), listing: Listing::new(progress) });
    let pool = Pool::new();
    cancel_on_ctrl_c(pool.context().clone());
    let outcome = pool.run(checksum(job.clone()));
    // Joins the threads. A thread that was reading when its fiber was cancelled ends after its chunk.
    drop(pool);
    conclude(outcome, &job)
}

/// The program.
fn checksum(job: Arc<Job>) -> Fiber<()> {
    let last = job.clone();
    let program = fiber! {
        let! tree = walk(job.options.path.clone());
        job.progress.expect(&tree.files);
        job.listing.add_unreadable(tree.unreadable);
        let limit = job.options.jobs;
        let checks = tree.files.into_iter().enumerate().map(move |(place, file)| check(job.clone(), place, file));
        do! Fiber::parallel(checks).limit(limit);
    };
    program.ensure(Fiber::lazy(move || last.progress.finish())).boxed()
}

/// Reads a file and adds it to the listing: its sum, or the reason why there is none.
fn check(job: Arc<Job>, place: usize, file: Found) -> Fiber<()> {
    fiber! {
        let (path, progress) = (file.path.clone(), job.progress.clone());
        let reading = Fiber::retry_with(retry::policy(), move || sum(path.clone(), progress.clone()));
        let! sum = reading.timeout(job.options.timeout).map(Ok).catch(|error| Fiber::success(Err(error)));
        do! Fiber::try_blocking(move || job.listing.add(place, &file.path, sum));
    }
}

/// The first Ctrl-C cancels everything below `root`; a second one ends the program at once.
fn cancel_on_ctrl_c(root: Context) {
    let handler = move || {
        if root.is_cancelled() {
            std::process::exit(INTERRUPTED.into());
        }
        root.cancel();
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        eprintln!("checksum: Ctrl-C will end this at once: {error}");
    }
}

/// Prints the outcome; returns the exit status.
fn conclude(outcome: Outcome<()>, job: &Job) -> u8 {
    let Job { progress, listing, .. } = job;
    let unreadable = listing.unreadable();
    unreadable.iter().for_each(|file| eprintln!("checksum: {file}"));
    match outcome {
        Outcome::Success(()) => {
            eprintln!("tree: {}", listing.tree());
            eprintln!("{}", progress.summary());
            if unreadable.is_empty() { ALL_READ } else { SOME_UNREADABLE }
        }
        Outcome::Failure(error) => {
            eprintln!("checksum: {error}");
            TROUBLE
        }
        Outcome::Cancelled => {
            eprintln!("checksum: interrupted after {}", progress.summary());
            INTERRUPTED
        }
        Outcome::Panicked(panic) => resume_unwind(panic.into_payload()),
    }
}
