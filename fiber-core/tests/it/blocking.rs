//! Closures on blocking threads, and the effect of cancellation on them.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::support::{Counter, Queue};
use fiber_core::error::Abandoned;
use fiber_core::scheduler::TaskKind;
use fiber_core::sync::one_shot;
use fiber_core::{CancelToken, Context, Error, Fiber, local_key};
use fiber_sched::{Pool, Settings};
use fiber_test::TestScheduler;

#[test]
fn a_closure_that_has_not_started_never_does_after_a_cancellation() {
    let pool = Pool::builder().workers(1).settings(Settings::new().blocking_threads(1)).build();
    let (started, has_started) = mpsc::channel();
    let (release, is_released) = mpsc::channel::<()>();
    let first = pool.spawn(Fiber::blocking(move || {
        started.send(()).unwrap();
        is_released.recv().unwrap();
    }));
    has_started.recv().unwrap();
    // The only thread is busy, so the second closure has to wait for it.
    let counter = Counter::default();
    let seen = counter.clone();
    let second = pool.spawn(Fiber::blocking(move || seen.add()));
    let asked = pool.run(Fiber::yield_now().bind(move |()| second.cancel().bind(|()| second.outcome())));
    assert!(asked.unwrap().is_cancelled());
    release.send(()).unwrap();
    pool.run(first.join()).unwrap();
    pool.run(Fiber::blocking(|| ())).unwrap();
    assert_eq!(counter.get(), 0);
}

#[test]
fn calls_that_follow_each_other_closely_all_run_whatever_the_threads_do_between_them() {
    for threads in [1, 2, 3] {
        let pool = Pool::builder().workers(2).settings(Settings::new().blocking_threads(threads)).build();
        let counter = Counter::default();
        let seen = counter.clone();
        let call = move || {
            let seen = seen.clone();
            Fiber::blocking(move || seen.add())
        };
        let calls = (0..4).map(move |_| {
            let call = call.clone();
            Fiber::for_each(0..200, move |_| call())
        });
        assert!(pool.run(Fiber::parallel(calls)).is_success());
        assert_eq!(counter.get(), 800);
    }
}

#[test]
fn a_fiber_blocked_in_a_closure_is_cancelled_at_once_and_the_closure_ends_by_itself() {
    let pool = Pool::builder().workers(1).build();
    let (started, has_started) = mpsc::channel();
    let (release, is_released) = mpsc::channel::<()>();
    let (ended, has_ended) = mpsc::channel();
    let handle = pool.spawn(Fiber::blocking(move || {
        started.send(()).unwrap();
        is_released.recv().unwrap();
        ended.send(()).unwrap();
    }));
    has_started.recv().unwrap();
    // Waits for the end of the fiber, which comes although the closure is blocked.
    assert!(pool.run(handle.cancel()).is_success());
    assert!(pool.run(handle.outcome()).unwrap().is_cancelled());
    release.send(()).unwrap();
    has_ended.recv().unwrap();
}

#[test]
fn a_closure_keeps_its_locals_after_its_fiber_was_cancelled() {
    local_key! { static REQUEST: u64 = 0; }
    let pool = Pool::builder().workers(1).build();
    let (release, is_released) = mpsc::channel::<()>();
    let (tell, told) = mpsc::channel();
    let (begin, has_begun) = one_shot();
    let closure = Fiber::blocking(move || {
        tell.send(Context::local(&REQUEST)).unwrap();
        assert!(begin.send(()).is_ok());
        is_released.recv().unwrap();
        tell.send(Context::local(&REQUEST)).unwrap();
    });
    let first = closure.with_local(&REQUEST, 1).race(has_begun);
    let next = Fiber::lazy(move || release.send(()).unwrap()).bind(|()| Fiber::<()>::never());
    let fiber = pool.spawn(first.bind(move |_| next.with_local(&REQUEST, 2)));
    assert_eq!((told.recv(), told.recv()), (Ok(1), Ok(1)));
    fiber.cancel_now();
    let dedicated = Fiber::dedicated(|_: &CancelToken| Ok::<_, Error>(Context::local(&REQUEST)));
    assert_eq!(pool.run(dedicated.with_local(&REQUEST, 3)).unwrap(), 3);
}

#[test]
fn a_closure_with_a_token_is_asked_to_stop() {
    let pool = Pool::builder().workers(1).build();
    let (started, has_started) = mpsc::channel();
    let (ended, has_ended) = mpsc::channel();
    let handle = pool.spawn(Fiber::blocking_with(move |token: &CancelToken| {
        started.send(()).unwrap();
        while !token.is_cancelled() {
            std::hint::spin_loop();
        }
        ended.send("stopped").unwrap();
        Ok::<_, Error>(())
    }));
    has_started.recv().unwrap();
    assert!(pool.run(handle.cancel()).is_success());
    assert_eq!(has_ended.recv().unwrap(), "stopped");
}

#[test]
fn an_uncancelable_closure_is_waited_for() {
    let pool = Pool::builder().workers(1).build();
    let (started, has_started) = mpsc::channel();
    let (release, is_released) = mpsc::channel::<()>();
    let handle = pool.spawn(
        Fiber::blocking(move || {
            started.send(()).unwrap();
            is_released.recv().unwrap();
            "its value"
        })
        .uncancelable(),
    );
    has_started.recv().unwrap();
    handle.cancel_now();
    assert!(!handle.is_finished());
    release.send(()).unwrap();
    assert_eq!(pool.run(handle.outcome()).unwrap().unwrap(), "its value");
}

#[test]
fn a_failure_of_a_closure_keeps_its_type_and_place() {
    let fiber = Fiber::try_blocking(|| std::fs::read("/no/such/file"));
    let error = TestScheduler::new().run(fiber).failure().unwrap();
    assert_eq!(error.downcast_ref::<std::io::Error>().unwrap().kind(), std::io::ErrorKind::NotFound);
    assert_eq!(error.trace()[0].operator(), "try_blocking");
    assert!(error.trace()[0].location().file().ends_with("blocking.rs"));
}

#[test]
fn a_timeout_of_a_hanging_closure_does_not_wait_for_it() {
    let pool = Pool::builder().workers(1).build();
    let (release, is_released) = mpsc::channel::<()>();
    let hangs = Fiber::blocking(move || is_released.recv().is_ok());
    let outcome = pool.run(hangs.timeout_option(Duration::from_millis(1)));
    assert_eq!(outcome.unwrap(), None);
    drop(release);
}

/// Spins until the token is cancelled.
fn until_asked(token: &CancelToken) {
    while !token.is_cancelled() {
        std::thread::yield_now();
    }
}

#[test]
fn a_dedicated_closure_has_a_thread_of_its_own_beside_the_limit() {
    let pool = Pool::builder().workers(1).settings(Settings::new().blocking_threads(1)).name("own").build();
    let (release, is_released) = mpsc::channel::<()>();
    let occupies = pool.spawn(Fiber::blocking(move || is_released.recv().unwrap()));
    let names = (0..3).map(|_| {
        Fiber::dedicated(|_: &CancelToken| {
            Ok::<_, Error>(
                std::thread::current().name().unwrap().trim_end_matches(char::is_numeric).to_owned(),
            )
        })
    });
    assert_eq!(pool.run(Fiber::parallel(names)).unwrap(), ["own-dedicated-"; 3]);
    release.send(()).unwrap();
    pool.run(occupies.join()).unwrap();
}

#[test]
fn a_cancelled_dedicated_closure_is_asked_to_stop_and_waited_for_and_its_value_is_kept() {
    let pool = Pool::builder().workers(1).build();
    let (started, has_started) = mpsc::channel();
    let (release, is_released) = mpsc::channel::<()>();
    let handle = pool.spawn(Fiber::dedicated(move |token: &CancelToken| {
        started.send(()).unwrap();
        until_asked(token);
        is_released.recv().unwrap();
        Ok::<_, Error>("stopped")
    }));
    has_started.recv().unwrap();
    handle.cancel_now();
    // The closure has not returned, so the fiber waits for it, which its cancellation does not end.
    while !pool.dump().to_string().contains("waits for a blocking call (wait 2), cancelled") {
        std::thread::yield_now();
    }
    assert!(!handle.is_finished());
    release.send(()).unwrap();
    assert_eq!(pool.run(handle.outcome()).unwrap().unwrap(), "stopped");
}

#[test]
fn a_dedicated_closure_that_fails_because_it_was_asked_to_stop_ends_as_cancelled() {
    let pool = Pool::builder().workers(1).build();
    let (started, has_started) = mpsc::channel();
    let handle = pool.spawn(Fiber::dedicated(move |token: &CancelToken| {
        started.send(()).unwrap();
        until_asked(token);
        token.check()
    }));
    has_started.recv().unwrap();
    assert!(pool.run(handle.cancel()).is_success());
    assert!(pool.run(handle.outcome()).unwrap().is_cancelled());
}

#[test]
fn a_dedicated_closure_that_panics_after_it_was_asked_to_stop_ends_as_panicked() {
    let pool = Pool::builder().workers(1).build();
    let (started, has_started) = mpsc::channel();
    let handle = pool.spawn(Fiber::dedicated(move |token: &CancelToken| -> Result<(), Error> {
        started.send(()).unwrap();
        until_asked(token);
        panic!("late")
    }));
    has_started.recv().unwrap();
    handle.cancel_now();
    assert!(pool.run(handle.outcome()).unwrap().is_panicked());
}

#[test]
fn dropping_the_pool_stops_a_dedicated_closure_and_waits_for_it() {
    let pool = Pool::builder().workers(1).build();
    let (started, has_started) = mpsc::channel();
    let ended = Counter::default();
    let ends = ended.clone();
    let dedicated = Fiber::dedicated(move |token: &CancelToken| {
        started.send(()).unwrap();
        until_asked(token);
        ends.add();
        token.check()
    });
    let handle = pool.spawn(dedicated);
    has_started.recv().unwrap();
    drop(pool);
    assert_eq!(ended.get(), 1);
    assert!(handle.try_outcome().unwrap().is_cancelled());
}

#[test]
fn a_dedicated_closure_that_ends_right_after_the_cancellation_ends_its_fiber() {
    let queue = Arc::new(Queue::default());
    let root = Context::root(queue.clone());
    let handle = root.spawn(Fiber::dedicated(|_: &CancelToken| Ok::<_, Error>(7)));
    // The fiber waits. Its closure is next.
    queue.pop().unwrap().run();
    handle.cancel_now();
    // The closure ends before the fiber has noticed the cancellation.
    queue.drain();
    assert!(handle.try_outcome().is_ok(), "the fiber waits for what has been delivered");
}

#[test]
fn a_dedicated_closure_that_has_not_started_never_does_after_a_cancellation() {
    let queue = Arc::new(Queue::default());
    let root = Context::root(queue.clone());
    let counter = Counter::default();
    let seen = counter.clone();
    let handle = root.spawn(Fiber::dedicated(move |_: &CancelToken| {
        seen.add();
        Ok::<_, Error>(())
    }));
    queue.pop().unwrap().run();
    handle.cancel_now();
    let [work, wake] = [(); 2].map(|()| queue.pop().unwrap());
    assert_eq!((work.kind(), wake.kind()), (TaskKind::Blocking, TaskKind::Cancel));
    wake.run();
    assert!(handle.try_outcome().unwrap().is_cancelled());
    work.run();
    assert_eq!(counter.get(), 0);
    root.cancel();
}

#[test]
fn a_call_for_which_there_is_no_thread_says_so() {
    let blocking = Fiber::blocking(|| ()).boxed();
    let dedicated = Fiber::dedicated(|_: &CancelToken| Ok::<_, Error>(())).boxed();
    for call in [blocking, dedicated] {
        let queue = Arc::new(Queue::default());
        let root = Context::root(queue.clone());
        let handle = root.spawn(call);
        queue.pop().unwrap().run();
        let work = queue.pop().unwrap();
        assert_eq!(work.kind(), TaskKind::Blocking);
        // As a scheduler does that cannot start a thread.
        drop(work);
        queue.drain();
        let error = handle.try_outcome().unwrap().failure().unwrap();
        assert!(error.is::<Abandoned>(), "{error:#}");
        let message = error.to_string();
        let reason = "the scheduler has stopped, or could not start a thread for the call: ";
        assert!(message.starts_with(reason), "{message}");
        root.cancel();
    }
}

#[test]
fn a_dedicated_closure_runs_on_virtual_time_like_a_blocking_one() {
    let test = TestScheduler::new();
    let dedicated = Fiber::dedicated(|token: &CancelToken| token.check().map(|()| 7));
    assert_eq!(test.run(dedicated.clone().zip(dedicated)).unwrap(), (7, 7));
    test.assert_no_leaks();
}
