//! Two fibers increment a counter three times each. In the worst case it ends at two: one fiber reads 0, the other one writes 2, the first
//! one writes 1, the other one reads that, the first one ends, the other one writes 2.

use fiber_core::Fiber;

use super::lost_update::{self, State, increment};
use crate::exact::Model;
use crate::support::{Lock, Shared};

fn three_times(one: impl Fn() -> Fiber<()>) -> Fiber<()> {
    let (second, third) = (one(), one());
    one().bind(move |()| second).bind(move |()| third).boxed()
}

fn program(locked: bool) -> Fiber<()> {
    let (value, lock) = (Shared::new(0), Lock::default());
    let one = || if locked { lock.hold(increment(&value)) } else { increment(&value) };
    let both = Fiber::parallel([three_times(one), three_times(one)]);
    let check = move |_| assert_ne!(value.with(|value| *value), 2, "of six increments, two are left");
    both.map(check).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    program(false)
}

pub(crate) fn corrected() -> Fiber<()> {
    program(true)
}

pub(crate) fn model() -> Model<State> {
    let steps = lost_update::steps().repeat(3);
    Model::new(State::default(), vec![steps; 2], |state| state.value == 2)
}
