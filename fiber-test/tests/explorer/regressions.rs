//! The schedules that broke a test are saved, and run first the next time.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use fiber_core::Fiber;
use fiber_test::{Explore, Faults, Network, network};

use crate::known;

/// A program that draws a random number is never explored completely.
fn right() -> Fiber<()> {
    Fiber::random_u64().map(drop).boxed()
}

/// A file that does not exist yet, in cargo's directory for tests.
fn fresh(name: &str) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).with_extension("fiber-regressions");
    let _ = fs::remove_file(&file);
    file
}

/// Explores a program, which counts its runs. Returns the report, if there is one, and the runs.
fn explore(file: &PathBuf, program: impl Fn() -> Fiber<()> + Sync) -> (Option<String>, u64) {
    let runs = AtomicU64::new(0);
    let counted = || {
        runs.fetch_add(1, SeqCst);
        program()
    };
    let explore = Explore::default().schedules(100).regressions(file);
    let panic = catch_unwind(AssertUnwindSafe(|| explore.check(counted))).err();
    let text = panic.map(|panic| panic.downcast_ref::<String>().expect("a report").clone());
    (text, runs.into_inner())
}

fn lines(file: &PathBuf) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn a_schedule_is_kept_once_and_run_first_the_next_time() {
    let file = fresh("kept");
    let (report, runs) = explore(&file, known::close_send);
    let report = report.expect("it breaks");
    assert!(report.contains("kept in ") && report.contains("to be run first the next time"), "{report}");
    let kept = lines(&file);
    assert_eq!(kept.len(), 1);
    let key = "2 explorer/regressions.rs regressions::a_schedule_is_kept_once_and_run_first_the_next_time explore #";
    assert!(kept[0].starts_with(key) && kept[0].ends_with(": 3:1"), "{kept:?}");

    let (report, again) = explore(&file, known::close_send);
    assert!(report.expect("it breaks again").contains(": panic at 0ns: a message is lost\n"));
    assert!(again < runs, "the kept schedule breaks it at once: {again} runs, {runs} before");
    assert_eq!(lines(&file), kept);
}

#[test]
fn what_was_put_right_is_explored_as_usual_after_the_schedules_that_broke_it() {
    let file = fresh("put-right");
    explore(&file, known::close_send).0.expect("it breaks");
    let (report, runs) = explore(&file, right);
    assert_eq!((report, runs), (None, 101));
}

#[test]
fn no_file_is_made_when_nothing_breaks() {
    let file = fresh("nothing");
    assert_eq!(explore(&file, right), (None, 100));
    assert!(!file.exists());
}

/// The bug of first in, first out: its line ends with the colon when an editor removes trailing blanks.
#[test]
fn first_in_first_out_is_kept_even_if_blanks_at_the_ends_of_lines_are_removed() {
    let file = fresh("blanks");
    explore(&file, known::lost_update).0.expect("it breaks");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>()).unwrap();
    let (_, runs) = explore(&file, right);
    assert_eq!(runs, 101, "the kept one, and a hundred");
}

/// Some editors leave the last line without its end.
#[test]
fn a_line_is_kept_below_one_without_an_end() {
    let file = fresh("no-end");
    explore(&file, known::lost_update).0.expect("it breaks");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.trim_end()).unwrap();
    explore(&file, known::close_send).0.expect("it breaks");
    let kept = lines(&file);
    assert!(kept.len() == 2 && kept[1].ends_with(": 3:1"), "{kept:?}");
}

#[test]
fn a_broken_line_is_named() {
    let file = fresh("broken");
    explore(&file, known::close_send).0.expect("it breaks");
    let broken = fs::read_to_string(&file).unwrap().replace(": 3:1", ": 3-1");
    fs::write(&file, broken).unwrap();
    let (report, runs) = explore(&file, known::close_send);
    let report = report.expect("it is no schedule");
    assert!(report.contains("broken.fiber-regressions"), "{report}");
    assert!(report.contains("`3-1` is no part of a schedule"), "{report}");
    assert_eq!(runs, 0);
}

/// The test for which it was meant would not find it.
#[test]
fn a_line_without_its_fingerprint_is_named_whatever_test_it_is_of() {
    let file = fresh("no-fingerprint");
    for broken in ["explorer/regressions.rs another_test explore: 3:1", "elsewhere.rs it explore #0 3:1"] {
        fs::write(&file, format!("2 {broken}\n")).unwrap();
        let (report, runs) = explore(&file, right);
        let report = report.expect("it is no line");
        assert!(report.contains("no-fingerprint.fiber-regressions:1: "), "{report}");
        assert!(report.contains("Correct the line"), "{report}");
        assert_eq!(runs, 0);
    }
}

#[test]
fn the_lines_of_other_tests_are_left_alone() {
    let file = fresh("others");
    let elsewhere = "2 elsewhere.rs regressions::the_lines_of_other_tests_are_left_alone explore #0: 3:1\n";
    fs::write(&file, format!("2 explorer/regressions.rs another_test explore #0: 3:1\n{elsewhere}")).unwrap();
    let (report, runs) = explore(&file, right);
    assert_eq!((report, runs), (None, 100));
}

/// A test `bank` may be beside a module `bank` with its own tests.
#[test]
fn a_test_is_not_taken_for_one_in_a_module_of_its_name() {
    let file = fresh("module");
    let line = |schedule: &str| format!("2 explorer/regressions.rs bank::visits explore #0:{schedule}\n");
    fs::write(&file, line(" 3:1") + &line("")).unwrap();
    let runs_of = |test: &str| {
        let explore = || explore(&file, right);
        thread::scope(|scope| {
            let named = thread::Builder::new().name(test.to_owned());
            named.spawn_scoped(scope, explore).expect("a thread").join().expect("it explores")
        })
    };
    assert_eq!(runs_of("bank"), (None, 100));
    assert_eq!(runs_of("bank::visits"), (None, 102));
    assert_eq!(runs_of("bank::visit"), (None, 100));
}

#[test]
fn without_regressions_no_file_is_looked_at() {
    let file = fresh("off");
    explore(&file, known::close_send).0.expect("it breaks");
    let runs = AtomicU64::new(0);
    let counted = || {
        runs.fetch_add(1, SeqCst);
        right()
    };
    Explore::default().schedules(10).regressions(&file).no_regressions().check(counted);
    assert_eq!(runs.into_inner(), 10);
}

/// The schedule of one kind of exploration has another meaning in another: `x1` cancels a program that need not support cancellation.
#[test]
fn what_was_found_by_cancelling_is_not_run_by_others() {
    let file = fresh("modes");
    let cancelled = |explore: Explore| {
        let check = || explore.schedules(1).regressions(&file).check(known::lost_lock);
        catch_unwind(AssertUnwindSafe(check)).is_ok()
    };
    assert!(!cancelled(Explore::cancel_everywhere()));
    assert_eq!(lines(&file).len(), 1);
    assert!(lines(&file)[0].contains(" cancel_everywhere #"), "{:?}", lines(&file));
    assert!(lines(&file)[0].ends_with(": x1"), "{:?}", lines(&file));
    assert!(cancelled(Explore::default()));
    assert!(!cancelled(Explore::cancel_everywhere()));
    assert_eq!(lines(&file).len(), 1, "it is known");
}

/// Neither is what was found by a fault, or by a mishap, which may be a cancellation, run by an exploration that has none.
#[test]
fn what_was_found_by_a_fault_or_a_mishap_is_not_run_by_others() {
    let file = fresh("faults");
    let passes = |explore: Explore, program: fn() -> Fiber<()>| {
        let check = || explore.schedules(100).regressions(&file).check(program);
        catch_unwind(AssertUnwindSafe(check)).is_ok()
    };
    let writes = || {
        let write = |network: Network| network.host("a").run(|| fiber_core::fs::write("log", "1"));
        network().bind(write).boxed()
    };
    assert!(!passes(Explore::default().faults(Faults::new().disk_errors(1)), writes));
    assert!(lines(&file)[0].contains(" explore.faults(..) #"), "{:?}", lines(&file));
    assert!(passes(Explore::default(), writes));

    let two_millis = Duration::from_millis(2);
    assert!(!passes(Explore::default().mishaps(), known::lost_lock));
    assert!(lines(&file)[1].contains(" explore.mishaps().lateness("), "{:?}", lines(&file));
    assert!(passes(Explore::default().lateness(two_millis), known::lost_lock));
}

#[test]
fn a_file_that_cannot_be_read_is_no_empty_one() {
    let file = fresh("unreadable");
    fs::create_dir_all(&file).unwrap();
    let (report, runs) = explore(&file, right);
    fs::remove_dir(&file).unwrap();
    let report = report.expect("it is a directory");
    assert!(report.contains("unreadable.fiber-regressions: "), "{report}");
    assert!(report.contains("put it right") && report.contains("FIBER_TEST_REGRESSIONS=off"), "{report}");
    assert_eq!(runs, 0);
}

/// Many tests of one file fail at the same time.
#[test]
fn lines_of_tests_that_fail_at_the_same_time_are_whole() {
    let file = fresh("together");
    thread::scope(|scope| {
        for number in 0..16 {
            let named = thread::Builder::new().name(format!("test_{number}"));
            let check = || explore(&file, known::close_send).0.expect("it breaks");
            named.spawn_scoped(scope, check).expect("a thread");
        }
    });
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches("# Schedules that broke").count(), 1, "{text}");
    let mut lines = lines(&file);
    lines.sort();
    let (_, end) = lines[0].split_once('#').expect("a fingerprint");
    let line = |number: u32| format!("2 explorer/regressions.rs test_{number} explore #{end}");
    let mut expected: Vec<String> = (0..16).map(line).collect();
    expected.sort();
    assert_eq!(lines, expected);
}

/// Of the older format, or torn: its test and its meaning are not known.
#[test]
fn a_line_of_another_version_is_named() {
    let file = fresh("version");
    fs::write(&file, "# a comment\n\na_test: 3:1\n").unwrap();
    let (report, runs) = explore(&file, right);
    let report = report.expect("it is of another version");
    assert!(
        report.contains("version.fiber-regressions:3: `a_test: 3:1` is not a line of version 2"),
        "{report}"
    );
    assert!(report.contains("remove it"), "{report}");
    assert_eq!(runs, 0);
}

fn stale(file: &PathBuf, program: fn() -> Fiber<()>) -> u64 {
    Explore::default().regressions(file).check(program).stale_regressions()
}

/// One more fiber is runnable from the first turn on.
fn three() -> Fiber<()> {
    known::close_send_corrected().zip(Fiber::success(())).map(drop).boxed()
}

#[test]
fn a_schedule_of_a_program_that_has_changed_is_stale() {
    let file = fresh("stale");
    explore(&file, known::close_send).0.expect("it breaks");
    assert_eq!(stale(&file, known::close_send_corrected), 0, "as many can run at each decision");
    assert_eq!(stale(&file, three), 1);
    assert_eq!(stale(&file, right), 1, "it ends before the decision");
}

#[test]
fn first_in_first_out_is_never_stale() {
    let file = fresh("never-stale");
    explore(&file, known::lost_update).0.expect("it breaks");
    assert_eq!(lines(&file).len(), 1);
    assert_eq!(stale(&file, three), 0);
}

/// The schedule that broke the program before it was changed, and breaks it again, is another one.
#[test]
fn a_stale_schedule_that_breaks_the_program_is_kept_anew() {
    let file = fresh("anew");
    explore(&file, known::close_send).0.expect("it breaks");
    let text = fs::read_to_string(&file).unwrap();
    let (before, after) = text.split_once(" explore #").expect("a key");
    let (_, schedule) = after.split_once(':').expect("a schedule");
    fs::write(&file, format!("{before} explore #12345678:{schedule}")).unwrap();
    explore(&file, known::close_send).0.expect("it breaks again");
    let kept = lines(&file);
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(kept.iter().any(|line| line.contains("#12345678: 3:1")), "{kept:?}");
}
