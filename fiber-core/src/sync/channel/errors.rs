use std::error::Error;
use std::fmt;

use parking_lot::Mutex;

/// The channel is closed and empty.
///
/// ```
/// use fiber_core::sync::{Channel, Closed};
///
/// let (sender, receiver) = Channel::<u32>::unbounded();
/// drop(sender);
/// let error = fiber_sched::run(receiver.recv()).failure().unwrap();
/// assert!(error.is::<Closed>());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the channel is closed, and nothing is left in it")
    }
}

impl Error for Closed {}

/// The channel is closed. The error contains the item that was not sent; after [`send_all`](super::Sender::send_all), a `Vec`
/// of items.
///
/// ```
/// use fiber_core::sync::{Channel, SendError};
///
/// let (sender, receiver) = Channel::bounded(1);
/// drop(receiver);
/// let error = fiber_sched::run(sender.send("hello")).failure().unwrap();
/// assert_eq!(error.to_string(), "the channel is closed, so nothing can be sent");
/// assert_eq!(error.downcast::<SendError<&str>>().unwrap().into_inner(), "hello");
/// ```
// The mutex is never locked: it makes the error `Sync`, as every source of an `Error` has to be, even if the item is not.
pub struct SendError<T>(Mutex<T>);

impl<T> SendError<T> {
    pub(in crate::sync) fn new(unsent: T) -> Self {
        SendError(Mutex::new(unsent))
    }

    /// The item.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the channel is closed, so nothing can be sent")
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendError").finish_non_exhaustive()
    }
}

impl<T> Error for SendError<T> {}

/// Why [`try_send`](super::Sender::try_send) did not send the item, with the item.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// There is no room.
    Full(T),
    /// The channel is closed.
    Closed(T),
}

impl<T> TrySendError<T> {
    /// The item.
    pub fn into_inner(self) -> T {
        match self {
            TrySendError::Full(item) | TrySendError::Closed(item) => item,
        }
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => "the channel is full",
            TrySendError::Closed(_) => "the channel is closed, so nothing can be sent",
        })
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => "Full(..)",
            TrySendError::Closed(_) => "Closed(..)",
        })
    }
}

impl<T> Error for TrySendError<T> {}

/// Why [`try_recv`](super::Receiver::try_recv) received no item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// The channel is empty now.
    Empty,
    /// The channel is closed and empty.
    Closed,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TryRecvError::Empty => f.write_str("the channel is empty"),
            TryRecvError::Closed => Closed.fmt(f),
        }
    }
}

impl Error for TryRecvError {}
