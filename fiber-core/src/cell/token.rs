//! Tokens for code that is not a fiber: the tree without anybody who waits in it.

use std::convert::Infallible;

use super::node::{Node, Owner};
use super::parking::Signal;
use super::reference::Ref;
use crate::error::Cancelled;

/// A node of a tree of cancellations.
///
/// Cancelling a token cancels all that were made from it with [`child`](CancelToken::child), now or later,
/// never those above or beside it. Every operation is lock-free; making and dropping a child costs the same with any
/// number of siblings, and `is_cancelled` is one load.
///
/// Fibers have such a tree of their own, unseen. A token is for the code that they call, such as a long
/// computation in [`Fiber::blocking_with`](crate::Fiber::blocking_with).
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

/// The owner of a node that no fiber belongs to.
#[derive(Debug)]
struct Bare;

impl Owner for Bare {
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
    /// A token of its own, with nothing above it.
    pub fn new() -> Self {
        CancelToken(Ref::root(Bare, ()))
    }

    /// A token that is cancelled with this one. If this one is cancelled already, so is the child.
    ///
    /// The child may outlive this token: it is still cancelled with the tokens above.
    pub fn child(&self) -> Self {
        CancelToken(Node::child(&self.0, false, Bare, ()))
    }

    /// Cancels this token and all below it. Calling it again has no effect.
    pub fn cancel(&self) {
        Node::cancel(&self.0, 0);
    }

    /// Leaves a long computation by `?` when the token was cancelled.
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
    /// [`Cancelled`], if it was.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// Whether this token, or one above it, was cancelled. One load. If it was, everything that the canceller did before is
    /// visible here.
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
