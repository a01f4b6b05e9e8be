//! Switch points: one between two fibers in sequence, however the sequence is written. `async` code has one more, before its first wait,
//! because code may have run there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fiber_core::{Direct, Error, Fiber, Run, fiber};
use fiber_test::{Explore, TestScheduler};

fn step() -> Fiber<u32> {
    Fiber::lazy(|| 1).boxed()
}

fn done() -> Fiber<()> {
    Fiber::lazy(|| ()).boxed()
}

/// The number of schedules of two such fibers.
fn schedules<T: Send + 'static, R: Run<Out = T>>(program: impl Fn() -> Fiber<T, R> + Sync) -> u64 {
    let explored = Explore::exhaustive().check(move || program().zip(program()).map(drop));
    assert!(explored.is_complete());
    explored.schedules()
}

/// The number of turns of a fiber.
fn turns<T: Send + 'static, R: Run<Out = T>>(fiber: Fiber<T, R>) -> usize {
    let test = TestScheduler::new().record();
    assert!(test.run(fiber).is_success());
    test.trace().turns().len()
}

async fn two_steps() -> Result<u32, Error> {
    let a = step().await?;
    let b = step().await?;
    Ok(a + b)
}

#[test]
fn two_fibers_of_two_steps_have_six_schedules_in_every_form_that_runs_nothing_before() {
    assert_eq!(schedules(|| step().bind(|a| step().map(move |b| a + b))), 6, "binds");
    assert_eq!(schedules(|| fiber! { do! step(); do! step(); }), 6, "do!");
    assert_eq!(schedules(|| fiber! { let! a = step(); let! b = step(); a + b }), 6, "let!");
    assert_eq!(schedules(|| fiber! { for _ in 0..2 { do! step(); } }), 6, "a plain loop");
    assert_eq!(schedules(|| fiber! { do! step(); return! step() }), 6, "return!");
    assert_eq!(schedules(|| Fiber::for_each(0..2, |_| done())), 6, "for_each");
}

#[test]
fn two_fibers_of_two_steps_have_twenty_in_every_form_that_may_run_something_before() {
    assert_eq!(schedules(|| Fiber::lazy(|| ()).bind(|()| step().bind(|_| step()))), 20, "binds");
    assert_eq!(schedules(|| fiber! { step().await? + step().await? }), 20, "await in a block");
    assert_eq!(schedules(|| Fiber::from_future(two_steps())), 20, "async");
    assert_eq!(schedules(|| Fiber::block(two_steps)), 20, "block");
    let direct = |fiber: &Direct<'_>| Ok(fiber.wait(step())? + fiber.wait(step())?);
    assert_eq!(schedules(move || Fiber::direct(direct)), 20, "direct");
}

#[test]
fn three_steps_have_twenty_and_seventy_in_async() {
    assert_eq!(schedules(|| step().bind(|_| step()).bind(|_| step())), 20);
    assert_eq!(schedules(|| fiber! { for _ in 0..3 { do! step(); } }), 20);
    assert_eq!(schedules(|| Fiber::for_each(0..3, |_| done())), 20);
    assert_eq!(
        schedules(|| Fiber::block(|| async {
            two_steps().await?;
            step().await
        })),
        70,
        "an async fn adds none of its own"
    );
}

#[test]
fn a_block_of_one_wait_is_one_turn_and_two_in_async() {
    assert_eq!(turns(step()), 1);
    assert_eq!(turns(fiber! { let! a = step(); a + 1 }), 1);
    assert_eq!(turns(Fiber::block(|| async { step().await })), 2);
    assert_eq!(turns(Fiber::for_each(0..1, |_| done())), 1);
}

#[test]
fn a_nest_of_blocks_adds_no_points() {
    fn nest(depth: u32) -> Fiber<u32> {
        fiber! {
            if depth == 0 { return! step() }
            let! below = nest(depth - 1);
            below + 1
        }
    }
    assert_eq!(turns(nest(10)), 1);
}

#[test]
fn delays_take_as_many_turns_in_a_block_as_in_binds_and_one_more_in_a_future() {
    let second = || Fiber::delay(Duration::from_secs(1));
    let binds = turns(second().bind(move |()| second()).bind(move |()| second()));
    assert_eq!(turns(fiber! { for _ in 0..3 { do! second(); } }), binds);
    assert_eq!(turns(fiber! { do! second(); do! second(); return! second() }), binds);
    let future = async move {
        second().await?;
        second().await?;
        second().await
    };
    assert_eq!(turns(Fiber::from_future(future)), binds + 1);
}

/// The code between two waits belongs to the turn of the first one.
#[test]
fn an_update_that_is_torn_by_a_wait_is_lost_in_some_schedule() {
    fn visit(count: Arc<AtomicU32>) -> Fiber<()> {
        fiber! {
            let seen = count.load(Ordering::Relaxed);
            do! step();
            do! step();
            count.store(seen + 1, Ordering::Relaxed);
        }
    }
    let failure = Explore::exhaustive().try_check(|| {
        let count = Arc::new(AtomicU32::new(0));
        let both = visit(count.clone()).zip(visit(count.clone()));
        both.map(move |_| assert_eq!(count.load(Ordering::Relaxed), 2))
    });
    assert!(failure.is_err());
}

#[test]
fn an_endless_loop_of_ready_waits_lets_others_run() {
    let endless: Fiber<()> = fiber! { loop { do! step(); } };
    let future = async {
        loop {
            step().await?;
        }
    };
    let raced = Fiber::race_all([
        endless,
        Fiber::<()>::from_future::<Error, _>(future).boxed(),
        Fiber::delay(Duration::ZERO).boxed(),
    ]);
    assert!(fiber_sched::CurrentThread::new().run(raced).is_success());
}
