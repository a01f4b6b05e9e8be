//! One closure for all elements of a sequence.
//!
//! A thread works through its part in blocks. Before each block it looks whether other threads would find anything to take from
//! it. If not, it lends the second half of what is left (Tzannes, Caragea, Barua and Vishkin, "Lazy Binary-Splitting", 2010),
//! unless that takes so little time that no thread would gain from it. So a sequence is split as often as threads ask for work, and a
//! few times more.

use std::marker::PhantomData;
use std::panic::resume_unwind;
use std::time::{Duration, Instant};

use super::items::{IntoItems, Items};
use super::join::one_by_one;
use crate::engine::borrow::{Crew, Lender, Offered, lend, with_crew};

/// Calls `f` for each element, and gives the values in order.
///
/// ```
/// use fiber_core::compute::par_map;
/// assert_eq!(par_map(&["a", "bcd"], |text| text.len()), [1, 3]);
/// assert_eq!(par_map(2..5, |n| n * n), [4, 9, 16]);
/// ```
///
/// # Panics
/// If `f` does, when all calls of `f` have ended. Elements whose turn has not come are left out.
///
/// # Blocking
/// As with [`join`](super::join).
pub fn par_map<I, T, F>(items: I, f: F) -> Vec<T>
where
    I: IntoItems,
    F: Fn(<I::Items as Items>::Item) -> T + Sync,
    T: Send,
{
    let items = items.into_items();
    let fold = Fold {
        begin: &|length| Vec::with_capacity(length),
        extend: &|mut values: Vec<T>, part: I::Items| {
            values.extend(part.sequence().map(&f));
            values
        },
        combine: &|mut values: Vec<T>, mut rest: Vec<T>| {
            values.append(&mut rest);
            values
        },
        of: PhantomData,
    };
    let values = Vec::with_capacity(items.len());
    fold.run(items, values)
}

/// Calls `f` for each element, in any order.
///
/// ```
/// use fiber_core::compute::par_for_each;
///
/// let mut prices = vec![10, 20];
/// par_for_each(&mut prices, |price| *price += *price / 10);
/// assert_eq!(prices, [11, 22]);
/// ```
///
/// # Panics
/// As with [`par_map`].
///
/// # Blocking
/// As with [`join`](super::join).
pub fn par_for_each<I, F>(items: I, f: F)
where
    I: IntoItems,
    F: Fn(<I::Items as Items>::Item) + Sync,
{
    let fold = Fold {
        begin: &|_| (),
        extend: &|(), part: I::Items| part.sequence().for_each(&f),
        combine: &|(), ()| (),
        of: PhantomData,
    };
    fold.run(items.into_items(), ());
}

/// Reduces the elements to one value: `fold` adds an element to a value, `combine` puts the values of neighbouring parts
/// together, and each part begins with an `identity()`.
///
/// The parts differ from call to call. The result is the same in each if `identity()` changes nothing and `combine` is
/// associative.
///
/// ```
/// use fiber_core::compute::par_reduce;
/// use std::collections::HashMap;
///
/// let words = ["tea", "milk", "tea"];
/// let count = |mut counts: HashMap<_, _>, word| {
///     *counts.entry(word).or_insert(0) += 1;
///     counts
/// };
/// let merge = |mut counts: HashMap<_, _>, others: HashMap<_, i32>| {
///     others.into_iter().for_each(|(word, n)| *counts.entry(word).or_insert(0) += n);
///     counts
/// };
/// let counts = par_reduce(&words, HashMap::<&&str, i32>::new, count, merge);
/// assert_eq!(counts[&"tea"], 2);
/// ```
///
/// # Panics
/// If one of the closures does, when all calls have ended.
///
/// # Blocking
/// As with [`join`](super::join).
pub fn par_reduce<I, T>(
    items: I,
    identity: impl Fn() -> T + Sync,
    fold: impl Fn(T, <I::Items as Items>::Item) -> T + Sync,
    combine: impl Fn(T, T) -> T + Sync,
) -> T
where
    I: IntoItems,
    T: Send,
{
    let first = identity();
    let reduce = Fold {
        begin: &|_| identity(),
        extend: &|value, part: I::Items| part.sequence().fold(value, &fold),
        combine: &combine,
        of: PhantomData,
    };
    reduce.run(items.into_items(), first)
}

/// How parts, each some of the items `I`, become a value.
struct Fold<'a, I, T, B, E, C> {
    /// Makes the value of a part that has so many elements.
    begin: &'a B,
    /// Adds a block of elements.
    extend: &'a E,
    /// Puts the values of two parts together.
    combine: &'a C,
    of: PhantomData<fn(I) -> T>,
}

/// A part is worked through in so many blocks. A thread that looks for work waits for one of them at most, and each costs a
/// few nanoseconds.
const BLOCKS: usize = 8;

/// A part that takes no longer, in nanoseconds, is not split: to steal half of it takes longer.
const WORTH_A_SPLIT: usize = 1_000;

/// A test tries the orders of so many parts.
const PARTS_IN_TESTS: usize = 4;

/// How many elements are not worth a split, by the time that the last block took. Before the first block, none.
#[derive(Clone, Copy)]
struct Grain(usize);

#[expect(clippy::disallowed_methods, reason = "a virtual clock shows no pace, and under one nothing is lent")]
fn now() -> Instant {
    Instant::now()
}

impl Grain {
    fn of(block: usize, time: Duration) -> Self {
        let time = usize::try_from(time.as_nanos()).unwrap_or(usize::MAX);
        Grain((block.saturating_mul(WORTH_A_SPLIT) / time.max(1)).max(1))
    }
}

impl<I, T, B, E, C> Fold<'_, I, T, B, E, C>
where
    I: Items,
    T: Send,
    B: Fn(usize) -> T + Sync,
    E: Fn(T, I) -> T + Sync,
    C: Fn(T, T) -> T + Sync,
{
    fn run(&self, items: I, value: T) -> T {
        with_crew(|crew| match crew {
            Some(crew) if crew.lender().is_none() => {
                let smallest = items.len().div_ceil(PARTS_IN_TESTS);
                self.in_any_order(crew, items, value, smallest)
            }
            _ => self.run_part(items, value, Grain(0)).0,
        })
    }

    /// Adds a part to the value.
    fn run_part(&self, mut items: I, mut value: T, mut grain: Grain) -> (T, Grain) {
        with_crew(|crew| {
            let Some(lender) = crew.and_then(Crew::lender) else {
                return ((self.extend)(value, items), grain);
            };
            let block = items.len().div_ceil(BLOCKS);
            loop {
                let length = items.len();
                let is_hungry = length > 1 && lender.is_hungry();
                if is_hungry && length > grain.0 {
                    return self.split(lender, items, value, grain);
                }
                let block = block.max(grain.0 / 2);
                if block >= length {
                    return ((self.extend)(value, items), grain);
                }
                // If others wait for a part that is not worth a split, it has to be as small as it was believed to be.
                let start = (is_hungry || grain.0 == 0).then(now);
                let (now, later) = items.split_at(block);
                value = (self.extend)(value, now);
                items = later;
                if let Some(start) = start {
                    grain = Grain::of(block, start.elapsed());
                }
            }
        })
    }

    /// Lends the second half. If no other thread takes it, it continues with the value of the first half.
    fn split(&self, lender: Lender<'_, '_>, items: I, value: T, grain: Grain) -> (T, Grain) {
        let middle = items.len() / 2;
        let (first, second) = items.split_at(middle);
        let length = second.len();
        let go_on = |value: Option<(T, Grain)>| {
            let (value, grain) = value.unwrap_or_else(|| ((self.begin)(length), grain));
            self.run_part(second, value, grain)
        };
        match lend(lender, || self.run_part(first, value, grain), go_on) {
            (first, Offered::Back(go_on)) => go_on(Some(first)),
            ((value, grain), Offered::Done(Ok((rest, _)))) => ((self.combine)(value, rest), grain),
            (first, Offered::Done(Err(panic))) => {
                drop(first);
                resume_unwind(panic.into_thrown())
            }
        }
    }

    /// In the order that a test chooses.
    #[cold]
    fn in_any_order(&self, crew: &Crew<'_>, items: I, value: T, smallest: usize) -> T {
        if items.len() <= smallest || crew.choose(1).is_none() {
            return (self.extend)(value, items);
        }
        let middle = items.len() / 2;
        let (first, second) = items.split_at(middle);
        let begin = (self.begin)(second.len());
        let (value, rest) = one_by_one(
            Some(crew),
            || self.in_any_order(crew, first, value, smallest),
            || self.in_any_order(crew, second, begin, smallest),
        );
        (self.combine)(value, rest)
    }
}
