//! The end of a pool.

use std::cell::{Cell, OnceCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::{Error, Fiber, Resume};
use fiber_sched::{Pool, Settings, Shutdown, block_on};

const LONG: Duration = Duration::from_secs(3600);

/// The number of threads of this process whose names begin with this. Linux keeps 15 bytes of a name.
#[cfg(target_os = "linux")]
fn threads_named(name: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    // A thread may end while the list is read.
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|thread| thread.starts_with(name)).count()
}

/// Waits for an effect of another thread.
fn eventually(is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < end, "it does not happen");
        thread::yield_now();
    }
}

#[test]
fn dropping_the_pool_ends_sleeping_fibers_and_runs_their_finalizers() {
    let pool = Pool::builder().workers(2).build();
    let finalized = Arc::new(AtomicUsize::new(0));
    let handles: Vec<_> = (0..100)
        .map(|_| {
            let finalized = finalized.clone();
            let finalizer = Fiber::lazy(move || _ = finalized.fetch_add(1, Ordering::Relaxed));
            pool.context().spawn_here(Fiber::delay(LONG).ensure(finalizer))
        })
        .collect();
    drop(pool);
    assert_eq!(finalized.load(Ordering::Relaxed), 100);
    assert!(handles.into_iter().all(|handle| handle.try_outcome().unwrap().is_cancelled()));
}

#[test]
fn dropping_the_pool_waits_for_finalizers_that_wait() {
    let pool = Pool::builder().workers(2).build();
    let finalized = Arc::new(AtomicUsize::new(0));
    for _ in 0..20 {
        let finalized = finalized.clone();
        let (one, other) = (Fiber::delay(Duration::from_millis(2)), Fiber::blocking(|| ()));
        let finalizer = one
            .zip(other)
            .bind(|_| Fiber::yield_now())
            .map(move |()| _ = finalized.fetch_add(1, Ordering::Relaxed));
        drop(pool.context().spawn_here(Fiber::<()>::never().ensure(finalizer)));
    }
    drop(pool);
    assert_eq!(finalized.load(Ordering::Relaxed), 20);
}

/// A thread that is joined has dropped its thread-local values.
#[test]
fn dropping_the_pool_joins_all_threads() {
    const WORKERS: usize = 3;
    struct CountsItsDrop(Arc<AtomicUsize>);
    impl Drop for CountsItsDrop {
        fn drop(&mut self) {
            // Long enough to notice a drop of the pool that does not wait.
            (0..1_000).for_each(|_| thread::yield_now());
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    thread_local! {
        static MARK: OnceCell<CountsItsDrop> = const { OnceCell::new() };
    }
    let pool = Pool::builder().workers(WORKERS).name("joined").build();
    let dropped = Arc::new(AtomicUsize::new(0));
    let barrier = Arc::new(Barrier::new(WORKERS + 1));
    let mark = || {
        let (dropped, barrier) = (dropped.clone(), barrier.clone());
        move || {
            MARK.with(|mark| _ = mark.set(CountsItsDrop(dropped)));
            barrier.wait();
        }
    };
    assert!(pool.run(Fiber::delay(Duration::from_millis(1))).is_success());
    let call = pool.context().spawn_here(Fiber::blocking(mark()));
    (0..WORKERS).for_each(|_| drop(pool.spawn(Fiber::lazy(mark()))));
    assert!(block_on(call).is_success());
    drop(pool);
    assert_eq!(dropped.load(Ordering::Relaxed), WORKERS + 1);
    // The list of threads may lag behind.
    #[cfg(target_os = "linux")]
    eventually(|| threads_named("joined") == 0);
}

#[test]
fn dropping_an_unused_pool_ends() {
    for workers in 1..=4 {
        drop(Pool::builder().workers(workers).build());
    }
}

#[test]
fn dropping_the_pool_ends_an_endless_loop() {
    let pool = Pool::builder().workers(1).build();
    let forever = Fiber::iterate((), |()| Fiber::success(std::ops::ControlFlow::<(), ()>::Continue(())));
    let handle = pool.spawn(forever);
    assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    drop(pool);
    assert!(block_on(handle).is_cancelled());
}

#[test]
fn a_fiber_that_owns_the_last_pool_may_drop_it_on_a_worker() {
    let pool = Arc::new(Pool::builder().workers(1).name("last-owner").build());
    let (sender, receiver) = mpsc::channel::<Resume<()>>();
    let owned = pool.clone();
    let wait = Fiber::callback(move |resume| sender.send(resume).unwrap());
    let handle = pool.spawn(wait.uncancelable().map(move |()| drop(owned)));
    let resume = receiver.recv().unwrap();
    drop(pool);
    resume.success(());
    // Not cancelled: the function that drops the pool is the last step.
    assert!(block_on(handle).is_success());
    #[cfg(target_os = "linux")]
    eventually(|| threads_named("last-owner") == 0);
}

/// It ends on the thread that cancels it, which would wait for it.
#[test]
fn a_fiber_that_owns_the_last_pool_and_has_not_started_may_be_cancelled() {
    let settings = Settings::new().quantum(LONG); // so that no other thread starts it
    let pool = Arc::new(Pool::builder().workers(1).name("last-unrun").settings(settings).build());
    let (begin, begun) = mpsc::channel();
    let (end, ends) = mpsc::channel::<()>();
    let _busy = pool.spawn(Fiber::lazy(move || {
        begin.send(()).unwrap();
        _ = ends.recv();
    }));
    begun.recv().unwrap();
    let owned = pool.clone();
    let owner = pool.spawn(Fiber::lazy(move || drop(owned)));
    drop(pool);
    let (cancelled, is_cancelled) = mpsc::channel();
    thread::spawn(move || {
        owner.cancel_now();
        cancelled.send(owner.is_finished()).unwrap();
    });
    assert_eq!(is_cancelled.recv_timeout(Duration::from_secs(20)), Ok(true));
    drop(end);
    #[cfg(target_os = "linux")]
    eventually(|| threads_named("last-unrun") == 0);
}

#[test]
fn the_pool_may_be_dropped_on_a_blocking_thread_of_its_own() {
    let pool = Arc::new(Pool::builder().workers(1).name("last-block").build());
    let (sender, receiver) = mpsc::channel::<()>();
    let owned = pool.clone();
    let has_dropped = Arc::new(AtomicBool::new(false));
    let drops = has_dropped.clone();
    let handle = pool.context().spawn_here(Fiber::blocking(move || {
        receiver.recv().unwrap();
        drop(owned);
        drops.store(true, Ordering::Release);
    }));
    drop(pool);
    sender.send(()).unwrap();
    // The call was not interrupted, but the fiber may have been.
    assert!(!block_on(handle).is_panicked());
    eventually(|| has_dropped.load(Ordering::Acquire));
    #[cfg(target_os = "linux")]
    eventually(|| threads_named("last-block") == 0);
}

#[test]
fn the_pool_may_be_dropped_in_its_own_run() {
    let pool = Arc::new(std::sync::Mutex::new(Some(Pool::builder().workers(1).build())));
    let context = pool.lock().unwrap().as_ref().unwrap().context().clone();
    let inner = pool.clone();
    let handle = context.spawn(Fiber::lazy(move || drop(inner.lock().unwrap().take())));
    assert!(block_on(handle).is_success());
}

#[test]
fn a_pool_whose_root_was_closed_by_others_may_be_dropped() {
    let pool = Pool::builder().workers(1).build();
    let handle = pool.context().spawn_here(Fiber::<()>::never());
    assert!(pool.context().close(|| ()));
    drop(pool);
    // Either its cancellation came first, or the stop.
    assert!(!block_on(handle).is_success());
}

#[test]
fn a_callback_that_a_worker_drops_at_its_very_end_does_not_hang() {
    thread_local! {
        static KEPT: Cell<Option<Resume<()>>> = const { Cell::new(None) };
    }
    let pool = Pool::builder().workers(1).build();
    let (begun, begins) = mpsc::channel();
    let wait = Fiber::callback(move |resume| {
        KEPT.set(Some(resume));
        begun.send(()).unwrap();
    });
    let handle = pool.spawn(wait.uncancelable());
    begins.recv().unwrap();
    // The worker ends after the stop, and then drops its thread-local values.
    assert!(pool.shutdown(Shutdown::within(Duration::from_millis(1))).is_err());
    let (end, ends) = mpsc::channel();
    thread::spawn(move || end.send(block_on(handle)));
    assert!(!ends.recv_timeout(Duration::from_secs(20)).unwrap().is_success());
}

#[test]
fn a_callback_after_the_end_does_not_hang() {
    let pool = Pool::builder().workers(1).build();
    let (sender, receiver) = mpsc::channel::<Resume<()>>();
    let wait = Fiber::callback(move |resume| sender.send(resume).unwrap()).uncancelable();
    let handle = pool.context().spawn_here(wait);
    assert!(pool.shutdown(Shutdown::within(Duration::from_millis(1))).is_err());
    // Its task is dropped, and with it the fiber.
    receiver.recv().unwrap().success(());
    assert!(block_on(handle).is_failure());
}

#[test]
fn a_chain_of_a_hundred_thousand_stragglers_is_abandoned_without_recursion() {
    const LENGTH: usize = 100_000;
    let pool = Pool::builder().workers(1).build();
    let (sender, receiver) = mpsc::channel::<Resume<()>>();
    let mut last =
        pool.context().spawn_here(Fiber::callback(move |resume| sender.send(resume).unwrap()).uncancelable());
    for _ in 0..LENGTH {
        last = pool.context().spawn_here(last.join().uncancelable());
    }
    assert!(pool.shutdown(Shutdown::within(Duration::ZERO)).is_err());
    receiver.recv().unwrap().success(());
    assert!(block_on(last).is_failure());
}

#[test]
fn a_shutdown_says_that_a_finalizer_hangs() {
    let pool = Pool::builder().workers(1).name("hangs").build();
    let (begun, begins) = mpsc::channel();
    let finalizer = Fiber::lazy(move || begun.send(()).unwrap()).bind(|()| Fiber::never());
    let line = line!() + 1;
    let hanging = pool.context().spawn_here(Fiber::<()>::never().ensure(finalizer).named("flushes"));
    hanging.cancel_now();
    begins.recv().unwrap();
    eventually(|| pool.dump().to_string().contains("(wait 2)"));
    let start = Instant::now();
    let unfinished = pool.shutdown(Shutdown::within(Duration::from_millis(5))).unwrap_err();
    assert!(start.elapsed() >= Duration::from_millis(5));
    assert!(!hanging.is_finished());
    let text = unfinished.dump().fibers().next().unwrap().to_string();
    let site = format!("fiber 0 \"flushes\" (forked at {}:{}) waits for nothing", file!(), line);
    assert!(text.starts_with(&site), "{text}");
    assert!(text.ends_with(" (wait 2), cancelled, in an uncancelable region"), "{text}");
    #[cfg(target_os = "linux")]
    eventually(|| threads_named("hangs") == 0);
}

#[test]
fn a_shutdown_with_a_limit_does_not_wait_for_a_thread_that_hangs() {
    let pool = Pool::builder().workers(1).name("stuck").build();
    let context = pool.context().clone();
    let (release, wait) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel();
    let hanging = pool.spawn(Fiber::lazy(move || {
        begun.send(context.spawn(Fiber::success(()))).unwrap();
        wait.recv().ok();
    }));
    let queued_inside = begins.recv().unwrap();
    let queued_outside = pool.spawn(Fiber::success(()));
    let unfinished = pool.shutdown(Shutdown::within(Duration::from_millis(5))).unwrap_err();
    let fibers: Vec<String> = unfinished.dump().fibers().map(|fiber| fiber.id()).collect();
    assert_eq!(fibers, ["0"]);
    assert!(unfinished.to_string().ends_with("runs, or is about to, cancelled"), "{unfinished}");
    assert!(unfinished.threads().iter().all(|thread| thread.starts_with("stuck-worker-")), "{unfinished}");
    // On a busy machine, another worker may have run them in place of the one that hangs.
    assert!([queued_inside, queued_outside].into_iter().all(|queued| !block_on(queued).is_panicked()));
    drop(release);
    assert!(block_on(hanging).is_success());
}

#[test]
fn a_shutdown_with_a_limit_stops_a_loop_that_cannot_be_cancelled() {
    let pool = Pool::builder().workers(1).name("unstoppable").build();
    let forever = Fiber::iterate((), |()| Fiber::success(std::ops::ControlFlow::<(), ()>::Continue(())));
    let handle = pool.spawn(forever.uncancelable());
    assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    _ = pool.shutdown(Shutdown::within(Duration::from_millis(5)));
    assert!(!block_on(handle).is_success());
    #[cfg(target_os = "linux")]
    eventually(|| threads_named("unstoppable") == 0);
}

#[test]
fn a_shutdown_names_the_fiber_whose_blocking_call_has_not_returned() {
    let pool = Pool::builder().workers(1).build();
    let (release, wait) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel();
    let line = line!() + 1;
    let calling = pool.context().spawn_here(
        Fiber::blocking(move || {
            begun.send(()).unwrap();
            wait.recv().ok();
        })
        .named("reads"),
    );
    begins.recv().unwrap();
    calling.cancel_now();
    eventually(|| pool.dump().is_empty());
    assert!(block_on(calling).is_cancelled());
    let unfinished = pool.shutdown(Shutdown::within(Duration::from_millis(5))).unwrap_err();
    assert!(unfinished.dump().is_empty());
    let caller = format!("fiber 0 \"reads\" (forked at {}:{line})", file!());
    assert_eq!(unfinished.blocking_calls(), std::slice::from_ref(&caller));
    let text = unfinished.to_string();
    assert!(text.ends_with(&format!("\n  a blocking call of {caller} has not returned")), "{text}");
    drop(release);
}

#[test]
fn a_drain_lets_fibers_end_by_themselves_and_lets_them_spawn_others() {
    let pool = Pool::builder().workers(2).build();
    let context = pool.context().clone();
    let (sender, receiver) = mpsc::channel();
    let later = || Fiber::delay(Duration::from_millis(5)).zip(Fiber::blocking(|| ())).map(drop);
    let spawns = later().bind(move |()| {
        sender.send(context.spawn(later())).unwrap();
        later().fork().bind(|child| child.join())
    });
    let first = pool.context().spawn_here(spawns);
    let context = pool.context().clone();
    pool.shutdown(Shutdown::within(LONG).after_draining(LONG)).unwrap();
    assert!(first.try_outcome().unwrap().is_success());
    assert!(receiver.recv().unwrap().try_outcome().unwrap().is_success());
    assert!(block_on(context.spawn(Fiber::success(()))).is_cancelled());
}

#[test]
fn a_drain_of_an_idle_pool_takes_no_time() {
    let pool = Pool::builder().workers(2).build();
    assert!(pool.run(Fiber::yield_now()).is_success());
    pool.shutdown(Shutdown::within(LONG).after_draining(LONG)).unwrap();
}

#[test]
fn what_a_drain_has_not_ended_is_cancelled() {
    const DRAIN: Duration = Duration::from_millis(5);
    let pool = Pool::builder().workers(1).build();
    let finalized = Arc::new(AtomicBool::new(false));
    let finalizes = finalized.clone();
    let finalizer = Fiber::delay(DRAIN).map(move |()| finalizes.store(true, Ordering::Relaxed));
    let endless = pool.context().spawn_here(Fiber::<()>::never().ensure(finalizer));
    let start = Instant::now();
    pool.shutdown(Shutdown::within(LONG).after_draining(DRAIN)).unwrap();
    assert!(start.elapsed() >= 2 * DRAIN);
    assert!(endless.try_outcome().unwrap().is_cancelled() && finalized.load(Ordering::Relaxed));
}

#[test]
fn a_shutdown_in_a_fiber_of_the_pool_goes_on_in_the_background() {
    let pool = Pool::builder().workers(1).name("background").build();
    let context = pool.context().clone();
    let other = pool.context().spawn_here(Fiber::<()>::never());
    let shuts_down =
        Fiber::lazy(move || pool.shutdown(Shutdown::within(LONG).after_draining(Duration::from_millis(5))));
    let caller = context.spawn(shuts_down.named("caller"));
    let unfinished = block_on(caller).unwrap().unwrap_err();
    assert!(unfinished.dump().fibers().any(|fiber| fiber.name() == Some("caller")), "{unfinished}");
    assert!(block_on(other).is_cancelled());
    #[cfg(target_os = "linux")]
    eventually(|| threads_named("background") == 0);
}

#[test]
fn a_shutdown_says_that_all_has_ended() {
    let pool = Pool::builder().workers(2).build();
    let handle = pool.spawn(Fiber::delay(LONG));
    pool.shutdown(Shutdown::within(LONG)).unwrap();
    assert!(block_on(handle).is_cancelled());
}

#[test]
fn a_thread_local_value_of_a_blocking_thread_may_own_the_last_pool() {
    thread_local! {
        static OWNED: OnceCell<Arc<Pool>> = const { OnceCell::new() };
    }
    let keep_alive = Duration::from_millis(1);
    let pool = Arc::new(
        Pool::builder().workers(1).settings(Settings::new().blocking_keep_alive(keep_alive)).build(),
    );
    let owned = pool.clone();
    let context = pool.context().clone();
    assert!(pool.run(Fiber::blocking(move || _ = OWNED.with(|cell| cell.set(owned)))).is_success());
    drop(pool);
    eventually(|| context.is_cancelled());
    assert!(!block_on(context.spawn(Fiber::success(1))).is_success());
}

#[test]
fn threads_learn_that_nobody_waits_although_the_shutdown_is_over_before_their_cancelled_fibers() {
    let pool = Pool::builder().workers(1).build();
    let ((begin, begun), (tell, told)) = (mpsc::channel(), mpsc::channel());
    let (begins, tells) = (begin.clone(), tell.clone());
    pool.spawn(Fiber::<()>::callback(move |resume| {
        let waits = move || {
            begins.send(()).unwrap();
            eventually(|| resume.is_closed());
            _ = tells.send("a callback");
        };
        thread::spawn(waits);
    }));
    let (begins, tells) = (begin.clone(), tell);
    pool.spawn(Fiber::blocking_with(move |token| {
        begins.send(()).unwrap();
        eventually(|| token.is_cancelled());
        _ = tells.send("a blocking call");
        Ok::<_, Error>(())
    }));
    (0..2).for_each(|_| begun.recv().unwrap());
    // The only worker cannot end them.
    let (end, ended) = mpsc::channel::<()>();
    pool.spawn(Fiber::lazy(move || {
        begin.send(()).unwrap();
        _ = ended.recv();
    }));
    begun.recv().unwrap();
    pool.shutdown(Shutdown::within(Duration::from_millis(1))).unwrap_err();
    let mut told = [told.recv(), told.recv()].map(|told| told.expect("it is told"));
    told.sort_unstable();
    assert_eq!(told, ["a blocking call", "a callback"]);
    drop(end);
}

#[test]
fn a_thread_local_value_that_is_dropped_for_long_does_not_prolong_the_shutdown() {
    struct Slow(mpsc::Receiver<()>);
    impl Drop for Slow {
        fn drop(&mut self) {
            _ = self.0.recv();
        }
    }
    thread_local! {
        static SLOW: OnceCell<Slow> = const { OnceCell::new() };
    }
    let (release, released) = mpsc::channel();
    let pool = Pool::builder().workers(1).name("drops").build();
    let call = Fiber::blocking(move || SLOW.with(|slow| assert!(slow.set(Slow(released)).is_ok())));
    pool.run(call).unwrap();
    let (report, reports) = mpsc::channel();
    let ends = thread::spawn(move || report.send(pool.shutdown(Shutdown::within(Duration::from_millis(20)))));
    let result = reports.recv_timeout(Duration::from_secs(20));
    drop(release);
    ends.join().unwrap().unwrap();
    let unfinished = result.expect("it waits for no longer than it may").unwrap_err();
    assert!(unfinished.dump().is_empty() && unfinished.threads().len() == 1, "{unfinished}");
    assert!(unfinished.to_string().contains("these threads have not ended: drops-"), "{unfinished}");
}
