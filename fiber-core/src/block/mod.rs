//! Blocks: `async` blocks that run as fibers. [`fiber!`](crate::fiber!), [`Fiber::block`](crate::Fiber::block) and
//! [`Fiber::from_future`](crate::Fiber::from_future) make them.
//!
//! The driver uses the compiler's state machine as a generator. A wait inside the block finds the engine through the
//! waker, and runs its fiber in the same call, in direct style. A fiber that has to wait pushes its frames; after `poll` has
//! returned, the driver pushes one more, which owns the block.
//!
//! ```text
//!   driver            block (pinned, in one box)          wait
//!   poll ------------> .. let! a = f; .. ---------------> f.run(cx)
//!                                                           Done:    the block continues, nothing is allocated
//!        <------------------- Pending ------------------- Wait:    the frames of f are pushed
//!   push(Resume { the box of the block })
//!   ...
//!   Resume: stores the value in its slot in the block, and polls again
//! ```
//!
//! * [`drive`]: the driver, the wait of the macro, and all of the unsafe code.
//! * [`stop`]: the end of a block without a value.
//! * [`awaited`]: `fiber.await`, whose future, unlike a wait of the macro, may be moved, dropped half-way, and polled
//!   beside others.
//! * [`exchange`]: where such a future finds its fiber if it does not meet it in the block.
//! * [`settings`]: what a block and a fiber that it awaits have each set in the context that they share.
//! * [`waker`]: waits for futures that are not fibers.
//! * [`streak`]: when futures that always succeed yield.

mod awaited;
mod drive;
mod exchange;
mod settings;
mod stop;
mod streak;
mod waker;

#[cfg(feature = "stream")]
pub(crate) use awaited::FiberFuture;
pub(crate) use drive::new;
#[cfg(feature = "stream")]
pub(crate) use drive::outside;
pub use drive::{Wait, block, misplaced, wait, wait_first};
pub use stop::{Gives, Stop};
pub(crate) use streak::Streak;
