//! Lazy, cancellable fibers: the engine, the combinators and the [`Scheduler`](scheduler::Scheduler) trait.
//!
//! A [`Fiber`] describes concurrent work. Nothing happens until it is run on a [`Scheduler`](scheduler::Scheduler): a thread pool
//! (`fiber-sched`), or a virtual timeline in a test (`fiber-test`). The running fibers of a program form a cancel tree:
//! cancelling a fiber also cancels its forks, branches and timeouts, and runs their finalizers.
//!
//! ```
//! use fiber_core::{Fiber, fiber};
//! use std::time::Duration;
//!
//! fn price(shop: &'static str) -> Fiber<u32> {
//!     fiber! {
//!         do! Fiber::delay(Duration::from_millis(2));
//!         if shop == "closed" { return! Fiber::fail("nobody answers") }
//!         10 * shop.len() as u32
//!     }
//! }
//!
//! let cheapest = fiber! {
//!     let! a = price("north") and! b = price("south-east");
//!     let! c = price("closed").catch(|_| Fiber::success(u32::MAX));
//!     a.min(b).min(c)
//! };
//! assert_eq!(fiber_sched::run(cheapest).unwrap(), 50);
//! ```
//!
//! Where to read on: the [`guide`], [`Fiber`] for the combinators, [`Outcome`] for how a fiber ends, [`fiber!`] and [`dataflow!`] for the macros,
//! [`Handle`] for forked fibers, [`Policy`] for retries and repetitions, [`scheduler`] for schedulers, combinators and waits of your
//! own.

mod block;
mod cell;
mod combine;
pub mod compute;
#[cfg(feature = "direct")]
mod direct;
mod drop_queue;
mod engine;
pub mod error;
mod fiber;
mod footprint;
pub mod fs;
mod future;
#[cfg(doc)]
pub mod guide;
mod instant;
mod leaf;
mod local;
pub mod net;
mod outcome;
mod panic;
mod policy;
mod primitive;
mod recording;
mod resource;
pub mod scheduler;
#[cfg(feature = "serde")]
mod serde;
mod stack;
#[cfg(feature = "stream")]
pub mod stream;
pub mod sync;
mod token;

pub use combine::{Call, CancelOnDrop, Either, Group, Handle, Raced, Restore, Scope, uncancelable};
#[cfg(feature = "direct")]
pub use direct::Direct;
pub use engine::boxed::Boxed;
pub use engine::context::Context;
pub use engine::dump::{Dump, DumpedFiber, DumpedState};
#[cfg(feature = "direct")]
pub use engine::stacks::StackSupply;
pub use engine::step::Run;
pub use error::dynamic::Error;
pub use fiber::{Fiber, IntoFiber};
pub use instant::Instant;
pub use leaf::Resume;
pub use local::LocalKey;
pub use outcome::Outcome;
pub use panic::Panic;
pub use policy::Policy;
pub use recording::{ParseRecordingError, Recording};
pub use resource::Resource;
pub use token::CancelToken;

/// The expansions of `fiber!` and `race!` use these.
#[doc(hidden)]
pub mod __macro_support {
    pub use crate::block::{Gives, Stop, Wait, block, misplaced, wait, wait_first};
    pub use crate::combine::arms::{arm, into_fiber, last_arm, race_arms, switched};

    /// The expansion of `dataflow!` uses these.
    pub mod flow {
        pub use crate::combine::dataflow::{
            Block, Copied, End, Failed, Graph, Handover, Made, Own, Program, Start, Step, Value, copied,
            dataflow, end, made, step,
        };
    }
}

pub use fiber_macros::{dataflow, dataflow_graph, fiber, race};

/// The README, compiled and run as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
