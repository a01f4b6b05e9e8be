//! Fibers of a key stay on the worker of the key, and start in order.

use std::cell::Cell;
use std::collections::HashSet;
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::Poll;
use std::thread::{self, ThreadId};
use std::time::Duration;

use fiber_core::scheduler::{Event, Unobserved};
use fiber_core::{Context, Error, Fiber, Handle, Resume, fiber};
use fiber_sched::{AffinityPool, Observer, OnKey, Pool, Shutdown, block_on};
use fiber_test::TestScheduler;

const MILLI: Duration = Duration::from_millis(1);

fn pool(workers: usize) -> AffinityPool {
    AffinityPool::builder().workers(workers).build()
}

fn here() -> Fiber<ThreadId> {
    Fiber::lazy(|| thread::current().id()).boxed()
}

/// Two keys with different workers.
fn two_keys(pool: &AffinityPool) -> [u32; 2] {
    let other = (1..).find(|key| pool.worker_of(key) != pool.worker_of(0)).unwrap();
    [0, other]
}

/// Waits for a call by another thread.
fn called_from_outside() -> Fiber<()> {
    Fiber::callback(|resume: Resume<()>| _ = thread::spawn(move || resume.success(()))).boxed()
}

/// The threads on which a fiber continues after each wait that could move it.
fn everywhere() -> Fiber<Vec<ThreadId>> {
    fiber! {
        let mut seen = Vec::new();
        let! at = here();
        seen.push(at);
        let waits = [
            Fiber::yield_now().boxed(),
            Fiber::delay(MILLI).boxed(),
            Fiber::blocking(|| ()).boxed(),
            Fiber::dedicated(|_| Ok::<_, Error>(())).boxed(),
            called_from_outside(),
            Fiber::<()>::never().timeout_option(MILLI).map(drop).boxed(),
            Fiber::delay(MILLI).race(Fiber::<()>::never()).map(drop).boxed(),
        ];
        for wait in waits {
            do! wait;
            let! at = here();
            seen.push(at);
        }
        let! forked = called_from_outside().bind(|()| here()).fork().bind(Handle::join);
        let! detached = Fiber::yield_now().bind(|()| here()).detach().bind(Handle::join);
        let! disconnected = called_from_outside().bind(|()| here()).disconnect();
        let! branches = Fiber::parallel((0..3).map(|_| Fiber::blocking(|| ()).bind(|()| here())));
        let! (left, right) = Fiber::delay(MILLI).bind(|()| here()).zip(called_from_outside().bind(|()| here()));
        let! timed = Fiber::delay(MILLI).bind(|()| here()).timeout(Duration::from_secs(3600));
        let awaited = Fiber::delay(MILLI).bind(|()| here()).await?;
        seen.extend(branches);
        seen.extend([forked, detached, disconnected, left, right, timed, awaited]);
        seen
    }
}

#[test]
fn a_fiber_of_a_key_and_all_below_it_stay_on_one_thread() {
    let pool = pool(4);
    for key in 0..16 {
        let seen = block_on(pool.spawn_on(key, everywhere())).unwrap();
        let again = pool.run(everywhere().on(key)).unwrap();
        let seen: HashSet<ThreadId> = seen.into_iter().chain(again).collect();
        assert_eq!(seen.len(), 1, "the fibers of key {key}");
    }
}

#[test]
fn a_fiber_of_no_key_stays_on_one_thread_too() {
    let pool = pool(4);
    for _ in 0..8 {
        let seen: HashSet<ThreadId> = pool.run(everywhere()).unwrap().into_iter().collect();
        assert_eq!(seen.len(), 1);
    }
}

#[test]
fn the_thread_of_a_key_is_named_after_its_worker() {
    let pool = AffinityPool::builder().workers(3).name("books").build();
    for key in ["ABC", "DEF", "GHI", "JKL"] {
        let name = pool.run(Fiber::lazy(|| thread::current().name().map(str::to_owned)).on(key)).unwrap();
        assert_eq!(name.unwrap(), format!("books-worker-{}", pool.worker_of(key)));
    }
}

#[test]
fn fibers_from_outside_without_a_key_use_all_workers() {
    let pool = pool(3);
    let threads: HashSet<ThreadId> = (0..3).map(|_| pool.run(here()).unwrap()).collect();
    assert_eq!(threads.len(), 3);
}

#[test]
fn a_fiber_comes_back_from_the_worker_of_a_key() {
    let pool = pool(2);
    let [one, other] = two_keys(&pool);
    let program = fiber! {
        let! before = here();
        let! there = here().on(other);
        let! after = here();
        let! failed = Fiber::<()>::fail(Error::msg("no")).on(other).map(|_| None).catch(|_| here().map(Some));
        let! panicked = Fiber::<()>::lazy(|| panic!("planned")).on(other).catch_panic(|_| Fiber::success(()));
        let! last = here();
        () = panicked;
        (before, there, [Some(after), failed, Some(last)])
    };
    let (before, there, after) = block_on(pool.spawn_on(one, program)).unwrap();
    assert_ne!(before, there);
    assert_eq!(after, [Some(before); 3]);
}

#[test]
fn a_cancelled_fiber_runs_its_finalizers_on_the_worker_of_each_part() {
    let pool = pool(2);
    let [one, other] = two_keys(&pool);
    let home = block_on(pool.spawn_on(one, here())).unwrap();
    let away = block_on(pool.spawn_on(other, here())).unwrap();
    let (begun, begins) = mpsc::channel();
    let ends = Arc::new(Mutex::new(Vec::new()));
    let note = |what: &'static str| {
        let ends = ends.clone();
        Fiber::lazy(move || ends.lock().unwrap().push((what, thread::current().id())))
    };
    let waits = Fiber::lazy(move || begun.send(()).unwrap()).bind(|()| Fiber::<()>::never());
    let program = waits.ensure(note("inner")).on(other).ensure(note("outer"));
    let handle = pool.spawn_on(one, program);
    begins.recv().unwrap();
    handle.cancel_now();
    assert!(block_on(handle).is_cancelled());
    assert_eq!(*ends.lock().unwrap(), [("inner", away), ("outer", home)]);
}

#[test]
fn awaited_fibers_that_go_to_different_keys_leave_the_block_where_it_is() {
    let pool = pool(2);
    let [one, other] = two_keys(&pool);
    let program = Fiber::block(async move || {
        let before = thread::current().id();
        let there = here().on(other);
        let back = Fiber::delay(MILLI).bind(|()| here());
        // Polled beside each other, without a combinator of the library.
        let (mut there, mut back) = (Box::pin(there.into_future()), Box::pin(back.into_future()));
        let (mut away, mut home) = (None, None);
        poll_fn(|cx| {
            if away.is_none()
                && let Poll::Ready(at) = there.as_mut().poll(cx)
            {
                away = Some(at.unwrap());
            }
            if home.is_none()
                && let Poll::Ready(at) = back.as_mut().poll(cx)
            {
                home = Some(at.unwrap());
            }
            assert_eq!(thread::current().id(), before, "the block itself");
            if away.is_some() && home.is_some() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        Ok::<_, Error>((before, away.unwrap(), home.unwrap()))
    });
    let (before, away, home) = block_on(pool.spawn_on(one, program)).unwrap();
    assert_ne!(away, before);
    assert_eq!(home, before);
}

#[test]
fn a_future_that_ends_on_one_worker_takes_the_block_that_awaits_it_nowhere() {
    let pool = pool(2);
    let [one, other] = two_keys(&pool);
    for _ in 0..100 {
        let (give, given) = mpsc::channel();
        let (resumes, resume) = mpsc::channel();
        // Begins on one worker, so that it also ends there.
        let begins = Fiber::block(async move || {
            let called = Fiber::callback(move |resume: Resume<()>| resumes.send(resume).unwrap());
            let mut called = Box::pin(called.into_future());
            poll_fn(|cx| Poll::Ready(_ = called.as_mut().poll(cx))).await;
            give.send(called).unwrap();
            // Its end would cancel the called fiber.
            Fiber::<()>::never().await
        });
        let begins = pool.spawn_on(one, begins);
        let called = given.recv().unwrap();
        let (polls, polled) = mpsc::channel();
        let awaits = Fiber::block(async move || {
            let before = thread::current().id();
            let mut called = called;
            let mut polls = Some(polls);
            poll_fn(|cx| {
                let poll = called.as_mut().poll(cx);
                polls.take().into_iter().for_each(|polls| polls.send(()).unwrap());
                poll
            })
            .await?;
            Ok::<_, Error>((before, thread::current().id()))
        });
        let awaits = pool.spawn_on(other, awaits);
        polled.recv().unwrap();
        resume.recv().unwrap().success(());
        let (before, after) = block_on(awaits).unwrap();
        assert_eq!(before, after);
        begins.cancel_now();
    }
}

#[test]
fn a_handle_that_another_worker_joins_takes_its_fiber_nowhere() {
    let pool = pool(2);
    let [one, other] = two_keys(&pool);
    let home = block_on(pool.spawn_on(one, here())).unwrap();
    let away = block_on(pool.spawn_on(other, here())).unwrap();
    for _ in 0..100 {
        // Not started yet when the other worker joins it, because its own worker is busy.
        let (release, released) = mpsc::channel::<()>();
        let busy = pool.spawn_on(one, Fiber::lazy(move || _ = released.recv()));
        let waiting = pool.spawn_on(one, here());
        let join = waiting.join().zip(Fiber::lazy(move || drop(release)));
        let joined = join.bind(|(there, ())| here().map(move |back| (there, back)));
        assert_eq!(block_on(pool.spawn_on(other, joined)).unwrap(), (home, away));
        assert!(block_on(busy).is_success());
    }
}

#[test]
fn fibers_of_a_key_start_in_the_order_in_which_a_thread_spawns_them() {
    const FIBERS: usize = 10_000;
    let pool = pool(2);
    let order = Arc::new(Mutex::new(Vec::new()));
    let handles: Vec<_> = (0..FIBERS)
        .map(|number| {
            let order = order.clone();
            let start = Fiber::lazy(move || order.lock().unwrap().push(number));
            pool.spawn_on("key", start.bind(|()| Fiber::yield_now()))
        })
        .collect();
    handles.into_iter().for_each(|handle| block_on(handle).unwrap());
    assert!(order.lock().unwrap().iter().copied().eq(0..FIBERS));
}

#[test]
fn fibers_of_a_key_start_in_the_order_in_which_a_fiber_forks_them() {
    const FIBERS: usize = 1000;
    let pool = pool(2);
    for from in two_keys(&pool) {
        let order = Arc::new(Mutex::new(Vec::new()));
        let noted = order.clone();
        let fork = move |number| {
            let order = noted.clone();
            Fiber::lazy(move || order.lock().unwrap().push(number)).on("key").fork()
        };
        let program = fiber! {
            let mut forks = Vec::new();
            for number in 0..FIBERS {
                let! handle = fork(number);
                forks.push(handle);
            }
            // Then all of them have moved to their worker, and no join starts one.
            do! Fiber::yield_now();
            for handle in forks.into_iter().rev() {
                do! handle.join();
            }
        };
        block_on(pool.spawn_on(from, program)).unwrap();
        assert!(order.lock().unwrap().iter().copied().eq(0..FIBERS));
    }
}

#[test]
fn two_keys_of_different_workers_run_at_the_same_time() {
    let pool = pool(2);
    let both = Arc::new(Barrier::new(2));
    let meets = two_keys(&pool).map(|key| {
        let both = both.clone();
        pool.spawn_on(key, Fiber::lazy(move || _ = both.wait()))
    });
    meets.into_iter().for_each(|handle| block_on(handle).unwrap());
}

#[test]
fn the_state_of_a_key_is_never_contended() {
    const KEYS: usize = 8;
    let pool = Arc::new(pool(4));
    let states: Arc<[Mutex<usize>; KEYS]> = Arc::default();
    let threads = (0..4).map(|_| {
        let (pool, states) = (pool.clone(), states.clone());
        thread::spawn(move || {
            let touch = |key: usize| {
                let states = states.clone();
                let touch = move || *states[key].try_lock().expect("no other fiber holds it") += 1;
                let pause = Fiber::yield_now().bind(|()| Fiber::delay(Duration::from_micros(20)));
                let again = touch.clone();
                pool.spawn_on(
                    key,
                    Fiber::lazy(touch)
                        .bind(|()| pause)
                        .bind(|()| Fiber::lazy(again).fork().bind(Handle::join)),
                )
            };
            let handles: Vec<_> = (0..2000).map(|n| touch(n % KEYS)).collect();
            handles.into_iter().for_each(|handle| block_on(handle).unwrap());
        })
    });
    threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
    let touched: usize = states.iter().map(|state| *state.lock().unwrap()).sum();
    assert_eq!(touched, 4 * 2000 * 2);
}

#[test]
fn blocking_calls_are_not_pinned_with_the_worker_that_starts_them() {
    let cores = || thread::available_parallelism().unwrap();
    let pool = pool(2);
    let blocked = Fiber::blocking(cores).zip(Fiber::dedicated(move |_| Ok::<_, Error>(cores())));
    assert_eq!(pool.run(blocked).unwrap(), (cores(), cores()));
}

#[cfg(target_os = "linux")]
#[test]
fn workers_are_pinned_unless_that_is_switched_off() {
    let cores = || thread::available_parallelism().unwrap().get();
    let all = cores();
    for is_pinned in [true, false] {
        let pool = AffinityPool::builder().workers(3).pinned(is_pinned).build();
        for _ in 0..3 {
            assert_eq!(pool.run(Fiber::lazy(cores)).unwrap(), if is_pinned { 1 } else { all });
        }
    }
}

#[test]
fn on_other_schedulers_keys_have_no_effect() {
    let program = || Fiber::delay(MILLI).map(|()| 1).on("ABC").zip(Fiber::success(2).on("DEF"));
    assert_eq!(TestScheduler::new().run(program()).unwrap(), (1, 2));
    assert_eq!(Pool::builder().workers(2).build().run(program()).unwrap(), (1, 2));
}

#[test]
fn an_endless_loop_of_binds_lets_its_worker_serve_others_and_timers() {
    let pool = pool(2);
    let endless = Fiber::<()>::iterate((), |()| Fiber::success(ControlFlow::Continue(())));
    let handle = pool.spawn_on("key", endless);
    let beside = Fiber::delay(MILLI).bind(|()| Fiber::blocking(|| 5)).timeout(Duration::from_secs(60));
    assert_eq!(block_on(pool.spawn_on("key", beside)).unwrap(), 5);
    handle.cancel_now();
    assert!(block_on(handle).is_cancelled());
}

#[test]
fn dropping_the_pool_ends_fibers_on_every_worker() {
    let pool = pool(3);
    let finalized = Arc::new(AtomicUsize::new(0));
    let begun = Arc::new(AtomicUsize::new(0));
    let handles: Vec<_> = (0..30)
        .map(|key| {
            let (begins, counted) = (begun.clone(), finalized.clone());
            let begins = Fiber::lazy(move || _ = begins.fetch_add(1, Ordering::Relaxed));
            let ends = Fiber::yield_now().map(move |()| _ = counted.fetch_add(1, Ordering::Relaxed));
            pool.spawn_on(key, begins.bind(|()| Fiber::<()>::never()).ensure(ends))
        })
        .collect();
    while begun.load(Ordering::Relaxed) < 30 {
        thread::yield_now();
    }
    drop(pool);
    assert_eq!(finalized.load(Ordering::Relaxed), 30);
    assert!(handles.into_iter().all(|handle| handle.try_outcome().unwrap().is_cancelled()));
}

#[test]
fn a_shutdown_names_what_has_not_ended() {
    let pool = pool(2);
    let (begun, begins) = mpsc::channel();
    let starts = Fiber::lazy(move || begun.send(()).unwrap());
    let flush = starts.bind(|()| Fiber::<()>::never()).uncancelable().named("flush");
    let handle = pool.spawn_on("key", flush);
    begins.recv().unwrap();
    let unfinished = pool.shutdown(Shutdown::within(MILLI)).unwrap_err();
    assert_eq!(unfinished.dump().fibers().next().unwrap().name(), Some("flush"));
    drop(handle);
}

#[test]
fn a_callback_that_a_worker_drops_at_its_very_end_does_not_hang() {
    thread_local! {
        static KEPT: Cell<Option<Resume<()>>> = const { Cell::new(None) };
    }
    let pool = pool(1);
    let (begun, begins) = mpsc::channel();
    let wait = Fiber::callback(move |resume| {
        KEPT.set(Some(resume));
        begun.send(()).unwrap();
    });
    let handle = pool.spawn(wait.uncancelable());
    begins.recv().unwrap();
    // The worker ends after the stop, and then drops its thread-local values.
    assert!(pool.shutdown(Shutdown::within(MILLI)).is_err());
    let (end, ends) = mpsc::channel();
    thread::spawn(move || end.send(block_on(handle)));
    assert!(!ends.recv_timeout(Duration::from_secs(20)).unwrap().is_success());
}

#[test]
fn a_pool_that_is_dropped_by_its_own_fiber_ends_in_the_background() {
    let pool = pool(2);
    let handle = pool.spawn(Fiber::<()>::never());
    let context = pool.context().clone();
    let _own = context.spawn(Fiber::lazy(move || drop(pool)));
    assert!(block_on(handle).is_cancelled());
}

#[test]
#[should_panic(expected = "`AffinityPool::run` would block a thread of its own scheduler")]
fn running_a_fiber_in_a_fiber_of_the_same_pool_panics() {
    let pool = Arc::new(pool(1));
    let inner = pool.clone();
    pool.run(Fiber::lazy(move || _ = inner.run(Fiber::success(())))).unwrap();
}

#[test]
fn a_group_reaches_its_fibers_on_all_workers_and_no_others() {
    let pool = pool(2);
    let [a, b] = two_keys(&pool);
    let group = pool.group();
    let members: Vec<_> = [a, b].map(|key| group.spawn(Fiber::<()>::never().on(key))).into();
    let other = pool.spawn_on(a, Fiber::delay(MILLI).map(|()| "not in the group"));
    block_on(group.cancel());
    assert!(group.is_empty());
    assert!(members.into_iter().all(|member| block_on(member).is_cancelled()));
    assert_eq!(block_on(other).unwrap(), "not in the group");
}

/// The turns and ends of named fibers.
#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Log {
    fn note(&self, what: &str, fiber: &Context) {
        if let Some(name) = fiber.name() {
            self.0.lock().unwrap().push(format!("{what} {name}"));
        }
    }
}

impl Observer for Log {
    fn event(&self, fiber: &Context, event: Event<'_>) {
        if let Event::Ended = event {
            self.note("ended", fiber);
        }
    }

    fn turn(&self, fiber: &Context, turn: &mut dyn FnMut()) {
        self.note("turn", fiber);
        turn();
    }

    fn unobserved(&self, failure: &Unobserved) {
        self.note(failure.message(), failure.fiber());
    }
}

#[test]
fn an_observer_sees_turns_blocking_calls_ends_and_lost_failures() {
    let log = Arc::new(Log::default());
    let pool = AffinityPool::builder().workers(1).on_unobserved(|_| ()).observer(log.clone()).build();
    assert!(block_on(pool.spawn(Fiber::blocking(|| ()).named("a"))).is_success());
    drop(pool.spawn(Fiber::<()>::fail(Error::msg("lost")).named("b")));
    let long = Duration::from_secs(60);
    pool.shutdown(Shutdown::within(long).after_draining(long)).unwrap();
    let lines = log.0.lock().unwrap().clone();
    let of = |name: &str| -> Vec<_> {
        lines.iter().filter(|line| line.ends_with(name)).map(|line| &line[..line.len() - 2]).collect()
    };
    // The start, the call on another thread, and the continuation.
    assert_eq!(of(" a"), ["turn", "turn", "turn", "ended"]);
    assert!(of(" b").contains(&"lost") && of(" b").contains(&"ended"), "{lines:?}");
}

#[test]
fn a_block_whose_forks_were_made_on_a_key_ends_where_it_began() {
    let pool = pool(2);
    let [one, other] = two_keys(&pool);
    let home = block_on(pool.spawn_on(one, here())).unwrap();
    // The fork ends after the block, whose fiber has come back before.
    let fork = Fiber::<()>::never().ensure(Fiber::delay(Duration::from_millis(5))).fork();
    let away = fork.bind(|_| Fiber::<()>::never()).on(other);
    let block = Fiber::from_future(async move { away.await }).timeout(Duration::from_millis(5));
    let after = block.catch(|_| Fiber::success(())).bind(|()| here());
    assert_eq!(block_on(pool.spawn_on(one, after)).unwrap(), home);
}
