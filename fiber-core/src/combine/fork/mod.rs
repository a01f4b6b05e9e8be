//! Separate fibers, and their handles.

pub(crate) mod branch;
mod call;
pub(crate) mod detach;
pub(crate) mod fiber_wait;
mod fork_all;
pub(crate) mod grace;
mod group;
pub(crate) mod handle;
pub(crate) mod restarted;
pub(crate) mod result_cell;
pub(crate) mod scope;
pub(crate) mod sink;
pub(crate) mod spawn;
mod tied;

pub use call::Call;
pub(crate) use detach::detach_here;
pub use group::Group;
pub use handle::Handle;
pub use scope::Scope;
pub use tied::CancelOnDrop;
