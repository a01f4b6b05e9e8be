//! A write-ahead log on a disk that crashes. Three of its drafts lose records: one does not sync them, one leaves a torn record where
//! it is, so that nobody finds those behind it, and one forgets that a new name needs a sync, too. The explorer finds the crash that
//! shows it.
//!
//! ```sh
//! cargo run --release --example wal
//! ```

use std::io::{self, ErrorKind};
use std::sync::Arc;

use fiber_core::fs::{self, File};
use fiber_core::{Error, Fiber, fiber};
use fiber_test::{Explore, Faults, network};
use parking_lot::Mutex;

/// What a draft takes care of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Draft {
    /// A record counts before it is on the disk.
    Hasty,
    /// What a crash has torn stays in the log.
    Untidy,
    /// The new log may not have its name yet.
    Nameless,
    Right,
}

const PATH: &str = "/log";

/// The log to come.
const NEXT: &str = "/log.next";

/// A record is its length in one byte, the text, and a checksum in one byte.
fn encoded(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).expect("records are short");
    [&[length], text.as_bytes(), &[checksum(text.as_bytes())]].concat()
}

fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(1, |sum: u8, byte| sum.wrapping_mul(31).wrapping_add(*byte))
}

/// The next record, and what follows it. `None`: there is none, or it is torn.
fn decoded(bytes: &[u8]) -> Option<(String, &[u8])> {
    let (length, rest) = bytes.split_first()?;
    let (text, rest) = rest.split_at_checked(usize::from(*length))?;
    let (sum, rest) = rest.split_first()?;
    let text = String::from_utf8(text.to_vec()).ok().filter(|_| *sum == checksum(text))?;
    Some((text, rest))
}

/// All records up to the first torn one, and the number of their bytes.
fn records(bytes: &[u8]) -> (Vec<String>, usize) {
    let (mut all, mut rest) = (Vec::new(), bytes);
    while let Some((text, after)) = decoded(rest) {
        all.push(text);
        rest = after;
    }
    (all, bytes.len() - rest.len())
}

/// The bytes of the log, if there is one.
fn contents() -> Fiber<Vec<u8>> {
    let is_missing =
        |error: &Error| error.downcast_ref().is_some_and(|it: &io::Error| it.kind() == ErrorKind::NotFound);
    let none = move |error: Error| match error {
        error if is_missing(&error) => Fiber::success(Vec::new()).boxed(),
        error => Fiber::fail(error).boxed(),
    };
    fs::read(PATH).catch(none).boxed()
}

/// Opens the log, and gives its records. They are copied into a new file, without a torn one at their end.
fn opens(draft: Draft) -> Fiber<(File, Vec<String>)> {
    fiber! {
        let! mut bytes = contents();
        let (all, length) = records(&bytes);
        if draft == Draft::Untidy {
            let! log = File::append(PATH);
            return (log, all);
        }
        bytes.truncate(length);
        let! log = File::create(NEXT);
        do! log.write_all(bytes);
        do! log.sync_all();
        // A crash leaves the old log or the new one.
        do! fs::rename(NEXT, PATH);
        if draft != Draft::Nameless { do! fs::sync_dir("/"); }
        (log, all)
    }
}

fn appends(log: File, text: &'static str, draft: Draft) -> Fiber<()> {
    fiber! {
        do! log.write_all(encoded(text));
        if draft != Draft::Hasty { do! log.sync_all(); }
    }
}

const TEXTS: [&str; 3] = ["one", "two", "three"];

/// Appends what is missing, whenever its host starts. `promised`: the records that count, wherever the host crashes.
fn writes(draft: Draft, promised: Arc<Mutex<Vec<String>>>) -> Fiber<()> {
    fiber! {
        let! (log, found) = opens(draft);
        assert!(found.starts_with(&promised.lock()), "of {:?} there is only {found:?}", promised.lock());
        let count = found.len();
        // The last one may be on the disk although it was not promised.
        *promised.lock() = found;
        for text in TEXTS.into_iter().skip(count) {
            do! appends(log.clone(), text, draft);
            promised.lock().push(text.to_owned());
        }
    }
}

/// A computer with the log.
fn store(draft: Draft) -> Fiber<()> {
    fiber! {
        let! network = network();
        let host = network.host("store");
        let promised = Arc::new(Mutex::new(Vec::new()));
        do! host.run(move || writes(draft, promised.clone()));
        let! (_log, left) = host.run(move || opens(draft));
        assert_eq!(left, TEXTS);
    }
}

fn explore() -> Explore {
    Explore::default().schedules(1_000).faults(Faults::new().crashes(2))
}

fn main() {
    for draft in [Draft::Hasty, Draft::Untidy, Draft::Nameless] {
        let failure = explore().try_check(move || store(draft)).expect_err("it loses records");
        println!("{draft:?}\n\n{failure}\n");
    }
    let explored = explore().try_check(|| store(Draft::Right)).expect("it loses nothing");
    println!("{:?}: {explored}", Draft::Right);
}

#[cfg(test)]
mod tests {
    use super::*;
    use fiber_test::{FaultKind, TestScheduler};

    #[test]
    fn without_a_crash_all_drafts_are_right() {
        for draft in [Draft::Hasty, Draft::Untidy, Draft::Nameless, Draft::Right] {
            let test = TestScheduler::new();
            test.run(store(draft)).unwrap();
            test.assert_no_leaks();
        }
    }

    #[test]
    fn one_crash_shows_what_a_draft_forgets() {
        for draft in [Draft::Hasty, Draft::Untidy, Draft::Nameless] {
            let failure = explore().no_regressions().try_check(move || store(draft)).unwrap_err();
            let schedule = failure.schedule();
            let [crash] = schedule.faults() else { panic!("one is enough: {failure}") };
            assert_eq!(crash.kind, FaultKind::Crash);
            let again = Explore::replay(&schedule.to_string()).no_regressions();
            let again = again.try_check(move || store(draft)).unwrap_err();
            assert_eq!(again.problem().message(), failure.problem().message());
        }
    }

    /// What a crash tears off is a number of the schedule.
    #[test]
    fn a_torn_record_is_a_decision_of_the_schedule() {
        let failure = explore().no_regressions().try_check(|| store(Draft::Untidy)).unwrap_err();
        assert!(failure.schedule().to_string().contains(":="), "{failure}");
    }

    #[test]
    fn the_right_one_survives_every_crash() {
        let faults = Faults::new().crashes(1);
        let explored = Explore::exhaustive()
            .no_regressions()
            .preemptions(0)
            .faults(faults)
            .check(|| store(Draft::Right));
        assert!(explored.is_complete());
        explore().no_regressions().check(|| store(Draft::Right));
    }

    #[test]
    fn a_record_is_torn_anywhere() {
        let bytes = [encoded("one"), encoded("two")].concat();
        for length in 0..=bytes.len() {
            let expected = if length == bytes.len() { 2 } else { length / encoded("one").len() };
            assert_eq!(records(&bytes[..length]).0.len(), expected);
        }
        assert_eq!(records(&[0; 9]).0.len(), 0, "a gap is no record");
    }
}
