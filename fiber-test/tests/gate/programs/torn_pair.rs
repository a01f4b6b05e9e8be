//! Two halves of a value are written one after the other, and read in the same order.

use fiber_core::Fiber;

use crate::support::{Lock, Shared};

fn write(pair: &Shared<(u32, u32)>) -> Fiber<()> {
    let second = pair.clone();
    pair.step(|pair| pair.0 = 1).bind(move |()| second.step(|pair| pair.1 = 1)).boxed()
}

fn read(pair: &Shared<(u32, u32)>) -> Fiber<()> {
    let second = pair.clone();
    let read = pair.step(|pair| pair.0).bind(move |first| second.step(move |pair| (first, pair.1)));
    read.map(|(first, second)| assert_eq!(first, second, "read half of a write")).boxed()
}

fn program(locked: bool) -> Fiber<()> {
    let (pair, lock) = (Shared::default(), Lock::default());
    let guard = |fiber: Fiber<()>| if locked { lock.hold(fiber) } else { fiber };
    Fiber::parallel([guard(write(&pair)), guard(read(&pair))]).map(drop).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    program(false)
}

pub(crate) fn corrected() -> Fiber<()> {
    program(true)
}
