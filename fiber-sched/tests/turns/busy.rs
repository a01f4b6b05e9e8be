//! All workers are busy: fibers that have not started are not waited for, and fibers that a pool drops end.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use fiber_core::error::Abandoned;
use fiber_core::{Fiber, Outcome, Run, Scope};
use fiber_sched::{Pool, Shutdown, block_on};

use super::PATIENCE;

/// Keeps all workers busy until it is dropped.
struct Busy(Vec<Sender<()>>);

impl Busy {
    fn keep(pool: &Pool, workers: usize) -> Busy {
        let (releases, started): (Vec<_>, Vec<_>) = (0..workers).map(|_| keep_one(pool)).unzip();
        started.into_iter().for_each(|started| started.recv().unwrap());
        Busy(releases)
    }
}

/// Blocks a worker until the sender is dropped; the receiver is notified when it is blocked.
fn keep_one(pool: &Pool) -> (Sender<()>, Receiver<()>) {
    let (release, released) = mpsc::channel::<()>();
    let (start, started) = mpsc::channel();
    let block = Fiber::lazy(move || {
        start.send(()).unwrap();
        _ = released.recv();
    });
    drop(pool.spawn(block));
    (release, started)
}

/// Runs a fiber from outside while all workers are busy.
fn runs_beside_busy_workers<T: Send + 'static, R: Run<Out = T>>(fiber: Fiber<T, R>) -> Outcome<T> {
    let (sender, ended) = mpsc::channel();
    let pool = Pool::builder().workers(2).build();
    let busy = Busy::keep(&pool, 2);
    let thread = thread::spawn(move || {
        sender.send(pool.run(fiber)).unwrap();
        pool
    });
    let outcome = ended.recv_timeout(PATIENCE).expect("it waits for a worker");
    assert_eq!(busy.0.len(), 2);
    drop(busy);
    drop(thread.join().unwrap());
    outcome
}

#[test]
fn parallel_with_a_limit_of_ready_fibers() {
    for limit in [1, 3] {
        let fibers = (0..5_000).map(|n| Fiber::lazy(move || n));
        let values = runs_beside_busy_workers(Fiber::parallel(fibers).limit(limit)).unwrap();
        assert_eq!(values, (0..5_000).collect::<Vec<_>>());
    }
}

#[test]
fn the_cancel_of_an_unstarted_fork() {
    let cancel = Fiber::success(()).fork().bind(|child| child.cancel());
    assert!(runs_beside_busy_workers(cancel).is_success());
}

#[test]
fn the_end_of_a_fiber_with_an_unstarted_fork() {
    assert!(runs_beside_busy_workers(Fiber::success(()).fork().map(drop)).is_success());
}

#[test]
fn the_end_of_a_scope_with_an_unstarted_fork() {
    let scope = Fiber::scope(|scope: Scope| scope.fork(Fiber::success(())).map(drop));
    assert!(runs_beside_busy_workers(scope).is_success());
}

#[test]
fn the_join_of_an_unstarted_fork() {
    assert!(runs_beside_busy_workers(Fiber::success(1).fork().bind(|child| child.join())).is_success());
}

/// A fiber that yields after each of its long turns, and counts them. A turn sleeps, and leaves the core to the thread that
/// wakes the worker.
fn yield_for_ever(turns: Arc<AtomicU64>) -> Fiber<()> {
    const TURN: Duration = Duration::from_millis(1);
    let yields = move |()| {
        thread::sleep(TURN);
        turns.fetch_add(1, Ordering::Relaxed);
        Fiber::yield_now().map(ControlFlow::<(), ()>::Continue)
    };
    Fiber::iterate((), yields).boxed()
}

#[test]
fn fibers_from_outside_run_soon_beside_one_that_yields_after_long_turns() {
    const MANY: usize = 10;
    let pool = Pool::builder().workers(1).build();
    let turns = Arc::new(AtomicU64::new(0));
    let busy = pool.spawn(yield_for_ever(turns.clone()));
    // The number of its turns before the last of many fibers runs.
    let attempt = || {
        let before = turns.load(Ordering::Relaxed);
        let look = |_| {
            let turns = turns.clone();
            Fiber::lazy(move || turns.load(Ordering::Relaxed))
        };
        let handles = pool.spawn_all((0..MANY).map(look));
        let seen = handles.into_iter().map(|handle| block_on(handle).unwrap());
        seen.max().unwrap() - before
    };
    let attempts: Vec<u64> = (0..20).map(|_| attempt()).collect();
    // One or two, if the thread that wakes the worker is on time; at least one attempt has to be. About 20, if none does.
    assert!(attempts.iter().any(|turns| *turns < 4), "{attempts:?}");
    drop(busy);
}

#[test]
fn an_iterator_whose_drop_panics_lets_the_pool_end() {
    struct Bomb(u32);
    impl Iterator for Bomb {
        type Item = Fiber<()>;
        fn next(&mut self) -> Option<Fiber<()>> {
            self.0 = self.0.checked_sub(1)?;
            Some(Fiber::yield_now().boxed())
        }
    }
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("planned: in drop");
        }
    }
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || {
        let pool = Pool::builder().workers(2).build();
        let outcome = pool.run(Fiber::parallel(Bomb(3)).limit(2));
        drop(pool);
        sender.send(outcome).unwrap();
    });
    assert!(ended.recv_timeout(PATIENCE).expect("it ends").is_panicked());
}

#[test]
fn a_sleep_in_a_finalizer_does_not_succeed_after_the_shutdown_has_given_up() {
    let (slept, was_slept) = mpsc::channel();
    let (start, started) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let pool = Pool::builder().workers(1).build();
    let finalizer = Fiber::lazy(move || _ = released.recv())
        .bind(|()| Fiber::delay(Duration::from_secs(3600)))
        .map(move |()| slept.send(()).unwrap());
    let spin = move |()| {
        _ = start.send(());
        Fiber::success(ControlFlow::<()>::Continue(()))
    };
    let handle = pool.spawn(Fiber::iterate((), spin).ensure(finalizer));
    started.recv().unwrap();
    assert!(pool.shutdown(Shutdown::within(Duration::from_millis(10))).is_err());
    drop(release);
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || sender.send(fiber_sched::block_on(handle)));
    let outcome = ended.recv_timeout(PATIENCE).expect("it ends");
    assert!(outcome.failure().expect("a failure").is::<Abandoned>());
    assert!(was_slept.try_recv().is_err());
}
