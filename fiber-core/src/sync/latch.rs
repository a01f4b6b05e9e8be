use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::operation::{Attempt, Operation};
use super::waiters::{Waiter, Waiters, Wakes};
use crate::engine::context::{Cx, Seat, WaitsFor};
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::fiber::Fiber;
use crate::footprint::{Access, Object};
use crate::outcome::Outcome;
use crate::primitive::{AtomicUsize, Mutex, Ordering};

/// Opens when it has been counted down to zero, and stays open.
///
/// ```
/// use fiber_core::{Fiber, sync::Latch};
/// use fiber_test::TestScheduler;
/// use std::time::Duration;
///
/// let ready = Latch::new(3);
/// let test = TestScheduler::new();
/// for n in 1..=3 {
///     let ready = ready.clone();
///     drop(test.spawn(Fiber::delay(Duration::from_secs(n)).map(move |()| ready.count_down())));
/// }
/// assert!(test.run(ready.wait()).is_success());
/// assert_eq!(test.now().as_nanos(), 3_000_000_000);
/// ```
///
/// Writes before a count are visible to the fibers that waited. Clones share the count.
#[doc(alias = "CountDownLatch")]
#[derive(Clone)]
pub struct Latch(Arc<Shared>);

struct Shared {
    remaining: AtomicUsize,
    queue: Mutex<Waiters<()>>,
    /// Stands for whether the latch is open; its second object stands for the count.
    object: Object,
    subject: Subject,
}

impl Latch {
    /// A latch that opens after `count` calls of [`count_down`](Latch::count_down). With 0, it is open from the start.
    #[track_caller]
    pub fn new(count: usize) -> Self {
        Latch(Arc::new(Shared {
            remaining: AtomicUsize::new(count),
            queue: Mutex::new(Waiters::new()),
            object: Object::new(),
            subject: Subject::new("Latch", Location::caller()),
        }))
    }

    /// Names the latch in reports. An existing name is kept.
    ///
    /// ```
    /// let ready = fiber_core::sync::Latch::new(3).named("ready");
    /// assert!(format!("{ready:?}").contains("ready"));
    /// ```
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.0.subject.set_name(name);
        self
    }

    /// Counts down by one. The last count wakes all waiters. An open latch stays unchanged.
    ///
    /// `true` if this was the last count.
    pub fn count_down(&self) -> bool {
        let Shared { remaining, queue, object, .. } = &*self.0;
        // AcqRel: Release pairs with the Acquire of the waiters; Acquire, because the last count passes on the writes
        // of the others. Relaxed on failure: it only retries, or changes nothing.
        let before =
            remaining.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |remaining| remaining.checked_sub(1));
        let is_last = before == Ok(1);
        object.second().count_down(before.map_or(0, |before| before - 1));
        if is_last {
            object.touch(Access::Write);
            // A waiter checks the count under this lock before it joins the queue, so it either sees zero or is woken here.
            let mut queue = queue.lock();
            let mut wakes = Wakes::default();
            queue.serve_all(|()| (), &mut wakes);
            wakes.wake_after(queue);
        }
        is_last
    }

    /// Waits until the latch is open.
    ///
    /// # Cancellation
    /// The wait ends at once. The count stays unchanged.
    #[inline]
    #[track_caller]
    pub fn wait(&self) -> Fiber<(), impl Run<Out = ()> + Clone + use<>> {
        Operation::fiber(self.attempt(), Location::caller())
    }

    /// Like [`wait`](Latch::wait), for a thread that runs no fibers.
    ///
    /// ```
    /// use fiber_core::sync::Latch;
    ///
    /// let ready = Latch::new(1);
    /// let counted = ready.clone();
    /// let thread = std::thread::spawn(move || counted.count_down());
    /// ready.blocking_wait();
    /// assert!(ready.is_open() && thread.join().unwrap());
    /// ```
    ///
    /// # Blocking
    /// Blocks the thread until the latch is open.
    #[track_caller]
    pub fn blocking_wait(&self) {
        drop(Operation::block(self.attempt()));
    }

    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        self.0.object.touch(Access::Read);
        self.0.left() == 0
    }

    /// The number of counts that are missing.
    pub fn remaining(&self) -> usize {
        self.0.object.second().touch(Access::Read);
        self.0.left()
    }

    pub(super) fn attempt(&self) -> Opened {
        Opened { latch: self.clone() }
    }
}

impl Shared {
    fn left(&self) -> usize {
        // Acquire: pairs with the Release of the last count.
        self.remaining.load(Ordering::Acquire)
    }
}

impl fmt::Debug for Latch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} to go)", self.0.subject, self.remaining())
    }
}

/// The wait of [`Latch::wait`].
#[derive(Debug)]
pub(crate) struct Opened {
    latch: Latch,
}

impl Clone for Opened {
    /// Clones the description, which is not in the queue.
    fn clone(&self) -> Self {
        self.latch.attempt()
    }
}

impl Attempt for Opened {
    type Out = ();
    type Place = Waiter<()>;
    const WAITS_FOR: WaitsFor = WaitsFor::Signal;

    #[inline]
    fn attempt(&mut self, _: Option<&Cx<'_>>) -> Option<Outcome<()>> {
        self.latch.is_open().then_some(Outcome::Success(()))
    }

    fn join(&mut self, place: &mut Waiter<()>, _: Option<&Cx<'_>>, seat: Seat) -> Option<Outcome<()>> {
        let mut queue = self.latch.0.queue.lock();
        // Under the lock: see `count_down`.
        if self.latch.is_open() {
            return seat.claim().then_some(Outcome::Success(()));
        }
        place.join(&mut queue, seat, ());
        None
    }

    fn leave(&mut self, place: &mut Waiter<()>) {
        if place.needs_lock() {
            place.leave(&mut self.latch.0.queue.lock());
        }
    }

    fn subject(&self) -> &Subject {
        &self.latch.0.subject
    }
}
