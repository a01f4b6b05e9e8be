//! Fibers that run inline in the turn of another one and are never asked to yield: the fibers below them on the stack
//! are still cancelled, and still time out.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use crate::support::{Counter, Tireless};
use fiber_core::error::{Cancelled, DeadlineExceeded, TimedOut};
use fiber_core::{Either, Error, Fiber, Handle, Instant, Outcome, Run, Scope};

const SECOND: Duration = Duration::from_secs(1);

/// Binds for ever.
fn endless<T: Send + 'static>() -> Fiber<T> {
    Fiber::iterate((), |()| Fiber::success(ControlFlow::Continue(()))).boxed()
}

#[track_caller]
fn is_timed_out<T: std::fmt::Debug>(outcome: Outcome<T>) {
    match outcome {
        Outcome::Failure(error) => assert!(error.is::<TimedOut>(), "{error:?}"),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn times_out<R: Run<Out = ()>>(fiber: Fiber<(), R>) {
    let scheduler = Tireless::new();
    is_timed_out(scheduler.run(fiber.timeout(10 * SECOND)));
    // The clock ticks once a second. At ten seconds, the work has not taken longer than that.
    assert_eq!(scheduler.now(), Instant::EPOCH + 11 * SECOND);
    scheduler.close();
}

#[test]
fn a_timeout_ends_work_that_only_binds() {
    times_out(endless::<()>());
    times_out(Fiber::success(()).bind(|()| endless()));
    fn recursion() -> Fiber<()> {
        Fiber::success(()).bind(|()| recursion()).boxed()
    }
    times_out(recursion());
}

#[test]
fn a_timeout_ends_loops_without_pauses() {
    use fiber_core::Policy;
    times_out(Fiber::success(()).repeat_while(|()| true));
    times_out(Fiber::success(()).repeat(Policy::forever()));
    times_out(Fiber::try_lazy(|| Err::<(), _>(Error::msg("again"))).retry(Policy::forever()));
    times_out(Fiber::for_each(0u64.., |_| Fiber::success(())));
}

/// Each round waits for a fork that ends at once, which is no yield.
#[test]
fn a_timeout_ends_loops_of_waits_that_are_over_at_once() {
    let scoped = |_| Fiber::scope(|scope: Scope| scope.fork(Fiber::<()>::never()).map(drop));
    for endless in
        [Fiber::for_each(0u64.., scoped).boxed(), Fiber::fold(0u64.., (), move |(), n| scoped(n)).boxed()]
    {
        let scheduler = Tireless::new();
        is_timed_out(scheduler.run(endless.timeout(10 * SECOND)));
        // The limit has waited, so it has a timer.
        assert_eq!(scheduler.now(), Instant::EPOCH + 10 * SECOND);
        scheduler.close();
    }
}

#[test]
fn a_timeout_ends_a_block_that_awaits_failures_for_ever() {
    times_out(Fiber::block(|| async {
        while Fiber::try_lazy(|| Err::<(), _>(Error::msg("again"))).await.is_err() {}
        Ok::<_, Error>(())
    }));
}

#[test]
fn a_timeout_ends_loops_of_uncancelable_rounds() {
    let round = || Fiber::success(()).uncancelable();
    times_out(Fiber::for_each(0u64.., move |_| round()));
    times_out(round().repeat_while(|()| true));
    times_out(round().repeat(fiber_core::Policy::forever()));
}

#[test]
fn a_deadline_ends_work_that_only_binds() {
    let scheduler = Tireless::new();
    let outcome = scheduler.run(endless::<()>().with_deadline(Instant::EPOCH + 5 * SECOND));
    assert!(outcome.failure().unwrap().is::<DeadlineExceeded>());
    assert_eq!(scheduler.now(), Instant::EPOCH + 6 * SECOND);
}

#[test]
fn a_limit_without_a_failure_ends_work_that_only_binds() {
    let scheduler = Tireless::new();
    assert_eq!(scheduler.run(endless::<()>().timeout_option(SECOND)).unwrap(), None);
    assert_eq!(scheduler.run(endless::<u8>().timeout_to(SECOND, Fiber::success(7))).unwrap(), 7);
    is_timed_out(scheduler.run(endless::<()>().timeout_disconnect(SECOND)));
}

#[test]
fn of_nested_limits_the_one_that_is_over_counts() {
    let scheduler = Tireless::new();
    let inner = endless::<()>().timeout_option(SECOND).timeout(60 * SECOND);
    assert_eq!(scheduler.run(inner).unwrap(), None);
    let outer = endless::<()>().timeout_option(60 * SECOND).timeout(SECOND);
    is_timed_out(scheduler.run(outer));
    // Both have expired at the same check of the clock.
    let both = endless::<()>().timeout_option(SECOND).timeout(SECOND);
    is_timed_out(scheduler.run(both));
}

#[test]
fn a_timeout_ends_branches_that_run_inline() {
    times_out(endless::<()>().zip(endless::<()>()).map(drop));
    times_out(endless::<()>().race(endless::<()>()).map(drop));
    times_out(Fiber::parallel((0..3).map(|_| endless::<()>())).map(drop));
    times_out(Fiber::first_success((0..3).map(|_| endless::<()>())));
    times_out(Fiber::scope(|scope| scope.fork(endless::<()>()).bind(Handle::join)));
}

#[test]
fn a_timeout_ends_the_join_of_a_fiber_that_runs_inline() {
    times_out(endless::<()>().fork().bind(Handle::join));
    times_out(endless::<()>().fork().bind(Handle::outcome).map(drop));
    times_out(endless::<()>().fork().bind(Handle::join).fork().bind(Handle::join));
    times_out(Fiber::success(()).zip(endless::<()>().fork().bind(Handle::join)).map(drop));
    times_out(endless::<()>().disconnect());
    times_out(Fiber::<()>::never().race(endless::<()>().disconnect()).map(drop));
}

#[test]
fn a_timeout_around_a_ready_fiber_reads_the_clock_once() {
    let scheduler = Tireless::new();
    scheduler.run(Fiber::for_each(0..10_000, |_| Fiber::success(()))).unwrap();
    assert_eq!(scheduler.clock_reads(), 0);
    scheduler.run(Fiber::success(()).timeout(SECOND)).unwrap();
    assert_eq!(scheduler.clock_reads(), 1);
}

#[test]
fn a_joiner_is_cancelled_while_the_other_fiber_runs_inline() {
    let scheduler = Tireless::new();
    let stopped = Counter::default();
    let other = endless::<()>().on_cancel(stopped.count());
    let joiner = other.detach().bind(Handle::join);
    let handle = scheduler.spawn(joiner);
    let target = handle.context().clone();
    scheduler.at_checkpoint(3, move || target.cancel());
    scheduler.drain_some(1);
    assert!(handle.is_finished());
    assert!(handle.try_outcome().unwrap().is_cancelled());
    assert!(scheduler.now() < Instant::EPOCH + 10 * SECOND, "the other fiber has not left at once");
    assert_eq!(stopped.get(), 0, "the other fiber goes on");
    scheduler.close();
    assert_eq!(stopped.get(), 1);
}

#[test]
fn a_masked_joiner_waits_for_a_fiber_that_runs_inline() {
    let scheduler = Tireless::new();
    let long = Fiber::for_each(0..1000, |_| Fiber::success(()));
    let handle = scheduler.spawn(long.fork().bind(Handle::join).uncancelable());
    let target = handle.context().clone();
    scheduler.at_checkpoint(3, move || target.cancel());
    scheduler.drain_some(1000);
    assert!(handle.try_outcome().unwrap().failure().unwrap().is::<Cancelled>());
}

#[test]
fn a_race_is_decided_while_its_disconnected_loser_runs_inline() {
    let scheduler = Tireless::new();
    let resume = Arc::new(std::sync::Mutex::new(None));
    let kept = resume.clone();
    let winner = Fiber::callback(move |resume| *kept.lock().unwrap() = Some(resume));
    let race = winner.race(endless::<()>().disconnect());
    let handle = scheduler.spawn(race);
    let tasks = scheduler.clone();
    // What another worker would do meanwhile.
    scheduler.at_checkpoint(3, move || {
        resume.lock().unwrap().take().unwrap().success(7);
        tasks.drain_some(1);
    });
    while !handle.is_finished() && scheduler.drain_some(1) {}
    assert_eq!(handle.try_outcome().unwrap().unwrap(), Either::Left(7));
    assert!(scheduler.now() < Instant::EPOCH + 10 * SECOND, "the loser has not left at once");
    scheduler.close();
}

#[test]
fn a_fiber_leaves_the_thread_that_spawned_it_when_its_budget_is_spent() {
    let scheduler = Tireless::new();
    let handle = scheduler.context().spawn_here(endless::<()>());
    handle.cancel_now();
    scheduler.drain_some(1000);
    assert!(handle.try_outcome().unwrap().is_cancelled());
}
