//! Depth costs heap, never stack: every test runs on a thread with 2 MiB of stack, in debug builds too.

mod support;

use std::cell::RefCell;
use std::process::Command;
use std::sync::{Arc, Mutex};

use fiber_core::{Context, Error, Fiber, Handle, Outcome, local_key};
use fiber_test::TestScheduler;
use support::Queue;

/// A recursion on the stack would overflow 2 MiB at either depth: a level would have 20 bytes at most.
const DEEP: u64 = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };

fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(test).unwrap();
    thread.join().unwrap();
}

fn run<T: Send + 'static>(fiber: Fiber<T>) -> Outcome<T> {
    Queue::run(fiber)
}

fn countdown(n: u64) -> Fiber<u64> {
    if n == 0 { Fiber::success(0).boxed() } else { Fiber::success(n - 1).bind(countdown).boxed() }
}

fn sum_to(n: u64) -> Fiber<u64> {
    if n == 0 {
        Fiber::success(0).boxed()
    } else {
        Fiber::defer(move || sum_to(n - 1)).map(move |sum| sum + n).boxed()
    }
}

fn left_nested(n: u64) -> Fiber<u64> {
    (0..n).fold(Fiber::success(0).boxed(), |fiber, _| fiber.bind(|sum| Fiber::success(sum + 1)).boxed())
}

fn right_nested(n: u64) -> Fiber<u64> {
    (0..n).fold(Fiber::success(0).boxed(), |fiber, _| Fiber::success(1).bind(move |_| fiber).boxed())
}

#[test]
fn a_tail_recursion_of_a_million_binds_runs() {
    on_a_small_stack(|| assert_eq!(run(countdown(DEEP)).unwrap(), 0));
}

#[test]
fn a_recursion_of_a_million_that_maps_on_the_way_back_runs() {
    on_a_small_stack(|| assert_eq!(run(sum_to(DEEP)).unwrap(), DEEP * (DEEP + 1) / 2));
}

#[test]
fn a_million_left_nested_binds_run() {
    on_a_small_stack(|| assert_eq!(run(left_nested(DEEP)).unwrap(), DEEP));
}

#[test]
fn a_million_right_nested_binds_run() {
    on_a_small_stack(|| assert_eq!(run(right_nested(DEEP)).unwrap(), 0));
}

#[test]
fn a_million_left_nested_binds_over_a_wait_run() {
    on_a_small_stack(|| {
        let start = Fiber::yield_now().map(|()| 0).boxed();
        let fiber = (0..DEEP).fold(start, |fiber, _| fiber.bind(|sum: u64| Fiber::success(sum + 1)).boxed());
        assert_eq!(run(fiber).unwrap(), DEEP);
    });
}

#[test]
fn a_failure_passes_a_million_left_nested_binds() {
    on_a_small_stack(|| {
        let start = Fiber::<u64>::fail(fiber_core::Error::msg("early")).boxed();
        let fiber = (0..DEEP).fold(start, |fiber, _| fiber.bind(Fiber::success).boxed());
        let error = run(fiber).failure().unwrap();
        assert_eq!(error.to_string(), "early");
        assert!(format!("{error:?}").contains("more"), "the trace is bounded");
    });
}

#[test]
fn dropping_an_unrun_fiber_nested_a_million_deep_does_not_recurse() {
    on_a_small_stack(|| {
        drop(left_nested(DEEP));
        drop(right_nested(DEEP));
    });
}

thread_local! {
    /// Fibers that are dropped while their thread ends.
    static HELD: RefCell<Vec<Fiber<u64>>> = const { RefCell::new(Vec::new()) };
}

fn hold_deep_fibers() {
    HELD.with_borrow_mut(|held| held.extend([left_nested(DEEP), right_nested(DEEP)]));
}

/// Uses what the library keeps for each thread.
fn use_the_library() {
    drop(left_nested(DEEP));
    drop(Error::msg("no"));
}

#[test]
fn deep_fibers_in_a_thread_local_that_ends_before_those_of_the_library_are_dropped_without_recursion() {
    on_a_small_stack(|| {
        use_the_library();
        hold_deep_fibers();
    });
}

#[test]
fn deep_fibers_in_a_thread_local_that_ends_after_those_of_the_library_are_dropped_without_recursion() {
    on_a_small_stack(|| {
        hold_deep_fibers();
        use_the_library();
    });
}

/// A process of its own runs only this test, on its main thread, whose thread-locals end with the process.
#[test]
fn deep_fibers_in_a_thread_local_of_the_main_thread_are_dropped_without_recursion() {
    const NAME: &str = "deep_fibers_in_a_thread_local_of_the_main_thread_are_dropped_without_recursion";
    const IS_CHILD: &str = "FIBER_TEST_MAIN_THREAD";
    if std::env::var_os(IS_CHILD).is_some() {
        hold_deep_fibers();
        return use_the_library();
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args([NAME, "--exact", "--test-threads=1"]).env(IS_CHILD, "1");
    let output = child.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// The value of a fiber, with the handle of another fiber of the same kind.
struct Link(#[expect(dead_code, reason = "it is there to be dropped")] Option<Handle<Link>>);

/// As with `DEEP`: a drop inside a drop has a stack frame of more than 100 bytes.
const LINKS: usize = if cfg!(debug_assertions) { 20_000 } else { 200_000 };

fn chain_of_handles(spawn: impl Fn(Fiber<Link>) -> Handle<Link>) -> Link {
    (0..LINKS).fold(Link(None), |link, _| Link(Some(spawn(Fiber::success(link).boxed()))))
}

#[test]
fn a_chain_of_handles_each_in_the_value_of_the_next_is_dropped_without_recursion() {
    on_a_small_stack(|| {
        let queue = Arc::new(Queue::default());
        let root = Context::root(queue.clone());
        let spawn = |fiber| {
            let handle = root.spawn(fiber);
            queue.drain();
            assert!(handle.is_finished());
            handle
        };
        // The last drop is by the user, by a closure, of an unread outcome, of a loop's state, of a sibling's value, or of a vector.
        drop(chain_of_handles(spawn));
        let value = || Fiber::success(chain_of_handles(spawn));
        let fails = || Fiber::yield_now().bind(|()| Fiber::<()>::fail(Error::msg("no")));
        for fiber in [
            value().map(drop).boxed(),
            value().fork().map(drop).boxed(),
            value().tap(move |_| fails()).map(drop).boxed(),
            value().zip(fails()).map(drop).boxed(),
            Fiber::parallel([value().boxed(), fails().map(|()| Link(None)).boxed()]).map(drop).boxed(),
            Fiber::for_each([chain_of_handles(spawn)], move |_| fails()).boxed(),
            Fiber::callback({
                let link = chain_of_handles(spawn);
                |resume| resume.success(link)
            })
            .map(drop)
            .boxed(),
            fails().with_local(&CARRIED, Arc::new(Mutex::new(Some(chain_of_handles(spawn))))).boxed(),
        ] {
            let handle = root.spawn(fiber);
            queue.drain();
            assert!(handle.is_finished());
        }
    });
}

type Carried = Arc<Mutex<Option<Link>>>;
local_key! { static CARRIED: Carried = Carried::default(); }

#[test]
fn a_chain_of_forks_whose_closures_hold_the_next_handle_is_dropped_without_recursion() {
    on_a_small_stack(|| {
        let queue = Arc::new(Queue::default());
        let root = Context::root(queue.clone());
        let link = (0..LINKS).fold(Link(None), |link, _| {
            let fiber = Fiber::lazy(move || drop(link)).map(|()| Link(None)).boxed();
            Link(Some(root.spawn(fiber)))
        });
        root.cancel();
        drop(link);
        queue.drain();
    });
}

#[test]
fn a_chain_of_carried_values_is_dropped_without_recursion() {
    on_a_small_stack(|| {
        let queue = Arc::new(Queue::default());
        let root = Context::root(queue.clone());
        let link = (0..LINKS).fold(Link(None), |link, _| {
            let carried = Arc::new(Mutex::new(Some(link)));
            let handle = root.spawn(Fiber::success(()).map(|()| Link(None)).with_local(&CARRIED, carried));
            queue.drain();
            Link(Some(handle))
        });
        drop(link);
    });
}

#[test]
fn dropping_a_million_callbacks_that_wait_does_not_recurse() {
    on_a_small_stack(|| {
        let test = TestScheduler::new();
        let start = Fiber::<u64>::never().uncancelable().boxed();
        let fiber = (0..DEEP).fold(start, |fiber, _| fiber.map(|n| n).boxed());
        let spawned = test.spawn(fiber);
        test.run_until_idle();
        assert!(spawned.is_pending());
        // Uncancelable and waiting for ever: the scheduler can only drop it.
        drop(test);
        assert!(spawned.outcome().failure().unwrap().is::<fiber_core::error::Abandoned>());
    });
}

#[test]
fn a_recursion_of_a_million_that_waits_at_every_level_runs() {
    fn waits(n: u64) -> Fiber<u64> {
        if n == 0 {
            Fiber::success(0).boxed()
        } else {
            Fiber::yield_now().bind(move |()| waits(n - 1)).boxed()
        }
    }
    on_a_small_stack(|| assert_eq!(run(waits(DEEP)).unwrap(), 0));
}

#[test]
fn a_loop_of_a_million_callbacks_that_resume_at_once_uses_no_stack() {
    on_a_small_stack(|| {
        let fiber = Fiber::for_each(0..DEEP, |_| Fiber::callback(|resume| resume.success(())));
        assert!(run(fiber.boxed()).is_success());
    });
}

#[test]
fn forks_nested_ten_thousand_deep_run_and_are_joined() {
    fn nest(n: u64) -> Fiber<u64> {
        if n == 0 {
            return Fiber::success(0).boxed();
        }
        Fiber::defer(move || nest(n - 1)).fork().bind(|child| child.join()).map(|depth| depth + 1).boxed()
    }
    on_a_small_stack(|| assert_eq!(run(nest(10_000)).unwrap(), 10_000));
}

#[test]
fn zips_nested_ten_thousand_deep_run() {
    fn nest(n: u64) -> Fiber<u64> {
        if n == 0 {
            return Fiber::success(0).boxed();
        }
        Fiber::success(1).zip(Fiber::defer(move || nest(n - 1))).map(|(one, depth)| one + depth).boxed()
    }
    on_a_small_stack(|| assert_eq!(run(nest(10_000)).unwrap(), 10_000));
}

#[test]
fn errors_suppressed_at_a_hundred_thousand_levels_are_one_list() {
    fn failing(n: u32) -> Fiber<()> {
        if n == 0 {
            return Fiber::fail(fiber_core::Error::msg("innermost")).boxed();
        }
        Fiber::fail(fiber_core::Error::msg("level")).ensure(Fiber::defer(move || failing(n - 1))).boxed()
    }
    on_a_small_stack(|| {
        let error = run(failing(100_000)).failure().unwrap();
        assert_eq!(error.suppressed().len(), 100_000);
        assert_eq!(error.suppressed()[0].to_string(), "innermost");
    });
}

#[test]
fn a_chain_of_forks_and_of_zips_is_cancelled_without_recursion() {
    fn forks(n: u64) -> Fiber<u64> {
        if n == 0 {
            return Fiber::never().boxed();
        }
        Fiber::defer(move || forks(n - 1)).fork().bind(|child| child.join()).map(|depth| depth + 1).boxed()
    }
    fn zips(n: u64) -> Fiber<u64> {
        if n == 0 {
            return Fiber::never().boxed();
        }
        Fiber::<()>::never().zip(Fiber::defer(move || zips(n - 1))).map(|_| 1).boxed()
    }
    on_a_small_stack(|| {
        let test = TestScheduler::new();
        for chain in [forks(20_000), zips(20_000)] {
            let spawned = test.spawn(chain);
            test.run_until_idle();
            spawned.cancel_now();
            test.run_until_idle();
            assert!(spawned.outcome().is_cancelled());
            test.assert_no_leaks();
        }
    });
}

#[test]
fn an_endless_recursion_of_defer_lets_others_run() {
    fn forever(left: u32) -> Fiber<()> {
        Fiber::defer(move || if left == 0 { panic!("no other fiber had a turn") } else { forever(left - 1) })
            .boxed()
    }
    let outcome = TestScheduler::new().run(forever(1_000_000).race(Fiber::yield_now()));
    assert!(outcome.is_success());
}
