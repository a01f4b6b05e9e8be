//! The list of the laws. The functions in this module and the tests of [`scheduler_laws!`](crate::scheduler_laws) are
//! generated from it, so a law that is missing here is dead code.

use super::host::{AnyHost, Host};
use super::trial::{Broken, hold};
use super::{blocking, computations, fairness, misuse, panics, parallelism, shutdown, timers, wake_ups};

/// Passes all laws to a macro: `[callback] arguments`.
#[doc(hidden)]
#[macro_export]
macro_rules! __for_each_law {
    ([$($callback:tt)*] $($arguments:tt)*) => {
        $($callback)*! {
            [$($arguments)*]
            wake_ups {
                "Every task that is scheduled runs exactly once, whether a thread, a fiber or a task schedules it."
                every_task_runs_once,
                "A wake-up arrives, once, whether it comes before, during or after the beginning of the wait."
                wake_ups_arrive_whenever_they_come,
                "A wake-up from another thread arrives, also when the host is just falling asleep."
                wake_ups_from_other_threads_arrive,
                "A fiber that another thread spawns runs, also when the host is just falling asleep."
                fibers_that_other_threads_spawn_run,
                "Fibers that wake one another in a long chain all go on."
                fibers_wake_one_another,
            }
            timers {
                "A timer never fires before its deadline."
                timers_are_never_early,
                "On a host with one thread, timers fire in the order of their deadlines if those are 2 ms apart or more."
                timers_fire_in_the_order_of_their_deadlines,
                "A timer that is set for earlier than all others does not wait for them."
                an_earlier_timer_does_not_wait_for_a_later_one,
                "A timer whose deadline has passed fires at once."
                a_timer_in_the_past_fires_at_once,
                "A timer for the end of all time does not fire."
                a_timer_beyond_all_time_does_not_fire,
                "A cancelled timer never fires, and its task is dropped by the cancellation."
                cancelled_timers_never_fire,
                "The answer of `cancel_timer` is true exactly if the timer does not fire."
                cancel_timer_tells_the_truth,
                "The key of a timer that is gone cancels nothing."
                stale_keys_cancel_nothing,
                "Of many timers, each fires or is cancelled."
                many_timers_fire_or_are_cancelled,
                "The clock never goes back, on whichever thread it is read."
                the_clock_never_goes_back,
            }
            fairness {
                "Fibers that yield take turns: on one thread, none has 1,000 turns while another one waits for its turn."
                fibers_that_yield_take_turns,
                "Endless loops of binds, on every thread, let new fibers, timers and blocking calls in."
                endless_loops_let_others_run,
                "Endless loops that fork let in what other threads spawn."
                endless_forks_let_others_in,
                "A timeout ends work that never waits, but only binds."
                timeouts_end_work_that_never_waits,
            }
            blocking {
                "A blocking call runs once, and its value arrives."
                blocking_calls_give_their_values,
                "Blocking calls, more than the host has threads, do not keep fibers from running."
                blocking_calls_do_not_stop_fibers,
                "A fiber that is cancelled in a blocking call ends at once, while the call goes on."
                a_cancelled_blocking_call_does_not_hold_its_fiber,
            }
            parallelism {
                "On a host whose threads share their work, branches that compute run at the same time, one on each thread."
                branches_that_compute_run_at_the_same_time,
                "On a host whose threads share their work, fibers that compute run at the same time, one on each thread."
                fibers_that_compute_run_at_the_same_time,
            }
            computations {
                "While a fiber computes that was just spawned, an idle thread does all that is to be done, also if the host was quiet."
                a_spawned_computation_delays_nothing,
                "The same while a fiber computes that a timer has woken."
                a_computation_after_a_timer_delays_nothing,
                "The same while a fiber computes that a blocking call has woken."
                a_computation_after_a_blocking_call_delays_nothing,
                "The same while a fiber computes that data on a socket have woken."
                a_computation_after_data_delays_nothing,
                "The same while a fiber computes that another fiber has woken."
                a_computation_that_another_fiber_woke_delays_nothing,
                "The same while a fiber computes that a thread outside has woken."
                a_computation_that_a_thread_woke_delays_nothing,
            }
            panics {
                "The panic of a fiber harms no other fiber and no thread."
                a_panicking_fiber_harms_no_other,
                "The panic of a blocking closure ends its fiber as panicked, and no thread."
                a_panicking_blocking_call_harms_only_its_fiber,
                "A panic of the scheduler's own hooks for events and unobserved failures harms no fiber and no thread."
                panicking_hooks_harm_nobody,
            }
            shutdown {
                "A shutdown runs the finalizers of fibers in every state, and leaves no fiber."
                shutdown_ends_fibers_in_every_state,
                "A fiber that has never run ends as cancelled with the shutdown, and leaves nothing behind."
                shutdown_drops_fibers_that_never_ran,
                "A fiber that is spawned during or after the shutdown ends as cancelled, at once."
                fibers_spawned_too_late_end_as_cancelled,
                "A wake-up after the end has no effect on fibers that have ended, and abandons one that has not."
                wake_ups_after_the_end_hang_nothing,
                "A task that arrives after the end is dropped with the scheduler at the latest."
                tasks_after_the_end_are_dropped,
            }
            misuse {
                "A call that would block a thread of the host itself panics, if the host promises that, and nothing else happens."
                a_call_that_would_block_its_own_thread_panics,
                "A task that is dropped abandons its fiber, and wakes its waiters."
                a_dropped_task_abandons_its_fiber,
                "The scheduler holds no lock while it drops a task: the drop may use the scheduler."
                a_task_may_use_the_scheduler_in_its_drop,
            }
        }
    };
}

macro_rules! functions {
    ([] $($topic:ident { $($says:literal $law:ident,)+ })+) => {$($(
        #[doc = $says]
        ///
        /// ```
        /// use fiber_test::{TestScheduler, laws};
        #[doc = concat!("laws::", stringify!($law), "(TestScheduler::new).unwrap();")]
        /// ```
        ///
        /// # Errors
        /// The law is broken.
        ///
        /// # Blocking
        /// Until the check has ended.
        pub fn $law<H: Host>(make: impl FnOnce() -> H + Send + 'static) -> Result<(), Broken> {
            hold(stringify!($law), $says, make, $topic::$law::<dyn AnyHost>)
        }
    )+)+};
}

__for_each_law! { [functions] }

/// Makes a module with one test for each of the [laws](crate::laws) of schedulers.
///
/// The first argument is the name of the module, the second one a closure that makes a [`Host`](crate::laws::Host).
///
/// ```
/// use fiber_test::TestScheduler;
/// fiber_test::scheduler_laws!(first_in_first_out, TestScheduler::new);
/// fiber_test::scheduler_laws!(seeded, || TestScheduler::with_seed(7));
/// ```
#[macro_export]
macro_rules! scheduler_laws {
    ($name:ident, $make:expr) => {
        mod $name {
            #[allow(unused_imports, reason = "for what the closure names")]
            use super::*;
            $crate::__for_each_law! { [$crate::__law_tests] $make }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __law_tests {
    ([$make:expr] $($topic:ident { $($says:literal $law:ident,)+ })+) => {$($(
        #[doc = $says]
        #[test]
        fn $law() {
            if let Err(broken) = $crate::laws::$law($make) {
                panic!("{broken}");
            }
        }
    )+)+};
}
