//! What a strategy decides.

/// The result of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The task at this place has the turn.
    Take(usize),
    /// Time passes first.
    Later,
}
