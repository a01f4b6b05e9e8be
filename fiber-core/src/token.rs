//! Cancel tokens for code that is not a fiber: the cancel tree without fibers.

use crate::cell::{EventKey, Node, Owner, Ref, Seed, Signal, Unparked};
use crate::engine::context::Wakeup;
use crate::error::Cancelled;
use crate::footprint::{Access, Object};

/// A node in a tree of cancellations.
///
/// Cancelling a token cancels all tokens that were or will be made from it with [`child`](CancelToken::child), never
/// those above or beside it. Every operation is lock-free. Making and dropping a child costs the same with any number
/// of siblings, and `is_cancelled` is one load.
///
/// Clones are handles of the same token, which ends with the last of them. A child is another token.
///
/// Fibers have a cancel tree of their own. A token is for code that fibers call, such as a long computation in
/// [`Fiber::blocking_with`](crate::Fiber::blocking_with).
///
/// ```
/// use fiber_core::CancelToken;
///
/// let service = CancelToken::new();
/// let request = service.child();
/// let other = service.child();
/// request.cancel();
/// assert!(request.is_cancelled() && !service.is_cancelled() && !other.is_cancelled());
/// service.cancel();
/// assert!(other.is_cancelled() && service.child().is_cancelled());
/// ```
#[doc(alias = "CancellationToken")]
#[derive(Debug)]
pub struct CancelToken(Ref<Bare>);

/// The owner of a node without a fiber.
#[derive(Debug)]
struct Bare;

impl Owner for Bare {
    type Fiber = Ref<Self>;
    /// The wake-up of a fiber that waits for the cancellation.
    type Waiter = Wakeup;
    type Behavior = ();
    type Root = ();

    const IDLE: &'static () = &();

    fn wake(_: &Ref<Self>, waiter: Wakeup, _: Signal) {
        waiter.fire();
    }

    fn touched(_: &Ref<Self>) {
        Object::TOKENS.touch(Access::Write);
    }

    fn childless(_: &Ref<Self>) -> bool {
        true
    }
}

impl CancelToken {
    /// Makes a token without a parent.
    pub fn new() -> Self {
        CancelToken(Ref::root(Bare, ()))
    }

    /// Makes a token that is cancelled together with this one. If this one is already cancelled, so is the child.
    ///
    /// The child may outlive this token: it is still cancelled with the tokens above.
    pub fn child(&self) -> Self {
        Object::TOKENS.touch(Access::Read);
        CancelToken(Node::child(&self.0, false, |_| Bare, Seed::without(((), ()))))
    }

    /// Cancels this token and all tokens below it. Calling it again has no effect.
    pub fn cancel(&self) {
        Node::cancel(&self.0, 0);
    }

    /// Fails if the token was cancelled, so that `?` leaves a long computation.
    ///
    /// ```
    /// use fiber_core::{CancelToken, Error};
    ///
    /// fn sum(numbers: &[u64], token: &CancelToken) -> Result<u64, Error> {
    ///     let mut sum = 0;
    ///     for chunk in numbers.chunks(1024) {
    ///         token.check()?;
    ///         sum += chunk.iter().sum::<u64>();
    ///     }
    ///     Ok(sum)
    /// }
    /// let token = CancelToken::new();
    /// assert_eq!(sum(&[1, 2, 3], &token).unwrap(), 6);
    /// token.cancel();
    /// assert!(sum(&[1, 2, 3], &token).is_err());
    /// ```
    ///
    /// # Errors
    /// [`Cancelled`], if the token was cancelled.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// Whether this token, or one above it, was cancelled: one load. If so, everything that the canceller did before is
    /// visible to the caller.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        Object::TOKENS.touch(Access::Read);
        self.0.is_cancelled()
    }

    /// Leaves the wake-up of a fiber that waits for the cancellation, which is the event of this key. Only one fiber at a time can wait on a token.
    ///
    /// # Errors
    /// Gives the wake-up back if the token was cancelled.
    pub(crate) fn park(&self, wakeup: Wakeup) -> Result<EventKey, Wakeup> {
        Object::TOKENS.touch(Access::Read);
        let event = self.0.begin_wait();
        self.0.parking().park(wakeup, false).map(|()| event).map_err(|Unparked(wakeup, _)| wakeup)
    }

    /// Takes the wake-up back, unless it was fired.
    pub(crate) fn unpark(&self, event: EventKey) -> Option<Wakeup> {
        Object::TOKENS.touch(Access::Read);
        self.0.parking().fire(event).waiter()
    }
}

impl Clone for CancelToken {
    fn clone(&self) -> Self {
        let is_alive = self.0.hold();
        debug_assert!(is_alive, "each clone keeps the token from ending");
        CancelToken(self.0.clone())
    }
}

impl Default for CancelToken {
    fn default() -> Self {
        CancelToken::new()
    }
}

impl Drop for CancelToken {
    /// The last of the clones ends the token.
    fn drop(&mut self) {
        if self.0.finish_work() {
            Node::end(&self.0);
        }
    }
}

#[cfg(all(test, fiber_loom))]
mod loom_tests {
    use std::task::Waker;

    use loom::model;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use loom::thread;

    use super::*;

    #[test]
    fn writes_before_a_cancellation_are_visible_to_a_thread_that_sees_the_flag() {
        model(|| {
            let root = CancelToken::new();
            let below = root.child();
            let written = Arc::new(AtomicUsize::new(0));
            let canceller = thread::spawn({
                let written = written.clone();
                move || {
                    written.store(1, Ordering::Relaxed);
                    root.cancel();
                }
            });
            if below.is_cancelled() {
                assert_eq!(written.load(Ordering::Relaxed), 1);
            }
            canceller.join().unwrap();
        });
    }

    #[test]
    fn tokens_may_be_dropped_in_any_order_while_the_root_is_cancelled() {
        model(|| {
            let root = CancelToken::new();
            let middle = root.child();
            let leaf = middle.child();
            let dropper = thread::spawn(move || drop(middle));
            root.cancel();
            dropper.join().unwrap();
            assert!(leaf.is_cancelled());
        });
    }

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Woken(std::sync::atomic::AtomicUsize);

    impl std::task::Wake for Woken {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }

    #[test]
    fn a_waiter_is_woken_once_or_refused_after_the_cancellation() {
        model(|| {
            let root = CancelToken::new();
            let below = root.child();
            let woken = std::sync::Arc::new(Woken::default());
            let wakeup = Wakeup::from(Waker::from(woken.clone()));
            let canceller = thread::spawn(move || root.cancel());
            let is_late = below.park(wakeup).is_err();
            canceller.join().unwrap();
            assert!(below.is_cancelled());
            let wakes = woken.0.load(std::sync::atomic::Ordering::Relaxed);
            assert_eq!(wakes, usize::from(!is_late));
        });
    }
}
