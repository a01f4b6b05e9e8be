//! The end of a wait whose other end is gone.
//!
//! A cancellation reaches one fiber after the other. One of them may drop what another one waits for before that one is reached, too.
//! It ends as cancelled all the same.

use crate::engine::context::Cx;
use crate::error::{Abandoned, Cancelled};
use crate::outcome::Outcome;

/// The end of a wait because the other end is gone: `gone`, unless a cancellation is on its way to the fiber. `cx`: `None` for a thread.
#[cold]
pub(crate) fn unless_cancelled<T>(cx: Option<&Cx<'_>>, gone: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    if cx.is_some_and(Cx::is_about_to_be_interrupted) { Outcome::Cancelled } else { gone() }
}

/// The end of a wait with `outcome`, which may say that the other end was dropped, or has given up.
pub(crate) fn cancelled_or<T>(outcome: Outcome<T>, cx: Option<&Cx<'_>>) -> Outcome<T> {
    match &outcome {
        Outcome::Failure(error) if error.is::<Abandoned>() || error.is::<Cancelled>() => {
            unless_cancelled(cx, || outcome)
        }
        _ => outcome,
    }
}

/// Whether the other end was dropped without an outcome.
pub(crate) fn is_abandoned<T>(outcome: &Outcome<T>) -> bool {
    matches!(outcome, Outcome::Failure(error) if error.is::<Abandoned>())
}
