//! Decrements the reference count, and then checks whether it is zero: two fibers may see that.

use fiber_core::Fiber;

use crate::support::Shared;

struct Counted {
    references: u32,
    frees: u32,
}

fn release(counted: &Shared<Counted>) -> Fiber<()> {
    let freeing = counted.clone();
    let free = move |()| {
        freeing.step(|counted| {
            if counted.references == 0 {
                counted.frees += 1;
            }
        })
    };
    counted.step(|counted| counted.references -= 1).bind(free).boxed()
}

/// Decides by the result of its own decrement.
fn release_last(counted: &Shared<Counted>) -> Fiber<()> {
    let freeing = counted.clone();
    let free = move |is_last| {
        freeing.step(move |counted| {
            if is_last {
                counted.frees += 1;
            }
        })
    };
    let count_down = counted.step(|counted| {
        counted.references -= 1;
        counted.references == 0
    });
    count_down.bind(free).boxed()
}

fn program(release: fn(&Shared<Counted>) -> Fiber<()>) -> Fiber<()> {
    let counted = Shared::new(Counted { references: 2, frees: 0 });
    let both = Fiber::parallel([release(&counted), release(&counted)]);
    both.map(move |_| assert_eq!(counted.with(|counted| counted.frees), 1, "freed more than once")).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    program(release)
}

pub(crate) fn corrected() -> Fiber<()> {
    program(release_last)
}
