//! Borrowed tasks: closures with any lifetime, which other threads may run while their owner stays where it is.
//!
//! One idea carries all of this: the thread that *claims* a task runs it, and its owner does not leave before the task has ended.
//! The owner claims what no other thread has claimed, and runs it itself; it waits only for tasks that run elsewhere.
//! While it waits it runs nothing, so no stranger's task is ever put on top of its stack.
//!
//! | file | what |
//! |---|---|
//! | `crew` | what a thread offers to the borrowed tasks on it |
//! | `pair` | a closure on the stack beside another closure: `join` |
//! | `ticket` | who runs a task that was taken from the stack of its owner |
//! | `crowd` | any number of tasks that end before a call does: `scope` |
//!
//! `docs/decisions/borrowed-tasks.md` tells why no borrow can dangle.
#![allow(unsafe_code)]

mod crew;
mod crowd;
mod pair;
mod ticket;

#[cfg(feature = "direct")]
pub(crate) use crew::BorrowedTasks;
pub(crate) use crew::{Crew, Lender, is_of_test, with_crew};
pub use crew::{is_served, serve};
pub(crate) use crowd::{Crowd, Member};
pub(crate) use pair::{Offered, lend};

#[cfg(all(test, fiber_loom))]
mod loom_tests;
