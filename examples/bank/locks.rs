//! Exclusive access to accounts, for the guide: each account is behind a semaphore of one permit.

use fiber_core::{Fiber, sync::Semaphore};

/// Alice pays Bob while Bob pays Alice.
pub fn crossed_payments() -> Fiber<()> {
    let [alice, bob] = ["alice", "bob"].map(|name| Semaphore::new(1).named(name));
    let there = pay(&alice, &bob).named("there");
    let back = pay(&bob, &alice).named("back");
    there.zip(back).map(drop).boxed()
}

fn pay(from: &Semaphore, to: &Semaphore) -> Fiber<()> {
    let write_both = Fiber::yield_now();
    let with_payee = to.with_permits(1, write_both);
    from.with_permits(1, with_payee).boxed()
}
