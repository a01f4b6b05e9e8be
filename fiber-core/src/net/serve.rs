//! Serving connections: each in a fiber of its own, and none of them can leak.

use std::io;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::accept::{Accept, Listens};
use super::listener::TcpListener;
use super::tcp::TcpStream;
use crate::combine::Scope;
use crate::engine::step::Run;
use crate::error::{Error, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::sync::{Permit, Semaphore};

/// The pause after an error that may recur at once: no file descriptor is left.
const PAUSE: Duration = Duration::from_millis(50);

impl TcpListener {
    /// Accepts connections forever, and forks a fiber for each. At most `most` are served at the same time; others wait
    /// in the queue of the listener. A connection is served until everything that its fiber has forked has ended, too.
    ///
    /// The connections belong to the serving fiber: when it is cancelled, they are cancelled and awaited. A connection
    /// that fails or panics ends without affecting the others. Its outcome goes to the scheduler's
    /// [`unobserved`](crate::scheduler::Scheduler::unobserved) hook, except for errors that are normal for a server: the peer has
    /// disconnected (`ConnectionReset`, `ConnectionAborted`, `BrokenPipe`, `NotConnected`, `UnexpectedEof`), and nothing else has failed
    /// with that, as a finalizer may.
    ///
    /// ```
    /// use fiber_core::net::{TcpListener, TcpStream, copy};
    /// use fiber_core::{Either, fiber};
    ///
    /// let fiber = fiber! {
    ///     let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    ///     let at = listener.local_addr()?;
    ///     let echo = |stream: TcpStream, _from| copy(stream.clone(), stream).map(drop).boxed();
    ///     let client = fiber! {
    ///         let! stream = TcpStream::connect(at);
    ///         do! stream.write_all("over\n");
    ///         return! stream.buffered().line().boxed();
    ///     };
    ///     let! first = listener.serve(1000, echo).race(client);
    ///     let Either::Right(line) = first else { unreachable!("it serves without end") };
    ///     line
    /// };
    /// assert_eq!(fiber_sched::run(fiber).unwrap().as_deref(), Some("over"));
    /// ```
    ///
    /// # Errors
    /// Those of [`accept`](TcpListener::accept) for a socket that no longer listens. After any other error, such as that no file descriptor is
    /// left, it waits a moment and continues; the first of several in a row goes to the `unobserved` hook.
    ///
    /// # Panics
    /// If `most` is zero. A panic of `f` ends the connection.
    ///
    /// # Cancellation
    /// All connections are cancelled and awaited, finalizers included. Connections that were not accepted are closed with
    /// the listener.
    #[track_caller]
    pub fn serve<F>(&self, most: usize, f: F) -> Fiber<()>
    where
        F: Fn(TcpStream, SocketAddr) -> Fiber<()> + Send + Sync + 'static,
    {
        serve(self.clone(), most, move |(stream, from)| f(stream, from), Location::caller())
    }

    /// Like [`serve`](TcpListener::serve), until `stop` ends: from then on it accepts no connection, and it ends when those that it serves
    /// have ended. They are not told; what tells them, or limits how long they may take, is up to the program.
    ///
    /// ```
    /// use fiber_core::net::{TcpListener, TcpStream};
    /// use fiber_core::{Fiber, fiber, sync::Notify};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let test = TestScheduler::new();
    /// let fiber = fiber! {
    ///     let! listener = TcpListener::bind(([127, 0, 0, 1], 80));
    ///     let stop = Notify::new();
    ///     let answers = move |stream: TcpStream, _| {
    ///         Fiber::delay(3 * second).bind(move |()| stream.write_all("late\n")).map(drop).boxed()
    ///     };
    ///     let serves = listener.serve_until(stop.wait(), 1000, answers);
    ///     let client = fiber! {
    ///         let! stream = TcpStream::connect(([127, 0, 0, 1], 80));
    ///         do! Fiber::delay(second);
    ///         stop.notify_one();
    ///         return! stream.buffered().line().boxed();
    ///     };
    ///     let! () = serves and! line = client;
    ///     line
    /// };
    /// assert_eq!(test.run(fiber).unwrap().as_deref(), Some("late"));
    /// assert_eq!(test.now().as_nanos(), 3_000_000_000);
    /// ```
    ///
    /// # Errors
    /// Those of `serve`. If `stop` fails, its error: the connections are cancelled, and awaited.
    ///
    /// # Panics
    /// As `serve`.
    ///
    /// # Cancellation
    /// As `serve`, also while it waits for the last connections.
    #[track_caller]
    pub fn serve_until<R, F>(&self, stop: Fiber<(), R>, most: usize, f: F) -> Fiber<()>
    where
        R: Run<Out = ()>,
        F: Fn(TcpStream, SocketAddr) -> Fiber<()> + Send + Sync + 'static,
    {
        let site = Location::caller();
        serve_until(self.clone(), stop, most, move |(stream, from)| f(stream, from), site)
    }
}

/// Accepts connections forever, and forks a fiber for each.
#[track_caller]
pub(super) fn serve<L: Listens>(
    listener: L,
    most: usize,
    f: impl Fn(L::Accepted) -> Fiber<()> + Send + Sync + 'static,
    site: Site,
) -> Fiber<()> {
    assert_some(most);
    Fiber::scope_at(site, move |scope: Scope| accepts(listener, scope, most, f, site)).boxed()
}

/// Accepts connections until `stop` ends, and waits for their fibers.
#[track_caller]
pub(super) fn serve_until<L: Listens>(
    listener: L,
    stop: Fiber<(), impl Run<Out = ()>>,
    most: usize,
    f: impl Fn(L::Accepted) -> Fiber<()> + Send + Sync + 'static,
    site: Site,
) -> Fiber<()> {
    assert_some(most);
    let serves = move |scope: Scope| {
        let rest = scope.await_all();
        accepts(listener, scope, most, f, site).race_at(site, stop).bind_at(site, move |_| rest)
    };
    Fiber::scope_at(site, serves).boxed()
}

#[track_caller]
fn assert_some(most: usize) {
    assert!(most > 0, "a server with a limit of 0 connections cannot serve any; it has to be at least 1");
}

/// The loop, whose connections are forks of the scope.
fn accepts<L: Listens>(
    listener: L,
    scope: Scope,
    most: usize,
    f: impl Fn(L::Accepted) -> Fiber<()> + Send + Sync + 'static,
    site: Site,
) -> Fiber<(), impl Run<Out = ()>> {
    let (permits, serve) = (Semaphore::of_most(site, most), Arc::new(f));
    Fiber::iterate_at(site, false, move |has_failed| {
        let (scope, serve) = (scope.clone(), serve.clone());
        let accept = next(&listener, site);
        permits.acquire_at(site, 1).bind_at(site, move |permit: Permit| {
            accept
                .bind_at(site, move |accepted| match accepted {
                    Ok(one) => {
                        let served = served(permit, move || serve(one), site);
                        scope.fork_at(site, served).map_at(site, |_| false).boxed()
                    }
                    Err(error) => {
                        let is_new = !has_failed && !is_gone(&error);
                        let pause = Fiber::delay_at(site, PAUSE).map_at(site, move |()| has_failed || is_new);
                        if !is_new {
                            return pause.boxed();
                        }
                        // Nobody observes this fiber, so the error is reported: once, until a connection comes.
                        let report = Fiber::<()>::from_outcome(Outcome::Failure(error));
                        scope.fork_at(site, report).bind_at(site, |_| pause).boxed()
                    }
                })
                .map_at(site, ControlFlow::<(), bool>::Continue)
        })
    })
}

/// The next connection. `Err`: an error that does not concern the listener.
fn next<L: Listens>(listener: &L, site: Site) -> Fiber<Result<L::Accepted, Error>> {
    let accepted = Accept::fiber(listener, site).map_at(site, Ok);
    accepted
        .catch_at(site, |error| {
            Fiber::from_outcome(if is_passing(&error) {
                Outcome::Success(Err(error.context("accepting a connection")))
            } else {
                Outcome::Failure(error)
            })
        })
        .boxed()
}

/// A connection, which holds a permit.
fn served(permit: Permit, serve: impl FnOnce() -> Fiber<()> + Send + 'static, site: Site) -> Fiber<()> {
    let quietly = |error: Error| {
        // What has failed meanwhile, as a finalizer may, is an error of its own.
        let is_normal = is_gone(&error) && error.suppressed().iter().all(is_gone);
        Fiber::from_outcome(if is_normal { Outcome::Success(()) } else { Outcome::Failure(error) })
    };
    let release = Fiber::lazy_at(site, move || drop(permit));
    // A scope: what the connection has forked is served, too, until it has ended.
    let served = Fiber::scope_at(site, move |_| Fiber::defer_at(site, serve));
    served.catch_at(site, quietly).ensure_at(site, release).boxed()
}

fn kind(error: &Error) -> Option<io::ErrorKind> {
    let failed = error.downcast_ref::<super::write::WriteFailed>().map(|failed| failed.error().kind());
    failed.or_else(|| error.downcast_ref::<io::Error>().map(io::Error::kind))
}

/// Whether the peer has disconnected.
fn is_gone(error: &Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof};
    let gone = [BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof];
    kind(error).is_some_and(|kind| gone.contains(&kind))
}

/// Whether the listener may accept another connection after this error: one connection was lost, or no descriptor is left.
fn is_passing(error: &Error) -> bool {
    use io::ErrorKind::{InvalidInput, NotConnected, Unsupported};
    kind(error).is_some_and(|kind| ![InvalidInput, NotConnected, Unsupported].contains(&kind))
}
