//! Fibers that run in the tasks that await them.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::error::Abandoned;
use fiber_core::scheduler::TaskKind;
use fiber_core::sync::one_shot;
use fiber_core::{Error, Fiber, Group, Outcome, Policy, Resume, fiber};
use fiber_sched::{
    AffinityPool, Builder as PoolBuilder, CurrentThread, Observer, Pool, Shutdown, TokioScheduler, block_on,
};
use fiber_test::TestScheduler;
use tokio::runtime::{Builder, Handle, Runtime};

const MILLISECOND: Duration = Duration::from_millis(1);
const PATIENCE: Duration = Duration::from_secs(30);

tokio::task_local! {
    static REQUEST: u32;
}

/// The value that the task of this turn has.
fn seen() -> Option<u32> {
    REQUEST.try_with(|request| *request).ok()
}

/// A runtime, and a group of fibers on a scheduler of each kind.
struct World {
    runtime: Runtime,
    fibers: TokioScheduler,
    pool: Pool,
}

impl World {
    fn of(workers: usize) -> Self {
        World::with(Builder::new_multi_thread().worker_threads(workers), |pool| pool.workers(workers))
    }

    fn with(runtime: &mut Builder, pool: impl FnOnce(PoolBuilder) -> PoolBuilder) -> Self {
        let runtime = runtime.enable_all().build().unwrap();
        let fibers = TokioScheduler::builder(runtime.handle()).on_unobserved(|_| ()).build();
        let pool = pool(Pool::builder().tokio(runtime.handle().clone())).build();
        World { runtime, fibers, pool }
    }

    fn groups(&self) -> [Group; 2] {
        [self.fibers.group(), self.pool.group()]
    }

    /// Runs a fiber in a task of the runtime.
    fn call<T: Send + 'static>(&self, group: &Group, fiber: Fiber<T>) -> Outcome<T> {
        let call = group.call(fiber);
        self.runtime.block_on(self.runtime.spawn(REQUEST.scope(7, call))).unwrap()
    }
}

#[test]
fn all_turns_are_in_the_task_whatever_the_fiber_waits_for() {
    let world = World::of(2);
    for group in world.groups() {
        let waits = fiber! {
            let mut turns = vec![seen()];
            do! Fiber::delay(MILLISECOND);
            turns.push(seen());
            do! Fiber::blocking(|| ());
            turns.push(seen());
            let sleep = async {
                tokio::time::sleep(MILLISECOND).await;
                Ok::<_, Error>(())
            };
            do! Fiber::from_future(sleep).timeout(PATIENCE);
            turns.push(seen());
            do! Fiber::delay(MILLISECOND).fork().bind(|child| child.join());
            turns.push(seen());
            // Longer than a thread that takes the other side needs until that waits.
            let delay = || Fiber::delay(20 * MILLISECOND).map(|()| seen());
            let! (left, right) = delay().zip(delay());
            turns.extend([left, right]);
            turns
        };
        let turns = world.call(&group, waits.boxed()).unwrap();
        assert_eq!(turns, [Some(7); 7]);
    }
}

fn panic_of<T>(outcome: Outcome<T>) -> String {
    match outcome {
        Outcome::Panicked(panic) => panic.message().to_owned(),
        _ => "no panic".to_owned(),
    }
}

#[test]
fn every_outcome_arrives() {
    let world = World::of(2);
    for group in world.groups() {
        let soon = || Fiber::delay(MILLISECOND);
        assert_eq!(world.call(&group, Fiber::success(1).boxed()).unwrap(), 1);
        assert_eq!(world.call(&group, soon().map(|()| 2).boxed()).unwrap(), 2);
        let fails = soon().bind(|()| Fiber::<()>::fail(Error::msg("no such order"))).boxed();
        assert_eq!(world.call(&group, fails).failure().unwrap().to_string(), "no such order");
        let panics = soon().map(|()| -> u32 { panic!("torn") }).boxed();
        assert_eq!(panic_of(world.call(&group, panics)), "torn");
        let cancels = Fiber::current().bind(|fiber| {
            fiber.cancel();
            Fiber::<()>::never()
        });
        assert!(world.call(&group, cancels.boxed()).is_cancelled());
        assert!(group.is_empty());
    }
}

#[test]
fn a_fiber_that_was_cancelled_before_its_begin_never_runs() {
    let world = World::of(1);
    for group in world.groups() {
        let has_run = Arc::new(AtomicBool::new(false));
        let runs = has_run.clone();
        let call = group.call(Fiber::lazy(move || runs.store(true, Ordering::Relaxed)));
        call.cancel_now();
        assert!(call.is_finished());
        assert!(world.runtime.block_on(call).is_cancelled());
        assert!(!has_run.load(Ordering::Relaxed));
        let dropped = has_run.clone();
        drop(group.call(Fiber::lazy(move || dropped.store(true, Ordering::Relaxed))));
        world.runtime.block_on(group.drain());
        assert!(!has_run.load(Ordering::Relaxed));
    }
}

/// An observer that tells when its scheduler is gone.
struct Held(#[expect(dead_code, reason = "it is dropped")] mpsc::Sender<()>);

impl Observer for Held {}

#[test]
fn nothing_is_left_of_a_fiber_that_was_cancelled_before_its_begin() {
    let runtime = Runtime::new().unwrap();
    let (held, gone) = mpsc::channel();
    let fibers = TokioScheduler::builder(runtime.handle()).observer(Held(held.clone())).build();
    let pool = Pool::builder().observer(Held(held)).build();
    for group in [fibers.group(), pool.group()] {
        let call = group.call(Fiber::success(()));
        call.cancel_now();
        assert!(block_on(call).is_cancelled());
    }
    runtime.block_on(fibers.shutdown(Shutdown::within(PATIENCE))).unwrap();
    pool.shutdown(Shutdown::within(PATIENCE)).unwrap();
    drop(runtime);
    assert_eq!(gone.recv_timeout(PATIENCE), Err(mpsc::RecvTimeoutError::Disconnected));
}

#[test]
fn a_waker_whose_drop_wakes_the_fiber_blocks_nobody() {
    struct Wakes(Option<Resume<()>>);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {}
    }

    impl Drop for Wakes {
        fn drop(&mut self) {
            self.0.take().unwrap().send(()).unwrap();
        }
    }

    let world = World::of(1);
    for group in world.groups() {
        let (wakes, woken) = one_shot();
        let mut call = group.call(woken);
        let waker = Waker::from(Arc::new(Wakes(Some(wakes))));
        assert!(pin!(&mut call).poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        // Here it gets another waker.
        let task = thread::spawn(|| block_on(call));
        assert!(task.join().unwrap().is_success());
    }
}

#[test]
fn a_cancellation_from_another_thread_reaches_a_fiber_that_waits() {
    let world = World::of(2);
    for group in world.groups() {
        let call = group.call(Fiber::<()>::never().ensure(Fiber::delay(MILLISECOND)));
        let fiber = call.context().clone();
        let task = world.runtime.spawn(call);
        fiber.cancel();
        assert!(world.runtime.block_on(task).unwrap().is_cancelled());
    }
}

#[test]
fn a_cancelled_fiber_ends_although_its_task_does_not_poll_it() {
    let world = World::of(1);
    for is_woken in [false, true] {
        for group in world.groups() {
            let (wakes, woken) = one_shot();
            let mut call = group.call(woken.ensure(Fiber::delay(MILLISECOND)));
            assert!(pin!(&mut call).poll(&mut Context::from_waker(Waker::noop())).is_pending());
            if is_woken {
                wakes.send(()).unwrap();
            }
            world.runtime.block_on(async { tokio::time::timeout(PATIENCE, group.cancel()).await.unwrap() });
            assert!(call.is_finished());
        }
    }
}

#[test]
fn a_pool_can_be_dropped_in_the_task_that_hosts_its_fiber() {
    let pool = Pool::new();
    let mut call = pool.call(Fiber::<()>::never());
    assert!(pin!(&mut call).poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(pool);
    assert!(block_on(call).is_cancelled());
}

#[test]
fn a_drop_cancels_the_fiber_and_its_finalizers_are_awaited() {
    let world = World::of(2);
    for group in world.groups() {
        let (began, begun) = mpsc::channel();
        let (released, is_released) = mpsc::channel();
        let finalizer = Fiber::delay(MILLISECOND).map(move |()| released.send(seen()).unwrap());
        let body = Fiber::lazy(move || began.send(()).unwrap()).bind(|()| Fiber::<()>::never());
        let task = world.runtime.spawn(REQUEST.scope(7, group.call(body.ensure(finalizer))));
        begun.recv_timeout(PATIENCE).unwrap();
        task.abort();
        assert!(world.runtime.block_on(task).unwrap_err().is_cancelled());
        world.runtime.block_on(group.drain());
        // The scheduler has run it.
        assert_eq!(is_released.try_recv(), Ok(None));
    }
}

#[test]
fn a_released_fiber_goes_on_without_a_task() {
    let world = World::of(2);
    for group in world.groups() {
        let mut call = group.call(Fiber::delay(MILLISECOND).map(|()| seen()));
        assert!(pin!(&mut call).poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(block_on(call.release()).unwrap(), None);
    }
}

#[test]
fn a_fiber_that_yields_or_computes_leaves_the_task() {
    let world = World::with(&mut Builder::new_current_thread(), |pool| pool.workers(1));
    for group in world.groups() {
        let yields = Fiber::yield_now().map(|()| seen()).boxed();
        assert_eq!(world.call(&group, yields).unwrap(), None);
        let computes = Fiber::for_each(0..100_000, |_| Fiber::success(())).map(|()| seen()).boxed();
        assert_eq!(world.call(&group, computes).unwrap(), None);
        // It stays away.
        let waits = Fiber::yield_now().bind(|()| Fiber::delay(MILLISECOND)).map(|()| seen()).boxed();
        assert_eq!(world.call(&group, waits).unwrap(), None);
    }
}

#[test]
fn an_endless_fiber_lets_the_other_tasks_of_its_thread_run() {
    let world = World::with(&mut Builder::new_current_thread(), |pool| pool.workers(1));
    for group in world.groups() {
        let call = group.call(Fiber::success(()).repeat(Policy::forever()));
        let fiber = call.context().clone();
        let ended = world.runtime.block_on(async {
            let call = tokio::spawn(call);
            tokio::spawn(async move { fiber.cancel() }).await.unwrap();
            call.await.unwrap()
        });
        assert!(ended.is_cancelled());
    }
}

#[test]
fn forks_belong_to_the_scheduler() {
    let world = World::of(2);
    for group in world.groups() {
        let (tells, told) = one_shot();
        let forks = Fiber::lazy(move || tells.send(seen()).unwrap()).fork().bind(|_child| told);
        assert_eq!(world.call(&group, forks.boxed()).unwrap(), None);
        let waits = || Fiber::delay(MILLISECOND).map(|()| seen());
        let detaches = waits().detach().bind(|fiber| fiber.join()).boxed();
        assert_eq!(world.call(&group, detaches).unwrap(), None);
    }
}

#[test]
fn a_fork_that_is_joined_at_once_is_started_in_place() {
    let world = World::with(&mut Builder::new_current_thread(), |pool| pool.workers(1));
    let joins = Fiber::lazy(seen).fork().bind(|child| child.join()).boxed();
    assert_eq!(world.call(&world.fibers.group(), joins).unwrap(), Some(7));
}

/// Tells a fiber that computes that something is done.
#[derive(Clone, Default)]
struct Done(Arc<AtomicBool>);

impl Done {
    fn setting(&self) -> Fiber<()> {
        let done = self.clone();
        Fiber::lazy(move || done.0.store(true, Ordering::Release)).boxed()
    }

    /// Keeps the thread until it is done. `false`: it took too long.
    fn compute(&self) -> bool {
        let start = Instant::now();
        while !self.0.load(Ordering::Acquire) && start.elapsed() < PATIENCE {
            std::hint::spin_loop();
        }
        self.0.load(Ordering::Acquire)
    }
}

/// In the task of a fiber, another one does something that the first one waits for, in a computation.
type Effect = fn(&Group, &Runtime, Done) -> Fiber<bool>;

const EFFECTS: [(&str, Effect); 7] = [
    ("a fork", |_, _, done| {
        done.setting().fork().bind(move |child| Fiber::lazy(move || (done.compute(), child).0)).boxed()
    }),
    ("the other side of a zip", |_, _, done| {
        let other = done.setting();
        Fiber::lazy(move || done.compute()).zip(other).map(|(is_done, ())| is_done).boxed()
    }),
    ("another branch", |_, _, done| {
        let other = done.setting().map(|()| true).boxed();
        Fiber::parallel([Fiber::lazy(move || done.compute()).boxed(), other]).map(|both| both[0]).boxed()
    }),
    ("another request", |group, runtime, done| {
        let (group, runtime) = (group.clone(), runtime.handle().clone());
        let computes = move || {
            let call = group.call(done.setting());
            drop(thread::spawn(move || runtime.spawn(call)));
            done.compute()
        };
        Fiber::lazy(computes).boxed()
    }),
    ("a request that waits for a timer", |group, runtime, done| {
        drop(runtime.spawn(group.call(Fiber::delay(50 * MILLISECOND).bind({
            let done = done.clone();
            move |()| done.setting()
        }))));
        Fiber::lazy(move || done.compute()).boxed()
    }),
    ("a request that waits for this one", |group, runtime, done| {
        let (wakes, woken) = one_shot();
        let other = done.setting();
        drop(runtime.spawn(group.call(woken.bind(move |()| other))));
        let computes = move || {
            wakes.send(()).unwrap();
            done.compute()
        };
        Fiber::delay(50 * MILLISECOND).map(move |()| computes()).boxed()
    }),
    ("a request that waits for a socket", |group, runtime, done| {
        let _inside = runtime.enter();
        let socket = std::net::UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        socket.set_nonblocking(true).unwrap();
        let address = socket.local_addr().unwrap();
        let socket = tokio::net::UdpSocket::from_std(socket).unwrap();
        let receives = async move { socket.recv_from(&mut [0]).await };
        let other = done.setting();
        drop(runtime.spawn(group.call(Fiber::from_future(receives).bind(move |_| other))));
        let computes = move || {
            std::net::UdpSocket::bind(("127.0.0.1", 0)).unwrap().send_to(&[0], address).unwrap();
            done.compute()
        };
        Fiber::delay(50 * MILLISECOND).map(move |()| computes()).boxed()
    }),
];

#[test]
fn a_fiber_that_computes_delays_no_other() {
    let world = World::of(2);
    for group in world.groups() {
        for (name, effect) in EFFECTS {
            let computes = effect(&group, &world.runtime, Done::default());
            assert!(world.call(&group, computes).unwrap(), "{name} waited for the end of a computation");
        }
    }
}

#[test]
fn a_fiber_that_computes_beside_the_only_worker_delays_no_other() {
    let world = World::of(1);
    let group = world.fibers.group();
    for name in ["a request that waits for this one", "a fork"] {
        let (_, effect) = EFFECTS.into_iter().find(|(other, _)| *other == name).unwrap();
        let call = group.call(effect(&group, &world.runtime, Done::default()));
        assert!(world.runtime.block_on(call).unwrap(), "{name} waited for the end of a computation");
    }
}

#[test]
fn a_request_beside_the_only_worker_does_not_wait_for_the_fiber_that_has_woken_it() {
    let world = World::of(1);
    let (wakes, woken) = one_shot();
    let done = Done::default();
    let other = done.setting();
    let computes = move || {
        wakes.send(()).unwrap();
        done.compute()
    };
    let computes = world.fibers.spawn(Fiber::delay(50 * MILLISECOND).map(move |()| computes()));
    world.runtime.block_on(world.fibers.call(woken.bind(move |()| other))).unwrap();
    assert!(world.runtime.block_on(computes.into_future()).unwrap());
}

#[test]
fn a_task_may_block_its_thread_until_the_end() {
    let world = World::of(2);
    for group in world.groups() {
        let waits = Fiber::delay(MILLISECOND).zip(Fiber::blocking(|| ())).map(|_| 1);
        let blocks = async move { block_on(group.call(waits)) };
        assert_eq!(world.runtime.block_on(world.runtime.spawn(blocks)).unwrap().unwrap(), 1);
    }
}

#[test]
fn inside_of_another_fiber_it_is_spawned() {
    fn nested(group: &Group, depth: u32) -> Fiber<u32> {
        if depth == 0 {
            return Fiber::lazy(|| seen().map_or(0, |_| 1000)).boxed();
        }
        let call = group.call(nested(group, depth - 1));
        Fiber::from_future(async move { call.await.into_result() }).map(|count| count + 1).boxed()
    }
    let world = World::of(2);
    for group in world.groups() {
        assert_eq!(world.call(&group, nested(&group, 300)).unwrap(), 300);
    }
}

#[test]
fn a_shutdown_ends_fibers_in_tasks() {
    let World { runtime, fibers, pool } = World::of(2);
    let groups = [fibers.group(), pool.group()];
    let tasks =
        groups.map(|group| runtime.spawn(group.call(Fiber::<()>::never().ensure(Fiber::delay(MILLISECOND)))));
    let plan = || Shutdown::within(PATIENCE).after_draining(MILLISECOND);
    runtime.block_on(fibers.shutdown(plan())).unwrap();
    pool.shutdown(plan()).unwrap();
    for task in tasks {
        assert!(runtime.block_on(task).unwrap().is_cancelled());
    }
}

#[test]
fn a_fiber_that_outlasts_a_shutdown_is_abandoned_at_its_next_turn() {
    let World { runtime, fibers, pool } = World::of(2);
    let groups = [fibers.group(), pool.group()];
    let (wakers, tasks): (Vec<_>, Vec<_>) = groups
        .map(|group| {
            let (wakes, woken) = one_shot();
            (wakes, runtime.spawn(group.call(woken.uncancelable())))
        })
        .into_iter()
        .unzip();
    // Both wait.
    while fibers.metrics().hosts.iter().chain(&pool.metrics().hosts).map(|host| host.turns()).sum::<u64>() < 2
    {
        thread::yield_now();
    }
    runtime.block_on(fibers.shutdown(Shutdown::within(MILLISECOND))).unwrap_err();
    pool.shutdown(Shutdown::within(MILLISECOND)).unwrap_err();
    for (wakes, task) in wakers.into_iter().zip(tasks) {
        wakes.send(()).unwrap();
        assert!(runtime.block_on(task).unwrap().failure().unwrap().is::<Abandoned>());
    }
}

#[test]
fn a_call_after_the_shutdown_ends_as_cancelled() {
    let World { runtime, fibers, pool } = World::of(1);
    let groups = [fibers.group(), pool.group()];
    runtime.block_on(fibers.shutdown(Shutdown::within(PATIENCE))).unwrap();
    pool.shutdown(Shutdown::within(PATIENCE)).unwrap();
    for group in groups {
        assert!(runtime.block_on(group.call(Fiber::success(()))).is_cancelled());
    }
}

#[test]
fn metrics_and_observers_see_every_turn() {
    struct Turns(Arc<AtomicUsize>);

    impl Observer for Turns {
        fn turn(&self, _: &fiber_core::Context, turn: &mut dyn FnMut()) {
            // Relaxed: read after the end of the fibers.
            self.0.fetch_add(1, Ordering::Relaxed);
            turn();
        }
    }

    let runtime = Runtime::new().unwrap();
    let turns = [Arc::default(), Arc::default()];
    let [of_fibers, of_pool] = turns.each_ref().map(|turns| Turns(Arc::clone(turns)));
    let fibers = TokioScheduler::builder(runtime.handle()).observer(of_fibers).build();
    let pool = Pool::builder().observer(of_pool).build();
    for (group, turns) in [fibers.group(), pool.group()].iter().zip(turns) {
        let (wakes, woken) = one_shot();
        let mut call = group.call(woken);
        assert!(pin!(&mut call).poll(&mut Context::from_waker(Waker::noop())).is_pending());
        wakes.send(()).unwrap();
        runtime.block_on(call).unwrap();
        assert_eq!(turns.load(Ordering::Relaxed), 2);
    }
    for metrics in [fibers.metrics(), pool.metrics()] {
        let hosted = |kind| metrics.hosts.iter().map(|host| host.tasks(kind)).sum::<u64>();
        assert_eq!((hosted(TaskKind::Start), hosted(TaskKind::Wake)), (1, 1));
        assert!(metrics.to_string().contains("host 0: 2 turns, 1 start, 1 wake"), "{metrics}");
    }
}

#[test]
fn schedulers_that_host_no_fibers_run_them_themselves() {
    let affinity = AffinityPool::builder().workers(2).build();
    let call = affinity.context().call(Fiber::lazy(|| thread::current().id()));
    assert_ne!(block_on(call).unwrap(), thread::current().id());

    let thread = CurrentThread::new();
    let call = thread.context().call(Fiber::delay(MILLISECOND).map(|()| 1));
    let other = thread.spawn(Fiber::from_future(async move { call.await.into_result() }));
    assert_eq!(thread.run(other.join()).unwrap(), 1);

    let test = TestScheduler::new();
    let mut call = pin!(test.context().call(Fiber::delay(PATIENCE).map(|()| 1)));
    let mut poll = || call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll().is_pending());
    test.run_for(PATIENCE);
    assert!(matches!(poll(), Poll::Ready(Outcome::Success(1))));
}

#[test]
fn in_a_task_of_another_runtime_futures_find_their_own() {
    let world = World::of(2);
    // It has no timers.
    let other = Builder::new_current_thread().build().unwrap();
    for group in world.groups() {
        let sleep = async {
            tokio::time::sleep(MILLISECOND).await;
            Ok::<_, Error>(Handle::current().id())
        };
        let found = other.block_on(other.spawn(group.call(Fiber::from_future(sleep)))).unwrap();
        assert_eq!(found.unwrap(), world.runtime.handle().id());
    }
}
