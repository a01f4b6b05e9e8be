//! A recording pool records the turns of its fibers, and behaves like any other.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use fiber_core::scheduler::TurnKind;
use fiber_core::{Fiber, Recording};
use fiber_sched::{Pool, block_on};

fn recorded(workers: usize, capacity: usize, fiber: Fiber<()>) -> Recording {
    let pool = Pool::builder().workers(workers).record(capacity).build();
    block_on(pool.spawn(fiber)).unwrap();
    pool.recording().expect("it records")
}

/// The turns, as `fiber kind`.
fn turns(recording: &Recording) -> Vec<String> {
    recording.turns().iter().map(|turn| format!("{} {}", turn.fiber, turn.kind)).collect()
}

#[test]
fn starts_waits_and_binds_are_turns() {
    let nap = Fiber::delay(Duration::from_millis(1)).bind(|()| Fiber::yield_now());
    let recording = recorded(1, 100, nap.boxed());
    assert_eq!(turns(&recording), ["0 start", "0 resume", "0 bind", "0 resume"]);
    assert_eq!(recording.lost(), 0);
}

#[test]
fn a_part_of_a_fiber_has_the_id_of_the_fiber() {
    let limited = Fiber::delay(Duration::from_millis(1)).timeout(Duration::from_secs(3600));
    let limited = limited.bind(|()| Fiber::success(()));
    assert_eq!(turns(&recorded(1, 100, limited.boxed())), ["0 start", "0 resume", "0 bind"]);
}

#[test]
fn every_branch_has_turns_of_its_own() {
    let recording = recorded(1, 100, Fiber::success(1).zip(Fiber::success(2)).map(drop).boxed());
    assert_eq!(turns(&recording), ["0 start", "0.0.0 start", "0.0.1 start", "0 resume"]);
}

#[test]
fn blocking_calls_are_turns_of_their_fiber() {
    let recording = recorded(1, 100, Fiber::blocking(|| ()).boxed());
    assert_eq!(turns(&recording), ["0 start", "0 resume", "0 resume"]);
    let threads: Vec<u32> = recording.turns().iter().map(|turn| turn.thread).collect();
    // The pool has two threads for its worker, and either may take the task that the call wakes.
    assert!(threads[1] != threads[0] && threads[1] != threads[2], "{threads:?}");
}

/// Both have to run at the same time.
#[test]
fn turns_are_told_apart_by_their_threads() {
    let both = Arc::new(Barrier::new(2));
    let meet = || {
        let both = both.clone();
        Fiber::lazy(move || _ = both.wait())
    };
    let recording = recorded(2, 100, meet().zip(meet()).map(drop).boxed());
    let thread = |fiber: &str| recording.turns().iter().find(|turn| turn.fiber == fiber).unwrap().thread;
    assert_ne!(thread("0.0.0"), thread("0.0.1"));
}

/// A slice of a thousand binds is not cut at each of them.
#[test]
fn fibers_make_place_for_others_as_seldom_as_usual() {
    let spin = || Fiber::for_each(0..3_000, |_| Fiber::success(()));
    let recording = recorded(1, 10_000, spin().zip(spin()).map(drop).boxed());
    let binds = recording.turns().iter().filter(|turn| turn.kind == TurnKind::Bind).count();
    assert!(binds > 5_000, "every bind is noted");
    let switches = recording.turns().windows(2).filter(|pair| pair[0].fiber != pair[1].fiber).count();
    // A loaded machine also cuts turns by time.
    assert!(switches < 500, "{switches}");
}

#[test]
fn the_last_turns_are_kept() {
    let recording = recorded(1, 3, Fiber::for_each(0..10, |_| Fiber::yield_now()).boxed());
    assert_eq!(turns(&recording), ["0 resume", "0 bind", "0 resume"]);
    let whole = recorded(1, 1_000, Fiber::for_each(0..10, |_| Fiber::yield_now()).boxed());
    assert_eq!(recording.lost(), whole.turns().len() as u64 - 3);
}

#[test]
fn without_recording_nothing_is_kept() {
    let pool = Pool::builder().workers(1).build();
    block_on(pool.spawn(Fiber::success(()))).unwrap();
    assert!(pool.recording().is_none());
}

#[test]
#[should_panic(expected = "a recording of 0 turns shows nothing")]
fn no_room_is_refused() {
    drop(Pool::builder().record(0));
}
