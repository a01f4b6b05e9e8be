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
//! * [`wait`](mod@wait): the wait of the macro.
//! * [`drive`]: the driver, and the frame that continues a block.
//! * [`port`]: what both of them, and `fiber.await`, share while the block is polled.
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
mod port;
mod settings;
mod stop;
mod streak;
mod wait;
mod waker;

#[cfg(feature = "stream")]
pub(crate) use awaited::FiberFuture;
pub use drive::block;
pub(crate) use drive::new;
#[cfg(feature = "stream")]
pub(crate) use port::outside;
pub use stop::{Gives, Stop};
pub(crate) use streak::Streak;
pub use wait::{Wait, misplaced, wait, wait_first};
