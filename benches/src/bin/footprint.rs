//! What a fiber that waits takes in memory, and what it gives back: the resident set of a process with a million of them.
//!
//! Every contender has a process of its own, which is this program with two arguments. Linux only.

use std::fs;
use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use benches::Hosts;
use fiber_core::{Fiber, Handle, Run};
use futures::executor::block_on;
use tokio::task::JoinHandle;

/// How many wait at the same time.
const MANY: usize = 1_000_000;
/// Longer than the program runs.
const LONG: Duration = Duration::from_secs(3_600);
/// Time for the last ones to reach their wait, and for the allocators and timers to settle.
const SETTLE: Duration = Duration::from_millis(300);

/// How many have begun.
static BEGUN: AtomicUsize = AtomicUsize::new(0);

const WHO: [&str; 2] = ["fiber", "tokio"];
const WAITS: [&str; 2] = ["asleep", "parked for ever"];

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [who, wait] = arguments.as_slice() {
        print!("{}", measure(who, wait == WAITS[0]));
        return Ok(());
    }
    println!("| bytes of each of {MANY} | {} |", WHO.join(" | "));
    println!("|---|{}", "---:|".repeat(WHO.len()));
    for wait in WAITS {
        let reports = WHO.iter().map(|who| in_process(who, wait)).collect::<io::Result<Vec<_>>>()?;
        println!("| {wait} | {} |", column(&reports, 0));
        println!("| {wait}, still held by the process after all were cancelled | {} |", column(&reports, 1));
        println!("| {wait}, as many once more | {} |", column(&reports, 2));
    }
    Ok(())
}

/// The output of a process of its own.
fn in_process(who: &str, wait: &str) -> io::Result<String> {
    let output = Command::new(std::env::current_exe()?).args([who, wait]).output()?;
    assert!(output.status.success(), "{who}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn column(reports: &[String], n: usize) -> String {
    let cells: Vec<_> = reports.iter().map(|report| report.split(' ').nth(n).unwrap_or_default()).collect();
    cells.join(" | ")
}

/// Bytes of each while all wait, after they were cancelled, and while as many wait again.
fn measure(who: &str, asleep: bool) -> String {
    let hosts = Hosts::start();
    match (who, asleep) {
        ("fiber", true) => report(|| hosts.pool.spawn(begin().bind(|()| Fiber::delay(LONG))), cancel),
        ("fiber", false) => report(|| hosts.pool.spawn(begin().bind(|()| Fiber::never())), cancel),
        ("tokio", true) => report(|| hosts.tokio.spawn(tokio_begin(|| tokio::time::sleep(LONG))), abort),
        ("tokio", false) => report(|| hosts.tokio.spawn(tokio_begin(std::future::pending)), abort),
        _ => panic!("who is {who}?"),
    }
}

/// Handles are part of what a fiber takes: without one it could not be cancelled.
fn report<H>(spawn: impl Fn() -> H, cancel: fn(Vec<H>)) -> String {
    let before = resident();
    let each = || resident().saturating_sub(before) / MANY;
    let handles = waiting(MANY, &spawn);
    let first = each();
    cancel(handles);
    thread::sleep(SETTLE);
    let held = each();
    // As much as before, if what is held is free for others.
    let handles = waiting(2 * MANY, &spawn);
    let second = each();
    cancel(handles);
    format!("{first} {held} {second}")
}

/// Spawns `MANY`, and returns when they wait and `total` have begun since the process did.
fn waiting<H>(total: usize, spawn: impl Fn() -> H) -> Vec<H> {
    let handles: Vec<_> = (0..MANY).map(|_| spawn()).collect();
    // Relaxed: only a count.
    while BEGUN.load(Ordering::Relaxed) < total {
        thread::sleep(Duration::from_millis(1));
    }
    thread::sleep(SETTLE);
    handles
}

fn begin() -> Fiber<(), impl Run<Out = ()>> {
    // Relaxed: only a count.
    Fiber::lazy(|| _ = BEGUN.fetch_add(1, Ordering::Relaxed))
}

async fn tokio_begin<F: Future<Output = ()>>(wait: impl FnOnce() -> F) {
    // Relaxed: only a count.
    BEGUN.fetch_add(1, Ordering::Relaxed);
    wait().await;
}

fn cancel(handles: Vec<Handle<()>>) {
    handles.iter().for_each(Handle::cancel_now);
    block_on(async {
        for handle in handles {
            assert!(handle.await.is_cancelled(), "none has ended by itself");
        }
    });
}

fn abort(handles: Vec<JoinHandle<()>>) {
    handles.iter().for_each(JoinHandle::abort);
    block_on(async {
        for handle in handles {
            assert!(handle.await.is_err_and(|error| error.is_cancelled()), "none has ended by itself");
        }
    });
}

/// The bytes of this process that are in memory.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a resident set");
    let kib: usize = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kib * 1024
}
