//! Random programs that race: the reduced orders show the results of all orders, no more and no fewer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use fiber_core::sync::{Channel, Mutex, Receiver, Ref, Sender};
use fiber_core::{Either, Fiber, Run};
use fiber_test::{Explore, touch, touch_read};

use crate::numbers::Numbers;
use crate::results::{Seen, results};

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

impl Step {
    fn random(numbers: &mut Numbers) -> Self {
        let (which, value) = (numbers.below(2) as usize, numbers.below(3) as u32 + 1);
        match numbers.below(9) {
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
}

/// Two fibers of one to three steps, or three of one or two.
fn random_program(numbers: &mut Numbers) -> Vec<Vec<Step>> {
    let fibers = 2 + numbers.below(2);
    let fiber = |numbers: &mut Numbers| {
        let steps = 1 + numbers.below(5 - fibers);
        (0..steps).map(|_| Step::random(numbers)).collect()
    };
    (0..fibers).map(|_| fiber(numbers)).collect()
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

fn program(fibers: &[Vec<Step>], seen: Seen) -> Fiber<(), impl Run<Out = ()>> {
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
    let mut numbers = Numbers::new();
    let (mut racing, mut many, mut orders, mut run) = (0, 0, 0, 0);
    while racing < RACING {
        let fibers = random_program(&mut numbers);
        let all_of = |explore: Explore| {
            let explore = explore.schedules(MOST_ORDERS);
            results(&explore, &format!("{fibers:?}"), |seen| program(&fibers, seen))
        };
        let Some((all, of_all)) = all_of(Explore::exhaustive()) else { continue };
        let reduced = all_of(Explore::exhaustive().reduced());
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
