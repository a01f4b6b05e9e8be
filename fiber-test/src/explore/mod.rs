//! Explores the schedules of a program: [`Explore`].
//!
//! * [`builder`]: the settings of a test, and [`environment`]: those from outside. [`check`]: the start.
//! * [`source`]: the sources of schedules: the [`portfolio`] of strategies, the [`enumeration`] of all, cancellations
//!   [everywhere](cancel_everywhere).
//!   [`reduction`]: of all schedules, one of those that differ only in the order of steps that have nothing to do with each other.
//!   [`faults`] are drawn with the schedules of the portfolio.
//! * [`search`]: goes through schedules until one breaks the program; [`workers`] run them, on one thread or several; [`run`] is one of them.
//! * [`shrink`]: the smallest schedule that breaks it; [`calm`]: one with fewer switches; [`nearest`]: the closest schedule that passes.
//! * [`failure`]: the report; [`regressions`]: the file that saves the schedule.

mod builder;
mod calm;
mod cancel_everywhere;
mod check;
mod enumeration;
mod environment;
mod failure;
mod faults;
mod kinds;
mod nearest;
mod pairs;
mod panic_hook;
#[cfg(feature = "pictures")]
mod pictured;
#[cfg_attr(not(feature = "pictures"), path = "no_pictures.rs")]
mod pictures;
mod portfolio;
mod problem;
mod program;
mod reduction;
mod regressions;
mod run;
mod search;
mod settings;
mod shrink;
mod source;
mod workers;

pub use builder::Explore;
pub use failure::Failure;
pub use faults::Faults;
pub use kinds::Search;
pub use pairs::OneWay;
pub use problem::{Problem, ProblemKind};
pub use search::Explored;
