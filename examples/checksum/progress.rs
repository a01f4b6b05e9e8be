//! The progress of the program: a line on the terminal, and the numbers of the summary.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::walk::Found;

/// The line is drawn no more often than people can read it.
const PAUSE: Duration = Duration::from_millis(100);

/// As wide as the longest line.
const WIDTH: usize = 60;

/// Shared by all readers. The numbers are for display: they need no order among them, so `Relaxed` is enough for each.
pub(crate) struct Progress {
    is_shown: bool,
    /// When the line was drawn. A thread that writes to the terminal holds the lock.
    drawn: Mutex<Instant>,
    started: Instant,
    expected_files: AtomicUsize,
    expected_bytes: AtomicU64,
    summed_files: AtomicUsize,
    bytes: AtomicU64,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let started = Instant::now();
        Progress {
            is_shown: io::stderr().is_terminal(),
            drawn: Mutex::new(started),
            started,
            expected_files: AtomicUsize::new(0),
            expected_bytes: AtomicU64::new(0),
            summed_files: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    pub(crate) fn expect(&self, files: &[Found]) {
        self.expected_files.store(files.len(), Ordering::Relaxed);
        self.expected_bytes.store(files.iter().map(|file| file.size).sum(), Ordering::Relaxed);
    }

    pub(crate) fn has_read(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if self.is_shown
            && let Some(mut drawn) = self.drawn.try_lock()
            && drawn.elapsed() >= PAUSE
        {
            *drawn = Instant::now();
            self.draw(&self.amount());
        }
    }

    pub(crate) fn has_summed_a_file(&self) {
        self.summed_files.fetch_add(1, Ordering::Relaxed);
    }

    /// Hides the line while `print` writes to the same terminal.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        let _drawn = self.drawn.lock();
        self.draw("");
        print()
    }

    /// Removes the line.
    pub(crate) fn finish(&self) {
        self.suspend(|| ());
    }

    /// `1 of 3 files, 512.00 MiB of 1.50 GiB in 0.4 s (1.25 GiB/s)`.
    pub(crate) fn summary(&self) -> String {
        let [summed, expected] =
            [&self.summed_files, &self.expected_files].map(|n| n.load(Ordering::Relaxed));
        format!("{summed} of {expected} files, {}", self.amount())
    }

    /// `512.00 MiB of 1.50 GiB in 0.4 s (1.25 GiB/s)`.
    fn amount(&self) -> String {
        let [bytes, expected] = [&self.bytes, &self.expected_bytes].map(|n| n.load(Ordering::Relaxed));
        let seconds = self.started.elapsed().as_secs_f64();
        let [read, all, rate] = [bytes, expected, (bytes as f64 / seconds) as u64].map(Bytes);
        format!("{read} of {all} in {seconds:.1} s ({rate}/s)")
    }

    /// Replaces the line, and leaves the cursor at its start. A terminal that is gone needs no line.
    fn draw(&self, line: &str) {
        if self.is_shown {
            _ = write!(io::stderr(), "\r{line:WIDTH$}\r");
        }
    }
}

/// `512.00 MiB`.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let larger = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        match self.0.checked_ilog2().unwrap_or(0) as usize / 10 {
            0 => write!(f, "{} B", self.0),
            power => write!(f, "{:.2} {}", self.0 as f64 / 1024f64.powi(power as i32), larger[power - 1]),
        }
    }
}
