//! Disks of hosts that crash.

use std::collections::BTreeSet;
use std::io::{self, SeekFrom};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fiber_core::fs::{self, File};
use fiber_core::{Either, Error, Fiber, Outcome, fiber};
use fiber_test::{Explore, FaultKind, Faults, Host, TestScheduler, network};

fn host(name: &'static str) -> Fiber<Host> {
    network().map(move |network| network.host(name)).boxed()
}

/// What is in the file of a host.
fn left(host: &Host) -> Fiber<Option<String>> {
    host.run(|| fs::read_to_string("file").map(Some).catch(|_| Fiber::success(None)))
}

fn run<T: Send + 'static>(program: Fiber<T>) -> T {
    let test = TestScheduler::new();
    let value = test.run(program).unwrap();
    test.assert_no_leaks();
    value
}

/// All that is left after a crash on some schedule, in which a program has run without one.
fn all_left<T, L>(before: fn() -> Fiber<T>, left: fn() -> Fiber<L>) -> BTreeSet<L>
where
    T: Send + 'static,
    L: Ord + Clone + Send + 'static,
{
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = all.clone();
    let explored = Explore::exhaustive().no_regressions().preemptions(0).check(move || {
        let seen = seen.clone();
        fiber! {
            let! a = host("a");
            do! a.run(before);
            a.crash();
            a.restart();
            let! left = a.run(left);
            _ = seen.lock().unwrap().insert(left);
        }
    });
    assert!(explored.is_complete());
    let all = all.lock().unwrap();
    all.clone()
}

/// The text of a file, or `none`.
fn text(path: &'static str) -> Fiber<String> {
    fs::read_to_string(path).catch(|_| Fiber::success("none".to_owned())).boxed()
}

/// The texts of two files.
fn both(one: &'static str, other: &'static str) -> Fiber<String> {
    text(one).bind(move |one| text(other).map(move |other| format!("{one} {other}"))).boxed()
}

/// Writes a file and syncs it.
fn keeps(path: &'static str, text: &'static str) -> Fiber<()> {
    fiber! {
        let! file = File::create(path);
        do! file.write_all(text);
        do! file.sync_all();
    }
}

fn all<const N: usize>(of: [&str; N]) -> BTreeSet<String> {
    of.into_iter().map(str::to_owned).collect()
}

/// Writes two parts, of which the first is synced or not.
fn writes(is_synced: bool) -> Fiber<()> {
    fiber! {
        let! file = File::create("file");
        do! file.write_all("abc");
        if is_synced { do! file.sync_all(); }
        do! file.write_all("de");
    }
}

/// What is left after a crash.
fn crashes(is_synced: bool) -> Fiber<Option<String>> {
    fiber! {
        let! a = host("a");
        do! a.run(move || writes(is_synced));
        a.crash();
        a.restart();
        return! left(&a);
    }
}

#[test]
fn what_is_synced_is_there_after_a_crash() {
    assert_eq!(run(crashes(true)).as_deref(), Some("abc"));
    assert_eq!(run(crashes(false)), None);
}

#[test]
fn every_outcome_of_a_crash_is_explored() {
    let left = all_left(|| writes(false), || text("file"));
    let whole = [
        "none", "", "\0\0\0d", "\0\0\0de", "a", "a\0\0d", "a\0\0de", "ab", "ab\0d", "ab\0de", "abc", "abcd",
        "abcde",
    ];
    assert_eq!(left, all(whole));
}

/// Replaces a file.
fn replaces() -> Fiber<()> {
    keeps("file", "old").bind(|()| keeps("next", "new")).bind(|()| fs::rename("next", "file")).boxed()
}

#[test]
fn a_rename_is_lost_or_done_until_its_folder_is_synced() {
    assert_eq!(all_left(replaces, || both("file", "next")), all(["old new", "new none"]));
    let synced = || replaces().bind(|()| fs::sync_dir("/")).boxed();
    assert_eq!(all_left(synced, || both("file", "next")), all(["new none"]));
}

#[test]
fn a_rename_does_not_sync_what_is_in_the_file() {
    let before = || {
        let next = keeps("file", "old").bind(|()| fs::write("next", "new"));
        next.bind(|()| fs::rename("next", "file")).bind(|()| fs::sync_dir("/")).boxed()
    };
    assert_eq!(all_left(before, || text("file")), all(["", "n", "ne", "new"]));
}

#[test]
fn a_removal_is_lost_or_done_until_its_folder_is_synced() {
    let removes = || keeps("file", "text").bind(|()| fs::remove_file("file")).boxed();
    assert_eq!(all_left(removes, || text("file")), all(["text", "none"]));
    let synced =
        || keeps("file", "text").bind(|()| fs::remove_file("file")).bind(|()| fs::sync_dir("/")).boxed();
    assert_eq!(all_left(synced, || text("file")), all(["none"]));
}

#[test]
fn changes_of_names_reach_the_disk_in_any_order() {
    let swaps = || {
        let both = keeps("one", "1").bind(|()| keeps("other", "2"));
        let moves = both.bind(|()| fs::rename("one", "two")).bind(|()| fs::remove_file("other"));
        moves.boxed()
    };
    let left =
        || both("one", "two").zip(text("other")).map(|(both, other)| format!("{both} {other}")).boxed();
    assert_eq!(
        all_left(swaps, left),
        all(["1 none 2", "1 none none", "none 1 2", "none 1 none"]),
        "never both names, and never none"
    );
}

#[test]
fn a_file_that_is_synced_keeps_the_new_folders_above_it() {
    let synced = || fs::create_dir_all("a/b").bind(|()| keeps("a/b/file", "text")).boxed();
    assert_eq!(all_left(synced, || text("a/b/file")), all(["text"]));
    let unsynced = || fs::create_dir_all("a").bind(|()| fs::write("a/file", "")).boxed();
    let left = || text("a/file").zip(fs::read_dir("/")).map(|(text, names)| (text, names.len())).boxed();
    let expected = [("none".to_owned(), 0), ("none".to_owned(), 1), (String::new(), 1)];
    assert_eq!(all_left(unsynced, left), BTreeSet::from(expected));
}

#[test]
fn a_folder_whose_rename_is_lost_has_its_new_files() {
    let before = || {
        let folder =
            fs::create_dir_all("old").bind(|()| fs::sync_dir("/")).bind(|()| fs::rename("old", "new"));
        folder.bind(|()| keeps("new/file", "text")).boxed()
    };
    assert_eq!(all_left(before, || both("old/file", "new/file")), all(["text none", "none text"]));
}

#[test]
fn a_name_that_is_used_again_has_its_last_file() {
    let before = || {
        let again = keeps("file", "first").bind(|()| fs::remove_file("file"));
        again.bind(|()| keeps("file", "second")).boxed()
    };
    assert_eq!(all_left(before, || text("file")), all(["second"]));
}

/// Gives whether something succeeded.
fn succeeds<T: Send + 'static>(fiber: Fiber<T>) -> Fiber<bool> {
    fiber.map(|_| true).catch(|_| Fiber::success(false)).boxed()
}

#[test]
fn a_write_on_a_full_disk_writes_what_there_is_room_for() {
    let program = fiber! {
        let! a = host("a");
        a.disk().set_capacity(6);
        return! a.run(|| fiber! {
            do! fs::write("one", "1234");
            let! log = File::append("log");
            let! whole = succeeds(log.write_all("abcd"));
            let! part = text("log");
            let! none = succeeds(log.write_all("e"));
            let! longer = succeeds(log.set_len(3));
            do! fs::write("one", "1");
            let! room = succeeds(log.write_all("cde"));
            let! left = text("log");
            (whole, part, none, longer, room, left)
        });
    };
    assert_eq!(run(program), (false, "ab".to_owned(), false, false, true, "abcde".to_owned()));
}

/// The kind of the error.
fn fails<T: Send + 'static>(fiber: Fiber<T>) -> Fiber<Option<io::ErrorKind>> {
    let kind = |error: Error| Fiber::success(error.downcast_ref::<io::Error>().map(io::Error::kind));
    fiber.map(|_| None).catch(kind).boxed()
}

#[test]
fn a_file_has_a_greatest_length() {
    const LARGEST: u64 = 1 << 30;
    let program = host("a").bind(|a| {
        a.run(|| {
            fiber! {
                let! file = File::update("file");
                do! file.write_all("text");
                let mut seen = Vec::new();
                for length in [LARGEST + 1, 1 << 40, i64::MAX as u64] {
                    let! set = fails(file.set_len(length));
                    seen.push(set);
                }
                for at in [LARGEST, LARGEST + 1, 1 << 40, i64::MAX as u64] {
                    do! file.seek(SeekFrom::Start(at)).map(drop);
                    let! write = fails(file.write_all("x"));
                    seen.push(write);
                }
                let! text = fs::read_to_string("file");
                assert_eq!(text, "text");
                seen
            }
        })
    });
    assert_eq!(run(program.boxed()), [Some(io::ErrorKind::FileTooLarge); 7]);
}

#[test]
fn every_operation_on_a_slow_disk_takes_its_time() {
    let test = TestScheduler::new();
    let program = fiber! {
        let! a = host("a");
        a.disk().set_latency(Duration::from_millis(10));
        do! a.run(|| fiber! {
            do! fs::create_dir_all("folder");
            do! keeps("folder/file", "text"); // three
            do! fs::rename("folder/file", "file");
            do! fs::sync_dir("/");
            let! _names = fs::read_dir("/") and! () = fs::remove_dir("folder"); // at the same time
            // A description takes no time.
            let! file = File::open("file");
            let _never_run = file.read([0; 8]);
        });
    };
    let (outcome, elapsed) = test.run_timed(program);
    outcome.unwrap();
    assert_eq!(elapsed, Duration::from_millis(80));
}

#[test]
fn a_crash_prevents_the_operations_of_a_slow_disk() {
    let program = fiber! {
        let! a = host("a");
        let! file = a.run(|| File::create("file"));
        do! a.run({ let file = file.clone(); move || file.write_all("text") });
        a.disk().set_latency(Duration::from_secs(1));
        let syncs = a.run(move || { let file = file.clone(); succeeds(file.sync_all()) });
        let breaks = Fiber::delay(Duration::from_millis(500)).map({ let a = a.clone(); move |()| a.crash() });
        let! first = syncs.race(breaks);
        assert!(matches!(first, Either::Right(())), "it waits until the host is up");
        a.restart();
        a.disk().set_latency(Duration::ZERO);
        do! Fiber::delay(Duration::from_secs(2));
        return! left(&a);
    };
    assert_eq!(run(program), None, "it was not synced");
}

#[test]
fn a_disk_that_is_broken_fails_until_it_is_repaired() {
    let program = fiber! {
        let! a = host("a");
        let! file = a.run(|| File::create("file"));
        a.disk().fail_next(u32::MAX);
        let all = a.run(move || {
            let file = file.clone();
            fiber! {
                let! write = succeeds(file.write_all("x"));
                let! sync = succeeds(file.sync_all());
                let! length = succeeds(file.set_len(9));
                let! open = succeeds(File::open("file"));
                let! create = succeeds(fs::create_dir_all("a"));
                let! list = succeeds(fs::read_dir("/"));
                let! rename = succeeds(fs::rename("file", "b"));
                let! remove = succeeds(fs::remove_file("file"));
                let! folder = succeeds(fs::sync_dir("/"));
                [write, sync, length, open, create, list, rename, remove, folder]
            }
        });
        let! all = all;
        assert_eq!(all, [false; 9]);
        a.disk().fail_next(0);
        let! text = a.run(|| text("file"));
        assert_eq!(text, "", "nothing has happened");
    };
    run(program);
}

/// Whether it is an error that the explorer has injected.
fn is_of_the_device(error: &io::Error) -> bool {
    error.kind() != io::ErrorKind::NotFound
}

/// Does not end well if an operation of a broken disk succeeds.
fn finds_the_disk_broken() -> Fiber<()> {
    fiber! {
        let! a = host("a");
        a.disk().fail_next(u32::MAX);
        let all = a.run(|| fiber! {
            let! first = succeeds(fs::write("file", "x"));
            let! second = succeeds(fs::write("file", "x"));
            first || second
        });
        let! any = all;
        assert!(!any, "it is repaired");
    }
}

#[test]
fn an_error_repairs_no_broken_disk() {
    let all = Explore::exhaustive().no_regressions().preemptions(0).faults(Faults::new().disk_errors(2));
    assert!(all.check(finds_the_disk_broken).is_complete());
}

/// Writes until a sync succeeds. `again`: it also writes again what a sync has failed to keep.
fn persists(again: bool) -> Fiber<()> {
    let saves = move || {
        fiber! {
            let! file = File::create("file");
            do! file.write_all("text");
            let! kept = succeeds(file.sync_all());
            if kept { return }
            if again {
                do! file.seek(SeekFrom::Start(0));
                do! file.write_all("text");
            }
            do! file.sync_all();
        }
    };
    fiber! {
        let! a = host("a");
        let! saved = succeeds(a.run(saves));
        a.crash();
        a.restart();
        let! found = a.run(|| fs::read_to_string("file").map(Ok).catch(|error| Fiber::success(Err(error))));
        let is_unread = found.as_ref().is_err_and(|error| error.downcast_ref::<io::Error>().is_some_and(is_of_the_device));
        assert!(!saved || is_unread || found.as_ref().is_ok_and(|text| text == "text"), "{found:?} is left");
    }
}

/// It opens the file, which empties it, and writes: two operations of one turn.
#[test]
fn each_half_of_a_write_fails_in_some_schedule() {
    let found = Arc::new(Mutex::new(BTreeSet::new()));
    let program = || {
        let found = found.clone();
        fiber! {
            let! a = host("a");
            do! a.run(|| fs::write("file", "old"));
            let! is_written = succeeds(a.run(|| fs::write("file", "new")));
            let! text = a.run(|| fs::read_to_string("file"));
            found.lock().unwrap().insert((is_written, text));
        }
    };
    let tolerant = || program().catch(|_: Error| Fiber::success(()));
    assert!(Explore::exhaustive().faults(Faults::new().disk_errors(1)).check(tolerant).is_complete());
    let expected =
        [(true, "new"), (false, "old"), (false, "")].map(|(is_written, text)| (is_written, text.to_owned()));
    assert_eq!(*found.lock().unwrap(), BTreeSet::from(expected));
}

#[test]
fn an_error_of_a_sync_is_found_shrunk_and_replayed() {
    for explore in [Explore::default(), Explore::exhaustive().preemptions(0)] {
        let explore = || explore.clone().no_regressions().faults(Faults::new().disk_errors(1));
        let failure = explore().try_check(|| persists(false)).unwrap_err();
        let [fault] = failure.schedule().faults() else { panic!("one is enough: {failure}") };
        assert_eq!((fault.kind, &*fault.hosts), (FaultKind::DiskError, &["a".to_owned()][..]));
        let text = failure.schedule().to_string();
        assert!(text.starts_with("fail"), "{text}");
        assert!(failure.to_string().contains("the disk of a fails once before turn"), "{failure}");
        let again = Explore::replay(&text).no_regressions().try_check(|| persists(false)).unwrap_err();
        assert_eq!(again.problem().to_string(), failure.problem().to_string());
    }
    let all = Explore::exhaustive().no_regressions().preemptions(0).faults(Faults::new().disk_errors(2));
    assert!(all.check(|| persists(true)).is_complete());
}

#[test]
fn a_restart_without_a_crash_loses_nothing() {
    let program = fiber! {
        let! a = host("a");
        do! a.run(|| writes(false));
        a.restart();
        return! left(&a);
    };
    assert_eq!(run(program).as_deref(), Some("abcde"));
}

#[test]
fn each_host_has_its_disk() {
    let program = fiber! {
        let! a = host("a");
        let! b = host("b");
        do! a.run(|| fs::write("file", "of a"));
        do! b.run(|| fs::write("file", "of b"));
        b.crash();
        b.restart();
        let! of_a = left(&a);
        let! of_b = left(&b);
        (of_a, of_b)
    };
    assert_eq!(run(program), (Some("of a".to_owned()), None));
}

#[test]
fn a_file_that_was_opened_before_a_crash_is_closed() {
    let program = fiber! {
        let! a = host("a");
        let! file = a.run(|| File::create("file"));
        a.crash();
        a.restart();
        let! wrote = file.write_all("x").map(|_| None).catch(|error: Error| Fiber::success(Some(error.to_string())));
        wrote
    };
    assert!(run(program).expect("it fails").contains("the host of this disk has crashed"));
}

#[test]
fn who_is_on_no_host_uses_the_real_files() {
    let folder = std::env::temp_dir();
    let program = fiber! {
        let! _a = host("a");
        let! file = File::open(folder);
        return! file.run(|file| Ok(file.metadata()?.is_dir()));
    };
    assert!(run(program));
    let on_a_host = fiber! {
        let! a = host("a");
        let! file = a.run(|| File::create("file"));
        return! file.run(|_| Ok(())).map(|()| false).catch(|_| Fiber::success(true));
    };
    assert!(run(on_a_host), "it is no file of the operating system");
}

/// A program that has lost what it believed to be written.
fn believes() -> Fiber<()> {
    fiber! {
        let! a = host("a");
        let is_written = Arc::new(Mutex::new(false));
        let program = move || {
            let is_written = is_written.clone();
            fiber! {
                let! found = fs::read_to_string("file").map(Some).catch(|_| Fiber::success(None));
                let is_right = found.as_deref() == Some("text");
                assert!(is_right || !*is_written.lock().unwrap(), "lost: {found:?}");
                do! fs::write("file", "text");
                *is_written.lock().unwrap() = true;
                do! Fiber::delay(Duration::from_secs(1));
            }
        };
        do! a.run(program);
    }
}

#[test]
fn a_missing_sync_is_found_shrunk_and_replayed() {
    for explore in [Explore::default(), Explore::exhaustive().preemptions(0)] {
        let explore = || explore.clone().no_regressions().faults(Faults::new().crashes(1));
        let failure = explore().try_check(believes).unwrap_err();
        assert_eq!(failure.schedule().faults()[0].kind, FaultKind::Crash);
        let text = failure.schedule().to_string();
        let again = Explore::replay(&text).no_regressions().try_check(believes).unwrap_err();
        assert_eq!(again.problem().to_string(), failure.problem().to_string(), "{text}");
    }
}

/// A file that is torn in the middle.
fn torn() -> Fiber<()> {
    crashes(false).map(|left| assert_ne!(left.as_deref(), Some("ab\0d"), "torn twice")).boxed()
}

#[test]
fn the_outcomes_of_a_crash_are_replayed() {
    let failure = Explore::exhaustive().no_regressions().preemptions(0).try_check(torn).unwrap_err();
    let text = failure.schedule().to_string();
    assert!(text.contains(":=3@1") && text.contains(":=2@2"), "{text}");
    assert!(Explore::replay(&text).no_regressions().try_check(torn).is_err());
}

/// A line of this file, and the error of an operation in it.
type Placed = (u32, Fiber<Option<Error>>);

macro_rules! placed {
    ($operation:expr) => {
        (line!(), $operation.map_outcome(|outcome| Outcome::Success(outcome.failure())).boxed())
    };
}

/// Operations that fail, in a folder that has no `missing`.
fn failing(folder: PathBuf) -> Fiber<Vec<Placed>> {
    fiber! {
        let (file, missing) = (folder.join("file"), folder.join("missing").join("file"));
        let! append = File::append(&file);
        let! open = File::open(&file);
        vec![
            placed!(fs::read(&missing)),
            placed!(fs::read_to_string(&missing)),
            placed!(fs::write(&missing, "text")),
            placed!(fs::create_dir_all(&file)),
            placed!(fs::read_dir(&missing)),
            placed!(fs::rename(&missing, &file)),
            placed!(fs::remove_file(&missing)),
            placed!(fs::remove_dir(&missing)),
            placed!(fs::sync_dir(&missing)),
            placed!(File::open(&missing)),
            placed!(File::create(&missing)),
            placed!(File::append(&missing)),
            placed!(File::update(&missing)),
            placed!(append.read([0; 8])),
            placed!(open.write_all("text")),
            placed!(open.seek(SeekFrom::End(-100))),
            placed!(open.set_len(1)),
            placed!(open.run(|_| Err::<(), _>(io::ErrorKind::Other.into()))),
        ]
    }
}

fn fail_at_their_lines(operations: Vec<Placed>) -> Fiber<()> {
    fiber! {
        for (line, operation) in operations {
            let! error = operation;
            let error = error.unwrap_or_else(|| panic!("line {line} succeeds"));
            let places = error.trace().iter().map(|frame| (frame.location().file(), frame.location().line()));
            let is_there = |place| place == (file!(), line);
            assert!(!error.trace().is_empty() && places.clone().all(is_there), "line {line}: {error:?}");
        }
    }
}

#[test]
fn an_error_names_the_line_of_the_operation() {
    let folder = tempfile::tempdir().unwrap();
    run(failing(folder.path().to_owned()).bind(fail_at_their_lines).boxed());
    for latency in [Duration::ZERO, Duration::from_secs(1)] {
        run(host("a")
            .bind(move |a| {
                let disk = a.disk();
                disk.set_latency(latency);
                a.run(move || {
                    let disk = disk.clone();
                    fiber! {
                        let! operations = failing("/".into());
                        do! fail_at_their_lines(operations);
                        let! file = File::open("file");
                        disk.fail_next(1);
                        do! fail_at_their_lines(vec![placed!(file.sync_all())]);
                    }
                })
            })
            .boxed());
    }
}
