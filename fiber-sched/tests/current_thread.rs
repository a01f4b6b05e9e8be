//! Fibers on the calling thread.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use fiber_core::{Fiber, Resume};
use fiber_sched::{CurrentThread, block_on};

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
fn a_callback_from_another_thread_wakes_it() {
    let scheduler = CurrentThread::new();
    let (sender, receiver) = mpsc::channel::<Resume<u32>>();
    let resumer = thread::spawn(move || receiver.into_iter().for_each(|resume| resume.success(9)));
    for _ in 0..1_000 {
        let sender = sender.clone();
        assert_eq!(scheduler.run(Fiber::callback(move |resume| sender.send(resume).unwrap())).unwrap(), 9);
    }
    drop(sender);
    resumer.join().unwrap();
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
fn dropping_it_runs_finalizers_that_wait() {
    let scheduler = CurrentThread::new();
    let finalized = Arc::new(AtomicUsize::new(0));
    for _ in 0..10 {
        let finalized = finalized.clone();
        let finalizer = Fiber::delay(Duration::from_millis(1))
            .bind(|()| Fiber::blocking(|| ()))
            .map(move |()| _ = finalized.fetch_add(1, Ordering::Relaxed));
        drop(scheduler.context().spawn_here(Fiber::<()>::never().ensure(finalizer)));
    }
    drop(scheduler);
    assert_eq!(finalized.load(Ordering::Relaxed), 10);
}

#[test]
fn what_was_spawned_and_never_run_ends_as_cancelled() {
    let scheduler = CurrentThread::new();
    let handle = scheduler.spawn(Fiber::success(1));
    drop(scheduler);
    assert!(block_on(handle).is_cancelled());
}

#[test]
fn what_is_spawned_after_the_end_is_abandoned() {
    let scheduler = CurrentThread::new();
    let context = scheduler.context().clone();
    drop(scheduler);
    assert!(!block_on(context.spawn(Fiber::success(1))).is_success());
}

#[test]
fn a_callback_after_the_end_has_no_effect() {
    let scheduler = CurrentThread::new();
    let (sender, receiver) = mpsc::channel::<Resume<()>>();
    let wait = Fiber::callback(move |resume| sender.send(resume).unwrap());
    let handle = scheduler.context().spawn_here(wait);
    drop(scheduler);
    receiver.recv().unwrap().success(());
    assert!(block_on(handle).is_cancelled());
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
