//! A race inside of a block that awaits several fibers beside each other: it moves out of the races around the block.

use std::future::{Future, IntoFuture, poll_fn};
use std::pin::pin;
use std::sync::mpsc;
use std::thread;

use fiber_core::sync::Channel;
use fiber_core::{Either, Fiber};
use fiber_sched::CurrentThread;

use crate::finalizers::{HANGS, never};

/// The item comes while the race is still a part of the block, so its winner has claimed the outer race, too.
fn receives_and_then_awaits_another() -> Fiber<u32> {
    let (sender, receiver) = Channel::bounded(1);
    Fiber::block(move || {
        let (sender, receives) = (sender.clone(), receiver.recv().race(program()).map(Either::into_inner));
        async move {
            let (mut received, mut beside) = (pin!(receives.into_future()), pin!(never().into_future()));
            poll_fn(|cx| {
                let polled = received.as_mut().poll(cx);
                if polled.is_pending() {
                    assert!(sender.try_send(7).is_ok());
                    assert!(beside.as_mut().poll(cx).is_pending());
                }
                polled
            })
            .await
        }
    })
    .boxed()
}

/// Never ends, and is no single wait.
fn program() -> Fiber<u32> {
    never().bind(Fiber::success).boxed()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test that hangs says nothing")]
fn a_race_that_moves_out_of_another_one_releases_it() {
    let (ended, end) = mpsc::channel();
    // A schedule of `fiber-test` would begin the sides of the inner race after it has moved.
    thread::spawn(move || {
        let fiber = receives_and_then_awaits_another().race(program()).map(Either::into_inner);
        ended.send(CurrentThread::new().run(fiber)).expect("the test waits");
    });
    assert_eq!(end.recv_timeout(HANGS).expect("the block wins").unwrap(), 7);
}
