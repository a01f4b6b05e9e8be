//! Any runnable fiber may be late, if the test allows it.

use std::time::Duration;

use fiber_core::net::{TcpListener, TcpStream};
use fiber_core::{Fiber, Instant, fiber};
use fiber_test::{Explore, TestScheduler};

use crate::support::Shared;

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn answer_in_99() -> Fiber<()> {
    Fiber::delay(millis(99)).timeout(millis(100)).boxed()
}

#[test]
fn a_timer_and_a_later_limit_race_when_they_may_be_late() {
    Explore::default().check(answer_in_99);
    Explore::exhaustive().check(answer_in_99);
    for explore in [Explore::default(), Explore::exhaustive()] {
        let failure = explore.lateness(millis(1)).try_check(answer_in_99).unwrap_err();
        // Time passes once, and then the limit comes first.
        assert_eq!(failure.schedule().to_string(), "1:~ 1:1", "{failure}");
        assert!(failure.replay().ends_with(".lateness(Duration::from_millis(1))"), "{}", failure.replay());
    }
}

#[test]
fn nobody_is_later_than_the_bound() {
    let in_time = || Fiber::delay(millis(99)).timeout(millis(105));
    Explore::default().lateness(millis(5)).check(in_time);
    let explored = Explore::exhaustive().lateness(millis(5)).check(in_time);
    assert!(explored.is_complete());
    assert!(Explore::exhaustive().lateness(millis(6)).try_check(in_time).is_err());
}

/// A woken fiber may be late, like a timer: here a fiber that was delayed while the others continued.
#[test]
fn a_fiber_that_can_run_is_held_up_while_time_passes() {
    let program = || {
        let is_ready = Shared::new(false);
        let looking = is_ready.clone();
        let prepare = is_ready.step(|is_ready| *is_ready = true);
        let look = Fiber::delay(millis(10)).bind(move |()| looking.step(|is_ready| assert!(*is_ready)));
        Fiber::parallel([prepare.boxed(), look.boxed()])
    };
    Explore::exhaustive().check(program);
    let failure = Explore::default().lateness(millis(10)).try_check(program).unwrap_err();
    assert!(
        failure.to_string().contains("ready since 0ns") || failure.to_string().contains(":~"),
        "{failure}"
    );
}

#[test]
fn a_replay_is_late_in_the_same_way() {
    let failure = Explore::default().lateness(millis(1)).try_check(answer_in_99).unwrap_err();
    let schedule = failure.schedule();
    let again =
        Explore::replay(&schedule.to_string()).lateness(millis(1)).try_check(answer_in_99).unwrap_err();
    assert_eq!(again.trace().turns().len(), failure.trace().turns().len());
    // Without the bound, no fiber is late.
    Explore::replay(&schedule.to_string()).check(answer_in_99);
    let test = TestScheduler::with_schedule(schedule.clone());
    assert!(test.run(answer_in_99()).is_failure());
    assert_eq!(test.now(), Instant::EPOCH + millis(100));
}

#[test]
fn what_is_late_is_found_on_any_number_of_threads() {
    let number = |threads| {
        let explore = Explore::default().lateness(millis(1)).threads(threads);
        explore.try_check(answer_in_99).unwrap_err().number()
    };
    assert_eq!(number(1), number(3));
}

/// How many turns another fiber has had when the packet is there.
fn overtakes() -> Fiber<()> {
    fiber! {
        let! listener = TcpListener::bind(([127, 0, 0, 1], 80));
        let! client = TcpStream::connect(([127, 0, 0, 1], 80)) and! (server, _) = listener.accept();
        let turns = Shared::new(0);
        let count = turns.clone();
        let works = fiber! {
            for n in 1..=3 {
                count.with(|turns| *turns = n);
                do! Fiber::yield_now();
            }
        };
        let reads = server.readable().map(move |()| turns.with(|turns| *turns));
        let! () = client.write_all("x").map(drop) and! turns = reads and! () = works;
        assert_eq!(turns, 3);
    }
}

#[test]
fn a_packet_may_overtake_fibers_that_can_run() {
    for explore in [Explore::default(), Explore::exhaustive().preemptions(1)] {
        let failure = explore.try_check(overtakes).unwrap_err();
        let schedule = failure.schedule().to_string();
        assert!(schedule.contains(":~"), "{failure}");
        assert_eq!(failure.problem().at(), Instant::EPOCH);
        let again = Explore::replay(&schedule).try_check(overtakes).unwrap_err();
        assert_eq!(again.trace().turns().len(), failure.trace().turns().len());
    }
}
