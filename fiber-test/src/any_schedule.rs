use proptest::prelude::*;

use crate::schedule::{Deviation, Schedule};

/// The maximum number of deviations of a schedule: one to three show most bugs.
const MOST_DEVIATIONS: usize = 8;

/// Schedules for property tests, close to first in, first out. They shrink together with the other inputs: to fewer deviations,
/// earlier ones, and smaller choices.
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_test::{Explore, any_schedule};
/// use proptest::prelude::*;
///
/// fn sum(numbers: Vec<u32>) -> Fiber<u64> {
///     Fiber::parallel(numbers.into_iter().map(|n| Fiber::lazy(move || u64::from(n)))).map(|all| all.iter().sum()).boxed()
/// }
///
/// proptest! {
///     # #[allow(unused_must_use)]
///     fn every_schedule_gives_the_sum(numbers in prop::collection::vec(0..100u32, 0..5), schedule in any_schedule()) {
///         let expected: u64 = numbers.iter().map(|n| u64::from(*n)).sum();
///         Explore::with(schedule).try_check(|| sum(numbers.clone()).map(move |sum| assert_eq!(sum, expected)))?;
///     }
/// }
/// every_schedule_gives_the_sum();
/// ```
pub fn any_schedule() -> impl Strategy<Value = Schedule> {
    // Short programs decide only in early turns, longer ones in all.
    let turn = prop_oneof![0..16u32, 0..64u32, 0..512u32];
    let deviation = (turn, 1..=4u32).prop_map(|(turn, choice)| Deviation { turn, choice });
    prop::collection::vec(deviation, 0..=MOST_DEVIATIONS).prop_map(Schedule::from_iter)
}
