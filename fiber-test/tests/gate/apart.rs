//! More buggy programs, without corrected forms: to see whether what is good for the programs of the gate is good for others. Some
//! need one fiber to run for long while another one stands still, others that all stay abreast.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use fiber_core::Fiber;
use fiber_core::sync::Semaphore;

use crate::support::Shared;

/// Some numbers that all fibers share.
type Numbers = [i32; 4];

/// What a fiber does between two binds.
type Step = fn(&mut Numbers);

/// Nothing.
const IDLE: Step = |_| ();

/// All fibers of a program, each with its steps. It is broken if the last number is 1 at the end.
fn steps(fibers: &[&[&[Step]]]) -> Fiber<()> {
    let numbers = Shared::new(Numbers::default());
    let fiber = |parts: &&[&[Step]]| {
        let numbers = numbers.clone();
        Fiber::for_each(parts.concat(), move |step| numbers.step(step)).boxed()
    };
    let all: Vec<Fiber<()>> = fibers.iter().map(fiber).collect();
    let numbers = numbers.clone();
    Fiber::parallel(all).map(move |_: Vec<()>| assert_ne!(numbers.with(|all| all[3]), 1)).boxed()
}

/// So many philosophers take their left fork, then the right one. They starve if each has one, which is reported before.
fn philosophers(count: usize) -> Fiber<()> {
    let (forks, taken) =
        ((0..count).map(|_| Semaphore::new(1)).collect::<Vec<_>>(), Arc::new(AtomicUsize::new(0)));
    let philosopher = |number: usize| {
        let (left, right) = (forks[number].clone(), forks[(number + 1) % count].clone());
        let (taken, given) = (taken.clone(), taken.clone());
        let eat = Fiber::lazy(move || given.fetch_sub(1, Relaxed)).map(|_| ());
        let take = move || {
            assert!(taken.fetch_add(1, Relaxed) + 1 < count, "each has one fork");
            Fiber::success(()).bind(move |()| right.with_permits(1, eat))
        };
        left.with_permits(1, Fiber::defer(take)).boxed()
    };
    let all: Vec<Fiber<()>> = (0..count).map(philosopher).collect();
    Fiber::parallel(all).map(drop).boxed()
}

/// Nine write two numbers, and a reader comes between the first write of all and the first second one.
fn reordering_of_ten() -> Fiber<()> {
    let writer: &[&[Step]] = &[&[|n| n[0] = 1, |n| n[1] = 1]];
    let reader: &[&[Step]] = &[&[|n| n[2] = n[0], |n| n[3] = i32::from(n[2] == 1 && n[1] == 0)]];
    steps(&[writer, writer, writer, writer, writer, writer, writer, writer, writer, reader])
}

/// A sum is read between the two writes of a transfer.
fn transfer() -> Fiber<()> {
    steps(&[
        &[&[IDLE; 3], &[|n| n[0] -= 1, |n| n[1] += 1], &[IDLE; 3]],
        &[&[IDLE; 6], &[|n| n[3] = i32::from(n[0] + n[1] != 0)], &[IDLE; 2]],
    ])
}

/// Three are in the middle of their work at once.
fn overlap_of_three() -> Fiber<()> {
    const ENTER: Step = |n| {
        n[0] += 1;
        n[3] |= i32::from(n[0] == 3);
    };
    const WORK: &[&[Step]] = &[&[ENTER], &[IDLE; 3], &[|n| n[0] -= 1], &[IDLE; 4]];
    steps(&[
        &[&[IDLE; 2], WORK[0], WORK[1], WORK[2], WORK[3]],
        &[&[IDLE; 5], WORK[0], WORK[1], WORK[2], WORK[3]],
        &[&[IDLE; 8], WORK[0], WORK[1], WORK[2], WORK[3]],
    ])
}

const IS_LEFT: &[Step] = &[|n| n[0] = 1, |n| n[3] = n[1]];
const GOES_BY: [&[Step]; 3] = [&[|n| n[2] = n[0]], &[IDLE; 6], &[|n| n[1] = n[2]]];

/// The whole of one between two steps of the other.
fn whole_between() -> Fiber<()> {
    steps(&[&[&[IDLE; 2], IS_LEFT, &[IDLE; 4]], &GOES_BY])
}

fn whole_between_beside_four() -> Fiber<()> {
    let idle: &[&[Step]] = &[&[IDLE; 6]];
    steps(&[idle, idle, &[&[IDLE; 2], IS_LEFT, &[IDLE; 4]], idle, &GOES_BY, idle])
}

/// The third ends before the second begins, which ends before the first begins.
fn in_a_row() -> Fiber<()> {
    steps(&[
        &[&[|n| n[0] += i32::from(n[0] == 4)], &[IDLE; 2], &[|n| n[3] = i32::from(n[0] == 5)]],
        &[&[|n| n[0] += i32::from(n[0] == 2)], &[IDLE; 2], &[|n| n[0] += i32::from(n[0] == 3)]],
        &[&[|n| n[0] += i32::from(n[0] == 0)], &[IDLE; 2], &[|n| n[0] += i32::from(n[0] == 1)]],
    ])
}

/// A light goes on and off twice, and its reader sees it on, off and on.
fn blinking() -> Fiber<()> {
    steps(&[
        &[&[|n| n[0] = 1, |n| n[0] = 0, |n| n[0] = 1, |n| n[0] = 0]],
        &[&[
            |n| n[1] += i32::from(n[0] == 1),
            |n| n[1] += i32::from(n[0] == 0 && n[1] == 1),
            |n| n[3] = i32::from(n[0] == 1 && n[1] == 2),
        ]],
    ])
}

/// A value changes between a check and an act that come late.
fn late_check() -> Fiber<()> {
    let idle: &[&[Step]] = &[&[IDLE; 10]];
    let check: [&[Step]; 2] = [&[IDLE; 8], &[|n| n[1] = n[0], |n| n[3] = i32::from(n[1] != n[0])]];
    steps(&[idle, idle, idle, &[&[IDLE; 4], &[|n| n[0] += 1]], &check])
}

/// One with many steps ends before two with one have begun.
fn long_before_short() -> Fiber<()> {
    let short: &[&[Step]] = &[&[|n| n[0] = 1]];
    steps(&[short, short, &[&[IDLE; 14], &[|n| n[3] = i32::from(n[0] == 0)]]])
}

/// A reader comes into a window of one step, far from the beginning of all three.
fn window() -> Fiber<()> {
    let reader: [&[Step]; 3] = [&[IDLE; 20], &[|n| n[3] |= n[0]], &[IDLE; 20]];
    steps(&[&[&[IDLE; 20], &[|n| n[0] = 1, |n| n[0] = 0], &[IDLE; 20]], &reader, &reader])
}

pub(crate) const ALL: [(&str, fn() -> Fiber<()>); 12] = [
    ("ring of three", || philosophers(3)),
    ("five philosophers", || philosophers(5)),
    ("reordering of ten", reordering_of_ten),
    ("transfer", transfer),
    ("overlap of three", overlap_of_three),
    ("whole between", whole_between),
    ("beside four", whole_between_beside_four),
    ("in a row", in_a_row),
    ("blinking", blinking),
    ("late check", late_check),
    ("long before short", long_before_short),
    ("window of one step", window),
];
