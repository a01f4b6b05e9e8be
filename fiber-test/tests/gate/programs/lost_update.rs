//! Fibers that read a counter, and then write what they read plus one.

use fiber_core::Fiber;

use crate::exact::{Model, Next, Step};
use crate::support::{Lock, Shared};

/// An increment in two steps.
pub(crate) fn increment(value: &Shared<u32>) -> Fiber<()> {
    let value = value.clone();
    value.step(|value| *value).bind(move |seen| value.step(move |value| *value = seen + 1)).boxed()
}

fn increments(count: usize, locked: bool, is_right: fn(u32) -> bool) -> Fiber<()> {
    let (value, lock) = (Shared::new(0), Lock::default());
    let one = |_| if locked { lock.hold(increment(&value)) } else { increment(&value) };
    let all = Fiber::parallel((0..count).map(one).collect::<Vec<_>>());
    let check = move |_| {
        let end = value.with(|value| *value);
        assert!(is_right(end), "after {count} increments the value is {end}");
    };
    all.map(check).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    increments(2, false, |end| end == 2)
}

pub(crate) fn corrected() -> Fiber<()> {
    increments(2, true, |end| end == 2)
}

/// Of three updates only one remains.
pub(crate) fn all_but_one_broken() -> Fiber<()> {
    increments(3, false, |end| end > 1)
}

pub(crate) fn all_but_one_corrected() -> Fiber<()> {
    increments(3, true, |end| end > 1)
}

/// The value, and what each fiber has read.
#[derive(Clone, Default)]
pub(crate) struct State {
    pub(crate) value: u32,
    seen: [u32; 3],
}

pub(crate) fn steps() -> [Step<State>; 2] {
    let read = |state: &mut State, fiber: usize| {
        state.seen[fiber] = state.value;
        Next::GoOn
    };
    let write = |state: &mut State, fiber: usize| {
        state.value = state.seen[fiber] + 1;
        Next::GoOn
    };
    [read, write]
}

pub(crate) fn model() -> Model<State> {
    Model::new(State::default(), vec![steps().to_vec(); 2], |state| state.value < 2)
}

pub(crate) fn all_but_one_model() -> Model<State> {
    Model::new(State::default(), vec![steps().to_vec(); 3], |state| state.value == 1)
}
