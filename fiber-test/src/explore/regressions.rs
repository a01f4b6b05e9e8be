//! The schedules that broke a program, kept in a file beside its test and run first, as proptest does with inputs.
//!
//! One line for each: the test, what else the exploration was asked for, a colon, the schedule.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::panic::Location;
use std::path::PathBuf;
use std::thread;

use crate::schedule::Schedule;

const HEADER: &str = "# Schedules that broke a test once, as `test: schedule`. They are run before any other. Keep this file under version\n\
                      # control; a line may go when its test is gone.\n";

/// Where they are kept.
#[derive(Clone, Debug)]
pub(crate) enum Regressions {
    /// In a file beside the test's.
    Beside,
    In(PathBuf),
    Off,
}

/// The schedules of one exploration of one test.
pub(crate) struct RegressionFile {
    file: PathBuf,
    /// The test, and what else was asked for: a schedule of other settings is another one.
    key: String,
}

/// The test that runs, if that is known. The test harness names its threads by their tests. A thread without a name, or the main one, runs a
/// documentation test, or no test; or the harness has only one thread.
pub(crate) fn test_name() -> Option<String> {
    let current = thread::current();
    current.name().filter(|name| *name != "main").map(str::to_owned)
}

impl Regressions {
    /// `settings`: the calls that an exploration was made with.
    pub(crate) fn locate(&self, caller: &Location<'_>, settings: &str) -> Option<RegressionFile> {
        let test = test_name();
        let (file, test) = match self {
            Regressions::Off => return None,
            Regressions::In(file) => (file.clone(), test.unwrap_or_else(|| "main".to_owned())),
            Regressions::Beside => (source(caller)?.with_extension("fiber-regressions"), test?),
        };
        let key = if settings.is_empty() { test } else { format!("{test} {settings}") };
        Some(RegressionFile { file, key })
    }
}

/// The source file of the test. The compiler names it from the root of the workspace, and the test runs in its package.
fn source(caller: &Location<'_>) -> Option<PathBuf> {
    let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
    package.ancestors().map(|folder| folder.join(caller.file())).find(|file| file.is_file())
}

impl RegressionFile {
    /// # Panics
    /// If the file cannot be read, or has a schedule that is none: what broke once would not be run.
    pub(crate) fn load(&self) -> Vec<Schedule> {
        let text = match fs::read_to_string(&self.file) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            text => text.unwrap_or_else(|error| panic!("{}: {error}", self.file.display())),
        };
        let schedules = text.lines().filter_map(|line| self.schedule(line));
        let parsed = schedules.map(|schedule| schedule.parse());
        parsed.map(|one| one.unwrap_or_else(|error| panic!("{}: {error}", self.file.display()))).collect()
    }

    /// The schedule of a line, if it is of this exploration.
    fn schedule<'a>(&self, line: &'a str) -> Option<&'a str> {
        let schedule = line.strip_prefix(&self.key)?.strip_prefix(':')?;
        // Two colons: it is of a test in the module of this name.
        (!schedule.starts_with(':')).then_some(schedule)
    }

    /// Returns what to tell about it.
    pub(crate) fn keep(&self, schedule: &Schedule) -> Option<String> {
        if self.load().contains(schedule) {
            return None;
        }
        let path = self.file.display();
        Some(match self.append(schedule) {
            Ok(()) => format!("\n\nkept in {path}, to be run first the next time"),
            Err(error) => format!("\n\nthe schedule could not be kept in {path}: {error}"),
        })
    }

    /// In one write, since other tests may append to the same file.
    fn append(&self, schedule: &Schedule) -> io::Result<()> {
        let line = format!("{}: {schedule}\n", self.key);
        let mut options = fs::OpenOptions::new();
        match options.append(true).create_new(true).open(&self.file) {
            Ok(mut file) => file.write_all(format!("{HEADER}{line}").as_bytes()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                options.create_new(false).open(&self.file)?.write_all(line.as_bytes())
            }
            Err(error) => Err(error),
        }
    }
}
