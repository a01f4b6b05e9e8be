//! Fibers that bind for ever, on real schedulers: they time out, and fibers that wait for them can be cancelled.

use std::ops::ControlFlow;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use fiber_core::error::{Abandoned, TimedOut};
use fiber_core::scheduler::{Cx, Wait, Wakeup};
use fiber_core::{Either, Error, Fiber, Handle, Outcome};
use fiber_sched::{CurrentThread, Pool, Shutdown};

use super::PATIENCE;

const LIMIT: Duration = Duration::from_millis(20);

fn within_patience<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || sender.send(f()));
    ended.recv_timeout(PATIENCE).expect("it ends")
}

fn endless<T: Send + 'static>() -> Fiber<T> {
    Fiber::iterate((), |()| Fiber::success(ControlFlow::Continue(()))).boxed()
}

fn pool(workers: usize) -> Pool {
    Pool::builder().workers(workers).build()
}

fn is_timed_out(outcome: Outcome<()>) {
    assert!(outcome.failure().expect("a failure").is::<TimedOut>());
}

/// Runs it on the current thread, and on pools, started by the caller's thread and by a worker.
fn everywhere<T: Send + 'static>(make: impl Fn() -> Fiber<T> + Copy + Send + 'static, check: fn(Outcome<T>)) {
    within_patience(move || check(CurrentThread::new().run(make())));
    for workers in [1, 2] {
        within_patience(move || check(pool(workers).run(make())));
        within_patience(move || {
            let pool = pool(workers);
            check(fiber_sched::block_on(pool.spawn(make())));
        });
    }
}

fn everywhere_times_out(make: fn() -> Fiber<()>) {
    everywhere(move || make().timeout(LIMIT).boxed(), is_timed_out);
}

#[test]
fn binds_time_out() {
    everywhere_times_out(endless);
}

#[test]
fn binds_after_a_wait_time_out() {
    everywhere_times_out(|| Fiber::yield_now().bind(|()| endless()).boxed());
}

#[test]
fn turns_that_follow_each_other_time_out() {
    everywhere_times_out(|| Fiber::iterate((), |()| Fiber::yield_now().map(ControlFlow::Continue)).boxed());
}

#[test]
fn a_recursion_in_tail_position_times_out() {
    fn recursion() -> Fiber<()> {
        Fiber::defer(recursion).boxed()
    }
    everywhere_times_out(recursion);
}

#[test]
fn a_recursion_that_spends_no_budget_times_out() {
    fn recursion() -> Fiber<()> {
        Fiber::defer(recursion).map(|()| ()).boxed()
    }
    everywhere_times_out(recursion);
}

#[test]
fn joins_and_branches_time_out() {
    everywhere_times_out(|| endless().fork().bind(Handle::join).boxed());
    everywhere_times_out(|| endless().disconnect().boxed());
    everywhere_times_out(|| endless::<()>().zip(endless::<()>()).map(drop).boxed());
    everywhere_times_out(|| Fiber::parallel((0..5).map(|_| endless::<()>())).map(drop).boxed());
}

fn short() -> Fiber<()> {
    Fiber::delay(Duration::from_millis(1)).boxed()
}

#[test]
fn a_race_is_won_beside_an_endless_fiber() {
    everywhere(
        || endless::<()>().race(short()).boxed(),
        |winner| assert!(matches!(winner.unwrap(), Either::Right(()))),
    );
    everywhere(
        || short().race(endless::<()>()).boxed(),
        |winner| assert!(matches!(winner.unwrap(), Either::Left(()))),
    );
}

#[test]
fn a_zip_fails_beside_an_endless_fiber() {
    fn fails() -> Fiber<()> {
        short().bind(|()| Fiber::<()>::fail(Error::msg("planned"))).boxed()
    }
    everywhere(|| endless::<()>().zip(fails()).boxed(), |outcome| assert!(outcome.is_failure()));
    everywhere(|| fails().zip(endless::<()>()).boxed(), |outcome| assert!(outcome.is_failure()));
}

#[test]
fn a_race_in_the_depth_of_endless_ones_is_won() {
    let nest = || {
        let inner = endless::<()>().race(endless::<()>());
        inner
            .race(endless::<()>())
            .race(short())
            .map(|winner| assert!(matches!(winner, Either::Right(()))))
            .boxed()
    };
    everywhere(nest, |outcome| assert!(outcome.is_success()));
}

/// An event that comes after the check for it, and before the fiber waits.
struct Late;

impl Wait for Late {
    type Out = ();

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        None
    }

    fn register(&mut self, _: &Cx<'_>, _: Wakeup) -> Option<Outcome<()>> {
        Some(Outcome::Success(()))
    }

    fn deregister(&mut self, _: &Cx<'_>) {}
}

/// The rest of the waiting side continues from the bottom of the stack, which the endless side does not reach.
#[test]
fn a_race_is_won_by_an_event_that_comes_while_the_fiber_begins_to_wait() {
    let race = || Fiber::wait(Late).race(endless::<()>()).boxed();
    everywhere(race, |winner| assert!(matches!(winner.unwrap(), Either::Left(()))));
}

#[test]
fn a_joiner_is_cancelled_while_the_fiber_that_it_waits_for_runs_inline() {
    // With two, the other worker steals the task that would make the first one's fiber yield.
    for workers in [1, 2] {
        within_patience(move || {
            let pool = pool(workers);
            let (started, has_started) = mpsc::channel();
            let other = Fiber::lazy(move || started.send(()).unwrap()).bind(|()| endless::<()>());
            let joiner = pool.spawn(other.detach().bind(Handle::join));
            has_started.recv().unwrap();
            assert!(pool.run(joiner.cancel()).is_success());
        });
    }
}

#[test]
fn a_thread_returns_when_the_fiber_that_it_runs_is_abandoned() {
    within_patience(|| {
        let pool = pool(1);
        let context = pool.context().clone();
        let (started, has_started) = mpsc::channel();
        let fiber = Fiber::lazy(move || started.send(()).unwrap()).bind(|()| endless::<()>().uncancelable());
        let runner = thread::spawn(move || context.spawn_here(fiber));
        has_started.recv().unwrap();
        let handle = runner.join().unwrap();
        assert!(pool.shutdown(Shutdown::within(LIMIT)).is_err());
        let error = fiber_sched::block_on(handle).failure().unwrap();
        assert!(error.is::<Abandoned>());
    });
}
