//! A simulated network in virtual time: the implementation of [`fiber_core::net`] by this crate's schedulers.
//!
//! | file | what |
//! |---|---|
//! | `world` | the sockets of all hosts, the latencies, and who is up |
//! | `net` | the [`Net`](fiber_core::scheduler::net::Net) of the machine: it opens sockets |
//! | `link` | a connection: its two ends, and the packets in transit |
//! | `ends` | the two ends of a connection: what each call on them gives |
//! | `addresses` | which socket hears what is sent to an address |
//! | `paths` | the paths of Unix sockets |
//! | `hosts` | computers with names, which crash and restart, and their programs |
//! | `ways` | the ways between hosts: latency, bandwidth, cuts |
//! | `faults` | the faults that the explorer injects |
//! | `socket` | the ends of a connection, and listeners, as fibers see them |
//! | `datagrams` | sockets for datagrams |
//! | `delivery` | the arrival of a packet, as a task of the machine |
//! | `errors` | errors without a kind |
//!
//! An arrival is a timer, and then a runnable task: the schedule decides whether a fiber runs before or
//! after it. The schedule also decides whether a read or a write is cut short, and where.

mod addresses;
mod datagrams;
mod delivery;
mod ends;
mod errors;
mod faults;
mod hosts;
mod link;
mod net;
mod paths;
mod socket;
mod ways;
mod world;

pub use hosts::Host;
pub use ways::Way;

use std::any::Any;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use fiber_core::{Error, Fiber};

use crate::machine::{Machine, State};
use world::World;

/// The simulated network of a [`TestScheduler`](crate::TestScheduler), or of a program under [`Explore`](crate::Explore):
/// its settings and its faults. Programs use it by [`fiber_core::net`], like a real one.
///
/// Without [hosts](Network::host), everything runs on one host, which has all addresses. A client connects from `127.0.0.1` or
/// `::1`, with a port that is not in use.
///
/// ```
/// use fiber_core::fiber;
/// use fiber_core::net::{TcpListener, TcpStream};
/// use fiber_test::TestScheduler;
/// use std::time::Duration;
///
/// let test = TestScheduler::new();
/// test.network().set_latency(Duration::from_millis(40));
/// let round_trip = fiber! {
///     let! listener = TcpListener::bind(([10, 0, 0, 7], 80));
///     // A packet there, and one back.
///     let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
///     do! client.write_all("ping");
///     let! (n, _) = server.read([0; 64]);
///     n
/// };
/// let (read, elapsed) = test.run_timed(round_trip);
/// assert_eq!((read.unwrap(), elapsed), (4, Duration::from_millis(120)));
/// ```
#[derive(Clone)]
pub struct Network(Arc<World>);

/// The network of the calling fiber, to configure it or to inject faults within a program. Because the program itself decides
/// when it does so, the schedule does.
///
/// # Errors
/// On a scheduler of another crate.
#[track_caller]
pub fn network() -> Fiber<Network> {
    let of = |context: fiber_core::Context| {
        let machine = Machine::of(&**context.scheduler());
        let missing = || Error::msg("only a TestScheduler has a simulated network");
        machine.map(Network::of).ok_or_else(missing)
    };
    Fiber::current().try_map(of).boxed()
}

/// A machine whose programs find this network.
pub(crate) fn machine(state: State) -> Arc<Machine> {
    Machine::new(state, |machine| World::new(machine))
}

impl Network {
    pub(crate) fn of(machine: &Machine) -> Self {
        let network: Arc<dyn Any + Send + Sync> = machine.network().clone();
        Network(network.downcast().expect("`machine` made it"))
    }

    /// Sets the latency of a packet. The default is zero.
    pub fn set_latency(&self, latency: Duration) {
        self.0.settings().latency = latency;
    }

    /// Sets the maximum additional latency of a packet. Each packet draws its own, so those of different connections overtake each
    /// other; the seed of the run decides. The default is zero.
    ///
    /// ```
    /// use fiber_core::fiber;
    /// use fiber_core::net::{TcpListener, TcpStream};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::with_seed(1);
    /// test.network().set_jitter(Duration::from_millis(10));
    /// let connect = fiber! {
    ///     let! listener = TcpListener::bind(([10, 0, 0, 7], 80));
    ///     do! TcpStream::connect(listener.local_addr()?).map(drop);
    /// };
    /// let (outcome, elapsed) = test.run_timed(connect);
    /// assert!(outcome.is_success());
    /// // A packet there, and one back.
    /// assert!(!elapsed.is_zero() && elapsed <= Duration::from_millis(20));
    /// ```
    pub fn set_jitter(&self, most: Duration) {
        self.0.settings().jitter = most;
    }

    /// Sets how many bytes may be in transit or unread in one direction of a connection that is made from now on. The default is
    /// 64 KiB. With a small number, writes are short.
    ///
    /// ```
    /// use fiber_core::fiber;
    /// use fiber_core::net::{TcpListener, TcpStream};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// test.network().set_capacity(4);
    /// let program = fiber! {
    ///     let! listener = TcpListener::bind(([10, 0, 0, 7], 80));
    ///     let! client = TcpStream::connect(listener.local_addr()?) and! _server = listener.accept();
    ///     // Nobody reads.
    ///     let! written = client.write_all("hello").timeout_option(Duration::from_secs(1));
    ///     written.is_some()
    /// };
    /// assert!(!test.run(program).unwrap());
    /// ```
    ///
    /// # Panics
    /// If it is zero, because nothing could ever be written.
    #[track_caller]
    pub fn set_capacity(&self, bytes: usize) {
        assert!(bytes > 0, "a connection needs a capacity of at least 1 byte");
        self.0.settings().capacity = bytes;
    }

    /// The [host](Host) of this name. The first call creates it, with the next one of the addresses 10.0.0.1, 10.0.0.2...
    /// [`resolve`](fiber_core::net::resolve) finds it.
    ///
    /// # Panics
    /// If the name is invalid: a name consists of letters, digits, `-`, `_` and `.`.
    #[track_caller]
    pub fn host(&self, name: &str) -> Host {
        Host { number: self.0.host(name), world: self.0.clone() }
    }

    /// Replaces the default address of a host.
    ///
    /// ```
    /// use fiber_test::TestScheduler;
    ///
    /// let network = TestScheduler::new().network();
    /// network.set_host("database", [192, 168, 0, 1].into());
    /// assert_eq!(network.host("database").at(5432).to_string(), "192.168.0.1:5432");
    /// ```
    ///
    /// # Panics
    /// If the name is invalid.
    #[track_caller]
    pub fn set_host(&self, name: impl Into<String>, address: IpAddr) {
        self.0.set_address(&name.into(), address);
    }

    /// The way between two hosts, to configure it or to inject faults. Fibers without a host run on `localhost`.
    ///
    /// ```
    /// use fiber_test::TestScheduler;
    ///
    /// let network = TestScheduler::new().network();
    /// assert_eq!(network.between("a", "b").to_string(), "the way between a and b");
    /// ```
    ///
    /// # Panics
    /// If a name is invalid.
    #[track_caller]
    pub fn between(&self, one: &str, other: &str) -> Way {
        Way { ends: [self.0.host(one), self.0.host(other)], world: self.0.clone() }
    }

    /// Cuts all ways between the hosts of one part and those of another one, until they are healed, individually or
    /// [all](Network::heal_all) at once.
    ///
    /// ```
    /// use fiber_core::net::{TcpListener, TcpStream};
    /// use fiber_core::fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// let network = test.network();
    /// let (a, b) = (network.host("a"), network.host("b"));
    /// let at = b.at(80);
    /// network.partition(["a"], ["b", "c"]);
    /// let connects = a.run(move || TcpStream::connect(at).map(drop));
    /// let listens = b.run(|| TcpListener::bind(([0, 0, 0, 0], 80)).bind(|listener| listener.accept().map(drop)));
    /// let heals = fiber! {
    ///     do! fiber_core::Fiber::delay(Duration::from_secs(60));
    ///     network.heal_all();
    /// };
    /// let (outcome, elapsed) = test.run_timed(connects.zip(listens).zip(heals));
    /// assert!(outcome.is_success());
    /// assert_eq!(elapsed, Duration::from_secs(60));
    /// ```
    ///
    /// # Panics
    /// If a name is invalid.
    #[track_caller]
    pub fn partition<'a>(
        &self,
        part: impl IntoIterator<Item = &'a str>,
        others: impl IntoIterator<Item = &'a str> + Clone,
    ) {
        for one in part {
            others.clone().into_iter().for_each(|other| self.between(one, other).cut());
        }
    }

    /// Heals all cuts, and every [`partition`](Network::partition).
    pub fn heal_all(&self) {
        self.0.heal_all();
    }

    /// Cuts the way to a listener, in both directions, for existing and new connections. No data is lost,
    /// because TCP retransmits it: it arrives once the way is [healed](Network::heal). A listener at all addresses, such as `0.0.0.0:80`,
    /// stands for all that have its port.
    ///
    /// ```
    /// use fiber_core::{Fiber, fiber};
    /// use fiber_core::net::{TcpListener, TcpStream};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// let network = test.network();
    /// let program = fiber! {
    ///     let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    ///     let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    ///     network.cut(listener.local_addr()?);
    ///     do! client.write_all("hello\n");
    ///     let heal = Fiber::delay(Duration::from_secs(60)).map(move |()| network.heal(listener.local_addr().unwrap()));
    ///     let! line = server.buffered().line() and! () = heal;
    ///     line
    /// };
    /// let (line, elapsed) = test.run_timed(program);
    /// assert_eq!((line.unwrap().as_deref(), elapsed), (Some("hello"), Duration::from_secs(60)));
    /// ```
    pub fn cut(&self, listener: SocketAddr) {
        self.0.cut(listener);
    }

    /// Heals a [cut](Network::cut).
    pub fn heal(&self, listener: SocketAddr) {
        self.0.heal(listener);
    }

    /// Resets all connections to a listener: both ends fail at once with `ConnectionReset`, and data in transit
    /// is lost. Data that has arrived may still be read first. A listener at all addresses stands for all that have its port.
    ///
    /// ```
    /// use fiber_core::fiber;
    /// use fiber_core::net::{TcpListener, TcpStream};
    /// use fiber_test::TestScheduler;
    /// use std::io;
    ///
    /// let test = TestScheduler::new();
    /// let network = test.network();
    /// let program = fiber! {
    ///     let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    ///     let! client = TcpStream::connect(listener.local_addr()?) and! (_server, _) = listener.accept();
    ///     network.reset(listener.local_addr()?);
    ///     return! client.read([0; 8]).map(drop).boxed();
    /// };
    /// let error = test.run(program).failure().unwrap();
    /// assert_eq!(error.downcast_ref::<io::Error>().unwrap().kind(), io::ErrorKind::ConnectionReset);
    /// ```
    pub fn reset(&self, listener: SocketAddr) {
        self.0.reset(listener);
    }

    /// The number of connections of which an end is open.
    pub fn connections(&self) -> usize {
        self.0.connections()
    }
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").field("connections", &self.connections()).finish_non_exhaustive()
    }
}
