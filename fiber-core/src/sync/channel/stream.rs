//! Channels and `futures_core::Stream`, both ways.

#![allow(unsafe_code)]

use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use futures_core::Stream;
use parking_lot::Mutex;

use super::receiver::{Receiver, Receiving};
use super::sender::Sender;
use crate::block::Streak;
use crate::engine::context::Seat;
use crate::engine::step::Run;
use crate::error::Error;
use crate::fiber::Fiber;
use crate::sync::operation::Attempt;
use crate::sync::waiters::Waiter;

impl<T: Send + 'static> Receiver<T> {
    /// The items as a stream, which ends when the channel is closed and empty.
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
    /// An item that was passed to a stream goes to the next receiver, or to the front of the channel, when the stream is
    /// dropped. A stream that is neither polled again nor dropped withholds it from other receivers.
    #[track_caller]
    pub fn into_stream(self) -> ReceiverStream<T> {
        ReceiverStream {
            receiving: Receiving::new(self, "stream", Location::caller()),
            place: Box::default(),
            signal: Arc::default(),
            streak: Streak::default(),
        }
    }
}

/// The items of a channel; see [`Receiver::into_stream`].
pub struct ReceiverStream<T: Send + 'static> {
    receiving: Receiving<T>,
    /// In a box, where it stays while it waits.
    place: Box<Waiter<Option<T>>>,
    signal: Arc<Signal>,
    streak: Streak,
}

impl<T: Send + 'static> Stream for ReceiverStream<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let ReceiverStream { receiving, place, signal, streak } = self.get_mut();
        streak.poll(cx, |cx| {
            let is_woken = signal.renew(cx.waker());
            if place.has_joined() {
                if !is_woken {
                    // It keeps its place in the queue.
                    return Poll::Pending;
                }
                if let Some(item) = receiving.take_handed(place) {
                    signal.forget();
                    return Poll::Ready(Some(item));
                }
            }
            // SAFETY: it stays in its box until it is dropped, before which it leaves.
            let seat = unsafe { Seat::of_waker(Waker::from(signal.clone())) };
            match receiving.join(place, None, seat) {
                None => Poll::Pending,
                Some(outcome) => {
                    signal.forget();
                    Poll::Ready(outcome.success())
                }
            }
        })
    }
}

impl<T: Send + 'static> Drop for ReceiverStream<T> {
    fn drop(&mut self) {
        self.receiving.leave(&mut self.place);
    }
}

impl<T: Send + 'static> fmt::Debug for ReceiverStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.receiving.fmt(f)
    }
}

/// Represents the waker of the last poll in the queue of the channel. Dropping the waker of an executor is user code,
/// which must not run under the lock of the channel.
#[derive(Debug, Default)]
struct Signal(Mutex<Signalled>);

#[derive(Debug, Default)]
struct Signalled {
    is_woken: bool,
    waker: Option<Waker>,
}

impl Signal {
    /// Replaces the waker. `true` if the wait was over.
    fn renew(&self, waker: &Waker) -> bool {
        // Cloned before the lock is taken, and dropped when it is released: both are user code.
        let mut other = Some(waker.clone());
        let mut signalled = self.0.lock();
        mem::swap(&mut signalled.waker, &mut other);
        let is_woken = mem::take(&mut signalled.is_woken);
        drop(signalled);
        drop(other);
        is_woken
    }

    /// Drops the waker: the wait is over.
    fn forget(&self) {
        let waker = self.0.lock().waker.take();
        drop(waker);
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        let mut signalled = self.0.lock();
        signalled.is_woken = true;
        let waker = signalled.waker.take();
        drop(signalled);
        if let Some(waker) = waker {
            waker.wake();
        }
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
    /// [`SendError`](super::SendError), which contains the item, if the channel is closed. The rest of the stream is dropped.
    ///
    /// # Panics
    /// A panic of the stream becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// Items that were sent stay in the channel. The rest is dropped.
    #[track_caller]
    pub fn send_stream<S>(&self, stream: S) -> Fiber<(), impl Run<Out = ()> + use<T, S>>
    where
        S: Stream<Item = T> + Send + 'static,
    {
        let (sender, site) = (self.clone(), Location::caller());
        Fiber::from_future(async move {
            let mut stream = pin!(stream);
            while let Some(item) = poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
                sender.send_at(site, item).future_at(site).await?;
            }
            Ok::<_, Error>(())
        })
    }
}
