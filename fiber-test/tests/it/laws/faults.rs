//! Every fault breaks a law, and the message names it.

use std::time::Duration;

use fiber_core::{Context, Fiber};
use fiber_test::laws::{self, Broken, Host, NestedCall};

use super::small::{Fault, Small};

/// A scheduler with a fault, whose laws have this time limit in milliseconds.
struct Faulty<const MILLIS: u64>(Small);

impl<const MILLIS: u64> Host for Faulty<MILLIS> {
    const PATIENCE: Duration = Duration::from_millis(MILLIS);

    fn context(&self) -> &Context {
        self.0.context()
    }

    fn run(&self, fiber: Fiber<()>) {
        self.0.run(fiber);
    }

    fn threads(&self) -> usize {
        self.0.threads()
    }

    fn shut_down(self) -> bool {
        self.0.shut_down()
    }

    /// Does not panic, although the law expects it.
    fn nested_call(&self) -> Option<NestedCall> {
        Some(Box::new(|| ()))
    }
}

/// For faults that make a law hang. On a slow machine, the law may be at another step.
type Hangs = Faulty<500>;
/// For faults that a law detects.
type Shows = Faulty<60_000>;

/// The law's observation of a fault.
fn seen<M>(law: impl FnOnce(M) -> Result<(), Broken>, make: M) -> String {
    let broken = law(make).expect_err("the law holds in spite of the fault");
    let message = broken.to_string();
    assert!(message.contains(&format!("breaks the law `{}`", broken.law())), "{message}");
    assert!(message.contains(broken.says()) && message.contains(broken.seen()), "{message}");
    format!("{}: {}", broken.law(), broken.seen())
}

/// One test for each line: the fault, the threads of the scheduler, the law, and a part of the law's observation.
macro_rules! faults {
    ($($test:ident: $host:ident $fault:ident with $threads:literal, $law:ident, $seen:literal;)+) => {$(
        #[test]
        fn $test() {
            let seen = seen(laws::$law, || -> $host { Faulty(Small::with_fault($threads, Fault::$fault)) });
            assert!(seen.starts_with(concat!(stringify!($law), ": ")) && seen.contains($seen), "{seen}");
        }
    )+};
}

faults! {
    a_lost_task: Hangs LosesEveryHundredthTask with 1, every_task_runs_once, "still waits for";
    a_lost_wake_up: Hangs LosesEveryHundredthTask with 2, wake_ups_from_other_threads_arrive, "still waits for";
    a_lost_start: Hangs LosesEveryHundredthTask with 1, fibers_that_other_threads_spawn_run, "still waits for";
    a_lost_resumption: Hangs LosesEveryHundredthTask with 1, wake_ups_arrive_whenever_they_come, "still waits for";
    a_broken_chain: Hangs LosesEveryHundredthTask with 1, fibers_wake_one_another, "still waits for";
    an_early_timer: Shows FiresTimersEarly with 1, timers_are_never_early, "timers are early; the timer for ";
    timers_in_any_order: Shows FiresTimersInAnyOrder with 1, timers_fire_in_the_order_of_their_deadlines,
        "timers fire in the order [";
    a_forgotten_timer: Hangs ForgetsTimersOfThePast with 1, a_timer_in_the_past_fires_at_once, "still waits for";
    an_ignored_cancel_timer: Shows IgnoresCancelTimer with 1, cancelled_timers_never_fire,
        "`cancel_timer` says true and keeps the task";
    a_lie_of_cancel_timer: Shows IgnoresCancelTimer with 1, cancel_timer_tells_the_truth,
        "`cancel_timer` says true, and the timer fires 1 times";
    many_lies_of_cancel_timer: Shows IgnoresCancelTimer with 1, many_timers_fire_or_are_cancelled, "cancelled timers fire";
    a_denial_of_cancel_timer: Shows DeniesCancelTimer with 1, cancelled_timers_never_fire,
        "a timer of an hour cannot be cancelled";
    an_end_of_time_that_comes: Shows EndsTimeEarly with 1, a_timer_beyond_all_time_does_not_fire,
        "a timer for the end of all time fires";
    timers_in_the_order_of_their_keys: Hangs LooksAtTheFirstTimerOnly with 1,
        an_earlier_timer_does_not_wait_for_a_later_one, "still waits for";
    a_reused_key: Shows ReusesTimerKeys with 1, stale_keys_cancel_nothing, "has fired, and is cancelled again";
    a_drop_under_the_lock: Hangs DropsTasksUnderItsLock with 1, a_task_may_use_the_scheduler_in_its_drop, "still waits for";
    a_clock_that_goes_back: Shows LetsTheClockGoBack with 1, the_clock_never_goes_back, "the clock goes back from";
    starvation: Shows RunsTheLastTaskFirst with 1, fibers_that_yield_take_turns, "turns while another one has none";
    an_endless_turn: Hangs NeverPreempts with 1, endless_loops_let_others_run, "still waits for";
    a_timeout_that_never_ends: Hangs NeverPreempts with 1, timeouts_end_work_that_never_waits, "still waits for";
    a_blocked_thread: Hangs BlocksItsThreads with 2, blocking_calls_do_not_stop_fibers, "still waits for";
    a_lost_call: Hangs LosesBlockingTasks with 1, blocking_calls_give_their_values, "still waits for";
    a_call_that_is_awaited: Hangs BlocksItsThreads with 1, a_cancelled_blocking_call_does_not_hold_its_fiber,
        "still waits for";
    a_thread_that_dies_with_a_fiber: Hangs StopsAfterAPanic with 1, a_panicking_fiber_harms_no_other, "still waits for";
    a_thread_that_dies_with_a_call: Hangs StopsAfterAPanic with 1, a_panicking_blocking_call_harms_only_its_fiber,
        "still waits for";
    branches_in_sequence: Hangs RunsOneTaskAtATime with 2, branches_that_compute_run_at_the_same_time, "";
    fibers_in_sequence: Hangs RunsOneTaskAtATime with 2, fibers_that_compute_run_at_the_same_time, "";
    fibers_that_are_left: Shows DoesNotCancelAtTheEnd with 2, fibers_spawned_too_late_end_as_cancelled,
        "fibers that are left after the shutdown";
    finalizers_that_do_not_run: Hangs DropsTasksAtTheEnd with 2, shutdown_ends_fibers_in_every_state, "";
    fibers_that_never_ran_and_are_left: Shows LeaksTasksAtTheEnd with 1, shutdown_drops_fibers_that_never_ran,
        "fibers that are left after the shutdown";
    a_fiber_that_is_kept: Hangs LeaksTasksAfterTheEnd with 1, wake_ups_after_the_end_hang_nothing, "still waits for";
    a_task_that_is_kept: Hangs LeaksTasksAfterTheEnd with 1, tasks_after_the_end_are_dropped, "still waits for";
    a_promise_that_is_not_kept: Shows None with 1, a_call_that_would_block_its_own_thread_panics, "ends as Success";
}

#[test]
fn the_guide_shows_what_a_broken_law_says() {
    let make = || -> Shows { Faulty(Small::with_fault(1, Fault::RunsTheLastTaskFirst)) };
    let broken = laws::fibers_that_yield_take_turns(make).unwrap_err().to_string();
    let guide = include_str!("../../../../docs/testing.md");
    assert!(guide.contains(&broken), "docs/testing.md has to show this as it is now:\n\n{broken}");
}
