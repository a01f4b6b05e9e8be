//! Tracks whether one direction of a socket may be ready, and the fibers that wait for it.
//!
//! Events are edge-triggered: an event says that the direction *became* ready, and none comes while it stays ready. The word
//! keeps the last event until a call finds that the direction is no longer ready:
//!
//! ```text
//!  31 (63)  4      3         2         1        0
//! +----------+---------+---------+--------+-------+
//! |   tick   | AWAITED | STOPPED | CLOSED | READY |     tick: the number of events
//! +----------+---------+---------+--------+-------+
//! ```
//!
//! | operation | effect |
//! |---|---|
//! | an event | sets `READY`, clears `AWAITED`, increments the tick; *then*, if `AWAITED` was set, takes all waiters, under the lock |
//! | an attempt | without `READY`: ends. Otherwise calls; if this call, or the next one, would block: clears `READY`, if the word has not changed since the call began |
//! | a wait | under the lock: sets `AWAITED` and leaves its wake-up, unless `READY` is set |
//!
//! **No event is lost.** An event during a call changes the tick, so the attempt does not clear `READY`, and calls again. An
//! event that comes after an attempt has cleared `READY`, and before the wait sets `AWAITED`, is seen by the wait; one that
//! comes later sees `AWAITED`, and finds the wake-up once it has the lock. The event that clears `AWAITED` takes the waiters,
//! so a second event that finds it clear has nothing to do. Most events are for a direction without waiters.
//!
//! A call that has moved less than requested also clears `READY`, unless the direction is `CLOSED`: data and the end of a
//! stream may arrive as one event, and no other follows.

use std::fmt;
use std::io;

use crate::engine::context::{Context, Wakeup};
use crate::engine::wait_list::{WaitKey, WaitList, Waiting};
use crate::primitive::{AtomicUsize, Mutex, Ordering};

/// Tracks whether one direction of a socket may be ready, and the fibers that wait for it. An implementation of sockets makes
/// one for each direction, and reports [events](Readiness::event) to it.
///
/// ```
/// use fiber_core::scheduler::net::{Attempted, Readiness};
/// use std::io::ErrorKind::WouldBlock;
///
/// let readable = Readiness::new();
/// assert!(readable.attempt(|| Err::<Attempted<()>, _>(WouldBlock.into())).is_none());
/// // Until an event comes, nothing is tried.
/// assert!(readable.attempt(|| -> std::io::Result<Attempted<()>> { panic!("not ready") }).is_none());
/// readable.event(false).fire();
/// assert_eq!(readable.attempt(|| Ok(Attempted::Done(1))).unwrap().unwrap(), 1);
/// ```
pub struct Readiness {
    word: AtomicUsize,
    waiters: Mutex<WaitList>,
}

/// The place of a waiter in a [`Readiness`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(WaitKey);

/// The result of a call on a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempted<T> {
    /// The call did everything that was requested; the next call may do more.
    Done(T),
    /// The next call would block.
    Last(T),
}

/// Limits the retries, because events may come as fast as calls: a stream of futures may wake its reader in every call.
const MOST_CALLS: usize = 4;

const READY: usize = 1;
const CLOSED: usize = 2;
const STOPPED: usize = 4;
/// A fiber may be waiting. Never set together with `READY`.
const AWAITED: usize = 8;
const TICK: usize = 16;

impl Readiness {
    /// Starts as ready: the first attempt needs no event.
    pub fn new() -> Self {
        Readiness { word: AtomicUsize::new(READY), waiters: Mutex::new(WaitList::default()) }
    }

    /// Reports that the direction has become ready. `is_closed`: it stays ready, because the connection has failed or
    /// the peer has closed it. Fire the wake-ups without holding any lock.
    #[must_use = "without these wake-ups, the waiters would wait forever"]
    pub fn event(&self, is_closed: bool) -> Waking {
        let flags = if is_closed { READY | CLOSED } else { READY };
        self.set(flags)
    }

    /// Reports that no more events will come: all attempts fail from now on. Fire the wake-ups without holding any lock.
    #[must_use = "without these wake-ups, the waiters would wait forever"]
    pub fn stop(&self) -> Waking {
        self.set(READY | STOPPED)
    }

    fn set(&self, flags: usize) -> Waking {
        // Release: an attempt that sees the tick also sees the effects of the event. Acquire: orders the lock below
        // after this update, so the event takes the lock after the wait that set `AWAITED` under it.
        let update = |word: usize| Some(((word | flags) & !AWAITED).wrapping_add(TICK));
        let (Ok(before) | Err(before)) = self.word.fetch_update(Ordering::AcqRel, Ordering::Relaxed, update);
        if before & AWAITED == 0 {
            return Waking::default();
        }
        Waking(self.waiters.lock().take_all())
    }

    /// Calls `call` if the direction may be ready, and retries a few times if an event came meanwhile. `None`: it is
    /// not ready, so wait.
    pub fn attempt<T>(&self, mut call: impl FnMut() -> io::Result<Attempted<T>>) -> Option<io::Result<T>> {
        for _ in 0..MOST_CALLS {
            // Acquire: pairs with `set`.
            let word = self.word.load(Ordering::Acquire);
            if word & STOPPED != 0 {
                return Some(Err(stopped()));
            }
            if word & READY == 0 {
                return None;
            }
            match call() {
                Ok(Attempted::Done(value)) => return Some(Ok(value)),
                Ok(Attempted::Last(value)) => {
                    if word & CLOSED == 0 {
                        self.clear(word);
                    }
                    return Some(Ok(value));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.clear(word),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }

    /// Calls `call` once, whatever the last event was. Like [`attempt`](Readiness::attempt), it notes that the direction is not ready.
    pub(crate) fn attempt_anyway<T>(&self, call: impl FnOnce() -> io::Result<Attempted<T>>) -> io::Result<T> {
        // Acquire: pairs with `set`.
        let word = self.word.load(Ordering::Acquire);
        let called = call();
        let is_over = match &called {
            Ok(Attempted::Done(_)) => false,
            Ok(Attempted::Last(_)) => word & CLOSED == 0,
            Err(error) => error.kind() == io::ErrorKind::WouldBlock,
        };
        // One that has stopped stays ready, so that all attempts fail and none waits.
        if is_over && word & STOPPED == 0 {
            self.clear(word);
        }
        called.map(|(Attempted::Done(value) | Attempted::Last(value))| value)
    }

    /// Marks the direction as not ready, unless an event has come since the word was `seen`.
    fn clear(&self, seen: usize) {
        // Relaxed: it publishes nothing. A thread that reads the new word makes no call.
        _ = self.word.compare_exchange(seen, seen & !READY, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Leaves a wake-up for the next event.
    ///
    /// ```
    /// use fiber_core::scheduler::Wakeup;
    /// use fiber_core::scheduler::net::{Attempted, Readiness};
    /// use std::{io::ErrorKind::WouldBlock, task::Waker};
    ///
    /// let readable = Readiness::new();
    /// let wakeup = || Wakeup::from(Waker::noop().clone());
    /// assert!(readable.wait(wakeup()).is_err(), "it may be ready");
    /// assert!(readable.attempt(|| Err::<Attempted<()>, _>(WouldBlock.into())).is_none());
    /// assert!(readable.wait(wakeup()).is_ok());
    /// assert!(!readable.event(false).is_empty(), "the wake-up, to be fired");
    /// ```
    ///
    /// # Errors
    /// Returns it if the direction may be ready: attempt again.
    pub fn wait(&self, wakeup: Wakeup) -> Result<Place, Wakeup> {
        let mut waiters = self.waiters.lock();
        // Relaxed: it publishes nothing but the flag. An event that sees the flag takes the lock before it reads the waiters.
        let announce = |word: usize| (word & READY == 0).then_some(word | AWAITED);
        if self.word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, announce).is_err() {
            return Err(wakeup);
        }
        Ok(Place(waiters.insert(wakeup)))
    }

    /// Removes a wake-up, unless an event has taken it.
    ///
    /// ```
    /// use fiber_core::scheduler::Wakeup;
    /// use fiber_core::scheduler::net::{Attempted, Readiness};
    /// use std::{io::ErrorKind::WouldBlock, task::Waker};
    ///
    /// let readable = Readiness::new();
    /// assert!(readable.attempt(|| Err::<Attempted<()>, _>(WouldBlock.into())).is_none());
    /// let place = readable.wait(Wakeup::from(Waker::noop().clone())).unwrap();
    /// assert_eq!(readable.waiting(), 1);
    /// readable.leave(place);
    /// assert_eq!(readable.waiting(), 0);
    /// ```
    pub fn leave(&self, place: Place) {
        let left = self.waiters.lock().remove(place.0);
        // Dropped without the lock, because it may hold the last reference to its fiber.
        drop(left);
    }

    /// The fibers that wait for this direction, with the name of the socket.
    ///
    /// ```
    /// use fiber_core::scheduler::net::Readiness;
    /// let readable = Readiness::new();
    /// assert!(readable.waiting_at("TcpStream to 10.0.0.1:80").is_empty());
    /// ```
    pub fn waiting_at(&self, socket: impl fmt::Display) -> Vec<AtSocket> {
        let waiters = self.waiters.lock();
        let waits = waiters.wakeups().filter_map(Wakeup::wait);
        let fibers: Vec<(Context, u64)> = waits.map(|(fiber, wait)| (fiber.clone(), wait)).collect();
        drop(waiters);
        fibers.into_iter().map(|(fiber, wait)| AtSocket { fiber, wait, socket: socket.to_string() }).collect()
    }

    /// The number of waiters.
    pub fn waiting(&self) -> usize {
        self.waiters.lock().wakeups().count()
    }
}

/// A fiber that waits at a socket, for reports: see [`Readiness::waiting_at`].
#[derive(Clone, Debug)]
pub struct AtSocket {
    /// Keeps the fiber alive until the wait has been identified.
    pub(crate) fiber: Context,
    /// The generation of the wait.
    pub(crate) wait: u64,
    /// The name of the socket.
    pub(crate) socket: String,
}

fn stopped() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "the scheduler of this socket has stopped")
}

impl Default for Readiness {
    fn default() -> Self {
        Readiness::new()
    }
}

impl fmt::Debug for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.word.load(Ordering::Relaxed);
        f.debug_struct("Readiness")
            .field("ready", &(word & READY != 0))
            .field("closed", &(word & CLOSED != 0))
            .field("stopped", &(word & STOPPED != 0))
            .field("events", &(word / TICK))
            .field("waiting", &self.waiting())
            .finish()
    }
}

/// The wake-ups of the fibers that waited for an event.
#[derive(Debug, Default)]
#[must_use = "without these wake-ups, the waiters would wait forever"]
pub struct Waking(Waiting);

impl Waking {
    /// Whether there were no waiters.
    ///
    /// ```
    /// use fiber_core::scheduler::net::Readiness;
    /// assert!(Readiness::new().event(false).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Wakes all of them. The caller must hold no lock.
    pub fn fire(self) {
        self.0.fire();
    }
}

#[cfg(all(test, fiber_loom))]
mod loom_tests;
