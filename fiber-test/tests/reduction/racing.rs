//! Random programs that race: the reduced orders show the results of all orders, no more and no fewer.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use fiber_core::sync::{Channel, Mutex, Receiver, Ref, Sender};
use fiber_core::{Either, Fiber, Run};
use fiber_test::{Explore, touch, touch_read};
use parking_lot::Mutex as Lock;

/// The number of programs with several results.
const RACING: u32 = 100;

/// Programs with more orders are left out.
const MOST_ORDERS: u64 = 400;

/// A step of a fiber. Each adds a number to the log of its fiber.
#[derive(Clone, Copy, Debug)]
enum Step {
    Load(usize),
    Store(usize, u32),
    Add(usize),
    Read,
    Modify,
    TrySend(u32),
    TryReceive,
    /// Holds a mutex over a switch point.
    Lock,
    /// Waits for a mutex for no longer than it takes to yield.
    TimeOut,
}

/// The same numbers in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn step(&mut self) -> Step {
        let (which, value) = (self.below(2) as usize, self.below(3) as u32 + 1);
        match self.below(9) {
            0 => Step::Load(which),
            1 => Step::Store(which, value),
            2 => Step::Add(which),
            3 => Step::Read,
            4 => Step::Modify,
            5 => Step::TrySend(value),
            6 => Step::TryReceive,
            7 => Step::Lock,
            _ => Step::TimeOut,
        }
    }

    /// Two fibers of one to three steps, or three of one or two.
    fn program(&mut self) -> Vec<Vec<Step>> {
        let fibers = 2 + self.below(2);
        let fiber = |numbers: &mut Self| (0..1 + numbers.below(5 - fibers)).map(|_| numbers.step()).collect();
        (0..fibers).map(|_| fiber(self)).collect()
    }
}

#[derive(Clone)]
struct World {
    atoms: Arc<[AtomicU32; 2]>,
    value: Ref<u32>,
    /// Each fiber has handles of its own, and drops several in a step.
    channel: (Sender<u32>, Receiver<u32>),
    mutex: Mutex<u32>,
}

const NAMES: [&str; 2] = ["first", "second"];

impl World {
    fn new() -> Self {
        World {
            atoms: Arc::default(),
            value: Ref::new(0),
            channel: Channel::bounded(1),
            mutex: Mutex::new(0),
        }
    }

    fn step(&self, step: Step) -> Fiber<u32> {
        let World { atoms, value, channel, mutex } = self.clone();
        match step {
            Step::Load(at) => Fiber::lazy(move || {
                touch_read(NAMES[at]);
                atoms[at].load(SeqCst)
            })
            .boxed(),
            Step::Store(at, value) => Fiber::lazy(move || {
                touch(NAMES[at]);
                atoms[at].swap(value, SeqCst)
            })
            .boxed(),
            Step::Add(at) => Fiber::lazy(move || {
                touch(NAMES[at]);
                atoms[at].fetch_add(1, SeqCst)
            })
            .boxed(),
            Step::Read => value.read().map(|value| *value).boxed(),
            Step::Modify => value.modify(|value| (value + 1, *value)).boxed(),
            Step::TrySend(item) => Fiber::lazy(move || u32::from(channel.0.try_send(item).is_ok())).boxed(),
            Step::TryReceive => Fiber::lazy(move || channel.1.try_recv().unwrap_or(9)).boxed(),
            Step::Lock => mutex.with(|mut held| Fiber::yield_now().map(move |()| add(&mut held))).boxed(),
            Step::TimeOut => {
                let locked = mutex.lock().map(|mut held| add(&mut held)).race(Fiber::yield_now());
                locked
                    .map(|first| match first {
                        Either::Left(value) => value,
                        Either::Right(()) => 9,
                    })
                    .boxed()
            }
        }
    }
}

fn add(value: &mut u32) -> u32 {
    *value += 1;
    *value
}

fn fiber(world: &World, steps: Vec<Step>) -> Fiber<Vec<u32>> {
    let world = world.clone();
    let next = move |log: Vec<u32>, step| {
        let more = move |number| [log, vec![number]].concat();
        world.step(step).map(more)
    };
    Fiber::fold(steps, Vec::new(), next).boxed()
}

/// All results of a program, and the number of orders. `None`: there are more than that.
fn results(explore: &Explore, fibers: &[Vec<Step>]) -> Option<(BTreeSet<String>, u64)> {
    let seen = Arc::new(Lock::new(BTreeSet::new()));
    let explored = explore.try_check(|| program(fibers, seen.clone()));
    let explored = explored.unwrap_or_else(|failure| panic!("{fibers:?}: {failure}"));
    explored.is_complete().then(|| (std::mem::take(&mut *seen.lock()), explored.schedules()))
}

fn program(fibers: &[Vec<Step>], seen: Arc<Lock<BTreeSet<String>>>) -> Fiber<(), impl Run<Out = ()>> {
    let world = World::new();
    let all: Vec<_> = fibers.iter().map(|steps| fiber(&world, steps.clone())).collect();
    Fiber::parallel(all).map(move |logs| {
        let atoms = world.atoms.each_ref().map(|atom| atom.load(SeqCst));
        let left = world.channel.1.try_recv().ok();
        let locked = world.mutex.try_lock().map(|held| *held);
        seen.lock().insert(format!("{logs:?} {atoms:?} {} {left:?} {locked:?}", *world.value.load()));
    })
}

#[test]
fn the_results_of_racing_programs_are_those_of_all_orders() {
    let mut numbers = Numbers(1);
    let (mut racing, mut many, mut orders, mut run) = (0, 0, 0, 0);
    while racing < RACING {
        let fibers = numbers.program();
        let Some((all, of_all)) = results(&Explore::exhaustive().schedules(MOST_ORDERS), &fibers) else {
            continue;
        };
        let reduced = results(&Explore::exhaustive().reduced().schedules(MOST_ORDERS), &fibers);
        let (reduced, of_reduced) = reduced.expect("there are not more of these");
        assert_eq!(reduced, all, "{fibers:?}");
        if all.len() > 1 {
            racing += 1;
            many += all.len();
            orders += of_all;
            run += of_reduced;
        }
    }
    println!("{racing} programs with {many} results: {orders} orders, {run} of them run");
}
