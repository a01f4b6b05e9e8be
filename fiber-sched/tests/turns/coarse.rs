//! Branches that compute: an idle worker steals them while their owner is busy, on whatever thread the fiber runs.
//!
//! The proof is a rendezvous: a closure waits until others have begun, which is possible only on other threads.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use fiber_core::{Either, Fiber};
use fiber_sched::{Pool, Shutdown, block_on};

use super::PATIENCE;

/// A place where closures meet.
#[derive(Clone, Default)]
struct Meeting(Arc<AtomicUsize>);

impl Meeting {
    /// Arrives, and continues at once.
    fn pass(&self) -> Fiber<ThreadId> {
        self.wait_for(0)
    }

    /// Arrives, and computes until `count` have arrived, itself included.
    fn wait_for(&self, count: usize) -> Fiber<ThreadId> {
        let come = self.0.clone();
        Fiber::lazy(move || {
            come.fetch_add(1, Ordering::SeqCst);
            let end = Instant::now() + PATIENCE;
            while come.load(Ordering::SeqCst) < count {
                assert!(Instant::now() < end, "the others have not begun");
                thread::yield_now();
            }
            thread::current().id()
        })
        .boxed()
    }
}

/// Runs the fiber on pools of several sizes, started by the caller's thread and by a worker.
fn everywhere<T: Send + 'static>(make: impl Fn() -> Fiber<T>, check: impl Fn(T)) {
    for workers in [2, 4] {
        let pool = Pool::builder().workers(workers).build();
        check(pool.run(make()).unwrap());
        check(block_on(pool.spawn(make())).unwrap());
        pool.shutdown(Shutdown::within(PATIENCE)).unwrap();
    }
}

fn meeting_of_two() -> Fiber<(ThreadId, ThreadId)> {
    let meeting = Meeting::default();
    meeting.wait_for(2).zip(meeting.pass()).boxed()
}

fn are_apart((left, right): (ThreadId, ThreadId)) {
    assert_ne!(left, right);
}

#[test]
fn the_right_side_of_a_zip_runs_while_the_left_one_computes() {
    everywhere(meeting_of_two, are_apart);
}

#[test]
fn both_sides_of_a_race_begin() {
    let race = || {
        let meeting = Meeting::default();
        meeting.wait_for(2).race(meeting.wait_for(2)).boxed()
    };
    everywhere(race, |_: Either<_, _>| ());
}

#[test]
fn children_of_parallel_run_while_another_one_computes() {
    let parallel = || {
        let meeting = Meeting::default();
        Fiber::parallel((0..2).map(move |_| meeting.wait_for(2))).boxed()
    };
    everywhere(parallel, |threads| assert_ne!(threads[0], threads[1]));
}

#[test]
fn every_right_side_of_a_nest_runs_while_the_innermost_left_one_computes() {
    let nest = || {
        let meeting = Meeting::default();
        let innermost = meeting.wait_for(4).zip(meeting.pass());
        innermost.zip(meeting.pass()).zip(meeting.pass()).boxed()
    };
    everywhere(nest, |(((computes, first), second), third)| {
        assert!([first, second, third].iter().all(|thread| *thread != computes));
    });
}

#[test]
fn as_many_branches_as_workers_run_at_the_same_time() {
    let left_nest = || {
        let meeting = Meeting::default();
        let both = || meeting.wait_for(4).zip(meeting.wait_for(4)).map(drop);
        both().zip(both()).map(drop).boxed()
    };
    let right_nest = || {
        let meeting = Meeting::default();
        let all = || meeting.wait_for(4);
        all().zip(all().zip(all().zip(all()))).map(drop).boxed()
    };
    let pool = Pool::builder().workers(4).build();
    for nest in [&left_nest as &dyn Fn() -> Fiber<()>, &right_nest] {
        assert!(block_on(pool.spawn(nest())).is_success());
        assert!(pool.run(nest()).is_success());
    }
}

#[test]
fn a_branch_is_taken_after_many_that_were_ready() {
    let ready_zips = |count: u32| {
        Fiber::iterate(0, move |done| {
            Fiber::success(done).zip(Fiber::success(1)).map(move |(done, more)| match done + more {
                all if all == count => ControlFlow::Break(()),
                some => ControlFlow::Continue(some),
            })
        })
    };
    everywhere(move || ready_zips(10_000).bind(|()| meeting_of_two()).boxed(), are_apart);
}

/// In some rounds, the workers have fallen asleep before the beginning.
#[test]
fn branches_are_taken_again_and_again() {
    let pool = Pool::builder().workers(2).build();
    let pauses = [0, 20, 50, 100, 500, 3_000];
    for pause in pauses.into_iter().cycle().take(10 * pauses.len()).map(Duration::from_micros) {
        are_apart(pool.run(meeting_of_two()).unwrap());
        are_apart(pool.run(Fiber::delay(pause).bind(|()| meeting_of_two())).unwrap());
    }
}

#[test]
fn the_only_worker_takes_branches_of_the_thread_that_runs_a_fiber() {
    let pool = Pool::builder().workers(1).build();
    are_apart(pool.run(meeting_of_two()).unwrap());
}

/// More threads than the pool has deques for: the branches of the others are tasks at once.
#[test]
fn many_threads_run_fibers_with_branches() {
    let pool = Pool::builder().workers(2).build();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..20).for_each(|_| are_apart(pool.run(meeting_of_two()).unwrap())));
        }
    });
}
