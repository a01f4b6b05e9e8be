//! The results of a program in many orders.

use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;

use fiber_core::{Fiber, Run};
use fiber_test::Explore;
use parking_lot::Mutex;

/// What the runs of a program have resulted in.
pub(crate) type Seen = Arc<Mutex<BTreeSet<String>>>;

/// All results of a program, and the number of orders. `None`: there are more than `explore` runs.
pub(crate) fn results<R: Run<Out = ()>>(
    explore: &Explore,
    name: &str,
    program: impl Fn(Seen) -> Fiber<(), R> + Sync,
) -> Option<(BTreeSet<String>, u64)> {
    let seen = Seen::default();
    let explored = explore.try_check(|| program(seen.clone()));
    let explored = explored.unwrap_or_else(|failure| panic!("{name}: {failure}"));
    explored.is_complete().then(|| (mem::take(&mut *seen.lock()), explored.schedules()))
}
