//! The memory of a waiting fiber, and how much of it is released: the resident set of a process with a million of them, or with
//! ten thousand that have stacks.
//!
//! Every contender has its own process: this program with two arguments. Linux only.

use std::fs;
use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use benches::{Hosts, cancel_on_may, spawn_on_may};
use fiber_core::{Fiber, Handle, Run};
use futures::executor::block_on;
use tokio::task::JoinHandle;

/// The number of fibers that wait at the same time.
const MANY: usize = 1_000_000;
/// The number of those with stacks. Each stack is two mappings, whose number the system limits.
const MANY_STACKS: usize = 10_000;
/// Longer than the program runs.
const LONG: Duration = Duration::from_secs(3_600);
/// Time for the last ones to reach their wait, and for the allocators and timers to settle.
const SETTLE: Duration = Duration::from_millis(300);

/// The number of fibers that have begun.
static BEGUN: AtomicUsize = AtomicUsize::new(0);

const WHO: [&str; 2] = ["fiber", "tokio"];
const WITH_STACKS: [&str; 2] = ["fiber, direct", "may"];
const WAITS: [&str; 2] = ["asleep", "parked for ever"];

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [who, wait] = arguments.as_slice() {
        print!("{}", measure(who, wait == WAITS[0]));
        return Ok(());
    }
    print_table(MANY, WHO)?;
    println!();
    print_table(MANY_STACKS, WITH_STACKS)
}

fn print_table(many: usize, contenders: [&str; 2]) -> io::Result<()> {
    println!("| bytes of each of {many} | {} |", contenders.join(" | "));
    println!("|---|{}", "---:|".repeat(contenders.len()));
    for wait in WAITS {
        let reports = contenders.iter().map(|who| in_process(who, wait)).collect::<io::Result<Vec<_>>>()?;
        println!("| {wait} | {} |", column(&reports, 0));
        println!("| {wait}, still held by the process after all were cancelled | {} |", column(&reports, 1));
        println!("| {wait}, as many once more | {} |", column(&reports, 2));
    }
    Ok(())
}

/// The output of a separate process.
fn in_process(who: &str, wait: &str) -> io::Result<String> {
    let output = Command::new(std::env::current_exe()?).args([who, wait]).output()?;
    assert!(output.status.success(), "{who}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn column(reports: &[String], n: usize) -> String {
    let cells: Vec<_> = reports.iter().map(|report| report.split(' ').nth(n).unwrap_or_default()).collect();
    cells.join(" | ")
}

/// Bytes per fiber while all wait, after they were cancelled, and while as many wait again.
fn measure(who: &str, asleep: bool) -> String {
    let hosts = Hosts::start();
    match (who, asleep) {
        ("fiber", true) => report(MANY, || hosts.pool.spawn(begin().bind(|()| Fiber::delay(LONG))), cancel),
        ("fiber", false) => report(MANY, || hosts.pool.spawn(begin().bind(|()| Fiber::never())), cancel),
        ("tokio", true) => {
            report(MANY, || hosts.tokio.spawn(tokio_begin(|| tokio::time::sleep(LONG))), abort)
        }
        ("tokio", false) => report(MANY, || hosts.tokio.spawn(tokio_begin(std::future::pending)), abort),
        ("fiber, direct", true) => {
            report(MANY_STACKS, || hosts.pool.spawn(direct(Fiber::delay(LONG))), cancel)
        }
        ("fiber, direct", false) => report(MANY_STACKS, || hosts.pool.spawn(direct(Fiber::never())), cancel),
        ("may", true) => report(MANY_STACKS, || of_may(|| may::coroutine::sleep(LONG)), cancel_may),
        ("may", false) => report(MANY_STACKS, || of_may(may::coroutine::park), cancel_may),
        _ => panic!("who is {who}?"),
    }
}

/// Handles are part of a fiber's memory: without one it could not be cancelled.
fn report<H>(many: usize, spawn: impl Fn() -> H, cancel: fn(Vec<H>)) -> String {
    let before = resident();
    let each = || resident().saturating_sub(before) / many;
    let handles = waiting(many, many, &spawn);
    let first = each();
    cancel(handles);
    thread::sleep(SETTLE);
    let held = each();
    // As much as before, if the retained memory can be reused.
    let handles = waiting(many, 2 * many, &spawn);
    let second = each();
    cancel(handles);
    format!("{first} {held} {second}")
}

/// Spawns `many`, and returns when they wait and `total` have begun since the start of the process.
fn waiting<H>(many: usize, total: usize, spawn: impl Fn() -> H) -> Vec<H> {
    let handles: Vec<_> = (0..many).map(|_| spawn()).collect();
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

fn direct<R: Run<Out = ()>>(wait: Fiber<(), R>) -> Fiber<(), impl Run<Out = ()>> {
    Fiber::direct(move |d| {
        d.wait(begin())?;
        d.wait(wait)
    })
}

type OfMay = may::coroutine::JoinHandle<()>;

fn of_may(wait: impl FnOnce() + Send + 'static) -> OfMay {
    spawn_on_may(move || {
        // Relaxed: only a count.
        BEGUN.fetch_add(1, Ordering::Relaxed);
        wait();
    })
}

fn cancel_may(handles: Vec<OfMay>) {
    handles.iter().for_each(|handle| cancel_on_may(handle.coroutine()));
    for handle in handles {
        assert!(handle.join().is_err(), "none has ended by itself");
    }
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
