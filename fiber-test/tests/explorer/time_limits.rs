//! `within` bounds the search and the analysis of what it finds. With hardly any time, both stop at the first occasion, so these tests do not depend on
//! the speed of the machine.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use fiber_core::{Fiber, Run};
use fiber_test::{Explore, Explored, Failure};

const NO_TIME: Duration = Duration::from_nanos(1);

/// Explores a program, and counts how often it was begun.
fn counted<R: Run<Out = ()>>(
    explore: &Explore,
    program: impl Fn() -> Fiber<(), R> + Sync,
) -> (Result<Explored, Failure>, u32) {
    let runs = AtomicU32::new(0);
    let result = explore.try_check(|| {
        runs.fetch_add(1, SeqCst);
        program()
    });
    (result, runs.into_inner())
}

fn steps() -> Fiber<()> {
    Fiber::for_each(0..4, |_| Fiber::success(())).boxed()
}

#[test]
fn without_time_every_search_runs_one_schedule() {
    for explore in [
        Explore::default(),
        Explore::default().threads(2),
        Explore::default().mishaps(),
        Explore::exhaustive(),
        Explore::exhaustive().reduced(),
        Explore::cancel_everywhere(),
    ] {
        let (explored, runs) = counted(&explore.within(NO_TIME), || steps().zip(steps()).map(drop));
        let explored = explored.expect("nothing is wrong");
        assert_eq!((explored.schedules(), runs), (1, 1), "{explored}");
        assert!(!explored.is_complete(), "{explored}");
    }
}

#[test]
fn without_time_a_failure_is_repeated_and_recorded_and_nothing_else() {
    let broken = || steps().zip(steps()).map(|_| panic!("broken"));
    let (failed, runs) = counted(&Explore::default().within(NO_TIME), broken);
    let failure = failed.unwrap_err();
    assert_eq!(runs, 3, "it is found, runs again, and is recorded");
    assert!(!failure.trace().turns().is_empty());
    assert!(failure.passing().is_none());
    assert!(!failure.to_string().contains("warning"), "{failure}");
}

/// Every run takes hundreds of thousands of turns, so the usual analysis of a failure would take tens of them.
#[test]
fn a_livelock_of_timeouts_is_analysed_within_its_time() {
    fn polls(every: u64) -> Fiber<()> {
        let poll = move || Fiber::<()>::never().timeout_option(Duration::from_millis(every));
        Fiber::iterate((), move |()| poll().map(|_| std::ops::ControlFlow::<()>::Continue(()))).boxed()
    }
    let all = || polls(1).zip(polls(1_000)).map(drop);
    let (failed, runs) = counted(&Explore::default().within(NO_TIME), all);
    assert!(failed.unwrap_err().problem().message().starts_with("livelock at "));
    assert_eq!(runs, 3);
}
