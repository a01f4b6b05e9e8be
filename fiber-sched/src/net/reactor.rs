//! One poll: its sockets, and how a thread waits in it.
//!
//! Sockets are registered once, for both directions and edge-triggered, so an operation costs no other system call. The token
//! of a socket is its slot and a generation: an event for a socket that is gone does not match the next one in its slot.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::net::SocketAddr;
#[cfg(all(feature = "tokio", unix))]
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use fiber_core::scheduler::net::{AtSocket, Readiness, Waking};
use mio::event::{Event, Source as MioSource};
use mio::{Events, Interest, Poll, Registry, Token, Waker};
use parking_lot::{Mutex, MutexGuard};

use super::timer::Timer;
use super::turn::Turn;

const WAKER: Token = Token(usize::MAX);
const TIMER: Token = Token(usize::MAX - 1);

/// The number of events that one look takes: not more than the tasks that a worker runs until its next look, so tasks do not
/// pile up. The state of a socket would leave the cache between its event and its task; the kernel keeps events more cheaply.
const MOST_EVENTS: usize = 60;

/// A worker that runs the tasks from its poll usually looks there again before this time has passed. A thread that looks
/// earlier only takes work away from it.
const LONG_AGO: Duration = Duration::from_micros(500);

/// A thread that was in the poll so lately has seen what came before a timer that is due now.
const JUST_NOW: Duration = Duration::from_micros(50);

/// So many looks in a row take about as many events as tokio takes at once.
const MOST_LOOKS: usize = 17;

/// The lower half of a token is the slot.
const SLOT_BITS: u32 = usize::BITS / 2;
/// The upper half is the generation, without its top bit, so that no token is one of the two above.
const MOST_GENERATIONS: usize = (1 << (SLOT_BITS - 1)) - 1;

pub(crate) struct Reactor {
    registry: Registry,
    waker: Waker,
    sources: Mutex<Sources>,
    turn: Turn,
    /// When a thread was last in the poll.
    seen: Seen,
    /// Whether that thread may have left events there.
    has_more: AtomicBool,
    /// Only the thread that has the turn locks it, so no thread ever waits for the lock.
    poll: Mutex<Polled>,
}

struct Polled {
    poll: Poll,
    events: Events,
    timer: Timer,
}

/// The state of a socket in the reactor.
#[derive(Default)]
pub(super) struct Source {
    pub(super) readable: Readiness,
    pub(super) writable: Readiness,
    /// A read may stop although more has arrived: at urgent data, and at descriptors that came with the data.
    stops_early: AtomicBool,
    name: OnceLock<SocketName>,
}

/// The events of a socket. Urgent data has one of its own, where the system tells of it.
fn interests() -> Interest {
    let both = Interest::READABLE | Interest::WRITABLE;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let both = both | Interest::PRIORITY;
    both
}

/// The name of a socket in dumps: the address that is known without a system call.
#[derive(Clone, Debug)]
pub(super) enum SocketName {
    ListenerAt(SocketAddr),
    StreamTo(SocketAddr),
    StreamFrom(SocketAddr),
    DatagramsAt(SocketAddr),
    /// Only Unix has sockets without a network address.
    #[cfg_attr(not(unix), allow(dead_code))]
    Other(Cow<'static, str>),
}

impl fmt::Display for SocketName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SocketName::ListenerAt(at) => write!(f, "TcpListener at {at}"),
            SocketName::StreamTo(to) => write!(f, "TcpStream to {to}"),
            SocketName::StreamFrom(from) => write!(f, "TcpStream from {from}"),
            SocketName::DatagramsAt(at) => write!(f, "UdpSocket at {at}"),
            SocketName::Other(name) => f.write_str(name),
        }
    }
}

#[derive(Default)]
struct Sources {
    slots: Vec<Slot>,
    free: Vec<usize>,
    is_stopped: bool,
}

#[derive(Default)]
struct Slot {
    generation: usize,
    source: Option<Arc<Source>>,
}

impl Reactor {
    pub(super) fn new() -> io::Result<Arc<Self>> {
        let poll = Poll::new()?;
        let registry = poll.registry().try_clone()?;
        let waker = Waker::new(&registry, WAKER)?;
        let timer = Timer::new(&registry, TIMER)?;
        let polled = Polled { poll, events: Events::with_capacity(MOST_EVENTS), timer };
        let (sources, poll) = (Mutex::default(), Mutex::new(polled));
        let (turn, seen, has_more) = (Turn::new(), Seen::new(), AtomicBool::new(false));
        Ok(Arc::new(Reactor { registry, waker, sources, turn, seen, has_more, poll }))
    }

    /// # Errors
    /// Those of the operating system, or that the scheduler has stopped.
    pub(super) fn register(&self, io: &mut impl MioSource) -> io::Result<(Token, Arc<Source>)> {
        let source = Arc::new(Source::default());
        let token = self.sources.lock().insert(source.clone()).ok_or_else(stopped)?;
        let registered = self.registry.register(io, token, interests());
        registered.inspect_err(|_| drop(self.take(token)))?;
        Ok((token, source))
    }

    pub(super) fn deregister(&self, io: &mut impl MioSource, token: Token) {
        // A failure does not matter: closing the descriptor, which comes next, does the same.
        _ = self.registry.deregister(io);
        // Without the lock: the last wake-up may own a fiber.
        drop(self.take(token));
    }

    fn take(&self, token: Token) -> Option<Arc<Source>> {
        self.sources.lock().remove(token)
    }

    /// Ends the wait of the thread that polls, or the next wait.
    pub(super) fn wake(&self) {
        // If it fails, the counter of the waker is full, so a wake-up is pending.
        _ = self.waker.wake();
    }

    /// Enters the poll to sleep in it. `None`: another worker that serves it is in it, or about to leave.
    pub(super) fn hold_to_sleep(&self) -> Option<Held<'_>> {
        self.turn.begin_sleep().then(|| self.held())
    }

    /// Collects events without waiting. `false`: there may be more, or another thread is in the poll.
    pub(crate) fn look(&self, happened: &mut Happened) -> bool {
        self.turn.begin_look() && self.held().poll(Some(Duration::ZERO), happened)
    }

    /// Collects the events that have come by now, unless a thread that sleeps here does.
    pub(super) fn catch_up(&self, happened: &mut Happened) {
        for _ in 0..MOST_LOOKS {
            // Relaxed: a thread that is about to leave the poll has collected events, too.
            let is_up_to_date = self.seen.age() < JUST_NOW && !self.has_more.load(Ordering::Relaxed);
            if is_up_to_date || !self.turn.begin_look() {
                break;
            }
            self.held().poll(Some(Duration::ZERO), happened);
        }
    }

    /// A descriptor of the poll, which is readable while there are events.
    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn descriptor(&self) -> io::Result<impl AsRawFd + Send + 'static> {
        self.registry.try_clone()
    }

    /// Whether no thread has looked for a while.
    pub(super) fn is_neglected(&self) -> bool {
        self.seen.age() >= LONG_AGO
    }

    /// Whether no worker sleeps in it, so that events wait until a thread looks.
    pub(super) fn is_deserted(&self) -> bool {
        !self.turn.is_slept_in()
    }

    fn held(&self) -> Held<'_> {
        Held { reactor: self, polled: Some(self.poll.lock()) }
    }

    /// The waits at its sockets.
    pub(super) fn waiting(&self) -> Vec<AtSocket> {
        let all = self.sources.lock().all();
        all.iter().flat_map(|source| source.waiting()).collect()
    }

    /// All waits fail, and so do later ones.
    pub(crate) fn stop(&self) {
        let mut sources = self.sources.lock();
        sources.is_stopped = true;
        let all = sources.all();
        drop(sources);
        for source in all {
            source.readable.stop().fire();
            source.writable.stop().fire();
        }
    }

    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn is_stopped(&self) -> bool {
        self.sources.lock().is_stopped
    }
}

pub(super) fn stopped() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "the scheduler has stopped")
}

/// A point in time that other threads read.
struct Seen {
    epoch: Instant,
    /// In nanoseconds since `epoch`.
    at: AtomicU64,
}

impl Seen {
    fn new() -> Self {
        Seen { epoch: Instant::now(), at: AtomicU64::new(0) }
    }

    // Relaxed, here and below: the number publishes no other data.
    fn renew(&self) {
        self.at.store(self.epoch.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }

    fn age(&self) -> Duration {
        self.epoch.elapsed().saturating_sub(Duration::from_nanos(self.at.load(Ordering::Relaxed)))
    }
}

/// The right to poll.
pub(crate) struct Held<'a> {
    reactor: &'a Reactor,
    /// `None` during the drop.
    polled: Option<MutexGuard<'a, Polled>>,
}

impl Held<'_> {
    /// Waits for an event, for the waker, or until the time `until`.
    pub(crate) fn wait(mut self, until: Option<Instant>, happened: &mut Happened) {
        let timeout = until.and_then(|at| {
            let left = at.saturating_duration_since(Instant::now());
            if left.is_zero() { Some(left) } else { self.polled.as_mut()?.timer.set(at, left) }
        });
        self.poll(timeout, happened);
    }

    /// `false`: there may be more events.
    fn poll(mut self, timeout: Option<Duration>, happened: &mut Happened) -> bool {
        let Some(Polled { poll, events, timer }) = self.polled.as_deref_mut() else { return true };
        // A signal interrupts the poll: a spurious wake-up.
        if poll.poll(events, timeout).is_err() {
            return false;
        }
        let count = events.iter().count();
        let is_drained = count < MOST_EVENTS;
        // Relaxed: as its read.
        self.reactor.has_more.store(!is_drained, Ordering::Relaxed);
        if count == 0 {
            return true;
        }
        // One waiter per event: nearly all events have a waiter for one direction.
        happened.0.reserve(count);
        let sources = self.reactor.sources.lock();
        for event in &*events {
            match event.token() {
                WAKER => {}
                TIMER => timer.fired(),
                token => sources.get(token).into_iter().for_each(|source| source.tell(event, happened)),
            }
        }
        is_drained
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        drop(self.polled.take());
        self.reactor.seen.renew();
        self.reactor.turn.end();
    }
}

impl Source {
    /// A socket that already has a name keeps it.
    pub(super) fn set_name(&self, name: SocketName) {
        _ = self.name.set(name);
    }

    pub(super) fn set_stops_early(&self) {
        // Relaxed, like its read: the readiness orders it before the reads that follow an event.
        self.stops_early.store(true, Ordering::Relaxed);
    }

    pub(super) fn stops_early(&self) -> bool {
        self.stops_early.load(Ordering::Relaxed)
    }

    fn waiting(&self) -> Vec<AtSocket> {
        let Some(name) = self.name.get() else { return Vec::new() };
        let mut waiting = self.readable.waiting_at(name);
        waiting.extend(self.writable.waiting_at(name));
        waiting
    }

    fn tell(&self, event: &Event, happened: &mut Happened) {
        let has_failed = event.is_error();
        if event.is_priority() {
            // Before the event, so that the read that follows it knows.
            self.set_stops_early();
        }
        if event.is_readable() || event.is_read_closed() || has_failed {
            happened.add(self.readable.event(event.is_read_closed() || has_failed));
        }
        if event.is_writable() || event.is_write_closed() || has_failed {
            happened.add(self.writable.event(event.is_write_closed() || has_failed));
        }
    }
}

impl Sources {
    /// `None`: the scheduler has stopped.
    fn insert(&mut self, source: Arc<Source>) -> Option<Token> {
        if self.is_stopped {
            return None;
        }
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() - 1
        });
        let slot = &mut self.slots[index];
        slot.source = Some(source);
        Some(Token(slot.generation << SLOT_BITS | index))
    }

    fn remove(&mut self, token: Token) -> Option<Arc<Source>> {
        let (generation, index) = split(token);
        let slot = self.slots.get_mut(index).filter(|slot| slot.generation == generation)?;
        slot.generation = if generation == MOST_GENERATIONS { 0 } else { generation + 1 };
        self.free.push(index);
        slot.source.take()
    }

    fn all(&self) -> Vec<Arc<Source>> {
        self.slots.iter().filter_map(|slot| slot.source.clone()).collect()
    }

    fn get(&self, token: Token) -> Option<&Source> {
        let (generation, index) = split(token);
        self.slots.get(index).filter(|slot| slot.generation == generation)?.source.as_deref()
    }
}

fn split(token: Token) -> (usize, usize) {
    (token.0 >> SLOT_BITS, token.0 & ((1 << SLOT_BITS) - 1))
}

/// The wake-ups of events at sockets, to be fired without any lock.
#[derive(Default)]
#[must_use = "those who wait would wait for ever"]
pub(crate) struct Happened(Vec<Waking>);

impl Happened {
    fn add(&mut self, waking: Waking) {
        if !waking.is_empty() {
            self.0.push(waking);
        }
    }

    pub(crate) fn fire(self) {
        self.0.into_iter().for_each(Waking::fire);
    }
}
