//! A `Resume` is used once, from anywhere, at any time, or dropped; the fiber never hangs.
#![allow(clippy::disallowed_methods, reason = "foreign threads are what is tested")]

use std::sync::{Arc, mpsc};
use std::time::Duration;

use fiber_core::error::Abandoned;
use fiber_core::{Context, Fiber, Resume, fiber};
use fiber_sched::Pool;
use fiber_test::{Explore, TestScheduler};
use parking_lot::Mutex;

#[test]
fn resumed_before_the_registration_returns() {
    assert_eq!(TestScheduler::new().run(Fiber::callback(|resume| resume.success(1))).unwrap(), 1);
}

#[test]
fn dropped_unused_before_the_registration_returns() {
    let outcome = TestScheduler::new().run(Fiber::<u8>::callback(drop));
    assert!(outcome.failure().unwrap().is::<Abandoned>());
}

#[test]
fn dropped_unused_after_the_registration_returned() {
    let test = TestScheduler::new();
    let (sender, receiver) = mpsc::channel::<Resume<u8>>();
    let fiber = test.spawn(Fiber::callback(move |resume| sender.send(resume).unwrap()));
    test.run_until_idle();
    assert!(fiber.is_pending());
    drop(receiver.recv().unwrap());
    test.run_until_idle();
    assert!(fiber.outcome().failure().unwrap().is::<Abandoned>());
    test.assert_no_leaks();
}

#[test]
fn resumed_by_another_fiber_later() {
    let test = TestScheduler::new();
    let (sender, receiver) = mpsc::channel::<Resume<u8>>();
    let waits = Fiber::callback(move |resume| sender.send(resume).unwrap());
    let resumes = Fiber::delay(Duration::from_secs(1)).map(move |()| receiver.recv().unwrap().success(9));
    assert_eq!(test.run(waits.zip(resumes)).unwrap(), (9, ()));
    assert_eq!(test.now().as_nanos(), 1_000_000_000);
}

#[test]
fn resumed_from_another_thread_before_or_after_the_registration_returns() {
    let pool = Pool::builder().workers(2).build();
    for n in 0..2_000u32 {
        let fiber = Fiber::callback(move |resume| {
            let thread = std::thread::spawn(move || resume.success(n));
            // Every other time, certainly before.
            if n % 2 == 0 {
                thread.join().unwrap();
            }
        });
        assert_eq!(pool.run(fiber).unwrap(), n);
    }
}

#[test]
fn a_resume_that_is_kept_by_a_panicking_registration_fails_nothing_else() {
    let outcome = TestScheduler::new().run(Fiber::<u8>::callback(|_resume| panic!("in registration")));
    assert!(outcome.is_panicked());
}

#[test]
fn a_resume_that_outlives_a_panicking_registration_hands_back_its_value() {
    let (sender, receiver) = mpsc::channel::<Resume<u8>>();
    let registers = Fiber::<u8>::callback(move |resume| {
        sender.send(resume).unwrap();
        panic!("in registration")
    });
    assert!(TestScheduler::new().run(registers).is_panicked());
    let resume = receiver.recv().unwrap();
    assert!(resume.is_closed());
    assert_eq!(resume.send(1), Err(1));
}

#[test]
fn a_cancellation_that_drops_the_resume_before_it_reaches_the_waiting_fiber_cancels_it() {
    Explore::cancel_everywhere().program_only().no_regressions().check(|| {
        let held = Arc::new(Mutex::new(None::<Resume<u8>>));
        let weak = Arc::downgrade(&held);
        let waits = Fiber::callback(move |resume| {
            if let Some(held) = weak.upgrade() {
                *held.lock() = Some(resume);
            }
        });
        let resumes = Fiber::delay(Duration::from_secs(1)).map(move |()| {
            let resume = held.lock().take();
            resume.into_iter().for_each(|resume| resume.success(1));
        });
        fiber! {
            // If nobody has started it, a cancellation drops it at once, before it reaches the other one.
            let! resumes = resumes.fork();
            let! waits = waits.fork();
            do! resumes;
            assert_eq!(do! waits, 1);
        }
    });
}

#[test]
fn a_registration_that_cancels_its_own_fiber_and_drops_the_resume_ends_as_cancelled() {
    let test = TestScheduler::new();
    let fiber = test.spawn(Fiber::<u8>::callback(|resume| {
        Context::current().unwrap().cancel();
        drop(resume);
    }));
    test.run_until_idle();
    assert!(fiber.outcome().is_cancelled());
}

#[test]
fn cancelled_and_resumed_at_the_same_time_ends_once() {
    let pool = Pool::builder().workers(2).build();
    for _ in 0..2_000 {
        let (sender, receiver) = mpsc::channel::<Resume<u8>>();
        let handle = pool.spawn(Fiber::callback(move |resume| sender.send(resume).unwrap()));
        let resume = receiver.recv().unwrap();
        let context = handle.context().clone();
        let resumer = std::thread::spawn(move || resume.success(1));
        context.cancel();
        resumer.join().unwrap();
        let outcome = pool.run(handle.outcome()).unwrap();
        assert!(outcome.is_cancelled() || outcome.success() == Some(1));
    }
}
