//! Pictures of failures.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::regressions::test_name;
use crate::picture::{Picture, chrome};
use crate::primitive::Site;

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
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    ///
    /// let failure = Explore::default().try_check(|| Fiber::<()>::fail("lost")).unwrap_err();
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
    let directory = wanted.map(Path::to_owned).or_else(|| from_environment(failure.site()))?;
    Some(match failure.save(&directory) {
        Ok(()) => format!("\n\npicture: {}", directory.join("report.html").display()),
        Err(error) => format!("\n\nthe picture could not be written to {}: {error}", directory.display()),
    })
}

/// In the directory of the environment, every test has its own folder.
fn from_environment(site: Site) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("FIBER_TEST_OUT")?);
    Some(folder.join(folder_name(test_name().as_deref(), site.file(), site.line())))
}

/// Tests of several packages and files may have one name, and several threads none: the source file tells them apart, or the line in it.
fn folder_name(test: Option<&str>, file: &str, line: u32) -> String {
    let file = file.trim_start_matches(['/', '.']).trim_end_matches(".rs");
    let test = test.map_or_else(|| line.to_string(), |test| test.replace("::", "-"));
    let is_usual = |one: char| one.is_alphanumeric() || one == '_';
    format!("{file}-{test}").chars().map(|one| if is_usual(one) { one } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::folder_name;

    #[test]
    fn no_two_tests_have_one_folder() {
        assert_eq!(folder_name(Some("it::pays"), "bank/tests/it.rs", 7), "bank-tests-it-it-pays");
        assert_eq!(folder_name(Some("it::pays"), "shop/tests/it.rs", 7), "shop-tests-it-it-pays");
        assert_eq!(folder_name(None, "/home/a b/tests/it.rs", 7), "home-a-b-tests-it-7");
        assert_eq!(folder_name(None, "tests\\it.rs", 9), "tests-it-9");
        // Names of Rust have letters of every alphabet.
        let [north, south] = ["größe", "grüße"].map(|test| folder_name(Some(test), "tests/it.rs", 7));
        assert_eq!((&*north, &*south), ("tests-it-größe", "tests-it-grüße"));
    }
}
