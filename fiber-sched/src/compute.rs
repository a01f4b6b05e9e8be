//! Borrowed tasks on the pool that the current thread belongs to, or else on the process-wide one.

use fiber_core::compute::{self, IntoItems, Items, Scope};
use fiber_core::scheduler::is_served;

use crate::shared::shared;

/// Calls both closures, which may run in parallel, and gives both values. See [`fiber_core::compute::join`].
///
/// It uses the pool whose code the current thread runs, or else the one that the process shares, as [`run`](crate::run) does.
///
/// ```
/// let (mut low, mut high) = (vec![2, 1], vec![4, 3]);
/// fiber_sched::join(|| low.sort(), || high.sort());
/// assert_eq!([low, high].concat(), [1, 2, 3, 4]);
/// ```
///
/// # Panics
/// If one of the closures panics, after the other has ended or can no longer begin.
///
/// # Blocking
/// Until both have ended.
#[inline]
pub fn join<A, B, T, U>(left: A, right: B) -> (T, U)
where
    A: FnOnce() -> T + Send,
    B: FnOnce() -> U + Send,
    T: Send,
    U: Send,
{
    served(|| compute::join(left, right))
}

/// Calls `body`, which may spawn tasks; all of them have ended when this function returns. See [`fiber_core::compute::scope`].
///
/// It uses the pool whose code the current thread runs, or else the one that the process shares.
///
/// ```
/// let numbers = [1, 2, 3, 4];
/// let (sum, product) = fiber_sched::scope(|s| {
///     let sum = s.spawn(|| numbers.iter().sum::<i32>());
///     (sum.join(), numbers.iter().product::<i32>())
/// });
/// assert_eq!((sum, product), (10, 24));
/// ```
///
/// # Panics
/// If `body` or a task panics, after all tasks have ended.
///
/// # Blocking
/// Until all tasks have ended.
pub fn scope<'env, T>(body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T) -> T {
    served(|| compute::scope(body))
}

/// Calls `f` for each element, and gives the values in order. See [`fiber_core::compute::par_map`].
///
/// It uses the pool whose code the current thread runs, or else the one that the process shares.
///
/// ```
/// assert_eq!(fiber_sched::par_map(&["a", "bc"], |text| text.len()), [1, 2]);
/// ```
///
/// # Panics
/// If `f` panics.
pub fn par_map<I, T, F>(items: I, f: F) -> Vec<T>
where
    I: IntoItems,
    F: Fn(<I::Items as Items>::Item) -> T + Sync,
    T: Send,
{
    served(|| compute::par_map(items, f))
}

/// Calls `f` for each element, in any order. See [`fiber_core::compute::par_for_each`].
///
/// It uses the pool whose code the current thread runs, or else the one that the process shares.
///
/// ```
/// let mut words = vec!["tea".to_owned(), "milk".to_owned()];
/// fiber_sched::par_for_each(&mut words, |word| word.push('s'));
/// assert_eq!(words, ["teas", "milks"]);
/// ```
///
/// # Panics
/// If `f` panics.
pub fn par_for_each<I, F>(items: I, f: F)
where
    I: IntoItems,
    F: Fn(<I::Items as Items>::Item) + Sync,
{
    served(|| compute::par_for_each(items, f));
}

/// Reduces the elements to one value. See [`fiber_core::compute::par_reduce`].
///
/// It uses the pool whose code the current thread runs, or else the one that the process shares.
///
/// ```
/// let longest = fiber_sched::par_reduce(&["a", "bcd"], || 0, |most, text| most.max(text.len()), usize::max);
/// assert_eq!(longest, 3);
/// ```
///
/// # Panics
/// If one of the closures panics.
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
    served(|| compute::par_reduce(items, identity, fold, combine))
}

#[inline]
fn served<T>(f: impl FnOnce() -> T) -> T {
    if is_served(None) { f() } else { on_shared(f) }
}

#[cold]
#[inline(never)]
fn on_shared<T>(f: impl FnOnce() -> T) -> T {
    shared().compute(f)
}
