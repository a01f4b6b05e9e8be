//! A simulated network in virtual time: what fibers of this crate's schedulers see as [`fiber_core::net`].
//!
//! | file | what |
//! |---|---|
//! | `world` | who listens where, and how long it takes to get there: the [`Net`](fiber_core::net::Net) of the machine |
//! | `link` | a connection: two pipes, and what is on its way in them |
//! | `socket` | the ends of a connection, and listeners, as fibers have them |
//! | `datagrams` | sockets for datagrams |
//! | `delivery` | what arrives, as a task of the machine |
//!
//! What arrives is a timer, and then a task that can run: it is a decision of the schedule whether a fiber runs before or
//! after it. A write arrives in two parts, so a fiber that runs between the two reads less than was written.

mod datagrams;
mod delivery;
mod link;
mod socket;
mod world;

pub(crate) use world::World;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use fiber_core::{Error, Fiber};

use crate::machine::Machine;

/// The simulated network of a [`TestScheduler`](crate::TestScheduler), or of a program under [`Explore`](crate::Explore):
/// its settings and its faults. Programs use it by [`fiber_core::net`], as they use a real one.
///
/// Everything takes place on one host that has all addresses. A connection comes from `127.0.0.1` or `::1`, and a port that
/// nobody uses.
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

/// The network of the fiber that asks, to set it up or to break it in the middle of a program: the program itself decides
/// when, so the schedule does.
///
/// # Errors
/// On a scheduler that is not of this crate.
pub fn network() -> Fiber<Network> {
    let of = |context: fiber_core::Context| {
        let machine = Machine::of(&**context.scheduler());
        let missing = || Error::msg("the network of a test is there on a TestScheduler only");
        machine.map(|machine| Network(machine.network().clone())).ok_or_else(missing)
    };
    Fiber::current().try_map(of).boxed()
}

impl Network {
    pub(crate) fn of(machine: &Machine) -> Self {
        Network(machine.network().clone())
    }

    /// How long a packet takes. Zero at first.
    pub fn set_latency(&self, latency: Duration) {
        self.0.settings().latency = latency;
    }

    /// How much longer a packet may take. Each one draws its time, so those of different connections overtake each other;
    /// the seed of the run decides. Zero at first.
    pub fn set_jitter(&self, most: Duration) {
        self.0.settings().jitter = most;
    }

    /// How many bytes may be on their way or unread in one direction of a connection that is made from now on. 64 KiB at
    /// first. With a small number, writes are short.
    ///
    /// # Panics
    /// If it is zero: nothing could ever be written.
    pub fn set_capacity(&self, bytes: usize) {
        assert!(bytes > 0, "a connection of no bytes carries nothing");
        self.0.settings().capacity = bytes;
    }

    /// Gives a host a name, for [`resolve`](fiber_core::net::resolve). `localhost` has one.
    pub fn set_host(&self, name: impl Into<String>, address: IpAddr) {
        self.0.settings().hosts.insert(name.into(), address);
    }

    /// Cuts the way to a listener, in both directions, for connections that are there and those to come. Nothing is lost,
    /// because TCP repeats it: it arrives once the way is [healed](Network::heal).
    pub fn cut(&self, listener: SocketAddr) {
        self.0.cut(listener);
    }

    /// Heals a [cut](Network::cut).
    pub fn heal(&self, listener: SocketAddr) {
        self.0.heal(listener);
    }

    /// Resets all connections that were made to a listener: both ends fail at once with `ConnectionReset`, and what was
    /// not read is lost.
    pub fn reset(&self, listener: SocketAddr) {
        self.0.reset(listener);
    }

    /// How many connections there are of which an end is open.
    pub fn connections(&self) -> usize {
        self.0.connections()
    }
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").field("connections", &self.connections()).finish_non_exhaustive()
    }
}
