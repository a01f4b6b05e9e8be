//! Borrowed tasks: recursion, slices, trees, and many tiny tasks.

use std::hint::black_box;
use std::sync::Arc;

use fiber_core::{Fiber, compute};
use rayon::prelude::*;

use crate::hosts::{Hosts, on_worker};
use crate::workload::{Column, Workload, step};

const FIB: u64 = 30;
/// The number of calls of `fib` that make two others.
const FORKS: u64 = 1_346_268;
const FIB_OF: u64 = 832_040;

const SORTED: u64 = 1_000_000;
/// A smaller part is sorted sequentially.
const SMALL: usize = 1_000;
const SUMMED: u64 = 10_000_000;
const DEPTH: u32 = 20;
const TINY: u64 = 1_000;
/// The number of repetitions of the tiny tasks in a run.
const TURNS: u64 = 1_000;

/// All workloads of the topic.
pub fn all(hosts: &Hosts) -> Vec<Workload<'_>> {
    vec![fibs(hosts), quicksort(hosts), sum(hosts), tree(hosts), tiny(hosts), spawned(hosts)]
}

fn fibs(hosts: &Hosts) -> Workload<'_> {
    Workload::new(format!("fib({FIB}) by join, per fork"), FORKS, FIB_OF)
        .by(Column::Fiber, || on_worker(&hosts.pool, Fiber::lazy(|| fib(FIB))))
        .by(Column::OneWorker, || on_worker(&hosts.single, Fiber::lazy(|| fib(FIB))))
        .by(Column::Plain, || plain_fib(black_box(FIB)))
        .by(Column::Chili, || chili_fib(&mut hosts.chili.scope(), FIB))
        .by(Column::Rayon, || hosts.rayon.install(|| rayon_fib(FIB)))
}

fn plain_fib(n: u64) -> u64 {
    if n < 2 { n } else { plain_fib(n - 1) + plain_fib(n - 2) }
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = compute::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn rayon_fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| rayon_fib(n - 1), || rayon_fib(n - 2));
    a + b
}

fn chili_fib(scope: &mut chili::Scope<'_>, n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = scope.join(|scope| chili_fib(scope, n - 1), |scope| chili_fib(scope, n - 2));
    a + b
}

fn quicksort(hosts: &Hosts) -> Workload<'_> {
    let sorted = |numbers: Vec<u64>, (): &()| u64::from(numbers.is_sorted());
    // The workers may use the numbers for longer than a borrow of this closure lasts.
    let on_pool = |pool: &fiber_sched::Pool, numbers: &mut Vec<u64>| {
        let mut taken = std::mem::take(numbers);
        let sort = Fiber::lazy(move || {
            sort(&mut taken);
            taken
        });
        *numbers = on_worker(pool, sort);
    };
    Workload::new(format!("quicksort of {SORTED}, per element"), SORTED, 1)
        .by_parts(Column::Fiber, shuffled, move |numbers| on_pool(&hosts.pool, numbers), sorted)
        .by_parts(Column::OneWorker, shuffled, move |numbers| on_pool(&hosts.single, numbers), sorted)
        .by_parts(Column::Plain, shuffled, |numbers| sort_alone(numbers), sorted)
        .by_parts(Column::Rayon, shuffled, |numbers| hosts.rayon.install(|| rayon_sort(numbers)), sorted)
}

/// The same numbers in each run, shuffled.
fn shuffled() -> Vec<u64> {
    (0..SORTED).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)).collect()
}

fn sort(numbers: &mut [u64]) {
    if numbers.len() <= SMALL {
        return numbers.sort_unstable();
    }
    let (left, right) = partition(numbers);
    compute::join(|| sort(left), || sort(right));
}

fn sort_alone(numbers: &mut [u64]) {
    if numbers.len() <= SMALL {
        return numbers.sort_unstable();
    }
    let (left, right) = partition(numbers);
    sort_alone(left);
    sort_alone(right);
}

fn rayon_sort(numbers: &mut [u64]) {
    if numbers.len() <= SMALL {
        return numbers.sort_unstable();
    }
    let (left, right) = partition(numbers);
    rayon::join(|| rayon_sort(left), || rayon_sort(right));
}

/// The numbers below the median of three, and the others.
fn partition(numbers: &mut [u64]) -> (&mut [u64], &mut [u64]) {
    let last = numbers.len() - 1;
    let mut three = [numbers[0], numbers[last / 2], numbers[last]];
    three.sort_unstable();
    let pivot = three[1];
    let mut middle = 0;
    for at in 0..=last {
        if numbers[at] < pivot {
            numbers.swap(at, middle);
            middle += 1;
        }
    }
    numbers.split_at_mut(middle)
}

fn sum(hosts: &Hosts) -> Workload<'_> {
    let numbers: Arc<Vec<u64>> = Arc::new((0..SUMMED).collect());
    let [for_pool, for_single, for_plain, for_rayon] = [0; 4].map(|_| numbers.clone());
    let on_pool = |pool: &fiber_sched::Pool, numbers: &Arc<Vec<u64>>| {
        let numbers = numbers.clone();
        let sum = move || compute::par_reduce(&*numbers, || 0, |sum, n| sum ^ mixed(*n), |a, b| a ^ b);
        on_worker(pool, Fiber::lazy(sum))
    };
    let answer = numbers.iter().fold(0, |sum, n| sum ^ mixed(*n));
    Workload::new(format!("sum over a slice of {SUMMED}, per element"), SUMMED, answer)
        .by(Column::Fiber, move || on_pool(&hosts.pool, &for_pool))
        .by(Column::OneWorker, move || on_pool(&hosts.single, &for_single))
        .by(Column::Plain, move || for_plain.iter().fold(0, |sum, n| sum ^ mixed(*n)))
        .by(Column::Rayon, move || {
            hosts.rayon.install(|| for_rayon.par_iter().map(|n| mixed(*n)).reduce(|| 0, |a, b| a ^ b))
        })
}

fn mixed(n: u64) -> u64 {
    (n ^ (n >> 31)).wrapping_mul(0x7FB5_D329_728E_A185)
}

struct Node {
    value: u64,
    children: Option<Box<(Node, Node)>>,
}

/// Level by level, so that neither subtree always comes first in memory.
fn grown(depth: u32) -> Node {
    let leaf = || Node { value: 1, children: None };
    let mut root = leaf();
    let mut level = vec![&mut root];
    for _ in 0..depth {
        let pairs = level.into_iter().map(|node| &mut **node.children.insert(Box::new((leaf(), leaf()))));
        level = pairs.flat_map(|(left, right)| [left, right]).collect();
    }
    root
}

fn tree(hosts: &Hosts) -> Workload<'_> {
    let nodes = (1 << (DEPTH + 1)) - 1;
    let root = Arc::new(grown(DEPTH));
    let [for_pool, for_single, for_plain, for_chili, for_rayon] = [0; 5].map(|_| root.clone());
    let on_pool = |pool: &fiber_sched::Pool, root: &Arc<Node>| {
        let root = root.clone();
        on_worker(pool, Fiber::lazy(move || walk(&root)))
    };
    Workload::new(format!("walk over a tree of {nodes} nodes, per node"), nodes, nodes)
        .by(Column::Fiber, move || on_pool(&hosts.pool, &for_pool))
        .by(Column::OneWorker, move || on_pool(&hosts.single, &for_single))
        .by(Column::Plain, move || walk_alone(&for_plain))
        .by(Column::Chili, move || chili_walk(&mut hosts.chili.scope(), &for_chili))
        .by(Column::Rayon, move || hosts.rayon.install(|| rayon_walk(&for_rayon)))
}

fn walk(node: &Node) -> u64 {
    let Some(children) = &node.children else { return node.value };
    let (left, right) = compute::join(|| walk(&children.0), || walk(&children.1));
    node.value + left + right
}

fn walk_alone(node: &Node) -> u64 {
    let Some(children) = &node.children else { return node.value };
    node.value + walk_alone(&children.0) + walk_alone(&children.1)
}

fn rayon_walk(node: &Node) -> u64 {
    let Some(children) = &node.children else { return node.value };
    let (left, right) = rayon::join(|| rayon_walk(&children.0), || rayon_walk(&children.1));
    node.value + left + right
}

fn chili_walk(scope: &mut chili::Scope<'_>, node: &Node) -> u64 {
    let Some(children) = &node.children else { return node.value };
    let (left, right) =
        scope.join(|scope| chili_walk(scope, &children.0), |scope| chili_walk(scope, &children.1));
    node.value + left + right
}

/// The smallest possible task: a call.
fn tiny(hosts: &Hosts) -> Workload<'_> {
    let answer = TURNS * TINY * (TINY + 1) / 2;
    let sum = || compute::par_reduce(0..TINY, || 0, |sum, n| sum + step(n), |a, b| a + b);
    let turns = move || (0..TURNS).map(|_| sum()).sum::<u64>();
    Workload::new(format!("{TINY} tiny tasks, reduced, per task"), TURNS * TINY, answer)
        .by(Column::Fiber, move || on_worker(&hosts.pool, Fiber::lazy(turns)))
        .by(Column::OneWorker, move || on_worker(&hosts.single, Fiber::lazy(turns)))
        .by(Column::Plain, || (0..TURNS).map(|_| (0..TINY).fold(0, |sum, n| sum + step(n))).sum())
        .by(Column::Rayon, || {
            let sum = || (0..TINY).into_par_iter().map(step).sum::<u64>();
            hosts.rayon.install(|| (0..TURNS).map(|_| sum()).sum())
        })
}

/// A thousand tasks of a scope, each of about a microsecond.
fn spawned(hosts: &Hosts) -> Workload<'_> {
    const STEPS: u64 = 700;
    let work = || (0..STEPS).fold(0, |n, _| step(n));
    let scope = move || {
        compute::scope(|s| {
            (0..TINY).for_each(|_| drop(s.spawn(work)));
            TINY
        })
    };
    Workload::new(format!("{TINY} tasks of 1 us in a scope, per task"), TINY, TINY)
        .by(Column::Fiber, move || on_worker(&hosts.pool, Fiber::lazy(scope)))
        .by(Column::OneWorker, move || on_worker(&hosts.single, Fiber::lazy(scope)))
        .by(Column::Plain, move || (0..TINY).map(|_| u64::from(std::hint::black_box(work()) > 0)).sum())
        .by(Column::Rayon, move || {
            hosts.rayon.install(|| {
                rayon::scope(|s| (0..TINY).for_each(|_| s.spawn(move |_| _ = std::hint::black_box(work()))));
                TINY
            })
        })
}
