//! A stack overflow ends the process, with a message. Each case is a separate process: this program, with one test.

use fiber_core::{Fiber, StackSupply};
use fiber_sched::Pool;
use fiber_test::TestScheduler;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

const CASE: &str = "OVERFLOW_CASE";

/// Uses some stack at each level.
fn recurse(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 32]);
    if depth == u64::MAX { 0 } else { recurse(depth + 1) + std::hint::black_box(room)[3] }
}

fn run(case: &str) -> Output {
    let program = std::env::current_exe().unwrap();
    let arguments = ["direct::overflow::the_process_of_a_case", "--exact", "--nocapture"];
    Command::new(program).args(arguments).env(CASE, case).output().unwrap()
}

#[test]
fn the_process_of_a_case() {
    let pool = || Pool::builder().workers(1).stacks(StackSupply::default().size(128 * 1024)).build();
    match std::env::var(CASE).unwrap_or_default().as_str() {
        "pool" => _ = pool().run(Fiber::direct(|_| Ok(recurse(0)))),
        "nested" => {
            let inner = Fiber::direct(|_| Ok(recurse(0)));
            _ = pool().run(Fiber::direct(|d| d.wait(inner)));
        }
        "test" => _ = TestScheduler::new().run(Fiber::direct(|_| Ok(recurse(0)))),
        "thread" => {
            assert!(pool().run(Fiber::direct(|_| Ok(()))).is_success());
            std::thread::scope(|s| _ = s.spawn(|| recurse(0)).join());
        }
        _ => {}
    }
}

#[test]
fn an_overflow_is_said_and_aborts() {
    for case in ["pool", "nested", "test"] {
        let output = run(case);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("the stack of a direct fiber has overflowed"), "{case}: {text}");
        // SIGABRT
        assert_eq!(output.status.signal(), Some(6), "{case}");
    }
}

#[test]
fn the_overflow_of_a_thread_is_said_by_std_as_before() {
    let output = run("thread");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("has overflowed its stack"), "{text}");
    assert!(!text.contains("direct fiber"), "{text}");
}
