//! Every combinator under many schedules: those of the portfolio, all with few preemptions, cancelled at every turn from outside, and
//! by a concurrent fiber.
//!
//! A program consists of [`Part`](part::Part)s and [`Lease`](lease::Lease)s, which record events in a [`Ledger`](ledger::Ledger), together
//! with the rules that they break. An [`exploration`] runs it. In every schedule:
//!
//! * Finalizers run once, innermost first, after their body, and nothing cuts them short.
//! * An outcome is delivered only after the fibers that it awaits have ended: a race's loser, a scope's children, a cancelled fiber.
//! * A part that was cancelled before its start does not start, and one that has noticed a cancellation does not continue.
//! * A lease is released once, after its use; a value whose drop panics is dropped once, before the program has ended.
//! * The program has an allowed outcome, nothing is left, and no failure is lost.

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
