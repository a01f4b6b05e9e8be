//! A fiber can be run again exactly if it is `Clone`. The types behind combinators have no public names, so no signature promises that
//! they are: these programs do.

use std::fmt::Debug;
use std::ops::ControlFlow;
use std::time::Duration;

use fiber_core::sync::Channel;
use fiber_core::{Either, Error, Fiber, Outcome, Policy, Run, local_key};
use fiber_test::TestScheduler;

const SECOND: Duration = Duration::from_secs(1);

/// Runs the fiber twice, and gives its value if that is the same both times.
fn twice<T>(fiber: Fiber<T, impl Run<Out = T> + Clone>) -> T
where
    T: PartialEq + Debug + Send + 'static,
{
    let (first, second) = (TestScheduler::new().run(fiber.clone()), TestScheduler::new().run(fiber));
    let first = first.unwrap();
    assert_eq!(first, second.unwrap());
    first
}

fn waits(value: u32) -> Fiber<u32, impl Run<Out = u32> + Clone> {
    Fiber::delay(SECOND).map(move |()| value)
}

fn fails() -> Fiber<u32, impl Run<Out = u32> + Clone> {
    // An error is not `Clone`, so neither is `Fiber::fail`.
    Fiber::try_lazy(|| Err(Error::msg("no")))
}

#[test]
fn leaves_run_again() {
    assert_eq!(twice(Fiber::success(7)), 7);
    assert_eq!(twice(Fiber::lazy(|| 7)), 7);
    assert_eq!(twice(Fiber::try_lazy(|| Ok::<_, Error>(7))), 7);
    assert_eq!(twice(Fiber::defer(|| waits(7))), 7);
    twice(Fiber::yield_now());
    twice(Fiber::delay(SECOND).zip(Fiber::until(fiber_core::Instant::EPOCH)));
    twice(Fiber::now());
    twice(Fiber::utc_now());
    twice(Fiber::random_u64());
    twice(Fiber::current().map(|context| context.id()));
    assert_eq!(twice(Fiber::blocking(|| 7)), 7);
    assert_eq!(twice(Fiber::try_blocking(|| Ok::<_, Error>(7))), 7);
    assert_eq!(twice(Fiber::callback(|resume| resume.success(7))), 7);
    struct NotClone;
    let never = Fiber::<NotClone>::never();
    assert_eq!(twice(never.map(|_| 1).race(Fiber::success(2))), Either::Right(2));
}

#[test]
fn steps_run_again() {
    local_key! { static KEY: u32 = 0; }
    assert_eq!(twice(waits(1).map(|n| n + 1)), 2);
    assert_eq!(twice(waits(1).try_map(|n| Ok::<_, Error>(n + 1))), 2);
    assert_eq!(twice(waits(1).map_outcome(|_| Outcome::Success(2))), 2);
    assert_eq!(twice(waits(1).bind(|n| waits(n + 1))), 2);
    assert_eq!(twice(waits(1).tap(|_| Fiber::delay(SECOND))), 1);
    assert_eq!(twice(waits(1).filter_or(|n| *n == 1, |_| Error::msg("no"))), 1);
    assert_eq!(twice(fails().catch(|_| waits(2))), 2);
    let wrong = Fiber::try_lazy(|| Err::<u32, _>(std::fmt::Error));
    assert_eq!(twice(wrong.catch_err(|_: std::fmt::Error| waits(2))), 2);
    assert_eq!(twice(fails().catch_panic(|_| waits(3)).catch(|_| waits(2))), 2);
    assert!(twice(fails().attempt().map(|result| result.is_err())));
    assert!(twice(fails().context("reading").attempt().map(|result| result.is_err())));
    assert_eq!(twice(waits(1).ensure(Fiber::delay(SECOND))), 1);
    assert_eq!(twice(waits(1).on_cancel(Fiber::delay(SECOND))), 1);
    assert_eq!(twice(waits(1).on_failure(|_| Fiber::delay(SECOND))), 1);
    assert_eq!(twice(waits(1).on_outcome(|_| Fiber::delay(SECOND))), 1);
    assert_eq!(twice(waits(1).uncancelable()), 1);
    assert_eq!(twice(waits(1).timed()), (SECOND, 1));
    assert_eq!(twice(Fiber::local(&KEY).with_local(&KEY, 5)), 5);
    assert_eq!(twice(waits(1).named("one")), 1);
    let bracket = Fiber::bracket(waits(1), |n| waits(n + 1), |_| Fiber::delay(SECOND));
    assert_eq!(twice(bracket), 2);
    let bracket = Fiber::bracket_outcome(waits(1), |n| waits(n + 1), |_, _| Fiber::delay(SECOND));
    assert_eq!(twice(bracket), 2);
}

#[test]
fn loops_and_limits_run_again() {
    assert_eq!(twice(Fiber::fold([1, 2], 0, |sum, n| waits(sum + n))), 3);
    twice(Fiber::for_each([1, 2], |_| Fiber::delay(SECOND)));
    let two = |n| waits(n).map(|n| if n == 2 { ControlFlow::Break(n) } else { ControlFlow::Continue(n + 1) });
    assert_eq!(twice(Fiber::iterate(0, two)), 2);
    assert_eq!(twice(waits(1).retry(Policy::recurs(1))), 1);
    assert_eq!(twice(waits(1).repeat(Policy::recurs(1))), 1);
    assert_eq!(twice(Fiber::retry_with(Policy::recurs(1), || waits(1))), 1);
    assert_eq!(twice(Fiber::repeat_with(Policy::recurs(1), || waits(1))), 1);
    assert_eq!(twice(waits(1).timeout(2 * SECOND)), 1);
    assert_eq!(twice(waits(1).timeout_option(SECOND / 2)), None);
    assert_eq!(twice(waits(1).timeout_to(SECOND / 2, waits(2))), 2);
    assert_eq!(twice(waits(1).timeout_disconnect(2 * SECOND)), 1);
}

#[test]
fn branches_and_forks_run_again() {
    assert_eq!(twice(waits(1).zip(waits(2))), (1, 2));
    assert_eq!(twice(waits(1).race(Fiber::success(2))), Either::Right(2));
    assert_eq!(
        twice(waits(1).race_with(Fiber::success(2)).map(|raced| raced.first.unwrap())),
        Either::Right(2)
    );
    let fibers = || [1, 2].map(waits);
    assert_eq!(twice(Fiber::parallel(fibers())), [1, 2]);
    assert_eq!(twice(Fiber::parallel(fibers()).limit(1)), [1, 2]);
    assert_eq!(twice(Fiber::parallel(fibers()).within(2 * SECOND)).len(), 2);
    assert_eq!(twice(Fiber::race_all(fibers())), 1);
    assert_eq!(twice(Fiber::first_success(fibers())), 1);
    assert_eq!(twice(Fiber::first_successes(2, fibers())), [1, 2]);
    assert_eq!(twice(Fiber::hedge(SECOND / 2, 2, || waits(1))), 1);
    assert_eq!(twice(waits(1).fork().bind(|child| child.join())), 1);
    assert_eq!(twice(waits(1).detach().bind(|child| child.join())), 1);
    assert_eq!(twice(waits(1).disconnect()), 1);
    assert_eq!(twice(Fiber::scope(|scope| scope.fork(waits(1)).bind(|child| child.join()))), 1);
}

#[test]
fn a_channel_takes_an_item_again_if_the_item_is_clone() {
    let (sender, receiver) = Channel::unbounded();
    let both = sender.send(1).zip(sender.send_all([2, 3])).bind(move |_| receiver.recv_many(3));
    assert_eq!(twice(both), [1, 2, 3]);
}
