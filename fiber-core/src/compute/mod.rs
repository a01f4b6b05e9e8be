//! Borrowed tasks: closures that run in parallel and have ended when the call returns, so they may borrow what lies around.
//!
//! ```
//! use fiber_sched::Pool;
//!
//! let pool = Pool::new();
//! let (mut evens, mut odds) = (Vec::new(), Vec::new());
//! let numbers = [3, 1, 4, 1, 5, 9, 2, 6];
//! pool.join(
//!     || evens.extend(numbers.iter().filter(|n| *n % 2 == 0)),
//!     || odds.extend(numbers.iter().filter(|n| *n % 2 == 1)),
//! );
//! assert_eq!((evens, odds), (vec![4, 2, 6], vec![3, 1, 1, 5, 9]));
//! assert_eq!(pool.par_reduce(&numbers, || 0, |sum, n| sum + n, |a, b| a + b), 31);
//! ```
//!
//! The functions of this module use the threads of the scheduler that the current thread belongs to, and do everything on this
//! thread if it belongs to none. `fiber_sched` has the same functions for a `Pool`, and for the pool that the process shares.
//! Call those from code that does not know where it runs.
//!
//! | to run | use |
//! |---|---|
//! | two closures | [`join`] |
//! | any number of closures, which may add others | [`scope`] |
//! | one closure on all elements of a slice or a range | [`par_map`], [`par_for_each`], [`par_reduce`] |
//!
//! # Beside rayon
//! There is no library of parallel iterators here: that is rayon's. Both live in one process. Their threads do not know of each
//! other, so give each as many as it is to use at the same time, and call one from the tasks of the other only for long work:
//! such a call blocks its thread.
//!
//! # In tests
//! Under the `TestScheduler` of `fiber-test`, all runs on one thread, one task after the other, in an order that is part of
//! the schedule: the explorer tries others, and a failure is repeated by its schedule. A task may run inside of a call of
//! [`spawn`](Scope::spawn) or [`join`](Spawned::join) in the body of its scope: hold no lock there that a task wants.

mod items;
mod join;
mod parallel;
mod scope;

pub use items::{IntoItems, Items};
pub use join::join;
pub use parallel::{par_for_each, par_map, par_reduce};
pub use scope::{Scope, Spawned, scope};
