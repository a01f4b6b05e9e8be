use fiber_core::{Fiber, Outcome};

use crate::accounts::{Account, Accounts};
use crate::ledger::{Ledger, approve};

/// The fee of a transfer, in cents.
pub const FEE: u64 = 1;

/// The account that gets the fees.
pub const BANK: Account = "bank";

/// The services that transfers use.
#[derive(Clone, Debug)]
pub struct Bank {
    /// The balances.
    pub accounts: Accounts,
    /// The ledger that approves orders.
    pub ledger: Ledger,
}

/// An order to transfer money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The payer.
    pub from: Account,
    /// The payee.
    pub to: Account,
    /// In cents, without the fee.
    pub amount: u64,
}

/// Withdraws the amount and the fee, asks the ledger, and pays the money to the payee and the bank, or back.
///
/// # Errors
/// The balance does not suffice, an account does not exist, or the ledger does not approve. The money stays with the payer.
///
/// # Cancellation
/// At once while the ledger is asked. The money stays with the payer.
pub fn transfer(bank: &Bank, order: Order) -> Fiber<()> {
    let Bank { accounts, ledger } = bank.clone();
    let (payee, payer) = (accounts.clone(), accounts.clone());
    let cost = order.amount + FEE;
    Fiber::bracket_outcome(
        accounts.take(order.from, cost),
        move |()| approve(&ledger, order).bind(move |()| payee.give([(order.to, order.amount), (BANK, FEE)])),
        move |(), outcome: &Outcome<()>| match outcome {
            Outcome::Success(()) => Fiber::success(()).boxed(),
            _ => payer.give([(order.from, cost)]),
        },
    )
    .boxed()
}
