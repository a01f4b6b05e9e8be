//! Hosts: computers with their own names and addresses, which crash and restart.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::ops::ControlFlow;
use std::panic::Location;
use std::sync::Arc;

use fiber_core::sync::Watch;
use fiber_core::{Fiber, Handle, Outcome, Run};

use super::world::World;
use crate::disk::Disk;
use crate::machine::{Machine, Place};
use crate::primitive::Site;

/// The host of fibers that were not given to any: it has all addresses that no other host has.
pub(super) const LOCALHOST: usize = 0;

/// A host, as the world sees it.
pub(super) struct HostState {
    pub(super) name: String,
    pub(super) address: IpAddr,
    pub(super) power: Watch<Power>,
    pub(super) disk: Disk,
}

/// Whether a host runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Power {
    pub(super) is_up: bool,
    /// The number of its crashes.
    pub(super) crashes: u32,
}

impl HostState {
    pub(super) fn new(name: &str, address: IpAddr) -> Self {
        let power = Watch::new(Power { is_up: true, crashes: 0 }).named(&format!("power of host {name}"));
        HostState { name: name.to_owned(), address, power, disk: Disk::new() }
    }
}

/// A host of the simulated [`Network`](crate::Network): a computer with a name and an address.
///
/// A fiber runs on a host if it, or the fiber that made it, was given to [`run`](Host::run). It listens at the host's address and
/// connects from there. A host may [crash](Host::crash) and [restart](Host::restart).
///
/// ```
/// use fiber_core::net::{TcpListener, TcpStream};
/// use fiber_core::{Either, fiber};
/// use fiber_test::TestScheduler;
/// use std::time::Duration;
///
/// let test = TestScheduler::new();
/// let network = test.network();
/// let (server, client) = (network.host("server"), network.host("client"));
/// network.between("server", "client").set_latency(Duration::from_millis(20));
///
/// let serves = server.run(|| fiber! {
///     let! listener = TcpListener::bind(([0, 0, 0, 0], 80));
///     return! listener.serve(10, |stream, _| stream.write_all("hello\n").map(drop).boxed());
/// });
/// let at = server.at(80);
/// let asks = client.run(move || fiber! {
///     let! stream = TcpStream::connect(at);
///     return! stream.buffered().line().boxed();
/// });
/// let (first, elapsed) = test.run_timed(serves.race(asks));
/// let Either::Right(line) = first.unwrap() else { unreachable!("it serves without end") };
/// assert_eq!((line.as_deref(), elapsed), (Some("hello"), Duration::from_millis(40)));
/// ```
#[derive(Clone)]
pub struct Host {
    pub(super) world: Arc<World>,
    pub(super) number: usize,
}

impl Host {
    /// Its name.
    pub fn name(&self) -> String {
        self.world.name(self.number)
    }

    /// Its address.
    pub fn address(&self) -> IpAddr {
        self.world.address(self.number)
    }

    /// The host's address with this port.
    pub fn at(&self, port: u16) -> SocketAddr {
        (self.address(), port).into()
    }

    /// Whether the host runs: initially true, until it crashes.
    pub fn is_up(&self) -> bool {
        self.power().get().is_up
    }

    /// Its disk.
    pub fn disk(&self) -> Disk {
        self.world.disk(self.number)
    }

    /// Crashes the host. Its fibers are cancelled, its listeners are closed, and its connections are reset; the other ends notice
    /// when a packet would reach them. Its disk loses what was not synced. While it is down, connections to it are refused. If it is already down, nothing happens.
    ///
    /// Finalizers of its fibers run, as in every cancellation, but without a network: their operations fail. Regions that are
    /// `uncancelable` run to their ends, too. The test itself is responsible for memory that the host shares with others.
    ///
    /// # Panics
    /// If it is `localhost`, on which the test itself runs.
    #[track_caller]
    pub fn crash(&self) {
        assert!(self.number != LOCALHOST, "localhost cannot crash: the test itself runs there");
        self.world.crash(self.number);
    }

    /// Restarts the host after a crash. Programs that were given to [`run`](Host::run) start anew.
    pub fn restart(&self) {
        self.world.restart_host(self.number);
    }

    /// Runs a program on this host, under the name of the host. When the host crashes, the program is cancelled and awaited. When
    /// it restarts, `program` makes the program anew. So a crash loses the state that the function creates. The state that it
    /// captures stays, and so do the files that it has synced: [`fiber_core::fs`] is the disk of the host here.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// let host = test.network().host("a");
    /// let disk = Arc::new(AtomicU32::new(0));
    /// let seconds = |n| Fiber::delay(Duration::from_secs(n));
    ///
    /// let program = host.run(move || {
    ///     let starts = disk.fetch_add(1, SeqCst) + 1;
    ///     seconds(10).map(move |()| starts)
    /// });
    /// let breaks = seconds(5).bind(move |()| {
    ///     host.crash();
    ///     seconds(1).map(move |()| host.restart())
    /// });
    /// let (outcome, elapsed) = test.run_timed(program.zip(breaks));
    /// assert_eq!((outcome.unwrap().0, elapsed), (2, Duration::from_secs(16)));
    /// ```
    ///
    /// # Errors
    /// Those of the program, unless the host has crashed meanwhile.
    ///
    /// # Panics
    /// A panic of the program is its outcome, with a crash and without.
    ///
    /// # Cancellation
    /// The program is cancelled and awaited.
    #[track_caller]
    pub fn run<T, R, F>(&self, program: F) -> Fiber<T>
    where
        T: Send + 'static,
        R: Run<Out = T>,
        F: Fn() -> Fiber<T, R> + Send + Sync + 'static,
    {
        let (host, of, program) = (self.clone(), self.clone(), Arc::new(program));
        let site = Location::caller();
        // A failure after a crash counts as a cancellation, even if nothing waits for the program any more.
        let once = Fiber::defer(move || {
            let before = of.power().get();
            program().map_outcome_at(site, move |outcome| match outcome {
                Outcome::Failure(_) if of.has_crashed_since(before) => Outcome::Cancelled,
                outcome => outcome,
            })
        });
        // Made here, and cloned: reports name the place of the caller as that of the fork.
        let fork = once.named(&*self.name()).fork();
        Fiber::iterate((), move |()| {
            let power = host.power();
            // In this order: a change after the check is seen.
            let (changes, now) = (power.watch(), power.get());
            if now.is_up {
                host.clone().run_once(now, fork.clone(), site)
            } else {
                changes.changed_at(site).map(|_| ControlFlow::Continue(())).boxed()
            }
        })
        .boxed()
    }

    /// Runs the program that is forked until it ends, or the host crashes. Reports name `site` as the place of the wait.
    fn run_once<T, R>(self, power: Power, fork: Fiber<Handle<T>, R>, site: Site) -> Fiber<ControlFlow<T>>
    where
        T: Send + 'static,
        R: Run<Out = Handle<T>>,
    {
        let place = Place { host: self.number as u16, crashes: power.crashes };
        let now = self.power();
        let put = move |handle: Handle<T>| {
            if let Some(machine) = Machine::of(&**handle.context().scheduler()) {
                machine.put(handle.context(), place);
            }
            // The host has crashed before the fiber existed.
            if now.get() != power {
                handle.cancel_now();
            }
            handle
        };
        let ended = fork.map(put).bind_at(site, move |handle| handle.outcome_at(site));
        ended.bind_at(site, move |outcome| self.ended(power, outcome)).boxed()
    }

    fn ended<T: Send + 'static>(&self, before: Power, outcome: Outcome<T>) -> Fiber<ControlFlow<T>> {
        match outcome {
            Outcome::Failure(_) | Outcome::Cancelled if self.has_crashed_since(before) => {
                Fiber::success(ControlFlow::Continue(())).boxed()
            }
            outcome => Fiber::from_outcome(outcome.map(ControlFlow::Break)).boxed(),
        }
    }

    fn has_crashed_since(&self, before: Power) -> bool {
        self.power().get().crashes != before.crashes
    }

    fn power(&self) -> Watch<Power> {
        self.world.power(self.number)
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "host {} at {}", self.name(), self.address())
    }
}
