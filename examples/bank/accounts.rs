use std::collections::BTreeMap;

use fiber_core::sync::Mutex;
use fiber_core::{Error, Fiber};

/// The name of an account.
pub type Account = &'static str;

/// Balances in cents. A clone is another handle to the same accounts.
///
/// Every fiber here is one step: no other fiber sees it half done.
#[derive(Clone, Debug)]
pub struct Accounts(Mutex<BTreeMap<Account, u64>>);

impl Accounts {
    /// Creates accounts with these balances.
    pub fn new(balances: impl IntoIterator<Item = (Account, u64)>) -> Self {
        Accounts(Mutex::new(balances.into_iter().collect()).named("accounts"))
    }

    /// The balance of an account.
    ///
    /// # Errors
    /// The account does not exist.
    pub fn balance(&self, of: Account) -> Fiber<u64> {
        self.step(move |balances| existing(balances, of).copied())
    }

    /// Overwrites the balance of an account.
    ///
    /// # Errors
    /// The account does not exist.
    pub fn set(&self, of: Account, balance: u64) -> Fiber<()> {
        self.step(move |balances| existing(balances, of).map(|old| *old = balance))
    }

    /// Withdraws from an account, if its balance suffices.
    ///
    /// # Errors
    /// The balance does not suffice, or the account does not exist.
    pub fn take(&self, from: Account, amount: u64) -> Fiber<()> {
        self.step(move |balances| {
            let balance = existing(balances, from)?;
            *balance =
                balance.checked_sub(amount).ok_or_else(|| Error::msg(format!("{from} has not enough")))?;
            Ok(())
        })
    }

    /// Pays into accounts: into all of them, or into none.
    ///
    /// # Errors
    /// An account does not exist.
    pub fn give<const N: usize>(&self, shares: [(Account, u64); N]) -> Fiber<()> {
        self.step(move |balances| {
            shares.iter().try_for_each(|(to, _)| existing(balances, to).map(drop))?;
            shares
                .into_iter()
                .try_for_each(|(to, share)| existing(balances, to).map(|balance| *balance += share))
        })
    }

    /// The sum of all balances.
    pub fn total(&self) -> Fiber<u64> {
        self.step(|balances| Ok(balances.values().sum()))
    }

    fn step<T: Send + 'static>(
        &self,
        step: impl FnOnce(&mut BTreeMap<Account, u64>) -> Result<T, Error> + Send + 'static,
    ) -> Fiber<T> {
        self.0.lock().try_map(|mut balances| step(&mut balances)).boxed()
    }
}

fn existing<'a>(balances: &'a mut BTreeMap<Account, u64>, name: &str) -> Result<&'a mut u64, Error> {
    balances.get_mut(name).ok_or_else(|| Error::msg(format!("{name} has no account")))
}
