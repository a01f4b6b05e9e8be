//! The simulated network: hosts, the ways between them, and faults that a program or the explorer injects.

mod datagrams;
mod enumerated;
mod faults;
mod hosts;
mod support;
mod ways;
