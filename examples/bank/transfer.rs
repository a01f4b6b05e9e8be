use fiber_core::{Fiber, Outcome};

use crate::accounts::{Account, Accounts};
use crate::ledger::{Ledger, approve};

/// What a transfer costs, in cents.
pub const FEE: u64 = 1;

/// The account that gets the fees.
pub const BANK: Account = "bank";

/// What transfers work on.
#[derive(Clone, Debug)]
pub struct Bank {
    /// Who has how much.
    pub accounts: Accounts,
    /// Who has to agree.
    pub ledger: Ledger,
}

/// Who pays how much to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Who pays.
    pub from: Account,
    /// Who is paid.
    pub to: Account,
    /// In cents, without the fee.
    pub amount: u64,
}

/// Takes the amount and the fee, asks the ledger, and gives what it took: to whom it is for, or back.
///
/// # Errors
/// There is not enough, no such account, or the ledger does not agree. The money is where it was.
///
/// # Cancellation
/// At once while the ledger is asked. The money is where it was.
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
