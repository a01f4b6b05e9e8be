//! Time limits whose bodies only wait: they have no node where nobody observes, and must not differ from those that have one.

use std::future::{Future, IntoFuture, poll_fn};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, SystemTime};

use crate::support::{Counter, Steps};
use fiber_core::error::{Abandoned, DeadlineExceeded, TimedOut};
use fiber_core::scheduler::{Cx, Scheduler, Task, TaskKind, TimerKey, Wait, Wakeup};
use fiber_core::sync::Channel;
use fiber_core::{Context, Either, Fiber, Handle, Instant, Outcome};
use fiber_sched::{CurrentThread, Pool};
use futures_util::future::{join, join5};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);

/// One that observes, and one that does not.
fn both(budget: u32) -> [Steps; 2] {
    [Steps::new(7, budget), Steps::new(7, budget).blind()]
}

fn at(seconds: u32) -> Instant {
    Instant::EPOCH + seconds * SECOND
}

fn run<T: Send + 'static>(steps: &Steps, fiber: Fiber<T>) -> Outcome<T> {
    let handle = steps.spawn(fiber);
    steps.run(usize::MAX);
    assert_eq!(steps.timers().1, 0, "a timer is left");
    handle.try_outcome().expect("the fiber has ended")
}

fn times_out<T: std::fmt::Debug>(outcome: Outcome<T>, after: Duration) {
    let error = outcome.failure().expect("a failure");
    assert_eq!(error.downcast_ref::<TimedOut>().expect("a timeout").after(), after);
}

#[test]
fn a_timer_is_set_once_however_many_waits_follow() {
    for budget in [1, 100] {
        for steps in both(budget) {
            let body = Fiber::for_each(0..100, |_| Fiber::yield_now());
            assert!(run(&steps, body.timeout(HOUR).boxed()).is_success());
            assert_eq!(steps.timers(), (1, 0));
        }
    }
}

#[test]
fn messages_in_one_limit_set_one_timer() {
    for steps in both(10) {
        let (to, from) = Channel::bounded(1);
        let gives = Fiber::for_each(0..50, move |n| to.send(n));
        let takes = Fiber::for_each(0..50, move |_| from.recv().map(drop)).timeout(HOUR);
        let whole = gives.fork().bind(move |gives| takes.bind(move |()| gives.join())).boxed();
        assert!(run(&steps, whole).is_success());
        assert_eq!(steps.timers(), (1, 0));
    }
}

/// The child is made long after the first wait. It ends before the timeout does.
#[test]
fn a_fork_after_a_wait_is_cancelled_and_awaited_by_the_end_of_the_limit() {
    for steps in both(10) {
        let cleanups = Counter::default();
        let child = Fiber::<()>::never().ensure(Fiber::delay(SECOND).bind({
            let count = cleanups.clone();
            move |()| count.count()
        }));
        let body = Fiber::delay(SECOND).bind(move |()| child.fork().bind(|child| child.join()));
        times_out(run(&steps, body.timeout(3 * SECOND).boxed()), 3 * SECOND);
        assert_eq!(cleanups.get(), 1);
        assert_eq!(steps.now(), at(4));
    }
}

#[test]
fn a_fork_after_a_wait_is_awaited_at_the_end_of_the_body() {
    for steps in both(10) {
        let cleanups = Counter::default();
        let child = Fiber::<()>::never().ensure(Fiber::delay(SECOND).bind({
            let count = cleanups.clone();
            move |()| count.count()
        }));
        let body = Fiber::yield_now().bind(move |()| child.fork().bind(|_| Fiber::delay(SECOND)).map(|()| 7));
        let seen = cleanups.clone();
        let whole = body.timeout(HOUR).map(move |seven| (seven, seen.get()));
        assert_eq!(run(&steps, whole.boxed()).unwrap(), (7, 1));
    }
}

/// The limit gets its node in the turn in which it ends.
#[test]
fn a_fork_in_the_last_turn_is_awaited_too() {
    for steps in both(100) {
        let body = Fiber::yield_now().bind(|()| Fiber::delay(HOUR).fork()).map(drop);
        assert!(run(&steps, body.timeout(9 * HOUR).boxed()).is_success());
        assert_eq!(steps.now(), Instant::EPOCH);
    }
}

#[test]
fn an_end_while_the_body_is_uncancelable_waits_for_it() {
    for steps in both(10) {
        let body = Fiber::delay(3 * SECOND).uncancelable().bind(|()| Fiber::<()>::never());
        times_out(run(&steps, body.timeout(SECOND).boxed()), SECOND);
        assert_eq!(steps.now(), at(3));
        let stubborn = Fiber::yield_now().bind(|()| Fiber::delay(3 * SECOND).map(|()| 7).uncancelable());
        assert_eq!(run(&steps, stubborn.timeout(SECOND).boxed()).unwrap(), 7);
    }
}

#[test]
fn a_finalizer_in_the_body_is_awaited() {
    for steps in both(10) {
        let body = Fiber::yield_now().bind(|()| Fiber::<()>::never().ensure(Fiber::delay(5 * SECOND)));
        times_out(run(&steps, body.timeout(SECOND).boxed()), SECOND);
        assert_eq!(steps.now(), at(5 + 1));
    }
}

#[test]
fn an_end_while_the_loser_of_a_race_is_finalized_does_not_undo_the_race() {
    for steps in both(10) {
        let loser = Fiber::<()>::never().ensure(Fiber::delay(3 * SECOND));
        let race = loser.race(Fiber::yield_now().map(|()| 7)).timeout(SECOND);
        assert!(matches!(run(&steps, race.boxed()).unwrap(), Either::Right(7)));
        assert_eq!(steps.now(), at(3));
    }
}

#[test]
fn of_nested_limits_the_one_that_ends_says_so() {
    for (inner, outer) in [(1, 9), (9, 1), (2, 2)] {
        for steps in both(10) {
            let body = Fiber::yield_now().bind(|()| Fiber::<u8>::never());
            let inside = body.timeout(inner * SECOND).catch(|error| {
                assert!(error.is::<TimedOut>());
                Fiber::success(1)
            });
            let outcome = run(&steps, Fiber::yield_now().bind(|()| inside).timeout(outer * SECOND).boxed());
            if inner < outer {
                assert_eq!(outcome.unwrap(), 1);
            } else if outer < inner {
                times_out(outcome, outer * SECOND);
            }
            assert_eq!(steps.now(), at(inner.min(outer)));
        }
    }
}

/// The body notices both ends when its uncancelable wait is over. Only then does the inner limit get a node, in one that has ended.
#[test]
fn of_nested_limits_that_end_in_an_uncancelable_wait_the_first_one_counts() {
    for (inner, outer, given) in [(1, 5, Some(None)), (5, 1, None)] {
        for steps in both(10) {
            let body = Fiber::delay(9 * SECOND).uncancelable().bind(|()| Fiber::<u8>::never());
            let limited = body.timeout_option(inner * SECOND).timeout(outer * SECOND);
            let outcome = run(&steps, limited.boxed());
            match given {
                Some(given) => assert_eq!(outcome.unwrap(), given),
                None => times_out(outcome, outer * SECOND),
            }
            assert_eq!(steps.now(), at(9));
        }
    }
}

#[test]
fn a_limit_that_is_over_counts_though_the_fiber_is_cancelled_later() {
    for steps in both(10) {
        let body = Fiber::delay(9 * SECOND).uncancelable().bind(|()| Fiber::<u8>::never());
        let handle = steps.spawn(body.timeout_option(SECOND));
        steps.run_until(at(5));
        handle.cancel_now();
        steps.run(usize::MAX);
        assert_eq!(handle.try_outcome().unwrap().unwrap(), None);
    }
}

#[test]
fn a_cancellation_at_the_instant_of_the_end_comes_first_or_second() {
    for (first, is_cancelled) in [(true, true), (false, false)] {
        for steps in both(10) {
            let limited: Fiber<()> = Fiber::yield_now().bind(|()| Fiber::never()).timeout(SECOND).boxed();
            // The timers of one instant are due in the order in which they were set.
            let target = Arc::new(Mutex::new(None::<Context>));
            let seen = target.clone();
            let cancels = move || {
                Fiber::delay(SECOND).map(move |()| seen.lock().unwrap().as_ref().unwrap().cancel()).boxed()
            };
            let early = first.then(|| steps.spawn(cancels.clone()()));
            steps.run(1);
            let handle = steps.spawn(limited);
            *target.lock().unwrap() = Some(handle.context().clone());
            steps.run_until(at(0));
            let late = (!first).then(|| steps.spawn(cancels()));
            steps.run(usize::MAX);
            drop((early, late));
            let outcome = handle.try_outcome().unwrap();
            assert_eq!(outcome.is_cancelled(), is_cancelled, "{outcome:?}");
        }
    }
}

#[test]
fn a_fiber_that_is_cancelled_or_abandoned_in_its_limit_leaves_no_timer() {
    for steps in both(10) {
        let limited = || -> Fiber<()> { Fiber::yield_now().bind(|()| Fiber::never()).timeout(HOUR).boxed() };
        let cancelled = steps.spawn(limited());
        steps.run_until(at(1));
        assert_eq!(steps.timers().1, 1);
        cancelled.cancel_now();
        steps.run_until(at(2));
        assert!(cancelled.try_outcome().unwrap().is_cancelled());
        assert_eq!(steps.timers().1, 0);
    }
    let steps = Steps::new(7, 10).blind();
    let abandoned = steps.spawn(Fiber::yield_now().bind(|()| Fiber::<()>::never()).timeout(HOUR));
    steps.run_until(at(1));
    abandoned.context().abandon();
    assert!(abandoned.try_outcome().unwrap().failure().unwrap().is::<Abandoned>());
    assert_eq!(steps.timers().1, 0);
    // Also after the limit has got a node.
    let forks = || Fiber::yield_now().bind(|()| Fiber::<()>::never().fork()).bind(|_| Fiber::<()>::never());
    let abandoned = steps.spawn(forks().timeout(HOUR));
    steps.run_until(at(2));
    assert_eq!(steps.timers().1, 1);
    abandoned.context().children()[0].abandon();
    steps.run_until(at(3));
    assert!(abandoned.try_outcome().unwrap().failure().unwrap().is::<Abandoned>());
    assert_eq!(steps.timers().1, 0);
}

/// Ids are the same whether somebody observes or not, so a recording of one can be followed by the other.
#[test]
fn fibers_in_and_after_limits_have_the_same_ids_everywhere() {
    let ids = || {
        let child = || Fiber::current().map(|context| context.id()).fork().bind(Handle::join);
        let waits = || Fiber::yield_now();
        waits()
            .timeout(HOUR)
            .bind(move |()| child())
            .bind(move |first| {
                let inside = waits().bind(move |()| child()).timeout(HOUR);
                inside.map(move |second| (first, second))
            })
            .bind(move |(first, second)| {
                let nested = waits().timeout(HOUR).bind(move |()| waits().timeout(HOUR)).timeout(HOUR);
                nested.bind(move |()| child()).map(move |third| [first, second, third])
            })
            .boxed()
    };
    let [observed, blind] = both(10).map(|steps| run(&steps, ids()).unwrap());
    assert_eq!(observed, blind);
    assert_eq!(observed, ["0.1", "0.2.0", "0.4"]);
}

/// Of fibers that a block awaits side by side, all but one move apart. Each takes its limit along.
#[test]
fn limits_that_are_awaited_side_by_side_end_each_at_its_time() {
    for steps in both(10) {
        let body = || Fiber::delay(2 * SECOND).bind(|()| Fiber::delay(3 * SECOND)).bind(|()| Fiber::now());
        let ended = run(
            &steps,
            Fiber::from_future(async move {
                let none = async { Ok::<_, fiber_core::Error>(None) };
                let all = join5(
                    body().timeout_option(SECOND).into_future(),
                    body().timeout_option(3 * SECOND).into_future(),
                    none,
                    body().timeout_option(6 * SECOND).into_future(),
                    // Its end waits for the region.
                    body().uncancelable().map(Some).timeout_option(4 * SECOND).into_future(),
                );
                Ok::<_, fiber_core::Error>(all.await)
            })
            .boxed(),
        );
        let (one, three, none, six, four) = ended.unwrap();
        assert_eq!(
            [one.unwrap(), three.unwrap(), none.unwrap(), six.unwrap()],
            [None, None, None, Some(at(5))]
        );
        assert_eq!(four.unwrap(), Some(Some(at(5))));
        assert_eq!(steps.now(), at(5));
    }
}

/// The block goes on without the awaited fiber, whose limit must not reach what the block waits for next.
#[test]
fn a_limit_that_moves_apart_leaves_the_block_alone() {
    for steps in both(10) {
        let (started, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (s, e) = (started.clone(), ended.clone());
        let forks = Fiber::yield_now().bind(move |()| {
            let ends = Fiber::lazy(move || _ = e.fetch_add(1, Ordering::Relaxed));
            s.fetch_add(1, Ordering::Relaxed);
            Fiber::<()>::never().ensure(ends).fork().bind(|_| Fiber::<()>::never())
        });
        let fiber = Fiber::from_future(async move {
            let mut limited = Box::pin(forks.timeout_option(2 * SECOND).into_future());
            assert!(poll_fn(|task| Poll::Ready(limited.as_mut().poll(task).is_pending())).await);
            Fiber::delay(SECOND).timeout(3 * SECOND).await?;
            let before = Fiber::now().await?;
            Fiber::delay(4 * SECOND).await?;
            let over = limited.await?;
            let mut dropped = Box::pin(Fiber::<()>::never().timeout(9 * SECOND).into_future());
            assert!(poll_fn(|task| Poll::Ready(dropped.as_mut().poll(task).is_pending())).await);
            drop(dropped);
            Ok::<_, fiber_core::Error>((before, over, Fiber::now().await?))
        });
        assert_eq!(run(&steps, fiber.boxed()).unwrap(), (at(1), None, at(5)));
        assert_eq!((started.load(Ordering::Relaxed), ended.load(Ordering::Relaxed)), (1, 1));
    }
}

/// The event of its wait is none of the side that is the block: nothing would release the race when the fiber waits again.
#[test]
fn what_moves_apart_from_a_block_in_a_race_does_not_hold_the_race() {
    let first = || Fiber::delay(2 * SECOND);
    let bodies: [fn(Fiber<()>) -> Fiber<()>; 3] = [
        |first| first.timeout(HOUR).boxed(),
        |first| first.timeout(HOUR).bind(|()| Fiber::yield_now()).timeout(2 * HOUR).boxed(),
        |first| first.race(Fiber::<()>::never()).map(drop).boxed(),
    ];
    for body in bodies {
        for steps in both(10) {
            let goes_on = body(first().boxed()).bind(|()| Fiber::<()>::never());
            let block = Fiber::from_future(async {
                let both = join(Fiber::delay(SECOND).into_future(), goes_on.into_future());
                let (ended, other) = both.await;
                ended.and(other)
            });
            let winner = run(&steps, block.race(Fiber::delay(5 * SECOND)).boxed()).unwrap();
            assert!(matches!(winner, Either::Right(())));
            assert_eq!(steps.now(), at(5));
        }
    }
}

#[test]
fn a_deadline_can_be_read_after_a_wait() {
    for steps in both(10) {
        let body = Fiber::yield_now().bind(|()| Fiber::current()).map(|context| context.deadline());
        assert_eq!(run(&steps, body.with_deadline(at(9)).boxed()).unwrap(), Some(at(9)));
        let late = Fiber::yield_now().bind(|()| Fiber::<()>::never()).with_deadline(at(9));
        assert!(run(&steps, late.boxed()).failure().unwrap().is::<DeadlineExceeded>());
    }
}

#[test]
fn a_dump_shows_a_limit_without_a_node_as_a_part() {
    let steps = Steps::new(7, 10).blind();
    let root = steps.context().clone();
    let _handle = steps.spawn(Fiber::yield_now().bind(|()| Fiber::<()>::never()).with_deadline(at(9)));
    steps.run_until(at(1));
    let dump = root.dump().to_string();
    let lines: Vec<_> = dump.lines().map(|line| line.split(" (").next().unwrap().trim()).collect();
    assert_eq!(lines[1..], ["fiber 0", "part 0.0 \"with_deadline\""], "{dump}");
    assert!(dump.contains("is in its part 0.0\n"), "{dump}");
    assert!(dump.ends_with("(never) (wait 1), has to end by 9s"), "{dump}");
}

#[test]
fn a_limit_ends_a_body_that_goes_on_without_a_wait_after_its_first() {
    let scheduler = crate::support::Tireless::new().blind();
    let endless = Fiber::yield_now()
        .bind(|()| Fiber::iterate((), |()| Fiber::success(std::ops::ControlFlow::<(), ()>::Continue(()))));
    times_out(scheduler.run(endless.timeout(100 * SECOND)), 100 * SECOND);
    let inside = Fiber::yield_now().bind(|()| {
        Fiber::iterate((), |()| {
            Fiber::success(std::ops::ControlFlow::<(), ()>::Continue(()))
                .zip(Fiber::success(()))
                .map(|(flow, ())| flow)
        })
    });
    times_out(scheduler.run(inside.timeout(100 * SECOND)), 100 * SECOND);
    scheduler.close();
}

/// Timers cannot be removed: they are on the way as soon as they were set, and come when the test wants.
#[derive(Default)]
struct Late {
    ready: Mutex<Vec<Task>>,
    timers: Mutex<Vec<Task>>,
    set: AtomicUsize,
}

impl Scheduler for Late {
    fn schedule(&self, task: Task) {
        self.ready.lock().unwrap().push(task);
    }

    fn schedule_at(&self, _: Instant, task: Task) -> TimerKey {
        self.timers.lock().unwrap().push(task);
        TimerKey::new(self.set.fetch_add(1, Ordering::Relaxed) as u64)
    }

    fn cancel_timer(&self, _: TimerKey) -> bool {
        false
    }

    fn now(&self) -> Instant {
        Instant::EPOCH
    }

    fn utc_now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn random_u64(&self) -> u64 {
        0
    }

    fn schedule_blocking(&self, task: Task) {
        self.schedule(task);
    }

    fn is_observer(&self) -> bool {
        false
    }
}

impl Late {
    fn run_one(&self) -> bool {
        let task = self.ready.lock().unwrap().pop();
        task.map(Task::run).is_some()
    }

    fn timer_comes(&self, drops: bool) {
        let task = self.timers.lock().unwrap().remove(0);
        assert_eq!(task.kind(), TaskKind::TimeOut);
        if drops { drop(task) } else { task.run() }
    }
}

/// The timer of a limit that was left comes while the fiber is in the next ones: it ends none of them.
#[test]
fn a_timer_that_comes_late_ends_no_other_limit() {
    for drops in [false, true] {
        for turns in 1..6 {
            let late = Arc::new(Late::default());
            let root = Context::root(late.clone());
            let rounds = Fiber::for_each(0..5, |_| Fiber::yield_now().timeout(SECOND));
            let handle = root.spawn(rounds);
            for turn in 0.. {
                if turn == turns {
                    late.timer_comes(drops);
                }
                if !late.run_one() {
                    break;
                }
            }
            let outcome = handle.try_outcome().unwrap();
            // It was in time for the limit that set it only in the first turn after that.
            match (turns, drops) {
                (1, false) => times_out(outcome, SECOND),
                (1, true) => assert!(outcome.is_cancelled() || outcome.is_failure()),
                _ => assert!(outcome.is_success(), "{outcome:?}"),
            }
            while !late.timers.lock().unwrap().is_empty() {
                late.timer_comes(drops);
            }
            root.cancel();
        }
    }
}

#[test]
fn limits_end_on_real_schedulers() {
    let milli = Duration::from_millis(1);
    let expires = move || Fiber::yield_now().bind(|()| Fiber::<()>::never()).timeout(milli);
    let forks = move || {
        Fiber::yield_now().bind(|()| Fiber::<()>::never().fork()).bind(|child| child.join()).timeout(milli)
    };
    let in_time = || Fiber::for_each(0..100, |_| Fiber::yield_now().timeout(HOUR));
    let ends = |outcomes: [Outcome<()>; 3]| {
        let [expired, forked, done] = outcomes;
        times_out(expired, milli);
        times_out(forked, milli);
        assert!(done.is_success());
    };
    let thread = CurrentThread::new();
    ends([thread.run(expires()), thread.run(forks()), thread.run(in_time())]);
    let pool = Pool::builder().workers(2).build();
    ends([pool.run(expires()), pool.run(forks()), pool.run(in_time())]);
}

/// Gives the deadline that it sees as it registers.
struct Deadline;

impl Wait for Deadline {
    type Out = Option<Instant>;

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<Self::Out>> {
        None
    }

    fn register(&mut self, cx: &Cx<'_>, _: Wakeup) -> Option<Outcome<Self::Out>> {
        Some(Outcome::Success(cx.context().deadline()))
    }

    fn deregister(&mut self, _: &Cx<'_>) {}
}

#[test]
fn a_wait_that_registers_sees_the_deadline() {
    for steps in both(10) {
        let later = || Fiber::yield_now().bind(move |()| Fiber::wait(Deadline));
        let sees = |deadline, fiber| assert_eq!(run(&steps, fiber).unwrap(), deadline);
        sees(None, later().boxed());
        sees(Some(at(2)), Fiber::wait(Deadline).with_deadline(at(2)).boxed());
        sees(Some(at(2)), later().with_deadline(at(2)).boxed());
        sees(Some(at(1)), later().with_deadline(at(2)).with_deadline(at(1)).boxed());
        sees(Some(at(1)), later().with_deadline(at(2)).timeout(HOUR).with_deadline(at(1)).boxed());
        sees(None, later().timeout(HOUR).boxed());
        sees(None, later().with_deadline(at(2)).bind(move |_| later()).boxed());
    }
}
