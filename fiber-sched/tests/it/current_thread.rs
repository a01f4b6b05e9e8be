//! Fibers on the calling thread.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use fiber_core::sync::{Channel, Notify};
use fiber_core::{Fiber, Handle};
use fiber_sched::{CurrentThread, History};

#[test]
fn everything_runs_on_the_calling_thread() {
    let scheduler = CurrentThread::new();
    let here = thread::current().id();
    let where_am_i = || Fiber::yield_now().map(|()| thread::current().id());
    let after_sleep = Fiber::delay(Duration::from_millis(1)).bind(move |()| where_am_i());
    let after_blocking = Fiber::blocking(|| ()).bind(move |()| where_am_i());
    assert_eq!(scheduler.run(after_sleep.zip(after_blocking)).unwrap(), (here, here));
}

#[test]
fn a_spawned_fiber_runs_only_while_run_is_called() {
    let scheduler = CurrentThread::new();
    let has_run = Arc::new(AtomicBool::new(false));
    let runs = has_run.clone();
    let handle = scheduler.spawn(Fiber::lazy(move || runs.store(true, Ordering::Relaxed)));
    assert!(!has_run.load(Ordering::Relaxed));
    assert!(scheduler.run(Fiber::yield_now()).is_success());
    assert!(has_run.load(Ordering::Relaxed) && handle.is_finished());
}

#[test]
fn a_fork_that_is_joined_before_it_has_started_leaves_no_task_behind() {
    let scheduler = CurrentThread::new();
    let name: Arc<str> = "child".into();
    let weak = Arc::downgrade(&name);
    let joined = Fiber::success(1).named(name).fork().bind(|child| child.join());
    // The cell of the child has its name, and a task would keep the cell.
    assert_eq!(scheduler.run(joined.map(move |_| weak.strong_count())).unwrap(), 0);
}

#[test]
fn another_thread_may_spawn_in_its_context() {
    let scheduler = CurrentThread::new();
    let context = scheduler.context().clone();
    let handle = thread::spawn(move || context.spawn(Fiber::lazy(|| thread::current().id()))).join().unwrap();
    assert_eq!(scheduler.run(handle.join()).unwrap(), thread::current().id());
}

#[test]
fn nested_run_panics() {
    thread_local! {
        static SCHEDULER: CurrentThread = CurrentThread::new();
    }
    let nested = Fiber::lazy(|| SCHEDULER.with(|scheduler| scheduler.run(Fiber::success(1)).unwrap()));
    let outcome = SCHEDULER.with(|scheduler| scheduler.run(nested));
    assert!(outcome.is_panicked());
    assert!(SCHEDULER.with(|scheduler| scheduler.run(Fiber::success(1))).is_success());
}

#[test]
fn a_current_thread_inside_another_is_allowed() {
    let scheduler = CurrentThread::new();
    let nested = Fiber::lazy(|| CurrentThread::new().run(Fiber::yield_now().map(|()| 4)).unwrap());
    assert_eq!(scheduler.run(nested).unwrap(), 4);
}

#[test]
fn it_may_move_to_another_thread() {
    let scheduler = CurrentThread::new();
    let handle = scheduler.spawn(Fiber::yield_now().map(|()| thread::current().id()));
    let (there, ran_on) = thread::spawn(move || {
        let ran_on = scheduler.run(handle.join()).unwrap();
        (thread::current().id(), ran_on)
    })
    .join()
    .unwrap();
    assert_eq!(there, ran_on);
}

/// Notes its name when it has waited for the notification.
fn noted(name: &'static str, wait: &Notify, log: &Arc<Mutex<Vec<&'static str>>>) -> Fiber<()> {
    let log = log.clone();
    wait.wait().map(move |()| log.lock().unwrap().push(name)).boxed()
}

#[test]
fn a_fiber_that_is_woken_runs_before_those_in_the_queue_unless_an_observer_looks() {
    let order = |scheduler: &CurrentThread| {
        let (first, second) = (Notify::new(), Notify::new());
        let log = Arc::default();
        let waiting = [noted("first", &first, &log), noted("second", &second, &log)];
        let queued = log.clone();
        let wake = Fiber::fork_all(waiting).bind(move |waiting| {
            Fiber::yield_now().bind(move |()| {
                let queued = Fiber::lazy(move || queued.lock().unwrap().push("queued")).fork();
                queued.bind(move |queued| {
                    first.notify_one();
                    second.notify_one();
                    // A join would start the fiber in the queue.
                    Fiber::yield_now()
                        .bind(|()| queued.join().zip(Fiber::parallel(waiting.into_iter().map(Handle::join))))
                })
            })
        });
        assert!(scheduler.run(wake).is_success());
        Arc::into_inner(log).unwrap().into_inner().unwrap()
    };
    assert_eq!(order(&CurrentThread::new()), ["first", "queued", "second"]);
    assert_eq!(order(&CurrentThread::with_observer(History::new())), ["queued", "first", "second"]);
}

#[test]
fn two_fibers_that_wake_each_other_let_others_run() {
    let (to, from_here) = Channel::bounded(1);
    let (back, from_there) = Channel::bounded(1);
    let (runs, seen) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicU32::new(0)));
    let (goes_on, turns) = (runs.clone(), seen.clone());
    // 100 turns of another fiber end an endless exchange.
    let other = Fiber::for_each(0..100, move |_| {
        turns.fetch_add(1, Ordering::Relaxed);
        Fiber::yield_now()
    })
    .map(move |()| runs.store(false, Ordering::Relaxed));
    let echo = from_here.for_each(move |n: u64| back.send(n));
    let ask = Fiber::iterate(0, move |n| {
        let (answer, goes_on) = (from_there.recv(), goes_on.load(Ordering::Relaxed));
        to.send(n)
            .bind(move |()| answer)
            .map(move |n| if goes_on { ControlFlow::Continue(n + 1) } else { ControlFlow::Break(n) })
    });
    let exchange = echo.fork().bind(|_| other.fork().bind(|_| ask));
    let exchanged = CurrentThread::new().run(exchange).unwrap();
    assert_eq!(seen.load(Ordering::Relaxed), 100);
    // Eight turns, four in each direction, for each of the other fiber.
    assert!((300..500).contains(&exchanged), "{exchanged}");
}

#[test]
fn a_fiber_that_was_woken_does_not_run_on_a_scheduler_that_runs_in_the_same_turn() {
    let log = Arc::default();
    let notify = Notify::new();
    let woken = noted("woken", &notify, &log);
    let inside = log.clone();
    let wake = woken.fork().bind(move |woken| {
        Fiber::yield_now().bind(move |()| {
            notify.notify_one();
            // It wakes fibers of its own, too.
            let (sender, receiver) = Channel::bounded(1);
            let exchange = receiver.recv().zip(sender.send("inside"));
            let (got, ()) = CurrentThread::new().run(exchange).unwrap();
            inside.lock().unwrap().push(got);
            woken.join()
        })
    });
    assert!(CurrentThread::new().run(wake).is_success());
    assert_eq!(*log.lock().unwrap(), ["inside", "woken"]);
}

#[test]
fn a_blocking_closure_may_drop_its_own_scheduler() {
    let scheduler = CurrentThread::new();
    let (give, given) = mpsc::channel::<CurrentThread>();
    let (end, ended) = mpsc::channel();
    let call = Fiber::blocking(move || {
        drop(given.recv().unwrap());
        end.send(()).unwrap();
    });
    let call = scheduler.spawn(call);
    let other = scheduler.spawn(Fiber::<()>::never());
    scheduler.run(Fiber::delay(Duration::from_millis(1))).unwrap();
    give.send(scheduler).unwrap();
    ended.recv_timeout(Duration::from_secs(20)).expect("it does not wait for itself");
    assert!(call.try_outcome().unwrap().is_cancelled());
    assert!(other.try_outcome().unwrap().is_cancelled());
}
