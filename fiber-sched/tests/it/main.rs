//! The schedulers of this crate, a topic to a module: `cargo test -p fiber-sched-tests --test it shutdown::`.
//!
//! Tests that keep all workers busy are in `turns` and `storms`, so that those with time limits do not run beside them. Those that
//! count what the process does, or change it, are files beside this folder.

mod affinity;
mod architecture;
mod blocking;
mod compute;
mod current_thread;
mod dump;
mod metrics;
mod observer;
mod on_this_thread;
mod panics;
mod process;
mod published;
mod reconfigure;
mod recording;
mod run;
mod shutdown;
mod spawn;
