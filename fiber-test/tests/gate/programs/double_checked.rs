//! Creates a value if there is none, under a lock, without checking again after acquiring the lock.

use fiber_core::Fiber;

use crate::support::{Lock, Shared};

fn get(made: &Shared<u32>, lock: &Lock, looks_again: bool) -> Fiber<()> {
    let (making, lock) = (made.clone(), lock.clone());
    let make = making.step(move |made| {
        if !looks_again || *made == 0 {
            *made += 1;
        }
    });
    let or_make = move |made| if made > 0 { Fiber::success(()).boxed() } else { lock.hold(make) };
    made.step(|made| *made).bind(or_make).boxed()
}

fn program(looks_again: bool) -> Fiber<()> {
    let (made, lock) = (Shared::new(0), Lock::default());
    let both = Fiber::parallel([get(&made, &lock, looks_again), get(&made, &lock, looks_again)]);
    both.map(move |_| assert_eq!(made.with(|made| *made), 1, "it was made more than once")).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    program(false)
}

pub(crate) fn corrected() -> Fiber<()> {
    program(true)
}
