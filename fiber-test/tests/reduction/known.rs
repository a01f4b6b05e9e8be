//! Programs whose number of different orders is known, or can be compared with the number of all orders.

use std::time::Instant;

use fiber_core::sync::{Mutex, Ref, Semaphore};
use fiber_core::{Fiber, Run};
use fiber_test::{Explore, Explored};

fn steps(count: usize) -> Fiber<(), impl Run<Out = ()>> {
    Fiber::for_each(0..count, |_| Fiber::success(()))
}

/// Prints the figures of the documentation.
fn reduced(name: &str, program: impl Fn() -> Fiber<()> + Sync) -> Explored {
    let began = Instant::now();
    let explored = Explore::exhaustive().reduced().no_regressions().check(&program);
    println!("{name}: {explored}, {:.3} s", began.elapsed().as_secs_f64());
    assert!(explored.is_complete());
    explored
}

fn all(name: &str, program: impl Fn() -> Fiber<()> + Sync) -> u64 {
    let began = Instant::now();
    let explored = Explore::exhaustive().no_regressions().check(&program);
    println!("{name}: {explored}, {:.3} s", began.elapsed().as_secs_f64());
    explored.orders().expect("all were seen")
}

#[test]
fn fibers_with_nothing_in_common_have_one_order() {
    let program = || Fiber::parallel((0..3).map(|_| steps(3))).map(drop).boxed();
    assert_eq!(reduced("three of three", program).traces(), Some(1));
    let program = || Fiber::parallel((0..10).map(|_| steps(10))).map(drop).boxed();
    assert_eq!(reduced("ten of ten", program).traces(), Some(1));
}

/// The recorder of traces listens too, and leaves the footprints to the reduction.
#[test]
fn an_exploration_whose_traces_are_inspected_has_as_many_orders() {
    let program = || {
        let count = Ref::new(0);
        let both = [count.clone(), count].map(|count| {
            let seen = Fiber::lazy({
                let count = count.clone();
                move || *count.load()
            });
            seen.bind(move |seen| Fiber::lazy(move || count.store(seen + 1)))
        });
        Fiber::parallel(both).map(drop).boxed()
    };
    let explore = || Explore::exhaustive().reduced().no_regressions();
    let inspected = explore().inspect(|trace| assert!(!trace.turns().is_empty())).check(program);
    assert!(inspected.is_complete());
    assert_eq!(inspected.traces(), explore().check(program).traces());
    assert!(inspected.traces() > Some(1));
}

/// Each reads and writes: r1 w1 r2 w2, the same the other way round, and two orders of the writes after both reads.
#[test]
fn two_increments_have_four() {
    let program = || {
        let count = Ref::new(0);
        let increment = |count: &Ref<u32>| {
            let writes = count.clone();
            count.read().bind(move |seen| writes.set(*seen + 1))
        };
        Fiber::parallel([increment(&count), increment(&count)]).map(drop).boxed()
    };
    assert_eq!(reduced("two increments", program).traces(), Some(4));
    assert_eq!(all("two increments", program), 6);
}

#[test]
fn readers_make_no_difference_to_each_other() {
    let program = || {
        let count = Ref::new(0);
        Fiber::parallel((0..4).map(move |_| count.read().map(drop).bind(|()| Fiber::success(()))))
            .map(drop)
            .boxed()
    };
    assert_eq!(reduced("four readers", program).traces(), Some(1));
}

/// Each acquires two forks, the lower one first, so that they do not form a cycle.
fn philosophers(count: usize, work: usize) -> Fiber<()> {
    let forks: Vec<Semaphore> = (0..count).map(|_| Semaphore::new(1)).collect();
    let philosopher = move |at: usize| {
        let next = (at + 1) % count;
        let (first, second) = (forks[at.min(next)].clone(), forks[at.max(next)].clone());
        first.acquire(1).bind(move |first| {
            second.acquire(1).bind(move |second| steps(work).map(move |()| drop((first, second))))
        })
    };
    Fiber::parallel((0..count).map(philosopher)).map(drop).boxed()
}

#[test]
fn philosophers_have_few() {
    let three = reduced("three philosophers", || philosophers(3, 0));
    assert!(three.traces() < Some(all("three philosophers", || philosophers(3, 0))));
    reduced("four philosophers", || philosophers(4, 0));
    reduced("five philosophers", || philosophers(5, 0));
    reduced("three philosophers with work", || philosophers(3, 10));
}

/// One fiber holds a lock and is cancelled; two others want it.
fn cancelled_holder() -> Fiber<()> {
    let lock = Mutex::new(0);
    let hold = |lock: &Mutex<u32>| lock.with(|mut count| steps(2).map(move |()| *count += 1));
    let holder = hold(&lock).fork();
    let others = hold(&lock).zip(hold(&lock));
    let cancel = holder.bind(|holder| others.zip(holder.cancel()));
    cancel.map(drop).boxed()
}

#[test]
fn a_cancelled_holder_has_few() {
    let few = reduced("cancelled holder", cancelled_holder);
    let all = all("cancelled holder", cancelled_holder);
    assert!(few.traces().is_some_and(|few| few * 10 < all), "{few} of {all}");
}
