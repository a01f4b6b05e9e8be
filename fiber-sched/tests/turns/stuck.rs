//! A worker whose fiber does not bind does not keep other fibers from running.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::Fiber;
use fiber_sched::{Pool, Settings, Stuck, block_on};

use super::PATIENCE;

/// A pool, and the reports of its hook.
fn pool(workers: usize) -> (Pool, mpsc::Receiver<Stuck>) {
    pool_with(workers, Settings::new())
}

fn pool_with(workers: usize, settings: Settings) -> (Pool, mpsc::Receiver<Stuck>) {
    let (report, reports) = mpsc::channel();
    let hook = move |stuck: &Stuck| _ = report.send(*stuck);
    (Pool::builder().workers(workers).settings(settings.on_stuck(hook)).build(), reports)
}

/// A fiber that blocks its worker until something is sent to it.
fn blocks() -> (mpsc::Sender<()>, Fiber<bool>) {
    let (release, released) = mpsc::channel();
    (release, Fiber::lazy(move || released.recv_timeout(PATIENCE).is_ok()).boxed())
}

#[test]
fn a_fiber_from_outside_runs_beside_the_stuck_worker() {
    let (pool, _) = pool(1);
    let (release, blocks) = blocks();
    let stuck = pool.spawn(blocks);
    assert!(block_on(pool.spawn(Fiber::lazy(move || release.send(())))).unwrap().is_ok());
    assert!(block_on(stuck).unwrap());
}

#[test]
fn the_forks_of_a_stuck_fiber_run() {
    let (pool, _) = pool(1);
    let (release, blocks) = blocks();
    let releases = Fiber::lazy(move || release.send(()).unwrap());
    let fiber = releases.fork().bind(|_| blocks);
    assert!(block_on(pool.spawn(fiber)).unwrap());
}

#[test]
fn the_branch_that_a_stuck_fiber_has_lent_runs() {
    let (pool, _) = pool(1);
    let (release, blocks) = blocks();
    let releases = Fiber::lazy(move || release.send(()).unwrap());
    assert!(block_on(pool.spawn(blocks.zip(releases))).unwrap().0);
}

#[test]
fn a_timer_fires_while_the_only_worker_is_stuck() {
    let (pool, _) = pool(1);
    let (release, blocks) = blocks();
    let later = pool.spawn(Fiber::delay(Duration::from_millis(30)).map(move |()| release.send(())));
    assert!(block_on(pool.spawn(blocks)).unwrap());
    assert!(block_on(later).unwrap().is_ok());
}

#[test]
fn what_a_stuck_fiber_wakes_runs() {
    let (pool, _) = pool(1);
    let (release, blocks) = blocks();
    let (sender, woken) = mpsc::channel();
    let waits =
        Fiber::callback(move |resume| _ = sender.send(resume)).map(move |()| release.send(()).unwrap());
    let waits = pool.spawn(waits);
    let resume = woken.recv().unwrap();
    let wakes = Fiber::lazy(move || resume.success(())).bind(|_| blocks);
    assert!(block_on(pool.spawn(wakes)).unwrap());
    assert!(block_on(waits).is_success());
}

#[test]
fn the_fork_site_of_the_culprit_is_reported_once() {
    let (pool, reports) = pool(1);
    let (release, blocks) = blocks();
    let site = line!() + 1;
    let stuck = pool.spawn(blocks);
    assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    let is_of_culprit =
        |report: &Stuck| (report.fork_site.file(), report.fork_site.line()) == (file!(), site);
    assert!(is_of_culprit(&reports.recv_timeout(PATIENCE).unwrap()));
    assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    release.send(()).unwrap();
    assert!(block_on(stuck).unwrap());
    drop(pool);
    // On a busy machine, the operating system may interrupt another one for so long that it also seems stuck.
    assert!(!reports.try_iter().any(|report| is_of_culprit(&report)));
}

#[test]
fn as_many_run_as_before_when_the_stuck_worker_goes_on() {
    let (pool, _) = pool(1);
    for _ in 0..3 {
        let (release, blocks) = blocks();
        let stuck = pool.spawn(blocks);
        assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
        release.send(()).unwrap();
        assert!(block_on(stuck).unwrap());
        // The thread gives up its place when it looks for its next task.
        let start = Instant::now();
        while pool.metrics().may_run > 1 {
            assert!(start.elapsed() < PATIENCE, "the worker that goes on keeps the place of another one");
            thread::yield_now();
        }
    }
}

#[test]
fn a_fiber_with_slow_binds_lets_others_run_long_before_it_has_spent_its_budget() {
    // Stuck after a second, which no bind takes, however busy the machine is.
    let (pool, reports) = pool_with(1, Settings::new().quantum(Duration::from_millis(100)));
    let binds = Arc::new(AtomicUsize::new(0));
    let counter = binds.clone();
    // A thousand binds take ten seconds.
    let slow = Fiber::lazy(move || {
        thread::sleep(Duration::from_millis(10));
        counter.fetch_add(1, Ordering::Relaxed)
    })
    .repeat_while(|_| true);
    let slow = pool.spawn(slow);
    assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    assert!(binds.load(Ordering::Relaxed) < 1000);
    slow.cancel_now();
    assert!(block_on(slow).is_cancelled());
    drop(pool);
    // It binds, so it is not stuck.
    assert!(reports.try_recv().is_err());
}

/// Yields for ever.
fn endless() -> Fiber<()> {
    Fiber::iterate((), |()| Fiber::yield_now().map(ControlFlow::Continue)).boxed()
}

#[test]
fn all_forks_of_a_stuck_fiber_begin_though_none_of_them_ends() {
    let (pool, _) = pool(1);
    let context = pool.context().clone();
    let stuck = Fiber::lazy(move || {
        let (begins, begun) = mpsc::channel();
        let fork = |_| {
            let begins = begins.clone();
            context.spawn(Fiber::lazy(move || _ = begins.send(())).bind(|()| endless()))
        };
        let forks: Vec<_> = (0..100).map(fork).collect();
        let have_begun = forks.iter().all(|_| begun.recv_timeout(PATIENCE).is_ok());
        forks.iter().for_each(|fork| fork.cancel_now());
        have_begun
    });
    assert!(block_on(pool.spawn(stuck)).unwrap());
}

#[test]
fn a_fiber_that_was_stuck_goes_on_beside_those_that_run_in_its_place() {
    /// Some seconds. Without a limit, the operating system would at some point interrupt the other worker for so long that
    /// it would also seem stuck.
    const TURNS: usize = 10_000_000;
    let (pool, _) = pool(1);
    let (release, blocks) = blocks();
    let turns = Arc::new(AtomicUsize::new(0));
    let many = || {
        let turns = turns.clone();
        let step = move |()| match turns.fetch_add(1, Ordering::Relaxed) {
            TURNS.. => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        Fiber::iterate((), move |()| Fiber::yield_now().map(step.clone()))
    };
    let stuck = pool.spawn(blocks.bind(|_| Fiber::yield_now()));
    // Two, so that each finds the other one in the queue.
    let others = [pool.spawn(many()), pool.spawn(many())];
    assert!(block_on(pool.spawn(Fiber::lazy(move || release.send(()).unwrap()))).is_success());
    assert!(block_on(stuck).is_success());
    let turns = turns.load(Ordering::Relaxed);
    assert!(turns < TURNS, "its worker has no place, and sleeps with its task");
    others.iter().for_each(|other| other.cancel_now());
}

#[test]
fn a_timer_that_a_stuck_fiber_has_set_fires() {
    let (pool, _) = pool(1);
    // All workers have slept before, and know of no timer.
    assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    let context = pool.context().clone();
    let stuck = Fiber::lazy(move || {
        let (release, released) = mpsc::channel();
        let timer = Fiber::delay(Duration::from_millis(30)).map(move |()| release.send(()).unwrap());
        let timer = context.spawn_here(timer);
        let has_fired = released.recv_timeout(PATIENCE).is_ok();
        timer.cancel_now();
        has_fired
    });
    assert!(block_on(pool.spawn(stuck)).unwrap(), "only the stuck worker knows of the timer");
}

/// Waits for a task that another thread runs. `false`: its time may be over before.
fn waits_for_a_task(time: Duration) -> bool {
    let start = Instant::now();
    fiber_sched::scope(|s| {
        let (begin, begun) = mpsc::channel();
        let task = s.spawn(move || {
            begin.send(()).unwrap();
            thread::sleep(time);
        });
        begun.recv_timeout(PATIENCE).unwrap();
        let is_early = start.elapsed() < time / 2;
        task.join();
        is_early
    })
}

/// Work for others, so that they look for a worker that is stuck.
fn ticks() -> Fiber<()> {
    Fiber::delay(Duration::from_millis(1)).bind(|()| Fiber::defer(ticks)).boxed()
}

#[test]
fn a_computation_that_waits_for_its_tasks_is_not_stuck() {
    // Again with more time, if the operating system has interrupted a piece for too long.
    let mut units = (0..).map(|attempt| Duration::from_millis(2_u64.pow(attempt)));
    assert!(units.any(computes_in_pieces));
}

/// Stuck after 400 units, each piece is much shorter, and ends with a wait. `false`: one was longer, or had nothing to wait for.
fn computes_in_pieces(unit: Duration) -> bool {
    let (pool, reports) = pool_with(2, Settings::new().quantum(40 * unit));
    let _others = pool.spawn(ticks());
    let computes = Fiber::lazy(move || {
        (0..20).all(|_| {
            let start = Instant::now();
            let has_waited = waits_for_a_task(20 * unit);
            thread::sleep(10 * unit);
            has_waited && start.elapsed() < 100 * unit
        })
    });
    let site = line!() + 1;
    let computation = pool.spawn(computes);
    let are_short = block_on(computation).unwrap();
    let is_reported = reports.try_iter().any(|report| report.fork_site.line() == site);
    assert!(!are_short || !is_reported, "it splits all the time");
    are_short
}

#[test]
fn a_stuck_turn_that_waits_for_its_tasks_is_reported_once() {
    let (report, reports) = mpsc::channel();
    let count = Arc::new(AtomicUsize::new(0));
    let counts = count.clone();
    let site = Arc::new(AtomicU32::new(0));
    let culprit = site.clone();
    let hook = move |stuck: &Stuck| {
        // On a busy machine, the others may also seem stuck.
        if stuck.fork_site.line() == culprit.load(Ordering::Relaxed) {
            counts.fetch_add(1, Ordering::Relaxed);
            _ = report.send(());
        }
    };
    let pool = Pool::builder().workers(2).settings(Settings::new().on_stuck(hook)).build();
    let _others = pool.spawn(ticks());
    let computes = Fiber::lazy(move || {
        reports.recv_timeout(PATIENCE).unwrap();
        for _ in 0..5 {
            waits_for_a_task(Duration::from_millis(10));
            thread::sleep(Duration::from_millis(50));
        }
    });
    site.store(line!() + 1, Ordering::Relaxed);
    let computation = pool.spawn(computes);
    assert!(block_on(computation).is_success());
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

/// A hook that says that it was called, and waits until it is released.
fn slow_hook() -> (impl Fn(&Stuck) + Send + Sync + 'static, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (called, calls) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let released = Mutex::new(released);
    let hook = move |_: &Stuck| {
        called.send(()).unwrap();
        _ = released.lock().unwrap().recv_timeout(PATIENCE);
    };
    (hook, calls, release)
}

#[test]
fn the_only_worker_runs_others_after_its_stuck_turn_while_the_hook_takes_its_time() {
    let (hook, calls, release) = slow_hook();
    let pool = Pool::builder().workers(1).settings(Settings::new().on_stuck(hook)).build();
    let (end, blocks) = blocks();
    let stuck = pool.spawn(blocks);
    let _others = pool.spawn(ticks());
    calls.recv_timeout(PATIENCE).unwrap();
    end.send(()).unwrap();
    assert!(block_on(stuck).unwrap());
    let (runs, has_run) = mpsc::channel();
    let other = pool.spawn(Fiber::lazy(move || runs.send(()).unwrap()));
    assert!(
        has_run.recv_timeout(PATIENCE / 2).is_ok(),
        "the thread that calls the hook takes the only place"
    );
    release.send(()).unwrap();
    assert!(block_on(other).is_success());
}

#[test]
fn workers_are_woken_while_the_hook_takes_its_time() {
    let (hook, calls, release) = slow_hook();
    let pool = Pool::builder().workers(2).settings(Settings::new().on_stuck(hook)).build();
    let (end, blocks) = blocks();
    let forks = Fiber::success(()).fork().bind(|_| blocks);
    let stuck = pool.spawn(forks);
    calls.recv_timeout(PATIENCE).unwrap();
    let (runs, has_run) = mpsc::channel();
    let other = pool.spawn(Fiber::lazy(move || runs.send(()).unwrap()));
    assert!(
        has_run.recv_timeout(PATIENCE / 2).is_ok(),
        "the thread that calls the hook counts as a searcher"
    );
    release.send(()).unwrap();
    end.send(()).unwrap();
    assert!(block_on(stuck).unwrap());
    assert!(block_on(other).is_success());
}
