//! Spawned and forked fibers, from outside and inside.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fiber_core::scheduler::{Cx, Scheduler, Task, Wait, Wakeup};
use fiber_core::{Fiber, Handle, Outcome, Scope};
use fiber_sched::{Pool, block_on};

#[test]
fn a_fiber_spawned_from_outside_runs_without_anybody_waiting() {
    let pool = Pool::builder().workers(1).build();
    let (sender, receiver) = std::sync::mpsc::channel();
    let handle = pool.spawn(Fiber::lazy(move || sender.send(5).unwrap()));
    assert_eq!(receiver.recv().unwrap(), 5);
    assert!(block_on(handle).is_success());
}

#[test]
fn a_fiber_spawned_from_inside_does_not_belong_to_its_spawner() {
    let pool = Arc::new(Pool::builder().workers(2).build());
    let inner = pool.clone();
    let spawner = Fiber::yield_now().map(move |()| inner.spawn(Fiber::yield_now().map(|()| 3)));
    let handle: Handle<i32> = pool.run(spawner).unwrap();
    assert_eq!(block_on(handle).unwrap(), 3);
}

#[test]
fn a_hundred_thousand_forks_are_joined() {
    const FORKS: usize = 100_000;
    let pool = Pool::builder().workers(2).build();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let all = Fiber::iterate((0, Vec::new()), move |(n, mut handles)| {
        let count = counted.clone();
        Fiber::lazy(move || count.fetch_add(1, Ordering::Relaxed)).fork().map(move |handle| {
            handles.push(handle);
            if n + 1 == FORKS {
                std::ops::ControlFlow::Break(handles)
            } else {
                std::ops::ControlFlow::Continue((n + 1, handles))
            }
        })
    })
    .bind(|handles| Fiber::for_each(handles, |handle| handle.join().map(|_| ())));
    assert!(pool.run(all).is_success());
    assert_eq!(count.load(Ordering::Relaxed), FORKS);
}

#[test]
fn a_handle_is_a_future_for_a_foreign_executor() {
    let pool = Pool::builder().workers(2).build();
    let both = async {
        let one = pool.spawn(Fiber::yield_now().map(|()| 1));
        let two = pool.spawn(Fiber::yield_now().map(|()| 2));
        one.await.unwrap() + two.await.unwrap()
    };
    assert_eq!(block_on(both), 3);
}

#[test]
fn a_fork_from_another_pool_runs_on_the_pool_of_its_scope() {
    let home = Pool::builder().workers(1).name("home").build();
    let other = Arc::new(Pool::builder().workers(1).name("other").build());
    let name = || std::thread::current().name().map(str::to_owned);
    let forks = other.clone();
    let program = Fiber::scope(move |scope: Scope| {
        let fork = Fiber::yield_now().bind(move |()| scope.fork(Fiber::lazy(name)));
        forks.spawn(fork.bind(Handle::join)).join()
    });
    assert!(home.run(program).unwrap().unwrap().starts_with("home-worker-"));
}

/// Is woken by the timer of another scheduler.
struct ForeignTimer {
    scheduler: Arc<dyn Scheduler>,
    is_set: bool,
}

impl Wait for ForeignTimer {
    type Out = ();

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        self.is_set.then_some(Outcome::Success(()))
    }

    fn register(&mut self, _: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
        self.is_set = true;
        self.scheduler.schedule(Task::fire(wakeup));
        None
    }

    fn deregister(&mut self, _: &Cx<'_>) {}
}

#[test]
fn a_fiber_that_the_worker_of_another_pool_wakes_goes_back_to_its_own() {
    let home = Pool::builder().workers(1).name("home").build();
    let other = Pool::builder().workers(1).name("other").build();
    let foreign = ForeignTimer { scheduler: other.scheduler(), is_set: false };
    let name = || std::thread::current().name().map(str::to_owned);
    let program = Fiber::wait(foreign).bind(|()| Fiber::yield_now()).map(move |()| name());
    assert!(home.run(program).unwrap().unwrap().starts_with("home-worker-"));
}
