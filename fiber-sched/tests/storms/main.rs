//! Storms: everything at once, many times, on many threads. They look for hangs, lost outcomes and missing drops, and find more in
//! an optimised build.

mod compute_storm;
mod direct_storm;
mod storm;
mod stress;
