//! Values that the engine drops may be nested, and a drop may run a program: that program ends, whatever it drops itself.

use std::sync::mpsc;
use std::time::Duration;

use crate::support::{Counter, Queue};
use fiber_core::{Either, Error, Fiber};
use fiber_sched::{CurrentThread, Pool};
use fiber_test::TestScheduler;

const SECOND: Duration = Duration::from_secs(1);

/// Much longer than any step takes.
const WATCHDOG: Duration = Duration::from_secs(60);

/// Runs a program when it is dropped.
struct Nested {
    run: fn(&Counter),
    ended: Counter,
}

impl Drop for Nested {
    fn drop(&mut self) {
        (self.run)(&self.ended);
    }
}

/// A fiber that was never run, with a fiber in its closure, and so on; each holds a [`Nested`].
fn unrun(levels: usize, run: fn(&Counter), ended: &Counter) -> Fiber<()> {
    (0..levels).fold(Fiber::success(()).boxed(), |inner, _| {
        let nested = Nested { run, ended: ended.clone() };
        Fiber::success(nested).bind(move |_| inner).boxed()
    })
}

#[track_caller]
fn ends(levels: usize, run: fn(&Counter)) {
    let (done, is_done) = mpsc::channel();
    beside(move || {
        let ended = Counter::default();
        drop(unrun(levels, run, &ended));
        done.send(ended.get())
    });
    assert_eq!(is_done.recv_timeout(WATCHDOG), Ok(levels), "programs that ended in a drop");
}

/// Runs a test on its own thread, because it may hang.
fn beside<T: Send + 'static>(test: impl FnOnce() -> T + Send + 'static) {
    std::thread::Builder::new().spawn(test).unwrap();
}

/// Drops erased fibers, waiting callbacks, losers, and handles; waits for the end of some of them.
fn program(ended: &Counter) -> Fiber<()> {
    let loser = Fiber::<()>::never().boxed().map(|()| ()).boxed();
    let fork = Fiber::<()>::never().boxed().ensure(Fiber::yield_now()).fork();
    let forgotten = fork.bind(|child| child.cancel()).boxed();
    let resumed = Fiber::<()>::callback(|resume| {
        // A drop in a fiber that never runs resumes this one.
        drop(Fiber::lazy(move || drop(resume)).boxed().map(|()| ()).boxed());
    });
    let resumed = resumed.catch(|_| Fiber::success(()));
    let race = loser.race(Fiber::yield_now()).map(|first: Either<(), ()>| first.into_inner());
    let all = race.bind(move |()| forgotten).bind(move |()| resumed);
    all.ensure(ended.count()).boxed()
}

fn on_the_virtual_timeline(ended: &Counter) {
    let test = TestScheduler::new();
    assert!(test.run(program(ended)).is_success());
}

fn on_a_queue(ended: &Counter) {
    assert!(Queue::run(program(ended)).is_success());
}

fn on_this_thread(ended: &Counter) {
    assert!(CurrentThread::new().run(program(ended)).is_success());
}

fn on_a_pool(ended: &Counter) {
    let pool = Pool::builder().workers(1).build();
    assert!(pool.run(program(ended)).is_success());
}

fn on_what_is_abandoned(ended: &Counter) {
    let test = TestScheduler::new();
    let waits = Fiber::<()>::never().uncancelable().boxed().map(|()| ()).boxed();
    let spawned = test.spawn(waits.map(|()| ()).boxed());
    test.run_until_idle();
    drop(test);
    assert!(spawned.outcome().failure().unwrap().is::<fiber_core::error::Abandoned>());
    ended.add();
}

#[test]
fn a_program_in_the_drop_of_a_buried_fiber_ends() {
    ends(3, on_the_virtual_timeline);
    ends(3, on_a_queue);
    ends(3, on_this_thread);
    ends(3, on_a_pool);
    ends(3, on_what_is_abandoned);
}

#[test]
fn a_program_in_each_of_a_thousand_nested_drops_ends() {
    ends(1000, on_the_virtual_timeline);
    ends(1000, on_a_queue);
    ends(1000, on_what_is_abandoned);
}

#[test]
fn a_program_in_the_drop_of_a_value_that_nobody_wants_ends() {
    let (done, is_done) = mpsc::channel();
    beside(move || {
        let ended = Counter::default();
        let nested = || Nested { run: on_the_virtual_timeline, ended: ended.clone() };
        let fails = || Fiber::delay(SECOND).bind(|()| Fiber::<()>::fail(Error::msg("no")));
        let test = TestScheduler::new();
        assert!(test.run(Fiber::success(nested()).fork().map(drop)).is_success());
        assert!(test.run(Fiber::success(nested()).zip(fails())).is_failure());
        assert!(
            test.run(Fiber::success(nested()).boxed().race(Fiber::success(nested()).boxed())).is_success()
        );
        assert!(
            test.run(
                Fiber::<()>::never()
                    .boxed()
                    .map({
                        let nested = nested();
                        move |()| drop(nested)
                    })
                    .boxed()
                    .timeout(SECOND)
            )
            .is_failure()
        );
        drop(test);
        done.send(ended.get())
    });
    assert_eq!(is_done.recv_timeout(WATCHDOG), Ok(5));
}

#[test]
fn what_is_dropped_in_a_drop_is_gone_when_that_returns() {
    /// Drops a fiber, and checks that it is gone.
    struct Looks(Option<Fiber<()>>, Counter);
    impl Drop for Looks {
        fn drop(&mut self) {
            let before = self.1.get();
            drop(self.0.take());
            assert_eq!(self.1.get(), before + 1, "the fiber is gone");
        }
    }
    struct Gone(Counter);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.add();
        }
    }
    let gone = Counter::default();
    let inner = Fiber::success(Gone(gone.clone())).map(drop).boxed();
    drop(Fiber::success(Looks(Some(inner), gone.clone())).map(drop).boxed());
    assert_eq!(gone.get(), 1);
}
