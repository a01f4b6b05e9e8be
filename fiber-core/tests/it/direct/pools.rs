//! On real threads: pinning, exhaustion of the stacks, stuck workers, the end of a pool.

use super::Log;
use fiber_core::error::{Abandoned, Cancelled};
use fiber_core::sync::{Channel, Latch};
use fiber_core::{Direct, Error, Fiber, Policy, StackSupply};
use fiber_sched::{AffinityPool, CurrentThread, Pool, Settings, Shutdown, block_on};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::mpsc;
use std::thread::{self, ThreadId};
use std::time::Duration;

const TICK: Duration = Duration::from_micros(200);

fn pool(workers: usize) -> Pool {
    Pool::builder().workers(workers).name("direct").build()
}

fn thread_name() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

thread_local!(static HELD_HERE: Cell<u32> = const { Cell::new(0) });

/// Checks that the fiber stays on its thread.
fn stays(d: &Direct<'_>, waits: u32) -> Result<ThreadId, Error> {
    let (home, local) = (thread::current().id(), Rc::new(Cell::new(0)));
    HELD_HERE.set(HELD_HERE.get() + 1);
    for n in 0..waits {
        match n % 4 {
            0 => d.wait(Fiber::delay(TICK))?,
            1 => d.wait(Fiber::yield_now())?,
            2 => d.wait(Fiber::blocking(|| ()))?,
            _ => d.wait(Fiber::yield_now().fork().bind(|other| other.join()))?,
        }
        local.set(local.get() + 1);
        assert_eq!(thread::current().id(), home);
        assert!(HELD_HERE.get() > 0);
    }
    HELD_HERE.set(HELD_HERE.get() - 1);
    assert_eq!(local.get(), waits);
    Ok(home)
}

#[test]
fn a_direct_fiber_runs_on_a_worker_and_stays_there() {
    for workers in [1, 2, 4] {
        let pool = pool(workers);
        let fibers = (0..200).map(|_| pool.spawn(Fiber::direct(|d| stays(d, 20).map(|_| thread_name()))));
        for fiber in fibers.collect::<Vec<_>>() {
            let name = block_on(fiber).unwrap();
            assert!(name.starts_with("direct-worker-"), "{name}");
        }
        let name = pool.run(Fiber::direct(|_| Ok(thread_name()))).unwrap();
        assert!(name.starts_with("direct-worker-"), "`run` starts on a user thread: {name}");
    }
}

#[test]
fn an_affinity_pool_keeps_it_with_its_key() {
    let pool = AffinityPool::builder().workers(2).name("keys").pinned(false).build();
    let other = Fiber::yield_now().map(|()| thread::current().id());
    for key in 0..8 {
        let other = other.clone();
        let fiber = Fiber::direct(move |d| {
            let home = stays(d, 8)?;
            assert_eq!(d.wait(other)?, home, "the waits have the same place");
            stays(d, 8)
        });
        assert!(block_on(pool.spawn_on(key, fiber)).is_success());
    }
}

#[test]
fn it_goes_on_where_it_began_after_a_wait_elsewhere() {
    let pool = AffinityPool::builder().workers(2).name("keys").pinned(false).build();
    let here = Fiber::lazy(|| thread::current().id());
    let fiber = Fiber::direct(move |d| {
        let home = thread::current().id();
        let mut places = Vec::new();
        for key in 0..8 {
            places.push(d.wait(fiber_sched::OnKey::on(here.clone(), key))?);
            assert_eq!(thread::current().id(), home);
        }
        Ok(places)
    });
    let places = block_on(pool.spawn(fiber)).unwrap();
    assert!(places.iter().any(|place| *place != places[0]), "the keys have different workers");
}

#[test]
fn without_a_stack_it_runs_on_a_thread_of_its_own() {
    let pool = Pool::builder().workers(2).name("few").stacks(StackSupply::default().most(3)).build();
    let (latch, count) = (Latch::new(20), Arc::new(AtomicU32::new(0)));
    let counted = count.clone();
    let fibers = (0..20).map(move |_| {
        let (latch, count) = (latch.clone(), count.clone());
        Fiber::direct(move |d| {
            if thread_name().starts_with("few-worker-") {
                count.fetch_add(1, SeqCst);
            }
            latch.count_down();
            // All of them wait at the same time.
            d.wait(latch.wait())?;
            stays(d, 8)
        })
    });
    assert!(pool.run(Fiber::parallel(fibers)).is_success());
    assert_eq!(counted.load(SeqCst), 3);
    // The stacks are free again.
    let name = pool.run(Fiber::direct(|_| Ok(thread_name()))).unwrap();
    assert!(name.starts_with("few-worker-"), "{name}");
}

#[test]
fn a_scheduler_that_cannot_pin_runs_it_on_a_thread_of_its_own() {
    let scheduler = CurrentThread::new();
    let here = thread::current().id();
    let home = scheduler.run(Fiber::direct(|d| stays(d, 20))).unwrap();
    assert_ne!(home, here);
}

#[test]
fn a_stack_is_used_again() {
    let pool = Pool::builder().workers(1).stacks(StackSupply::default().most(1)).build();
    for _ in 0..1000 {
        let place = Fiber::direct(|d| {
            let local = 0u8;
            d.wait(Fiber::yield_now())?;
            Ok((thread::current().id(), std::ptr::from_ref(&local).addr()))
        });
        assert!(pool.run(place).is_success());
    }
    let places = (0..2).map(|_| {
        pool.run(Fiber::direct(|_| {
            let local = 0u8;
            Ok(std::ptr::from_ref(std::hint::black_box(&local)).addr() / (256 * 1024))
        }))
    });
    let places: Vec<usize> = places.map(|place| place.unwrap()).collect();
    assert!(places[0].abs_diff(places[1]) <= 1, "{places:?}");
}

#[test]
fn a_stack_can_be_large() {
    fn deep(depth: u32) -> u64 {
        let room = std::hint::black_box([depth; 200]);
        if depth == 0 { 0 } else { deep(depth - 1) + u64::from(room[7] == depth) }
    }
    let pool = Pool::builder().workers(1).stacks(StackSupply::default().size(64 * 1024 * 1024)).build();
    assert_eq!(pool.run(Fiber::direct(|_| Ok(deep(20_000)))).unwrap(), 20_000);
}

#[test]
fn where_a_stack_finds_no_room_a_direct_fiber_runs_on_a_thread() {
    let pool = Pool::builder().workers(1).stacks(StackSupply::default().size(usize::MAX)).build();
    assert_eq!(pool.run(Fiber::direct(|d| d.wait(Fiber::success(1)))).unwrap(), 1);
}

#[test]
fn while_its_worker_is_stuck_others_run_and_it_goes_on_there_later() {
    let (stuck, is_stuck) = mpsc::channel();
    let settings = Settings::new().quantum(Duration::from_micros(500)).on_stuck(move |_| _ = stuck.send(()));
    let pool = Pool::builder().workers(1).settings(settings).build();
    let (go_on, told) = Channel::<()>::bounded(1);
    let pinned = pool.spawn(Fiber::direct(move |d| {
        let home = thread::current().id();
        // The wake-up comes while the thread is stuck.
        d.wait(told.recv())?;
        Ok((home, thread::current().id()))
    }));
    let (release, released) = mpsc::channel::<()>();
    // On either thread: if it is the other one, the pinned fiber just continues.
    let blocker = pool.spawn(Fiber::lazy(move || released.recv().unwrap()));
    // Another fiber has to run for the stuck worker to be noticed.
    assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    is_stuck.recv().unwrap();
    assert!(go_on.try_send(()).is_ok());
    assert!(block_on(pool.spawn(Fiber::yield_now())).is_success());
    release.send(()).unwrap();
    assert!(block_on(blocker).is_success());
    let (home, after) = block_on(pinned).unwrap();
    assert_eq!(home, after);
}

#[test]
fn a_pinned_fiber_runs_though_as_many_others_run_as_may() {
    let pool = Pool::builder().workers(1).build();
    let (go_on, told) = Channel::<()>::bounded(1);
    let fibers = (0..8).map(|_| {
        let told = told.clone();
        pool.spawn(Fiber::direct(move |d| d.wait(told.recv())))
    });
    let fibers: Vec<_> = fibers.collect();
    // There is always a runnable fiber.
    let busy = pool.spawn(Fiber::yield_now().repeat(Policy::forever()));
    for _ in 0..8 {
        assert!(block_on(pool.spawn(go_on.send(()))).is_success());
    }
    assert!(fibers.into_iter().all(|fiber| block_on(fiber).is_success()));
    busy.cancel_now();
    assert!(block_on(busy).is_cancelled());
}

#[test]
fn many_wait_at_the_same_time() {
    let pool = pool(2);
    let latch = Latch::new(10_000);
    let fibers = (0..10_000u64).map(|n| {
        let latch = latch.clone();
        pool.spawn(Fiber::direct(move |d| {
            latch.count_down();
            d.wait(latch.wait())?;
            Ok(n)
        }))
    });
    let fibers: Vec<_> = fibers.collect();
    assert_eq!(fibers.into_iter().map(|fiber| block_on(fiber).unwrap()).sum::<u64>(), 49_995_000);
}

#[test]
fn the_drop_of_a_pool_cancels_it_and_runs_its_drops_on_its_thread() {
    for workers in [1, 2] {
        let log = Log::default();
        let pool = pool(workers);
        let latch = Latch::new(10);
        for _ in 0..10 {
            let (log, latch) = (log.clone(), latch.clone());
            drop(pool.spawn(Fiber::<()>::direct(move |d| {
                let _held = OnThread(thread::current().id(), log.clone());
                latch.count_down();
                let end = d.wait(Fiber::never());
                assert!(end.as_ref().is_err_and(|error| error.is::<Cancelled>()));
                end
            })));
        }
        block_on(pool.spawn(latch.wait())).unwrap();
        drop(pool);
        assert_eq!(log.all(), ["right thread"; 10]);
    }
}

/// Logs the thread on which it is dropped.
struct OnThread(ThreadId, Log);

impl Drop for OnThread {
    fn drop(&mut self) {
        let is_right = thread::current().id() == self.0;
        self.1.add(if is_right { "right thread" } else { "wrong thread" });
    }
}

#[test]
fn a_pool_that_does_not_wait_for_it_unwinds_it_on_its_thread() {
    let log = Log::default();
    let pool = pool(2);
    let latch = Latch::new(20);
    let fibers = (0..20).map(|_| {
        let (log, latch) = (log.clone(), latch.clone());
        let holds = Fiber::<()>::direct(move |d| {
            let _held = OnThread(thread::current().id(), log);
            latch.count_down();
            // Longer than the limit of the pool.
            d.wait(Fiber::never().uncancelable())
        });
        pool.spawn(holds)
    });
    let fibers: Vec<_> = fibers.collect();
    block_on(pool.spawn(latch.wait())).unwrap();
    assert!(pool.shutdown(Shutdown::within(Duration::from_millis(1))).is_err());
    for fiber in fibers {
        fiber.context().abandon();
        assert!(block_on(fiber).failure().unwrap().is::<Abandoned>());
    }
    assert_eq!(log.all(), ["right thread"; 20]);
}

#[test]
fn one_that_goes_on_catching_its_unwinding_does_not_hold_up_the_end_of_its_worker() {
    let (pool, log, latch) = (pool(1), Log::default(), Latch::new(2));
    let begun = latch.clone();
    let catches = Fiber::<()>::direct(move |d| {
        begun.count_down();
        loop {
            let never = Fiber::<()>::never().uncancelable();
            _ = catch_unwind(AssertUnwindSafe(|| d.wait(never)));
        }
    });
    let (noted, begun) = (log.clone(), latch.clone());
    let passes = Fiber::<()>::direct(move |d| {
        let _held = OnThread(thread::current().id(), noted);
        begun.count_down();
        d.wait(Fiber::never().uncancelable())
    });
    let fibers = [pool.spawn(catches), pool.spawn(passes)];
    block_on(pool.spawn(latch.wait())).unwrap();
    assert!(pool.shutdown(Shutdown::within(Duration::from_millis(1))).is_err());
    for fiber in fibers {
        fiber.context().abandon();
        assert!(block_on(fiber).failure().unwrap().is::<Abandoned>());
    }
    while log.all().is_empty() {
        thread::yield_now();
    }
    assert_eq!(log.all(), ["right thread"]);
}

#[test]
fn thrown_away_by_another_thread_it_is_unwound_by_its_own() {
    let (log, pool, latch) = (Log::default(), pool(1), Latch::new(1));
    let (noted, begun) = (log.clone(), latch.clone());
    let fiber = pool.spawn(Fiber::<()>::direct(move |d| {
        let _held = OnThread(thread::current().id(), noted);
        begun.count_down();
        d.wait(Fiber::never())
    }));
    block_on(pool.spawn(latch.wait())).unwrap();
    // The fiber parks after it has counted down.
    while fiber.context().waits_for() == fiber_core::scheduler::WaitsFor::Nothing {
        thread::yield_now();
    }
    fiber.context().abandon();
    assert!(block_on(fiber).failure().unwrap().is::<Abandoned>());
    assert_eq!(log.all(), ["right thread"]);
}

#[test]
fn a_race_on_a_pool_cancels_the_direct_loser() {
    let pool = pool(2);
    for _ in 0..200 {
        let log = Log::default();
        let noted = log.clone();
        let loser = Fiber::<()>::direct(move |d| {
            let _held = OnThread(thread::current().id(), noted);
            d.wait(Fiber::never())
        });
        pool.run(loser.race(Fiber::delay(TICK))).unwrap();
        assert!(
            log.all().len() <= 1 && log.all().iter().all(|line| line == "right thread"),
            "{:?}",
            log.all()
        );
    }
}

#[test]
fn a_loser_that_computes_sees_that_it_has_lost_when_it_asks() {
    let asks = Fiber::direct(|d| {
        // Its event is the last one of the race, which it holds from then on.
        d.wait(Fiber::delay(TICK))?;
        while !d.is_cancelled() {
            std::hint::spin_loop();
        }
        Ok(())
    });
    assert!(pool(2).run(asks.race(Fiber::delay(50 * TICK))).is_success());
}
