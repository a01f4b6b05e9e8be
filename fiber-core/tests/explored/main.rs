//! Every combinator under many schedules: those of the portfolio, all with few preemptions, cancelled at every turn from outside, and
//! by a fiber beside it.
//!
//! A program is made of [`Part`](part::Part)s and [`Lease`](lease::Lease)s, which note in a [`Ledger`](ledger::Ledger) what happens and
//! what of it breaks a rule. An [`exploration`] runs it. In every schedule:
//!
//! * Finalizers run once, innermost first, after their body, and nothing cuts them short.
//! * What has to end before an outcome is delivered has: a race's loser, a scope's children, a cancelled fiber.
//! * What was cancelled before its start does not start, and what has seen a cancellation goes no further.
//! * What was acquired is released once, after its use; a value whose drop panics is dropped once, before the program has ended.
//! * The program ends as it may, nothing is left, and no failure is lost.

mod again;
mod bomb;
mod drops;
mod exploration;
mod finalizers;
mod forks;
mod lease;
mod ledger;
mod limits;
mod nested;
mod part;
mod races;
mod scopes;
mod together;
mod waits;
