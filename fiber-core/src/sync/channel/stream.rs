//! Channels and `futures_core::Stream`, both ways.

use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use futures_core::Stream;

use super::receiver::{Receiver, Receiving};
use super::sender::Sender;
use crate::engine::context::Wakeup;
use crate::engine::step::Run;
use crate::error::Error;
use crate::fiber::Fiber;
use crate::sync::operation::Attempt;

impl<T: Send + 'static> Receiver<T> {
    /// The items as a stream, which ends when the channel is closed and nothing is left in it.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Channel};
    /// use futures_core::Stream;
    /// use std::{future::poll_fn, pin::Pin};
    ///
    /// let (sender, receiver) = Channel::unbounded();
    /// sender.try_send(1).unwrap();
    /// drop(sender);
    /// let mut stream = receiver.into_stream();
    /// let both = Fiber::from_future(async move {
    ///     let first = poll_fn(|cx| Pin::new(&mut stream).poll_next(cx)).await;
    ///     let second = poll_fn(|cx| Pin::new(&mut stream).poll_next(cx)).await;
    ///     Ok::<_, fiber_core::Error>((first, second))
    /// });
    /// assert_eq!(fiber_sched::run(both).unwrap(), (Some(1), None));
    /// ```
    ///
    /// # Cancellation
    /// An item that was handed to a stream goes to the next receiver, or to the front of the channel, when the stream is
    /// dropped. A stream that waits and is polled no more, but lives, keeps it from the others.
    #[track_caller]
    pub fn into_stream(self) -> ReceiverStream<T> {
        ReceiverStream(Receiving::new(self, "stream", Location::caller()))
    }
}

/// The items of a channel; see [`Receiver::into_stream`].
pub struct ReceiverStream<T: Send + 'static>(Receiving<T>);

impl<T: Send + 'static> Stream for ReceiverStream<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let receiving = &mut self.get_mut().0;
        // The waker of the last poll may be out of date, so that wait ends. It may have been handed an item.
        if let Some(item) = receiving.ticket.take().and_then(|ticket| receiving.take_handed(ticket)) {
            return Poll::Ready(Some(item));
        }
        match receiving.attempt(None, Some(Wakeup::from(cx.waker().clone()))) {
            None => Poll::Pending,
            Some(outcome) => Poll::Ready(outcome.success()),
        }
    }
}

impl<T: Send + 'static> Drop for ReceiverStream<T> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl<T: Send + 'static> fmt::Debug for ReceiverStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Send + 'static> Sender<T> {
    /// Sends the items of a stream, one after the other, and waits for room whenever the channel is full.
    ///
    /// ```
    /// use fiber_core::sync::Channel;
    ///
    /// let (sender, receiver) = Channel::unbounded();
    /// (1..=3).for_each(|n| sender.try_send(n).unwrap());
    /// drop(sender);
    /// let (sender, copied) = Channel::unbounded();
    /// assert!(fiber_sched::run(sender.send_stream(receiver.into_stream())).is_success());
    /// assert_eq!(fiber_sched::run(copied.recv_many(9)).unwrap(), [1, 2, 3]);
    /// ```
    ///
    /// # Errors
    /// [`SendError`](super::SendError), which has the item, if the channel is closed. The rest of the stream is dropped.
    ///
    /// # Panics
    /// A panic of the stream becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// What was sent stays in. The rest is dropped.
    pub fn send_stream<S>(&self, stream: S) -> Fiber<(), impl Run<Out = ()> + use<T, S>>
    where
        S: Stream<Item = T> + Send + 'static,
    {
        let sender = self.clone();
        Fiber::from_future(async move {
            let mut stream = pin!(stream);
            while let Some(item) = poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
                sender.send(item).await?;
            }
            Ok::<_, Error>(())
        })
    }
}
