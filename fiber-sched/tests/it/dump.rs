//! Dumps of a pool while its fibers come, go and are cancelled.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::scheduler::WaitsFor;
use fiber_core::{Context, Dump, DumpedFiber, DumpedState, Fiber, Handle};
use fiber_sched::{CurrentThread, Pool, Shutdown, block_on};

const ROUNDS: usize = if cfg!(debug_assertions) { 20 } else { 200 };
const BATCH: usize = 70;
const MICRO: Duration = Duration::from_micros(1);
const LONG: Duration = Duration::from_secs(3600);

/// A fiber of one of several kinds. Two kinds end only when they are cancelled.
fn member(n: usize) -> Fiber<()> {
    match n % 7 {
        0 => Fiber::yield_now().fork().bind(Handle::join).boxed(),
        1 => Fiber::delay(50 * MICRO).timeout(LONG).boxed(),
        2 => Fiber::<()>::never().race(Fiber::delay(20 * MICRO)).map(drop).boxed(),
        3 => Fiber::never().boxed(),
        4 => Fiber::never().ensure(Fiber::delay(10 * MICRO).timeout(LONG)).boxed(),
        5 => Fiber::blocking(|| ()).uncancelable().boxed(),
        _ => Fiber::parallel((0..4).map(|_| Fiber::yield_now().fork().bind(Handle::join))).map(drop).boxed(),
    }
}

fn ends_by_itself(n: usize) -> bool {
    !matches!(n % 7, 3 | 4)
}

/// Members come and go; all of them are named `name`.
fn storm(pool: &Pool, name: &Arc<str>) {
    for _ in 0..ROUNDS {
        let handles: Vec<_> = (0..BATCH).map(|n| pool.spawn(member(n).named(name.clone()))).collect();
        for (n, handle) in handles.into_iter().enumerate() {
            if !ends_by_itself(n) {
                handle.cancel_now();
            }
            assert_eq!(block_on(handle).is_success(), ends_by_itself(n), "{n}");
        }
    }
}

/// Holds whatever the fibers did meanwhile.
fn check(dump: &Dump) {
    let mut seen = BTreeSet::new();
    for fiber in dump.fibers() {
        let above = fiber.above();
        assert_eq!(fiber.depth(), above.map_or(0, |above| above.depth() + 1));
        assert!(
            above.is_none_or(|above| seen.contains(&above.id())),
            "{fiber} comes before what is above it"
        );
        assert!(seen.insert(fiber.id()), "{fiber} is there twice");
        if let DumpedState::InPart(part) = fiber.state() {
            assert!(part.is_structure() && part.above().unwrap().id() == fiber.id());
        }
    }
    assert_eq!(dump.to_string().lines().count(), seen.len() + 1);
}

/// A fiber that waits throughout has to be in every dump, with its wait.
fn check_anchors(dump: &Dump) {
    let find = |name| dump.fibers().find(|fiber| fiber.name() == Some(name)).expect("it lives all the time");
    let DumpedState::Waiting { what: WaitsFor::Fiber, on: Some(below) } = find("above").state() else {
        panic!("{dump}")
    };
    assert_eq!(below.id(), find("below").id());
    assert!(matches!(find("below").state(), DumpedState::Waiting { what: WaitsFor::Never, on: None }));
}

#[test]
fn dumps_are_taken_while_thousands_of_fibers_come_and_go_and_nothing_is_left_of_those() {
    let pool = Pool::builder().workers(4).build();
    let below = Fiber::<()>::never().named("below");
    let above = pool.context().spawn_here(below.fork().bind(Handle::join).named("above"));
    while !pool.dump().fibers().any(|fiber| matches!(fiber.state(), DumpedState::Waiting { on: Some(_), .. }))
    {
        thread::yield_now();
    }
    let name: Arc<str> = "member".into();
    let (is_over, dumps) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        let dumpers = [(); 2].map(|()| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let dump = pool.dump();
                    check(&dump);
                    check_anchors(&dump);
                    dumps.fetch_add(1, Ordering::Relaxed);
                }
            })
        });
        // With the storm of this thread, two members are being joined at any time.
        let other = scope.spawn(|| storm(&pool, &name));
        storm(&pool, &name);
        other.join().unwrap();
        while dumps.load(Ordering::Relaxed) < 2 {
            thread::yield_now();
        }
        is_over.store(true, Ordering::Relaxed);
        dumpers.into_iter().for_each(|dumper| dumper.join().unwrap());
    });
    // A member that was joined leaves the tree a moment later.
    while pool.dump().len() > 2 {
        thread::yield_now();
    }
    above.cancel_now();
    pool.shutdown(Shutdown::within(LONG)).unwrap();
    assert!(block_on(above).is_cancelled());
    // Each cell held a reference: none is left in a slot that a dump was reading.
    assert_eq!(Arc::strong_count(&name), 1);
}

#[test]
fn a_fiber_dumps_its_own_pool_while_others_are_cancelled() {
    let pool = Pool::builder().workers(2).build();
    let context = pool.context().clone();
    let dumps = Fiber::iterate(0, move |count| {
        check(&context.dump());
        let next = if count == ROUNDS { ControlFlow::Break(()) } else { ControlFlow::Continue(count + 1) };
        Fiber::yield_now().map(move |()| next)
    });
    let dumping = pool.spawn(dumps);
    while !dumping.is_finished() {
        let tree = Fiber::parallel((0..20).map(member)).map(drop);
        let tree = pool.spawn(tree);
        thread::yield_now();
        tree.cancel_now();
        assert!(!block_on(tree).is_panicked());
    }
    assert!(block_on(dumping).is_success());
    pool.shutdown(Shutdown::within(LONG)).unwrap();
}

#[test]
fn another_thread_dumps_the_fibers_of_a_current_thread() {
    let scheduler = CurrentThread::new();
    let context = scheduler.context().clone();
    let (sender, receiver) = std::sync::mpsc::channel();
    let dumper = thread::spawn(move || {
        let is_waiting = |dump: &Dump| dump.to_string().contains("\"waits\"");
        let dumps = std::iter::repeat_with(|| Context::dump(&context));
        let found = dumps.inspect(check).find(is_waiting);
        let resume: fiber_core::Resume<()> = receiver.recv().unwrap();
        resume.success(());
        found
    });
    let waits = Fiber::callback(move |resume| sender.send(resume).unwrap());
    assert!(scheduler.run(waits.named("waits")).is_success());
    assert!(dumper.join().unwrap().is_some());
    assert!(scheduler.dump().is_empty());
}

/// Prints how long a dump takes: `cargo test -p fiber-sched-tests --release --test it dump::ten_thousand -- --nocapture`.
#[test]
fn a_dump_has_each_of_ten_thousand_fibers_once_and_the_pool_goes_on_meanwhile() {
    const RESTING: usize = 9_990;
    const BUSY: usize = 10;
    let pool = Pool::builder().workers(2).build();
    let turns = Arc::new(AtomicUsize::new(0));
    let rest = |n| match n % 3 {
        0 => Fiber::delay(LONG).boxed(),
        1 => Fiber::never().timeout(LONG).boxed(),
        _ => Fiber::never().boxed(),
    };
    let resting: Vec<_> = (0..RESTING).map(|n| pool.spawn(rest(n).named("resting"))).collect();
    let busy = |turns: Arc<AtomicUsize>| {
        Fiber::<()>::iterate((), move |()| {
            turns.fetch_add(1, Ordering::SeqCst);
            Fiber::yield_now().map(ControlFlow::Continue)
        })
    };
    let busy: Vec<_> = (0..BUSY).map(|_| pool.spawn(busy(turns.clone()).named("busy"))).collect();
    let rests = |fiber: &DumpedFiber<'_>| {
        let is_waiting = matches!(fiber.state(), DumpedState::Waiting { .. } | DumpedState::InPart(_));
        fiber.name() == Some("resting") && is_waiting
    };
    // At first, not all have begun; and on a machine with other work, no busy fiber may have a turn during one dump.
    let (dump, took) = loop {
        let (before, start) = (turns.load(Ordering::SeqCst), Instant::now());
        let dump = pool.dump();
        let (took, after) = (start.elapsed(), turns.load(Ordering::SeqCst));
        if after > before && dump.fibers().filter(rests).count() == RESTING {
            break (dump, took);
        }
    };
    println!("a dump of {} fibers took {took:?}", dump.len());
    check(&dump);
    let count = |name| dump.fibers().filter(|fiber| fiber.name() == Some(name)).count();
    assert_eq!((count("resting"), count("busy")), (RESTING, BUSY));
    resting.iter().for_each(Handle::cancel_now);
    busy.iter().for_each(Handle::cancel_now);
    pool.shutdown(Shutdown::within(LONG)).unwrap();
}
