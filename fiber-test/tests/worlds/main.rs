//! The simulated network, and the simulated disk, against those of the operating system. Every test is a program that says what it observes; it runs on
//! both, and has to observe the same. The expected values are those of Linux, so they are written down nowhere.
//! `cargo test -p fiber-test-tests --test worlds -- --nocapture` prints them.
#![cfg(target_os = "linux")]

mod accepting;
mod addresses;
mod datagrams;
mod differences;
mod ends;
mod files;
mod names;
mod paths;
mod resets;
mod support;
mod tcp;
mod trying;
mod waiting;
