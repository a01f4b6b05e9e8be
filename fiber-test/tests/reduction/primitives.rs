//! Random programs on each primitive: the reduced orders show the results of all orders.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use fiber_core::sync::{
    Barrier, Broadcast, Cache, Channel, CircuitBreaker, Latch, Mutex, Notify, Promise, RateLimiter, Ref,
    RwLock, Semaphore, Watch,
};
use fiber_core::{CancelToken, Either, Error, Fiber, Outcome, Run, race};
use fiber_test::{Explore, touch};
use parking_lot::Mutex as Lock;

use crate::numbers::Numbers;
use crate::results::{Seen, results};

/// Of each primitive.
const PROGRAMS: u32 = 20;

/// Programs with more orders are left out.
const MOST_ORDERS: u64 = 300;

/// A step of a fiber. It adds a text to the log of its fiber.
type Step = Box<dyn Fn() -> Fiber<String> + Send + Sync>;

/// A step that does not wait.
fn now<P, T>(primitive: &P, f: fn(&P) -> T) -> Step
where
    P: Clone + Send + Sync + 'static,
    T: Debug + 'static,
{
    step(primitive, move |primitive| {
        let primitive = primitive.clone();
        Fiber::lazy(move || text(f(&primitive)))
    })
}

/// A step that may wait.
fn step<P, R>(primitive: &P, f: impl Fn(&P) -> Fiber<String, R> + Send + Sync + 'static) -> Step
where
    P: Clone + Send + Sync + 'static,
    R: Run<Out = String>,
{
    let primitive = primitive.clone();
    Box::new(move || f(&primitive).boxed())
}

/// A wait that is given up after a turn.
fn brief<P, T, R>(primitive: &P, f: impl Fn(&P) -> Fiber<T, R> + Send + Sync + 'static) -> Step
where
    P: Clone + Send + Sync + 'static,
    T: Debug + Send + 'static,
    R: Run<Out = T>,
{
    step(primitive, move |primitive| f(primitive).race(Fiber::yield_now()).map_outcome(described))
}

fn described<T: Debug>(outcome: Outcome<Either<T, ()>>) -> Outcome<String> {
    Outcome::Success(match outcome {
        Outcome::Success(Either::Left(value)) => text(value),
        Outcome::Success(Either::Right(())) => "given up".to_owned(),
        other => text(other.map(drop)),
    })
}

/// A wait whose value is kept for a turn.
fn held<P, T, R>(primitive: &P, f: impl Fn(&P) -> Fiber<T, R> + Send + Sync + 'static) -> Step
where
    P: Clone + Send + Sync + 'static,
    T: Debug + Send + 'static,
    R: Run<Out = T>,
{
    step(primitive, move |primitive| f(primitive).bind(|value| Fiber::yield_now().map(move |()| text(value))))
}

fn text(value: impl Debug) -> String {
    format!("{value:?}")
}

fn semaphore() -> Vec<Step> {
    let semaphore = &Semaphore::new(2);
    vec![
        now(semaphore, Semaphore::available),
        now(semaphore, |semaphore| semaphore.try_acquire(1).is_some()),
        now(semaphore, |semaphore| semaphore.try_acquire(2).is_some()),
        held(semaphore, |semaphore| semaphore.acquire(2)),
        brief(semaphore, |semaphore| semaphore.acquire(1)),
    ]
}

fn locks() -> Vec<Step> {
    let (mutex, shared) = (&Mutex::new(0), &RwLock::new(0));
    vec![
        now(mutex, Mutex::is_locked),
        now(mutex, |mutex| mutex.try_lock().map(|mut value| *value += 1)),
        held(mutex, |mutex| mutex.lock().map(|mut value| *value += 1)),
        held(mutex, |mutex| mutex.lock()),
        now(shared, |shared| shared.try_read().map(|value| *value)),
        held(shared, |shared| shared.write().map(|mut value| *value += 1)),
        held(shared, |shared| shared.read()),
    ]
}

fn bounded() -> Vec<Step> {
    let (sender, receiver) = Channel::bounded(1);
    let sender = &Arc::new(Lock::new(Some(sender)));
    let receiver = &receiver;
    vec![
        now(receiver, |receiver| receiver.len()),
        now(receiver, |receiver| receiver.is_closed()),
        now(receiver, |receiver| receiver.try_recv()),
        now(receiver, |receiver| receiver.close()),
        brief(receiver, |receiver| receiver.recv()),
        now(sender, |sender| {
            touch("sender");
            sender.lock().as_ref().map(|sender| sender.try_send(1).is_ok())
        }),
        now(sender, |sender| {
            touch("sender");
            drop(sender.lock().take());
        }),
    ]
}

fn rendezvous() -> Vec<Step> {
    let (sender, receiver) = &Channel::rendezvous();
    vec![
        now(receiver, |receiver| receiver.try_recv()),
        brief(receiver, |receiver| receiver.recv()),
        brief(receiver, |receiver| receiver.recv_many(2)),
        now(sender, |sender| sender.try_send(1).is_ok()),
        brief(sender, |sender| sender.send(2)),
    ]
}

fn sliding() -> Vec<Step> {
    let (sender, receiver) = &Channel::sliding(1);
    vec![
        now(sender, |sender| sender.try_send(1).is_ok()),
        brief(sender, |sender| sender.send_all([2, 3])),
        brief(receiver, |receiver| receiver.next()),
        now(receiver, |receiver| receiver.len()),
    ]
}

fn watch() -> Vec<Step> {
    let watch = &Watch::new(0);
    let watcher = &Arc::new(watch.watch());
    vec![
        now(watch, Watch::get),
        now(watch, |watch| watch.set(1)),
        now(watch, |watch| watch.update(|value| 2 * value + 1)),
        now(watch, |watch| watch.watch().has_changed()),
        now(watcher, |watcher| watcher.has_changed()),
        now(watcher, |watcher| watcher.get()),
        brief(watcher, |watcher| watcher.changed()),
    ]
}

fn broadcast() -> Vec<Step> {
    let (lossy, lossless) = (&Broadcast::lossy(1), &Broadcast::lossless(1));
    let (beside, subscriber) = (&Arc::new(lossy.subscribe()), &Arc::new(lossless.subscribe()));
    vec![
        now(lossy, |lossy| lossy.try_send(1).is_ok()),
        now(beside, |subscriber| subscriber.try_recv()),
        brief(beside, |subscriber| subscriber.recv()),
        now(lossless, |lossless| lossless.try_send(1).is_ok()),
        brief(lossless, |lossless| lossless.send(2)),
        now(lossless, Broadcast::close),
        now(lossless, Broadcast::subscribers),
        now(subscriber, |subscriber| subscriber.try_recv()),
    ]
}

fn meetings() -> Vec<Step> {
    let (latch, barrier) = (&Latch::new(2), &Barrier::new(2));
    vec![
        now(latch, Latch::count_down),
        now(latch, Latch::remaining),
        brief(latch, Latch::wait),
        now(barrier, Barrier::arrived),
        brief(barrier, Barrier::wait),
        step(barrier, |barrier| barrier.wait().timeout_option(Duration::from_millis(1)).map(text)),
    ]
}

fn signals() -> Vec<Step> {
    let (promise, token, notify) = (&Promise::new(), &CancelToken::new(), &Notify::new());
    vec![
        now(promise, Promise::is_completed),
        now(promise, |promise| promise.success(1)),
        brief(promise, Promise::wait),
        now(token, CancelToken::is_cancelled),
        now(token, CancelToken::cancel),
        brief(token, CancelToken::cancelled),
        now(notify, Notify::try_wait),
        now(notify, Notify::notify_one),
        brief(notify, Notify::wait),
    ]
}

fn cache() -> Vec<Step> {
    let cache = &Cache::new(1);
    vec![
        now(cache, |cache| cache.peek(&1)),
        now(cache, Cache::len),
        now(cache, |cache| cache.remove(&1)),
        now(cache, Cache::clear),
        step(cache, |cache| cache.get(1, || Fiber::yield_now().map(|()| 1)).map(text)),
        brief(cache, |cache| cache.get(2, || Fiber::success(2))),
    ]
}

fn values() -> Vec<Step> {
    let value = &Ref::new(0);
    vec![
        now(value, |value| *value.load()),
        now(value, |value| value.store(5)),
        step(value, |value| value.update(|value| 2 * value + 1).map(text)),
        step(value, |value| value.modify(|value| (value + 1, *value)).map(text)),
    ]
}

fn limits() -> Vec<Step> {
    const SECOND: Duration = Duration::from_secs(1);
    let (limiter, breaker) = (&RateLimiter::new(1, SECOND), &CircuitBreaker::new(1, SECOND));
    vec![
        step(limiter, |limiter| limiter.try_acquire().map(text)),
        brief(limiter, RateLimiter::acquire),
        now(breaker, |breaker| text(breaker)),
        step(breaker, |breaker| breaker.protect(Fiber::<()>::fail(Error::msg("no"))).attempt().map(text)),
        step(breaker, |breaker| breaker.protect(Fiber::yield_now()).attempt().map(text)),
    ]
}

fn handles() -> Vec<Step> {
    let child = &Arc::new(Lock::new(None));
    vec![
        step(child, |child| {
            let child = child.clone();
            let forked = Fiber::yield_now().map(|()| 7).fork();
            forked.map(move |handle| {
                touch("child");
                text(child.lock().replace(handle).is_some())
            })
        }),
        now(child, |child| {
            touch("child");
            child.lock().as_ref().map(|handle| handle.is_finished())
        }),
        now(child, |child| {
            touch("child");
            child.lock().as_ref().map(|handle| handle.cancel_now())
        }),
    ]
}

/// Waits for the first of three events.
fn races() -> Vec<Step> {
    let ((sender, receiver), notify, promise) = (&Channel::rendezvous(), &Notify::new(), &Promise::new());
    let all = &(receiver.clone(), notify.clone(), promise.clone());
    vec![
        brief(all, |all| {
            let (receiver, notify, promise) = all.clone();
            race! {
                item = receiver.recv() => text(item),
                () = notify.wait() => "notified".to_owned(),
                value = promise.wait() => text(Some(value)),
            }
        }),
        brief(all, |all| {
            let (receiver, notify, promise) = all.clone();
            race! {
                value = promise.wait() => text(Some(value)),
                () = notify.wait() => "notified".to_owned(),
                item = receiver.recv() => text(item),
            }
        }),
        now(receiver, |receiver| receiver.try_recv()),
        now(sender, |sender| sender.try_send(1).is_ok()),
        brief(sender, |sender| sender.send(2)),
        now(notify, Notify::notify_one),
        now(notify, Notify::try_wait),
        now(promise, |promise| promise.success(1)),
    ]
}

/// Two fibers of two steps.
fn program(steps: &[Step], chosen: [[usize; 2]; 2], seen: Seen) -> Fiber<()> {
    let fiber = |[first, second]: [usize; 2]| {
        let (first, second) = (steps[first](), steps[second]());
        first.bind(|first| second.map(|second| [first, second]))
    };
    let both = fiber(chosen[0]).zip(fiber(chosen[1]));
    both.map(move |logs| _ = seen.lock().insert(text(logs))).boxed()
}

fn assert_same_results(primitive: fn() -> Vec<Step>) {
    let mut numbers = Numbers::new();
    let (mut programs, mut several) = (0, 0);
    while programs < PROGRAMS {
        let count = primitive().len() as u64;
        let chosen = [(); 2].map(|()| [(); 2].map(|()| numbers.below(count) as usize));
        let all_of = |explore: Explore| {
            let explore = explore.schedules(MOST_ORDERS).no_regressions();
            results(&explore, &format!("{chosen:?}"), |seen| program(&primitive(), chosen, seen))
        };
        let Some((all, _)) = all_of(Explore::exhaustive()) else { continue };
        let (reduced, _) = all_of(Explore::exhaustive().reduced()).expect("there are not more of these");
        assert_eq!(reduced, all, "{chosen:?}");
        programs += 1;
        several += u32::from(all.len() > 1);
    }
    assert!(several > PROGRAMS / 10, "{several} programs race");
}

macro_rules! tests {
    ($($primitive:ident: $name:ident,)*) => { $(
        #[test]
        fn $name() {
            assert_same_results($primitive);
        }
    )* };
}

tests! {
    semaphore: of_semaphores,
    locks: of_locks,
    bounded: of_bounded_channels,
    rendezvous: of_rendezvous_channels,
    sliding: of_sliding_channels,
    watch: of_watches,
    broadcast: of_broadcasts,
    meetings: of_latches_and_barriers,
    signals: of_promises_tokens_and_notifications,
    cache: of_caches,
    values: of_references,
    limits: of_limiters_and_breakers,
    handles: of_handles,
    races: of_races,
}
