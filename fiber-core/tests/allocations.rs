//! Exact numbers of allocations of the engine.

mod support;

use std::sync::Arc;
use std::time::Duration;

use fiber_core::sync::{
    Cache, Channel, Latch, Mutex, Notify, Promise, Ref, RwLock, Semaphore, one_shot, parallel_map,
};
use fiber_core::{Context, Error, Fiber, Instant, Outcome, Policy, Run, dataflow, fiber, local_key, race};
use support::Queue;
use support::counting::{COUNT, Counting};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SECOND: Duration = Duration::from_secs(1);

/// Allocations of a program inside a running fiber, on a thread that has no blocks to reuse.
fn allocations<T: Send + 'static, R: Run<Out = T>>(program: impl Fn() -> Fiber<T, R> + Send) -> usize {
    std::thread::scope(|scope| scope.spawn(move || again_and_again(&program, 1)).join().unwrap())
}

/// Allocations of the last run of several on one thread.
fn again_and_again<T: Send + 'static, R: Run<Out = T>>(
    program: &impl Fn() -> Fiber<T, R>,
    runs: usize,
) -> usize {
    let queue = Arc::new(Queue::default());
    let root = Context::root(queue.clone());
    let mut last = 0;
    for _ in 0..runs {
        let fiber = program();
        let counted =
            Fiber::lazy(|| COUNT.get()).bind(move |before| fiber.map(move |_| COUNT.get() - before));
        let handle = root.spawn(counted);
        queue.drain();
        last = handle.try_outcome().unwrap().unwrap();
    }
    last
}

#[test]
fn a_static_chain_of_binds_allocates_nothing() {
    assert_eq!(
        allocations(|| Fiber::success(1).bind(|n| Fiber::success(n + 1)).bind(|n| Fiber::success(n + 1))),
        0
    );
    assert_eq!(allocations(|| Fiber::lazy(|| 1).map(|n| n + 1).try_map(Ok::<_, fiber_core::Error>)), 0);
    assert_eq!(allocations(|| Fiber::success(1).ensure(Fiber::success(())).uncancelable()), 0);
}

#[test]
fn a_limit_of_time_on_what_is_ready_allocates_nothing() {
    let second = std::time::Duration::from_secs(1);
    assert_eq!(allocations(move || Fiber::success(1).timeout(second)), 0);
    assert_eq!(allocations(move || Fiber::success(1).timeout_option(second).timeout(second)), 0);
    assert_eq!(allocations(|| Fiber::success(1).with_deadline(Instant::FAR_FUTURE)), 0);
    assert_eq!(allocations(move || Fiber::success(1).uncancelable().timeout(second).uncancelable()), 0);
    assert_eq!(allocations(move || Fiber::success(1).ensure(Fiber::success(())).timeout(second)), 0);
}

#[test]
fn branches_that_are_ready_allocate_nothing() {
    let one = || Fiber::success(1);
    let second = std::time::Duration::from_secs(1);
    assert_eq!(allocations(|| one().zip(one())), 0);
    assert_eq!(allocations(|| one().race(one())), 0);
    assert_eq!(allocations(|| one().race(Fiber::<()>::never())), 0);
    assert_eq!(allocations(|| one().race_with(one()).map(drop)), 0);
    assert_eq!(allocations(|| one().zip(one().zip(one())).zip(one()).race(one().zip(one()))), 0);
    assert_eq!(allocations(move || one().zip(one()).timeout(second).zip(one()).uncancelable()), 0);
    // The block is made before.
    assert_eq!(allocations(|| race! { n = one() => n, n = one() => n }), 0);
    assert_eq!(allocations(|| race! { n = one() => n, n = one() => n, n = one() => n, n = one() => n }), 0);
    assert_eq!(
        allocations(move || race! { n = one().timeout(second) => n, n = one() => n, n = one() => n }),
        0
    );
    // The vectors of the pulled fibers.
    assert_eq!(allocations(|| Fiber::race_all([one(), one(), one()])), 1);
    assert_eq!(allocations(|| Fiber::first_success([one(), one(), one()])), 1);
}

#[test]
fn a_dataflow_whose_steps_are_ready_allocates_nothing() {
    let one = || Fiber::success(1);
    assert_eq!(
        allocations(move || dataflow! {
            let a = one();
            let b = one();
            let c = Fiber::success(a + b);
            then one().map(drop);
            let d = Fiber::success(&a - &c);
            return (c, d)
        }),
        0
    );
    // The fiber itself is one allocation, as a block is.
    let before = COUNT.get();
    let flow = dataflow! { let a = one(); let b = one(); return a + b };
    assert_eq!(COUNT.get() - before, 1);
    drop(flow);
}

#[test]
fn a_step_that_waits_allocates_as_a_branch_does() {
    let two = || {
        dataflow! {
            let a = Fiber::yield_now();
            let b = Fiber::yield_now();
            return (a, b)
        }
    };
    let zip = allocations(|| Fiber::yield_now().zip(Fiber::yield_now()).boxed());
    // One more for the values, which move between the threads that evaluate expressions, and one for what the steps share: a zip
    // has that in the cell of its group.
    assert_eq!(allocations(two), zip + 2);
    let four = || {
        dataflow! {
            let a = Fiber::yield_now();
            let b = Fiber::yield_now();
            let c = Fiber::yield_now();
            let d = Fiber::yield_now();
            return (a, b, c, d)
        }
    };
    let parallel =
        |count: u64| allocations(move || Fiber::parallel((0..count).map(|_| Fiber::yield_now())).map(drop));
    // No additional step costs more than a branch of `parallel`. One costs less if its cell fits into the block of the description.
    assert!(allocations(four) - allocations(two) <= parallel(4) - parallel(2));
}

#[test]
fn ready_fibers_in_parallel_allocate_for_their_values_only() {
    let of = |n: u64| move || Fiber::parallel((0..n).map(Fiber::success)).map(|values| values.len());
    let growing = allocations(|| {
        Fiber::lazy(|| {
            (0..1000).fold(Vec::new(), |mut v, n: u64| {
                v.push(Some(n));
                v
            })
        })
    });
    assert!(allocations(of(1000)) <= growing + 1);
    let limited =
        || Fiber::parallel((0..4).map(Fiber::success)).limit(1).map(|values: Vec<u64>| values.len());
    assert!(allocations(limited) <= 2);
}

#[test]
fn a_fiber_that_is_run_here_and_is_ready_allocates_nothing() {
    struct Here;
    impl fiber_core::scheduler::Worker for Here {}
    let root = Context::root(Arc::new(Queue::default()));
    let before = COUNT.get();
    assert_eq!(
        root.run_here(Fiber::success(20).map(|n| n + 1).bind(|n| Fiber::success(2 * n)), &Here)
            .unwrap()
            .unwrap(),
        42
    );
    assert_eq!(COUNT.get() - before, 0);
}

#[test]
fn what_fibers_carry_lies_in_blocks_that_are_used_again() {
    local_key! { static KEY: u32 = 0; }
    let both = || Fiber::yield_now().zip(Fiber::yield_now()).map(drop);
    let bare = again_and_again(&both, 3);
    let carrying = again_and_again(&(|| both().with_local(&KEY, 1)), 3);
    // The value, in a link of the list of locals; nothing for each cell below.
    assert_eq!(carrying - bare, 1);
}

#[test]
fn a_loop_allocates_nothing() {
    assert_eq!(allocations(|| Fiber::for_each(0..1000, |_| Fiber::success(()))), 0);
}

#[test]
fn erasing_allocates_once() {
    assert_eq!(allocations(|| Fiber::success(()).bind(|()| Fiber::success(1).boxed())), 1);
}

#[test]
fn an_erased_fiber_is_not_erased_again() {
    assert_eq!(allocations(|| Fiber::success(()).bind(|()| Fiber::success(1).boxed().boxed())), 1);
}

#[test]
fn a_fork_that_waits_once_allocates_once() {
    // The fork waits while this one does, and has ended when it is joined.
    let beside = || Fiber::delay(SECOND).bind(|()| Fiber::delay(SECOND));
    let program = move || Fiber::delay(SECOND).fork().bind(move |child| beside().bind(|()| child.join()));
    assert_eq!(allocations(program) - allocations(beside), 1);
    let deep = || Fiber::delay(SECOND).map(|()| 1).map(|n| n + 1).bind(Fiber::success);
    let program = move || deep().fork().bind(move |child| beside().bind(|()| child.join()));
    assert_eq!(allocations(program) - allocations(beside), 1);
}

#[test]
fn a_wait_that_fits_into_the_cell_of_its_fiber_allocates_nothing_however_deep_it_lies() {
    assert_eq!(allocations(Fiber::yield_now), 0);
    assert_eq!(allocations(|| Fiber::yield_now().map(|()| 1).map(|n| n + 1).bind(Fiber::success)), 0);
    assert_eq!(allocations(|| Fiber::delay(SECOND).map(|()| 1)), 0);
    assert_eq!(allocations(|| Fiber::for_each(0..10, |_| Fiber::yield_now())), 0);
}

#[test]
fn a_wait_that_does_not_fit_into_the_cell_allocates_once() {
    fn waits<const SIZE: usize>() -> Fiber<u8> {
        let large = [1; SIZE];
        Fiber::yield_now().map(move |()| large[SIZE - 1]).boxed()
    }
    // Erased, so that the cell is not made for it.
    assert_eq!(allocations(|| Fiber::defer(waits::<1024>)) - allocations(|| Fiber::defer(waits::<1>)), 1);
}

/// Allocations of a block, including its creation.
fn of_block<T: Send + 'static, R: Run<Out = T>>(program: fn() -> Fiber<T, R>) -> usize {
    allocations(move || Fiber::defer(program))
}

#[test]
fn a_block_allocates_once_and_its_ready_waits_do_not() {
    assert_eq!(of_block(|| fiber! { 1 }), 1);
    let waits = || {
        fiber! {
            let mut sum = 0;
            for n in 0..100 {
                let! m = Fiber::success(n).map(|n| n + 1);
                sum += m + Fiber::success(n).await? + do! Ok::<_, Error>(n);
            }
            sum
        }
    };
    assert_eq!(of_block(waits), 1);
    assert_eq!(of_block(|| Fiber::block(|| async { Fiber::success(1).await })), 1);
    assert_eq!(of_block(|| Fiber::block(|| async { Fiber::success(1).await }).boxed()), 1);
    assert_eq!(of_block(|| Fiber::from_future(async { Fiber::success(1).await })), 1);
}

#[test]
fn a_wait_of_a_block_allocates_nothing_however_deep_in_blocks_it_lies() {
    fn nest(depth: u32) -> Fiber<u32> {
        fiber! {
            if depth == 0 {
                do! Fiber::yield_now();
                return 0
            }
            1 + (do! nest(depth - 1))
        }
    }
    assert_eq!(of_block(|| fiber! { for _ in 0..10 { do! Fiber::yield_now(); } }), 1);
    // And the frames of eleven blocks, which do not fit into the cell.
    assert_eq!(of_block(|| nest(10)), 11 + 1);
}

#[test]
fn a_block_allocates_once_for_all_the_fibers_that_it_awaits_in_place() {
    let awaits = || {
        fiber! {
            for _ in 0..10 {
                Fiber::yield_now().await?;
            }
        }
    };
    assert_eq!(of_block(awaits), 1 + 1);
}

#[test]
fn a_send_and_a_receive_through_a_channel_with_room_allocate_nothing() {
    let program = || {
        let (sender, receiver) = Channel::bounded(8);
        Fiber::for_each(0..100, move |n| {
            let receive = receiver.recv();
            sender.send(n).bind(|()| receive).map(drop)
        })
    };
    assert_eq!(allocations(program), 0);
}

#[test]
fn a_receive_that_waits_allocates_nothing_once_the_queue_has_its_size() {
    let rounds = |rounds: u64| {
        move || {
            let (sender, receiver) = Channel::rendezvous();
            let receive = Fiber::for_each(0..rounds, move |_| receiver.recv().map(drop));
            let send = Fiber::for_each(0..rounds, move |n| sender.send(n));
            send.zip(receive)
        }
    };
    assert_eq!(allocations(rounds(110)), allocations(rounds(10)));
}

#[test]
fn a_repetition_allocates_nothing() {
    assert_eq!(allocations(|| Fiber::success(()).repeat(Policy::recurs(300))), 0);
    let spaced = move || Policy::spaced(SECOND).jittered().capped(SECOND) & Policy::recurs(10);
    assert_eq!(allocations(move || Fiber::success(()).repeat(spaced())), 0);
}

#[test]
fn a_policy_allocates_nothing() {
    let is_transient = |error: &Error| !error.is::<std::fmt::Error>();
    let policy = move || -> Policy {
        let pauses = Policy::exponential(SECOND).jittered().capped(SECOND);
        (pauses & Policy::recurs(3)).while_input(is_transient)
    };
    let counted = |make: &dyn Fn() -> Policy| {
        let before = COUNT.get();
        let both = (make(), make());
        drop((both.0.clone(), both));
        COUNT.get() - before
    };
    assert_eq!(counted(&policy), 0);
    // A condition that captures a value, for each policy; and a seventh part, in one allocation for all. A clone shares them.
    let limit = std::hint::black_box(7);
    assert_eq!(counted(&|| Policy::recurs(3).while_input(move |_| limit > 3)), 2);
    assert_eq!(counted(&|| policy().up_to(SECOND)), 2 * 3);
    assert_eq!(allocations(move || Fiber::success(()).retry(policy())), 0);
}

#[test]
fn locks_and_permits_that_are_free_allocate_nothing() {
    let (mutex, lock, semaphore) = (Mutex::new(0), RwLock::new(0), Semaphore::new(3));
    let (one, two, three) = (mutex.clone(), lock.clone(), semaphore.clone());
    assert_eq!(allocations(move || one.lock().map(|mut guard| *guard += 1)), 0);
    assert_eq!(allocations(move || mutex.with(|mut guard| Fiber::lazy(move || *guard += 1))), 0);
    assert_eq!(allocations(move || two.read().map(|guard| *guard)), 0);
    assert_eq!(allocations(move || lock.write().map(|mut guard| *guard += 1)), 0);
    assert_eq!(allocations(move || three.acquire(2).map(drop)), 0);
    let held = Semaphore::new(1);
    // The permit, the local that carries it, and the box for rare data.
    assert_eq!(allocations(move || held.with_permits(1, Fiber::success(()))), 3);
    assert_eq!(semaphore.available(), 3);
}

#[test]
fn an_answer_that_a_cache_keeps_allocates_nothing() {
    let cache = Cache::new(1);
    let get = move || cache.get(1, || Fiber::success(2)).map(|answer| *answer);
    assert!(allocations(get.clone()) > 0);
    assert_eq!(allocations(get), 0);
}

#[test]
fn signals_that_have_been_given_allocate_nothing() {
    let (notify, latch, promise, reference) = (Notify::new(), Latch::new(0), Promise::new(), Ref::new(1));
    promise.success(1);
    assert_eq!(
        allocations(move || {
            let given = notify.clone();
            Fiber::lazy(move || given.notify_one()).zip(Fiber::yield_now()).bind({
                let notify = notify.clone();
                move |_| notify.wait()
            })
        }),
        allocations(|| Fiber::success(()).zip(Fiber::yield_now()).bind(Fiber::success))
    );
    assert_eq!(allocations(move || latch.wait()), 0);
    assert_eq!(allocations(move || promise.wait()), 0);
    // A thread's first read creates its entry among the readers.
    assert_eq!(again_and_again(&|| reference.read(), 2), 0);
    // The state that both sides share.
    let replies = || {
        Fiber::defer(|| {
            let (reply, answer) = one_shot();
            reply.send(1).expect("it waits");
            answer
        })
    };
    assert_eq!(allocations(replies), 1);
}

#[test]
fn a_wait_for_a_lock_allocates_as_much_as_any_other_wait() {
    let mutex = Mutex::new(());
    let waits = move || {
        let contended = mutex.lock().map(drop);
        mutex.lock().bind(move |guard| {
            contended.fork().bind(move |child| {
                Fiber::yield_now().bind(move |()| {
                    drop(guard);
                    child.join()
                })
            })
        })
    };
    let yields = || Fiber::yield_now().fork().bind(|child| Fiber::yield_now().bind(move |()| child.join()));
    // In the first run the queue grows.
    assert_eq!(again_and_again(&waits, 2), again_and_again(&yields, 2));
}

/// An error of one word.
#[derive(Debug)]
struct Refused(u64);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "refused {}", self.0)
    }
}

impl std::error::Error for Refused {}

/// Fails, catches the error and continues.
fn recovers(fail: fn() -> Error) -> Fiber<u64, impl Run<Out = u64>> {
    let caught =
        |error: Error| Fiber::success(error.downcast_ref::<Refused>().map_or(0, |refused| refused.0));
    Fiber::defer(move || Fiber::fail(fail()).catch(caught).bind(Fiber::success))
}

#[test]
fn an_error_that_is_caught_leaves_its_block_to_the_next_one_which_allocates_its_source_only() {
    assert_eq!(again_and_again(&|| recovers(|| Error::new(Refused(1))), 2), 1);
    assert_eq!(again_and_again(&|| recovers(|| Error::msg("refused")), 2), 1);
    assert_eq!(again_and_again(&|| recovers(|| Error::new(std::fmt::Error)), 2), 0);
    let ten = || Fiber::for_each(0..10, |_| recovers(|| Error::new(Refused(1))).map(drop));
    assert_eq!(again_and_again(&ten, 2), 10);
}

#[test]
fn an_outcome_is_no_larger_than_a_tag_and_a_word() {
    assert_eq!(size_of::<Error>(), size_of::<usize>());
    assert_eq!(size_of::<Outcome<()>>(), 2 * size_of::<usize>());
    assert_eq!(size_of::<Outcome<u64>>(), 2 * size_of::<u64>());
}

#[test]
fn a_fork_and_join_of_a_ready_fiber_allocates_once() {
    let program = || Fiber::success(1).fork().bind(|child| child.join());
    assert_eq!(allocations(program), 1);
    // The block of the last one.
    assert_eq!(again_and_again(&program, 2), 0);
}

#[test]
fn a_join_that_waits_allocates_nothing() {
    assert_eq!(allocations(|| Fiber::yield_now().fork().bind(|child| child.join())), 1);
}

#[test]
fn two_branches_that_wait_allocate_a_cell_each_and_one_for_both() {
    assert_eq!(allocations(|| Fiber::yield_now().zip(Fiber::yield_now())), 3);
    // A side that is ready needs none.
    assert_eq!(allocations(|| Fiber::yield_now().zip(Fiber::success(1))), 2);
    assert_eq!(allocations(|| Fiber::success(1).zip(Fiber::yield_now())), 2);
}

#[test]
fn a_hedge_that_is_ready_allocates_nothing_and_one_that_waits_only_its_attempt() {
    assert_eq!(allocations(|| Fiber::hedge(SECOND, 2, || Fiber::success(1)).while_error(|_| true)), 0);
    // The group, the race in it, and the attempt. In a second run, the cells are reused.
    let waits = || Fiber::hedge(SECOND, 9, Fiber::yield_now).while_error(|_| true);
    assert_eq!(allocations(waits), 3);
}

#[test]
fn a_blocking_call_allocates_its_job_the_place_of_its_result_and_its_task() {
    assert_eq!(allocations(|| Fiber::blocking(|| ())), 3);
}

#[test]
fn a_race_of_waits_is_one_wait_and_otherwise_has_a_cell_for_each_side() {
    let delay = || Fiber::delay(SECOND);
    let two = move || race! { () = delay() => (), () = delay() => () };
    let three = move || race! { () = delay() => (), () = delay() => (), () = delay() => () };
    assert_eq!(allocations(two), 0);
    assert_eq!(allocations(move || delay().race(delay())), 0);
    // The frame of three is larger than the first buffer of the fiber.
    assert_eq!(allocations(three), 1);
    let ends = move || delay().fork().bind(|fork| fork.ended().race(Fiber::<()>::never()));
    assert_eq!(allocations(ends), allocations(move || delay().fork().bind(move |fork| fork.ended())));
    let boxed = move || delay().boxed();
    // The box, that of the side, and the buffer.
    assert_eq!(allocations(move || race! { () = boxed() => (), () = delay() => (), () = delay() => () }), 3);
    let program = move || delay().bind(Fiber::success);
    // Without a box, and without the vector of `race_all`.
    assert_eq!(
        allocations(move || race! { () = program() => (), () = delay() => (), () = delay() => () }),
        6
    );
    assert_eq!(allocations(move || Fiber::race_all([delay(), delay(), delay()])), 7);
}

#[test]
fn what_arrives_within_a_time_is_numbered() {
    let one = || Fiber::success(1);
    assert_eq!(allocations(|| Fiber::parallel([one(), one(), one()])), 1);
    // The pairs.
    assert_eq!(allocations(|| Fiber::parallel([one(), one(), one()]).within(SECOND)), 2);
}

#[test]
fn a_stage_keeps_nothing_of_an_item_that_is_done() {
    let stage = |items| {
        allocations(move || {
            parallel_map(0..items, 2, Fiber::success).feed(|results| results.for_each(|_| Fiber::success(())))
        })
    };
    assert_eq!(stage(2_900) - stage(2_000), stage(2_000) - stage(1_100));
}
