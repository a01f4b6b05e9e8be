//! Futures with wakers of their own, as in `FuturesUnordered`: a wrapper polls those that have woken it, in that order, and wakes the block
//! once.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use fiber_core::sync::Channel;
use fiber_core::{Error, Fiber};
use parking_lot::Mutex as Lock;

use super::last::assert_nothing_is_missed;

/// The futures to be polled, and the waker of the block until one of them has used it.
type Woken = Lock<(Vec<usize>, Option<Waker>)>;

struct OneOf(usize, Arc<Woken>);

impl Wake for OneOf {
    fn wake(self: Arc<Self>) {
        let mut woken = self.1.lock();
        woken.0.push(self.0);
        let block = woken.1.take();
        drop(woken);
        block.into_iter().for_each(Waker::wake);
    }
}

/// The values in the order in which they come.
async fn as_they_come(fibers: [Fiber<u32>; 2]) -> Result<Vec<u32>, Error> {
    type Part = Pin<Box<dyn Future<Output = Result<u32, Error>> + Send>>;
    let mut parts = fibers.map(|fiber| Box::pin(async { fiber.await }) as Part);
    let (woken, mut values) = (Arc::new(Woken::new((vec![0, 1], None))), Vec::new());
    poll_fn(|cx| {
        woken.lock().1 = Some(cx.waker().clone());
        let polled = std::mem::take(&mut woken.lock().0);
        for at in polled {
            let waker = Waker::from(Arc::new(OneOf(at, woken.clone())));
            if let Poll::Ready(value) = parts[at].as_mut().poll(&mut Context::from_waker(&waker)) {
                values.push(value?);
            }
        }
        if values.len() < 2 { Poll::Pending } else { Poll::Ready(Ok(std::mem::take(&mut values))) }
    })
    .await
}

#[test]
fn fibers_that_end_in_any_order_while_the_block_is_about_to_be_polled() {
    assert_nothing_is_missed(|| {
        let channels = [Channel::bounded(1), Channel::bounded(1)];
        let receives = channels.clone().map(|(_, receiver)| receiver.recv().boxed());
        let sends = Fiber::parallel((1..).zip(channels).map(|(value, (sender, _))| sender.send(value)));
        let collects = Fiber::block(|| as_they_come(receives));
        collects.zip(sends).map(|(values, _)| format!("{values:?}")).boxed()
    });
}
