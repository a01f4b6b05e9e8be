//! Borrowed tasks between plain threads: small enough for Miri and the sanitizers.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use fiber_core::compute::{join, par_map, par_reduce, scope};
use fiber_core::scheduler::{BranchDeque, Task, Worker, is_served, serve};

const MANY: usize = if cfg!(miri) { 12 } else { 2000 };

/// A thread that lends its tasks, and shares those of its scopes with the others.
struct Thread<'a> {
    branches: BranchDeque,
    shared: &'a Mutex<VecDeque<Task>>,
}

impl Worker for Thread<'_> {
    fn branches(&self) -> Option<&BranchDeque> {
        Some(&self.branches)
    }

    fn share(&self, task: Task) {
        self.shared.lock().unwrap().push_back(task);
    }
}

/// Calls `f` on this thread, while other threads steal its tasks.
fn with_thieves<T>(thieves: usize, f: impl FnOnce() -> T) -> T {
    let shared = Mutex::default();
    let owner = Thread { branches: BranchDeque::new(), shared: &shared };
    let is_over = AtomicBool::new(false);
    thread::scope(|threads| {
        for _ in 0..thieves {
            let (stealer, shared, is_over) = (owner.branches.stealer(), &shared, &is_over);
            threads.spawn(move || {
                let thief = Thread { branches: BranchDeque::new(), shared };
                serve(&thief, 1, || {
                    while !is_over.load(Ordering::Relaxed) {
                        // The lock is free while the task runs.
                        let queued = shared.lock().unwrap().pop_front();
                        match queued.or_else(|| stealer.steal()) {
                            Some(task) => task.run_on(&thief),
                            None => thread::yield_now(),
                        }
                    }
                });
            });
        }
        let value = catch_unwind(AssertUnwindSafe(|| serve(&owner, 1, f)));
        is_over.store(true, Ordering::Relaxed);
        value.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn sum(numbers: &mut [usize]) -> usize {
    match numbers {
        [] => 0,
        [one] => {
            *one += 1;
            *one
        }
        _ => {
            let (left, right) = numbers.split_at_mut(numbers.len() / 2);
            let (left, right) = join(|| sum(left), || sum(right));
            left + right
        }
    }
}

#[test]
fn halves_are_borrowed_by_several_threads() {
    for thieves in 0..=2 {
        let mut numbers: Vec<usize> = (0..MANY).collect();
        assert_eq!(with_thieves(thieves, || sum(&mut numbers)), MANY * (MANY + 1) / 2);
        assert_eq!(numbers, (1..=MANY).collect::<Vec<_>>());
    }
}

#[test]
fn tasks_of_a_scope_are_run_by_several_threads() {
    for thieves in 0..=2 {
        let texts: Vec<String> = (0..MANY).map(|n| n.to_string()).collect();
        let letters = AtomicUsize::new(0);
        let lengths = with_thieves(thieves, || {
            scope(|s| {
                for text in &texts {
                    drop(s.spawn(|| {
                        drop(s.spawn(|| letters.fetch_add(text.len(), Ordering::Relaxed)));
                        // Its value, which borrows from outside, is dropped.
                        text.split('1').collect::<Vec<_>>()
                    }));
                }
                let tasks: Vec<_> = texts.iter().map(|text| s.spawn(|| text.len())).collect();
                s.join_all(tasks).into_iter().sum::<usize>()
            })
        });
        assert_eq!(letters.into_inner(), lengths);
    }
}

#[test]
fn values_that_allocate_are_neither_lost_nor_dropped_twice() {
    let texts: Vec<String> = (0..MANY).map(|n| n.to_string()).collect();
    for thieves in 0..=2 {
        let copies = with_thieves(thieves, || par_map(&texts, Clone::clone));
        assert_eq!(copies, texts);
        let joined =
            with_thieves(thieves, || par_reduce(&texts, String::new, |all, text| all + text, |a, b| a + &b));
        assert_eq!(joined, texts.concat());
        let (left, right) = with_thieves(thieves, || {
            join(|| texts.concat(), || texts.iter().map(String::as_str).collect::<Vec<_>>())
        });
        assert_eq!(left, right.concat());
    }
}

#[test]
fn panics_wait_for_what_borrows() {
    for thieves in 0..=2 {
        for panicking in 0..4 {
            let mut left = vec![String::from("left")];
            let mut right = vec![String::from("right")];
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                with_thieves(thieves, || match panicking {
                    0 => drop(join(throw, || right.push("more".to_owned()))),
                    1 => drop(join(|| left.push("more".to_owned()), throw)),
                    2 => drop(join(throw, throw)),
                    _ => scope(|s| {
                        drop(s.spawn(|| left.push("more".to_owned())));
                        drop(s.spawn(throw));
                        // Miri would report the leak of a forgotten handle.
                        let last = s.spawn(|| right.push("more".to_owned()));
                        if cfg!(miri) { drop(last) } else { std::mem::forget(last) }
                    }),
                });
            }));
            assert!(panicked.is_err());
            assert_eq!((&left[0][..], &right[0][..]), ("left", "right"));
            assert!(panicking < 3 || left.len() + right.len() == 4);
        }
    }
}

fn throw() {
    std::panic::resume_unwind(Box::new("as planned"));
}

/// Whatever the current worker returns, the calls end.
#[test]
fn a_worker_that_panics_or_returns_early_does_no_harm() {
    struct Bad(BranchDeque);

    impl Worker for Bad {
        fn branches(&self) -> Option<&BranchDeque> {
            Some(&self.0)
        }

        fn lent(&self) {
            throw();
        }

        fn share(&self, task: Task) {
            drop(task);
            throw();
        }

        fn block(&self, _: &mut dyn FnMut()) {}
    }

    let bad = Bad(BranchDeque::new());
    let stealer = bad.0.stealer();
    let is_over = AtomicBool::new(false);
    thread::scope(|threads| {
        threads.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                match stealer.steal() {
                    // Some are lost.
                    Some(task) if MANY.is_multiple_of(2) => drop(task),
                    Some(task) => task.run(),
                    None => thread::yield_now(),
                }
            }
        });
        let mut numbers: Vec<usize> = (0..MANY).collect();
        let total = serve(&bad, 1, || scope(|s| s.spawn(|| sum(&mut numbers)).join()));
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(total, MANY * (MANY + 1) / 2);
    });
}

#[test]
fn a_thread_of_no_scheduler_runs_all_by_itself() {
    assert!(!is_served(None));
    let mut numbers: Vec<usize> = (0..100).collect();
    assert_eq!(sum(&mut numbers), 5050);
    assert_eq!(scope(|s| s.join_all((0..5).map(|n| s.spawn(move || n)))), [0, 1, 2, 3, 4]);
    assert_eq!(par_map(0..3, |n| n + 1), [1, 2, 3]);
}
