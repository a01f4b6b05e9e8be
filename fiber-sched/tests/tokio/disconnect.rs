//! Clients that go away: nothing of their requests is left.

use std::time::Duration;

use fiber_core::sync::Semaphore;
use fiber_core::{Call, CancelOnDrop, Fiber, Group, Outcome, fiber};
use fiber_sched::{Pool, Shutdown, TokioScheduler};
use tokio::runtime::Runtime;

const REQUESTS: u64 = 2_000;

/// Holds a permit while it sleeps, calls two others, and blocks for a moment.
fn request(permits: &Semaphore, number: u64) -> Fiber<u64> {
    let work = fiber! {
        let! a = Fiber::delay(Duration::from_micros(number * 7 % 900)).map(move |()| number)
            and! b = Fiber::delay(Duration::from_micros(number * 13 % 1_100)).map(|()| 1);
        let! c = Fiber::blocking(|| 1).timeout(Duration::from_secs(60));
        a + b + c
    };
    permits.with_permits(1, work).boxed()
}

/// Serves requests, whose clients go away after a time of their own.
fn storm<F>(runtime: &Runtime, group: &Group, serve: fn(&Group, Fiber<u64>) -> F)
where
    F: Future<Output = Outcome<u64>> + Send + 'static,
{
    let permits = Semaphore::new(64);
    let clients: Vec<_> = (0..REQUESTS)
        .map(|number| {
            let request = serve(group, request(&permits, number));
            let patience = Duration::from_micros(number * 31 % 3_000);
            runtime.spawn(async move { tokio::time::timeout(patience, request).await })
        })
        .collect();
    let mut gone = 0;
    runtime.block_on(async {
        for client in clients {
            match client.await.unwrap() {
                Ok(outcome) => assert!(outcome.is_success(), "{outcome:?}"),
                Err(_) => gone += 1,
            }
        }
        group.drain().await;
    });
    assert!(gone > 0, "some clients have less patience than any request takes");
    assert!(group.is_empty());
    assert_eq!(permits.available(), 64);
}

fn spawned(group: &Group, request: Fiber<u64>) -> CancelOnDrop<u64> {
    group.spawn(request).cancel_on_drop()
}

fn called(group: &Group, request: Fiber<u64>) -> Call<u64> {
    group.call(request)
}

/// Succeeds if every fiber has ended by itself; a fiber that is just leaving has a moment for that.
fn without_cancelling() -> Shutdown {
    Shutdown::within(Duration::from_secs(30)).after_draining(Duration::from_secs(30))
}

#[test]
fn nothing_of_a_gone_client_is_left_on_a_runtime() {
    let runtime = Runtime::new().unwrap();
    let fibers = TokioScheduler::new(runtime.handle());
    storm(&runtime, &fibers.group(), spawned);
    storm(&runtime, &fibers.group(), called);
    runtime.block_on(fibers.shutdown(without_cancelling())).unwrap();
}

#[test]
fn nothing_of_a_gone_client_is_left_on_a_pool() {
    let runtime = Runtime::new().unwrap();
    let pool = Pool::builder().workers(2).build();
    storm(&runtime, &pool.group(), spawned);
    storm(&runtime, &pool.group(), called);
    assert_eq!(pool.metrics().timers, 0);
    pool.shutdown(without_cancelling()).unwrap();
}
