//! The gate: small buggy programs whose exact probability of showing the bug is known, and others like those of real programs. The tests
//! check which bugs the explorer finds, how soon, and that it finds no others.

#[path = "../support/mod.rs"]
mod support;

mod apart;
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
