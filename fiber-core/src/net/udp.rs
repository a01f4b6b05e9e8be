//! Datagrams.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::sync::Arc;

use super::address::Addresses;
use super::bind::{Bind, Bound};
use super::operation::{Operation, SocketWait, name};
use crate::engine::context::{Cx, WaitsFor};
use crate::engine::network::{Attempted, DatagramSocket, Net, Readiness};
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::error::Site;
use crate::fiber::Fiber;
use crate::leaf::Leaf;
use crate::outcome::Outcome;

/// A UDP socket for datagrams, which may arrive in any order, more than once, or not at all, but always whole. Its clones
/// share the socket, which is closed when the last of them is dropped.
///
/// ```
/// use fiber_core::net::UdpSocket;
/// use fiber_core::fiber;
/// use std::time::Duration;
///
/// let program = || fiber! {
///     let! server = UdpSocket::bind(([127, 0, 0, 1], 0));
///     let! client = UdpSocket::bind(([127, 0, 0, 1], 0));
///     do! client.send_to("ping", server.local_addr()?);
///     // A datagram may be lost, so whoever waits for one has a limit.
///     let! (n, from, buffer) = server.recv_from([0; 64]).timeout(Duration::from_secs(60));
///     assert_eq!((&buffer[..n], from), (&b"ping"[..], client.local_addr()?));
/// };
/// assert!(fiber_sched::run(program()).is_success());
/// assert!(fiber_test::TestScheduler::new().run(program()).is_success());
/// ```
#[derive(Clone)]
pub struct UdpSocket(Arc<Datagrams>);

struct Datagrams {
    socket: Box<dyn DatagramSocket>,
    subject: Subject,
}

impl UdpSocket {
    /// Binds a socket to an address, or to the first of several that is free. Port 0 stands for any free port, which suits a
    /// client that only sends requests and waits for answers.
    ///
    /// ```
    /// use fiber_core::net::UdpSocket;
    /// let port = UdpSocket::bind(([127, 0, 0, 1], 0)).try_map(|socket| socket.local_addr().map(|at| at.port()));
    /// assert_ne!(fiber_sched::run(port).unwrap(), 0);
    /// ```
    ///
    /// # Errors
    /// Those of the last address that was tried.
    #[track_caller]
    pub fn bind(at: impl Addresses) -> Fiber<UdpSocket, Leaf<SocketWait<Bind<UdpSocket>>>> {
        Bind::fiber(at.addresses(), Location::caller())
    }

    /// Sends a datagram to an address, and returns the buffer. A success does not mean that the datagram arrives.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::UdpSocket};
    /// # let program = fiber! {
    /// # let! one = UdpSocket::bind(([127, 0, 0, 1], 0));
    /// # let! other = UdpSocket::bind(([127, 0, 0, 1], 0));
    /// do! one.send_to("ping", other.local_addr()?);
    /// let! (n, from, _) = other.recv_from([0; 64]);
    /// assert_eq!((n, from), (4, one.local_addr()?));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// The datagram is too long (more than 65,507 bytes with IPv4), or those of the operating system. `ConnectionRefused`
    /// may report an earlier datagram.
    ///
    /// # Cancellation
    /// Nothing was sent.
    #[track_caller]
    pub fn send_to<B>(
        &self,
        datagram: B,
        to: impl Into<SocketAddr>,
    ) -> Fiber<B, Leaf<SocketWait<SendDatagram<B>>>>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        self.sends(datagram, Some(to.into()), Location::caller())
    }

    /// Sends a datagram to the address that the socket is [connected](UdpSocket::connect) to, and returns the buffer.
    ///
    /// ```
    /// use fiber_core::net::UdpSocket;
    /// use fiber_core::fiber;
    ///
    /// let fiber = fiber! {
    ///     let! one = UdpSocket::bind(([127, 0, 0, 1], 0));
    ///     let! other = UdpSocket::bind(([127, 0, 0, 1], 0));
    ///     one.connect(other.local_addr()?)?;
    ///     other.connect(one.local_addr()?)?;
    ///     do! one.send("ping");
    ///     let! (n, buffer) = other.recv([0; 64]);
    ///     assert_eq!(&buffer[..n], b"ping");
    /// };
    /// assert!(fiber_sched::run(fiber).is_success());
    /// ```
    ///
    /// # Errors
    /// As with [`send_to`](UdpSocket::send_to); `NotConnected` for example.
    ///
    /// # Cancellation
    /// Nothing was sent.
    #[track_caller]
    pub fn send<B>(&self, datagram: B) -> Fiber<B, Leaf<SocketWait<SendDatagram<B>>>>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        self.sends(datagram, None, Location::caller())
    }

    fn sends<B>(
        &self,
        datagram: B,
        to: Option<SocketAddr>,
        site: Site,
    ) -> Fiber<B, Leaf<SocketWait<SendDatagram<B>>>>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        SocketWait::fiber(SendDatagram { socket: self.clone(), datagram: Some(datagram), to }, site)
    }

    /// Receives a datagram into the buffer: gives its length, its sender, and the buffer. Bytes that do not fit are lost.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::UdpSocket};
    /// # let program = fiber! {
    /// # let! one = UdpSocket::bind(([127, 0, 0, 1], 0));
    /// # let! other = UdpSocket::bind(([127, 0, 0, 1], 0));
    /// do! one.send_to("ping", other.local_addr()?);
    /// let! (n, from, buffer) = other.recv_from([0; 2]);
    /// // The rest did not fit.
    /// assert_eq!((&buffer[..n], from), (&b"pi"[..], one.local_addr()?));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of the operating system. The buffer is dropped.
    ///
    /// # Cancellation
    /// A cancelled receive has taken nothing; the buffer is dropped. The same holds for one that loses a
    /// [race](Fiber::race) with another single wait. For a race of larger programs, see
    /// [`readable`](UdpSocket::readable).
    #[track_caller]
    pub fn recv_from<B>(&self, buffer: B) -> Fiber<(usize, SocketAddr, B), Leaf<SocketWait<ReceiveFrom<B>>>>
    where
        B: AsMut<[u8]> + Send + 'static,
    {
        let receive = Receive { socket: self.clone(), buffer: Some(buffer) };
        SocketWait::fiber(ReceiveFrom(receive), Location::caller())
    }

    /// Like [`recv_from`](UdpSocket::recv_from), for a socket that is [connected](UdpSocket::connect): the length, and the
    /// buffer.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::UdpSocket};
    /// # let program = fiber! {
    /// # let! one = UdpSocket::bind(([127, 0, 0, 1], 0));
    /// # let! other = UdpSocket::bind(([127, 0, 0, 1], 0));
    /// one.connect(other.local_addr()?)?;
    /// do! other.send_to("ping", one.local_addr()?);
    /// let! (n, buffer) = one.recv([0; 64]);
    /// assert_eq!(&buffer[..n], b"ping");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// As with `recv_from`. `ConnectionRefused`: no socket listens at the address that it is connected to.
    ///
    /// # Cancellation
    /// As with `recv_from`.
    #[track_caller]
    pub fn recv<B>(&self, buffer: B) -> Fiber<(usize, B), Leaf<SocketWait<Receive<B>>>>
    where
        B: AsMut<[u8]> + Send + 'static,
    {
        SocketWait::fiber(Receive { socket: self.clone(), buffer: Some(buffer) }, Location::caller())
    }

    /// Waits until there is a datagram or an error, without taking it: see [`ByteStream::readable`].
    ///
    /// ```
    /// use fiber_core::net::UdpSocket;
    /// use fiber_core::sync::Notify;
    /// use fiber_core::{Either, Fiber, fiber};
    ///
    /// /// The next datagram, unless it is told to stop before. None is lost.
    /// fn next(socket: UdpSocket, stop: Notify) -> Fiber<Option<Vec<u8>>> {
    ///     fiber! {
    ///         let! first = socket.readable().race(stop.wait());
    ///         let Either::Left(()) = first else { return None };
    ///         let! (n, _, mut buffer) = socket.recv_from(vec![0; 2048]);
    ///         buffer.truncate(n);
    ///         Some(buffer)
    ///     }
    /// }
    /// ```
    ///
    /// # Cancellation
    /// Nothing is undone.
    ///
    /// [`ByteStream::readable`]: super::ByteStream::readable
    #[track_caller]
    pub fn readable(&self) -> Fiber<(), impl Run<Out = ()> + Clone + use<>> {
        SocketWait::fiber(Arrived { socket: self.clone() }, Location::caller())
    }

    /// Connects the socket: it then sends to this address, and receives from this address only: see
    /// [`send`](UdpSocket::send). This sends nothing.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::UdpSocket};
    /// # let program = fiber! {
    /// # let! one = UdpSocket::bind(([127, 0, 0, 1], 0));
    /// # let! other = UdpSocket::bind(([127, 0, 0, 1], 0));
    /// one.connect(other.local_addr()?)?;
    /// assert_eq!(one.peer_addr()?, other.local_addr()?);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn connect(&self, to: impl Into<SocketAddr>) -> io::Result<()> {
        self.0.socket.connect(to.into())
    }

    /// The address of this socket.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::UdpSocket};
    /// # let program = fiber! {
    /// # let! one = UdpSocket::bind(([127, 0, 0, 1], 0));
    /// # let! other = UdpSocket::bind(([127, 0, 0, 1], 0));
    /// assert_ne!(one.local_addr()?.port(), other.local_addr()?.port());
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.socket.local_addr()
    }

    /// The address that it is connected to.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::UdpSocket};
    /// # let program = fiber! {
    /// # let! one = UdpSocket::bind(([127, 0, 0, 1], 0));
    /// # let! other = UdpSocket::bind(([127, 0, 0, 1], 0));
    /// assert!(one.peer_addr().is_err());
    /// one.connect(other.local_addr()?)?;
    /// assert_eq!(one.peer_addr()?, other.local_addr()?);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// It is not connected.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.socket.peer_addr()
    }

    fn arriving(&self) -> &Readiness {
        self.0.socket.readable()
    }

    fn receive(&self, into: &mut [u8]) -> Option<io::Result<(usize, SocketAddr)>> {
        self.arriving().attempt(|| self.0.socket.try_receive(into).map(Attempted::Done))
    }
}

impl Bound for UdpSocket {
    const DOING: &'static str = "binding to";

    fn bind(cx: &Cx<'_>, network: &dyn Net, at: SocketAddr, site: Site) -> io::Result<Self> {
        let (socket, subject) = (network.bind_datagrams(at)?, Subject::new("UdpSocket", site));
        name(cx, &subject, || Ok(socket.local_addr()?.to_string()));
        Ok(UdpSocket(Arc::new(Datagrams { socket, subject })))
    }
}

impl fmt::Debug for UdpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UdpSocket").field(&self.local_addr()).finish()
    }
}

/// The operation of [`UdpSocket::send_to`] and [`UdpSocket::send`].
#[derive(Clone)]
pub struct SendDatagram<B> {
    socket: UdpSocket,
    /// `None` after the buffer was returned.
    datagram: Option<B>,
    to: Option<SocketAddr>,
}

impl<B: AsRef<[u8]> + Send + 'static> Operation for SendDatagram<B> {
    type Out = B;
    const WAITS_FOR: WaitsFor = WaitsFor::Sending;

    fn operator(&self) -> &'static str {
        if self.to.is_some() { "send_to" } else { "send" }
    }

    fn attempt(&mut self, _: &Cx<'_>) -> Option<Outcome<B>> {
        let datagram = self.datagram.as_ref()?.as_ref();
        let socket = &*self.socket.0.socket;
        let sent = socket.writable().attempt(|| socket.try_send(datagram, self.to).map(Attempted::Done))?;
        let datagram = self.datagram.take()?;
        Some(sent.map(|()| datagram).into())
    }

    fn readiness(&self) -> Option<&Readiness> {
        Some(self.socket.0.socket.writable())
    }

    fn subject(&self) -> Option<&Subject> {
        Some(&self.socket.0.subject)
    }
}

/// The operation of [`UdpSocket::recv`].
#[derive(Clone)]
pub struct Receive<B> {
    socket: UdpSocket,
    /// `None` after the buffer was returned.
    buffer: Option<B>,
}

impl<B: AsMut<[u8]>> Receive<B> {
    fn receive(&mut self) -> Option<io::Result<(usize, SocketAddr, B)>> {
        let received = self.socket.receive(self.buffer.as_mut()?.as_mut())?;
        let buffer = self.buffer.take()?;
        Some(received.map(|(n, from)| (n, from, buffer)))
    }
}

impl<B: AsMut<[u8]> + Send + 'static> Operation for Receive<B> {
    type Out = (usize, B);
    const WAITS_FOR: WaitsFor = WaitsFor::Data;

    fn operator(&self) -> &'static str {
        "recv"
    }

    fn attempt(&mut self, _: &Cx<'_>) -> Option<Outcome<(usize, B)>> {
        Some(self.receive()?.map(|(n, _, buffer)| (n, buffer)).into())
    }

    fn readiness(&self) -> Option<&Readiness> {
        Some(self.socket.arriving())
    }

    fn subject(&self) -> Option<&Subject> {
        Some(&self.socket.0.subject)
    }
}

/// The operation of [`UdpSocket::recv_from`].
#[derive(Clone)]
pub struct ReceiveFrom<B>(Receive<B>);

impl<B: AsMut<[u8]> + Send + 'static> Operation for ReceiveFrom<B> {
    type Out = (usize, SocketAddr, B);
    const WAITS_FOR: WaitsFor = WaitsFor::Data;

    fn operator(&self) -> &'static str {
        "recv_from"
    }

    fn attempt(&mut self, _: &Cx<'_>) -> Option<Outcome<Self::Out>> {
        self.0.receive().map(Outcome::from)
    }

    fn readiness(&self) -> Option<&Readiness> {
        self.0.readiness()
    }

    fn subject(&self) -> Option<&Subject> {
        self.0.subject()
    }
}

/// The operation of [`UdpSocket::readable`].
#[derive(Clone, Debug)]
pub(crate) struct Arrived {
    socket: UdpSocket,
}

impl Operation for Arrived {
    type Out = ();
    const WAITS_FOR: WaitsFor = WaitsFor::Data;

    fn operator(&self) -> &'static str {
        "readable"
    }

    fn attempt(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        // An error counts as well: the next call returns it.
        let socket = &self.socket.0.socket;
        _ = self.socket.arriving().attempt(|| socket.try_peek().map(Attempted::Done))?;
        Some(Outcome::Success(()))
    }

    fn readiness(&self) -> Option<&Readiness> {
        Some(self.socket.arriving())
    }

    fn subject(&self) -> Option<&Subject> {
        Some(&self.socket.0.subject)
    }
}

impl<B> fmt::Debug for SendDatagram<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendDatagram").field("socket", &self.socket).field("to", &self.to).finish()
    }
}

impl<B> fmt::Debug for Receive<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Receive").field(&self.socket).finish()
    }
}

impl<B> fmt::Debug for ReceiveFrom<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReceiveFrom").field(&self.0.socket).finish()
    }
}
