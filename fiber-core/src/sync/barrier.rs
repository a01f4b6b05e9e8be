use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::operation::{Attempt, Operation, claim_if};
use super::waiters::{Waiter, Waiters, Wakes};
use crate::engine::context::{Cx, Seat, WaitsFor};
use crate::engine::side::Single;
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::fiber::Fiber;
use crate::footprint::Noted;
use crate::outcome::Outcome;

/// Lets a number of fibers continue together, when the last of them has arrived. It can be used again afterwards.
///
/// ```
/// use fiber_core::{Fiber, sync::Barrier};
/// use fiber_test::TestScheduler;
/// use std::time::Duration;
///
/// let barrier = Barrier::new(3);
/// let party = move |n| {
///     let barrier = barrier.clone();
///     Fiber::delay(Duration::from_secs(n)).bind(move |()| barrier.wait())
/// };
/// let test = TestScheduler::new();
/// // The last one to arrive is the leader.
/// assert_eq!(test.run(Fiber::parallel((1..=3).map(party))).unwrap(), [false, false, true]);
/// assert_eq!(test.now().as_nanos(), 3_000_000_000);
/// ```
///
/// Writes of each fiber before it arrived are visible to all fibers afterwards. Clones share the state.
#[derive(Clone)]
pub struct Barrier(Arc<Shared>);

struct Shared {
    parties: usize,
    state: Noted<State>,
    subject: Subject,
}

struct State {
    /// The number of waiters in the list that are `Waiting`. Of those of one race, each counts.
    arrived: usize,
    queue: Waiters<Party>,
}

/// The state of a party, in its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Party {
    Waiting,
    /// All parties had arrived.
    Passed,
    /// Not all parties had arrived: it has to arrive again.
    Again,
    /// It was cancelled, and no longer counts.
    Gone,
}

impl Barrier {
    /// A barrier for this many parties.
    ///
    /// # Panics
    /// If `parties` is 0.
    #[track_caller]
    pub fn new(parties: usize) -> Self {
        assert!(parties > 0, "a barrier has at least one party");
        Barrier(Arc::new(Shared {
            parties,
            state: Noted::new(State { arrived: 0, queue: Waiters::new() }),
            subject: Subject::new("Barrier", Location::caller()),
        }))
    }

    /// Names the barrier in reports. An existing name is kept.
    ///
    /// ```
    /// let start = fiber_core::sync::Barrier::new(3).named("start");
    /// assert!(format!("{start:?}").contains("start"));
    /// ```
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.0.subject.set_name(name);
        self
    }

    /// Waits until all parties have arrived. Gives `true` to one of them, the leader, which is the last to arrive.
    ///
    /// # Cancellation
    /// The fiber leaves at once, and does not count as arrived: another one has to come instead. Once the last party
    /// has arrived, a cancellation no longer keeps the waiters from passing.
    #[inline]
    #[track_caller]
    pub fn wait(&self) -> Fiber<bool, impl Run<Out = bool> + Clone + use<>> {
        Operation::fiber(self.attempt(), Location::caller())
    }

    /// Like [`wait`](Barrier::wait), for a thread that runs no fibers.
    ///
    /// # Blocking
    /// Blocks the thread until all parties have arrived.
    #[track_caller]
    pub fn blocking_wait(&self) -> bool {
        Operation::block(self.attempt()).success().expect("the wait at a barrier succeeds")
    }

    /// The number of parties.
    pub fn parties(&self) -> usize {
        self.0.parties
    }

    /// The number of parties that wait now.
    pub fn arrived(&self) -> usize {
        self.0.state.lock().queue.together(None)
    }

    fn attempt(&self) -> Arrival {
        Arrival { barrier: self.clone() }
    }
}

impl State {
    fn join(&mut self, waiter: &mut Waiter<Party>, seat: Seat) {
        self.arrived += 1;
        waiter.join(&mut self.queue, seat, Party::Waiting);
    }

    /// Whether the one who comes now is the last of the parties. A race counts once, even if both of its sides wait here: who called both in
    /// vain would make them come again, and call him in vain.
    fn is_last(&self, parties: usize, seat: Option<&Seat>) -> bool {
        self.arrived + 1 >= parties && self.queue.together(seat) + 1 >= parties
    }

    /// Ends the waits of all parties. They pass if they are enough: some may have been cancelled, and have not left yet.
    fn call(&mut self, enough: usize) -> (bool, Wakes) {
        let mut wakes = Wakes::default();
        let called = self.queue.serve_together(&mut wakes, |called, is_called| match is_called {
            true if called >= enough => Party::Passed,
            true => Party::Again,
            false => Party::Gone,
        });
        let passes = called >= enough;
        self.arrived = 0;
        (passes, wakes)
    }

    fn leave(&mut self, waiter: &mut Waiter<Party>) -> Option<Party> {
        let (party, _) = waiter.leave(&mut self.queue)?;
        if party == Party::Waiting {
            self.arrived -= 1;
        }
        Some(party)
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} of {} have arrived)", self.0.subject, self.arrived(), self.0.parties)
    }
}

/// The wait of [`Barrier::wait`].
#[derive(Debug)]
pub(crate) struct Arrival {
    barrier: Barrier,
}

impl Clone for Arrival {
    /// Clones the description, which is not in the queue.
    fn clone(&self) -> Self {
        self.barrier.attempt()
    }
}

impl Attempt for Arrival {
    type Out = bool;
    type Place = Waiter<Party>;
    const SINGLE: Single = Single::AGAIN;
    const WAITS_FOR: WaitsFor = WaitsFor::Signal;

    fn attempt(&mut self, cx: Option<&Cx<'_>>) -> Option<Outcome<bool>> {
        if cx.is_some_and(Cx::is_raced) {
            // Only its seat tells who is beside it: it looks as it joins.
            return None;
        }
        let Shared { parties, state, .. } = &*self.barrier.0;
        let mut state = state.lock();
        if !state.is_last(*parties, None) {
            return None;
        }
        let (passes, wakes) = state.call(parties - 1);
        wakes.wake_after_in(cx, state);
        passes.then_some(Outcome::Success(true))
    }

    fn join(&mut self, place: &mut Waiter<Party>, cx: Option<&Cx<'_>>, seat: Seat) -> Option<Outcome<bool>> {
        let Shared { parties, state, .. } = &*self.barrier.0;
        let mut seat = Some(seat);
        let mut state = state.lock();
        let is_last = state.is_last(*parties, seat.as_ref()) && claim_if(&mut seat, |_| true);
        let (passes, wakes) = if is_last { state.call(parties - 1) } else { (false, Wakes::default()) };
        if let Some(seat) = seat.filter(|_| !passes) {
            state.join(place, seat);
        }
        wakes.wake_after_in(cx, state);
        passes.then_some(Outcome::Success(true))
    }

    fn woken(&mut self, place: &mut Waiter<Party>, cx: Option<&Cx<'_>>) -> Option<Outcome<bool>> {
        let party = self.barrier.0.state.lock().leave(place);
        if party == Some(Party::Passed) { Some(Outcome::Success(false)) } else { self.attempt(cx) }
    }

    fn leave(&mut self, place: &mut Waiter<Party>) {
        if place.has_joined() {
            self.barrier.0.state.lock().leave(place);
        }
    }

    fn subject(&self) -> &Subject {
        &self.barrier.0.subject
    }
}
