//! A deterministic virtual timeline for testing `fiber-core` programs.
//!
//! A [`TestScheduler`] runs unchanged production fibers on the thread of the test. Running work takes no virtual time; time
//! advances only when nothing can run, straight to the next timer. So an hour of virtual time costs microseconds, and
//! every run with the same seed is the same.
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

mod random;
mod report;
mod scheduler;
mod spawned;
mod timeline;

pub use report::Report;
pub use scheduler::TestScheduler;
pub use spawned::Spawned;
