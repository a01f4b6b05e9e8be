use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fiber_core::{Fiber, Policy};

use crate::transfer::Order;

/// The time limit of an answer of the ledger.
pub const PATIENCE: Duration = Duration::from_millis(200);

/// The first pause between two requests to the ledger; each pause doubles.
pub const PAUSE: Duration = Duration::from_millis(100);

/// Decides whether an order may go through. It may be slow, fail, or never answer; asking twice does no harm.
#[derive(Clone)]
pub struct Ledger(Arc<dyn Fn(Order) -> Fiber<()> + Send + Sync>);

impl Ledger {
    /// A ledger that gives this answer.
    pub fn new(answer: impl Fn(Order) -> Fiber<()> + Send + Sync + 'static) -> Self {
        Ledger(Arc::new(answer))
    }

    /// Asks once.
    pub fn ask(&self, order: Order) -> Fiber<()> {
        (self.0)(order)
    }
}

/// Asks up to three times, with a time limit and pauses.
///
/// # Errors
/// That of the last attempt.
pub fn approve(ledger: &Ledger, order: Order) -> Fiber<()> {
    let ledger = ledger.clone();
    let policy = Policy::exponential(PAUSE) & Policy::recurs(2);
    Fiber::retry_with(policy, move || ledger.ask(order).timeout(PATIENCE)).boxed()
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ledger")
    }
}
