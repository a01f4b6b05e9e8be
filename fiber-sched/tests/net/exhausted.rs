//! A process without free descriptors, which is a separate process.

use std::fs::File;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fiber_core::Error;
use fiber_core::net::{TcpListener, TcpStream, copy};
use fiber_sched::{AffinityPool, Pool, Settings, Signal, block_on};

use super::{alone, eventually, pool};

/// Marks the process with few descriptors.
const FEW: &str = "FIBER_FEW_DESCRIPTORS";

/// The number of its descriptors.
const LIMIT: usize = 64;

/// Runs a test of this file in another process.
#[track_caller]
fn with_few_descriptors(test: &str) {
    let _alone = alone();
    let program = std::env::current_exe().expect("this program");
    let script = format!("ulimit -n {LIMIT}; exec \"$0\" \"$@\"");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &script])
        .arg(program)
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(FEW, "1");
    let output = shell.output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}\n{failed}");
}

/// Whether there is no descriptor left in the process (`EMFILE`).
fn is_exhausted(error: &Error) -> bool {
    const EMFILE: i32 = 24;
    error.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error) == Some(EMFILE)
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the number of the error is that of Linux")]
fn who_finds_no_descriptor_is_told() {
    with_few_descriptors("exhausted::connects_until_there_is_none");
}

#[test]
#[ignore = "run by the test above, with few descriptors"]
fn connects_until_there_is_none() {
    assert!(std::env::var_os(FEW).is_some(), "this belongs into a process with few descriptors");
    let pool = pool(1);
    let listener = pool.run(TcpListener::bind(([127, 0, 0, 1], 0))).unwrap();
    let at = listener.local_addr().unwrap();
    let mut open = Vec::new();
    let error = loop {
        match pool.run(TcpStream::connect(at)).into_result() {
            Ok(stream) => open.push(stream),
            Err(error) => break error,
        }
        assert!(open.len() < LIMIT, "there is a limit");
    };
    assert!(is_exhausted(&error), "{error:#}");
    let refused = pool.run(listener.accept().map(drop)).failure().expect("an accept needs a descriptor, too");
    assert!(is_exhausted(&refused), "{refused:#}");
    // The obstacle is gone, and the connections are still there.
    let count = open.len();
    open.truncate(count / 2);
    for _ in 0..count / 2 {
        pool.run(listener.accept().map(drop)).unwrap();
    }
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the number of the error is that of Linux")]
fn a_connection_for_which_there_is_no_poll_stays_in_the_queue() {
    with_few_descriptors("exhausted::accepts_where_a_poll_is_missing");
}

#[test]
#[ignore = "run by the test above, with few descriptors"]
fn accepts_where_a_poll_is_missing() {
    assert!(std::env::var_os(FEW).is_some(), "this belongs into a process with few descriptors");
    let pool = AffinityPool::builder().workers(2).pinned(false).build();
    let [here, there] = [0, 1].map(|worker| (0..).find(|key: &u32| pool.worker_of(key) == worker).unwrap());
    let listener = block_on(pool.spawn_on(here, TcpListener::bind(([127, 0, 0, 1], 0)))).unwrap();
    let _client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    // One descriptor is left: enough for the connection, and not for the poll of the other worker.
    let mut open: Vec<File> = (0..LIMIT).map_while(|_| File::open("/dev/null").ok()).collect();
    open.pop();
    let accept = || block_on(pool.spawn_on(there, listener.accept().timeout(Duration::from_secs(60))));
    let error = accept().failure().expect("a poll needs descriptors");
    assert!(is_exhausted(&error), "{error:#}");
    drop(open);
    accept().unwrap();
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the number of the error is that of Linux")]
fn a_signal_can_be_waited_for_when_there_are_descriptors_again() {
    with_few_descriptors("exhausted::waits_for_a_signal_twice");
}

#[test]
#[ignore = "run by the test above, with few descriptors"]
fn waits_for_a_signal_twice() {
    assert!(std::env::var_os(FEW).is_some(), "this belongs into a process with few descriptors");
    let pool = pool(1);
    let waits = || pool.run(Signal::HangUp.received().timeout_option(Duration::from_millis(1)));
    let open: Vec<File> = (0..LIMIT).map_while(|_| File::open("/dev/null").ok()).collect();
    let error = waits().failure().expect("a handler needs descriptors");
    assert!(is_exhausted(&error), "{error:#}");
    assert!(format!("{error:#}").contains(file!()), "{error:#}");
    drop(open);
    assert_eq!(waits().unwrap(), None);
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the number of the error is that of Linux")]
fn a_server_without_descriptors_waits_and_goes_on() {
    with_few_descriptors("exhausted::serves_when_there_are_some_again");
}

#[test]
#[ignore = "run by the test above, with few descriptors"]
fn serves_when_there_are_some_again() {
    assert!(std::env::var_os(FEW).is_some(), "this belongs into a process with few descriptors");
    let lost = Arc::new(Mutex::new(Vec::new()));
    let reports = lost.clone();
    let settings =
        Settings::new().on_unobserved(move |failure| reports.lock().unwrap().push(failure.to_string()));
    let pool = Pool::builder().workers(1).settings(settings).build();
    let listener = pool.run(TcpListener::bind(([127, 0, 0, 1], 0))).unwrap();
    let at = listener.local_addr().unwrap();
    // The clients use them up.
    let mut open = Vec::new();
    while let Ok(stream) = pool.run(TcpStream::connect(at)).into_result() {
        open.push(stream);
    }
    let serves =
        pool.spawn(listener.serve(LIMIT, |stream, _| copy(stream.clone(), stream).map(drop).boxed()));
    // The loop retries, after a pause each time. A loop that spins would run a hundred thousand times as often.
    let runs = || pool.metrics().total(|worker| worker.turns());
    let began = (Instant::now(), runs());
    eventually("it tries several times", || runs() > began.1 + 3);
    let (elapsed, tried) = (began.0.elapsed(), runs() - began.1);
    let pauses = elapsed.as_millis() as u64 / 10;
    assert!(tried <= 20 + 4 * pauses, "{tried} tasks in {elapsed:?}");
    let reported = lost.lock().unwrap().clone();
    assert!(reported.len() == 1 && reported[0].contains("accepting a connection: "), "{reported:?}");
    // Some of the clients disconnect, and the others are served.
    open.truncate(open.len() / 3);
    for stream in open {
        let echo = stream.write_all("x").bind(move |_| stream.read([0]).timeout(Duration::from_secs(60)));
        let (n, _) = pool.run(echo).unwrap();
        assert_eq!(n, 1);
    }
    serves.cancel_now();
}
