//! The programs of the tests. Whatever the outcome, no cent may be lost: otherwise they panic.

use std::time::Duration;

use fiber_core::Fiber;

use crate::accounts::{Account, Accounts};
use crate::ledger::Ledger;
use crate::transfer::{BANK, Bank, Order};

/// The function under test: the bank's transfer, or a draft of it.
pub type Transfer = fn(&Bank, Order) -> Fiber<()>;

/// Alice pays the shop while Bob pays Alice. The ledger takes 80 ms.
pub fn two_payments(transfer: Transfer) -> Fiber<()> {
    let accounts = Accounts::new([("alice", 50), ("bob", 50), ("shop", 0), (BANK, 0)]);
    let ledger = Ledger::new(|_| Fiber::delay(Duration::from_millis(80)).boxed());
    let bank = Bank { accounts: accounts.clone(), ledger };
    let alice = transfer(&bank, Order { from: "alice", to: "shop", amount: 20 }).named("alice");
    let bob = transfer(&bank, Order { from: "bob", to: "alice", amount: 10 }).named("bob");
    alice.zip(bob).map(drop).ensure(count(accounts, 100)).boxed()
}

const PEOPLE: [Account; 4] = ["alice", "bob", "carol", "dan"];

/// Each customer pays the next one, one payment per amount. The ledger agrees at once; a refusal is a valid answer.
pub fn everyone_pays(transfer: Transfer, amounts: Vec<u64>) -> Fiber<()> {
    let accounts = Accounts::new(PEOPLE.map(|one| (one, 50)).into_iter().chain([(BANK, 0)]));
    let bank = Bank { accounts: accounts.clone(), ledger: Ledger::new(|_| Fiber::success(()).boxed()) };
    let neighbours = PEOPLE.into_iter().zip(PEOPLE.into_iter().cycle().skip(1));
    let payments = neighbours.zip(amounts).map(move |((from, to), amount)| {
        transfer(&bank, Order { from, to, amount }).catch(|_| Fiber::success(()))
    });
    Fiber::parallel(payments).map(drop).ensure(count(accounts, 200)).boxed()
}

fn count(accounts: Accounts, before: u64) -> Fiber<()> {
    accounts.total().map(move |left| assert!(left == before, "of {before} cents {left} are left")).boxed()
}
