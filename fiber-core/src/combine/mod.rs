//! Combinators, one per file. Those in sequence stand on [`then`]; those in parallel on [`branch`].

mod and_then;
mod bind;
mod bracket;
mod branch;
mod catch;
mod claim;
mod confined;
mod deadline;
mod detach;
mod ensure;
mod first_failure;
mod first_success;
mod fork;
mod grace;
mod group;
mod iterate;
mod map;
mod parallel;
mod race;
mod race_all;
mod race_with;
mod result_cell;
mod scope;
mod tap;
mod then;
mod timeout;
mod uncancelable;
mod wait_list;
mod winner;
mod with_local;
mod zip;

pub use and_then::{AndThen, OrElse};
pub use bind::Bind;
pub use bracket::Bracket;
pub use catch::{Catch, CatchPanic};
pub use deadline::WithDeadline;
pub use detach::{Connected, Detach, Disconnect};
pub use ensure::{Ensure, OnCancel, OnFailure, OnOutcome};
pub use first_success::{FirstSuccess, Hedge};
pub use fork::{CancelWait, EndWait, Fork, Handle, HandleFuture, Join, OutcomeWait};
pub use iterate::{ForEach, Iterate, RepeatWhile};
pub use map::{Map, MapOutcome};
pub use parallel::Parallel;
pub use race::{Either, Race};
pub use race_all::RaceAll;
pub use race_with::{RaceWith, Raced};
pub use scope::{AwaitAll, InScope, Scope, ScopeFork};
pub use tap::Tap;
pub use then::{Follow, Next, Then};
pub use timeout::{Timeout, TimeoutOption, TimeoutTo};
pub use uncancelable::{Masked, Restore, Restored, Uncancelable, uncancelable};
pub use with_local::{Local, WithLocal};
pub use zip::Zip;

#[cfg(all(test, fiber_loom))]
mod loom_tests;
