//! The laws of every [`Scheduler`](fiber_core::scheduler::Scheduler), as tests for any implementation.
//!
//! [`scheduler_laws!`](crate::scheduler_laws) makes one test per law. It needs a [`Host`]: the scheduler together with
//! the code that drives it. Each law makes its own host, so laws may run in parallel.
//!
//! ```
//! use fiber_core::{Context, Fiber};
//! use fiber_sched::CurrentThread;
//! use fiber_test::laws::{self, Host};
//!
//! struct Here(CurrentThread);
//!
//! impl Host for Here {
//!     fn context(&self) -> &Context {
//!         self.0.context()
//!     }
//!     fn run(&self, fiber: Fiber<()>) {
//!         self.0.run(fiber).unwrap();
//!     }
//!     fn shut_down(self) -> bool {
//!         drop(self.0); // waits for all fibers
//!         true
//!     }
//! }
//!
//! // In a file of tests, this line makes the tests `current_thread::timers_are_never_early`, and so on.
//! fiber_test::scheduler_laws!(current_thread, || Here(CurrentThread::new()));
//!
//! // A single law, called as a function.
//! laws::timers_are_never_early(|| Here(CurrentThread::new())).unwrap();
//! ```
//!
//! Each law runs on its own thread. A law that does not end within [`Host::PATIENCE`] counts as broken, and the
//! message names its current step. Apart from this limit, no law depends on the speed of the machine.
//!
//! | file | what |
//! |---|---|
//! | `list` | the laws, each in one sentence |
//! | `host` | the requirements on a host |
//! | `trial` | runs one law, and turns panics and hangs into [`Broken`] |
//! | `wake_ups`, `timers`, `fairness`, `blocking`, `parallelism`, `computations`, `panics`, `shutdown`, `misuse` | the checks, by topic |
//! | `probe`, `gate`, `meeting`, `around` | their tools |

mod around;
mod blocking;
mod computations;
mod fairness;
mod gate;
mod host;
mod list;
mod meeting;
mod misuse;
mod panics;
mod parallelism;
mod probe;
mod shutdown;
mod timers;
mod trial;
mod wake_ups;

pub use host::{Host, NestedCall};
pub use list::*;
pub use trial::Broken;
