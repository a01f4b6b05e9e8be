//! What fibers on a tokio runtime have of the runtime, and what they leave behind.

use std::io;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::error::Abandoned;
use fiber_core::scheduler::Event;
use fiber_core::{CancelToken, Context, Either, Error, Fiber, Outcome, Policy, fiber};
use fiber_sched::{Observer, Shutdown, TokioScheduler};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::coop;

use crate::echo::{ask, serve};

const HOUR: Duration = Duration::from_secs(3_600);

fn runtimes() -> Vec<Runtime> {
    let build = |mut builder: Builder| builder.worker_threads(2).enable_all().build().unwrap();
    vec![build(Builder::new_current_thread()), build(Builder::new_multi_thread())]
}

#[test]
fn futures_find_the_sockets_of_the_runtime() {
    for runtime in runtimes() {
        let fibers = TokioScheduler::new(runtime.handle());
        let answers = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let asks = Fiber::parallel((0..20).map(move |n| ask(address, n))).limit(5);
            fibers.spawn(asks.race(serve(listener))).await.unwrap()
        });
        let Either::Left(answers) = answers else { panic!("the server does not end") };
        assert_eq!(answers, (1..=20).collect::<Vec<u8>>());
    }
}

#[test]
fn every_kind_of_thread_is_inside_of_the_runtime() {
    for runtime in runtimes() {
        let fibers = TokioScheduler::new(runtime.handle());
        let id = || Handle::current().id();
        let on_all = fiber! {
            let! a = Fiber::lazy(id);
            let! b = Fiber::blocking(id);
            let! c = Fiber::dedicated(move |_| Ok::<_, fiber_core::Error>(id()));
            [a, b, c]
        };
        let ids = runtime.block_on(fibers.spawn(on_all).into_future()).unwrap();
        assert_eq!(ids, [runtime.handle().id(); 3]);
    }
}

#[test]
fn calls_that_are_not_short_run_beside_each_other_also_after_many_short_ones() {
    const CALLS: usize = 8;
    for runtime in runtimes() {
        let fibers = TokioScheduler::new(runtime.handle());
        let run =
            |fiber: Fiber<()>| assert!(runtime.block_on(fibers.spawn(fiber).into_future()).is_success());
        for _ in 0..20 {
            let short = (0..CALLS).map(|_| Fiber::blocking(|| ()));
            run(Fiber::parallel(short.collect::<Vec<_>>()).map(drop).boxed());
            let barrier = Arc::new(Barrier::new(CALLS));
            let calls = (0..CALLS).map(|_| {
                let barrier = barrier.clone();
                // None of them ends before all have begun.
                Fiber::blocking(move || _ = barrier.wait())
            });
            run(Fiber::parallel(calls.collect::<Vec<_>>()).map(drop).boxed());
            (0..10).for_each(|_| run(Fiber::blocking(|| ()).boxed()));
        }
    }
}

#[test]
fn fibers_run_on_the_workers_of_the_runtime() {
    let runtime =
        Builder::new_multi_thread().worker_threads(2).thread_name("of-tokio").enable_all().build().unwrap();
    let fibers = TokioScheduler::new(runtime.handle());
    let name = || thread::current().name().map(str::to_owned);
    let fiber = Fiber::yield_now().bind(|()| Fiber::delay(Duration::from_millis(1))).map(move |()| name());
    assert_eq!(runtime.block_on(fibers.spawn(fiber).into_future()).unwrap().as_deref(), Some("of-tokio"));
}

#[tokio::test(start_paused = true)]
async fn a_paused_clock_of_tokio_stops_and_skips_the_time_of_fibers() {
    let fibers = TokioScheduler::current();
    let start = std::time::Instant::now();
    let nap = fibers.spawn(Fiber::delay(24 * HOUR).bind(|()| Fiber::now()));
    let woken_at = nap.await.unwrap();
    assert!(woken_at.as_nanos() >= (24 * HOUR).as_nanos() as u64);
    assert!(start.elapsed() < HOUR);
}

#[test]
fn endless_fibers_let_the_tasks_of_the_runtime_run() {
    for runtime in runtimes() {
        let fibers = TokioScheduler::new(runtime.handle());
        let binds = || Fiber::success(()).repeat(Policy::forever());
        let _endless: Vec<_> = (0..4).map(|_| fibers.spawn(binds())).collect();
        runtime.block_on(async {
            for _ in 0..20 {
                tokio::spawn(tokio::task::yield_now()).await.unwrap();
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
    }
}

#[test]
fn sockets_that_are_always_ready_let_others_run() {
    // Without a budget, the reader would never yield. With none left for its next turn, it would spin in the driver.
    for runtime in runtimes() {
        let fibers = TokioScheduler::new(runtime.handle());
        let always_ready = Fiber::block(|| async {
            let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
            loop {
                sender.send(()).unwrap();
                receiver.recv().await.unwrap();
            }
            #[allow(unreachable_code, reason = "gives the type of the error")]
            Ok::<(), io::Error>(())
        });
        let _reader = fibers.spawn(always_ready);
        for _ in 0..20 {
            runtime.block_on(fibers.spawn(Fiber::delay(Duration::from_millis(1))).into_future()).unwrap();
        }
    }
}

#[test]
fn a_future_that_spends_the_budget_in_long_turns_lets_fibers_that_yield_run() {
    // The runtime looks at its events after each of these turns, and the future is woken there, before the driver.
    const LONG: Duration = Duration::from_micros(500);
    const TURNS: usize = 1_000;
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let fibers = TokioScheduler::new(runtime.handle());
    let turns = Arc::new(AtomicUsize::new(0));
    let seen = turns.clone();
    let reader = Fiber::block(move || async move {
        while turns.fetch_add(1, Ordering::Relaxed) < TURNS {
            let began = Instant::now();
            while began.elapsed() < LONG {}
            while coop::has_budget_remaining() {
                coop::consume_budget().await;
            }
            coop::consume_budget().await;
        }
        Ok::<(), io::Error>(())
    });
    let reader = fibers.spawn(reader);
    let yields = fiber! {
        while seen.load(Ordering::Relaxed) < TURNS / 10 {
            do! Fiber::yield_now();
        }
    };
    assert!(runtime.block_on(fibers.spawn(yields).into_future()).is_success());
    assert!(reader.try_outcome().is_err(), "the fiber that yields had to wait for the end of the future");
}

#[test]
fn a_shutdown_drains_and_then_cancels() {
    for runtime in runtimes() {
        let fibers = TokioScheduler::new(runtime.handle());
        let short = fibers.spawn(Fiber::delay(Duration::from_millis(2)).map(|()| "done"));
        let plan = Shutdown::within(HOUR).after_draining(HOUR);
        runtime.block_on(fibers.shutdown(plan)).unwrap();
        assert_eq!(short.try_outcome().unwrap().unwrap(), "done");

        let fibers = TokioScheduler::new(runtime.handle());
        let finalized = Arc::new(AtomicUsize::new(0));
        let count = finalized.clone();
        let finalizer =
            Fiber::delay(Duration::from_millis(2)).map(move |()| _ = count.fetch_add(1, Ordering::SeqCst));
        let endless = fibers.spawn(Fiber::<()>::never().ensure(finalizer));
        let begun = fibers.spawn(Fiber::yield_now());
        runtime.block_on(begun.into_future()).unwrap();
        runtime.block_on(fibers.shutdown(Shutdown::within(HOUR))).unwrap();
        assert!(endless.try_outcome().unwrap().is_cancelled());
        assert_eq!(finalized.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn a_shutdown_names_what_does_not_end() {
    for runtime in runtimes() {
        let fibers = TokioScheduler::new(runtime.handle());
        let _flush = fibers.context().spawn_here(Fiber::<()>::never().uncancelable().named("flush"));
        let plan = Shutdown::within(Duration::from_millis(2));
        let unfinished = runtime.block_on(fibers.shutdown(plan)).unwrap_err();
        assert_eq!(unfinished.dump().fibers().next().unwrap().name(), Some("flush"));
        assert!(unfinished.to_string().starts_with("the scheduler has not ended: 1 fiber"), "{unfinished}");
    }
}

#[test]
fn a_dropped_scheduler_cancels_its_fibers_which_end_in_the_background() {
    for runtime in runtimes() {
        let fibers = TokioScheduler::new(runtime.handle());
        let finalizer = Fiber::delay(Duration::from_millis(2)).boxed();
        let endless = fibers.spawn(Fiber::<()>::never().ensure(finalizer));
        runtime.block_on(fibers.spawn(Fiber::yield_now()).into_future()).unwrap();
        drop(fibers);
        assert!(runtime.block_on(endless.into_future()).is_cancelled());
    }
}

#[test]
fn a_runtime_that_ends_first_abandons_its_fibers() {
    for runtime in runtimes() {
        let fibers = TokioScheduler::builder(runtime.handle()).on_unobserved(|_| ()).build();
        let sleeps = fibers.spawn(Fiber::delay(HOUR));
        runtime.block_on(fibers.spawn(Fiber::yield_now()).into_future()).unwrap();
        drop(runtime);
        let is_abandoned =
            |outcome: Outcome<()>| outcome.failure().is_some_and(|error| error.is::<Abandoned>());
        assert!(is_abandoned(fiber_sched::block_on(sleeps)));
        assert!(is_abandoned(fiber_sched::block_on(fibers.spawn(Fiber::yield_now()))));
        assert!(is_abandoned(fiber_sched::block_on(fibers.spawn(Fiber::blocking(|| ())))));
    }
}

/// There are no more drivers than workers, and all of them are in such turns.
#[test]
fn fibers_that_leave_their_workers_may_wait_for_other_fibers() {
    const WORKERS: usize = 2;
    let runtime = Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build().unwrap();
    let fibers = TokioScheduler::new(runtime.handle());
    let all = Arc::new(Barrier::new(WORKERS));
    let waits = |_| {
        let (all, handle, context) = (all.clone(), runtime.handle().clone(), fibers.context().clone());
        let blocks = move || {
            all.wait();
            handle.block_on(context.spawn(Fiber::delay(Duration::from_millis(1))).into_future()).unwrap();
        };
        fibers.spawn(Fiber::lazy(|| tokio::task::block_in_place(blocks)))
    };
    let waits: Vec<_> = (0..WORKERS).map(waits).collect();
    let all_end = async {
        for wait in waits {
            wait.await.unwrap();
        }
    };
    let ended = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(20), all_end).await });
    runtime.shutdown_background();
    ended.expect("they wait for each other");
}

/// Otherwise, the drop of the runtime would wait for it for ever.
#[test]
fn a_closure_is_told_to_stop_although_the_runtime_ends_before_its_cancelled_fiber() {
    for is_dedicated in [false, true] {
        for runtime in runtimes() {
            let fibers = TokioScheduler::builder(runtime.handle()).on_unobserved(|_| ()).build();
            let ((begin, begun), (end, ended)) = (mpsc::channel(), mpsc::channel());
            let until_told = move |token: &CancelToken| {
                begin.send(()).unwrap();
                let patience = Instant::now() + Duration::from_secs(20);
                while !token.is_cancelled() && Instant::now() < patience {
                    thread::sleep(Duration::from_millis(1));
                }
                _ = end.send(token.is_cancelled());
                Ok::<_, Error>(())
            };
            let waits = if is_dedicated {
                Fiber::dedicated(until_told).boxed()
            } else {
                Fiber::blocking_with(until_told).boxed()
            };
            runtime.block_on(async {
                fibers.spawn(waits);
                while begun.try_recv().is_err() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                drop(fibers);
            });
            drop(runtime);
            assert_eq!(ended.recv(), Ok(true));
        }
    }
}

#[test]
fn a_shutdown_after_the_end_of_the_runtime_finds_nothing_unfinished() {
    for runtime in runtimes() {
        let fibers = TokioScheduler::builder(runtime.handle()).on_unobserved(|_| ()).build();
        let waits = fibers.spawn(Fiber::<()>::never().ensure(Fiber::delay(HOUR)));
        runtime.block_on(fibers.spawn(Fiber::delay(Duration::from_millis(1))).into_future()).unwrap();
        drop(runtime);
        let ended = fiber_sched::block_on(fibers.shutdown(Shutdown::within(HOUR)));
        assert!(ended.is_ok(), "{}", ended.unwrap_err());
        assert!(waits.try_outcome().unwrap().failure().unwrap().is::<Abandoned>());
    }
}

#[test]
#[should_panic(expected = "time")]
fn a_runtime_without_timers_is_noticed_at_once() {
    let runtime = Builder::new_current_thread().build().unwrap();
    TokioScheduler::new(runtime.handle());
}

/// Notes whose turns there were, and counts the ends of fibers.
#[derive(Default)]
struct Seen {
    turns: Mutex<Vec<Context>>,
    ends: AtomicUsize,
}

impl Observer for Seen {
    fn event(&self, _: &Context, event: Event<'_>) {
        if let Event::Ended = event {
            self.ends.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn turn(&self, fiber: &Context, turn: &mut dyn FnMut()) {
        self.turns.lock().unwrap().push(fiber.clone());
        turn();
    }
}

#[test]
fn an_observer_sees_the_turns_and_ends_of_fibers_on_a_runtime() {
    for runtime in runtimes() {
        let seen = Arc::new(Seen::default());
        let fibers = TokioScheduler::builder(runtime.handle()).observer(seen.clone()).build();
        let root = fibers.context().clone();
        let fiber = Fiber::yield_now().bind(|()| Fiber::blocking(|| ()));
        assert!(runtime.block_on(fibers.spawn(fiber).into_future()).is_success());
        runtime.block_on(fibers.shutdown(Shutdown::within(HOUR).after_draining(HOUR))).unwrap();
        // The start, the rest after the yield, and the blocking call; and the end, unless the call is over at once.
        // The root has one, too, if the fiber ends during the shutdown.
        let turns = mem::take(&mut *seen.turns.lock().unwrap());
        let turns = turns.iter().filter(|fiber| !fiber.is_same(&root)).count();
        assert!([3, 4].contains(&turns), "{turns} turns");
        assert_eq!(seen.ends.load(Ordering::SeqCst), 1);
    }
}
