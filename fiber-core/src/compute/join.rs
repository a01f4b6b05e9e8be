use std::panic::resume_unwind;

use crate::engine::borrow::{Crew, Offered, lend, with_crew};
use crate::panic::{Panic, guard};

/// Calls both closures, and gives both values. They may run in parallel, on the threads of the scheduler that the current thread
/// belongs to.
///
/// `left` runs here. `right` runs here too, after `left`, unless an idle thread has taken it by then. A call costs about three
/// nanoseconds if none has, so recursive algorithms need no limit below which they go on alone.
///
/// ```
/// use fiber_core::compute::join;
///
/// fn sum(numbers: &[u64]) -> u64 {
///     if numbers.len() < 2 {
///         return numbers.iter().sum();
///     }
///     let (left, right) = numbers.split_at(numbers.len() / 2);
///     let (left, right) = join(|| sum(left), || sum(right));
///     left + right
/// }
///
/// let numbers: Vec<u64> = (1..=1000).collect();
/// assert_eq!(fiber_sched::run(fiber_core::Fiber::lazy(move || sum(&numbers))).unwrap(), 500_500);
/// ```
///
/// # Panics
/// If one of them does. `right` has ended by then, or it has not begun and never will. If both panic, with the panic of `left`.
///
/// # Blocking
/// If another thread has taken `right`, this one waits for it. It runs nothing meanwhile, so a lock that is held across the
/// call cannot be wanted by some other task on the same stack. A worker of a pool is replaced by a spare thread.
///
/// The two must not wait for each other: they may run one after the other.
#[inline]
pub fn join<A, B, T, U>(left: A, right: B) -> (T, U)
where
    A: FnOnce() -> T + Send,
    B: FnOnce() -> U + Send,
    T: Send,
    U: Send,
{
    with_crew(|crew| match crew.and_then(Crew::lender) {
        Some(lender) => match lend(lender, left, |_: Option<()>| right()) {
            (left, Offered::Back(right)) => (left, right(None)),
            (left, Offered::Done(right)) => both(left, right),
        },
        None => one_by_one(crew, left, right),
    })
}

#[cold]
fn both<T, U>(left: T, right: Result<U, Panic>) -> (T, U) {
    match right {
        Ok(right) => (left, right),
        Err(panic) => {
            drop(left);
            resume_unwind(panic.into_thrown())
        }
    }
}

/// In the order that a test chooses, or from left to right.
#[cold]
#[inline(never)]
pub(super) fn one_by_one<T, U>(
    crew: Option<&Crew<'_>>,
    left: impl FnOnce() -> T,
    right: impl FnOnce() -> U,
) -> (T, U) {
    if crew.and_then(|crew| crew.choose(2)) == Some(1) {
        let right = guard(right);
        return both(left(), right);
    }
    (left(), right())
}
