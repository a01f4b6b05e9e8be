//! Whether blocking calls are short at present, so that one may wait for another.
//!
//! A thread that comes for a call costs two switches of threads. While calls are short, a call therefore waits for a thread
//! that is in one already, and runs next on it. One thread without a call, the *watcher*, naps meanwhile; if a call waits and
//! none has begun during a nap, the calls that run are not short after all, and threads come for all that wait.

use std::time::Duration;

/// A call that takes less is short: not much longer than the switches that it takes to run it elsewhere.
const SHORT: Duration = Duration::from_micros(100);

/// After so many short calls in a row, the next ones are expected to be short.
const SHORT_IN_A_ROW: u32 = 8;

/// So many calls wait for each one that runs, at most.
const MOST_WAITING: usize = 8;

/// How long the watcher naps. A call that is not short keeps others waiting for two naps at most. In a busy service, naps cost
/// less than a hundredth of a core.
pub(crate) const NAP: Duration = Duration::from_millis(1);

/// What calls have taken lately.
#[derive(Default)]
pub(crate) struct Pace {
    /// Not counted further than needed.
    short_in_a_row: u32,
}

impl Pace {
    pub(crate) fn note(&mut self, took: Duration) {
        let more = (self.short_in_a_row + 1).min(SHORT_IN_A_ROW);
        self.short_in_a_row = if took < SHORT { more } else { 0 };
    }

    /// A call is not short.
    pub(crate) fn is_slow(&mut self) {
        self.short_in_a_row = 0;
    }

    pub(crate) fn expects_short(&self) -> bool {
        self.short_in_a_row == SHORT_IN_A_ROW
    }

    /// Whether `waiting` calls are not too many for `running` threads.
    pub(crate) fn keeps_up(&self, waiting: usize, running: usize) -> bool {
        waiting <= MOST_WAITING * running
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_calls_are_expected_after_several_in_a_row() {
        let mut pace = Pace::default();
        for _ in 0..SHORT_IN_A_ROW {
            assert!(!pace.expects_short());
            pace.note(SHORT / 2);
        }
        assert!(pace.expects_short());
        pace.note(SHORT);
        assert!(!pace.expects_short());
    }

    #[test]
    fn few_calls_wait_for_each_that_runs() {
        let pace = Pace::default();
        assert!(!pace.keeps_up(1, 0));
        assert!(pace.keeps_up(2 * MOST_WAITING, 2));
        assert!(!pace.keeps_up(MOST_WAITING + 1, 1));
    }
}
