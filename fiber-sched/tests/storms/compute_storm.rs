//! Many threads with borrowed tasks on one pool. Long only in an optimised build.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use fiber_core::{Fiber, compute};
use fiber_sched::{Pool, block_on};

const ROUNDS: usize = if cfg!(debug_assertions) { 20 } else { 1000 };

/// Sums by recursion, with borrowed halves.
fn sum(numbers: &[usize]) -> usize {
    match numbers {
        [] => 0,
        [one] => *one,
        _ => {
            let (left, right) = numbers.split_at(numbers.len() / 2);
            let (left, right) = compute::join(|| sum(left), || sum(right));
            left + right
        }
    }
}

/// A scope whose tasks spawn others; the value is their total number.
fn spread(depth: usize) -> usize {
    let count = AtomicUsize::new(0);
    compute::scope(|s| {
        fn add<'scope>(s: &'scope compute::Scope<'scope, '_>, count: &'scope AtomicUsize, depth: usize) {
            count.fetch_add(1, Ordering::Relaxed);
            for _ in 0..if depth > 0 { 3 } else { 0 } {
                drop(s.spawn(move || add(s, count, depth - 1)));
            }
        }
        add(s, &count, depth);
    });
    count.into_inner()
}

fn work() {
    let numbers: Vec<usize> = (0..300).collect();
    assert_eq!(sum(&numbers), 300 * 299 / 2);
    assert_eq!(spread(3), 40);
    assert_eq!(compute::par_map(&numbers, |n| n + 1).len(), 300);
    let nested = compute::par_reduce(0..20usize, || 0, |all, _| all + sum(&numbers[..20]), |a, b| a + b);
    assert_eq!(nested, 20 * 190);
}

#[test]
fn user_threads_and_fibers_share_a_pool() {
    let pool = Pool::builder().workers(2).build();
    thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| (0..ROUNDS).for_each(|_| pool.scope(|_| work())));
        }
        for _ in 0..ROUNDS {
            let fibers = pool.spawn_all((0..4).map(|_| Fiber::lazy(work).zip(Fiber::lazy(work))));
            fibers.into_iter().for_each(|fiber| _ = block_on(fiber).unwrap());
        }
    });
}

/// When the pool ends, a worker drops its queue of tasks; their owner runs them.
#[test]
fn a_pool_that_ends_meanwhile_loses_no_task() {
    for _ in 0..ROUNDS / 10 {
        let pool = Pool::builder().workers(2).build();
        let fibers = pool.spawn_all((0..4).map(|_| Fiber::lazy(work)));
        drop(pool);
        assert!(fibers.into_iter().all(|fiber| !block_on(fiber).is_panicked()));
    }
}
