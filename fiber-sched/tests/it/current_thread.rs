//! Fibers on the calling thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use fiber_core::Fiber;
use fiber_sched::CurrentThread;

#[test]
fn everything_runs_on_the_calling_thread() {
    let scheduler = CurrentThread::new();
    let here = thread::current().id();
    let where_am_i = || Fiber::yield_now().map(|()| thread::current().id());
    let after_sleep = Fiber::delay(Duration::from_millis(1)).bind(move |()| where_am_i());
    let after_blocking = Fiber::blocking(|| ()).bind(move |()| where_am_i());
    assert_eq!(scheduler.run(after_sleep.zip(after_blocking)).unwrap(), (here, here));
}

#[test]
fn a_spawned_fiber_runs_only_while_run_is_called() {
    let scheduler = CurrentThread::new();
    let has_run = Arc::new(AtomicBool::new(false));
    let runs = has_run.clone();
    let handle = scheduler.spawn(Fiber::lazy(move || runs.store(true, Ordering::Relaxed)));
    assert!(!has_run.load(Ordering::Relaxed));
    assert!(scheduler.run(Fiber::yield_now()).is_success());
    assert!(has_run.load(Ordering::Relaxed) && handle.is_finished());
}

#[test]
fn a_fork_that_is_joined_before_it_has_started_leaves_no_task_behind() {
    let scheduler = CurrentThread::new();
    let name: Arc<str> = "child".into();
    let weak = Arc::downgrade(&name);
    let joined = Fiber::success(1).named(name).fork().bind(|child| child.join());
    // The cell of the child has its name, and a task would keep the cell.
    assert_eq!(scheduler.run(joined.map(move |_| weak.strong_count())).unwrap(), 0);
}

#[test]
fn another_thread_may_spawn_in_its_context() {
    let scheduler = CurrentThread::new();
    let context = scheduler.context().clone();
    let handle = thread::spawn(move || context.spawn(Fiber::lazy(|| thread::current().id()))).join().unwrap();
    assert_eq!(scheduler.run(handle.join()).unwrap(), thread::current().id());
}

#[test]
fn nested_run_panics() {
    thread_local! {
        static SCHEDULER: CurrentThread = CurrentThread::new();
    }
    let nested = Fiber::lazy(|| SCHEDULER.with(|scheduler| scheduler.run(Fiber::success(1)).unwrap()));
    let outcome = SCHEDULER.with(|scheduler| scheduler.run(nested));
    assert!(outcome.is_panicked());
    assert!(SCHEDULER.with(|scheduler| scheduler.run(Fiber::success(1))).is_success());
}

#[test]
fn a_current_thread_inside_another_is_allowed() {
    let scheduler = CurrentThread::new();
    let nested = Fiber::lazy(|| CurrentThread::new().run(Fiber::yield_now().map(|()| 4)).unwrap());
    assert_eq!(scheduler.run(nested).unwrap(), 4);
}

#[test]
fn it_may_move_to_another_thread() {
    let scheduler = CurrentThread::new();
    let handle = scheduler.spawn(Fiber::yield_now().map(|()| thread::current().id()));
    let (there, ran_on) = thread::spawn(move || {
        let ran_on = scheduler.run(handle.join()).unwrap();
        (thread::current().id(), ran_on)
    })
    .join()
    .unwrap();
    assert_eq!(there, ran_on);
}
