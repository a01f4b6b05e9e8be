//! Blocking calls.

use std::sync::mpsc;
use std::time::Duration;

use fiber_core::{Fiber, Handle};

use super::gate::Gate;
use super::host::AnyHost;
use super::probe::Probe;
use super::trial::Trial;

pub(super) fn blocking_calls_give_their_values<H: AnyHost + ?Sized>(trial: Trial<H>) {
    const CALLS: u64 = 50;
    let calls: Vec<_> = (1..=CALLS).map(|n| Fiber::blocking(move || n)).collect();
    let sum = Fiber::parallel(calls).map(|values| values.into_iter().sum::<u64>());
    assert_eq!(trial.run("blocking calls", sum), CALLS * (CALLS + 1) / 2, "the sum of their values");
    let gate = Gate::new(1);
    let (task, probe) = Probe::task(&gate);
    trial.scheduler().schedule_blocking(task);
    trial.run("a task for a blocking thread", gate.opened());
    assert_eq!(probe.runs(), 1, "the runs of a task for a blocking thread");
}

pub(super) fn blocking_calls_do_not_stop_fibers<H: AnyHost + ?Sized>(trial: Trial<H>) {
    if trial.host().is_virtual() {
        return;
    }
    // If the host has fewer blocking threads, the other calls wait.
    let begun = Gate::new(1);
    let calls = (0..trial.host().threads() + 2).map(|_| {
        let (release, released) = mpsc::channel::<()>();
        let begun = begun.clone();
        let call = move || {
            begun.pass();
            _ = released.recv();
        };
        (release, trial.spawn(Fiber::blocking(call)))
    });
    let (releases, calls): (Vec<_>, Vec<_>) = calls.unzip();
    trial.run("a blocking call to begin", begun.opened());
    trial.run("a fiber that yields beside blocking calls", Fiber::yield_now());
    trial.run("a sleep beside blocking calls", Fiber::delay(Duration::from_millis(1)));
    trial.run("a fork beside blocking calls", Fiber::yield_now().fork().bind(Handle::join));
    drop(releases);
    for call in calls {
        trial.finish("a blocking call that was released", call).unwrap();
    }
}

pub(super) fn a_cancelled_blocking_call_does_not_hold_its_fiber<H: AnyHost + ?Sized>(trial: Trial<H>) {
    if trial.host().is_virtual() {
        return;
    }
    let (release, released) = mpsc::channel::<()>();
    let (begun, returned) = (Gate::new(1), Gate::new(1));
    let call = {
        let (begun, returned) = (begun.clone(), returned.clone());
        move || {
            begun.pass();
            _ = released.recv();
            returned.pass();
        }
    };
    let call = trial.spawn(Fiber::blocking(call));
    trial.run("a blocking call to begin", begun.opened());
    call.cancel_now();
    assert!(trial.finish("a fiber that is cancelled in a blocking call", call).is_cancelled());
    drop(release);
    trial.run("the return of a call whose fiber was cancelled", returned.opened());
    assert_eq!(trial.run("the next blocking call", Fiber::blocking(|| 1)), 1);
}
