//! A busy evening of a bank: a thousand transfers on the thread pool, and no cent may be lost.
//!
//! ```text
//! cargo run --release --example bank
//! cargo run --release --example bank -- --picture DIRECTORY
//! ```
//!
//! The second command draws how the first draft of the transfer loses money: `report.html` is for a browser, `trace.json` for
//! Perfetto. The tests of the service are in `tests/bank.rs`; `docs/testing.md` describes how they were developed.

use std::env;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use bank::{Account, Accounts, BANK, Bank, Ledger, Order, drafts, transfer, two_payments};
use fiber_core::{Fiber, fiber};
use fiber_test::Explore;

const CUSTOMERS: [Account; 4] = ["alice", "bob", "carol", "dan"];

/// The initial balance of each customer, in cents.
const BALANCE: u64 = 100_000;

const TOTAL: u64 = BALANCE * CUSTOMERS.len() as u64;

/// Transfers of an evening.
const TRANSFERS: usize = 1_000;

/// The number of concurrent transfers.
const AT_A_TIME: usize = 16;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next(), arguments.next()) {
        (None, ..) => open(),
        (Some("--picture"), Some(directory), None) => draw(Path::new(&directory)),
        _ => {
            eprintln!("usage: bank [--picture DIRECTORY]");
            ExitCode::FAILURE
        }
    }
}

fn open() -> ExitCode {
    let bank = new_bank();
    let paid = fiber_sched::run(evening(bank.clone(), TRANSFERS)).unwrap();
    let total = fiber_sched::run(bank.accounts.total()).unwrap();
    println!("{paid} of {TRANSFERS} transfers were paid, the others refused: not enough money, or no answer");
    println!("{total} of {TOTAL} cents are there");
    if total == TOTAL { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn draw(directory: &Path) -> ExitCode {
    let explored = Explore::default().try_check(|| two_payments(drafts::first));
    let failure = explored.expect_err("the first draft loses money");
    println!("{failure}");
    if let Err(error) = failure.save(directory) {
        eprintln!("bank: {}: {error}", directory.display());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn new_bank() -> Bank {
    let balances = CUSTOMERS.map(|customer| (customer, BALANCE));
    Bank { accounts: Accounts::new(balances.into_iter().chain([(BANK, 0)])), ledger: Ledger::new(moody) }
}

/// A ledger that is sometimes busy, and sometimes never answers.
fn moody(_: Order) -> Fiber<()> {
    fiber! {
        let! dice = Fiber::random_u64();
        match dice % 100 {
            0 => return! Fiber::never(),
            1..=9 => return! Fiber::fail("the ledger is busy"),
            _ => {}
        }
        do! Fiber::delay(Duration::from_millis(dice % 20));
    }
}

/// This many transfers, each between two random customers. The value is the number that were paid.
fn evening(bank: Bank, transfers: usize) -> Fiber<usize> {
    let transfers = (0..transfers).map(move |_| attempt(bank.clone()));
    Fiber::parallel(transfers)
        .limit(AT_A_TIME)
        .map(|paid| paid.into_iter().filter(|paid| *paid).count())
        .boxed()
}

/// Whether the transfer was paid.
fn attempt(bank: Bank) -> Fiber<bool> {
    fiber! {
        let! dice = Fiber::random_u64();
        let any = |number: u64| CUSTOMERS[number as usize % CUSTOMERS.len()];
        let order = Order { from: any(dice), to: any(dice >> 8), amount: 1 + (dice >> 16) % 10_000 };
        return! transfer(&bank, order).map(|()| true).catch(|_| Fiber::success(false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cent_is_lost_in_an_evening_whatever_the_schedule_and_the_dice() {
        Explore::default().schedules(100).check(|| {
            let bank = new_bank();
            let accounts = bank.accounts.clone();
            evening(bank, 20).bind(move |_| accounts.total()).map(|total| assert_eq!(total, TOTAL))
        });
    }
}
