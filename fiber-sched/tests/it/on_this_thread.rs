//! Futures that are not `Send`.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use fiber_core::sync::Channel;
use fiber_core::{Error, Fiber};
use fiber_sched::{AffinityPool, AnotherThread, CurrentThread, Pool, block_on, on_this_thread};
use fiber_test::{Explore, TestScheduler};

/// Counts its drop on its thread, and is not `Send`.
struct Local(Arc<AtomicUsize>, Rc<()>);

impl Drop for Local {
    fn drop(&mut self) {
        assert_eq!(Rc::strong_count(&self.1), 1);
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn local() -> (Local, Arc<AtomicUsize>) {
    let dropped = Arc::new(AtomicUsize::new(0));
    (Local(dropped.clone(), Rc::new(())), dropped)
}

#[test]
fn fibers_of_one_thread_share_what_belongs_to_it() {
    let scheduler = CurrentThread::new();
    let (sum, (sender, receiver)) = (Rc::new(Cell::new(0)), Channel::bounded(1));
    let adders = [1, 2, 3].map(|_| {
        let (sum, receiver) = (sum.clone(), receiver.clone());
        scheduler.spawn(on_this_thread(async move {
            while let Ok(number) = receiver.recv().await {
                sum.set(sum.get() + number);
            }
            Ok::<_, Error>(())
        }))
    });
    drop(receiver);
    scheduler.run(Fiber::for_each(1..=100, move |number| sender.send(number))).unwrap();
    scheduler.run(Fiber::parallel(adders.map(|adder| adder.join()))).unwrap();
    assert_eq!(sum.get(), 5_050);
    assert_eq!(Rc::strong_count(&sum), 1);
}

#[test]
fn a_worker_of_a_key_has_state_of_its_own() {
    thread_local! {
        static SEEN: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    }
    let pool = AffinityPool::builder().workers(2).build();
    let adds = |number| {
        Fiber::defer(move || {
            on_this_thread(async move {
                let here = Rc::new(thread::current().id());
                for _ in 0..10 {
                    Fiber::yield_now().await?;
                    assert_eq!(*here, thread::current().id());
                }
                Fiber::delay(Duration::from_micros(1)).await?;
                assert_eq!(*here, thread::current().id());
                Ok::<_, Error>(SEEN.with_borrow_mut(|seen| {
                    seen.push(number);
                    seen.len()
                }))
            })
        })
    };
    for number in 1..=20_u32 {
        assert_eq!(block_on(pool.spawn_on("ABC", adds(number))).unwrap(), number as usize);
    }
}

/// Reads its messages on its own thread. The state is made there, and dropped there.
#[test]
fn the_state_of_each_key_is_a_future_that_serves_messages() {
    let pool = AffinityPool::builder().workers(2).build();
    let books: Vec<_> = (0..4_u32)
        .map(|key| {
            let (sender, receiver) = Channel::bounded(2);
            let book = Fiber::defer(move || {
                on_this_thread(async move {
                    let (value, dropped) = local();
                    let (here, sum) = (thread::current().id(), Rc::new(Cell::new(0)));
                    while let Some(number) = receiver.next().await? {
                        assert_eq!(here, thread::current().id());
                        sum.set(sum.get() + number);
                    }
                    drop(value);
                    Ok::<_, Error>((sum.get(), dropped))
                })
            });
            (sender, pool.spawn_on(key, book))
        })
        .collect();
    let elsewhere = Pool::builder().workers(2).build();
    for (key, (sender, book)) in (0..).zip(books) {
        let sends = Fiber::for_each(0..100, move |number| sender.send(1000 * key + number));
        elsewhere.run(sends).unwrap();
        let (sum, dropped) = block_on(book).unwrap();
        assert_eq!((sum, dropped.load(Ordering::Relaxed)), (100_000 * key + 4_950, 1));
    }
}

#[test]
fn a_cancelled_future_is_dropped_on_its_thread() {
    let scheduler = CurrentThread::new();
    let (value, dropped) = local();
    let fiber = on_this_thread(async move {
        let _value = value;
        pending::<Result<(), Error>>().await
    });
    let handle = scheduler.spawn(fiber);
    scheduler.run(Fiber::yield_now()).unwrap();
    assert_eq!(dropped.load(Ordering::Relaxed), 0);
    handle.cancel_now();
    assert!(scheduler.run(handle.outcome()).unwrap().is_cancelled());
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
}

#[test]
fn a_future_that_never_runs_is_dropped_with_its_fiber() {
    let (value, dropped) = local();
    drop(on_this_thread(async move {
        drop(value);
        Ok::<_, Error>(())
    }));
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
}

#[test]
fn a_future_that_panics_is_dropped() {
    let (value, dropped) = local();
    let fiber = on_this_thread(async move {
        let _value = value;
        Fiber::yield_now().await?;
        panic!("a defect");
        #[allow(unreachable_code)]
        Ok::<(), Error>(())
    });
    assert!(CurrentThread::new().run(fiber).is_panicked());
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
}

#[test]
fn on_another_thread_it_fails_and_the_future_stays() {
    let (value, dropped) = local();
    let here = thread::current().id();
    let fiber = on_this_thread(async move {
        drop(value);
        Ok::<_, Error>(())
    });
    let pool = Pool::builder().workers(1).build();
    let error = block_on(pool.spawn(fiber)).failure().unwrap();
    let &AnotherThread { of, on } = error.downcast_ref().unwrap();
    assert!(of == here && on != here);
    assert_eq!(error.to_string(), format!("a future of {here:?} cannot run on {on:?}"));
    assert_eq!(dropped.load(Ordering::Relaxed), 0);
}

#[test]
fn a_future_whose_fiber_went_elsewhere_is_dropped_when_its_thread_ends() {
    let maker = thread::spawn(|| {
        let (value, dropped) = local();
        let fiber = on_this_thread(async move {
            drop(value);
            Ok::<_, Error>(())
        });
        // To another thread.
        thread::spawn(move || drop(fiber)).join().unwrap();
        assert_eq!(dropped.load(Ordering::Relaxed), 0);
        dropped
    });
    assert_eq!(maker.join().unwrap().load(Ordering::Relaxed), 1);
}

#[test]
fn a_scheduler_that_moved_to_another_thread_does_not_run_it() {
    let scheduler = CurrentThread::new();
    let handle = scheduler.spawn(on_this_thread(async { Ok::<_, Error>(Rc::new(7)).map(|number| *number) }));
    thread::scope(|scope| {
        scope.spawn(move || {
            let ended = scheduler.run(handle.outcome()).unwrap();
            assert!(ended.failure().unwrap().is::<AnotherThread>());
        });
    });
}

#[test]
fn it_runs_in_virtual_time_and_under_many_schedules() {
    let test = TestScheduler::new();
    let slow = on_this_thread(async {
        let seconds = Rc::new(Cell::new(5));
        Fiber::delay(Duration::from_secs(seconds.get())).await?;
        Ok::<_, Error>(seconds.get())
    });
    assert_eq!(test.run(slow).unwrap(), 5);
    // An update around a wait is lost in some schedule.
    let failure = Explore::default().try_check(|| {
        Fiber::defer(|| {
            let count = Rc::new(Cell::new(0));
            let adds = |count: Rc<Cell<u32>>| {
                on_this_thread(async move {
                    let before = count.get();
                    Fiber::yield_now().await?;
                    count.set(before + 1);
                    Ok::<_, Error>(())
                })
            };
            on_this_thread(async move {
                adds(count.clone()).zip(adds(count.clone())).await?;
                assert_eq!(count.get(), 2, "lost");
                Ok::<_, Error>(())
            })
        })
    });
    assert!(failure.unwrap_err().to_string().contains("lost"));
}
