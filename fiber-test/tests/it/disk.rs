//! Disks of hosts that crash.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fiber_core::fs::{self, File};
use fiber_core::{Error, Fiber, fiber};
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
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = all.clone();
    let explored = Explore::exhaustive().no_regressions().preemptions(0).check(move || {
        let seen = seen.clone();
        crashes(false).map(move |left| _ = seen.lock().unwrap().insert(left))
    });
    assert!(explored.is_complete());
    let all: Vec<_> = all.lock().unwrap().iter().flatten().cloned().collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let whole =
        ["\0\0\0d", "\0\0\0de", "a", "a\0\0d", "a\0\0de", "ab", "ab\0d", "ab\0de", "abc", "abcd", "abcde"];
    assert_eq!(all, whole);
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
    assert!(text.contains(":=3") && text.contains(":=2@1"), "{text}");
    assert!(Explore::replay(&text).no_regressions().try_check(torn).is_err());
}
