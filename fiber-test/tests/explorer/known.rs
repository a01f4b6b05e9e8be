//! Programs whose traces are pinned, with the lines of this file: after a change here, update them there.

use std::time::Duration;

use fiber_core::Fiber;
use fiber_test::{Explore, Failure};

use crate::support::{Lock, Shared};

/// The first failure of a program, on this many threads.
pub(crate) fn failure(program: fn() -> Fiber<()>, threads: usize) -> Failure {
    Explore::default().schedules(10_000).threads(threads).try_check(program).unwrap_err()
}

/// A message is sent after the channel was closed and drained.
pub(crate) fn close_send() -> Fiber<()> {
    let (is_closed, sent) = (Shared::new(false), Shared::new(0));
    let (sending, draining) = (sent.clone(), sent.clone());
    let send = is_closed.step(|is_closed| *is_closed);
    let send = send.bind(move |is_closed| sending.step(move |sent| *sent += i32::from(!is_closed)));
    let close = is_closed.step(|is_closed| *is_closed = true);
    let close = close.bind(move |()| draining.step(|sent| *sent = 0));
    let both = send.named("sender").zip(close.named("closer"));
    both.map(move |_| assert!(sent.with(|sent| *sent == 0), "a message is lost")).boxed()
}

/// Counts no messages. It has the steps of [`close_send`].
pub(crate) fn close_send_corrected() -> Fiber<()> {
    let send = Fiber::lazy(|| ()).bind(|()| Fiber::lazy(|| ()));
    let close = Fiber::lazy(|| ()).bind(|()| Fiber::lazy(|| ()));
    send.named("sender").zip(close.named("closer")).map(drop).boxed()
}

fn increment(value: &Shared<u32>) -> Fiber<()> {
    let value = value.clone();
    value.step(|value| *value).bind(move |seen| value.step(move |value| *value = seen + 1)).boxed()
}

pub(crate) fn lost_update() -> Fiber<()> {
    let value = Shared::new(0);
    let both = Fiber::parallel([increment(&value), increment(&value)]);
    both.map(move |_| assert_eq!(value.with(|value| *value), 2)).boxed()
}

/// Of six increments by two fibers, two remain.
pub(crate) fn lost_update_of_six() -> Fiber<()> {
    let value = Shared::new(0);
    let three = || {
        let (second, third) = (increment(&value), increment(&value));
        increment(&value).bind(move |()| second).bind(move |()| third)
    };
    let both = Fiber::parallel([three(), three()]);
    both.map(move |_| assert_ne!(value.with(|value| *value), 2)).boxed()
}

/// Two fibers take two locks, each in its own order.
pub(crate) fn lock_order() -> Fiber<()> {
    let (left, right) = (Lock::default(), Lock::default());
    let both = |first: &Lock, second: &Lock| {
        let second = second.clone();
        first.take().bind(move |first| second.take().map(|second| drop((first, second))))
    };
    Fiber::parallel([both(&left, &right).named("left first"), both(&right, &left).named("right first")])
        .map(drop)
        .boxed()
}

/// A flag that is reset after the work, but not when the work is cancelled.
pub(crate) fn lost_lock() -> Fiber<()> {
    let is_taken = Shared::new(false);
    let (take, release, check) = (is_taken.clone(), is_taken.clone(), is_taken);
    let take = take.step(|is_taken| *is_taken = true);
    let work = take.bind(|()| Fiber::delay(Duration::from_secs(1)));
    let work = work.bind(move |()| release.step(|is_taken| *is_taken = false));
    work.ensure(check.step(|is_taken| assert!(!*is_taken, "still taken"))).boxed()
}
