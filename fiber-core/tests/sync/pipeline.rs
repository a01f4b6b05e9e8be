//! Stages: at most so many items at a time, results as they complete or in order, and nothing outlives its consumer.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fiber_core::sync::{Channel, Receiver, parallel_map};
use fiber_core::{Error, Fiber, Outcome};
use fiber_test::{Explore, TestScheduler};
use parking_lot::Mutex;

use crate::everywhere::explore;

const SECOND: Duration = Duration::from_secs(1);

/// The number of working fibers, and its maximum so far.
#[derive(Clone, Default)]
struct AtWork(Arc<(AtomicUsize, AtomicUsize)>);

/// Counts as work until it is dropped.
struct Working(AtWork);

impl AtWork {
    fn begin(&self) -> Working {
        let now = self.0.0.fetch_add(1, Ordering::Relaxed) + 1;
        self.0.1.fetch_max(now, Ordering::Relaxed);
        Working(self.clone())
    }

    /// Works for this many seconds.
    fn section(&self, seconds: u64) -> Fiber<u64> {
        let at_work = self.clone();
        let begin = Fiber::lazy(move || at_work.begin());
        begin
            .bind(move |working| {
                Fiber::delay(Duration::from_secs(seconds)).map(move |()| {
                    drop(working);
                    seconds
                })
            })
            .boxed()
    }

    fn now(&self) -> usize {
        self.0.0.load(Ordering::Relaxed)
    }

    fn most(&self) -> usize {
        self.0.1.load(Ordering::Relaxed)
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Receives all until the channel is closed.
fn collect<T: Send + 'static>(receiver: Receiver<T>) -> Fiber<Vec<T>> {
    Fiber::iterate((receiver, Vec::new()), |(receiver, mut all)| {
        receiver.recv().map_outcome(move |outcome| match outcome {
            Outcome::Success(item) => {
                all.push(item);
                Outcome::Success(ControlFlow::Continue((receiver, all)))
            }
            Outcome::Failure(_) => Outcome::Success(ControlFlow::Break(all)),
            Outcome::Panicked(panic) => Outcome::Panicked(panic),
            Outcome::Cancelled => Outcome::Cancelled,
        })
    })
    .boxed()
}

#[test]
fn for_each_runs_at_most_so_many_at_a_time() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::unbounded());
    let at_work = AtWork::default();
    let count = at_work.clone();
    let all = receiver.for_each_recv(3, move |n| at_work.section(n).map(drop));
    (0..7).for_each(|_| sender.try_send(1).unwrap());
    drop((sender, receiver));
    assert!(test.run(all).is_success());
    assert_eq!((count.most(), count.now()), (3, 0));
    assert_eq!(test.now().as_nanos(), 3_000_000_000);
}

#[test]
fn the_first_failure_of_for_each_ends_the_others() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::unbounded());
    let at_work = AtWork::default();
    let count = at_work.clone();
    let all = receiver.for_each_recv(2, move |n| {
        at_work.section(n).bind(|n| Fiber::from_result(if n == 1 { Err(Error::msg("one")) } else { Ok(()) }))
    });
    [5, 1, 1].into_iter().for_each(|n| sender.try_send(n).unwrap());
    assert_eq!(test.run(all).failure().unwrap().to_string(), "one");
    assert_eq!((test.now().as_nanos(), count.now()), (1_000_000_000, 0));
    assert_eq!(receiver.try_recv(), Ok(1), "what was not received stays in the channel");
}

#[test]
#[should_panic(expected = "a limit of 0 lets no fiber run")]
fn a_limit_of_0_is_refused() {
    drop(Channel::<()>::unbounded().1.for_each_recv(0, |()| Fiber::success(())));
}

/// The largest limit.
const MOST: usize = 65_536;

#[test]
#[should_panic(expected = "65537 is above 65536, the most")]
fn a_limit_above_the_most_fibers_is_refused() {
    drop(parallel_map(0..3, MOST + 1, Fiber::success));
}

#[test]
fn a_limit_of_65_536_needs_no_more_items() {
    let test = || TestScheduler::new().turns_per_instant(usize::MAX);
    let (sender, receiver) = Channel::unbounded();
    (0..3).for_each(|n| sender.try_send(n).unwrap());
    drop(sender);
    assert!(test().run(receiver.for_each_recv(MOST, |_| Fiber::delay(SECOND))).is_success());
    for is_ordered in [false, true] {
        let stage = parallel_map([1, 1, 1], MOST, |n| Fiber::delay(n * SECOND));
        let stage = if is_ordered { stage.ordered() } else { stage };
        let (all, took) = test().run_timed(stage.feed(collect));
        assert_eq!((all.unwrap().len(), took), (3, SECOND));
    }
}

#[test]
fn results_come_as_they_are_ready() {
    let (test, at_work) = (TestScheduler::new(), AtWork::default());
    let count = at_work.clone();
    let stage = parallel_map([3, 1, 2, 1], 2, move |n| at_work.section(n));
    assert_eq!(test.run(stage.feed(collect)).unwrap(), [1, 3, 2, 1]);
    assert_eq!((count.most(), test.now().as_nanos()), (2, 4_000_000_000));
}

#[test]
fn results_come_in_order() {
    let (test, at_work) = (TestScheduler::new(), AtWork::default());
    let count = at_work.clone();
    let stage = parallel_map(vec![3, 1, 2, 1], 2, move |n| at_work.section(n)).ordered();
    assert_eq!(test.run(stage.feed(collect)).unwrap(), [3, 1, 2, 1]);
    assert_eq!((count.most(), test.now().as_nanos()), (2, 4_000_000_000));
}

#[test]
fn the_first_result_comes_before_the_last_item() {
    for is_ordered in [false, true] {
        let test = TestScheduler::new();
        let stage = parallel_map(0.., 2, |n: u64| Fiber::delay(SECOND).map(move |()| n));
        let stage = if is_ordered { stage.ordered() } else { stage };
        let first = test.run(stage.feed(|results| results.recv())).unwrap();
        assert_eq!((first, test.now().as_nanos()), (0, 1_000_000_000));
        test.assert_no_leaks();
    }
}

#[test]
fn a_slow_consumer_slows_the_stage() {
    for is_ordered in [false, true] {
        let (test, read) = (TestScheduler::new(), Arc::new(AtomicUsize::new(0)));
        let counted = read.clone();
        let source = (0..).inspect(move |_| drop(counted.fetch_add(1, Ordering::Relaxed).to_string()));
        let stage = parallel_map(source, 2, |n: u64| Fiber::success(n));
        let stage = if is_ordered { stage.ordered() } else { stage };
        let slow = stage.feed(|results| Fiber::delay(SECOND).bind(move |()| results.recv()));
        assert_eq!(test.run(slow).unwrap(), 0);
        let read = read.load(Ordering::Relaxed);
        assert!(read <= 9, "{read} items were read for one result");
    }
}

#[test]
fn an_item_is_read_when_there_is_a_place_for_it() {
    let (test, read) = (TestScheduler::new(), Arc::new(AtomicUsize::new(0)));
    let counted = read.clone();
    let source = (0..9).inspect(move |_| _ = counted.fetch_add(1, Ordering::Relaxed));
    let stage = parallel_map(source, 2, |_| Fiber::delay(SECOND));
    let running = test.spawn(stage.feed(collect));
    test.run_for(SECOND / 2);
    assert_eq!(read.load(Ordering::Relaxed), 2);
    test.run_for(SECOND);
    assert_eq!(read.load(Ordering::Relaxed), 4);
    test.run_until_idle();
    assert_eq!(running.outcome().unwrap().len(), 9);
}

#[test]
fn a_failure_of_the_stage_ends_the_consumer_which_never_takes_it_for_the_end() {
    for is_ordered in [false, true] {
        // Not cancelled as a whole, because the failure would then be unobserved.
        let program = move || {
            let stage = parallel_map(0..4_u64, 2, |n| {
                Fiber::from_result(if n == 2 { Err(Error::msg("two")) } else { Ok(n) })
            });
            let stage = if is_ordered { stage.ordered() } else { stage };
            stage.feed(collect).map_outcome(|outcome| match outcome {
                Outcome::Failure(error) => {
                    assert_eq!(error.to_string(), "two");
                    Outcome::Success(())
                }
                Outcome::Success(results) => panic!("{results:?} are not all"),
                Outcome::Panicked(panic) => Outcome::Panicked(panic),
                Outcome::Cancelled => Outcome::Cancelled,
            })
        };
        Explore::default().schedules(500).no_regressions().check(program);
    }
}

#[test]
fn all_results_come_in_every_schedule() {
    for is_ordered in [false, true] {
        explore(move || {
            let stage = parallel_map(0..3_u64, 2, |n| Fiber::yield_now().map(move |()| n));
            let stage = if is_ordered { stage.ordered() } else { stage };
            stage.feed(collect).map(move |mut results| {
                if !is_ordered {
                    results.sort_unstable();
                }
                assert_eq!(results, [0, 1, 2]);
            })
        });
    }
}

#[test]
fn everything_has_ended_when_the_consumer_has() {
    for is_ordered in [false, true] {
        let (test, at_work) = (TestScheduler::new(), AtWork::default());
        let count = at_work.clone();
        let stage = parallel_map([1, 5, 5, 5].into_iter(), 3, move |n| at_work.section(n));
        let stage = if is_ordered { stage.ordered() } else { stage };
        assert_eq!(test.run(stage.feed(|results| results.recv())).unwrap(), 1);
        assert_eq!((count.now(), test.now().as_nanos()), (0, 1_000_000_000));
        test.assert_no_leaks();
    }
}

#[test]
fn a_consumer_that_wants_no_more_results_goes_on() {
    for is_ordered in [false, true] {
        let test = TestScheduler::new();
        let stage = parallel_map(0.., 2, |n: u64| Fiber::delay(SECOND).map(move |()| n));
        let stage = if is_ordered { stage.ordered() } else { stage };
        let fiber = stage.feed(|results| {
            let first = results.recv();
            drop(results);
            first.bind(|first| Fiber::delay(10 * SECOND).map(move |()| first))
        });
        assert_eq!(test.run(fiber).unwrap(), 0);
        assert_eq!(test.now().as_nanos(), 11_000_000_000);
        test.assert_no_leaks();
    }
}

#[test]
fn panics_of_the_source_the_function_and_the_consumer_are_outcomes() {
    let test = TestScheduler::new();
    let source = (0..3).inspect(|&n| assert!(n < 1, "source"));
    assert!(test.run(parallel_map(source, 1, Fiber::success).feed(collect)).is_panicked());
    let f = |n: u64| -> Fiber<u64> { panic!("{n}") };
    assert!(test.run(parallel_map(0..3, 1, f).feed(collect)).is_panicked());
    assert!(test.run(parallel_map(0..3, 1, f).ordered().feed(collect)).is_panicked());
    let consumer = |_| -> Fiber<()> { panic!("consumer") };
    assert!(test.run(parallel_map(0..3, 1, Fiber::<u64>::success).feed(consumer)).is_panicked());
}

#[test]
fn stages_feed_stages() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::bounded(2));
    let shouts = |word: &'static str| Fiber::delay(SECOND).map(move |()| word.to_uppercase());
    let measures = |word: String| Fiber::success((word.len(), word));
    let pipeline = parallel_map(receiver, 2, shouts)
        .ordered()
        .feed(move |words| parallel_map(words, 1, measures).feed(collect));
    let send = sender.send_all(["a", "bc", "def"]);
    drop(sender);
    let ((), words) = test.run(send.zip(pipeline)).unwrap();
    assert_eq!(words, [(1, "A".into()), (2, "BC".into()), (3, "DEF".into())]);
    test.assert_no_leaks();
}

#[test]
fn an_error_of_the_function_that_looks_like_an_end_is_a_failure() {
    // It fails to send into its own channel, of items of the same type.
    let (closed, receiver) = Channel::<u64>::unbounded();
    drop(receiver);
    let sent = Mutex::new(closed);
    let fiber = parallel_map(0..3_u64, 1, move |n| sent.lock().send(n).map(move |()| n)).feed(collect);
    assert!(TestScheduler::new().run(fiber).is_failure());
}
