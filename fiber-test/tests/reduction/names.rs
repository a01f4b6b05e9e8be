//! Names of what runs: they are the same in all runs in which the same came before.

use std::future::{Future, poll_fn};
use std::task::Poll;
use std::time::Duration;

use fiber_core::sync::{Ref, RwLock};
use fiber_core::{Fiber, Run};

use super::last::assert_nothing_is_missed;

/// Polls both parts of one fiber until the first one has ended.
fn first<T: Send + 'static>(
    one: Fiber<T, impl Run<Out = T>>,
    other: Fiber<T, impl Run<Out = T>>,
) -> Fiber<T, impl Run<Out = T>> {
    Fiber::block(async move || {
        let (mut one, mut other) = (Box::pin(async { one.await }), Box::pin(async { other.await }));
        poll_fn(|cx| match one.as_mut().poll(cx) {
            Poll::Pending => other.as_mut().poll(cx),
            ready => ready,
        })
        .await
    })
}

#[test]
fn the_tasks_of_parts_are_not_taken_for_each_other() {
    assert_nothing_is_missed(|| {
        let lock = RwLock::new(0);
        let share = |lock: &RwLock<u32>| lock.with_read(|value| Fiber::yield_now().map(move |()| *value));
        let never = Fiber::yield_now().bind(|()| Fiber::never());
        let shares = first(share(&lock), never).bind({
            let lock = lock.clone();
            move |one| share(&lock).map(move |other| [one, other])
        });
        let excludes = lock.write().map(|mut value| *value += 1);
        shares.zip(excludes).map(|(seen, ())| format!("{seen:?}")).boxed()
    });
}

/// A part and a child of the same fiber have the same number, and their tasks run beside each other.
#[test]
fn a_part_is_not_taken_for_a_child() {
    assert_nothing_is_missed(|| {
        let value = Ref::new(0);
        let fork = Fiber::yield_now().bind({
            let value = value.clone();
            move |()| value.set(1)
        });
        let opens = Fiber::scope(move |scope| scope.fork(fork).bind(|_| Fiber::yield_now()));
        let reads = Fiber::yield_now().bind(move |()| value.read());
        let limited = opens.timeout_option(Duration::from_millis(1));
        limited.zip(reads).map(|seen| format!("{seen:?}")).boxed()
    });
}
