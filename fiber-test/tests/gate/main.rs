//! The gate: small buggy programs whose exact probability of showing the bug is known, and others of the kind that real ones are.
//! What the explorer has to find, how soon, and what it must not find.

#[path = "../support/mod.rs"]
mod support;

mod corrected;
mod exact;
mod exhaustive;
mod figures;
mod first_bug;
mod forms;
mod portfolio;
mod programs;
mod reduced;
mod table;
