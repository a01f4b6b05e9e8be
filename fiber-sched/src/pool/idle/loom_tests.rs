//! The protocol under every interleaving: a task from outside is never overlooked, a computing worker keeps nothing from an idle
//! one, and a stopped pool ends.
//!
//! `RUSTFLAGS="--cfg fiber_loom" cargo test -p fiber-sched --lib --release loom`

use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::sync::{Arc, Notify};
use loom::thread;

use super::{Asleep, Bedtime, Idle};
use crate::bed::Bed;
use fiber_core::Instant;

/// Up to so many preemptions: all interleavings would take hours.
fn model(preemptions: usize, f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(f);
}

/// A pool whose only queue is a number of tasks.
struct Pool {
    idle: Idle,
    tasks: AtomicUsize,
    left: AtomicUsize,
}

impl Pool {
    fn new(workers: usize, tasks: usize) -> (Arc<Self>, Vec<Bed>) {
        let (beds, alarms) = Bed::without_polls(workers);
        let (idle, left) = (Idle::new(alarms.into()), AtomicUsize::new(tasks));
        (Arc::new(Pool { idle, tasks: AtomicUsize::new(0), left }), beds)
    }

    fn push(&self) {
        // Relaxed, as the queues promise nothing more here: the fences of the protocol have to order it.
        self.tasks.fetch_add(1, Ordering::Relaxed);
        self.idle.notify();
    }

    fn has_any(&self) -> bool {
        self.tasks.load(Ordering::Relaxed) > 0
    }

    fn take(&self) -> bool {
        let taken =
            self.tasks.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |tasks| tasks.checked_sub(1));
        taken.is_ok()
    }

    /// Runs tasks until the pool stops, which it does after the last one. So many sleeps end for no reason, as those in a poll do
    /// when something happens at a socket: the thread that rings for them rings for the next one.
    fn work(&self, worker: usize, bed: &Bed, mut startles: usize) {
        loop {
            while self.has_any() {
                let Some(runs) = self.idle.begin_run() else { break };
                if self.take() {
                    if runs.was_last_searcher && self.has_any() {
                        self.idle.notify();
                    }
                    if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
                        self.idle.stop();
                    }
                }
                _ = self.idle.begin_search();
            }
            let bedtime = || Bedtime { nap: Instant::EPOCH, timer: Instant::FAR_FUTURE, is_needed: false };
            let asleep = self.idle.fall_asleep(worker, bedtime);
            if asleep.was_last_searcher && self.has_any() {
                self.idle.notify();
            }
            if startles > 0 {
                startles -= 1;
            } else if !self.idle.is_stopped() {
                bed.sleep(None).fire();
            }
            if self.idle.is_stopped() {
                return;
            }
            _ = self.idle.get_up(worker);
        }
    }
}

fn run(workers: usize, tasks: usize, preemptions: usize) {
    run_startled(workers, tasks, preemptions, 0);
}

/// The first worker gets up so many times for no reason.
fn run_startled(workers: usize, tasks: usize, preemptions: usize, startles: usize) {
    model(preemptions, move || {
        let (pool, beds) = Pool::new(workers, tasks);
        let threads: Vec<_> = (0..)
            .zip(beds)
            .map(|(worker, bed)| {
                let pool = pool.clone();
                let startles = if worker == 0 { startles } else { 0 };
                thread::spawn(move || pool.work(worker, &bed, startles))
            })
            .collect();
        (0..tasks).for_each(|_| pool.push());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(pool.left.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn a_task_from_outside_finds_a_worker() {
    run(2, 1, 2);
}

#[test]
fn two_tasks_from_outside_find_the_one_that_may_run() {
    run(2, 2, 1);
}

#[test]
fn a_task_from_outside_finds_one_of_three() {
    run(3, 1, 1);
}

#[test]
fn a_task_from_outside_is_found_while_a_worker_gets_up_for_no_reason() {
    run_startled(2, 1, 2, 1);
}

#[test]
fn two_tasks_from_outside_are_found_while_a_worker_gets_up_for_no_reason() {
    run_startled(2, 2, 1, 1);
}

/// A user thread that lends a branch, and computes until a worker has taken it.
struct Guest {
    is_there: AtomicBool,
    has_lent: AtomicBool,
}

impl Guest {
    fn lends(&self, idle: &Idle) {
        self.is_there.store(true, Ordering::Relaxed);
        // It announces its first branch, and then lends it silently.
        idle.notify();
        self.has_lent.store(true, Ordering::Relaxed);
    }

    /// As `Worker::find`, until the branch is found. A nap ends by itself.
    fn is_found_by(&self, worker: usize, idle: &Idle, bed: &Bed) {
        let is_there = || self.is_there.load(Ordering::Relaxed);
        while !self.has_lent.load(Ordering::Relaxed) {
            let (nap, timer) = (Instant::EPOCH, Instant::FAR_FUTURE);
            let asleep = idle.fall_asleep(worker, || Bedtime { nap, timer, is_needed: is_there() });
            if asleep.was_last_searcher && !asleep.naps && is_there() {
                idle.notify();
            }
            if asleep.naps {
                thread::yield_now();
            } else {
                bed.sleep(None).fire();
            }
            _ = idle.get_up(worker);
        }
    }
}

#[test]
fn the_branch_of_a_guest_is_found_by_a_worker_that_is_about_to_sleep() {
    model(3, || {
        let (bed, alarm) = Bed::alone();
        let idle = Arc::new(Idle::new([alarm].into()));
        // For the only worker, as there is no spare one.
        idle.add_place();
        let guest = Arc::new(Guest { is_there: AtomicBool::new(false), has_lent: AtomicBool::new(false) });
        let worker = {
            let (idle, guest) = (idle.clone(), guest.clone());
            thread::spawn(move || guest.is_found_by(0, &idle, &bed))
        };
        guest.lends(&idle);
        worker.join().unwrap();
    });
}

/// Two workers that may both run. Worker 0 leaves the poll with an event, and then computes until worker 1 has done something.
struct Computation {
    idle: Idle,
    /// Whether a worker is in the poll.
    is_slept_in: AtomicBool,
    /// Whether worker 0 tells of its next push.
    is_marked: AtomicBool,
    /// Whether worker 0 has forked.
    has_forked: AtomicBool,
    is_done: Notify,
}

impl Computation {
    fn new() -> (Arc<Self>, Vec<Bed>) {
        let (beds, alarms) = Bed::without_polls(2);
        let computation = Computation {
            idle: Idle::new(alarms.into()),
            is_slept_in: AtomicBool::new(true),
            is_marked: AtomicBool::new(true),
            has_forked: AtomicBool::new(false),
            is_done: Notify::new(),
        };
        computation.idle.add_place();
        (Arc::new(computation), beds)
    }

    fn fall_asleep(&self, worker: usize) -> Asleep {
        let bedtime = || Bedtime { nap: Instant::EPOCH, timer: Instant::FAR_FUTURE, is_needed: false };
        let asleep = self.idle.fall_asleep(worker, bedtime);
        if asleep.was_last_searcher && self.has_forked.load(Ordering::Relaxed) {
            self.idle.notify();
        }
        asleep
    }

    /// As at the end of `Local::push`.
    fn has_pushed(&self) {
        if self.is_marked.swap(false, Ordering::Relaxed) {
            self.idle.notify();
        }
    }

    /// As `Worker::find`, for worker 0: it finds the task that the poll has queued.
    fn gets_up_with_an_event(&self, is_needed: impl Fn() -> bool) {
        _ = self.fall_asleep(0);
        self.is_slept_in.store(false, Ordering::Relaxed);
        _ = self.idle.get_up(0);
        self.has_pushed();
        assert!(self.idle.begin_run().is_some());
        self.is_marked.store(true, Ordering::Relaxed);
        self.idle.appoint_lookout(is_needed);
    }

    /// As `Worker::find`, for worker 1, until it finds the fork, or is in the poll. A nap ends by itself.
    fn rests(&self, bed: &Bed, finds: impl Fn() -> bool, enters: impl Fn() -> bool) {
        while !finds() {
            let asleep = self.fall_asleep(1);
            if enters() {
                break;
            }
            if asleep.naps {
                thread::yield_now();
            } else {
                bed.sleep(None).fire();
            }
            _ = self.idle.get_up(1);
        }
        self.is_done.notify();
    }
}

#[test]
fn a_fork_is_found_although_the_poll_queued_a_task_while_its_worker_got_up() {
    model(3, || {
        let (computation, beds) = Computation::new();
        let other = computation.clone();
        let worker = thread::spawn(move || {
            other.gets_up_with_an_event(|| false);
            other.has_forked.store(true, Ordering::Relaxed);
            other.has_pushed();
            other.is_done.wait();
        });
        let finds = || computation.has_forked.load(Ordering::Relaxed);
        computation.rests(&beds[1], finds, || false);
        worker.join().unwrap();
    });
}

#[test]
fn a_poll_does_not_stay_deserted_while_the_worker_computes_that_has_left_it() {
    model(3, || {
        let (computation, beds) = Computation::new();
        let other = computation.clone();
        let worker = thread::spawn(move || {
            other.gets_up_with_an_event(|| !other.is_slept_in.load(Ordering::Relaxed));
            other.is_done.wait();
        });
        let enters = || {
            let taken =
                computation.is_slept_in.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
            taken.is_ok()
        };
        computation.rests(&beds[1], || false, enters);
        worker.join().unwrap();
    });
}
