//! The simulated network: hosts, the ways between them, and faults that a program or the explorer injects.

mod bulk;
mod cuts;
mod datagrams;
mod enumerated;
mod faults;
mod hosts;
mod ports;
mod support;
mod ways;
