//! Caches: one computation for all concurrent callers, which ends with the last of them.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use fiber_core::error::TimedOut;
use fiber_core::sync::{Cache, PromiseFailed};
use fiber_core::{Error, Fiber, Outcome};
use fiber_test::{Spawned, TestScheduler};
use proptest::prelude::*;

use crate::everywhere::{explore, with_a_victim};

const SECOND: Duration = Duration::from_secs(1);

/// A cache, and how often its values were computed.
struct Asked {
    cache: Cache<u32, usize>,
    begun: Arc<AtomicUsize>,
    test: TestScheduler,
}

impl Asked {
    fn new(cache: Cache<u32, usize>) -> Self {
        Asked { cache, begun: Arc::default(), test: TestScheduler::new() }
    }

    /// Requests a value, the number of its computation, which takes a second.
    fn get(&self, key: u32) -> Fiber<Arc<usize>> {
        let begun = self.begun.clone();
        let number = Fiber::lazy(move || begun.fetch_add(1, Ordering::Relaxed));
        let compute = move || number.bind(|number| Fiber::delay(SECOND).map(move |()| number));
        self.cache.get(key, compute).boxed()
    }

    fn ask(&self, key: u32) -> usize {
        *self.test.run(self.get(key)).unwrap()
    }

    fn begun(&self) -> usize {
        self.begun.load(Ordering::Relaxed)
    }
}

#[test]
fn who_asks_while_it_is_computed_gets_the_same_value() {
    explore(|| {
        let computed = Arc::new(AtomicUsize::new(0));
        let cache = Cache::new(4);
        let asks = (0..3).map(|_| {
            let computed = computed.clone();
            let compute = Fiber::lazy(move || computed.fetch_add(1, Ordering::Relaxed));
            cache.get('k', move || compute.bind(|n| Fiber::yield_now().map(move |()| n))).boxed()
        });
        let asks: Vec<_> = asks.collect();
        Fiber::parallel(asks).map(|values| assert!(values.iter().all(|value| **value == 0), "{values:?}"))
    });
}

#[test]
fn a_computation_goes_on_for_the_others_and_ends_with_the_last_whoever_is_cancelled_when() {
    explore(|| {
        let cache = Cache::new(4);
        let asks = (0..2).map(|n| cache.get('k', move || Fiber::yield_now().map(move |()| n)).boxed());
        // Nothing is left: neither a waiter nor a computation.
        with_a_victim(asks.collect()).map(|outcomes| {
            let right = |outcome: &Outcome<_>| outcome.is_success() || outcome.is_cancelled();
            assert!(outcomes.iter().all(right), "{outcomes:?}");
        })
    });
}

#[test]
fn the_last_one_who_leaves_ends_the_computation_and_the_next_one_begins_anew() {
    let asked = Asked::new(Cache::new(4));
    let [first, second] = [(); 2].map(|()| asked.test.spawn(asked.get(1)));
    asked.test.run_for(SECOND / 2);
    first.cancel_now();
    asked.test.run_for(Duration::ZERO);
    assert_eq!(asked.test.pending_timers(), 1, "it is still computed for the second");
    second.cancel_now();
    asked.test.run_for(Duration::ZERO);
    assert_eq!(asked.test.pending_timers(), 0, "no fiber waits for it");
    assert_eq!(asked.ask(1), 1);
}

#[test]
fn a_value_is_computed_again_when_it_has_expired_and_not_earlier() {
    let asked = Asked::new(Cache::new(4).expires_after(10 * SECOND));
    assert_eq!(asked.ask(1), 0);
    asked.test.advance(10 * SECOND - Duration::from_nanos(1));
    assert_eq!(asked.ask(1), 0);
    asked.test.advance(Duration::from_nanos(1));
    assert_eq!(asked.ask(1), 1);
    assert_eq!(asked.cache.len(), 1);
}

#[test]
fn a_failure_is_shared_and_not_kept() {
    let (cache, test) = (Cache::<u8, u8>::new(4), TestScheduler::new());
    let fails = || cache.get(1, || Fiber::delay(SECOND).try_map(|()| Err(Error::msg("down"))));
    let both: [Spawned<_>; 2] = [(); 2].map(|()| test.spawn(fails()));
    test.run_until_idle();
    for failed in both {
        let error = failed.outcome().failure().unwrap();
        assert_eq!(error.downcast_ref::<PromiseFailed>().unwrap().error().to_string(), "down");
    }
    assert!(test.unobserved().is_empty());
    assert_eq!(*test.run(cache.get(1, || Fiber::success(7))).unwrap(), 7);
}

#[test]
fn a_panic_of_the_closure_is_a_failure_of_all_who_wait() {
    let (cache, test) = (Cache::<u8, u8>::new(4), TestScheduler::new());
    let panics = |_| cache.get(1, || -> Fiber<u8> { panic!("no such table") });
    let outcomes: Vec<Outcome<Arc<u8>>> = (0..2).map(|n| test.run(panics(n))).collect();
    for outcome in outcomes {
        assert!(outcome.failure().unwrap().to_string().contains("no such table"));
    }
    assert!(cache.is_empty());
}

#[test]
fn what_a_computation_ends_with_that_nobody_waits_for_is_reported() {
    let test = TestScheduler::new();
    let ends = [Outcome::Failure(Error::msg("a failure")), Outcome::Cancelled, Outcome::Success(1)];
    for end in ends {
        let cache = Cache::<u8, u8>::new(4);
        let fails = cache.get(1, || Fiber::<()>::never().map_outcome(|_| end)).timeout_option(SECOND);
        assert_eq!(test.run(fails).unwrap(), None);
        assert!(cache.is_empty());
    }
    let panics = Cache::<u8, u8>::new(4).get(1, || Fiber::<()>::never().map_outcome(|_| panic!("a panic")));
    let asks = test.spawn(panics);
    test.run_until_idle();
    asks.cancel_now();
    test.run_until_idle();
    assert!(asks.outcome().is_cancelled());
    let unobserved = test.unobserved();
    assert_eq!(unobserved.len(), 2, "{unobserved:?}");
    assert!(unobserved[0].contains("a failure") && unobserved[1].contains("a panic"), "{unobserved:?}");
    test.assert_no_leaks();
}

/// The end of the computation and the limits of those that ask for it are at the same instant. They leave before it ends, or after it.
#[test]
fn what_a_computation_ends_with_while_those_who_asked_leave_is_reported_unless_one_sees_it() {
    for seed in 0..100 {
        let (test, failures) = (TestScheduler::with_seed(seed), Arc::new(AtomicUsize::new(0)));
        let cache = Cache::<u32, ()>::new(1);
        let asks = (0..2).map(|_| {
            let failures = failures.clone();
            let fails = move |()| -> Result<(), &str> {
                failures.fetch_add(1, Ordering::Relaxed);
                if seed % 2 == 0 { panic!("broken") } else { Err("broken") }
            };
            let asked = cache.get(0, move || Fiber::delay(SECOND).try_map(fails));
            asked.timeout(SECOND).attempt().boxed()
        });
        let asks: Vec<_> = asks.collect();
        let answers = test.run(Fiber::parallel(asks)).unwrap();
        let is_seen =
            answers.iter().any(|answer| answer.as_ref().is_err_and(|error| !error.is::<TimedOut>()));
        let reports = test.unobserved().len();
        assert_eq!(usize::from(is_seen) + reports, failures.load(Ordering::Relaxed), "with seed {seed}");
        test.assert_no_leaks();
    }
}

/// Panics when it is dropped, if it is armed.
struct Bomb(Arc<AtomicUsize>);

impl Drop for Bomb {
    fn drop(&mut self) {
        assert_eq!(self.0.swap(0, Ordering::Relaxed), 0, "armed");
    }
}

#[test]
fn a_panic_of_the_drop_of_what_has_expired_leaves_no_key_without_a_computation() {
    let (cache, test, armed) = (Cache::new(1).expires_after(SECOND), TestScheduler::new(), Arc::default());
    let get = || {
        let bomb = Bomb(Arc::clone(&armed));
        cache.get(1, move || Fiber::success(bomb))
    };
    assert!(test.run(get()).is_success());
    armed.store(1, Ordering::Relaxed);
    test.run_for(2 * SECOND);
    assert!(test.run(get()).is_panicked());
    assert!(test.run(get()).is_success());
}

#[test]
fn a_panic_of_the_drop_of_what_makes_room_takes_the_value_from_nobody() {
    let (cache, test, armed) = (Cache::new(1), TestScheduler::new(), Arc::default());
    let get = |key| {
        let bomb = Bomb(Arc::clone(&armed));
        cache.get(key, move || Fiber::success(bomb))
    };
    assert!(test.run(get(1)).is_success());
    armed.store(1, Ordering::Relaxed);
    assert!(test.run(get(2)).is_success());
}

#[test]
fn a_panic_of_the_drop_of_a_closure_that_is_not_needed_leaves_no_waiter_and_no_value() {
    let (cache, test, armed) = (Cache::new(1), TestScheduler::new(), Arc::default());
    let torn = || {
        let bomb = Bomb(Arc::clone(&armed));
        let get = cache.get(1, move || Fiber::lazy(move || drop(bomb)));
        armed.store(1, Ordering::Relaxed);
        get
    };
    // Of one who waits.
    let first = test.spawn(cache.get(1, || Fiber::delay(SECOND)));
    test.run_for(Duration::ZERO);
    assert!(test.run(torn()).is_panicked());
    first.cancel_now();
    test.run_for(Duration::ZERO);
    assert_eq!(test.live_fibers(), 0, "nobody waits for the value any more");
    // Of one who gets the value.
    let value = test.run(cache.get(1, || Fiber::success(()))).unwrap();
    assert!(test.run(torn()).is_panicked());
    cache.clear();
    assert_eq!(Arc::strong_count(&value), 1);
}

/// A key whose drop calls the cache.
#[derive(Clone)]
struct Asks(u8, Arc<OnceLock<Cache<Asks, u8>>>);

impl PartialEq for Asks {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Asks {}

impl Hash for Asks {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Drop for Asks {
    fn drop(&mut self) {
        self.1.get().map(Cache::len);
    }
}

#[test]
fn no_key_is_dropped_under_the_lock_of_the_cache() {
    let (cache, test, cell) = (Cache::new(1).expires_after(SECOND), TestScheduler::new(), Arc::default());
    let key = |n| Asks(n, Arc::clone(&cell));
    assert!(cell.set(cache.clone()).is_ok());
    for n in [1, 1, 2, 3] {
        assert!(test.run(cache.get(key(n), || Fiber::success(1))).is_success());
    }
    test.run_for(SECOND);
    assert!(test.run(cache.get(key(3), || Fiber::success(1))).is_success());
    assert!(test.run(cache.get(key(4), || Fiber::<u8>::fail(Error::msg("no")))).is_failure());
    cache.remove(&key(3));
    assert!(test.run(cache.get(key(1), || Fiber::success(1))).is_success());
    cache.clear();
    assert!(cache.is_empty());
}

#[test]
fn a_value_that_is_removed_while_it_is_computed_is_given_but_not_kept() {
    let asked = Asked::new(Cache::new(4));
    let waits = asked.test.spawn(asked.get(1));
    asked.test.run_for(SECOND / 2);
    asked.cache.remove(&1);
    assert_eq!(asked.ask(1), 1, "a computation of its own");
    assert_eq!(*waits.outcome().unwrap(), 0);
    assert_eq!(asked.cache.peek(&1).as_deref(), Some(&1));
    asked.cache.clear();
    assert!(asked.cache.is_empty() && asked.cache.peek(&1).is_none());
}

#[test]
fn a_computation_that_its_scheduler_forgets_is_abandoned_for_those_who_wait_elsewhere() {
    let (cache, test) = (Cache::<u8, u8>::new(4), TestScheduler::new());
    {
        let forgotten = TestScheduler::new();
        drop(forgotten.spawn(cache.get(1, Fiber::never)));
        forgotten.run_for(Duration::ZERO);
        let waits = test.spawn(cache.get(1, Fiber::never));
        test.run_until_idle();
        assert!(waits.is_pending());
        drop(waits);
    }
    test.run_until_idle();
    assert_eq!(*test.run(cache.get(1, || Fiber::success(7))).unwrap(), 7);
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Get(u32),
    Peek(u32),
    Remove(u32),
    Clear,
    Wait(u64),
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        10 => (0..6_u32).prop_map(Action::Get),
        2 => (0..6_u32).prop_map(Action::Peek),
        2 => (0..6_u32).prop_map(Action::Remove),
        1 => Just(Action::Clear),
        4 => (0..8_u64).prop_map(Action::Wait),
    ]
}

proptest! {
    #[test]
    fn it_does_what_a_list_in_the_order_of_use_would(
        capacity in 0..5_usize,
        actions in prop::collection::vec(action(), 0..60),
    ) {
        let asked = Asked::new(Cache::new(capacity).expires_after(10 * SECOND));
        // Key, value, and when it was computed.
        let mut model: Vec<(u32, usize, u64)> = Vec::new();
        let seconds = || asked.test.now().as_nanos() / 1_000_000_000;
        for action in actions {
            match action {
                Action::Get(key) => {
                    let kept = model.iter().position(|entry| entry.0 == key).map(|at| model.remove(at));
                    let fresh = kept.filter(|(_, _, at)| seconds() < at + 10);
                    let next = asked.begun();
                    let value = asked.ask(key);
                    prop_assert_eq!(value, fresh.map_or(next, |entry| entry.1));
                    model.push(fresh.unwrap_or((key, value, seconds())));
                    if model.len() > capacity {
                        model.remove(0);
                    }
                }
                Action::Peek(key) => {
                    let kept = model.iter().find(|entry| entry.0 == key).map(|entry| entry.1);
                    prop_assert_eq!(asked.cache.peek(&key).as_deref().copied(), kept);
                }
                Action::Remove(key) => {
                    asked.cache.remove(&key);
                    model.retain(|entry| entry.0 != key);
                }
                Action::Clear => {
                    asked.cache.clear();
                    model.clear();
                }
                Action::Wait(time) => asked.test.advance(time as u32 * SECOND),
            }
            prop_assert_eq!(asked.cache.len(), model.len());
        }
    }
}

/// A key whose `Eq` or `Hash` panics once it is told to.
#[derive(Clone)]
struct Rude {
    eq: Arc<AtomicUsize>,
    hash: Arc<AtomicUsize>,
}

impl Rude {
    /// Panics at this call of `eq` or `hash`; 0 is never.
    fn panics_at(eq: usize, hash: usize) -> Self {
        Rude { eq: Arc::new(AtomicUsize::new(eq)), hash: Arc::new(AtomicUsize::new(hash)) }
    }

    fn count(left: &AtomicUsize, what: &str) {
        assert_ne!(left.fetch_sub(1, Ordering::Relaxed), 1, "{what} of a key");
    }
}

impl PartialEq for Rude {
    fn eq(&self, _: &Self) -> bool {
        Rude::count(&self.eq, "eq");
        true
    }
}

impl Eq for Rude {}

impl Hash for Rude {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        Rude::count(&self.hash, "hash");
        0.hash(hasher);
    }
}

#[test]
fn a_panic_of_the_key_is_a_panic_of_the_one_who_asks() {
    std::panic::set_hook(Box::new(|_| {}));
    // Whichever call of `eq` and `hash` panics: that of the asker, or of the computation that keeps the value.
    let mut panics = 0;
    for (eq, hash) in (1..9).flat_map(|n| [(n, 0), (0, n)]) {
        let (cache, test) = (Cache::<Rude, u8>::new(1), TestScheduler::new());
        let key = Rude::panics_at(eq, hash);
        for round in 0..3 {
            match test.run(cache.get(key.clone(), move || Fiber::delay(SECOND).map(move |()| round))) {
                Outcome::Success(_) => {}
                Outcome::Panicked(panic) => {
                    panics += 1;
                    assert!(panic.message().contains(" of a key"), "{panic:?}");
                }
                other => panic!("eq {eq}, hash {hash}: {other:?}"),
            }
        }
        [&key.eq, &key.hash].into_iter().for_each(|count| count.store(0, Ordering::Relaxed));
        assert!(test.run(cache.get(key.clone(), || Fiber::success(9))).is_success(), "the cache still works");
        assert_eq!((cache.len(), cache.peek(&key).is_some()), (1, true), "eq {eq}, hash {hash}");
        test.assert_no_leaks();
        assert!(test.unobserved().is_empty(), "{:?}", test.unobserved());
    }
    assert!(panics > 4, "{panics}");
}
