//! Signals wake the fibers that wait for them.
#![cfg(all(feature = "signal", unix))]

use std::process::{Command, id};
use std::sync::mpsc;
use std::time::Duration;

use fiber_core::{Either, Fiber};
use fiber_sched::{Pool, Signal, block_on};

/// Sends a signal to this process.
fn send(name: &str) {
    assert!(Command::new("kill").args([format!("-{name}"), id().to_string()]).status().unwrap().success());
}

#[test]
fn a_signal_wakes_all_who_wait_for_it_and_nobody_else() {
    let pool = Pool::builder().workers(2).build();
    // From here on, the signals do not end the process.
    let listen = |signal: Signal| signal.received().race(Fiber::delay(Duration::ZERO));
    for signal in [Signal::HangUp, Signal::Terminate] {
        assert_eq!(pool.run(listen(signal)).unwrap(), Either::Right(()));
    }
    let waiting = [pool.spawn(Signal::HangUp.received()), pool.spawn(Signal::HangUp.received())];
    let other = pool.spawn(Signal::Terminate.received());
    // A signal before the wait is lost, so it is sent until it arrives.
    let (done, ended) = mpsc::channel();
    let all =
        pool.spawn(Fiber::parallel(waiting.map(|handle| handle.join())).map(move |_| _ = done.send(())));
    while ended.recv_timeout(Duration::from_millis(5)).is_err() {
        send("HUP");
    }
    assert!(block_on(all).is_success());
    assert!(!other.is_finished());
    while !other.is_finished() {
        send("TERM");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(block_on(other).is_success());
}
