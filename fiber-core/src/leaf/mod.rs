//! Leaves: the basic fibers that combinators combine. Leaves that wait are built on [`wait`].

mod blocking;
mod callback;
mod cancelled;
mod clock;
mod context;
mod dedicated;
mod lazy;
mod never;
mod one_shot;
mod random;
mod sleep;
mod success;
mod wait;
mod yield_now;

pub use blocking::{Blocking, BlockingWith, TryBlocking};
pub(crate) use blocking::{Job, Stoppable, Work};
pub use callback::{Callback as CallbackLeaf, Resume};
pub use cancelled::TokenWait;
pub use clock::{Now, UtcNow};
pub use context::Here;
pub(crate) use dedicated::{DedicatedWait, ReturnWait};
pub use lazy::{Defer, Lazy, TryLazy};
pub use never::Never;
pub(crate) use one_shot::OneShot;
pub use random::RandomU64;
pub use sleep::Sleep;
pub use success::{FromOutcome, Success};
pub use wait::{Awaits, Leaf, Wait};
pub use yield_now::YieldNow;
