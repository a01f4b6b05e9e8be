//! The protocol under many interleavings: a bed of loom has no spurious wake-ups, so a lost wake-up is a deadlock.
//!
//! `RUSTFLAGS="--cfg fiber_loom" cargo test -p fiber-sched --lib --release loom`

use std::collections::VecDeque;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use super::Inbox;
use crate::bed::Bed;

/// Up to three preemptions: all interleavings of the inbox and the bell together would take hours.
fn model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(f);
}

/// The worker: takes tasks until `is_over`.
fn work(inbox: &Inbox<u32>, bed: &Bed, mut is_over: impl FnMut(&mut VecDeque<u32>) -> bool) {
    let mut tasks = VecDeque::new();
    loop {
        inbox.take(&mut tasks);
        if is_over(&mut tasks) {
            return;
        }
        if inbox.fall_asleep() {
            bed.sleep(None).fire();
            inbox.get_up();
        }
    }
}

#[test]
fn every_push_arrives_in_order() {
    model(|| {
        let (bed, alarm) = Bed::alone();
        let inbox = Arc::new(Inbox::new(alarm));
        let other = inbox.clone();
        let pushes = thread::spawn(move || (0..2).for_each(|task| other.push(task).unwrap()));
        let mut taken = Vec::new();
        work(&inbox, &bed, |tasks| {
            taken.extend(tasks.drain(..));
            taken.len() == 2
        });
        assert_eq!(taken, [0, 1]);
        pushes.join().unwrap();
    });
}

#[test]
fn two_threads_wake_the_worker() {
    model(|| {
        let (bed, alarm) = Bed::alone();
        let inbox = Arc::new(Inbox::new(alarm));
        let threads = [0, 1].map(|task| {
            let inbox = inbox.clone();
            thread::spawn(move || inbox.push(task).unwrap())
        });
        let mut taken = 0;
        work(&inbox, &bed, |tasks| {
            taken += tasks.drain(..).count();
            taken == 2
        });
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn a_timer_that_another_thread_sets_is_seen() {
    model(|| {
        let (bed, alarm) = Bed::alone();
        let inbox = Arc::new(Inbox::<u32>::new(alarm));
        let timer = Arc::new(AtomicBool::new(false));
        let (other, set) = (inbox.clone(), timer.clone());
        let sets = thread::spawn(move || {
            // Relaxed: the critical sections order it.
            set.store(true, Ordering::Relaxed);
            other.rouse();
        });
        // Like the worker: it sleeps without a limit only if it sees no timer after it has announced its sleep.
        while inbox.fall_asleep() && !timer.load(Ordering::Relaxed) {
            bed.sleep(None).fire();
            inbox.get_up();
        }
        sets.join().unwrap();
    });
}

#[test]
fn the_stop_arrives_and_loses_no_task() {
    model(|| {
        let (bed, alarm) = Bed::alone();
        let inbox = Arc::new(Inbox::new(alarm));
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (other, stop) = (inbox.clone(), is_stopped.clone());
        let stops = thread::spawn(move || {
            // Relaxed: the critical sections order it.
            stop.store(true, Ordering::Relaxed);
            other.stop().len()
        });
        let pusher = inbox.clone();
        let refused = thread::spawn(move || usize::from(pusher.push(1).is_err()));
        let mut taken = 0;
        work(&inbox, &bed, |tasks| {
            taken += tasks.drain(..).count();
            is_stopped.load(Ordering::Relaxed)
        });
        let dropped = stops.join().unwrap();
        assert_eq!(taken + dropped + refused.join().unwrap(), 1);
    });
}
