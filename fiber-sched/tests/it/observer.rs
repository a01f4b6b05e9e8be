//! Observers see the events and the turns of fibers, and cannot do any damage.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use fiber_core::scheduler::{Event, Unobserved};
use fiber_core::{Context, Error, Fiber, Outcome};
use fiber_sched::{CurrentThread, Observer, Pool, Settings, Shutdown, Stuck, block_on};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, what: &str, fiber: &Context) {
        if let Some(name) = fiber.name() {
            self.0.lock().unwrap().push(format!("{what} {name}"));
        }
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Observer for Log {
    fn event(&self, fiber: &Context, event: Event<'_>) {
        match event {
            Event::Created { .. } => self.note("created", fiber),
            Event::Cancelled => self.note("cancelled", fiber),
            Event::Outcome(_) => self.note("outcome", fiber),
            Event::Ended => self.note("ended", fiber),
            _ => {}
        }
    }

    fn turn(&self, fiber: &Context, turn: &mut dyn FnMut()) {
        self.note("enter", fiber);
        turn();
        self.note("leave", fiber);
    }

    fn unobserved(&self, failure: &Unobserved) {
        self.note(failure.message(), failure.fiber());
    }
}

/// Ends when every fiber has ended normally.
fn finish(pool: Pool) {
    let long = Duration::from_secs(60);
    pool.shutdown(Shutdown::within(long).after_draining(long)).unwrap();
}

#[test]
fn an_observer_sees_the_life_of_a_fiber_in_order() {
    let log = Log::default();
    let pool = Pool::builder().workers(1).observer(log.clone()).build();
    assert!(block_on(pool.spawn(Fiber::yield_now().named("a"))).is_success());
    finish(pool);
    let expected = ["created a", "enter a", "leave a", "enter a", "outcome a", "ended a", "leave a"];
    assert_eq!(log.lines(), expected);
}

#[test]
fn a_fiber_is_cancelled_before_it_has_ended_or_not_at_all() {
    let log = Log::default();
    let scheduler = CurrentThread::with_observer(log.clone());
    let (ended, waiting) =
        (scheduler.spawn(Fiber::success(()).named("a")), scheduler.spawn(Fiber::<()>::never().named("b")));
    scheduler.run(ended.ended()).unwrap();
    ended.cancel_now();
    waiting.cancel_now();
    waiting.cancel_now();
    scheduler.run(waiting.ended()).unwrap();
    let lines = log.lines();
    let cancelled: Vec<_> = lines.iter().filter(|line| line.starts_with("cancelled")).collect();
    assert_eq!(cancelled, ["cancelled b"], "{lines:?}");
}

#[test]
fn the_current_thread_has_an_observer_too() {
    let log = Log::default();
    let scheduler = CurrentThread::with_observer(log.clone());
    let fiber = scheduler.spawn(Fiber::yield_now().named("a"));
    drop(scheduler.spawn(Fiber::<()>::fail(Error::msg("lost")).named("b")));
    assert!(scheduler.run(fiber.join()).is_success());
    drop(scheduler);
    let of = |fiber: &str| log.lines().into_iter().filter(|line| line.ends_with(fiber)).collect::<Vec<_>>();
    // The fiber that joins it starts it in its own turn.
    assert_eq!(of(" a"), ["created a", "enter a", "outcome a", "ended a", "leave a"]);
    assert_eq!(of(" b"), ["created b", "enter b", "outcome b", "lost b", "ended b", "leave b"]);
}

#[test]
fn a_blocking_call_is_a_turn_too() {
    let log = Log::default();
    let pool = Pool::builder().workers(1).observer(log.clone()).build();
    let inside = log.clone();
    let call = Fiber::blocking(move || inside.lines().iter().filter(|line| *line == "enter b").count());
    // The turn that starts the call may still last.
    assert_eq!(block_on(pool.spawn(call.named("b"))).unwrap(), 2);
    finish(pool);
}

#[test]
fn unobserved_failures_reach_the_observer_and_the_hook() {
    let log = Log::default();
    let (hook, hooked) = mpsc::channel();
    let settings = Settings::new().on_unobserved(move |failure| _ = hook.send(failure.message().to_owned()));
    let pool = Pool::builder().workers(1).settings(settings).observer(log.clone()).build();
    drop(pool.spawn(Fiber::<()>::fail(Error::msg("lost")).named("c")));
    finish(pool);
    assert_eq!(hooked.recv().unwrap(), "lost");
    assert!(log.lines().contains(&"lost c".to_owned()));
}

/// Does everything wrong.
struct Bad;

impl Observer for Bad {
    fn event(&self, _: &Context, _: Event<'_>) {
        panic!("planned")
    }

    fn turn(&self, fiber: &Context, turn: &mut dyn FnMut()) {
        match fiber.id().len() % 3 {
            0 => panic!("planned"),
            1 => {}
            _ => {
                turn();
                turn();
            }
        }
    }

    fn unobserved(&self, _: &Unobserved) {
        panic!("planned")
    }

    fn stuck(&self, _: &Stuck) {
        panic!("planned")
    }
}

#[test]
fn a_bad_observer_harms_no_fiber() {
    std::panic::set_hook(Box::new(|info| {
        if info.payload().downcast_ref::<&str>() != Some(&"planned") {
            eprintln!("{info}");
        }
    }));
    let log = Log::default();
    let pool = Pool::builder().workers(2).observer(Bad).observer(log.clone()).build();
    let ran = Arc::new(AtomicUsize::new(0));
    let counts = ran.clone();
    let count = move |n: u64| {
        let ran = counts.clone();
        let nap = Fiber::delay(Duration::from_micros(n)).bind(|()| Fiber::blocking(|| ()));
        nap.map(move |()| _ = ran.fetch_add(1, Ordering::SeqCst)).fork().bind(|fork| fork.join())
    };
    assert!(block_on(pool.spawn(Fiber::parallel((0..500).map(count)))).is_success());
    drop(pool.spawn(Fiber::<()>::fail(Error::msg("lost")).named("d")));
    finish(pool);
    assert_eq!(ran.load(Ordering::SeqCst), 500);
    assert!(log.lines().contains(&"lost d".to_owned()));
}

/// Cancels every fiber of this name as soon as it exists.
struct CancelAtOnce(&'static str);

impl Observer for CancelAtOnce {
    fn event(&self, fiber: &Context, event: Event<'_>) {
        if matches!(event, Event::Created { .. }) && fiber.name() == Some(self.0) {
            fiber.cancel();
        }
    }
}

#[test]
fn an_observer_may_cancel_a_fiber_that_is_just_being_made() {
    let pool = Pool::builder().workers(2).observer(CancelAtOnce("unwanted")).build();
    let unwanted = || Fiber::lazy(|| unreachable!("it was cancelled before its start")).named("unwanted");
    let forked = unwanted().fork().bind(|handle| handle.outcome());
    let ends = block_on(pool.spawn(forked)).unwrap();
    assert!(matches!(ends, Outcome::<()>::Cancelled));
    assert!(block_on(pool.spawn(unwanted())).is_cancelled());
    finish(pool);
}
