//! The explorer: its guarantees about schedules, shrinking, replay and reports.

#[path = "../support/mod.rs"]
mod support;

mod binds;
mod blocks;
mod borrowed;
mod cancellation;
mod completeness;
mod determinism;
mod escaping;
mod known;
mod lateness;
mod lost_items;
mod mishaps;
mod nearest;
mod pairs;
mod problems;
mod production;
mod property;
mod random_numbers;
mod regressions;
mod settings;
mod shrinking;
mod starvation;
mod steering;
mod time_limits;
