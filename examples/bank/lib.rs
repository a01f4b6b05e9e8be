//! The service of the example `bank`: transfers between accounts in memory, with a fee. A slow ledger has to approve each.
//! `docs/testing.md` describes how its tests were developed.

mod accounts;
pub mod commit;
pub mod drafts;
mod ledger;
mod locks;
mod payments;
mod transfer;

pub use accounts::{Account, Accounts};
pub use ledger::{Ledger, PATIENCE, PAUSE, approve};
pub use locks::crossed_payments;
pub use payments::{Transfer, everyone_pays, two_payments};
pub use transfer::{BANK, Bank, FEE, Order, transfer};

/// The guide, compiled and run as documentation tests.
#[cfg(doctest)]
mod prose {
    #[doc = include_str!("../../docs/testing.md")]
    struct Testing;
}
