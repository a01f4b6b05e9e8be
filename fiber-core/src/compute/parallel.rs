//! One closure for all elements of a sequence.
//!
//! A thread works through its part in blocks. Before each block it looks whether other threads would find anything to take from
//! it. If not, it lends the second half of what is left (Tzannes, Caragea, Barua and Vishkin, "Lazy Binary-Splitting", 2010). So
//! a sequence is split as often as threads ask for work, and a few times more.

use std::panic::resume_unwind;

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
    };
    reduce.run(items.into_items(), first)
}

/// How parts become a value.
struct Fold<'a, B, E, C> {
    /// Makes the value of a part that has so many elements.
    begin: &'a B,
    /// Adds a block of elements.
    extend: &'a E,
    /// Puts the values of two parts together.
    combine: &'a C,
}

impl<B, E, C> Clone for Fold<'_, B, E, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B, E, C> Copy for Fold<'_, B, E, C> {}

/// A part is worked through in so many blocks. A thread that looks for work waits for one of them at most, and each costs a
/// nanosecond or two.
const BLOCKS: usize = 8;

/// A test tries the orders of so many parts.
const PARTS_IN_TESTS: usize = 4;

impl<B, E, C> Fold<'_, B, E, C> {
    fn run<I, T>(self, items: I, value: T) -> T
    where
        I: Items,
        T: Send,
        B: Fn(usize) -> T + Sync,
        E: Fn(T, I) -> T + Sync,
        C: Fn(T, T) -> T + Sync,
    {
        let smallest = items.len().div_ceil(PARTS_IN_TESTS);
        self.run_part(items, value, smallest)
    }

    fn run_part<I, T>(self, mut items: I, mut value: T, smallest: usize) -> T
    where
        I: Items,
        T: Send,
        B: Fn(usize) -> T + Sync,
        E: Fn(T, I) -> T + Sync,
        C: Fn(T, T) -> T + Sync,
    {
        with_crew(|crew| {
            let Some(crew) = crew else { return (self.extend)(value, items) };
            let Some(lender) = crew.lender() else { return self.in_any_order(crew, items, value, smallest) };
            let block = items.len().div_ceil(BLOCKS);
            loop {
                let length = items.len();
                if length > 1 && lender.is_hungry() {
                    return self.split(lender, items, value, smallest);
                }
                if block >= length {
                    return (self.extend)(value, items);
                }
                let (now, later) = items.split_at(block);
                value = (self.extend)(value, now);
                items = later;
            }
        })
    }

    /// Lends the second half. If no other thread takes it, it goes on from the value of the first half.
    fn split<I, T>(self, lender: Lender<'_>, items: I, value: T, smallest: usize) -> T
    where
        I: Items,
        T: Send,
        B: Fn(usize) -> T + Sync,
        E: Fn(T, I) -> T + Sync,
        C: Fn(T, T) -> T + Sync,
    {
        let middle = items.len() / 2;
        let (first, second) = items.split_at(middle);
        let length = second.len();
        let go_on = |value: Option<T>| {
            let value = value.unwrap_or_else(|| (self.begin)(length));
            self.run_part(second, value, smallest)
        };
        match lend(lender, || self.run_part(first, value, smallest), go_on) {
            (value, Offered::Back(go_on)) => go_on(Some(value)),
            (value, Offered::Done(Ok(rest))) => (self.combine)(value, rest),
            (value, Offered::Done(Err(panic))) => {
                drop(value);
                resume_unwind(panic.into_thrown())
            }
        }
    }

    /// In the order that a test chooses.
    #[cold]
    fn in_any_order<I, T>(self, crew: &Crew<'_>, items: I, value: T, smallest: usize) -> T
    where
        I: Items,
        T: Send,
        B: Fn(usize) -> T + Sync,
        E: Fn(T, I) -> T + Sync,
        C: Fn(T, T) -> T + Sync,
    {
        if items.len() <= smallest || crew.choose(1).is_none() {
            return (self.extend)(value, items);
        }
        let middle = items.len() / 2;
        let (first, second) = items.split_at(middle);
        let begin = (self.begin)(second.len());
        let (value, rest) = one_by_one(
            Some(crew),
            || self.run_part(first, value, smallest),
            || self.run_part(second, begin, smallest),
        );
        (self.combine)(value, rest)
    }
}
