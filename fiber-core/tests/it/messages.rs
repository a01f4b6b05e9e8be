//! Numbers in messages.

use std::time::Duration;

use fiber_core::sync::{Broadcast, Cache, Channel, CircuitBreaker, Semaphore};
use fiber_core::{Error, Fiber};
use fiber_test::TestScheduler;

fn failure<T: Send + 'static>(fiber: Fiber<T>) -> String {
    TestScheduler::new().run(fiber).failure().expect("it fails").to_string()
}

#[test]
fn one_is_singular() {
    let (sender, receiver) = Channel::unbounded();
    sender.try_send(()).unwrap();
    assert!(format!("{receiver:?}").ends_with(" (1 item)"), "{receiver:?}");
    sender.try_send(()).unwrap();
    assert!(format!("{receiver:?}").ends_with(" (2 items)"), "{receiver:?}");

    let semaphore = Semaphore::new(1);
    assert!(format!("{semaphore:?}").ends_with(" (1 of 1 permit free)"), "{semaphore:?}");
    let permit = TestScheduler::new().run(semaphore.acquire(1)).unwrap();
    assert!(format!("{permit:?}").starts_with("1 permit of "), "{permit:?}");
    let none = failure(Semaphore::new(0).acquire(1).boxed());
    assert_eq!(none, "1 permit was asked for, but the semaphore has only 0");

    let broadcast = Broadcast::lossy(1);
    let subscriber = broadcast.subscribe();
    let missed = Fiber::for_each(0..2, move |n| broadcast.send(n)).bind(move |()| subscriber.recv());
    assert_eq!(failure(missed.boxed()), "the subscriber was too slow and has missed 1 value");

    let breaker = CircuitBreaker::new(2, Duration::from_secs(1));
    failure(breaker.protect(Fiber::<()>::fail(Error::msg("once"))).boxed());
    assert_eq!(format!("{breaker:?}"), "CircuitBreaker: closed, 1 failure");

    let few = Fiber::first_successes(2, [Fiber::success(())]);
    assert_eq!(failure(few.boxed()), "1 fiber cannot give 2 successes");
    assert_eq!(format!("{:?}", Cache::<u32, u32>::new(1)), "Cache with 0 of at most 1 value");
}
