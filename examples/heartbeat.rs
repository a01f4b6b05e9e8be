//! A monitor that sends heartbeats to a service, raises an alarm when several in a row were missed, and reports when
//! the service is back.
//!
//! ```text
//! cargo run --example heartbeat
//! cargo test --example heartbeat
//! ```
//!
//! `main` watches a service for half a second of real time. The tests below watch one for a day, in milliseconds: the
//! monitor is the same, with a virtual clock.

use std::ops::Range;
use std::time::Duration;

use fiber_core::{Fiber, Instant, fiber};

#[derive(Clone, Copy, Debug)]
struct Rhythm {
    /// The period of the heartbeats.
    every: Duration,
    /// The time limit of an answer.
    patience: Duration,
    /// This many missed beats in a row raise the alarm.
    misses: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Alarm,
    Recovered,
}

/// Runs until it is cancelled. `ask` makes a heartbeat: a fiber that fails or takes too long counts as a miss.
fn watch<A, R>(rhythm: Rhythm, ask: A, mut report: R) -> Fiber<()>
where
    A: Fn() -> Fiber<()> + Send + 'static,
    R: FnMut(Instant, Event) + Send + 'static,
{
    fiber! {
        let! mut next = Fiber::now();
        let mut missed = 0;
        loop {
            let answer = ask().timeout(rhythm.patience);
            let! is_alive = answer.map(|()| true).catch(|_| Fiber::success(false));
            let! now = Fiber::now();
            if is_alive && missed >= rhythm.misses { report(now, Event::Recovered); }
            missed = if is_alive { 0 } else { missed + 1 };
            if missed == rhythm.misses { report(now, Event::Alarm); }
            next += rhythm.every;
            do! Fiber::until(next);
        }
    }
}

/// A service that answers after `latency`, but fails during an outage.
fn service(latency: Duration, outage: Range<Duration>) -> Fiber<()> {
    fiber! {
        do! Fiber::delay(latency);
        let! now = Fiber::now();
        if outage.contains(&(now - Instant::EPOCH)) { return! Fiber::fail("out of order") }
    }
}

fn main() {
    let millis = Duration::from_millis;
    let rhythm = Rhythm { every: millis(20), patience: millis(10), misses: 3 };
    let ask = move || service(millis(1), millis(100)..millis(300));
    let watched = watch(rhythm, ask, |now, event| println!("{now}: {event:?}"));
    let outcome = fiber_sched::run(watched.timeout_option(millis(500)));
    assert!(outcome.unwrap().is_none(), "only the timeout ends it");
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use fiber_test::TestScheduler;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const HOUR: Duration = Duration::from_secs(3600);
    const RHYTHM: Rhythm =
        Rhythm { every: Duration::from_secs(10), patience: Duration::from_secs(2), misses: 3 };

    /// The monitor's reports of a day, with their times.
    fn a_day_with(ask: impl Fn() -> Fiber<()> + Send + 'static) -> Vec<(Duration, Event)> {
        let events = Arc::new(Mutex::new(Vec::new()));
        let seen = events.clone();
        let report = move |now, event| seen.lock().unwrap().push((now - Instant::EPOCH, event));
        let test = TestScheduler::new();
        let day = watch(RHYTHM, ask, report).timeout_option(24 * HOUR);
        assert!(test.run(day).unwrap().is_none());
        test.assert_no_leaks();
        Arc::into_inner(events).unwrap().into_inner().unwrap()
    }

    #[test]
    fn a_service_that_answers_is_never_reported() {
        assert_eq!(a_day_with(|| service(SECOND, HOUR..HOUR)), []);
    }

    #[test]
    fn an_outage_is_reported_at_the_third_miss_and_its_end_at_the_next_answer() {
        let events = a_day_with(|| service(SECOND, HOUR..2 * HOUR));
        let third = HOUR + 2 * RHYTHM.every + SECOND;
        assert_eq!(events, [(third, Event::Alarm), (2 * HOUR + SECOND, Event::Recovered)]);
    }

    #[test]
    fn an_outage_of_two_beats_is_forgiven() {
        assert_eq!(a_day_with(|| service(SECOND, HOUR..HOUR + 15 * SECOND)), []);
    }

    #[test]
    fn a_service_that_hangs_is_missed_when_patience_ends() {
        let events = a_day_with(|| Fiber::never().boxed());
        assert_eq!(events, [(2 * RHYTHM.every + RHYTHM.patience, Event::Alarm)]);
    }
}
