//! Sockets. Every program, except for those in `simulated`, runs in all worlds: on a simulated network, under
//! many schedules, and on the real one, on each scheduler.

mod asynchronous;
mod buffers;
mod cancelled;
mod datagrams;
mod items;
#[cfg(unix)]
mod paths;
mod peeks;
mod polled;
mod served;
mod simulated;
mod streams;
mod worlds;
