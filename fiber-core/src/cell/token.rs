//! Cancel tokens for code that is not a fiber: the tree, without waiters.

use std::convert::Infallible;

use super::node::{Node, Owner};
use super::parking::Signal;
use super::reference::Ref;
use crate::error::Cancelled;

/// A node in a tree of cancellations.
///
/// Cancelling a token cancels all tokens that were or will be made from it with [`child`](CancelToken::child), never
/// those above or beside it. Every operation is lock-free. Making and dropping a child costs the same with any number
/// of siblings, and `is_cancelled` is one load.
///
/// Fibers have a cancel tree of their own. A token is for the code that they call, such as a long computation in
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
#[derive(Debug)]
pub struct CancelToken(Ref<Bare>);

/// The owner of a node without a fiber.
#[derive(Debug)]
struct Bare;

impl Owner for Bare {
    type Fiber = Ref<Self>;
    type Waiter = Infallible;
    type Behavior = ();
    type Waking = ();
    type Root = ();

    const IDLE: &'static () = &();

    fn wake(_: &Ref<Self>, waiter: Infallible, _: Signal) {
        match waiter {}
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
        CancelToken(Node::child(&self.0, false, Bare, ()))
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
        self.0.is_cancelled()
    }
}

impl Default for CancelToken {
    fn default() -> Self {
        CancelToken::new()
    }
}

impl Drop for CancelToken {
    fn drop(&mut self) {
        if self.0.finish_work() {
            Node::end(&self.0);
        }
    }
}
