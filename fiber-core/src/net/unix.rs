//! Connections within a host, at paths of its file system.

use std::fmt;
use std::io;
use std::ops::Deref;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::accept::{Accept, Listens};
use super::operation::{Operation, SocketWait, name, network};
use super::serve::{serve, serve_until};
use super::split::{ReadHalf, WriteHalf};
use super::stream::ByteStream;
use crate::combine::Retry;
use crate::engine::context::{Cx, WaitsFor};
use crate::engine::network::{Attempted, PathListenerSocket, Readiness, StreamSocket};
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::error::{Error, Site};
use crate::fiber::Fiber;
use crate::leaf::Leaf;
use crate::outcome::Outcome;
use crate::policy::Policy;

/// A connection through a Unix socket: a [`ByteStream`] within a host. Its clones share the connection, which is closed
/// when the last of them is dropped.
///
/// ```
/// # #[cfg(unix)] {
/// use fiber_core::net::UnixStream;
/// use fiber_core::fiber;
///
/// let fiber = fiber! {
///     let! (one, other) = UnixStream::pair();
///     do! one.write_all("over\n");
///     let! line = other.buffered().line();
///     assert_eq!(line.as_deref(), Some("over"));
/// };
/// assert!(fiber_sched::run(fiber).is_success());
/// # }
/// ```
#[derive(Clone)]
pub struct UnixStream(ByteStream);

impl UnixStream {
    fn new(socket: Box<dyn StreamSocket>, site: Site) -> Self {
        UnixStream(ByteStream::new(socket, "UnixStream", site))
    }

    /// Connects to the path of a [`UnixListener`]. If the queue of the listener is full, the fiber waits for a place, however
    /// long that takes. (Linux reports no event for that: the fiber tries again, every 50 ms at last.)
    ///
    /// A path that begins with a zero byte is an abstract address of Linux, which is in no folder: see [`UnixListener::bind`].
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use fiber_core::net::UnixStream;
    /// let error = fiber_sched::run(UnixStream::connect("/no/such/socket")).failure().unwrap();
    /// assert!(error.to_string().starts_with("connecting to /no/such/socket: "));
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound`, `ConnectionRefused` (no socket listens there any more), `PermissionDenied`... `Unsupported`: this
    /// network has no such sockets.
    ///
    /// # Cancellation
    /// The attempt is aborted.
    #[track_caller]
    pub fn connect(to: impl Into<PathBuf>) -> Fiber<UnixStream, Retry<Leaf<SocketWait<ConnectToPath>>>> {
        let site = Location::caller();
        let attempt = SocketWait::fiber(ConnectToPath { to: to.into(), stream: None, site }, site);
        attempt.retry(Policy::exponential(FIRST_PAUSE).capped(LONGEST_PAUSE).while_input(is_full))
    }

    /// Two ends of a connection without an address.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # use fiber_core::{fiber, net::{UnixListener, UnixStream}};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("socket");
    /// # let program = fiber! {
    /// let! (one, other) = UnixStream::pair();
    /// do! one.write_all("ping");
    /// let! ping = other.read_exact([0; 4]);
    /// assert_eq!(&ping, b"ping");
    /// # drop((path, UnixListener::bind("unused")));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of the operating system. `Unsupported`: this network has no such sockets.
    #[track_caller]
    pub fn pair() -> Fiber<(UnixStream, UnixStream), impl Run<Out = (UnixStream, UnixStream)> + Clone> {
        let site = Location::caller();
        SocketWait::fiber(Pair(site), site)
    }

    /// The two directions, for fibers that own one each: see [`ByteStream::split`].
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # use fiber_core::{fiber, net::{UnixListener, UnixStream}};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("socket");
    /// # let program = fiber! {
    /// let! (one, other) = UnixStream::pair();
    /// let (reads, writes) = one.split();
    /// drop(writes);
    /// let! all = other.buffered().rest();
    /// assert_eq!(all, b"");
    /// # drop((reads, path, UnixListener::bind("unused")));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// # }
    /// ```
    pub fn split(self) -> (ReadHalf, WriteHalf) {
        self.0.split()
    }
}

/// The pauses between attempts to connect to a listener whose queue is full.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// Whether the queue of the listener was full.
fn is_full(error: &Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

/// A path as reports name it: an abstract address of Linux with an `@`, as the tools of the system do.
pub(super) fn place(path: &Path) -> String {
    let text = path.display().to_string();
    text.strip_prefix('\0').map_or(text.clone(), |name| format!("@{name}"))
}

impl Deref for UnixStream {
    type Target = ByteStream;

    fn deref(&self) -> &ByteStream {
        &self.0
    }
}

impl From<UnixStream> for ByteStream {
    fn from(stream: UnixStream) -> Self {
        stream.0
    }
}

impl fmt::Debug for UnixStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UnixStream").field(&format_args!("{}", self.subject())).finish()
    }
}

/// A Unix socket that accepts connections. Its clones share the socket, which is closed when the last of them is
/// dropped. Its path stays in the file system, as with every such socket: [`remove`](UnixListener::remove) it before the next `bind`.
///
/// ```
/// # #[cfg(unix)] {
/// use fiber_core::net::{UnixListener, UnixStream};
/// use fiber_core::fiber;
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("socket");
/// let fiber = fiber! {
///     let! listener = UnixListener::bind(&path);
///     let! client = UnixStream::connect(&path) and! server = listener.accept();
///     do! client.write_all("hello\n");
///     let! line = server.buffered().line();
///     assert_eq!(line.as_deref(), Some("hello"));
/// };
/// assert!(fiber_sched::run(fiber).is_success());
/// # }
/// ```
#[derive(Clone)]
pub struct UnixListener(Arc<Listening>);

struct Listening {
    socket: Box<dyn PathListenerSocket>,
    path: PathBuf,
    subject: Subject,
}

impl UnixListener {
    /// Listens at a path, which must not exist yet.
    ///
    /// On Linux, a path that begins with a zero byte is an *abstract* address: a name in no folder, which is free again when the
    /// listener is dropped. Reports name it with an `@`.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # use fiber_core::{fiber, net::{UnixListener, UnixStream}};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("socket");
    /// # let program = fiber! {
    /// let! listener = UnixListener::bind(&path);
    /// let! second = UnixListener::bind(&path).map(|_| true).catch(|_| fiber_core::Fiber::success(false));
    /// assert!(!second, "something is there");
    /// # drop((listener, UnixStream::pair()));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// # }
    /// ```
    ///
    /// # Errors
    /// `AddrInUse`: the path exists. `Unsupported`: this network has no such sockets.
    #[track_caller]
    pub fn bind(at: impl Into<PathBuf>) -> Fiber<UnixListener, Leaf<SocketWait<BindPath>>> {
        let site = Location::caller();
        SocketWait::fiber(BindPath { at: at.into(), site }, site)
    }

    /// Waits for the next connection. Several fibers may wait at the same time; each connection goes to one of them.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # use fiber_core::{fiber, net::{UnixListener, UnixStream}};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("socket");
    /// # let program = fiber! {
    /// let! listener = UnixListener::bind(&path);
    /// let! client = UnixStream::connect(&path) and! server = listener.accept();
    /// drop(client);
    /// let! (n, _) = server.read([0; 8]);
    /// assert_eq!(n, 0);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`TcpListener::accept`](super::TcpListener::accept).
    ///
    /// # Cancellation
    /// A cancelled fiber has taken no connection.
    #[track_caller]
    pub fn accept(&self) -> Fiber<UnixStream, impl Run<Out = UnixStream> + Clone + use<>> {
        Accept::fiber(self, Location::caller())
    }

    /// Serves connections forever, at most `most` at the same time, as
    /// [`TcpListener::serve`](super::TcpListener::serve) does.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use fiber_core::net::{UnixListener, UnixStream, copy};
    /// use fiber_core::{Either, fiber};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("echo");
    /// let fiber = fiber! {
    ///     let! listener = UnixListener::bind(&path);
    ///     let client = fiber! {
    ///         let! stream = UnixStream::connect(&path);
    ///         do! stream.write_all("over\n");
    ///         return! stream.buffered().line().boxed();
    ///     };
    ///     let! first = listener.serve(10, |stream| copy(stream.clone(), stream).map(drop).boxed()).race(client);
    ///     let Either::Right(line) = first else { unreachable!("it serves without end") };
    ///     line
    /// };
    /// assert_eq!(fiber_sched::run(fiber).unwrap().as_deref(), Some("over"));
    /// # }
    /// ```
    ///
    /// # Errors
    /// As `TcpListener::serve`.
    ///
    /// # Panics
    /// If `most` is zero. A panic of `f` ends the connection.
    ///
    /// # Cancellation
    /// All connections are cancelled and awaited, finalizers included.
    #[track_caller]
    pub fn serve<F>(&self, most: usize, f: F) -> Fiber<()>
    where
        F: Fn(UnixStream) -> Fiber<()> + Send + Sync + 'static,
    {
        serve(self.clone(), most, f, Location::caller())
    }

    /// Serves connections until `stop` ends, and then waits for those that it serves, as
    /// [`TcpListener::serve_until`](super::TcpListener::serve_until) does.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use fiber_core::net::{UnixListener, UnixStream};
    /// use fiber_core::{Fiber, fiber};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("hello");
    /// let fiber = fiber! {
    ///     let! listener = UnixListener::bind(&path);
    ///     let greets = |stream: UnixStream| stream.write_all("hello\n").map(drop).boxed();
    ///     let! stream = UnixStream::connect(&path);
    ///     let stop = stream.clone().readable();
    ///     let! () = listener.serve_until(stop, 10, greets) and! line = stream.buffered().line();
    ///     line
    /// };
    /// assert_eq!(fiber_sched::run(fiber).unwrap().as_deref(), Some("hello"));
    /// # }
    /// ```
    ///
    /// # Errors
    /// As `TcpListener::serve_until`.
    ///
    /// # Panics
    /// As [`serve`](UnixListener::serve).
    ///
    /// # Cancellation
    /// All connections are cancelled and awaited, finalizers included.
    #[track_caller]
    pub fn serve_until<R, F>(&self, stop: Fiber<(), R>, most: usize, f: F) -> Fiber<()>
    where
        R: Run<Out = ()>,
        F: Fn(UnixStream) -> Fiber<()> + Send + Sync + 'static,
    {
        serve_until(self.clone(), stop, most, f, Location::caller())
    }

    /// The path at which it listens.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # use fiber_core::{fiber, net::{UnixListener, UnixStream}};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("socket");
    /// # let program = fiber! {
    /// let! listener = UnixListener::bind(&path);
    /// assert_eq!(listener.path(), path);
    /// # drop(UnixStream::pair());
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// # }
    /// ```
    pub fn path(&self) -> &Path {
        &self.0.path
    }
}

impl Listens for UnixListener {
    type Accepted = UnixStream;

    fn try_accept(&self, site: Site) -> io::Result<UnixStream> {
        Ok(UnixStream::new(self.0.socket.try_accept()?, site))
    }

    fn name(&self, stream: &UnixStream, cx: &Cx<'_>) {
        name(cx, stream.subject(), || Ok(format!("at {}", place(self.path()))));
    }

    fn readable(&self) -> &Readiness {
        self.0.socket.readable()
    }

    fn subject(&self) -> &Subject {
        &self.0.subject
    }
}

impl fmt::Debug for UnixListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UnixListener").field(&self.path()).finish()
    }
}

/// The operation of [`UnixListener::bind`].
#[derive(Clone, Debug)]
pub struct BindPath {
    at: PathBuf,
    site: Site,
}

impl BindPath {
    fn bind(&self, cx: &Cx<'_>) -> Result<UnixListener, Error> {
        let socket = network(cx).and_then(|network| network.listen_at_path(&self.at));
        let failed = |error| Error::from(error).context(format!("listening at {}", place(&self.at)));
        let socket = socket.map_err(failed)?;
        let subject = Subject::new("UnixListener", self.site);
        name(cx, &subject, || Ok(place(&self.at)));
        Ok(UnixListener(Arc::new(Listening { socket, path: self.at.clone(), subject })))
    }
}

/// The operation of [`UnixStream::connect`].
#[derive(Debug)]
pub struct ConnectToPath {
    to: PathBuf,
    stream: Option<UnixStream>,
    site: Site,
}

/// A clone starts anew.
impl Clone for ConnectToPath {
    fn clone(&self) -> Self {
        ConnectToPath { to: self.to.clone(), stream: None, site: self.site }
    }
}

impl ConnectToPath {
    fn begin(&self, cx: &Cx<'_>) -> io::Result<UnixStream> {
        let stream = UnixStream::new(network(cx)?.connect_to_path(&self.to)?, self.site);
        name(cx, stream.subject(), || Ok(format!("to {}", place(&self.to))));
        Ok(stream)
    }

    fn look(stream: &UnixStream) -> Option<io::Result<()>> {
        stream.writing().attempt(|| stream.socket().connected().map(Attempted::Done))
    }
}

impl Operation for ConnectToPath {
    type Out = UnixStream;
    const WAITS_FOR: WaitsFor = WaitsFor::Connection;

    fn operator(&self) -> &'static str {
        "connect"
    }

    fn attempt(&mut self, cx: &Cx<'_>) -> Option<Outcome<UnixStream>> {
        let begun = self.stream.take().map_or_else(|| self.begin(cx), Ok);
        let connected = begun.and_then(|stream| match Self::look(&stream) {
            Some(result) => result.map(|()| Some(stream)),
            None => {
                self.stream = Some(stream);
                Ok(None)
            }
        });
        let failed = |error| Error::from(error).context(format!("connecting to {}", place(&self.to)));
        connected
            .map_err(failed)
            .map_or_else(|error| Some(Outcome::Failure(error)), |it| it.map(Outcome::Success))
    }

    fn readiness(&self) -> Option<&Readiness> {
        self.stream.as_ref().map(|stream| stream.writing())
    }

    fn subject(&self) -> Option<&Subject> {
        self.stream.as_ref().map(|stream| stream.subject())
    }
}

/// The operation of [`UnixStream::pair`].
#[derive(Clone, Debug)]
pub(crate) struct Pair(Site);

macro_rules! at_once {
    ($($operation:ty: $name:literal => $out:ty, $make:expr;)*) => {
        $(impl Operation for $operation {
            type Out = $out;
            const WAITS_FOR: WaitsFor = WaitsFor::Nothing;

            fn operator(&self) -> &'static str {
                $name
            }

            fn attempt(&mut self, cx: &Cx<'_>) -> Option<Outcome<$out>> {
                let make: fn(&Self, &Cx<'_>) -> Result<$out, Error> = $make;
                Some(make(self, cx).into())
            }

            fn readiness(&self) -> Option<&Readiness> {
                None
            }

            fn subject(&self) -> Option<&Subject> {
                None
            }
        })*
    };
}
at_once! {
    BindPath: "bind" => UnixListener, |bind, cx| bind.bind(cx);
    Pair: "pair" => (UnixStream, UnixStream), |Pair(site), cx| {
        let [one, other] = network(cx)?.pair()?;
        Ok((UnixStream::new(one, site), UnixStream::new(other, site)))
    };
}
