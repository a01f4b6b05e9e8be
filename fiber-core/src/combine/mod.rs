//! Combinators, one per file.
//!
//! | folder | contents | built on |
//! |---|---|---|
//! | [`sequence`] | sequential combinators, in one context | `then` |
//! | [`loops`] | loops, with and without pauses | `iterate`, `again` |
//! | [`region`] | parts of a fiber with their own place in the cancel tree | `group`, `body` |
//! | [`fork`] | separate fibers, and their handles | `branch` |
//! | [`branches`] | several fibers at a time | `pair`, `gather` |

mod branches;
mod fork;
mod loops;
mod region;
mod sequence;

pub use branches::{
    Either, FirstSuccess, FirstSuccesses, Hedge, Parallel, Race, RaceAll, RaceWith, Raced, Within, Zip,
};
pub(crate) use branches::{arms, dataflow};
pub use fork::{
    AwaitAll, Call, CancelOnDrop, CancelWait, Connected, Detach, Disconnect, EndWait, Fork, ForkAll, Group,
    GroupEnd, Handle, HandleFuture, InScope, Join, OutcomeWait, Scope, ScopeFork,
};
pub use loops::{Fold, ForEach, Iterate, Repeat, RepeatWhile, RepeatWith, Retry, RetryWith};
pub(crate) use region::{AtEnd, RegionEnd, run_guarded, wait_last, when_childless};
pub use region::{Timeout, TimeoutOption, TimeoutTo, WithDeadline};
pub(crate) use sequence::Interruptible;
pub use sequence::{
    Attempt, Bind, Bracket, Catch, CatchErr, CatchPanic, Dedicated, Ensure, FilterOr, Local, Map, MapOutcome,
    Masked, OnCancel, OnFailure, OnOutcome, OrElse, Own, Restore, Restored, Tap, Then, Timed, TryMap,
    Uncancelable, When, WithContext, WithLocal, uncancelable,
};

#[cfg(all(test, fiber_loom))]
mod loom_tests;
