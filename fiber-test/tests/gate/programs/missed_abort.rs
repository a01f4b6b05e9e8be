//! Two-phase commit: a participant checks whether the transaction was aborted, and then prepares, which locks its data. The coordinator aborts
//! and unlocks the participants that are prepared by then.

use fiber_core::Fiber;

use crate::support::Shared;

#[derive(Default)]
struct Transaction {
    is_aborted: bool,
    is_prepared: bool,
}

fn program(participant: Fiber<()>, transaction: Shared<Transaction>) -> Fiber<()> {
    let unlocking = transaction.clone();
    let abort = transaction.step(|transaction| transaction.is_aborted = true);
    let abort = abort.bind(move |()| unlocking.step(|transaction| transaction.is_prepared = false)).boxed();
    let check = move |_| {
        let is_locked = transaction.with(|transaction| transaction.is_aborted && transaction.is_prepared);
        assert!(!is_locked, "the transaction is aborted, and its data are locked for ever");
    };
    Fiber::parallel([participant, abort]).map(check).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    let transaction = Shared::new(Transaction::default());
    let preparing = transaction.clone();
    let prepare =
        move |is_aborted: bool| preparing.step(move |transaction| transaction.is_prepared = !is_aborted);
    program(transaction.step(|transaction| transaction.is_aborted).bind(prepare).boxed(), transaction)
}

pub(crate) fn corrected() -> Fiber<()> {
    let transaction = Shared::new(Transaction::default());
    let prepare = transaction.step(|transaction| transaction.is_prepared = !transaction.is_aborted);
    program(prepare.boxed(), transaction)
}
