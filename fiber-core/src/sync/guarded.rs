//! A value that is accessed only under its lock: the base of [`Mutex`](super::Mutex) and [`RwLock`](super::RwLock).
//!
//! | hold | its permits | its guard |
//! |---|---|---|
//! | [`Exclusive`] | all | reads and writes |
//! | [`Shared`] | one or two | reads |
//!
//! A guard is made only of permits that were taken, and releases them only when it is dropped. So while a guard of an
//! exclusive hold lives, there is no other guard. Taking permits acquires the writes before their release (see
//! [`permits`](super::permits)), so the accesses of successive holders are ordered.
//!
//! The hold of [`with`] has two halves: the guard, and one that the fiber keeps until it has ended. The lock is free
//! when both are gone. A shared hold has a permit for each half. An exclusive one cannot divide its permits, because a
//! reader could take some of them; the half that goes first records that in `half`, and the other one releases all permits:
//!
//! | `half` | meaning |
//! |---|---|
//! | `NONE_GONE` | no half is gone, or the hold has no halves |
//! | `ONE_GONE` | the first half is gone |
//! | `ONE_PANICKED` | the first half is gone, and went in a panic |

#![allow(unsafe_code)]

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::Arc;
use std::thread::panicking;

use super::operation::{Attempt, Operation};
use super::permits::Permits;
use super::waiters::Waiter;
use crate::combine::Then;
use crate::engine::context::{Cx, Seat, WaitsFor};
use crate::engine::holder::Holder;
use crate::engine::step::{Follow, Run, Step};
use crate::engine::subject::Subject;
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::primitive::{AtomicBool, AtomicU32, Ordering, UnsafeCell};

/// A value and its lock.
pub(super) struct Guarded<T> {
    permits: Permits,
    value: UnsafeCell<T>,
    /// Whether the last exclusive holder panicked. Changed by an exclusive holder, before it gives the permits back.
    has_panicked: AtomicBool,
    /// See the table above. Used by the halves of an exclusive hold.
    half: AtomicU32,
    subject: Subject,
}

const NONE_GONE: u32 = 0;
const ONE_GONE: u32 = 1;
const ONE_PANICKED: u32 = 2;

// SAFETY: threads that share a `Guarded` access the value only through guards. A guard of an exclusive hold is the only
// one, so it effectively moves the value from thread to thread, which `T: Send` allows. Guards of shared holds are made
// only for `T: Sync`.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    pub(super) fn new(value: T, subject: Subject) -> Self {
        Guarded {
            permits: Permits::new(Permits::MAX),
            value: UnsafeCell::new(value),
            has_panicked: AtomicBool::new(false),
            half: AtomicU32::new(NONE_GONE),
            subject,
        }
    }

    pub(super) fn subject(&self) -> &Subject {
        &self.subject
    }

    pub(super) fn is_locked(&self) -> bool {
        self.permits.free() < Permits::MAX
    }

    pub(super) fn is_locked_exclusively(&self) -> bool {
        self.permits.free() == 0
    }

    /// The end of an exclusive hold, or of a half of one.
    fn release(&self, is_half: bool, panicked: bool) -> bool {
        let mut panicked = panicked;
        if is_half {
            let note = if panicked { ONE_PANICKED } else { ONE_GONE };
            // AcqRel: publishes the writes of the first half to the second, which publishes them to the next holder.
            let first = self.half.swap(note, Ordering::AcqRel);
            if first == NONE_GONE {
                return false;
            }
            panicked |= first == ONE_PANICKED;
            // Relaxed, here and below: the release of the permits publishes it to the next holder.
            self.half.store(NONE_GONE, Ordering::Relaxed);
        }
        if self.has_panicked.load(Ordering::Relaxed) != panicked {
            self.has_panicked.store(panicked, Ordering::Relaxed);
        }
        true
    }
}

/// How a lock is held: [`Exclusive`] or [`Shared`].
pub trait Hold: Send + Sync + 'static {
    #[doc(hidden)]
    const IS_EXCLUSIVE: bool;
}

/// Held by one holder, who may change the value.
#[derive(Clone, Copy, Debug)]
pub enum Exclusive {}

/// Held by any number of holders, who read the value.
#[derive(Clone, Copy, Debug)]
pub enum Shared {}

impl Hold for Exclusive {
    const IS_EXCLUSIVE: bool = true;
}

impl Hold for Shared {
    const IS_EXCLUSIVE: bool = false;
}

/// A lock that is held, and the value behind it. Dropping the guard releases the lock.
///
/// The guard can be moved into other fibers, other threads and closures of [`Fiber::blocking`]. Aliases name its kinds:
/// [`MutexGuard`](super::MutexGuard), [`RwLockReadGuard`](super::RwLockReadGuard),
/// [`RwLockWriteGuard`](super::RwLockWriteGuard).
///
/// Threads can share a guard if they can share the value. A value that only one thread at a time can use, such as a
/// `Cell`, can be in a mutex, but not in an `RwLock`:
///
/// ```
/// fn move_it<T: Send>(_: T) {}
/// let mutex = fiber_core::sync::Mutex::new(std::cell::Cell::new(1));
/// move_it(mutex.try_lock().unwrap());
/// ```
///
/// ```compile_fail,E0277
/// fn share_it<T: Sync>(_: T) {}
/// let mutex = fiber_core::sync::Mutex::new(std::cell::Cell::new(1));
/// share_it(mutex.try_lock().unwrap());
/// ```
///
/// ```compile_fail,E0277
/// fiber_core::sync::RwLock::new(std::cell::Cell::new(1));
/// ```
#[must_use = "the lock is released at once"]
pub struct Guard<T: 'static, H: Hold> {
    share: Share<T, H>,
    /// Threads may share the guard if they may share the value.
    value: PhantomData<T>,
}

impl<T, H: Hold> Guard<T, H> {
    /// Whether the last fiber or thread that could change the value panicked while it held the lock.
    ///
    /// A guard from `with` belongs to a fiber that panicked if its outcome is a panic. Any other guard only records a panic
    /// that unwinds while the guard is dropped: not a panic of a fiber that a holder runs, and catches or passes on.
    ///
    /// If so, the value may be partly changed. The lock itself is not affected. The answer stays the same until a holder that
    /// could change the value has released the lock without a panic.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Mutex};
    /// # std::panic::set_hook(Box::new(|_| {}));
    ///
    /// let pair = Mutex::new((1, 1));
    /// let torn = pair.with(|mut pair| {
    ///     pair.0 += 1;
    ///     Fiber::lazy(move || { assert!(pair.0 < 2, "too many"); pair.1 += 1 })
    /// });
    /// assert!(fiber_sched::run(torn).is_panicked());
    /// let next = pair.lock().map(|pair| (pair.previous_holder_panicked(), *pair));
    /// assert_eq!(fiber_sched::run(next).unwrap(), (true, (2, 1)));
    /// let next = pair.lock().map(|pair| pair.previous_holder_panicked());
    /// assert!(!fiber_sched::run(next).unwrap());
    /// ```
    pub fn previous_holder_panicked(&self) -> bool {
        // Relaxed: taking the permits has made it visible.
        self.share.of.has_panicked.load(Ordering::Relaxed)
    }

    /// Divides the hold: the lock is released when both halves are gone.
    pub(super) fn split(self) -> (Self, Half<T, H>) {
        let Guard { mut share, value } = self;
        let half = if H::IS_EXCLUSIVE {
            share.notes |= IS_HALF;
            share.twin(share.permits)
        } else {
            share.permits /= 2;
            share.twin(share.permits)
        };
        (Guard { share, value }, Half(half))
    }
}

impl<T, H: Hold> Deref for Guard<T, H> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        let value = self.share.of.value.with(|value| value);
        // SAFETY: the permits of this guard exclude every other exclusive guard, and an exclusive guard that is
        // borrowed here is not borrowed mutably. The value lives as long as the `Arc` in the guard.
        unsafe { &*value }
    }
}

impl<T> DerefMut for Guard<T, Exclusive> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        let value = self.share.of.value.with_mut(|value| value);
        // SAFETY: this guard has all permits, so there is no other one; and it is borrowed mutably.
        unsafe { &mut *value }
    }
}

impl<T: fmt::Debug, H: Hold> fmt::Debug for Guard<T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The share is a half of an exclusive hold.
const IS_HALF: usize = 1;
const HAS_PANICKED: usize = 2;

/// The permits of a hold.
struct Share<T: 'static, H: Hold> {
    of: Arc<Guarded<T>>,
    permits: usize,
    /// [`IS_HALF`] and [`HAS_PANICKED`]. A whole word, because it is moved right after it was made (docs/decisions/stalls.md).
    notes: usize,
    holder: Holder,
    hold: PhantomData<H>,
}

impl<T, H: Hold> Share<T, H> {
    /// A hold of permits that were taken.
    #[inline]
    fn new(
        of: Arc<Guarded<T>>,
        permits: usize,
        cx: Option<&Cx<'_>>,
        site: &'static Location<'static>,
    ) -> Self {
        let holder = Holder::new(cx, &of.subject, Self::reported(&of.subject, permits), site);
        Share { of, permits, notes: 0, holder, hold: PhantomData }
    }

    fn twin(&self, permits: usize) -> Self {
        Share {
            of: self.of.clone(),
            permits,
            notes: self.notes & IS_HALF,
            holder: self.holder.clone(),
            hold: PhantomData,
        }
    }

    /// The number of permits in reports.
    fn reported(of: &Subject, permits: usize) -> usize {
        if H::IS_EXCLUSIVE { of.total() } else { permits }
    }
}

impl<T, H: Hold> Drop for Share<T, H> {
    #[inline]
    fn drop(&mut self) {
        let of = &*self.of;
        let has = |note| self.notes & note != 0;
        if H::IS_EXCLUSIVE && !of.release(has(IS_HALF), has(HAS_PANICKED) || panicking()) {
            return;
        }
        self.holder.release(&of.subject, Self::reported(&of.subject, self.permits));
        of.permits.give_back(self.permits);
    }
}

/// The half of a hold that a fiber keeps.
pub(super) struct Half<T: 'static, H: Hold>(Share<T, H>);

impl<T: Send + 'static, H: Hold, U: Send + 'static> Follow<U> for Half<T, H> {
    type Out = U;
    const NEVER_WAITS: bool = true;

    fn follow<'s>(mut self, cx: &'s Cx<'_>, outcome: Outcome<U>) -> Step<'s, U> {
        if outcome.is_panicked() {
            self.0.notes |= HAS_PANICKED;
        }
        // This may be the last reference, so the value may be dropped here.
        Step::Done(outcome.without(self, cx))
    }
}

/// Runs the fiber that `f` makes of the guard. The lock is held until that fiber has ended and the guard is dropped.
pub(super) fn with<T, H, U, R, F>(
    claim: Claim<T, H>,
    f: F,
) -> Fiber<U, impl Run<Out = U> + use<T, H, U, R, F>>
where
    T: Send + 'static,
    H: Hold,
    U: Send + 'static,
    R: Run<Out = U>,
    F: FnOnce(Guard<T, H>) -> Fiber<U, R> + Send + 'static,
{
    let site = claim.site;
    claim.fiber().bind_at(site, move |guard| {
        // Dropped after a panic of `f`, and during its unwinding.
        let (guard, half) = guard.split();
        Fiber::new(Then::new(f(guard).into_run(), half))
    })
}

/// The wait for a lock.
pub(crate) struct Claim<T: 'static, H> {
    /// `None` once the guard that was made holds it.
    of: Option<Arc<Guarded<T>>>,
    permits: usize,
    site: &'static Location<'static>,
    hold: PhantomData<fn() -> H>,
}

impl<T: Send + 'static> Claim<T, Exclusive> {
    #[inline]
    pub(super) fn exclusive(of: Arc<Guarded<T>>, site: &'static Location<'static>) -> Self {
        Claim::new(of, Permits::MAX, site)
    }
}

impl<T: Send + Sync + 'static> Claim<T, Shared> {
    #[inline]
    pub(super) fn shared(of: Arc<Guarded<T>>, site: &'static Location<'static>) -> Self {
        Claim::new(of, 1, site)
    }

    /// For [`with`].
    #[inline]
    pub(super) fn shared_in_halves(of: Arc<Guarded<T>>, site: &'static Location<'static>) -> Self {
        Claim::new(of, 2, site)
    }
}

impl<T, H> Claim<T, H> {
    /// For an exclusive hold, or a `T` that is `Sync`: see the SAFETY comment of [`Guarded`].
    #[inline]
    fn new(of: Arc<Guarded<T>>, permits: usize, site: &'static Location<'static>) -> Self {
        Claim { of: Some(of), permits, site, hold: PhantomData }
    }

    fn of(&self) -> &Arc<Guarded<T>> {
        self.of.as_ref().expect("no guard has been made of this")
    }
}

impl<T: Send + 'static, H: Hold> Claim<T, H> {
    #[inline]
    pub(super) fn fiber(self) -> Fiber<Guard<T, H>, crate::leaf::Leaf<Operation<Self>>> {
        let site = self.site;
        Operation::fiber(self, site)
    }

    /// The guard, if the lock is free and has no waiters.
    #[inline]
    pub(super) fn now(mut self) -> Option<Guard<T, H>> {
        self.take(None)
    }

    #[track_caller]
    pub(super) fn block(self) -> Guard<T, H> {
        Operation::block(self).success().expect("the wait for a lock ends with a guard")
    }

    #[inline]
    fn take(&mut self, cx: Option<&Cx<'_>>) -> Option<Guard<T, H>> {
        if self.of().permits.try_take(self.permits) { self.taken(cx) } else { None }
    }

    /// The guard of the permits that were taken.
    #[inline]
    fn taken(&mut self, cx: Option<&Cx<'_>>) -> Option<Guard<T, H>> {
        let share = Share::new(self.of.take()?, self.permits, cx, self.site);
        Some(Guard { share, value: PhantomData })
    }
}

impl<T: Send + 'static, H: Hold> Attempt for Claim<T, H> {
    type Out = Guard<T, H>;
    type Place = Waiter<usize>;
    const WAITS_FOR: WaitsFor = WaitsFor::Lock;

    #[inline]
    fn attempt(&mut self, cx: Option<&Cx<'_>>) -> Option<Outcome<Guard<T, H>>> {
        self.take(cx).map(Outcome::Success)
    }

    fn join(
        &mut self,
        place: &mut Waiter<usize>,
        cx: Option<&Cx<'_>>,
        seat: Seat,
    ) -> Option<Outcome<Guard<T, H>>> {
        let is_taken = self.of().permits.take_or_join(self.permits, place, seat);
        if is_taken { self.taken(cx).map(Outcome::Success) } else { None }
    }

    fn woken(&mut self, place: &mut Waiter<usize>, cx: Option<&Cx<'_>>) -> Option<Outcome<Guard<T, H>>> {
        let guard = if Permits::was_served(place) { self.taken(cx) } else { self.take(cx) };
        guard.map(Outcome::Success)
    }

    fn leave(&mut self, place: &mut Waiter<usize>) {
        if let Some(of) = &self.of {
            of.permits.leave(place);
        }
    }

    fn subject(&self) -> &Subject {
        &self.of().subject
    }

    fn asks(&self) -> usize {
        Share::<T, H>::reported(self.subject(), self.permits)
    }
}

impl<T, H> Clone for Claim<T, H> {
    /// Clones the description, which is not in the queue.
    fn clone(&self) -> Self {
        Claim::new(self.of().clone(), self.permits, self.site)
    }
}

impl<T, H> fmt::Debug for Claim<T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "claim at {}", self.site)
    }
}
