//! Separate fibers, and their handles.

pub(crate) mod branch;
pub(crate) mod detach;
pub(crate) mod fiber_wait;
pub(crate) mod grace;
pub(crate) mod handle;
pub(crate) mod restarted;
pub(crate) mod result_cell;
pub(crate) mod scope;
pub(crate) mod spawn;
pub(crate) mod wait_list;

pub use detach::{Connected, Detach, Disconnect};
pub use handle::{CancelWait, EndWait, Handle, HandleFuture, Join, OutcomeWait};
pub use scope::{AwaitAll, InScope, Scope, ScopeFork};
pub use spawn::Fork;
