//! Signals wake the fibers that wait for them.
#![cfg(unix)]

use std::process::{Command, id};
use std::sync::mpsc;
use std::time::Duration;

use fiber_core::{Either, Fiber};
use fiber_sched::{Pool, Signal, Signals, block_on};

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

#[test]
fn a_subscription_loses_no_signal_between_two_waits() {
    let pool = Pool::builder().workers(2).build();
    let subscriptions = [(); 2].map(|()| Signal::Interrupt.subscribe().unwrap());
    let is_there = |signals: &Signals, patience: u64| {
        pool.run(signals.next().timeout_option(Duration::from_millis(patience))).unwrap().is_some()
    };
    for burst in [1, 1, 50] {
        // No fiber waits.
        (0..burst).for_each(|_| send("INT"));
        for subscription in &subscriptions {
            assert!(is_there(subscription, 60_000));
        }
        // Signals of a burst may arrive apart.
        subscriptions.iter().for_each(|subscription| while is_there(subscription, 200) {});
    }
}

#[test]
fn a_subscription_that_loses_a_race_keeps_its_signal() {
    let pool = Pool::builder().workers(2).build();
    let (hang_ups, ends) = (Signal::HangUp.subscribe().unwrap(), Signal::Terminate.subscribe().unwrap());
    send("HUP");
    send("TERM");
    let mut left = [true; 2];
    while left.contains(&true) {
        let first = pool.run(hang_ups.next().race(ends.next()).timeout(Duration::from_secs(60))).unwrap();
        left[usize::from(matches!(first, Either::Right(())))] = false;
    }
}

#[test]
fn a_wait_outlives_its_subscription() {
    let pool = Pool::builder().workers(2).build();
    let next = Signal::HangUp.subscribe().unwrap().next();
    send("HUP");
    assert!(pool.run(next.timeout(Duration::from_secs(60))).is_success());
}
