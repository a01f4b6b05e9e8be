//! The schedules that broke a program, kept in a file beside its test and run first, as proptest does with inputs.
//!
//! One line for each: the test, a colon, the schedule.

use std::fs;
use std::io::Write;
use std::panic::Location;
use std::path::{Path, PathBuf};
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

/// The schedules of one test.
pub(crate) struct Kept {
    file: PathBuf,
    test: String,
}

impl Regressions {
    pub(crate) fn locate(&self, caller: &Location<'_>) -> Option<Kept> {
        // The test harness names its threads by their tests. Without a name this is a documentation test, or no test.
        let current = thread::current();
        let test = current.name().filter(|name| *name != "main");
        let (file, test) = match self {
            Regressions::Off => return None,
            Regressions::In(file) => (file.clone(), test.unwrap_or("main")),
            Regressions::Beside => (source(caller)?.with_extension("fiber-regressions"), test?),
        };
        Some(Kept { file, test: test.to_owned() })
    }
}

/// The source file of the test. The compiler names it from the root of the workspace, and the test runs in its package.
fn source(caller: &Location<'_>) -> Option<PathBuf> {
    let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
    package.ancestors().map(|folder| folder.join(caller.file())).find(|file| file.is_file())
}

impl Kept {
    pub(crate) fn load(&self) -> Vec<Schedule> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        text.lines()
            .filter_map(|line| self.schedule(line))
            .map(|schedule| {
                schedule.parse().unwrap_or_else(|error| panic!("{}: {error}", self.file.display()))
            })
            .collect()
    }

    /// The schedule of a line, if it is of this test.
    fn schedule<'a>(&self, line: &'a str) -> Option<&'a str> {
        let schedule = line.strip_prefix(&self.test)?.strip_prefix(':')?;
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

    fn append(&self, schedule: &Schedule) -> std::io::Result<()> {
        let is_new = !Path::exists(&self.file);
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&self.file)?;
        if is_new {
            file.write_all(HEADER.as_bytes())?;
        }
        writeln!(file, "{}: {schedule}", self.test)
    }
}
