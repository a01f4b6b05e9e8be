//! The simulated network: hosts, the ways between them, and faults that a program or the explorer causes.

mod datagrams;
mod enumerated;
mod faults;
mod hosts;
mod support;
mod ways;
