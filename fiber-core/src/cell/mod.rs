//! A fiber's cell: its node in the cancel tree, and its data, in one allocation.
//!
//! * [`reference`]: counted references to cells, and the layout of a cell behind its node.
//! * [`word`]: the bits of a node's state, and their meaning.
//! * [`parking`]: the slot where the fiber of a node waits; the thread that takes the waiter out resumes it.
//! * [`children`]: the list of a node's children.
//! * [`node`]: the tree, which combines the two.
//! * [`one_of`]: one of three words, for tasks.
//! * [`target`]: a fiber with the number of an event, or a waker.
//! * [`lazy`]: values that are made on demand.
//! * [`fixed`]: references to values that live for ever.
//! * [`current`]: the fiber that runs on a thread.
//! * [`delivery`]: where a fiber leaves its outcome.
//! * [`one_shot`]: a value from one side to another one.
//! * [`recycle`]: the memory of cells, for the next ones; [`depot`]: what threads leave to each other of it; [`recycled`]: a box in such
//!   memory.

mod children;
mod current;
mod delivery;
mod depot;
mod fixed;
mod lazy;
mod node;
mod one_of;
mod one_shot;
mod parking;
mod recycle;
mod recycled;
mod reference;
mod target;
mod word;

pub(crate) use current::{Current, Entered};
pub(crate) use delivery::{Before, Delivery, Joining};
pub(crate) use fixed::Fixed;
pub(crate) use lazy::{LazyBox, LazyPlace, MadeCount};
pub(crate) use node::{Node, Offer, Owner, Progress};
pub(crate) use one_of::{OneOf, Value, ValueRef, Values};
pub(crate) use one_shot::{Receiver, Sender, Sent, one_shot};
pub(crate) use parking::{EventKey, Fired, Signal, Unparked};
pub(crate) use recycle::{give_block, take_block};
pub(crate) use recycled::Recycled;
pub(crate) use reference::{Body, Ref, Room, Seed};
pub(crate) use target::Target;

#[cfg(all(test, fiber_loom))]
mod loom_tests;
