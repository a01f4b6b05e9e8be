//! Adds with compare-and-swap, and retries when another fiber was faster: with the sum from its first attempt.

use fiber_core::Fiber;

use crate::support::Shared;

/// Tries twice, which is enough for two fibers.
fn add(value: &Shared<u32>, computes_again: bool) -> Fiber<()> {
    let (swapping, retrying) = (value.clone(), value.clone());
    let swap = move |seen| {
        swapping.step(move |value| {
            let found = *value;
            if found == seen {
                *value = seen + 1;
            }
            (seen, found)
        })
    };
    let retry = move |(seen, found)| {
        retrying.step(move |value| {
            if found != seen && *value == found {
                *value = if computes_again { found + 1 } else { seen + 1 };
            }
        })
    };
    value.step(|value| *value).bind(swap).bind(retry).boxed()
}

fn program(computes_again: bool) -> Fiber<()> {
    let value = Shared::new(0);
    let both = Fiber::parallel([add(&value, computes_again), add(&value, computes_again)]);
    both.map(move |_| assert_eq!(value.with(|value| *value), 2, "an addition is lost")).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    program(false)
}

pub(crate) fn corrected() -> Fiber<()> {
    program(true)
}
