//! The tree of cancel tokens, and the parking slot of each.
//!
//! * [`word`]: the bits of a node's state and what they mean.
//! * [`parking`]: the slot where the fiber of a node waits; whoever takes the waiter out resumes it.
//! * [`children`]: the list of a node's children.
//! * [`node`]: the tree, made of both.
//! * [`token`]: the tree on its own, for code that is not a fiber.

mod children;
mod node;
mod parking;
mod token;
mod word;

pub(crate) use node::{Node, Owner};
pub(crate) use parking::{Signal, Unparked};
pub use token::CancelToken;

#[cfg(all(test, fiber_loom))]
mod loom_tests;
