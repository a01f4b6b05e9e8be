//! The end of a host.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use fiber_core::{Context, Fiber, Handle, Outcome, Resume};

use super::gate::Gate;
use super::host::AnyHost;
use super::probe::Probe;
use super::trial::Trial;

const LONG: Duration = Duration::from_secs(3_600);

/// Finalizers that wait in several ways, and are then counted.
#[derive(Clone, Default)]
struct Finalizers {
    made: usize,
    run: Arc<AtomicUsize>,
}

impl Finalizers {
    fn next(&mut self) -> Fiber<()> {
        self.made += 1;
        let run = self.run.clone();
        let waits = match self.made % 4 {
            0 => Fiber::success(()).boxed(),
            1 => Fiber::yield_now().bind(|()| Fiber::delay(Duration::from_millis(1))).boxed(),
            2 => Fiber::blocking(|| ()).boxed(),
            _ => Fiber::yield_now().zip(Fiber::delay(Duration::from_millis(1))).map(drop).boxed(),
        };
        // Relaxed: read after the end of the fiber, which orders the two.
        waits.map(move |()| _ = run.fetch_add(1, Ordering::Relaxed)).boxed()
    }
}

/// Starts one fiber for each state, most of them with a finalizer, and returns when all have reached their states.
fn in_every_state<H: AnyHost + ?Sized>(trial: &Trial<H>, finalizers: &mut Finalizers) -> Vec<Handle<()>> {
    let binds = || Fiber::iterate((), |()| Fiber::success(ControlFlow::Continue(()))).boxed();
    let begun_inside = Gate::new(2);
    let mut inside = || {
        let waits = begun_inside.passing().bind(|()| Fiber::<()>::never());
        waits.ensure(finalizers.next())
    };
    let mut bodies: Vec<Fiber<()>> = vec![
        Fiber::never().boxed(),
        Fiber::delay(LONG).boxed(),
        Fiber::<()>::never().timeout(LONG).boxed(),
        Fiber::<()>::never().fork().bind(Handle::join).boxed(),
        inside().fork().bind(|_| Fiber::never()).boxed(),
        inside().race(Fiber::<()>::never()).map(drop).boxed(),
        Fiber::iterate((), |()| Fiber::yield_now().map(ControlFlow::Continue)).boxed(),
        // Enough to keep all threads busy.
        binds(),
    ];
    bodies.extend((0..trial.host().threads()).map(|_| binds()));
    let begun = Gate::new(bodies.len());
    let begins = |body: Fiber<()>| begun.passing().bind(move |()| body).ensure(finalizers.next());
    let handles: Vec<_> = bodies.into_iter().map(begins).map(|fiber| trial.spawn(fiber)).collect();
    trial.run("fibers to come to their states", begun.opened());
    trial.run("forks and branches to come to their states", begun_inside.opened());
    handles
}

/// A fiber in a blocking call, which its finalizer ends.
fn in_a_blocking_call<H: AnyHost + ?Sized>(trial: &Trial<H>, finalizers: &mut Finalizers) -> Handle<()> {
    let begun = Gate::new(1);
    let begins = begun.clone();
    let (release, released) = mpsc::channel::<()>();
    let call = move || {
        begins.pass();
        _ = released.recv();
    };
    let releases = Fiber::lazy(move || drop(release));
    let finalizer = finalizers.next();
    let handle = trial.spawn(Fiber::blocking(call).ensure(releases.bind(|()| finalizer)));
    trial.run("a blocking call to begin", begun.opened());
    handle
}

/// A fiber that was cancelled before, and runs its finalizer.
fn in_a_finalizer<H: AnyHost + ?Sized>(trial: &Trial<H>, finalizers: &mut Finalizers) -> Handle<()> {
    let (begun, finalizing) = (Gate::new(1), Gate::new(1));
    let begins = begun.passing();
    let next = finalizers.next();
    let finalizer =
        finalizing.passing().bind(|()| Fiber::delay(Duration::from_millis(2))).bind(move |()| next);
    let handle = trial.spawn(begins.bind(|()| Fiber::<()>::never()).ensure(finalizer));
    trial.run("a fiber to wait for ever", begun.opened());
    handle.cancel_now();
    trial.run("a finalizer to begin", finalizing.opened());
    handle
}

/// Shuts down, and fails if anything is left.
fn end<H: AnyHost + ?Sized>(trial: Trial<H>) {
    let root = trial.context().clone();
    let has_ended = trial.shut_down();
    let left = root.live_children();
    assert_eq!(left, 0, "fibers that are left after the shutdown");
    assert!(has_ended, "`Host::shut_down` says that something is left");
}

pub(super) fn shutdown_ends_fibers_in_every_state<H: AnyHost + ?Sized>(trial: Trial<H>) {
    use_all(&trial);
    let mut finalizers = Finalizers::default();
    let mut handles = in_every_state(&trial, &mut finalizers);
    if !trial.host().is_virtual() {
        handles.push(in_a_blocking_call(&trial, &mut finalizers));
    }
    handles.push(in_a_finalizer(&trial, &mut finalizers));
    // Queued, or just begun.
    handles.extend((0..20).map(|_| trial.spawn(Fiber::yield_now().bind(|()| Fiber::never()))));
    end(trial);
    for handle in handles {
        let id = handle.id();
        let outcome = handle.try_outcome().unwrap_or_else(|handle| panic!("{handle:?} has not ended"));
        assert!(outcome.is_cancelled(), "fiber {id} ends as {outcome:?} with the shutdown");
    }
    // Relaxed: the fibers have ended.
    let run = finalizers.run.load(Ordering::Relaxed);
    assert_eq!(run, finalizers.made, "finalizers that have run");
}

/// Uses all parts of the host, so that all of them have to be ended.
fn use_all<H: AnyHost + ?Sized>(trial: &Trial<H>) {
    trial.run("a sleep", Fiber::delay(Duration::from_millis(1)));
    trial.run("a blocking call", Fiber::blocking(|| ()));
}

pub(super) fn shutdown_drops_fibers_that_never_ran<H: AnyHost + ?Sized>(trial: Trial<H>) {
    let held = Arc::new(());
    let holds = || {
        let held = held.clone();
        move |()| drop(held)
    };
    let fibers = vec![
        trial.spawn(Fiber::success(()).map(holds()).boxed()),
        trial.spawn(Fiber::delay(LONG).map(holds()).boxed()),
        trial.spawn(Fiber::never().map(holds()).boxed()),
        trial.spawn(Fiber::never().map(holds()).zip(Fiber::delay(LONG).map(holds())).map(drop).boxed()),
    ];
    end(trial);
    assert!(fibers.iter().all(Handle::is_finished), "fibers have not ended after the shutdown");
    drop(fibers);
    assert_eq!(Arc::strong_count(&held), 1, "an ended host keeps values of fibers");
}

pub(super) fn fibers_spawned_too_late_end_as_cancelled<H: AnyHost + ?Sized>(trial: Trial<H>) {
    let root = trial.context().clone();
    let (begun, (sender, receiver)) = (Gate::new(1), mpsc::channel());
    let spawn = {
        let root = root.clone();
        move || _ = sender.send(root.spawn(Fiber::success(1)))
    };
    let spawner = begun.passing().bind(|()| Fiber::<()>::never());
    drop(trial.spawn(spawner.ensure(Fiber::lazy(spawn))));
    trial.run("a fiber with a finalizer", begun.opened());
    end(trial);
    let during = receiver.recv().expect("the finalizer has run");
    let is_cancelled = |handle: Handle<i32>, when: &str| match handle.try_outcome() {
        Ok(outcome) => assert!(outcome.is_cancelled(), "a fiber that is spawned {when} ends as {outcome:?}"),
        Err(_) => panic!("a fiber that is spawned {when} does not end"),
    };
    is_cancelled(during, "during the shutdown");
    is_cancelled(root.spawn(Fiber::success(1)), "after the shutdown");
    is_cancelled(
        root.spawn(Fiber::delay(LONG).map(|()| 1).uncancelable()),
        "after the shutdown, uncancelable,",
    );
}

pub(super) fn wake_ups_after_the_end_hang_nothing<H: AnyHost + ?Sized>(trial: Trial<H>) {
    // The host does not know of this root, and does not cancel its fibers.
    let other = Context::root(trial.scheduler());
    let (sender, resumes) = mpsc::channel::<Resume<()>>();
    let registered = Gate::new(2);
    let waits = |root: &Context| {
        let (sender, registered) = (sender.clone(), registered.clone());
        root.spawn(Fiber::callback(move |resume| {
            sender.send(resume).expect("the law waits for it");
            registered.pass();
        }))
    };
    let (known, unknown) = (waits(trial.context()), waits(&other));
    trial.run("fibers that wait for a callback", registered.opened());
    let (wait, is_virtual) = (trial.step(), trial.host().is_virtual());
    end(trial);
    resumes.try_iter().for_each(|resume| resume.success(()));
    assert!(known.try_outcome().is_ok_and(|outcome| outcome.is_cancelled()), "a fiber outlives the shutdown");
    // If the host runs on its caller's thread, it keeps the task until it is dropped; the fiber keeps the scheduler alive.
    if !is_virtual {
        wait.expect("a fiber that is woken after the end to be abandoned");
        let mut unknown = unknown;
        let outcome: Outcome<()> = loop {
            match unknown.try_outcome() {
                Ok(outcome) => break outcome,
                Err(pending) => unknown = pending,
            }
            thread::yield_now();
        };
        assert!(!outcome.is_cancelled(), "a fiber that was not cancelled ends as cancelled");
    }
    other.cancel();
}

pub(super) fn tasks_after_the_end_are_dropped<H: AnyHost + ?Sized>(trial: Trial<H>) {
    let (scheduler, gate) = (trial.scheduler(), Gate::new(1));
    let mut probes = Vec::new();
    let mut next = || {
        let (task, probe) = Probe::task(&gate);
        probes.push(probe);
        task
    };
    // A task that is still there at the end.
    let key = scheduler.schedule_at(scheduler.now() + LONG, next());
    let (step, is_virtual) = (trial.step(), trial.host().is_virtual());
    end(trial);
    step.expect("a call of an ended scheduler");
    _ = scheduler.cancel_timer(key);
    scheduler.schedule(next());
    scheduler.schedule_blocking(next());
    let late = scheduler.schedule_at(scheduler.now() + LONG, next());
    _ = scheduler.schedule_at(scheduler.now(), next());
    _ = scheduler.cancel_timer(late);
    drop(scheduler);
    step.expect("an ended host to drop its tasks");
    while !probes.iter().all(Probe::is_gone) {
        thread::yield_now();
    }
    // In virtual time, the hour may pass at the end.
    let runs = probes[0].runs();
    assert!(is_virtual || runs == 0, "a timer of an hour fires with the end of its host");
}
