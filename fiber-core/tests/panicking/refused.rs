//! If the start of a combinator panics, or a scheduler drops tasks or panics, every fiber still ends, and none
//! is left.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Answer, Call, Counter, Queue, Steps, WHIM};
use fiber_core::error::Abandoned;
use fiber_core::scheduler::{Cx, Step, Wait, Wakeup};
use fiber_core::{Context, Fiber, Instant, Outcome, Run, Scope};
use fiber_test::TestScheduler;

const SECOND: Duration = Duration::from_secs(1);
const CALLS: [Call; 6] =
    [Call::Schedule, Call::ScheduleAt, Call::CancelTimer, Call::Checkpoint, Call::Budget, Call::Observe];

fn quiet() {
    std::panic::set_hook(Box::new(|info| {
        let is_whim = info.payload().downcast_ref::<String>().is_some_and(|text| text == WHIM);
        let is_planned =
            info.payload().downcast_ref::<&str>().is_some_and(|text| text.starts_with("planned"));
        if !is_whim && !is_planned {
            eprintln!("{info}");
        }
    }));
}

/// One program of each kind, all of which end by themselves.
fn zoo() -> Vec<Fiber<()>> {
    let nap = || Fiber::delay(SECOND);
    let naps = || (0..3).map(move |_| nap());
    let forks = move |scope: Scope| {
        let all = scope.await_all();
        scope.fork(nap()).bind(move |_| all)
    };
    vec![
        nap().boxed(),
        Fiber::yield_now().bind(|()| Fiber::success(())).boxed(),
        nap().timeout(2 * SECOND).boxed(),
        Fiber::<()>::never().timeout_option(SECOND).map(drop).boxed(),
        Fiber::<()>::never().with_deadline(Instant::EPOCH + SECOND).catch(|_| Fiber::success(())).boxed(),
        Fiber::<()>::never().timeout_disconnect(SECOND).catch(|_| Fiber::success(())).boxed(),
        Fiber::<()>::never().timeout_with_grace(SECOND, SECOND).catch(|_| Fiber::success(())).boxed(),
        nap().zip(nap()).map(drop).boxed(),
        nap().race(Fiber::<()>::never()).map(drop).boxed(),
        nap().race_with(Fiber::<()>::never()).map(drop).boxed(),
        Fiber::race_all(naps()).boxed(),
        Fiber::first_success(naps()).boxed(),
        Fiber::parallel(naps()).map(drop).boxed(),
        Fiber::parallel(naps()).limit(1).map(drop).boxed(),
        Fiber::scope(forks).boxed(),
        nap().fork().bind(|child| child.join()).boxed(),
        nap().fork().bind(|child| child.cancel()).boxed(),
        nap().fork().bind(|_| Fiber::yield_now()).boxed(),
        nap().detach().bind(|child| child.ended()).boxed(),
        nap().disconnect().boxed(),
        Fiber::blocking(|| ()).boxed(),
        Fiber::callback(|resume| resume.success(())).boxed(),
        nap().uncancelable().zip(nap()).map(drop).boxed(),
        Fiber::for_each(0..3, move |_| nap()).boxed(),
    ]
}

/// A scheduler that gives this answer to the `number`th call of the method, and works correctly in all others.
fn with_one_fault(call: Call, number: usize, answer: Answer) -> Steps {
    let mut left = number;
    Steps::with_whim(
        0,
        3,
        Box::new(move |called| {
            let is_it = called == call && left == 0;
            if called == call {
                left = left.wrapping_sub(1);
            }
            if is_it { answer } else { Answer::Properly }
        }),
    )
}

/// Runs every program of the zoo, once for each call that it makes with this answer to that call.
fn every_program_ends(call: Call, answer: Answer) {
    quiet();
    for index in 0..zoo().len() {
        for number in 0..40 {
            let steps = with_one_fault(call, number, answer);
            let finalized = Counter::default();
            let fiber = zoo().swap_remove(index).ensure(finalized.count());
            let handle = steps.spawn(fiber);
            steps.run(10_000);
            let what = format!("program {index}, {call:?} {number}");
            assert!(handle.is_finished(), "{what} hangs");
            // Fibers that were detached by one that was abandoned before it could cancel them.
            steps.close();
            assert_eq!(steps.live_fibers(), 0, "{what} leaves something");
            let is_abandoned = match handle.try_outcome().unwrap() {
                Outcome::Failure(error) => error.is::<Abandoned>(),
                Outcome::Success(()) | Outcome::Cancelled => false,
                // `schedule_blocking` is called by a leaf.
                Outcome::Panicked(panic) => {
                    assert_eq!(panic.message(), WHIM);
                    false
                }
            };
            assert!(finalized.get() == 1 || finalized.get() == 0 && is_abandoned, "{what} is not finalized");
        }
    }
}

#[test]
fn a_scheduler_that_panics_once() {
    CALLS.iter().for_each(|&call| every_program_ends(call, Answer::Panic));
}

#[test]
fn a_scheduler_that_throws_one_task_away() {
    every_program_ends(Call::Schedule, Answer::Drop);
    every_program_ends(Call::ScheduleAt, Answer::Drop);
}

#[test]
fn a_timeout_whose_timer_is_thrown_away_fails_as_abandoned_after_its_finalizers() {
    let finalized = Counter::default();
    let queue = Arc::new(Queue::default());
    let root = Context::root(queue.clone());
    let handle = root.spawn(Fiber::<()>::never().ensure(finalized.count()).timeout(SECOND));
    queue.pop().unwrap().run();
    drop(queue.pop().expect("the timer"));
    queue.drain();
    assert!(handle.try_outcome().unwrap().failure().unwrap().is::<Abandoned>());
    assert_eq!(finalized.get(), 1);
    root.cancel();
}

#[test]
fn a_grace_whose_timer_is_thrown_away_fails_as_abandoned() {
    quiet();
    let mut timers = 0;
    let first_timer = move |call| {
        timers += u32::from(call == Call::ScheduleAt);
        if call == Call::ScheduleAt && timers == 1 { Answer::Drop } else { Answer::Properly }
    };
    let steps = Steps::with_whim(0, 1, Box::new(first_timer));
    let handle = steps.spawn(Fiber::<()>::never().timeout_with_grace(SECOND, SECOND));
    steps.run(usize::MAX);
    assert!(handle.try_outcome().unwrap().failure().unwrap().is::<Abandoned>());
    assert_eq!(steps.live_fibers(), 0);
}

#[test]
fn a_timer_that_is_stopped_in_time_was_not_thrown_away() {
    let test = TestScheduler::new();
    assert!(test.run(Fiber::delay(SECOND).timeout(2 * SECOND)).is_success());
    let handle = test.spawn(Fiber::<()>::never().timeout(2 * SECOND));
    test.run_for(SECOND);
    handle.cancel_now();
    test.run_until_idle();
    assert!(handle.outcome().is_cancelled());
    let outcome =
        test.run(Fiber::delay(SECOND).map_outcome(|_| Outcome::<()>::Cancelled).timeout(2 * SECOND));
    assert!(outcome.is_cancelled());
}

#[test]
fn a_wait_whose_task_is_thrown_away_at_once_never_succeeds() {
    for call in [Call::Schedule, Call::ScheduleAt] {
        let slept = Counter::default();
        // The first task that is scheduled starts the fiber.
        let steps = with_one_fault(call, usize::from(call == Call::Schedule), Answer::Drop);
        let nap =
            if call == Call::Schedule { Fiber::yield_now().boxed() } else { Fiber::delay(SECOND).boxed() };
        let after = slept.count();
        let handle = steps.spawn(nap.bind(move |()| after));
        steps.run(100);
        assert!(handle.try_outcome().unwrap().failure().unwrap().is::<Abandoned>());
        assert_eq!(slept.get(), 0);
    }
}

/// Panics when it is dropped, unless the thread is already panicking.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("planned: in drop");
        }
    }
}

/// Some fibers; then the iterator misbehaves as configured.
struct Broken {
    left: u32,
    panics: bool,
    _bomb: Option<Bomb>,
}

impl Iterator for Broken {
    type Item = Fiber<()>;

    fn next(&mut self) -> Option<Fiber<()>> {
        if self.left == 0 {
            assert!(!self.panics, "planned: in next");
            return None;
        }
        self.left -= 1;
        Some(if self.left.is_multiple_of(2) {
            Fiber::yield_now().boxed()
        } else {
            Fiber::success(()).boxed()
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, Some(0))
    }
}

#[test]
fn parallel_of_an_iterator_that_panics_in_next_or_drop() {
    quiet();
    for (panics, bomb) in [(true, false), (false, true), (true, true)] {
        for left in 0..6 {
            for limit in [1, 2, 100] {
                let broken = || Broken { left, panics, _bomb: bomb.then(|| Bomb) };
                let test = TestScheduler::new();
                let outcome = test.run(Fiber::parallel(broken()).limit(limit));
                assert!(outcome.is_panicked(), "{outcome:?}");
                test.run_until_idle();
                test.assert_no_leaks();
                assert!(Queue::run(Fiber::parallel(broken()).limit(limit)).is_panicked());
            }
        }
    }
}

/// Forgets that it waits.
struct Forgetful<R>(R);

impl<R: Run<Out = ()>> Run for Forgetful<R> {
    type Out = ();

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, ()> {
        match self.0.run(cx) {
            Step::Done(outcome) => Step::Done(outcome),
            Step::Wait(waiting) => {
                drop(waiting);
                Step::Done(Outcome::Success(()))
            }
        }
    }
}

/// Panics instead of waiting.
struct Torn<R>(R);

impl<R: Run<Out = ()>> Run for Torn<R> {
    type Out = ();

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, ()> {
        match self.0.run(cx) {
            Step::Done(outcome) => Step::Done(outcome),
            Step::Wait(_waiting) => panic!("planned: instead of a wait"),
        }
    }
}

/// Waits for two things at once.
struct Twice<R>(R, R);

impl<R: Run<Out = ()>> Run for Twice<R> {
    type Out = ();

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, ()> {
        let first = self.0.run(cx);
        drop(self.1.run(cx));
        first
    }
}

#[test]
fn a_run_that_waits_for_two_things_at_once_is_refused() {
    quiet();
    for after in [false, true] {
        let test = TestScheduler::new();
        let delay = || Fiber::delay(SECOND).into_run();
        let twice = Fiber::new(Twice(delay(), delay()));
        let first = if after { Fiber::yield_now().boxed() } else { Fiber::success(()).boxed() };
        let spawned = test.spawn(first.bind(move |()| twice));
        test.run_until_idle();
        assert!(!spawned.try_outcome().expect("the fiber has ended").is_success());
        test.assert_no_leaks();
    }
}

#[test]
fn a_dropped_wait_leaves_its_fiber_cancelable() {
    let test = TestScheduler::new();
    let masked = Fiber::<()>::never().uncancelable();
    let forgetful = Fiber::new(Forgetful(masked.into_run()));
    let fiber = Fiber::yield_now().bind(move |()| forgetful).bind(|()| Fiber::<()>::never());
    let spawned = test.spawn(fiber.timeout(SECOND));
    test.run_until_idle();
    assert!(spawned.try_outcome().expect("the fiber has ended").is_failure());
    test.assert_no_leaks();
}

/// Runs a fiber in its own context when it is asked whether it has to wait.
struct Busy<R>(Option<R>);

impl<R: Run<Out = ()>> Wait for Busy<R> {
    type Out = ();

    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<()>> {
        match self.0.take()?.run(cx) {
            Step::Done(outcome) => Some(outcome),
            Step::Wait(_) => None,
        }
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
        drop(wakeup);
        self.poll(cx)
    }

    fn deregister(&mut self, _: &Cx<'_>) {}
}

#[test]
fn a_leaf_that_runs_a_fiber_which_waits_is_refused() {
    quiet();
    let test = TestScheduler::new();
    let spawned = test.spawn(Fiber::wait(Busy(Some(Fiber::delay(SECOND).into_run()))));
    test.run_until_idle();
    assert!(!spawned.try_outcome().expect("the fiber has ended").is_success());
    test.assert_no_leaks();
}

/// A thread that lends nothing.
struct Here;

impl fiber_core::scheduler::Worker for Here {}

#[test]
fn a_fiber_that_is_run_here_and_panics_where_it_has_to_wait_ends() {
    quiet();
    let test = TestScheduler::new();
    let torn = Fiber::new(Torn(Fiber::delay(SECOND).into_run()));
    let handle = test.context().run_here(torn, &Here).expect_err("it has a context");
    assert!(handle.try_outcome().expect("the fiber has ended").is_panicked());
    test.assert_no_leaks();
}

#[test]
fn a_wait_that_is_dropped_leaves_nothing() {
    quiet();
    for index in 0..zoo().len() {
        let program = || zoo().swap_remove(index).into_run();
        let wrapped: [Fiber<()>; 2] =
            [Fiber::new(Forgetful(program())).boxed(), Fiber::new(Torn(program())).boxed()];
        for fiber in wrapped {
            let test = TestScheduler::new();
            let outcome = test.run(fiber.zip(Fiber::success(())).map(drop));
            drop(outcome);
            // Fibers that were detached by one that was torn down before it could cancel them.
            test.context().cancel();
            test.run_until_idle();
            test.assert_no_leaks();
        }
    }
}

#[test]
fn a_turn_that_unwinds_runs_what_others_have_put_off() {
    quiet();
    // Deep enough that the engine bounces to the bottom of the stack.
    fn deep(levels: u32) -> Fiber<u32> {
        if levels == 0 {
            return Fiber::success(0).boxed();
        }
        Fiber::defer(move || deep(levels - 1)).map(|n| n + 1).boxed()
    }
    let steps = Steps::new(0, 1_000_000);
    let result = Arc::new(Mutex::new(None));
    let place = result.clone();
    let other = deep(2_000).map(move |n| *place.lock().unwrap() = Some(n));
    let torn = other.detach().bind(|other| other.join()).boxed();
    // Not in the first turn, whose panic is that of the fiber.
    let torn = steps.spawn(Fiber::yield_now().bind(move |()| Fiber::new(Torn(torn.into_run()))));
    steps.run(2);
    assert_eq!(*result.lock().unwrap(), Some(2_000));
    steps.run(1000);
    assert!(torn.is_finished());
    assert_eq!(steps.live_fibers(), 0);
}

#[test]
fn fibers_that_are_spawned_together_end_also_if_the_scheduler_panics_in_between() {
    quiet();
    for fault in 0..4 {
        let steps = with_one_fault(Call::Schedule, fault, Answer::Panic);
        let handles = steps.context().spawn_all((0..3).map(Fiber::success));
        steps.run(10);
        for (index, handle) in handles.into_iter().enumerate() {
            match handle.try_outcome().expect("it has ended") {
                Outcome::Success(value) => assert!(index < fault && value == index),
                other => assert!(index >= fault && other.failure().unwrap().is::<Abandoned>()),
            }
        }
    }
}

#[test]
fn fibers_that_are_spawned_together_below_an_ended_fiber_are_cancelled() {
    let test = TestScheduler::new();
    let ended = test.run(Fiber::current()).unwrap();
    let handles = ended.spawn_all((0..3).map(Fiber::success));
    test.run_until_idle();
    assert!(handles.into_iter().all(|handle| handle.try_outcome().unwrap().is_cancelled()));
}

#[test]
fn an_iterator_that_panics_spawns_nothing() {
    quiet();
    let test = TestScheduler::new();
    let fibers = (0..3).map(|n| if n == 2 { panic!("planned") } else { Fiber::success(n) });
    let root = test.context();
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| root.spawn_all(fibers))).is_err());
    assert_eq!(test.live_fibers(), 0);
}
