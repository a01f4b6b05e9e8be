//! Pictures of failures.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::regressions::test_name;
use crate::picture::{Picture, chrome};

impl Failure {
    /// A picture of the failing schedule, with the nearest passing one beside it: a page for a browser, in one file.
    pub fn html(&self) -> String {
        self.with_picture(|picture| picture.html())
    }

    /// The picture alone.
    pub fn svg(&self) -> String {
        self.with_picture(|picture| picture.svg())
    }

    /// The failing schedule in the Chrome trace event format, which Perfetto opens.
    pub fn chrome_trace(&self) -> String {
        chrome::export(self.trace())
    }

    /// Writes `report.html`, `report.svg` and `trace.json` into a directory, which is created if necessary.
    ///
    /// ```
    /// use fiber_core::{Error, Fiber};
    /// use fiber_test::Explore;
    ///
    /// let failure = Explore::default().try_check(|| Fiber::<()>::fail(Error::msg("lost"))).unwrap_err();
    /// let directory = std::env::temp_dir().join(format!("fiber-saved-{}", std::process::id()));
    /// failure.save(&directory).unwrap();
    /// assert!(directory.join("report.svg").is_file());
    /// # std::fs::remove_dir_all(directory).unwrap();
    /// ```
    ///
    /// # Errors
    /// Those of the file system.
    pub fn save(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        fs::write(directory.join("report.html"), self.html())?;
        fs::write(directory.join("report.svg"), self.svg())?;
        fs::write(directory.join("trace.json"), self.chrome_trace())
    }

    fn with_picture<T>(&self, draw: impl FnOnce(&Picture<'_>) -> T) -> T {
        draw(&Picture {
            title: &self.problem().title(),
            replay: &self.replay(),
            failing: self.trace(),
            passing: self.passing().map(|(_, trace)| trace),
            pair: self.pair(),
        })
    }
}

/// Saves pictures of a failure in the directory of the test or of the environment. Returns a line for the report.
pub(super) fn save(failure: &Failure, wanted: Option<&Path>) -> Option<String> {
    let directory = wanted.map(Path::to_owned).or_else(from_environment)?;
    Some(match failure.save(&directory) {
        Ok(()) => format!("\n\npicture: {}", directory.join("report.html").display()),
        Err(error) => format!("\n\nthe picture could not be written to {}: {error}", directory.display()),
    })
}

/// In the directory of the environment, every test has its own folder.
fn from_environment() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("FIBER_TEST_OUT")?);
    Some(folder.join(test_name().as_deref().unwrap_or("main").replace("::", "-")))
}
