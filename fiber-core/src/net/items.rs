//! Lines and connections as `futures_core::Stream`. A poll takes an item only to return it, so a stream that is dropped, or whose poll
//! is, has taken nothing else.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::accept::{Listens, try_accept};
use super::asynchronous::{leave, poll};
use super::buf_reader::{BufReader, Line, Taker};
use super::listener::TcpListener;
use super::tcp::TcpStream;
use super::unix::{UnixListener, UnixStream};
use crate::block::Streak;
use crate::engine::network::Place;
use crate::error::Site;

impl BufReader {
    /// The lines as a stream: see [`line`](BufReader::line). It ends with the stream of bytes, or after an error; the reader and
    /// its clones can still read what is left.
    ///
    /// ```
    /// # use fiber_core::{Error, Fiber, fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// use futures_util::TryStreamExt;
    ///
    /// do! client.write_all("one\ntwo").map(|_| drop(client));
    /// let lines = server.buffered().lines();
    /// let! lines = Fiber::from_future(lines.try_collect::<Vec<String>>());
    /// assert_eq!(lines, ["one", "two"]);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Cancellation
    /// The bytes read stay in the buffer.
    pub fn lines(&self) -> Lines {
        Lines { taker: self.taker(), place: None, streak: Streak::default(), is_over: false }
    }
}

/// The lines of a reader; see [`BufReader::lines`].
pub struct Lines {
    taker: Taker,
    /// The place of the waker.
    place: Option<Place>,
    streak: Streak,
    is_over: bool,
}

impl Stream for Lines {
    type Item = io::Result<String>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<String>>> {
        let Lines { taker, place, streak, is_over } = self.get_mut();
        if *is_over {
            return Poll::Ready(None);
        }
        let Taker { reader, is_waiting } = taker;
        poll(reader.stream().reading(), place, streak, cx, || reader.take(is_waiting, &mut Line)).map(
            |line| {
                *is_over = !matches!(line, Ok(Some(_)));
                line.transpose()
            },
        )
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        leave(self.taker.reader.stream().reading(), &mut self.place);
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lines").field(&self.taker.reader).finish()
    }
}

impl TcpListener {
    /// The connections as a stream without an end: see [`accept`](TcpListener::accept). [`serve`](TcpListener::serve) also forks a
    /// fiber for each connection, limits their number, and pauses after an error.
    ///
    /// ```
    /// # use fiber_core::{Fiber, fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let at = listener.local_addr()?;
    /// use futures_util::{StreamExt, TryStreamExt};
    ///
    /// let two = Fiber::from_future(listener.accepts().take(2).try_collect::<Vec<_>>());
    /// let! accepted = two and! one = TcpStream::connect(at) and! other = TcpStream::connect(at);
    /// assert_eq!(accepted.len(), 2);
    /// # drop((one, other));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// An item is an error if an accept is. The stream goes on after it, and an error may come again at once: wait a moment.
    ///
    /// # Cancellation
    /// A stream that is dropped has taken no connection.
    #[track_caller]
    pub fn accepts(&self) -> impl Stream<Item = io::Result<(TcpStream, SocketAddr)>> + Unpin + use<> {
        Accepts { listener: self.clone(), site: Location::caller(), place: None, streak: Streak::default() }
    }
}

impl UnixListener {
    /// The connections as a stream without an end, as [`TcpListener::accepts`] gives them.
    ///
    /// ```
    /// use fiber_core::net::{UnixListener, UnixStream};
    /// use futures_util::Stream;
    /// use std::io;
    ///
    /// fn connections(listener: &UnixListener) -> impl Stream<Item = io::Result<UnixStream>> + use<> {
    ///     listener.accepts()
    /// }
    /// ```
    #[track_caller]
    pub fn accepts(&self) -> impl Stream<Item = io::Result<UnixStream>> + Unpin + use<> {
        Accepts { listener: self.clone(), site: Location::caller(), place: None, streak: Streak::default() }
    }
}

/// The connections of a listener.
struct Accepts<L: Listens> {
    listener: L,
    site: Site,
    /// The place of the waker.
    place: Option<Place>,
    streak: Streak,
}

impl<L: Listens> Unpin for Accepts<L> {}

impl<L: Listens> Stream for Accepts<L> {
    type Item = io::Result<L::Accepted>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<L::Accepted>>> {
        let Accepts { listener, site, place, streak } = self.get_mut();
        poll(listener.readable(), place, streak, cx, || try_accept(listener, site)).map(Some)
    }
}

impl<L: Listens> Drop for Accepts<L> {
    fn drop(&mut self) {
        leave(self.listener.readable(), &mut self.place);
    }
}
