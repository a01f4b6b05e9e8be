//! Storms: many fibers, many threads, many repetitions. They look for hangs and lost outcomes.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use fiber_core::{Either, Fiber, Handle, Outcome, Resume};
use fiber_sched::{CurrentThread, Pool, Shutdown, block_on};

/// Enough rounds for rare interleavings; in debug builds, enough to see that the test works.
const ROUNDS: usize = if cfg!(debug_assertions) { 200 } else { 2_000 };

fn sum_of_leaves(depth: u32) -> Fiber<u64> {
    if depth == 0 {
        return Fiber::success(1).boxed();
    }
    Fiber::defer(move || {
        let left = sum_of_leaves(depth - 1).fork();
        left.bind(move |left| {
            sum_of_leaves(depth - 1).bind(move |right| left.join().map(move |left| left + right))
        })
    })
    .boxed()
}

#[test]
fn a_tree_of_forks_is_joined() {
    for workers in [1, 2, 4] {
        let pool = Pool::builder().workers(workers).build();
        let depth = if cfg!(debug_assertions) { 10 } else { 15 };
        assert_eq!(pool.run(Fiber::yield_now().bind(move |()| sum_of_leaves(depth))).unwrap(), 1 << depth);
    }
}

#[test]
fn fibers_spawned_by_many_threads_all_end() {
    let pool = Pool::builder().workers(2).build();
    let count = Arc::new(AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    let count = count.clone();
                    let fiber = Fiber::yield_now().map(move |()| _ = count.fetch_add(1, Ordering::Relaxed));
                    assert!(block_on(pool.spawn(fiber)).is_success());
                }
            });
        }
    });
    assert_eq!(count.load(Ordering::Relaxed), 4 * ROUNDS);
}

/// Workers fall asleep between two spawns, which is when a wake-up could be lost.
#[test]
fn a_spawn_wakes_a_worker_that_is_about_to_sleep() {
    let pool = Pool::builder().workers(4).build();
    for round in 0..ROUNDS {
        // Around the time for which a worker searches.
        let pause = Duration::from_micros(round as u64 % 60);
        let start = std::time::Instant::now();
        while start.elapsed() < pause {
            std::hint::spin_loop();
        }
        assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    }
}

#[test]
fn a_storm_of_cancellations_from_foreign_threads_ends_every_fiber() {
    let pool = Pool::builder().workers(2).build();
    for _ in 0..ROUNDS / 20 {
        let handles: Vec<Handle<()>> = (0..50)
            .map(|n| match n % 5 {
                0 => pool.spawn(Fiber::never().boxed()),
                1 => pool.spawn(Fiber::delay(Duration::from_secs(3600)).boxed()),
                2 => pool.spawn(Fiber::never().zip(Fiber::<()>::never()).map(|_: ((), ())| ()).boxed()),
                3 => {
                    pool.spawn(Fiber::iterate((), |()| Fiber::yield_now().map(ControlFlow::Continue)).boxed())
                }
                _ => pool.spawn(
                    Fiber::never().ensure(Fiber::yield_now()).timeout(Duration::from_secs(60)).boxed(),
                ),
            })
            .collect();
        thread::scope(|scope| {
            let (some, others) = handles.split_at(25);
            for part in [some, others, some] {
                scope.spawn(move || part.iter().for_each(Handle::cancel_now));
            }
        });
        assert!(handles.into_iter().all(|handle| block_on(handle).is_cancelled()));
    }
}

#[test]
fn a_resume_from_a_foreign_thread_races_with_a_cancel() {
    let pool = Pool::builder().workers(2).build();
    let (sender, receiver) = mpsc::channel::<Resume<u32>>();
    let resumer = thread::spawn(move || receiver.into_iter().for_each(|resume| resume.success(1)));
    let mut cancelled = 0;
    for _ in 0..ROUNDS {
        let sender = sender.clone();
        let handle = pool.spawn(Fiber::callback(move |resume| sender.send(resume).unwrap()));
        handle.cancel_now();
        match block_on(handle) {
            Outcome::Success(value) => assert_eq!(value, 1),
            Outcome::Cancelled => cancelled += 1,
            other => panic!("unexpected: {other:?}"),
        }
    }
    drop(sender);
    resumer.join().unwrap();
    assert!(cancelled <= ROUNDS);
}

#[test]
fn timers_race_with_their_cancellation() {
    let pool = Pool::builder().workers(2).build();
    for round in 0..ROUNDS {
        let limit = Duration::from_micros(round as u64 % 150);
        let fiber = Fiber::delay(Duration::from_micros(75)).timeout_option(limit);
        assert!(pool.run(fiber).is_success());
    }
}

#[test]
fn pools_start_and_end_with_fibers_of_all_kinds() {
    for round in 0..ROUNDS / 10 {
        let pool = Pool::builder().workers(1 + round % 3).build();
        let ended = Arc::new(AtomicUsize::new(0));
        let count = || {
            let ended = ended.clone();
            Fiber::yield_now().map(move |()| _ = ended.fetch_add(1, Ordering::Relaxed))
        };
        for _ in 0..3 {
            drop(pool.context().spawn_here(Fiber::<()>::never().ensure(count())));
            drop(pool.context().spawn_here(Fiber::delay(Duration::from_micros(50)).ensure(count())));
            drop(pool.context().spawn_here(Fiber::blocking(|| ()).ensure(count())));
            drop(pool.spawn(Fiber::yield_now().fork().bind(|child| child.join())));
        }
        drop(pool);
        assert_eq!(ended.load(Ordering::Relaxed), 9);
    }
}

#[test]
fn foreign_threads_use_a_pool_while_it_ends() {
    for round in 0..ROUNDS / 10 {
        let pool = Pool::builder().workers(2).build();
        let context = pool.context().clone();
        let (sender, receiver) = mpsc::channel::<Resume<()>>();
        let resumer = thread::spawn(move || receiver.into_iter().for_each(|resume| resume.success(())));
        let spawner = thread::spawn(move || {
            for n in 0..50 {
                let sender = sender.clone();
                let fiber = Fiber::callback(move |resume| sender.send(resume).unwrap());
                let handle = if n % 2 == 0 { context.spawn(fiber) } else { context.spawn_here(fiber) };
                _ = block_on(handle);
            }
        });
        (0..round % 50).for_each(|_| thread::yield_now());
        drop(pool);
        spawner.join().unwrap();
        resumer.join().unwrap();
    }
}

#[test]
fn foreign_threads_wake_the_current_thread() {
    let (sender, receiver) = mpsc::channel::<Resume<()>>();
    let resumer = thread::spawn(move || receiver.into_iter().for_each(|resume| resume.success(())));
    let scheduler = CurrentThread::new();
    for _ in 0..ROUNDS {
        let wait = |sender: mpsc::Sender<_>| Fiber::callback(move |resume| sender.send(resume).unwrap());
        let both = wait(sender.clone()).zip(wait(sender.clone()).timeout(Duration::from_secs(60)));
        assert!(scheduler.run(both).is_success());
    }
    drop(sender);
    resumer.join().unwrap();
}

#[test]
fn two_workers_hand_work_to_each_other() {
    let pool = Pool::builder().workers(2).build();
    for _ in 0..ROUNDS {
        let met = Arc::new(AtomicUsize::new(0));
        let meet = || {
            let met = met.clone();
            Fiber::lazy(move || {
                met.fetch_add(1, Ordering::AcqRel);
                while met.load(Ordering::Acquire) < 2 {
                    thread::yield_now();
                }
            })
        };
        let (one, other) = (pool.spawn(meet()), pool.spawn(meet()));
        assert!(block_on(one).is_success() && block_on(other).is_success());
    }
}

/// One worker moves tasks out of the injector while the others fall asleep; each task needs its own worker.
#[test]
fn tasks_that_are_moved_between_queues_find_their_workers() {
    const WORKERS: usize = 3;
    let pool = Pool::builder().workers(WORKERS).build();
    for _ in 0..ROUNDS {
        let arrived = Arc::new(AtomicUsize::new(0));
        let handles: Vec<_> = (0..WORKERS)
            .map(|_| {
                let arrived = arrived.clone();
                pool.spawn(Fiber::yield_now().map(move |()| {
                    arrived.fetch_add(1, Ordering::AcqRel);
                    while arrived.load(Ordering::Acquire) < WORKERS {
                        thread::yield_now();
                    }
                }))
            })
            .collect();
        assert!(handles.into_iter().all(|handle| block_on(handle).is_success()));
    }
}

/// Fails a test that would hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// This many zips of ready values.
fn sum_of_zips(count: u64) -> Fiber<u64> {
    let step = move |(done, sum)| {
        let zip = Fiber::success(done).zip(Fiber::success(sum));
        // Other workers get tasks, and search afterwards.
        let pause = if done % 1_000 == 0 { Fiber::yield_now().boxed() } else { Fiber::success(()).boxed() };
        pause.bind(|()| zip).map(move |(done, sum)| match done {
            _ if done == count => ControlFlow::Break(sum),
            _ => ControlFlow::Continue((done + 1, sum + done)),
        })
    };
    Fiber::iterate((0, 0), step).boxed()
}

#[test]
fn branches_are_taken_back_while_thieves_look_for_them() {
    let count = 125 * ROUNDS as u64;
    for workers in [2, 4] {
        let pool = Pool::builder().workers(workers).build();
        let handles: Vec<_> = (0..workers - 1).map(|_| pool.spawn(sum_of_zips(count))).collect();
        let sum = pool.run(sum_of_zips(count)).unwrap();
        assert_eq!(sum, count * (count - 1) / 2);
        assert!(handles.into_iter().all(|handle| block_on(handle).unwrap() == sum));
        pool.shutdown(Shutdown::within(PATIENCE)).unwrap();
    }
}

/// Numbers that are the same in every run.
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Some computation that the compiler cannot optimise away.
fn compute(rounds: u64, value: u64) -> u64 {
    (0..rounds).for_each(|round| _ = std::hint::black_box(round));
    value
}

/// A program of everything that has branches, and its value.
fn random_nest(draws: &mut Draws, depth: u32) -> (Fiber<u64>, u64) {
    let value = draws.below(1_000);
    if depth == 0 {
        let rounds = draws.below(20).pow(4);
        let leaf = match draws.below(4) {
            0 => Fiber::yield_now().map(move |()| value).boxed(),
            1 => Fiber::delay(Duration::from_micros(draws.below(100))).map(move |()| value).boxed(),
            2 => Fiber::lazy(move || compute(rounds, value)).boxed(),
            _ => Fiber::success(value).boxed(),
        };
        return (leaf, value);
    }
    let (one, one_value) = random_nest(draws, depth - 1);
    let never = || match value % 3 {
        0 => Fiber::delay(Duration::from_secs(3600)).map(|()| 0).boxed(),
        1 => Fiber::iterate((), |()| Fiber::success(ControlFlow::Continue(()))).boxed(),
        _ => Fiber::never().ensure(Fiber::yield_now()).boxed(),
    };
    match draws.below(7) {
        0 => (one.race(never()).map(Either::into_inner).boxed(), one_value),
        1 => (never().race(one).map(Either::into_inner).boxed(), one_value),
        2 => (one.timeout(Duration::from_secs(3600)).boxed(), one_value),
        3 => {
            let timeout = never().timeout_to(Duration::from_micros(value), one);
            (timeout.boxed(), one_value)
        }
        4 => (one.fork().bind(Handle::join).boxed(), one_value),
        _ => {
            let (other, other_value) = random_nest(draws, depth - 1);
            (one.zip(other).map(|(one, other)| one + other).boxed(), one_value + other_value)
        }
    }
}

#[test]
fn random_nests_of_branches_have_their_values() {
    for workers in [1, 4] {
        let pool = Pool::builder().workers(workers).build();
        let mut draws = Draws(workers as u64);
        for round in 0..ROUNDS / 4 {
            let (fiber, value) = random_nest(&mut draws, 2 + round as u32 % 6);
            let outcome = if round % 2 == 0 { pool.run(fiber) } else { block_on(pool.spawn(fiber)) };
            assert_eq!(outcome.unwrap(), value, "round {round}");
        }
        pool.shutdown(Shutdown::within(PATIENCE)).unwrap();
    }
}
