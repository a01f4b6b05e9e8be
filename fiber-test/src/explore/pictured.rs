//! The setting for pictures of failures.

use std::path::PathBuf;

use super::builder::Explore;

impl Explore {
    /// Sets the directory for the picture of a failure that [`check`](Explore::check) panics with: `report.html`, `report.svg` and `trace.json` for Perfetto. It is created
    /// if necessary. By default, the environment variable `FIBER_TEST_OUT` may name a directory that gets a folder for each failing test,
    /// named by its source file and its name (without a name, as in a thread that the test has started, by the line of the check).
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    /// # std::panic::set_hook(Box::new(|_| {}));
    ///
    /// let directory = std::env::temp_dir().join(format!("fiber-pictures-{}", std::process::id()));
    /// let explore = Explore::default().pictures(&directory);
    /// let wrong = || Fiber::<()>::fail("lost");
    /// assert!(std::thread::spawn(move || explore.check(wrong)).join().is_err());
    /// assert!(directory.join("report.html").is_file());
    /// # std::fs::remove_dir_all(directory).unwrap();
    /// ```
    pub fn pictures(mut self, directory: impl Into<PathBuf>) -> Self {
        self.pictures = Some(directory.into());
        self
    }
}
