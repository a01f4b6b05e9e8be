//! Direct fibers beyond the stacks of a test scheduler, which has no thread for them either.

use fiber_core::{Context, Fiber, Outcome};
use fiber_test::TestScheduler;

/// What a supply of stacks has, unless it is told otherwise.
const MOST: usize = 16 * 1024;

#[test]
fn a_direct_fiber_without_a_stack_panics_where_it_would_wait_for_ever() {
    let test = TestScheduler::new();
    let waits = || test.spawn(Fiber::<()>::direct(|d| d.wait(Fiber::never())));
    let all: Vec<_> = (0..=MOST).map(|_| waits()).collect();
    test.run_until_idle();
    let mut ended: Vec<_> = all.into_iter().filter(|fiber| !fiber.is_pending()).collect();
    let one = ended.pop().expect("there are not enough stacks");
    assert!(ended.is_empty(), "{} more have ended", ended.len());
    let Outcome::Panicked(panic) = one.outcome() else { panic!("it has no stack") };
    assert!(panic.message().starts_with("no stack is left for this direct fiber"), "{}", panic.message());
    test.context().cancel();
    test.run_until_idle();
    test.assert_no_leaks();
}

#[test]
fn a_direct_fiber_that_starts_outside_of_a_turn_moves_into_one_for_a_stack() {
    let test = TestScheduler::new();
    let spawn = |context: &Context| context.spawn_here(Fiber::direct(|d| d.wait(Fiber::yield_now())));
    let outside = spawn(test.context());
    let inside = test.spawn(Fiber::<Context>::current().bind(move |context| spawn(&context).join()));
    test.run_until_idle();
    assert!(outside.try_outcome().unwrap().is_success());
    assert!(inside.outcome().is_success());
    test.assert_no_leaks();
}
