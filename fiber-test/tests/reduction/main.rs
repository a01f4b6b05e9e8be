//! Orders that differ only in independent steps are run once.

#[path = "../support/mod.rs"]
mod support;

mod known;
mod last;
mod names;
mod numbers;
mod primitives;
mod promise;
mod racing;
mod results;
mod single;
mod woken;
