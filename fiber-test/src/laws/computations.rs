//! What is to be done while a fiber computes: an idle thread does it, whatever woke the fiber and however quiet the host was.
//!
//! Each law is a row of a table. It prints the time until each thing was done, which is shown with `--nocapture`.

use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::{Fiber, Handle};
use parking_lot::{Condvar, Mutex};

use super::gate::Gate;
use super::host::AnyHost;
use super::probe::task;
use super::trial::Trial;

/// By then, the threads of the host have stopped to look for work, and sleep until they are woken.
const QUIET: Duration = Duration::from_millis(50);

/// A computation gives up after this time. A host that lets no fiber wait needs milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time that a computing fiber has waited for something to be done. `None`: it has given up.
type Waited = Option<Duration>;

/// Wakes a fiber on a quiet host.
type Source<H> = fn(&Trial<H>, Fiber<()>) -> Option<Handle<()>>;

/// Makes a fiber that computes until something is done.
type Effect<H> = fn(&Trial<H>, Signal) -> Option<Fiber<Waited>>;

/// Tells a computing fiber that something is done.
#[derive(Clone, Default)]
struct Signal(Arc<(Mutex<bool>, Condvar)>);

impl Signal {
    fn set(&self) {
        let (is_set, changed) = &*self.0;
        *is_set.lock() = true;
        changed.notify_all();
    }

    /// A fiber that sets it.
    fn setting(&self) -> Fiber<()> {
        let signal = self.clone();
        Fiber::lazy(move || signal.set()).boxed()
    }

    /// Keeps the thread until it is set.
    fn compute(&self) -> Waited {
        let start = Instant::now();
        let (is_set, changed) = &*self.0;
        changed.wait_while_for(&mut is_set.lock(), |is_set| !*is_set, PATIENCE);
        is_set.lock().then(|| start.elapsed())
    }

    /// A fiber that does something and then computes, in the same turn.
    fn computing_after(self, first: impl FnOnce() + Send + 'static) -> Fiber<Waited> {
        Fiber::lazy(move || {
            first();
            self.compute()
        })
        .boxed()
    }
}

pub(super) fn a_spawned_computation_delays_nothing<H: AnyHost + ?Sized>(trial: Trial<H>) {
    delays_nothing(&trial, |trial, fiber| {
        thread::sleep(QUIET);
        Some(trial.spawn(fiber))
    });
}

pub(super) fn a_computation_after_a_timer_delays_nothing<H: AnyHost + ?Sized>(trial: Trial<H>) {
    delays_nothing(&trial, |trial, fiber| Some(trial.spawn(Fiber::delay(QUIET).bind(|()| fiber))));
}

pub(super) fn a_computation_after_a_blocking_call_delays_nothing<H: AnyHost + ?Sized>(trial: Trial<H>) {
    delays_nothing(&trial, |trial, fiber| {
        let call = Fiber::blocking(|| thread::sleep(QUIET));
        Some(trial.spawn(call.bind(|()| fiber)))
    });
}

pub(super) fn a_computation_after_data_delays_nothing<H: AnyHost + ?Sized>(trial: Trial<H>) {
    delays_nothing(&trial, |trial, fiber| {
        let (bound, at) = mpsc::channel();
        let handle = trial.spawn(trial.host().receives(bound)?.bind(|()| fiber));
        let at = at.recv().unwrap();
        thread::sleep(QUIET);
        send(at);
        Some(handle)
    });
}

pub(super) fn a_computation_that_another_fiber_woke_delays_nothing<H: AnyHost + ?Sized>(trial: Trial<H>) {
    delays_nothing(&trial, |trial, fiber| {
        let gate = Gate::new(1);
        let handle = trial.spawn(gate.opened().bind(|()| fiber));
        thread::sleep(QUIET);
        drop(trial.spawn(gate.passing()));
        Some(handle)
    });
}

pub(super) fn a_computation_that_a_thread_woke_delays_nothing<H: AnyHost + ?Sized>(trial: Trial<H>) {
    delays_nothing(&trial, |trial, fiber| {
        let gate = Gate::new(1);
        let handle = trial.spawn(gate.opened().bind(|()| fiber));
        thread::sleep(QUIET);
        gate.pass();
        Some(handle)
    });
}

/// Checks one row of the table, and prints it.
fn delays_nothing<H: AnyHost + ?Sized>(trial: &Trial<H>, source: Source<H>) {
    if trial.host().is_virtual() || !trial.host().has_spare_thread() {
        return;
    }
    let (mut row, mut are_all_done) = (String::new(), true);
    for (name, effect) in effects(trial) {
        // On a host that gives each fiber a thread, the fiber that was spawned before has another one.
        let Some(fiber) = effect(trial, Signal::default()) else { continue };
        let (report, waited) = mpsc::channel();
        let fiber = fiber.map(move |waited| _ = report.send(waited)).boxed();
        let Some(handle) = source(trial, fiber) else { return };
        // Not in the host's `run`, which may make this thread one of the host's.
        let waited = waited.recv_timeout(trial.host().patience() / 2).expect("a computation ends");
        _ = match waited {
            Some(time) => write!(row, " | {name}: {:.1} ms", 1e3 * time.as_secs_f64()),
            None => write!(row, " | {name}: not done"),
        };
        are_all_done &= waited.is_some();
        trial.finish("the computing fiber", handle).unwrap();
    }
    println!("{}{row}", thread::current().name().unwrap_or_default());
    assert!(are_all_done, "while it computes,{row}");
}

fn effects<H: AnyHost + ?Sized>(
    trial: &Trial<H>,
) -> impl Iterator<Item = (&'static str, Effect<H>)> + use<H> {
    let for_others: [(_, Effect<H>); 3] = [
        ("wake another fiber", wakes),
        ("serve another socket", serves),
        ("fire the timer of another fiber", lets_a_timer_fire),
    ];
    // If threads share no work, that may be for the thread that computes.
    let for_any: [(_, Effect<H>); 4] = [
        ("fork", forks),
        ("zip", zips),
        ("set a timer", sets_a_timer),
        ("run what a thread spawns", lets_a_thread_spawn),
    ];
    let shares_work = trial.host().shares_work();
    for_others.into_iter().chain(for_any.into_iter().filter(move |_| shares_work))
}

fn forks<H: AnyHost + ?Sized>(_: &Trial<H>, done: Signal) -> Option<Fiber<Waited>> {
    Some(done.setting().fork().bind(move |_| done.computing_after(|| ())).boxed())
}

fn zips<H: AnyHost + ?Sized>(_: &Trial<H>, done: Signal) -> Option<Fiber<Waited>> {
    let other = done.setting();
    Some(done.computing_after(|| ()).zip(other).map(|(waited, ())| waited).boxed())
}

fn sets_a_timer<H: AnyHost + ?Sized>(trial: &Trial<H>, done: Signal) -> Option<Fiber<Waited>> {
    let (scheduler, fired) = (trial.scheduler(), done.clone());
    Some(done.computing_after(move || {
        let soon = scheduler.now() + Duration::from_millis(1);
        _ = scheduler.schedule_at(soon, task(move || fired.set()));
    }))
}

fn wakes<H: AnyHost + ?Sized>(trial: &Trial<H>, done: Signal) -> Option<Fiber<Waited>> {
    let (gate, other) = (Gate::new(1), done.setting());
    drop(trial.spawn(gate.opened().bind(|()| other)));
    Some(done.computing_after(move || gate.pass()))
}

fn serves<H: AnyHost + ?Sized>(trial: &Trial<H>, done: Signal) -> Option<Fiber<Waited>> {
    let ((bound, at), other) = (mpsc::channel(), done.setting());
    drop(trial.spawn(trial.host().receives(bound)?.bind(|()| other)));
    let at = at.recv().unwrap();
    Some(done.computing_after(move || send(at)))
}

fn lets_a_timer_fire<H: AnyHost + ?Sized>(trial: &Trial<H>, done: Signal) -> Option<Fiber<Waited>> {
    let other = done.setting();
    // The computation begins after half of the time.
    drop(trial.spawn(Fiber::delay(2 * QUIET).bind(|()| other)));
    Some(done.computing_after(|| ()))
}

fn lets_a_thread_spawn<H: AnyHost + ?Sized>(trial: &Trial<H>, done: Signal) -> Option<Fiber<Waited>> {
    let (root, other) = (trial.context().clone(), done.setting());
    Some(done.computing_after(move || drop(thread::spawn(move || drop(root.spawn(other))))))
}

/// Sends a datagram, from outside of the host.
fn send(to: SocketAddr) {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.send_to(&[0], to).unwrap();
}
