//! User code that panics outside of combinator closures: in a `Drop`, a `Display`, a conversion. Every
//! fiber still ends, and nothing of it is left.

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use crate::support::{Counter, Queue, Steps};
use fiber_core::error::IntoError;
use fiber_core::{Context, Error, Fiber, Handle, Outcome, Panic, Raced, Run};
use fiber_sched::{Pool, Shutdown};
use fiber_test::TestScheduler;

const SECOND: Duration = Duration::from_secs(1);

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("in drop")
        }
    }
}

fn quiet() {
    std::panic::set_hook(Box::new(|_| {}));
}

/// Makes a closure own the bomb.
fn hold(_: &Bomb) {}

/// A failure whose `map` is never called: the engine drops its closure, which owns a bomb.
fn failure_with_a_bomb() -> Fiber<()> {
    let bomb = Bomb;
    let keep = move |()| hold(&bomb);
    Fiber::<()>::fail(Error::msg("e")).map(keep).boxed()
}

#[track_caller]
fn panic_of<T: std::fmt::Debug>(outcome: Outcome<T>) -> Panic {
    let Outcome::Panicked(panic) = outcome else { panic!("{outcome:?}") };
    panic
}

#[track_caller]
fn ends_and_leaves_nothing<T: Send + 'static, R: Run<Out = T>>(fiber: Fiber<T, R>) -> Outcome<T> {
    quiet();
    let test = TestScheduler::new();
    let outcome = test.try_run(fiber).unwrap_or_else(|report| panic!("{report}"));
    test.run_until_idle();
    test.assert_no_leaks();
    outcome
}

#[test]
fn a_closure_that_is_dropped_unused() {
    assert!(!ends_and_leaves_nothing(failure_with_a_bomb()).is_success());
    assert!(!Queue::run(failure_with_a_bomb()).is_success());
}

#[test]
fn a_closure_that_is_dropped_after_a_wait() {
    let late = Fiber::yield_now().bind(|()| failure_with_a_bomb());
    assert!(!ends_and_leaves_nothing(late).is_success());
}

#[test]
fn finalizers_around_a_closure_that_is_dropped_unused() {
    quiet();
    let finalized = Counter::default();
    let test = TestScheduler::new();
    let now = failure_with_a_bomb().ensure(finalized.count());
    assert_eq!(panic_of(test.run(now)).message(), "in drop");
    let bomb = Bomb;
    let late = Fiber::<()>::never().map(move |()| hold(&bomb)).ensure(finalized.count());
    let late = test.spawn(late);
    test.run_until_idle();
    late.cancel_now();
    test.run_until_idle();
    assert_eq!(panic_of(late.outcome()).message(), "in drop");
    assert_eq!(finalized.get(), 2);
}

#[test]
fn a_future_that_panics_and_then_in_its_drop() {
    /// Panics in its first or second poll, and when it is dropped.
    struct Broken(bool, Bomb);
    impl Future for Broken {
        type Output = Result<(), Error>;
        fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
            assert!(std::mem::take(&mut self.0), "in poll");
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    }
    quiet();
    for waits in [false, true] {
        let finalized = Counter::default();
        let fiber = Fiber::from_future(Broken(waits, Bomb)).ensure(finalized.count());
        let panic = panic_of(TestScheduler::new().run(fiber));
        assert_eq!(panic.message(), "in poll");
        assert_eq!(panic.suppressed()[0].to_string(), "panic: in drop");
        assert_eq!(finalized.get(), 1);
    }
}

#[test]
fn a_closure_that_is_dropped_under_a_timeout() {
    assert!(!ends_and_leaves_nothing(failure_with_a_bomb().timeout(SECOND)).is_success());
    let late = Fiber::yield_now().bind(|()| failure_with_a_bomb()).timeout(SECOND);
    assert!(!ends_and_leaves_nothing(late).is_success());
}

#[test]
fn a_closure_that_is_dropped_in_a_child_that_is_joined() {
    let joined =
        failure_with_a_bomb().fork().bind(|child| child.outcome()).map(|outcome| outcome.is_success());
    assert!(!ends_and_leaves_nothing(joined).unwrap());
    let joined =
        failure_with_a_bomb().fork().bind(|child| child.outcome()).map(|outcome| outcome.is_success());
    assert!(!Queue::run(joined).unwrap());
}

#[test]
fn a_torn_fiber_takes_its_forks_with_it() {
    let finalized = Counter::default();
    let child = Fiber::<()>::never().ensure(finalized.count());
    let torn = child
        .fork()
        .bind(|_| Fiber::yield_now())
        .bind(|()| Fiber::yield_now())
        .bind(|()| failure_with_a_bomb());
    assert!(!ends_and_leaves_nothing(torn).is_success());
    assert_eq!(finalized.get(), 1);
}

#[test]
fn the_value_of_a_loser_whose_winner_succeeded() {
    let loser = Fiber::delay(SECOND).map(|()| Bomb).uncancelable();
    assert!(ends_and_leaves_nothing(Fiber::delay(SECOND / 2).race(loser).map(drop)).is_success());
}

#[test]
fn the_value_of_a_loser_whose_winner_failed() {
    let winner = Fiber::delay(SECOND / 2).bind(|()| Fiber::<()>::fail(Error::msg("genuine")));
    let loser = Fiber::delay(SECOND).map(|()| Bomb).uncancelable();
    let outcome = ends_and_leaves_nothing(winner.race(loser).map(drop));
    assert_eq!(outcome.failure().unwrap().to_string(), "genuine");
}

#[test]
fn an_error_that_cannot_be_printed() {
    #[derive(Debug)]
    struct Rude;
    impl fmt::Display for Rude {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("display")
        }
    }
    impl std::error::Error for Rude {}
    let loser = Fiber::delay(SECOND).try_map(|()| Err::<(), _>(Rude)).uncancelable();
    assert!(ends_and_leaves_nothing(Fiber::delay(SECOND / 2).race(loser).map(drop)).is_success());
}

#[test]
fn an_error_that_cannot_be_converted() {
    struct Stubborn;
    impl IntoError for Stubborn {
        fn into_error(self) -> Error {
            panic!("conversion")
        }
    }
    assert!(ends_and_leaves_nothing(Fiber::try_lazy(|| Err::<(), _>(Stubborn))).is_panicked());
}

#[test]
fn a_waker_that_panics_at_the_end_of_a_fiber() {
    struct Broken;
    impl Wake for Broken {
        fn wake(self: Arc<Self>) {
            panic!("in wake")
        }
    }
    quiet();
    let test = TestScheduler::new();
    let mut future = IntoFuture::into_future(test.spawn(Fiber::delay(SECOND)).into_handle());
    let waker = Waker::from(Arc::new(Broken));
    let polled = std::pin::Pin::new(&mut future).poll(&mut std::task::Context::from_waker(&waker));
    assert!(polled.is_pending());
    test.run_until_idle();
    test.assert_no_leaks();
}

#[test]
fn a_task_that_its_scheduler_throws_away() {
    quiet();
    let queue = Arc::new(Queue::default());
    let root = Context::root(queue.clone());
    let bomb = Bomb;
    let handle = root.spawn(Fiber::lazy(move || hold(&bomb)));
    drop(queue.pop());
    assert!(handle.is_finished());
    root.cancel();
}

#[test]
fn a_task_with_a_bomb_that_its_scheduler_throws_away_after_the_first_turn() {
    quiet();
    fn held<R: Run<Out = ()>>(fiber: Fiber<(), R>) -> Fiber<()> {
        let bomb = Bomb;
        fiber.map(move |()| hold(&bomb)).boxed()
    }
    let waits: [fn() -> Fiber<()>; 4] = [
        || held(Fiber::yield_now()),
        || held(Fiber::delay(SECOND)),
        || held(Fiber::blocking(|| ())),
        || held(Fiber::callback(|resume| resume.success(()))),
    ];
    for wait in waits {
        let steps = Steps::new(0, 1);
        let handle = steps.spawn(wait().bind(Fiber::success));
        while !handle.is_finished() && steps.throws_away_after(1) {}
        assert!(handle.is_finished());
        assert_eq!(steps.live_fibers(), 0);
    }
}

#[test]
fn a_timer_that_its_scheduler_throws_away() {
    let queue = Arc::new(Queue::default());
    let root = Context::root(queue.clone());
    let handle = root.spawn(Fiber::delay(SECOND));
    queue.pop().unwrap().run();
    drop(queue.pop());
    let error = handle.try_outcome().unwrap().failure().unwrap();
    assert!(error.is::<fiber_core::error::Abandoned>());
    root.cancel();
}

#[test]
fn a_bomb_among_what_is_thrown_away_with_a_waiting_fiber() {
    quiet();
    let test = TestScheduler::new();
    let bomb = Bomb;
    let inner = Fiber::<()>::never().boxed().map(move |()| hold(&bomb)).boxed();
    let spawned = test.spawn(inner.map(|()| ()).boxed());
    test.run_until_idle();
    let context = spawned.context().clone();
    drop(catch_unwind(AssertUnwindSafe(|| context.abandon())));
    assert!(!spawned.is_pending());
}

#[test]
fn a_pool_shuts_down_after_a_fiber_was_torn_apart() {
    quiet();
    let pool = Pool::builder().workers(2).build();
    let torn = Fiber::yield_now().bind(|()| failure_with_a_bomb()).timeout(SECOND);
    assert!(!pool.run(torn).is_success());
    pool.shutdown(Shutdown::within(60 * SECOND)).unwrap();
}

#[test]
fn values_of_branches_that_are_left_in_a_group_which_its_scheduler_throws_away() {
    quiet();
    /// Panics even while another panic unwinds: two of them in one frame abort the test.
    struct Certain;
    impl Drop for Certain {
        fn drop(&mut self) {
            panic!("in drop");
        }
    }
    fn armed() -> Fiber<Certain> {
        Fiber::yield_now().map(|()| Certain).boxed()
    }
    fn spared(raced: Raced<Certain, Certain>) {
        [raced.first, raced.second].into_iter().filter_map(Outcome::success).for_each(std::mem::forget);
    }
    let groups: [fn() -> Fiber<()>; 3] = [
        || armed().zip(armed()).map(std::mem::forget).boxed(),
        || Fiber::parallel([armed(), armed()]).map(std::mem::forget).boxed(),
        || armed().race_with(armed().uncancelable()).map(spared).boxed(),
    ];
    for group in groups {
        let mut turns = 0;
        loop {
            let steps = Steps::new(0, 1);
            let handle = steps.spawn(group());
            let was_thrown_away = steps.throws_away_after(turns);
            steps.run(usize::MAX);
            assert!(handle.is_finished());
            assert_eq!(steps.live_fibers(), 0);
            if !was_thrown_away {
                break;
            }
            turns += 1;
        }
        assert!(turns > 3, "the group was not thrown away half-way");
    }
}

#[test]
fn a_fiber_that_its_descendants_outlive_in_memory_keeps_no_value_of_its_race() {
    quiet();
    type Kept = Arc<Mutex<Vec<Context>>>;
    fn racer(kept: Kept) -> Fiber<Bomb> {
        let child = Fiber::yield_now().fork();
        let keep = move |child: Handle<()>| kept.lock().unwrap().push(child.context().clone());
        child.map(keep).map(|()| Bomb).boxed()
    }
    let mut turns = 0;
    loop {
        let (kept, steps) = (Kept::default(), Steps::new(0, 1));
        let other = Fiber::for_each(0..3, |_| Fiber::yield_now()).uncancelable();
        let handle = steps.spawn(racer(kept.clone()).race(other).map(std::mem::forget));
        let was_thrown_away = steps.throws_away_after(turns);
        steps.run(usize::MAX);
        assert!(handle.is_finished());
        drop((handle, steps));
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(kept)));
        assert!(dropped.is_ok(), "turn {turns}");
        if !was_thrown_away {
            break;
        }
        turns += 1;
    }
    assert!(turns > 3, "the race was not thrown away half-way");
}
