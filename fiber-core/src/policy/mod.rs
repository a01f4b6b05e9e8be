//! Policies: they decide whether another round follows, and after which pause.
//!
//! ```text
//!   Policy       what users build: a value            describe, show
//!    └ Rule      a list of parts, in place            rule
//!       └ Part   what counts and decides              part, condition    <- a Moment: the times of a round, and its error or value
//!   Recurrence   a policy at work in one run          recurrence
//! ```

mod condition;
mod describe;
mod part;
mod recurrence;
mod rule;
mod show;

pub(crate) use condition::Condition;
pub use describe::Policy;
pub(crate) use recurrence::Recurrence;
