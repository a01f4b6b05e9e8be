//! No panic ends a worker.

use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use fiber_core::{Error, Fiber, Resume};
use fiber_sched::{Pool, Settings, Shutdown, block_on};

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a drop that panics");
        }
    }
}

fn assert_worker_lives(pool: &Pool) {
    assert_eq!(block_on(pool.spawn(Fiber::yield_now().map(|()| 1))).unwrap(), 1);
}

#[test]
fn a_panic_in_a_blocking_closure_leaves_its_thread_alive() {
    let pool = Pool::builder().workers(1).settings(Settings::new().blocking_threads(1)).build();
    assert!(pool.run(Fiber::blocking(|| -> u8 { panic!("on purpose") })).is_panicked());
    assert!(pool.run(Fiber::blocking(|| 1)).is_success());
}

#[test]
fn a_value_whose_drop_panics_leaves_the_worker_alive() {
    let pool = Pool::builder().workers(1).build();
    let value = PanicsWhenDropped;
    let fiber = Fiber::yield_now().map(move |()| drop(value));
    assert!(block_on(pool.spawn(fiber)).is_panicked());
    // Only the worker is left to drop the value of this one.
    let (sender, receiver) = mpsc::channel::<Resume<()>>();
    let wait = Fiber::callback(move |resume| sender.send(resume).unwrap());
    drop(pool.spawn(wait.map(|()| PanicsWhenDropped)));
    receiver.recv().unwrap().success(());
    assert_worker_lives(&pool);
}

#[test]
fn a_waker_that_panics_leaves_the_worker_alive() {
    struct Bad;
    impl Wake for Bad {
        fn wake(self: Arc<Self>) {
            panic!("a waker that panics");
        }
    }
    let pool = Pool::builder().workers(1).build();
    let (sender, receiver) = mpsc::channel();
    let wait = Fiber::callback(move |resume| sender.send(resume).unwrap());
    let mut future = Box::pin(pool.spawn(wait).into_future());
    let resume: Resume<()> = receiver.recv().unwrap();
    let waker = Waker::from(Arc::new(Bad));
    assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    resume.success(());
    assert_worker_lives(&pool);
    assert!(block_on(future).is_success());
    // The panic may have destroyed the fiber, so that its end cannot be awaited.
    _ = pool.shutdown(Shutdown::within(Duration::ZERO));
}

#[test]
fn an_unobserved_failure_reaches_the_hook() {
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    let pool =
        Pool::builder()
            .workers(1)
            .settings(Settings::new().on_unobserved(move |failure| {
                sender.lock().unwrap().send(failure.message().to_owned()).unwrap()
            }))
            .build();
    drop(pool.spawn(Fiber::<()>::fail(Error::msg("nobody looks"))));
    assert_eq!(receiver.recv().unwrap(), "nobody looks");
}

#[test]
fn a_panic_of_the_unobserved_hook_is_contained() {
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    let pool = Pool::builder()
        .workers(1)
        .settings(Settings::new().on_unobserved(move |_| {
            sender.lock().unwrap().send(()).unwrap();
            panic!("the hook")
        }))
        .build();
    drop(pool.spawn(Fiber::<()>::fail(Error::msg("nobody looks"))));
    receiver.recv().unwrap();
    assert_worker_lives(&pool);
}
