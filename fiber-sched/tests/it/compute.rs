//! Borrowed tasks on a pool: values, panics, cancellation, waits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::compute::{self, scope};
use fiber_core::{Fiber, Outcome};
use fiber_sched::{CurrentThread, Pool, Settings, block_on};

/// Fails a test that would hang.
const PATIENCE: Duration = Duration::from_secs(60);

fn pool(workers: usize) -> Pool {
    Pool::builder().workers(workers).build()
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = compute::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn message(payload: &(dyn std::any::Any + Send)) -> &str {
    payload.downcast_ref::<&str>().copied().unwrap_or("not a text")
}

/// The message of the panic of `f`.
fn panic_of<T>(f: impl FnOnce() -> T) -> String {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => panic!("it does not panic"),
        Err(payload) => message(&*payload).to_owned(),
    }
}

#[test]
fn recursion_gives_the_sequential_result_wherever_it_is_called() {
    for workers in 1..=3 {
        let pool = pool(workers);
        assert_eq!(pool.join(|| fib(18), || fib(17)), (2584, 1597));
        assert_eq!(pool.run(Fiber::lazy(|| fib(20))).unwrap(), 6765);
        assert_eq!(block_on(pool.spawn(Fiber::lazy(|| fib(20)))).unwrap(), 6765);
        assert_eq!(
            block_on(pool.spawn(Fiber::blocking(|| fiber_sched::join(|| fib(16), || 1)))).unwrap(),
            (987, 1)
        );
    }
    assert_eq!(fib(18), 2584);
    assert_eq!(
        CurrentThread::new().run(Fiber::lazy(|| fiber_sched::join(|| fib(16), || 2))).unwrap(),
        (987, 2)
    );
}

/// Each side waits for the other, so they have to run on two threads.
#[test]
fn an_idle_worker_takes_the_right_side() {
    let pool = pool(2);
    let meet = Barrier::new(2);
    pool.join(|| meet.wait(), || meet.wait());
    block_on(pool.spawn(Fiber::lazy(|| {
        let meet = Barrier::new(2);
        compute::join(|| meet.wait(), || meet.wait());
    })))
    .unwrap();
}

/// The body waits for a task, which needs another thread.
#[test]
fn a_scope_into_which_a_foreign_thread_has_spawned_still_finds_helpers() {
    let pool = pool(1);
    let has_run = AtomicBool::new(false);
    pool.scope(|s| {
        thread::scope(|threads| _ = threads.spawn(|| drop(s.spawn(|| ()))));
        s.spawn(|| has_run.store(true, Ordering::Relaxed));
        wait_until(|| has_run.load(Ordering::Relaxed));
    });
}

/// All wait for each other, so each needs its own thread.
#[test]
fn nested_calls_lend_several_tasks_at_a_time() {
    let pool = pool(3);
    let meet = Barrier::new(4);
    let wait = || _ = meet.wait();
    pool.join(|| compute::join(|| compute::join(wait, wait), wait), wait);
}

/// Each of these right sides waits until another thread has run as many of those above.
#[test]
fn what_a_thread_keeps_to_itself_is_lent_when_others_have_taken_the_rest() {
    const DEPTH: usize = 100;
    fn nested(depth: usize, right: &(impl Fn(usize) + Sync)) {
        if depth > 0 {
            compute::join(|| nested(depth - 1, right), || right(depth));
        }
    }
    let pool = pool(2);
    let owner = thread::current().id();
    let elsewhere = AtomicUsize::new(0);
    let right = |depth: usize| {
        if thread::current().id() != owner {
            elsewhere.fetch_add(1, Ordering::Relaxed);
        } else if depth < DEPTH / 4 {
            wait_until(|| elsewhere.load(Ordering::Relaxed) >= depth);
        }
    };
    pool.scope(|_| nested(DEPTH, &right));
}

fn wait_until(is_so: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "it does not happen");
        thread::yield_now();
    }
}

#[test]
fn a_scope_awaits_its_tasks_and_theirs() {
    let pool = pool(2);
    let ended = AtomicUsize::new(0);
    pool.scope(|s| {
        for _ in 0..10 {
            s.spawn(|| {
                for _ in 0..10 {
                    s.spawn(|| {
                        s.spawn(|| ended.fetch_add(1, Ordering::Relaxed));
                    });
                }
            });
        }
    });
    assert_eq!(ended.into_inner(), 100);
}

#[test]
fn tasks_change_what_they_borrow() {
    let pool = pool(2);
    let mut numbers: Vec<u32> = (0..1000).rev().collect();
    let (low, high) = numbers.split_at_mut(500);
    let (first, last) = pool.scope(|s| {
        let low = s.spawn(move || {
            low.sort_unstable();
            low[0]
        });
        let high = s.spawn(move || {
            high.sort_unstable();
            high[499]
        });
        (low.join(), high.join())
    });
    assert_eq!((first, last), (500, 499));
    assert_eq!(numbers[..2], [500, 501]);
}

#[test]
fn handles_of_tasks_can_be_awaited_together_and_in_other_tasks() {
    let pool = pool(2);
    let sums = pool.scope(|s| {
        let tasks: Vec<_> = (0..100u64).map(|n| s.spawn(move || n * n)).collect();
        let sum = s.spawn(move || s.join_all(tasks).iter().sum::<u64>());
        let other = s.join_all((0..10u64).map(|n| s.spawn(move || n)));
        (sum.join(), other.iter().sum::<u64>())
    });
    assert_eq!(sums, (328_350, 45));
}

#[test]
fn a_panic_reaches_the_caller_when_the_other_side_has_ended() {
    let pool = pool(2);
    let meet = Barrier::new(2);
    let has_ended = AtomicBool::new(false);
    let left = || {
        meet.wait();
        panic!("left");
    };
    let right = || {
        meet.wait();
        thread::yield_now();
        has_ended.store(true, Ordering::Relaxed);
    };
    assert_eq!(panic_of(|| pool.join(left, right)), "left");
    assert!(has_ended.into_inner());
    let right = || {
        meet.wait();
        panic!("right");
    };
    assert_eq!(panic_of(|| pool.join(|| meet.wait(), right)), "right");
    assert_eq!(panic_of(|| pool.join(|| (), || panic!("later"))), "later");
}

#[test]
fn a_panic_of_a_task_reaches_the_caller_of_the_scope_when_all_have_ended() {
    let pool = pool(2);
    let ended = AtomicUsize::new(0);
    let panicked = panic_of(|| {
        pool.scope(|s| {
            for n in 0..20 {
                s.spawn(|| {
                    ended.fetch_add(1, Ordering::Relaxed);
                    s.spawn(|| ended.fetch_add(1, Ordering::Relaxed));
                });
                if n == 10 {
                    s.spawn(|| panic!("task"));
                }
            }
        });
    });
    assert_eq!(panicked, "task");
    assert_eq!(ended.into_inner(), 40);
    let passed_on = panic_of(|| pool.scope(|s| s.spawn(|| -> u8 { panic!("joined") }).join()));
    assert_eq!(passed_on, "joined");
    let of_both = || {
        pool.scope(|s| {
            s.spawn(|| panic!("task"));
            panic!("body")
        })
    };
    assert_eq!(panic_of(of_both), "body");
    let forgotten = || pool.scope(|s| std::mem::forget(s.spawn(|| panic!("nobody"))));
    assert_eq!(panic_of(forgotten), "a task panicked, and its handle was forgotten");
    let caught = pool.scope(|s| panic_of(|| s.spawn(|| panic!("caught")).join()));
    assert_eq!(caught, "caught");
}

/// A value that reports its drop.
struct Tells<'a>(&'a AtomicUsize);

impl Drop for Tells<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn values_that_nobody_takes_are_dropped_before_the_scope_ends() {
    let pool = pool(2);
    for _ in 0..200 {
        let dropped = AtomicUsize::new(0);
        pool.scope(|s| {
            for _ in 0..4 {
                drop(s.spawn(|| Tells(&dropped)));
            }
            let kept: Vec<_> = (0..4).map(|_| s.spawn(|| Tells(&dropped))).collect();
            drop(kept);
        });
        assert_eq!(dropped.into_inner(), 8);
    }
}

#[test]
fn a_forgotten_handle_does_not_let_its_task_outlive_the_scope() {
    let pool = pool(2);
    let has_ended = AtomicBool::new(false);
    pool.scope(|s| std::mem::forget(s.spawn(|| has_ended.store(true, Ordering::Relaxed))));
    assert!(has_ended.into_inner());
}

#[test]
fn a_scope_sees_that_its_fiber_is_cancelled() {
    let pool = pool(2);
    let (begun, begins) = channel();
    let searches = pool.spawn(Fiber::lazy(move || {
        scope(|s| {
            let search = s.spawn(|| {
                begun.send(()).unwrap();
                while !s.is_cancelled() {
                    thread::yield_now();
                }
                "gave up"
            });
            search.join()
        })
    }));
    begins.recv_timeout(PATIENCE).unwrap();
    searches.cancel_now();
    // A value that has arrived is delivered, because a closure is not interrupted.
    assert!(matches!(block_on(searches), Outcome::Success("gave up") | Outcome::Cancelled));
}

#[test]
fn a_panic_tells_the_other_tasks_that_it_is_of_no_use_to_go_on() {
    let pool = pool(2);
    let panicked = panic_of(|| {
        pool.scope(|s| {
            s.spawn(|| panic!("first"));
            while !s.is_cancelled() {
                thread::yield_now();
            }
        });
    });
    assert_eq!(panicked, "first");
}

/// rayon's oldest deadlock: a thread waits in `join` with a lock, and meanwhile runs an unrelated job that wants the lock.
#[test]
fn a_thread_that_waits_with_a_lock_runs_no_stranger_that_wants_the_lock() {
    const STRANGERS: usize = 50;
    let pool = pool(2);
    let lock = Arc::new(Mutex::new(0));
    let (taken, is_taken) = channel();
    let (go_on, may_go_on) = channel();
    let held = lock.clone();
    let holder = pool.spawn(Fiber::lazy(move || {
        let mut held = held.lock().unwrap();
        wait_for_another_thread(&taken, may_go_on);
        *held += 1;
    }));
    is_taken.recv_timeout(PATIENCE).unwrap();
    // The holder waits, or is about to.
    let wants = || {
        let lock = lock.clone();
        Fiber::lazy(move || *lock.lock().unwrap() += 1)
    };
    let strangers = pool.spawn_all((0..STRANGERS).map(|_| wants()));
    go_on.send(()).unwrap();
    strangers.into_iter().for_each(|stranger| block_on(stranger).unwrap());
    block_on(holder).unwrap();
    assert_eq!(*lock.lock().unwrap(), STRANGERS + 1);
}

#[test]
fn a_worker_that_waits_for_a_task_is_replaced() {
    // With this quantum, no turn counts as stuck.
    let settings = Settings::new().quantum(Duration::from_secs(3600));
    let pool = Pool::builder().workers(2).settings(settings).build();
    let (taken, is_taken) = channel();
    let (release, released) = channel();
    let waits = pool.spawn(Fiber::lazy(move || wait_for_another_thread(&taken, released)));
    is_taken.recv_timeout(PATIENCE).unwrap();
    // One worker waits for the task that occupies the other.
    assert_eq!(block_on(pool.spawn(Fiber::success(1))).unwrap(), 1);
    release.send(()).unwrap();
    block_on(waits).unwrap();
    // No additional worker has started.
    assert_eq!(pool.metrics().may_run, 2);
}

/// Returns when another thread has run a task, which reports that it was `taken`, and ends when it is `released`.
fn wait_for_another_thread(taken: &Sender<()>, released: Receiver<()>) {
    let (tell, told) = channel();
    compute::join(
        move || told.recv_timeout(PATIENCE).unwrap(),
        move || {
            tell.send(()).unwrap();
            taken.send(()).unwrap();
            released.recv_timeout(PATIENCE).unwrap();
        },
    );
}

#[test]
fn par_functions_give_the_sequential_results() {
    let pool = pool(2);
    for length in [0, 1, 2, 3, 17, 1000, 100_000u64] {
        let numbers: Vec<u64> = (0..length).collect();
        assert_eq!(pool.par_map(&numbers, |n| n * 2), numbers.iter().map(|n| n * 2).collect::<Vec<_>>());
        assert_eq!(pool.par_map(0..length, |n| n + 1), (0..length).map(|n| n + 1).collect::<Vec<_>>());
        assert_eq!(pool.par_reduce(&numbers, || 0, |sum, n| sum + n, |a, b| a + b), numbers.iter().sum());
        let mut changed = numbers.clone();
        pool.par_for_each(&mut changed, |n| *n += 1);
        assert_eq!(changed, (1..=length).collect::<Vec<_>>());
    }
    assert_eq!(pool.par_map(i8::MIN..i8::MAX, i64::from).len(), 255);
}

#[test]
fn a_panic_in_par_for_each_reaches_the_caller() {
    let pool = pool(2);
    let panicked = panic_of(|| pool.par_for_each(0..1000, |n| assert!(n != 700, "seven hundred")));
    assert_eq!(panicked, "seven hundred");
}
