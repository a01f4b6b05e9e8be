//! Plain code in the closure of a bind: which of it shares a turn with the fiber that the closure returns.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use fiber_core::sync::Mutex;
use fiber_core::{Fiber, Run};
use fiber_test::Explore;

type Visit = fn(Arc<AtomicU32>, Mutex<()>) -> Fiber<()>;

/// Whether one of two such updates of a counter is lost in some order. The mutex is always free.
fn may_be_lost(visit: Visit) -> bool {
    let program = || {
        let value = Arc::new(AtomicU32::new(0));
        let both = visit(value.clone(), Mutex::new(())).zip(visit(value.clone(), Mutex::new(())));
        both.map(move |_| assert_eq!(value.load(Relaxed), 2))
    };
    match Explore::exhaustive().no_regressions().try_check(program) {
        Ok(explored) => {
            assert!(explored.is_complete());
            false
        }
        Err(failure) => {
            assert!(failure.to_string().contains("left: 1"), "{failure}");
            true
        }
    }
}

/// Another bind is a point, whatever the closure returns.
#[test]
fn code_before_a_bind_of_its_closure_has_a_turn_of_its_own() {
    let before_a_value: Visit = |value, _| {
        let next = |value: Arc<AtomicU32>| {
            let seen = value.load(Relaxed);
            Fiber::success(()).bind(move |()| Fiber::lazy(move || value.store(seen + 1, Relaxed)))
        };
        Fiber::success(()).bind(move |()| next(value)).boxed()
    };
    let before_a_lock: Visit = |value, free| {
        let next = move |value: Arc<AtomicU32>| {
            let seen = value.load(Relaxed);
            free.lock().bind(move |_held| Fiber::lazy(move || value.store(seen + 1, Relaxed)))
        };
        Fiber::success(()).bind(move |()| next(value)).boxed()
    };
    assert!(may_be_lost(before_a_value));
    assert!(may_be_lost(before_a_lock));
}

/// What the explorer does not see, and how to show it: the code as a fiber.
#[test]
fn code_before_a_ready_wait_and_a_map_shares_their_turn() {
    let in_the_closure: Visit = |value, free| {
        let next = move |value: Arc<AtomicU32>| {
            let seen = value.load(Relaxed);
            free.lock().map(move |_held| value.store(seen + 1, Relaxed))
        };
        Fiber::success(()).bind(move |()| next(value)).boxed()
    };
    let as_a_fiber: Visit = |value, free| {
        let read = Fiber::lazy({
            let value = value.clone();
            move || value.load(Relaxed)
        });
        read.bind(move |seen| free.lock().map(move |_held| value.store(seen + 1, Relaxed))).boxed()
    };
    assert!(!may_be_lost(in_the_closure));
    assert!(may_be_lost(as_a_fiber));
}

fn orders<R: Run<Out = ()>>(fiber: impl Fn() -> Fiber<(), R> + Sync) -> u64 {
    let explored = Explore::exhaustive().check(move || fiber().zip(fiber()).map(drop));
    assert!(explored.is_complete());
    explored.schedules()
}

/// The price of a point between the code of a closure and the wait that it returns, for chains that need none.
#[test]
fn a_point_behind_each_closure_would_double_the_turns_of_a_chain() {
    let wait = |free: &Mutex<()>| free.lock().map(drop);
    let chain = move |with_points: bool| {
        let free = Mutex::new(());
        let next = move |free: Mutex<()>| match with_points {
            false => wait(&free).boxed(),
            true => Fiber::success(()).bind(move |()| wait(&free)).boxed(),
        };
        let (second, third) = (free.clone(), free.clone());
        wait(&free).bind(move |()| next(second)).bind(move |()| next(third))
    };
    assert_eq!(orders(move || chain(false)), 20);
    assert_eq!(orders(move || chain(true)), 252);
}
