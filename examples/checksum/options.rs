//! The command line.

use std::num::{NonZeroUsize, ParseFloatError};
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Duration;

use lexopt::prelude::{Long, Short, Value, ValueExt};

pub(crate) const HELP: &str = "\
Usage: checksum [OPTIONS] [PATH]

Prints the SHA-256 of the file PATH, or of every regular file below the directory PATH (default: .), as sha256sum does:
'sha256sum -c' accepts the listing. The order is that of the names' bytes: of 'find PATH -type f | LC_ALL=C sort'.
Symbolic links below PATH are not followed; PATH itself may be one.

Standard error gets the files that could not be read, the sum of the tree, and the time that it took. The sum of the
tree is that of the listing: 'checksum PATH | sha256sum' gives the same.

Options:
  -j, --jobs N        read at most N files at a time (default: the number of processors)
  -t, --timeout SECS  give up a file after SECS seconds (default: 3600)
  -h, --help          print this

Exit status: 0 if every file was read, 1 if some could not be read, 2 if there is no listing at all, 130 after Ctrl-C.
";

/// Long enough for a terabyte on a slow disk.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(3600);

pub(crate) enum Command {
    Sum(Options),
    Help,
}

pub(crate) struct Options {
    pub(crate) path: PathBuf,
    pub(crate) jobs: usize,
    /// For one file, all attempts together.
    pub(crate) timeout: Duration,
}

pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut path = None;
    let mut jobs = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let mut timeout = DEFAULT_TIMEOUT;
    while let Some(argument) = parser.next()? {
        match argument {
            Short('j') | Long("jobs") => jobs = parser.value()?.parse()?,
            Short('t') | Long("timeout") => timeout = parser.value()?.parse_with(seconds)?,
            Short('h') | Long("help") => return Ok(Command::Help),
            Value(value) if path.is_none() => path = Some(PathBuf::from(value)),
            other => return Err(other.unexpected()),
        }
    }
    let path = path.unwrap_or_else(|| PathBuf::from("."));
    Ok(Command::Sum(Options { path, jobs: jobs.get(), timeout }))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|error: ParseFloatError| error.to_string())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
