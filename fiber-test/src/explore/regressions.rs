//! The schedules that broke a program, saved in a file beside its test and run first, like proptest's failing inputs.
//!
//! One line for each:
//!
//! ```text
//! 2 tests/bank.rs drafts::first_draft explore.lateness(Duration::from_millis(5)) #5d1c09e7: 1:1 4:1
//! |       |              |                    |                                     |         the schedule
//! |       the file       the test             the settings                     the fingerprint
//! the version
//! ```
//!
//! The fingerprint identifies the program: the number of choices at each decision up to the last one that the schedule names.
//! If it has changed, the same text means another schedule, and the line is stale.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;

use crate::random::mix;
use crate::schedule::Schedule;
use crate::trace::Trace;

const HEADER: &str = "# Schedules that broke a test once, as `version file test settings #fingerprint: schedule`. They are run before any\n\
                      # other. Keep this file under version control; a line may go when its test is gone, or when it is told to be stale.\n";

/// The version of the line format. Lines of another version are rejected.
const VERSION: &str = "2";

/// The place of the file.
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
    /// What this exploration's lines have before the fingerprint: schedules of other tests or settings do not apply to it.
    key: String,
}

/// A line of the file.
#[derive(Clone, Debug)]
pub(crate) struct Regression {
    pub(crate) schedule: Schedule,
    fingerprint: Fingerprint,
    /// Counted from 1.
    line: usize,
}

/// Detects that a program has changed since a schedule broke it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint(u32);

impl Fingerprint {
    /// The fingerprint of a program that has run under a schedule.
    pub(crate) fn of(trace: &Trace, schedule: &Schedule) -> Self {
        let decisions = schedule.last_turn().map_or(0, |last| last as usize + 1);
        let counts = trace.turns.iter().map(|turn| turn.choices as u64);
        // A program that ends before the last decision has no count there.
        let counts = counts.map(|count| count + 1).chain(std::iter::repeat(0)).take(decisions);
        Fingerprint(counts.fold(0, |hash, count| mix(hash ^ count).wrapping_add(1)) as u32)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = u32::from_str_radix(text, 16);
        number.map(Fingerprint).map_err(|_| format!("`#{text}` is not a fingerprint of a program"))
    }
}

/// The name of the current test, if known: the test harness names its threads after their tests. A thread without a name, or the main one, runs a
/// documentation test, or no test; or the harness has only one thread.
pub(crate) fn test_name() -> Option<String> {
    let current = thread::current();
    current.name().filter(|name| *name != "main").map(str::to_owned)
}

impl Regressions {
    /// `settings`: the calls that an exploration was made with.
    pub(crate) fn locate(&self, caller: &Location<'_>, settings: &str) -> Option<RegressionFile> {
        let test = test_name();
        let source = source(caller);
        let (file, test) = match self {
            Regressions::Off => return None,
            Regressions::In(file) => (file.clone(), test.unwrap_or_else(|| "main".to_owned())),
            Regressions::Beside => (source.as_ref()?.with_extension("fiber-regressions"), test?),
        };
        let of = source.as_deref().and_then(in_package).unwrap_or_else(|| caller.file().to_owned());
        let key = format!("{VERSION} {} {test} {settings}", of.replace('\\', "/"));
        Some(RegressionFile { file, key })
    }
}

/// The source file of the test. The compiler names it from the root of the workspace, and the test runs in its package.
fn source(caller: &Location<'_>) -> Option<PathBuf> {
    let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
    package.ancestors().map(|folder| folder.join(caller.file())).find(|file| file.is_file())
}

/// The name of a file as seen from its package, wherever that lies.
fn in_package(file: &Path) -> Option<String> {
    let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
    Some(file.strip_prefix(package).ok()?.to_string_lossy().into_owned())
}

impl RegressionFile {
    /// # Panics
    /// If the file cannot be read, or has an invalid line: otherwise a known failure would not be tested.
    pub(crate) fn load(&self) -> Vec<Regression> {
        let text = match fs::read_to_string(&self.file) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            text => text.unwrap_or_else(|error| panic!("{}", self.unreadable(&error))),
        };
        let lines = (1..).zip(text.lines()).filter(|(_, text)| !text.is_empty() && !text.starts_with('#'));
        let parsed = lines.filter_map(|(line, text)| self.parse(line, text).transpose());
        parsed.map(|one| one.unwrap_or_else(|error| panic!("{error}"))).collect()
    }

    fn unreadable(&self, error: &io::Error) -> String {
        format!(
            "{}: {error}\nThe schedules that broke this test once are kept in this file, so it has to be readable: put it right (a copy is \
             under version control), or remove it and lose them; FIBER_TEST_REGRESSIONS=off runs the test without it.",
            self.file.display()
        )
    }

    /// Parses a line. `None`: it belongs to another exploration, as far as it can be read: otherwise the one that it was meant for might
    /// leave it out.
    ///
    /// # Errors
    /// A description of the syntax error.
    fn parse(&self, line: usize, text: &str) -> Result<Option<Regression>, String> {
        let wrong = |what: &dyn fmt::Display| {
            let place = self.file.display();
            format!(
                "{place}:{line}: {what}\nCorrect the line (a copy is under version control), or remove it."
            )
        };
        if text.split(' ').next() != Some(VERSION) {
            return Err(wrong(&format!("`{text}` is not a line of version {VERSION} of this file")));
        }
        let (key, rest) =
            text.rsplit_once(" #").ok_or_else(|| wrong(&format!("`{text}` has no fingerprint")))?;
        let (fingerprint, schedule) =
            rest.split_once(':').ok_or_else(|| wrong(&format!("`{text}` has no schedule")))?;
        let fingerprint = fingerprint.parse().map_err(|error| wrong(&error))?;
        let schedule = schedule.parse().map_err(|error| wrong(&error))?;
        Ok((key == self.key).then_some(Regression { schedule, fingerprint, line }))
    }

    /// The message about a schedule that no longer breaks the program, if the fingerprint has changed.
    pub(crate) fn stale(&self, kept: &Regression, now: Fingerprint) -> Option<String> {
        let Regression { schedule, fingerprint, line } = kept;
        let place = self.file.display();
        (now != *fingerprint).then(|| {
            format!(
                "{place}:{line}: stale: the program has changed since \"{schedule}\" broke it, and the same text means another schedule \
                 now. It was run, and breaks nothing. Remove the line, or replace its schedule by one that shows the old bug. If the test \
                 explores several programs with the same settings, the line may be of another one: then leave it."
            )
        })
    }

    /// Saves the schedule. Returns a line for the report.
    pub(crate) fn keep(&self, schedule: &Schedule, fingerprint: Fingerprint) -> Option<String> {
        let is_kept = |kept: &Regression| kept.schedule == *schedule && kept.fingerprint == fingerprint;
        if self.load().iter().any(is_kept) {
            return None;
        }
        let path = self.file.display();
        Some(match self.append(schedule, fingerprint) {
            Ok(()) => format!("\n\nkept in {path}, to be run first the next time"),
            Err(error) => format!("\n\nthe schedule could not be kept in {path}: {error}"),
        })
    }

    /// In one write, since other tests may append to the same file.
    fn append(&self, schedule: &Schedule, fingerprint: Fingerprint) -> io::Result<()> {
        let line = format!("{} #{fingerprint}: {schedule}\n", self.key);
        let mut options = fs::OpenOptions::new();
        match options.append(true).create_new(true).open(&self.file) {
            Ok(mut file) => file.write_all(format!("{HEADER}{line}").as_bytes()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                // Some editors leave the last line without its end.
                let is_ended = fs::read(&self.file)?.last().is_none_or(|last| *last == b'\n');
                let end = if is_ended { "" } else { "\n" };
                options.create_new(false).open(&self.file)?.write_all(format!("{end}{line}").as_bytes())
            }
            Err(error) => Err(error),
        }
    }
}
