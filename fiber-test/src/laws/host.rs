//! The requirements of the laws on a scheduler and its surroundings.

use std::net::SocketAddr;
use std::sync::mpsc::Sender;
use std::time::Duration;

use fiber_core::net::UdpSocket;
use fiber_core::{Context, Fiber, IntoFiber};

use crate::scheduler::TestScheduler;

/// A scheduler with everything that is needed to run fibers on it, as the [laws](crate::laws) see it.
///
/// Two functions have to be implemented: a root context, and a way to run one fiber to its end. See the
/// [module](crate::laws) for an example.
pub trait Host: Sized + 'static {
    /// Whether the host runs everything on the thread that calls [`run`](Host::run), blocking closures included, and
    /// gives up when no fiber can run and no timer is set. Its time then stands still while fibers run.
    ///
    /// The laws then make no fiber wait for another thread, and no endless loop wait for a timer.
    const IS_VIRTUAL: bool = false;

    /// The time limit of one law. A law that takes longer counts as broken, because something hangs. The limit should be
    /// far longer than any law takes on the slowest machine.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// The root of the fibers. Its scheduler is the subject of the laws.
    fn context(&self) -> &Context;

    /// Runs a fiber to its end, and meanwhile all other fibers.
    ///
    /// # Panics
    /// If the fiber cannot end. The law's message includes the panic message.
    fn run(&self, fiber: Fiber<()>);

    /// The number of threads that run fibers.
    fn threads(&self) -> usize {
        1
    }

    /// Whether an idle thread takes fibers and branches from other threads. If so, computations have to run on all
    /// threads at the same time.
    fn shares_work(&self) -> bool {
        true
    }

    /// Whether fibers also run while one of them computes on a thread of the host, without a call of [`run`](Host::run):
    /// on another thread. If so, a computation delays no other fiber. By default, a host with two threads has a spare one.
    fn has_spare_thread(&self) -> bool {
        self.threads() > 1
    }

    /// A fiber that binds a UDP socket of the operating system to the loopback address, sends that address to `bound`, and
    /// ends when a datagram has come. `None`: fibers of the host have no such sockets, or only in another world.
    ///
    /// By default, the socket is that of the [`Net`](fiber_core::scheduler::net::Net) of the scheduler.
    fn receives(&self, bound: Sender<SocketAddr>) -> Option<Fiber<()>> {
        let has_sockets = !Self::IS_VIRTUAL && self.context().scheduler().net().is_some();
        let receives = move |socket: UdpSocket| {
            let address = socket.local_addr().map(|address| bound.send(address));
            address.into_fiber().bind(move |_| socket.recv_from([0])).map(drop)
        };
        has_sockets.then(|| UdpSocket::bind(([127, 0, 0, 1], 0)).bind(receives).boxed())
    }

    /// Cancels all fibers, runs their finalizers, and waits for their end and that of the host's threads. `true`:
    /// everything has ended.
    fn shut_down(self) -> bool;

    /// A call that would block a thread of the host if a fiber or a blocking closure of the host made it, such as
    /// running another fiber to its end. `None`: the host does not guarantee that this panics.
    fn nested_call(&self) -> Option<NestedCall> {
        None
    }
}

/// See [`Host::nested_call`].
pub type NestedCall = Box<dyn FnOnce() + Send>;

/// A [`Host`] without its type.
pub(super) trait AnyHost: 'static {
    fn is_virtual(&self) -> bool;
    fn patience(&self) -> Duration;
    fn context(&self) -> &Context;
    fn run(&self, fiber: Fiber<()>);
    fn threads(&self) -> usize;
    fn shares_work(&self) -> bool;
    fn has_spare_thread(&self) -> bool;
    fn receives(&self, bound: Sender<SocketAddr>) -> Option<Fiber<()>>;
    fn shut_down(self: Box<Self>) -> bool;
    fn nested_call(&self) -> Option<NestedCall>;
}

impl<H: Host> AnyHost for H {
    fn is_virtual(&self) -> bool {
        H::IS_VIRTUAL
    }

    fn patience(&self) -> Duration {
        H::PATIENCE
    }

    fn context(&self) -> &Context {
        Host::context(self)
    }

    fn run(&self, fiber: Fiber<()>) {
        Host::run(self, fiber);
    }

    fn threads(&self) -> usize {
        Host::threads(self)
    }

    fn shares_work(&self) -> bool {
        Host::shares_work(self)
    }

    fn has_spare_thread(&self) -> bool {
        Host::has_spare_thread(self)
    }

    fn receives(&self, bound: Sender<SocketAddr>) -> Option<Fiber<()>> {
        Host::receives(self, bound)
    }

    fn shut_down(self: Box<Self>) -> bool {
        Host::shut_down(*self)
    }

    fn nested_call(&self) -> Option<NestedCall> {
        Host::nested_call(self)
    }
}

impl Host for TestScheduler {
    const IS_VIRTUAL: bool = true;

    fn context(&self) -> &Context {
        TestScheduler::context(self)
    }

    fn run(&self, fiber: Fiber<()>) {
        TestScheduler::run(self, fiber).unwrap();
    }

    fn shut_down(self) -> bool {
        self.context().cancel();
        self.run_until_idle();
        self.context().live_children() == 0
    }
}
