//! A deterministic virtual timeline for testing `fiber-core` programs.
//!
//! A [`TestScheduler`] runs unchanged production fibers on the thread of the test. Running code takes no virtual time. When
//! no fiber can run, time advances to the next timer. So an hour of virtual time takes microseconds, and
//! all runs with the same seed are identical.
//!
//! ```
//! use fiber_core::Fiber;
//! use fiber_test::TestScheduler;
//! use std::time::Duration;
//!
//! let minute = Duration::from_secs(60);
//! let test = TestScheduler::new();
//! let report = test.spawn(Fiber::delay(60 * minute).map(|()| "the hourly report"));
//! test.run_for(59 * minute);
//! assert!(report.is_pending());
//! test.run_for(minute);
//! assert_eq!(report.outcome().unwrap(), "the hourly report");
//! test.assert_no_leaks();
//! ```
//!
//! The [`guide`] leads from a first test to a schedule that loses money.

#[cfg(feature = "proptest")]
mod any_schedule;
mod cancel_safe;
mod claims;
mod columns;
mod compute;
mod disk;
mod event;
mod explore;
mod fault;
// Its programs are those of the example `bank`, which runs them.
#[cfg(all(doc, not(doctest)))]
pub mod guide;
pub mod laws;
mod lost;
mod machine;
mod macro_support;
mod network;
#[cfg(feature = "pictures")]
mod picture;
mod primitive;
mod random;
mod recorder;
mod report;
mod schedule;
mod scheduler;
#[cfg(feature = "serde")]
mod serde;
mod spawned;
mod strategy;
mod text;
mod trace;
mod wait_graph;
mod words;

#[cfg(feature = "proptest")]
pub use any_schedule::any_schedule;
pub use cancel_safe::assert_cancel_safe;
pub use compute::compute;
pub use disk::Disk;
pub use event::event;
pub use explore::{Explore, Explored, Failure, Faults, OneWay, Problem, ProblemKind, Search};
pub use fault::{Fault, FaultKind};
pub use fiber_core::scheduler::footprint::{touch, touch_read};
pub use fiber_test_macros::{explore, test};
pub use network::{Host, Network, Way, network};
pub use primitive::{Dependency, Primitive, Site, Wanted};
pub use report::Report;
pub use schedule::{Cancellation, Deviation, ParseScheduleError, Schedule};
pub use scheduler::TestScheduler;
pub use spawned::Spawned;
pub use strategy::Followed;
pub use trace::{Cause, Effect, Lane, Trace, Turn};

#[doc(hidden)]
pub mod __macro_support {
    pub use crate::macro_support::{Verdict, fiber, future, run, schedule};
}
