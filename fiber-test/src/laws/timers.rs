//! Timers and the clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant as SystemInstant};

use fiber_core::scheduler::{Scheduler, TimerKey};
use fiber_core::{Fiber, Instant};
use parking_lot::Mutex;

use super::gate::Gate;
use super::host::AnyHost;
use super::probe::{Probe, task};
use super::trial::Trial;

/// Longer than any law takes.
const LONG: Duration = Duration::from_secs(3_600);

/// Various durations up to 20 ms, in an irregular order.
fn spread(n: usize) -> Duration {
    Duration::from_micros(n as u64 * 7_919 % 20_000)
}

/// Sets a timer for a probe.
fn set(scheduler: &Arc<dyn Scheduler>, after: Duration, gate: &Gate) -> (TimerKey, Probe) {
    let (task, probe) = Probe::task(gate);
    (scheduler.schedule_at(scheduler.now() + after, task), probe)
}

pub(super) fn timers_are_never_early<H: AnyHost + ?Sized>(trial: Trial<H>) {
    const TIMERS: usize = 1_000;
    let scheduler = trial.scheduler();
    let (gate, early) = (Gate::new(TIMERS), Arc::new(Mutex::new(Vec::new())));
    for n in 0..TIMERS {
        let at = scheduler.now() + spread(n);
        let (clock, gate, early) = (scheduler.clone(), gate.clone(), early.clone());
        let fire = move || {
            let now = clock.now();
            if now < at {
                early.lock().push(format!("the timer for {at} fires at {now}"));
            }
            gate.pass();
        };
        _ = scheduler.schedule_at(at, task(fire));
    }
    trial.run("timers of up to 20 ms", gate.opened());
    let early = early.lock();
    assert!(early.is_empty(), "{} timers are early; {}", early.len(), early[0]);
    for micros in [0, 1, 50, 999, 1_000, 3_210] {
        let duration = Duration::from_micros(micros);
        let (start, system_start) = (scheduler.now(), SystemInstant::now());
        let end = trial.run("a fiber that sleeps", Fiber::delay(duration).bind(|()| Fiber::now()));
        assert!(end - start >= duration, "a sleep of {duration:?} takes {:?}", end - start);
        let slept = system_start.elapsed();
        assert!(
            trial.host().is_virtual() || slept >= duration,
            "by the system's clock, {duration:?} take {slept:?}"
        );
        let (start, timeout) = (scheduler.now(), Fiber::<()>::never().timeout(duration));
        let outcome = trial.outcome("a timeout of a fiber that waits for ever", timeout);
        let took = scheduler.now() - start;
        assert!(outcome.is_failure() && took >= duration, "a timeout after {duration:?} takes {took:?}");
    }
}

pub(super) fn timers_fire_in_the_order_of_their_deadlines<H: AnyHost + ?Sized>(trial: Trial<H>) {
    /// The distance in the law's text.
    const STEP: Duration = Duration::from_millis(2);
    const PLACES: [u32; 12] = [7, 2, 11, 5, 0, 9, 4, 1, 10, 6, 3, 8];
    if trial.host().threads() > 1 {
        return;
    }
    let scheduler = trial.scheduler();
    // Again with more time, if this thread was interrupted until the first timer was due: the others are then set too late.
    for lead in (0..).map(|attempt| STEP * 2_u32.pow(attempt)) {
        let (gate, order) = (Gate::new(PLACES.len()), Arc::new(Mutex::new(Vec::new())));
        let start = scheduler.now() + lead;
        for place in PLACES {
            let (gate, order) = (gate.clone(), order.clone());
            let fire = move || {
                order.lock().push(place);
                gate.pass();
            };
            _ = scheduler.schedule_at(start + STEP * place, task(fire));
        }
        let are_all_set = scheduler.now() < start;
        trial.run("a dozen timers", gate.opened());
        if are_all_set {
            let order = order.lock();
            assert!(order.is_sorted(), "timers fire in the order {order:?} of their deadlines");
            return;
        }
    }
}

pub(super) fn an_earlier_timer_does_not_wait_for_a_later_one<H: AnyHost + ?Sized>(trial: Trial<H>) {
    let scheduler = trial.scheduler();
    let gate = Gate::new(1);
    let (key, later) = set(&scheduler, LONG, &gate);
    let fiber = trial.spawn(Fiber::delay(LONG));
    // The host now sleeps until the later timers.
    trial.run("a fiber that yields", Fiber::yield_now());
    let before = scheduler.now();
    trial.run("a sleep of 1 ms beside timers of an hour", Fiber::delay(Duration::from_millis(1)));
    assert!(scheduler.now() - before < LONG, "a sleep of 1 ms takes an hour");
    assert!(!fiber.is_finished() && later.runs() == 0, "a timer of an hour fires after 1 ms");
    assert!(scheduler.cancel_timer(key), "a timer of an hour cannot be cancelled after 1 ms");
}

pub(super) fn a_timer_in_the_past_fires_at_once<H: AnyHost + ?Sized>(trial: Trial<H>) {
    let scheduler = trial.scheduler();
    trial.run("a sleep of 1 ms", Fiber::delay(Duration::from_millis(1)));
    let (before, later) = (scheduler.now(), Gate::new(1));
    let (key, _) = set(&scheduler, LONG, &later);
    let past = [Instant::EPOCH, Instant::from_nanos(before.as_nanos() - 1), before];
    let gate = Gate::new(past.len());
    for at in past {
        _ = scheduler.schedule_at(at, Probe::task(&gate).0);
    }
    trial.run("timers of the past", gate.opened());
    let passed = scheduler.now() - before;
    assert!(!trial.host().is_virtual() || passed.is_zero(), "{passed:?} pass before timers of the past fire");
    assert!(passed < LONG, "timers of the past wait for a later one");
    assert!(scheduler.cancel_timer(key), "a timer of an hour cannot be cancelled");
}

pub(super) fn a_timer_beyond_all_time_does_not_fire<H: AnyHost + ?Sized>(trial: Trial<H>) {
    let scheduler = trial.scheduler();
    let (task, probe) = Probe::task(&Gate::new(1));
    let key = scheduler.schedule_at(Instant::FAR_FUTURE, task);
    let fiber = trial.spawn(Fiber::delay(Duration::MAX));
    trial.run("a sleep of 1 ms", Fiber::delay(Duration::from_millis(1)));
    assert!(probe.runs() == 0 && !fiber.is_finished(), "a timer for the end of all time fires");
    assert!(scheduler.cancel_timer(key), "a timer for the end of all time cannot be cancelled");
    fiber.cancel_now();
    assert!(trial.finish("a cancelled sleep", fiber).is_cancelled());
}

pub(super) fn cancelled_timers_never_fire<H: AnyHost + ?Sized>(trial: Trial<H>) {
    const SHORT: Duration = Duration::from_millis(3);
    let scheduler = trial.scheduler();
    let gate = Gate::new(1);
    let (key, far) = set(&scheduler, LONG, &gate);
    assert!(scheduler.cancel_timer(key), "a timer of an hour cannot be cancelled");
    assert!(far.is_gone(), "`cancel_timer` says true and keeps the task");
    let short: Vec<_> = (0..100).map(|_| set(&scheduler, SHORT, &gate)).collect();
    // On a slow machine, some have already fired; `cancel_timer` then returns `false`.
    let cancelled = short.into_iter().filter(|(key, _)| scheduler.cancel_timer(*key));
    let cancelled: Vec<_> = cancelled.map(|(_, probe)| probe).collect();
    trial.run("a sleep of 6 ms", Fiber::delay(2 * SHORT));
    let fired = cancelled.iter().filter(|probe| probe.runs() > 0).count();
    assert_eq!(fired, 0, "of {} cancelled timers, {fired} fire", cancelled.len());

    let held = Arc::new(());
    let value = held.clone();
    let begun = Gate::new(1);
    let passing = begun.passing();
    let sleeper = trial.spawn(passing.bind(move |()| Fiber::delay(LONG).map(move |()| drop(value))));
    trial.run("a fiber that is about to sleep", begun.opened());
    sleeper.cancel_now();
    assert!(trial.finish("a fiber whose sleep is cancelled", sleeper).is_cancelled());
    assert_eq!(Arc::strong_count(&held), 1, "a cancelled sleep keeps the values of its fiber");
}

pub(super) fn cancel_timer_tells_the_truth<H: AnyHost + ?Sized>(trial: Trial<H>) {
    const TIMERS: usize = 400;
    /// The time span in which they fire: about as long as the cancellations take.
    const SPAN: Duration = Duration::from_millis(2);
    let scheduler = trial.scheduler();
    let gate = Gate::new(1);
    let timers: Vec<_> =
        (0..TIMERS).map(|n| set(&scheduler, spread(n) * SPAN.as_millis() as u32 / 20, &gate)).collect();
    let cancels = {
        let (scheduler, timers) = (scheduler.clone(), timers.clone());
        thread::spawn(move || -> Vec<bool> {
            let every_second = timers.iter().skip(1).step_by(2);
            every_second.map(|(key, _)| scheduler.cancel_timer(*key)).collect()
        })
    };
    if !trial.host().is_virtual() {
        trial.run("a sleep beside timers that are cancelled", Fiber::delay(SPAN));
    }
    let answers = cancels.join().expect("`cancel_timer` does not panic");
    trial.run("a sleep until all timers have fired", Fiber::delay(SPAN));
    let every_second = timers.iter().skip(1).step_by(2);
    for ((_, probe), is_cancelled) in every_second.zip(answers) {
        trial.eventually("a timer to fire or to be dropped", || probe.is_gone());
        let runs = probe.runs();
        let expected = usize::from(!is_cancelled);
        assert_eq!(runs, expected, "`cancel_timer` says {is_cancelled}, and the timer fires {runs} times");
    }
    for (_, probe) in timers.iter().step_by(2) {
        trial.eventually("a timer that is not cancelled", || probe.runs() == 1);
    }
}

pub(super) fn stale_keys_cancel_nothing<H: AnyHost + ?Sized>(trial: Trial<H>) {
    let scheduler = trial.scheduler();
    for _ in 0..20 {
        let (fires, never) = (Gate::new(1), Gate::new(1));
        let (fired, _) = set(&scheduler, Duration::ZERO, &fires);
        trial.run("a timer that is due", fires.opened());
        let (cancelled, _) = set(&scheduler, LONG, &never);
        assert!(scheduler.cancel_timer(cancelled), "a timer of an hour cannot be cancelled");
        // The new timers may reuse the slots of those that are gone.
        let others: Vec<_> = (0..10).map(|_| set(&scheduler, LONG, &never)).collect();
        assert!(!scheduler.cancel_timer(fired), "the timer of {fired:?} has fired, and is cancelled again");
        assert!(!scheduler.cancel_timer(cancelled), "the timer of {cancelled:?} is cancelled twice");
        let gone = others.iter().filter(|(_, probe)| probe.is_gone()).count();
        assert_eq!(gone, 0, "stale keys cancel other timers");
        for (key, _) in others {
            assert!(scheduler.cancel_timer(key), "stale keys cancel another timer, that of {key:?}");
        }
    }
}

pub(super) fn many_timers_fire_or_are_cancelled<H: AnyHost + ?Sized>(trial: Trial<H>) {
    const TIMERS: usize = 20_000;
    let scheduler = trial.scheduler();
    let gate = Gate::new(TIMERS);
    let timers: Vec<_> = (0..TIMERS).map(|n| set(&scheduler, spread(n), &gate)).collect();
    let every_second = timers.iter().step_by(2);
    let cancelled: Vec<_> = every_second.filter(|(key, _)| scheduler.cancel_timer(*key)).collect();
    cancelled.iter().for_each(|_| gate.pass());
    trial.run("20,000 timers, half of which are cancelled", gate.opened());
    trial.eventually("the tasks of 20,000 timers", || timers.iter().all(|(_, probe)| probe.is_gone()));
    let fired = cancelled.iter().filter(|(_, probe)| probe.runs() > 0).count();
    assert!(fired == 0, "{fired} of {} cancelled timers fire", cancelled.len());
    let uncancelled = timers.iter().skip(1).step_by(2);
    let lost = uncancelled.filter(|(_, probe)| probe.runs() != 1).count();
    assert_eq!(lost, 0, "of 10,000 timers that are not cancelled, {lost} do not fire");
}

pub(super) fn the_clock_never_goes_back<H: AnyHost + ?Sized>(trial: Trial<H>) {
    const READS: usize = 5_000;
    let latest = Arc::new(AtomicU64::new(0));
    let reads = || {
        let (scheduler, latest) = (trial.scheduler(), latest.clone());
        move || {
            for _ in 0..READS {
                // Acquire: pairs with the Release below: that clock read happened before this one.
                let before = latest.load(Ordering::Acquire);
                let now = scheduler.now().as_nanos();
                assert!(before <= now, "the clock goes back from {before} ns to {now} ns");
                // Release: pairs with the Acquire above.
                latest.fetch_max(now, Ordering::Release);
            }
        }
    };
    let in_fibers = Fiber::parallel([reads(), reads()].map(Fiber::lazy));
    trial.expect("threads that read the clock");
    thread::scope(|scope| {
        let thread = scope.spawn(reads());
        trial.run("fibers that read the clock", in_fibers.map(drop));
        trial.run("a sleep of 1 ms", Fiber::delay(Duration::from_millis(1)));
        trial.run("a fiber that reads the clock", Fiber::lazy(reads()));
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    });
}
