//! Channels as streams: dropping a stream, or polling it with another waker, loses no item.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use fiber_core::Fiber;
use fiber_core::sync::{Channel, ReceiverStream, SendError, Sender};
use futures_core::Stream;

#[derive(Default)]
struct Counts(AtomicUsize);

impl Wake for Counts {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Counts {
    fn woken(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

fn poll<T: Send + 'static>(stream: &mut ReceiverStream<T>, counts: &Arc<Counts>) -> Poll<Option<T>> {
    let waker = Waker::from(counts.clone());
    Pin::new(stream).poll_next(&mut Context::from_waker(&waker))
}

#[test]
fn a_stream_gives_all_items_and_ends_with_the_channel() {
    let ((sender, receiver), counts) = (Channel::bounded(2), Arc::default());
    let mut stream = receiver.into_stream();
    sender.try_send(1).unwrap();
    assert_eq!(poll(&mut stream, &counts), Poll::Ready(Some(1)));
    assert_eq!(poll(&mut stream, &counts), Poll::Pending);
    sender.try_send(2).unwrap();
    assert_eq!(counts.woken(), 1);
    assert_eq!(poll(&mut stream, &counts), Poll::Ready(Some(2)));
    assert_eq!(poll(&mut stream, &counts), Poll::Pending);
    drop(sender);
    assert_eq!(counts.woken(), 2);
    assert_eq!(poll(&mut stream, &counts), Poll::Ready(None));
    assert_eq!(poll(&mut stream, &counts), Poll::Ready(None));
}

#[test]
fn the_waker_of_the_last_poll_is_woken() {
    let ((sender, receiver), old, new) = (Channel::bounded(2), Arc::default(), Arc::default());
    let mut stream = receiver.into_stream();
    assert_eq!(poll(&mut stream, &old), Poll::Pending);
    assert_eq!(poll(&mut stream, &new), Poll::Pending);
    sender.try_send(1).unwrap();
    assert_eq!((old.woken(), new.woken()), (0, 1));
}

/// A waker whose drop calls the channel.
struct Asks(Sender<u32>);

impl Wake for Asks {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Asks {
    fn drop(&mut self) {
        self.0.is_closed();
    }
}

#[test]
fn no_waker_is_dropped_under_the_lock_of_the_channel() {
    let (sender, receiver) = Channel::unbounded();
    let mut stream = receiver.into_stream();
    let mut poll = || {
        let waker = Waker::from(Arc::new(Asks(sender.clone())));
        Pin::new(&mut stream).poll_next(&mut Context::from_waker(&waker))
    };
    assert_eq!([poll(), poll()], [Poll::Pending; 2]);
    sender.try_send(1).unwrap();
    assert_eq!([poll(), poll()], [Poll::Ready(Some(1)), Poll::Pending]);
    drop(stream);
    assert!(sender.is_closed());
}

#[test]
fn a_stream_that_is_polled_again_keeps_its_place() {
    let ((sender, receiver), counts) = (Channel::unbounded(), Arc::default());
    let mut streams = [receiver.clone().into_stream(), receiver.into_stream()];
    for n in [0, 1, 0] {
        assert_eq!(poll(&mut streams[n], &counts), Poll::Pending);
    }
    sender.try_send(1).unwrap();
    assert_eq!(poll(&mut streams[1], &counts), Poll::Pending);
    assert_eq!(poll(&mut streams[0], &counts), Poll::Ready(Some(1)));
}

#[test]
fn a_stream_that_is_dropped_gives_back_what_it_was_handed() {
    let ((sender, receiver), counts) = (Channel::bounded(2), Arc::default());
    let mut stream = receiver.clone().into_stream();
    assert_eq!(poll(&mut stream, &counts), Poll::Pending);
    sender.try_send(1).unwrap();
    sender.try_send(2).unwrap();
    assert_eq!(receiver.len(), 1);
    drop(stream);
    assert_eq!([receiver.try_recv(), receiver.try_recv()], [Ok(1), Ok(2)]);
}

#[test]
fn a_stream_is_sent_into_a_channel_with_backpressure() {
    let (sender, receiver) = Channel::bounded(1);
    let (copies, copied) = Channel::bounded(1);
    let send = sender.send_all(0..100);
    drop(sender);
    let copy = copies.send_stream(receiver.into_stream());
    drop(copies);
    let receive = Fiber::for_each(0..100, move |n| copied.recv().map(move |item| assert_eq!(item, n)));
    assert!(fiber_sched::run(send.zip(copy).zip(receive)).is_success());
}

#[test]
fn a_closed_channel_gives_the_item_of_the_stream_back() {
    let (sender, receiver) = Channel::unbounded();
    sender.try_send(1).unwrap();
    let (copies, copied) = Channel::bounded(1);
    drop(copied);
    let error = fiber_sched::run(copies.send_stream(receiver.into_stream())).failure().unwrap();
    assert_eq!(error.downcast::<SendError<i32>>().unwrap().into_inner(), 1);
}
