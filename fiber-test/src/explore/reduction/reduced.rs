//! The summary of a reduced enumeration.

use std::fmt;

use crate::words::{all_were, counted, were};

/// The result of a reduced enumeration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Reduced {
    /// Runs that showed something new until their end.
    pub(crate) traces: u64,
    /// Runs that reached a point after which everything had been seen.
    pub(crate) redundant: u64,
    pub(crate) steps: u64,
    /// Steps that declared nothing.
    pub(crate) silent: u64,
    /// Random walks that showed something new.
    pub(crate) unknown: u64,
    /// The number of orders, estimated from the random walks: the mean of the product of all choices.
    pub(crate) orders: f64,
}

impl fmt::Display for Reduced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reduced { traces, redundant, steps, silent, orders, .. } = *self;
        write!(
            f,
            "{} seen that differ in more than independent steps (of about ",
            all_were(traces, "order")
        )?;
        if orders < 1e6 {
            write!(f, "{orders:.0}")?
        } else {
            write!(f, "{orders:.0e}")?
        }
        write!(
            f,
            "; {} {} redundant; {silent} of {} said nothing of what they touch)",
            counted(redundant, "schedule"),
            were(redundant),
            counted(steps, "step")
        )
    }
}
