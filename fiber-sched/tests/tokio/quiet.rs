//! A fiber that computes on a runtime where nothing ran before: what an idle thread can do happens meanwhile.

use std::hint;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::sync::one_shot;
use fiber_core::{Fiber, Handle};
use fiber_sched::{TokioScheduler, block_on};
use tokio::runtime::{Builder, Runtime};

/// After such a pause, nothing of an earlier burst is awake. A real one: the threads of the runtime have to be asleep.
const QUIET: Duration = Duration::from_millis(120);

/// The end of a computation whose effect does not come.
const PATIENCE: Duration = Duration::from_secs(5);

/// What has to happen while a fiber computes.
#[derive(Clone, Default)]
struct Effect(Arc<AtomicBool>);

impl Effect {
    fn happen(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Keeps the thread busy. `true`: the effect has happened meanwhile.
    fn compute(&self) -> bool {
        let end = Instant::now() + PATIENCE;
        while !self.0.load(Ordering::SeqCst) {
            if Instant::now() > end {
                return false;
            }
            hint::spin_loop();
        }
        true
    }

    /// Happens after `first`.
    fn after(&self, first: Fiber<()>) -> Fiber<()> {
        let effect = self.clone();
        first.map(move |()| effect.happen()).boxed()
    }

    fn computing(&self) -> Fiber<bool> {
        let effect = self.clone();
        Fiber::lazy(move || effect.compute()).boxed()
    }
}

/// What wakes the fiber that computes.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Spawn,
    Timer,
    BlockingCall,
    Socket,
    Fiber,
    Thread,
}

const CAUSES: [Cause; 6] =
    [Cause::Spawn, Cause::Timer, Cause::BlockingCall, Cause::Socket, Cause::Fiber, Cause::Thread];

impl Cause {
    /// Runs a fiber for this cause, after a pause.
    fn run(self, here: &Place, fiber: Fiber<bool>) -> Handle<bool> {
        let fibers = &here.fibers;
        match self {
            Cause::Spawn => {
                thread::sleep(QUIET);
                fibers.spawn(fiber)
            }
            Cause::Timer => fibers.spawn(Fiber::delay(QUIET).bind(|()| fiber)),
            Cause::BlockingCall => fibers.spawn(Fiber::blocking(|| thread::sleep(QUIET)).bind(|()| fiber)),
            Cause::Socket => {
                let (received, address) = here.receive();
                let handle = fibers.spawn(received.bind(|()| fiber));
                thread::sleep(QUIET);
                send(address);
                handle
            }
            Cause::Fiber => {
                let (reply, answer) = one_shot();
                let handle = fibers.spawn(answer.bind(|()| fiber));
                drop(fibers.spawn(Fiber::delay(QUIET).map(move |()| _ = reply.send(()))));
                handle
            }
            Cause::Thread => {
                let (reply, answer) = one_shot();
                let handle = fibers.spawn(answer.bind(|()| fiber));
                thread::sleep(QUIET);
                _ = reply.send(());
                handle
            }
        }
    }
}

struct Place {
    fibers: TokioScheduler,
    runtime: Runtime,
}

impl Place {
    fn new(builder: &mut Builder) -> Self {
        let runtime = builder.enable_all().build().unwrap();
        Place { fibers: TokioScheduler::new(runtime.handle()), runtime }
    }

    fn of(workers: usize) -> Self {
        Place::new(Builder::new_multi_thread().worker_threads(workers))
    }

    fn socket(&self) -> (tokio::net::UdpSocket, SocketAddr) {
        let _inside = self.runtime.enter();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_nonblocking(true).unwrap();
        let address = socket.local_addr().unwrap();
        (tokio::net::UdpSocket::from_std(socket).unwrap(), address)
    }

    /// Waits for a datagram that is sent to this address.
    fn receive(&self) -> (Fiber<()>, SocketAddr) {
        let (socket, address) = self.socket();
        (Fiber::block(move || async move { socket.recv(&mut [0]).await.map(drop) }).boxed(), address)
    }
}

fn send(address: SocketAddr) {
    UdpSocket::bind("127.0.0.1:0").unwrap().send_to(&[1], address).unwrap();
}

/// Runs what `computing` makes, for every cause, each on a runtime of its own, all at the same time. It gives whether the effect
/// happened while it computed.
fn happens_meanwhile(computing: impl Fn(&Place, Effect) -> Fiber<bool> + Sync) {
    let happens = |workers, cause: Cause| {
        let here = Place::of(workers);
        let fiber = computing(&here, Effect::default());
        block_on(cause.run(&here, fiber)).unwrap()
    };
    let happens = &happens;
    let late: Vec<_> = thread::scope(|scope| {
        let all = [2, 4].into_iter().flat_map(|workers| CAUSES.map(|cause| (workers, cause)));
        let runs: Vec<_> = all.map(|run| (run, scope.spawn(move || happens(run.0, run.1)))).collect();
        runs.into_iter().filter_map(|(run, happened)| (!happened.join().unwrap()).then_some(run)).collect()
    });
    assert!(late.is_empty(), "not while the fiber computed: {late:?} (workers, what had woken it)");
}

#[test]
fn a_fiber_that_is_forked_starts_while_the_forking_one_computes() {
    happens_meanwhile(|_, effect| {
        let forked = effect.after(Fiber::success(()).boxed());
        forked.fork().bind(move |_forked| effect.computing()).boxed()
    });
}

#[test]
fn a_fiber_that_is_woken_continues_while_the_waking_one_computes() {
    happens_meanwhile(|here, effect| {
        let (reply, answer) = one_shot();
        drop(here.fibers.spawn(effect.after(answer.boxed())));
        Fiber::lazy(move || _ = reply.send(())).bind(move |()| effect.computing()).boxed()
    });
}

#[test]
fn fibers_that_are_woken_one_by_one_continue_while_the_waking_one_computes() {
    happens_meanwhile(|here, _| {
        let woken = [(); 3].map(|()| {
            let (effect, (reply, answer)) = (Effect::default(), one_shot());
            drop(here.fibers.spawn(effect.after(answer.boxed())));
            (effect, reply)
        });
        let wake = |(effect, reply): (Effect, fiber_core::Resume<()>)| {
            _ = reply.send(());
            effect.compute()
        };
        Fiber::lazy(move || woken.into_iter().all(wake)).boxed()
    });
}

#[test]
fn a_branch_runs_while_the_other_one_computes() {
    happens_meanwhile(|_, effect| {
        let other = effect.after(Fiber::success(()).boxed());
        effect.computing().zip(other).map(|(happened, ())| happened).boxed()
    });
}

#[test]
fn a_timer_fires_while_the_fiber_that_has_set_it_computes() {
    happens_meanwhile(|_, effect| {
        let sleeping = effect.after(Fiber::delay(Duration::from_millis(5)).boxed());
        sleeping.zip(effect.computing()).map(|((), happened)| happened).boxed()
    });
}

#[test]
fn a_timer_of_another_fiber_fires_while_one_computes() {
    happens_meanwhile(|here, effect| {
        let sleep = Fiber::delay(QUIET + Duration::from_millis(80));
        drop(here.fibers.spawn(effect.after(sleep.boxed())));
        effect.computing()
    });
}

#[test]
fn a_socket_of_another_fiber_is_served_while_one_computes() {
    happens_meanwhile(|here, effect| {
        let (received, address) = here.receive();
        drop(here.fibers.spawn(effect.after(received)));
        Fiber::lazy(move || send(address)).bind(move |()| effect.computing()).boxed()
    });
}

#[test]
fn sockets_and_timers_of_tokio_tasks_are_served_while_a_fiber_computes() {
    happens_meanwhile(|here, effect| {
        let ((socket, address), task) = (here.socket(), effect.clone());
        here.runtime.spawn(async move {
            socket.recv(&mut [0]).await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
            task.happen();
        });
        Fiber::lazy(move || send(address)).bind(move |()| effect.computing()).boxed()
    });
}

#[test]
fn a_fiber_that_a_tokio_task_starts_runs_while_the_task_computes() {
    for workers in [2, 4] {
        let (here, effect) = (Place::of(workers), Effect::default());
        let (fibers, forked) = (here.fibers.context().clone(), effect.after(Fiber::success(()).boxed()));
        let computed = here.runtime.spawn(async move {
            tokio::time::sleep(QUIET).await;
            drop(fibers.spawn(forked));
            effect.compute()
        });
        assert!(here.runtime.block_on(computed).unwrap(), "on {workers} workers");
    }
}

#[test]
fn a_fiber_of_one_scheduler_does_not_keep_those_of_another_waiting() {
    happens_meanwhile(|here, effect| {
        let other = TokioScheduler::new(here.runtime.handle());
        let (reply, answer) = one_shot();
        drop(other.spawn(effect.after(answer.boxed())));
        Fiber::lazy(move || _ = reply.send(()))
            .bind(move |()| effect.computing())
            .map(move |happened| (drop(other), happened).1)
            .boxed()
    });
}

#[test]
fn fibers_are_looked_after_while_all_threads_for_blocking_calls_are_taken() {
    let here = Place::new(Builder::new_multi_thread().worker_threads(2).max_blocking_threads(1));
    let (effect, begun) = (Effect::default(), Effect::default());
    let call = {
        let (effect, begun) = (effect.clone(), begun.clone());
        Fiber::blocking(move || {
            begun.happen();
            effect.compute()
        })
    };
    let forked = effect.after(Fiber::success(()).boxed());
    let computing = begun.computing().bind(move |_| forked.fork()).bind(move |_forked| effect.computing());
    let happened = here.fibers.spawn(call.zip(computing).map(|(_, happened)| happened));
    assert!(block_on(happened).unwrap());
}
