//! The polls of a scheduler, and the workers that serve each: with R polls, worker w serves poll w mod R.
//!
//! A poll is created when it is first used. Until then its workers sleep in their parkers, as without a network; they are
//! then woken once, and sleep in the poll from then on. If several workers share it, one is in it, and the others park.
//!
//! **While all workers sleep, one is in each poll.** A worker fails to enter its poll only if another worker that serves it
//! sleeps there, or is about to leave it; the leaving one tries to enter again before it sleeps. While some workers run,
//! they check their own polls periodically, and so does the lookout.

use std::cell::Cell;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};

use fiber_core::scheduler::net::{
    AtSocket, DatagramSocket, ListenerSocket, Net, PathListenerSocket, StreamSocket,
};
use parking_lot::Mutex;

use super::reactor::{Happened, Held, Reactor, SocketName, stopped};
use super::socket::Stream;
use super::tcp::Listener;
use super::udp::Datagrams;
use super::unix;
use crate::bell::{Bell, Place};
use crate::inside::SchedulerId;
use crate::primitive::Unparker;

thread_local! {
    /// The worker of this thread.
    static HERE: Cell<Option<(SchedulerId, usize)>> = const { Cell::new(None) };
}

/// Whether a thread is a worker, and which one.
#[cfg(all(feature = "process", unix))]
#[derive(Clone, Copy)]
pub(crate) struct Here(Option<(SchedulerId, usize)>);

#[cfg(all(feature = "process", unix))]
impl Here {
    /// This thread.
    pub(crate) fn now() -> Self {
        Here(HERE.get())
    }

    /// Calls `f`, whose sockets are in the poll of that thread.
    pub(crate) fn instead<T>(self, f: impl FnOnce() -> T) -> T {
        let before = HERE.replace(self.0);
        let result = f();
        HERE.set(before);
        result
    }
}

pub(crate) struct Polls {
    me: Weak<Polls>,
    scheduler: SchedulerId,
    polls: Box<[Slot]>,
    /// Called with a new poll, if no worker sleeps in the polls.
    watch: Option<Watch>,
}

type Watch = Box<dyn Fn(Arc<Reactor>) -> io::Result<()> + Send + Sync>;

#[derive(Default)]
struct Slot {
    reactor: OnceLock<Arc<Reactor>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The workers that serve the poll, until it is created.
    sleepers: Vec<(Arc<Bell>, Unparker)>,
    is_stopped: bool,
}

impl Polls {
    pub(crate) fn new(scheduler: SchedulerId, count: usize) -> Arc<Self> {
        Polls::make(scheduler, count, None)
    }

    /// One poll, for a scheduler whose threads do not sleep there: `watch` gets it, and collects its events from then on.
    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn watched(
        scheduler: SchedulerId,
        watch: impl Fn(Arc<Reactor>) -> io::Result<()> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Polls::make(scheduler, 1, Some(Box::new(watch)))
    }

    fn make(scheduler: SchedulerId, count: usize, watch: Option<Watch>) -> Arc<Self> {
        let polls = (0..count).map(|_| Slot::default()).collect();
        Arc::new_cyclic(|me| Polls { me: me.clone(), scheduler, polls, watch })
    }

    fn slot(&self, worker: usize) -> &Slot {
        &self.polls[worker % self.polls.len()]
    }

    fn reactor(&self, worker: usize) -> Option<&Arc<Reactor>> {
        self.slot(worker).reactor.get()
    }

    /// Whether the poll of the worker is in use.
    pub(crate) fn are_used(&self, worker: usize) -> bool {
        self.reactor(worker).is_some()
    }

    /// The worker sleeps in its parker until its poll is created.
    pub(crate) fn tell_of_first_use(&self, worker: usize, bell: &Arc<Bell>, unparker: &Unparker) {
        self.slot(worker).state.lock().sleepers.push((bell.clone(), unparker.clone()));
    }

    /// This thread is a worker.
    pub(crate) fn settle(&self, worker: usize) {
        HERE.set(Some((self.scheduler, worker)));
    }

    /// Enters the poll of the worker to sleep in it. `None`: another worker sleeps there, or there is none yet.
    pub(crate) fn hold_to_sleep(&self, worker: usize) -> Option<Held<'_>> {
        self.reactor(worker)?.hold_to_sleep()
    }

    /// Wakes the worker in its poll.
    pub(crate) fn wake(&self, worker: usize) {
        self.reactor(worker).into_iter().for_each(|reactor| reactor.wake());
    }

    /// Checks for events in the poll of the worker, and wakes the waiters of the sockets.
    #[inline]
    pub(crate) fn look(&self, worker: usize) {
        if let Some(reactor) = self.reactor(worker) {
            Self::look_at(reactor);
        }
    }

    /// Like `look`, at a poll that is watched.
    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn look_beside_watch(&self) {
        self.beside_watch(Self::look_at);
    }

    /// Like `catch_up`, at a poll that is watched.
    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn catch_up_beside_watch(&self) {
        self.beside_watch(Self::catch_up_at);
    }

    #[cfg(all(feature = "tokio", unix))]
    fn beside_watch(&self, look: impl Fn(&Reactor)) {
        if let Some(reactor) = self.reactor(0) {
            look(reactor);
            // This look may have taken the wake-up that tells of the end.
            if reactor.is_stopped() {
                reactor.wake();
            }
        }
    }

    /// Like `look`, in all polls that no thread is in or has been in lately.
    pub(crate) fn look_at_neglected(&self) {
        let all = self.polls.iter().filter_map(|slot| slot.reactor.get());
        all.filter(|reactor| reactor.is_neglected()).for_each(|reactor| Self::look_at(reactor));
    }

    /// Before the timers that are due: wakes the waiters of the sockets of this worker whose events have come by now. A fiber whose time is
    /// over may wait for one of them, which came in time and was not looked for.
    #[inline]
    pub(crate) fn catch_up(&self, worker: usize) {
        self.reactor(worker).into_iter().for_each(|reactor| Self::catch_up_at(reactor));
    }

    /// The same, of all workers.
    #[inline]
    pub(crate) fn catch_up_all(&self) {
        self.polls
            .iter()
            .filter_map(|slot| slot.reactor.get())
            .for_each(|reactor| Self::catch_up_at(reactor));
    }

    fn catch_up_at(reactor: &Reactor) {
        let mut happened = Happened::default();
        reactor.catch_up(&mut happened);
        happened.fire();
    }

    /// Whether there is a poll in which no worker sleeps.
    pub(crate) fn is_any_deserted(&self) -> bool {
        self.polls.iter().filter_map(|slot| slot.reactor.get()).any(|reactor| reactor.is_deserted())
    }

    fn look_at(reactor: &Reactor) {
        let mut happened = Happened::default();
        reactor.look(&mut happened);
        happened.fire();
    }

    /// All waits at sockets fail, and so do later ones.
    pub(crate) fn stop(&self) {
        for slot in &self.polls {
            slot.state.lock().is_stopped = true;
            slot.reactor.get().into_iter().for_each(|reactor| reactor.stop());
        }
    }

    pub(crate) fn net(&self) -> Option<&dyn Net> {
        Some(self)
    }

    /// The poll for a new socket: that of the worker that creates it.
    pub(super) fn here(&self) -> io::Result<Arc<Reactor>> {
        let here = HERE.try_with(Cell::get).ok().flatten();
        let worker =
            here.filter(|(scheduler, _)| *scheduler == self.scheduler).map_or(0, |(_, worker)| worker);
        let slot = self.slot(worker);
        slot.reactor.get().map_or_else(|| slot.make(self.watch.as_ref()), |reactor| Ok(reactor.clone()))
    }
}

impl Slot {
    #[cold]
    fn make(&self, watch: Option<&Watch>) -> io::Result<Arc<Reactor>> {
        let mut state = self.state.lock();
        if state.is_stopped {
            return Err(stopped());
        }
        if let Some(reactor) = self.reactor.get() {
            return Ok(reactor.clone());
        }
        let made = Reactor::new()?;
        watch.map_or(Ok(()), |watch| watch(made.clone()))?;
        let reactor = self.reactor.get_or_init(|| made).clone();
        for (bell, unparker) in state.sleepers.drain(..) {
            // A worker that falls asleep after this finds the poll. One that has found it before is woken there, because the bell
            // wakes only once.
            match bell.ring() {
                Some(Place::Parker) => unparker.unpark(),
                Some(Place::Poll) => reactor.wake(),
                None => {}
            }
        }
        Ok(reactor)
    }
}

impl Net for Polls {
    fn listen(&self, at: SocketAddr) -> io::Result<Box<dyn ListenerSocket>> {
        let (reactor, polls) = (self.here()?, self.me.upgrade().ok_or_else(stopped)?);
        Ok(Box::new(Listener::new(polls, reactor, mio::net::TcpListener::bind(at)?)?))
    }

    fn connect(&self, to: SocketAddr) -> io::Result<Box<dyn StreamSocket>> {
        Stream::boxed(self.here()?, mio::net::TcpStream::connect(to)?, SocketName::StreamTo(to))
    }

    fn bind_datagrams(&self, at: SocketAddr) -> io::Result<Box<dyn DatagramSocket>> {
        Ok(Box::new(Datagrams::new(self.here()?, mio::net::UdpSocket::bind(at)?)?))
    }

    fn listen_at_path(&self, at: &Path) -> io::Result<Box<dyn PathListenerSocket>> {
        unix::listen(self.me.upgrade().ok_or_else(stopped)?, at)
    }

    fn connect_to_path(&self, to: &Path) -> io::Result<Box<dyn StreamSocket>> {
        unix::connect(self, to)
    }

    fn remove_path(&self, path: &Path) -> io::Result<()> {
        unix::remove(path)
    }

    fn pair(&self) -> io::Result<[Box<dyn StreamSocket>; 2]> {
        unix::pair(self)
    }

    fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok((host, port).to_socket_addrs()?.collect())
    }

    fn waiting(&self) -> Vec<AtSocket> {
        self.polls
            .iter()
            .filter_map(|slot| slot.reactor.get())
            .flat_map(|reactor| reactor.waiting())
            .collect()
    }
}

#[cfg(all(test, not(fiber_loom)))]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use super::Polls;
    use crate::bell::{Bell, Place};
    use crate::inside::SchedulerId;
    use crate::net::Happened;
    use crate::primitive::Parker;

    #[test]
    fn a_worker_that_finds_the_new_poll_before_it_is_told_is_woken_there() {
        let polls = Polls::new(SchedulerId::new(), 1);
        let bell = Arc::new(Bell::new());
        polls.tell_of_first_use(0, &bell, Parker::new().unparker());
        assert!(bell.lie_down(Place::Poll));
        polls.here().unwrap();
        // The bell has been rung, so only the poll can say so.
        assert_eq!(bell.ring(), None);
        let (before, patience) = (Instant::now(), Duration::from_secs(20));
        polls.hold_to_sleep(0).unwrap().wait(Some(before + patience), &mut Happened::default());
        assert!(before.elapsed() < patience, "the worker is woken");
    }
}
