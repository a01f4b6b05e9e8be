//! A wait after code of the same turn is a scheduling point, even if it is the first of the turn and does not have to wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fiber_core::sync::Mutex;
use fiber_core::{Error, Fiber, fiber};
use fiber_test::{Explore, TestScheduler};

/// A counter, and what its visitors wait for.
#[derive(Clone)]
struct Counter {
    value: Arc<AtomicU32>,
    free: Mutex<()>,
    waits: fn(&Counter) -> Fiber<()>,
}

impl Counter {
    fn load(&self) -> u32 {
        self.value.load(Ordering::Relaxed)
    }

    fn store(&self, value: u32) {
        self.value.store(value, Ordering::Relaxed);
    }

    fn waits(&self) -> Fiber<()> {
        (self.waits)(self)
    }
}

fn by_binds(counter: Counter) -> Fiber<()> {
    let (waiting, storing) = (counter.clone(), counter.clone());
    let seen = Fiber::lazy(move || counter.load()).bind(move |seen| waiting.waits().map(move |()| seen));
    seen.map(move |seen| storing.store(seen + 1)).boxed()
}

fn by_block(counter: Counter) -> Fiber<()> {
    fiber! {
        let seen = counter.load();
        do! counter.waits();
        counter.store(seen + 1);
    }
}

fn by_tail(counter: Counter) -> Fiber<()> {
    fiber! {
        let seen = counter.load();
        return! counter.waits().map(move |()| counter.store(seen + 1))
    }
}

fn by_let(counter: Counter) -> Fiber<()> {
    fiber! {
        let seen = counter.load();
        let! () = counter.waits() and! () = Fiber::success(());
        counter.store(seen + 1);
    }
}

/// The code is an argument of the wait.
fn by_argument(counter: Counter) -> Fiber<()> {
    fn store(counter: Counter, value: u32) -> Fiber<()> {
        counter.waits().map(move |()| counter.store(value)).boxed()
    }
    fiber! { do! store(counter.clone(), counter.load() + 1); }
}

/// The code is an argument of an operator on the fiber.
fn by_operator(counter: Counter) -> Fiber<()> {
    fn stores(counter: Counter, value: u32) -> impl FnOnce(()) + Send + 'static {
        move |()| counter.store(value)
    }
    fn adding(counter: &Counter) -> impl FnOnce(()) + Send + 'static {
        stores(counter.clone(), counter.load() + 1)
    }
    fiber! { do! counter.waits().map(adding(&counter)); }
}

/// The code of the first round comes before the wait of the second.
fn by_loop(counter: Counter) -> Fiber<()> {
    fiber! {
        let mut seen = None;
        loop {
            if seen.is_some() {
                do! counter.waits();
                break;
            }
            seen = Some(counter.load());
        }
        counter.store(seen.unwrap_or(0) + 1);
    }
}

fn by_async(counter: Counter) -> Fiber<()> {
    Fiber::block(move || async move {
        let seen = counter.load();
        counter.waits().await?;
        counter.store(seen + 1);
        Ok::<_, Error>(())
    })
    .boxed()
}

/// The awaited future comes before the code.
fn by_async_later(counter: Counter) -> Fiber<()> {
    Fiber::block(move || async move {
        futures_util::future::ready(()).await;
        let seen = counter.load();
        counter.waits().await?;
        counter.store(seen + 1);
        Ok::<_, Error>(())
    })
    .boxed()
}

fn by_direct(counter: Counter) -> Fiber<()> {
    Fiber::direct(move |fiber| {
        let seen = counter.load();
        fiber.wait(counter.waits())?;
        counter.store(seen + 1);
        Ok(())
    })
    .boxed()
}

const FORMS: [(&str, fn(Counter) -> Fiber<()>); 10] = [
    ("binds", by_binds),
    ("do!", by_block),
    ("return!", by_tail),
    ("let! and!", by_let),
    ("an argument", by_argument),
    ("an operator", by_operator),
    ("a loop", by_loop),
    ("async", by_async),
    ("async after a future", by_async_later),
    ("direct", by_direct),
];

/// Waits that do not have to wait.
const READY: [(&str, fn(&Counter) -> Fiber<()>); 3] = [
    ("a value", |_| Fiber::success(()).boxed()),
    ("a closure", |_| Fiber::lazy(|| ()).boxed()),
    ("a free mutex", |counter| counter.free.lock().map(drop).boxed()),
];

fn twice(visit: fn(Counter) -> Fiber<()>, waits: fn(&Counter) -> Fiber<()>) -> Fiber<()> {
    let counter = Counter { value: Arc::default(), free: Mutex::new(()), waits };
    let both = visit(counter.clone()).zip(visit(counter.clone()));
    both.map(move |_| assert_eq!(counter.load(), 2)).boxed()
}

#[test]
fn an_update_around_a_ready_wait_is_lost_in_some_schedule_however_it_is_written() {
    for (form, visit) in FORMS {
        for (name, waits) in READY {
            let explored = Explore::default().try_check(|| twice(visit, waits));
            assert!(explored.is_err(), "{form}, {name}: the portfolio found nothing");
            let explored = Explore::exhaustive().try_check(|| twice(visit, waits));
            assert!(explored.is_err(), "{form}, {name}: the enumeration found nothing");
        }
    }
}

#[test]
fn an_update_without_a_wait_is_not_torn() {
    fn at_once(counter: Counter) -> Fiber<()> {
        fiber! {
            do! counter.waits();
            counter.store(counter.load() + 1);
        }
    }
    for (_, waits) in READY {
        assert!(Explore::exhaustive().check(|| twice(at_once, waits)).is_complete());
    }
}

fn step() -> Fiber<u32> {
    Fiber::lazy(|| 1).boxed()
}

fn turns(fiber: Fiber<u32>) -> usize {
    let test = TestScheduler::new().record();
    assert!(test.run(fiber).is_success());
    test.trace().turns().len()
}

#[test]
fn what_is_no_code_makes_no_point() {
    struct Pair(u32, u32);
    let given = 3;
    assert_eq!(turns(fiber! { let twice = 2 * given; do! step() + twice }), 1, "operators");
    assert_eq!(turns(fiber! { let pair = Pair(given, 1); do! step() + pair.0 + pair.1 }), 1, "constructors");
    assert_eq!(turns(fiber! { if given == 0 { return 0 } return! step() }), 1, "branches");
    assert_eq!(turns(fiber! { let add = move |to| to + given; do! step().map(add) }), 1, "closures");
    let zipped = turns(step().zip(step()).map(|(a, b)| a + b).boxed());
    assert_eq!(turns(fiber! { let! a = step() and! b = step().map(|b| b + 1); a + b }), zipped, "let! and!");
    assert_eq!(turns(fiber! { do! Fiber::delay(Duration::from_secs(1)).map(|()| 1) }), 2, "constants");
    assert_eq!(turns(fiber! { let mut sum = 0; for n in 0..1 { sum += n + do! step(); } sum }), 1, "a loop");
    assert_eq!(turns(fiber! { if given == 3 { do! step(); } do! step() }), 2, "a wait that may be skipped");
}

/// State that is reached by a name.
mod store {
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    static VALUES: [AtomicU32; 1] = [AtomicU32::new(0)];

    pub(super) fn get(index: usize) -> u32 {
        VALUES[index].load(SeqCst)
    }
}

#[test]
fn code_before_the_first_wait_makes_one_point() {
    let given = 3_u32;
    assert_eq!(turns(fiber! { let one = given.count_ones(); do! step() + one }), 2, "a method");
    assert_eq!(turns(fiber! { let max = u32::max(given, 1); do! step() + max }), 2, "a function");
    assert_eq!(turns(fiber! { let max = u32::max(3, 1); do! step() + max }), 2, "a function of literals");
    assert_eq!(turns(fiber! { let stored = store::get(0); do! step() + stored }), 2, "of a module");
    assert_eq!(turns(fiber! { assert_eq!(given, 3); do! step() }), 2, "a macro");
    assert_eq!(turns(fiber! { if given.is_power_of_two() { return 0 } return! step() }), 2, "return!");
    assert_eq!(turns(fiber! { let! one = step(); do! step() + one.min(given) }), 2, "between two waits");
    assert_eq!(turns(fiber! { step().await? }), 2, "await");
    assert_eq!(turns(Fiber::block(|| async { step().await }).boxed()), 2, "async");
    assert_eq!(turns(Fiber::direct(|fiber| fiber.wait(step())).boxed()), 2, "direct");
}
