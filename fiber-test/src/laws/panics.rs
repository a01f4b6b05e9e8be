//! A panic ends its fiber, and affects nothing else.

use std::panic::resume_unwind;
use std::time::Duration;

use fiber_core::{Error, Fiber, Handle};

use super::around::{Hooks, root_around};
use super::gate::Gate;
use super::host::AnyHost;
use super::meeting::Meeting;
use super::probe::task;
use super::trial::Trial;

/// More than the threads of any host, so that a panic reaches every thread.
const PANICS: usize = 100;

/// Panics without the panic hook, which would print thousands of messages, each with a backtrace if the user has asked for them.
fn panics() -> ! {
    resume_unwind(Box::new("planned, for a law"))
}

/// Fails unless every thread still runs fibers, as far as a law can observe.
fn assert_that_all_threads_live<H: AnyHost + ?Sized>(trial: &Trial<H>) {
    let threads = trial.host().threads();
    let meeting =
        Meeting::new(if trial.host().shares_work() { threads } else { 1 }, trial.host().patience() / 2);
    let fibers: Vec<_> = (0..threads).map(|_| trial.spawn(meeting.attend())).collect();
    for fiber in fibers {
        trial.finish("fibers on all threads after panics", fiber).unwrap();
    }
}

pub(super) fn a_panicking_fiber_harms_no_other<H: AnyHost + ?Sized>(trial: Trial<H>) {
    struct PanicsWhenDropped;
    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            panics();
        }
    }
    let kinds: [fn() -> Fiber<()>; 5] = [
        || Fiber::lazy(|| panics()).boxed(),
        || Fiber::yield_now().map(|()| panics()).boxed(),
        || Fiber::delay(Duration::from_micros(10)).map(|()| panics()).boxed(),
        || Fiber::yield_now().fork().bind(Handle::join).map(|()| panics()).boxed(),
        || Fiber::yield_now().map(|()| drop(PanicsWhenDropped)).boxed(),
    ];
    let released = Gate::new(1);
    let others: Vec<_> = (0..PANICS).map(|_| trial.spawn(released.opened())).collect();
    let panicking: Vec<_> = (0..PANICS).map(|n| trial.spawn(kinds[n % kinds.len()]())).collect();
    for _ in 0..PANICS {
        // A panic in a wake-up: the waker is code of an executor.
        trial.scheduler().schedule(task(|| panics()));
    }
    for fiber in panicking {
        let outcome = trial.finish("a fiber that panics", fiber);
        assert!(outcome.is_panicked(), "a fiber that panics ends as {outcome:?}");
    }
    released.pass();
    for fiber in others {
        trial.finish("a fiber that waits while others panic", fiber).unwrap();
    }
    assert_that_all_threads_live(&trial);
}

pub(super) fn a_panicking_blocking_call_harms_only_its_fiber<H: AnyHost + ?Sized>(trial: Trial<H>) {
    for _ in 0..PANICS {
        let outcome = trial.outcome("a blocking call that panics", Fiber::blocking(|| panics()));
        let outcome = outcome.map(|()| ());
        assert!(outcome.is_panicked(), "a blocking call that panics ends as {outcome:?}");
        assert_eq!(trial.run("the next blocking call", Fiber::blocking(|| 1)), 1);
    }
    assert_that_all_threads_live(&trial);
}

/// Hooks that always panic.
struct Panicking;

impl Hooks for Panicking {
    fn observe(&self) {
        panics();
    }

    fn unobserved(&self) {
        panics();
    }
}

pub(super) fn panicking_hooks_harm_nobody<H: AnyHost + ?Sized>(trial: Trial<H>) {
    let root = root_around(trial.scheduler(), Panicking);
    for _ in 0..PANICS {
        let unobserved = Fiber::yield_now().bind(|()| Fiber::<()>::fail(Error::msg("planned, for a law")));
        drop(root.spawn(unobserved));
        let both = Fiber::yield_now().zip(Fiber::delay(Duration::from_micros(10)).map(|()| 1));
        let outcome = trial.finish("a fiber whose observer panics", root.spawn(both));
        assert!(matches!(outcome.success(), Some(((), 1))), "a panic of an observer changes an outcome");
    }
    assert_that_all_threads_live(&trial);
    root.cancel();
}
