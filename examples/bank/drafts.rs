//! Earlier versions of [`transfer`](crate::transfer). Each draft has the bug that `docs/testing.md` finds in it.

use fiber_core::{Fiber, fiber};

use crate::ledger::approve;
use crate::transfer::{BANK, Bank, FEE, Order};

/// Loses an update: a payment between the read of the balance and the write is overwritten.
pub fn first(bank: &Bank, order: Order) -> Fiber<()> {
    let Bank { accounts, ledger } = bank.clone();
    let cost = order.amount + FEE;
    fiber! {
        do! approve(&ledger, order);
        let! balance = accounts.balance(order.from);
        if balance < cost { return! Fiber::fail("not enough") }
        do! accounts.set(order.from, balance - cost);
        do! accounts.give([(order.to, order.amount), (BANK, FEE)]);
    }
}

/// Loses money if it is cancelled, or the ledger refuses, between the withdrawal and the deposit.
pub fn second(bank: &Bank, order: Order) -> Fiber<()> {
    let Bank { accounts, ledger } = bank.clone();
    let cost = order.amount + FEE;
    fiber! {
        do! accounts.take(order.from, cost);
        do! approve(&ledger, order);
        do! accounts.give([(order.to, order.amount), (BANK, FEE)]);
    }
}
