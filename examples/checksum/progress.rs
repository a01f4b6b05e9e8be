//! The progress of the program: a line on the terminal, and the numbers of the summary.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use indicatif::{HumanBytes, ProgressBar, ProgressStyle};

use crate::walk::Found;

/// Shared by all readers. The numbers are for display: they need no order among them, so `Relaxed` is enough for each.
pub(crate) struct Progress {
    /// Draws only if standard error is a terminal.
    bar: ProgressBar,
    started: Instant,
    expected_files: AtomicUsize,
    summed_files: AtomicUsize,
    bytes: AtomicU64,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let style =
            ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left");
        Progress {
            bar: ProgressBar::new(0).with_style(style.expect("a valid template")),
            started: Instant::now(),
            expected_files: AtomicUsize::new(0),
            summed_files: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    pub(crate) fn expect(&self, files: &[Found]) {
        self.expected_files.store(files.len(), Ordering::Relaxed);
        self.bar.set_length(files.iter().map(|file| file.size).sum());
    }

    pub(crate) fn has_read(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.bar.inc(bytes);
    }

    pub(crate) fn has_summed_a_file(&self) {
        self.summed_files.fetch_add(1, Ordering::Relaxed);
    }

    /// Hides the line while `print` writes to the same terminal.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Removes the line.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// `1 of 3 files, 512.00 MiB of 1.50 GiB in 0.4 s (1.25 GiB/s)`.
    pub(crate) fn summary(&self) -> String {
        let [summed, expected] =
            [&self.summed_files, &self.expected_files].map(|n| n.load(Ordering::Relaxed));
        let bytes = self.bytes.load(Ordering::Relaxed);
        let seconds = self.started.elapsed().as_secs_f64();
        let [read, all, rate] =
            [bytes, self.bar.length().unwrap_or(0), (bytes as f64 / seconds) as u64].map(HumanBytes);
        format!("{summed} of {expected} files, {read} of {all} in {seconds:.1} s ({rate}/s)")
    }
}
