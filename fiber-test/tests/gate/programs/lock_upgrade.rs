//! Reads while it holds a lock, releases it, and writes while it holds it again. In between, the value may have changed.

use fiber_core::Fiber;

use super::lost_update::increment;
use crate::support::{Lock, Shared};

fn upgrade(value: &Shared<u32>, lock: &Lock) -> Fiber<()> {
    let (value, lock) = (value.clone(), lock.clone());
    let read = lock.hold(value.step(|value| *value));
    read.bind(move |seen| lock.hold(value.step(move |value| *value = seen + 1))).boxed()
}

fn program(one: fn(&Shared<u32>, &Lock) -> Fiber<()>) -> Fiber<()> {
    let (value, lock) = (Shared::new(0), Lock::default());
    let both = Fiber::parallel([one(&value, &lock), one(&value, &lock)]);
    both.map(move |_| assert_eq!(value.with(|value| *value), 2)).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    program(upgrade)
}

pub(crate) fn corrected() -> Fiber<()> {
    program(|value, lock| lock.hold(increment(value)))
}
