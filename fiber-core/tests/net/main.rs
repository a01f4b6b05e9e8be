//! Sockets. Every program in `streams`, `buffers`, `cancelled` and `served` runs in all worlds: on a simulated network, under
//! many schedules, and on the real one, on each scheduler.

mod buffers;
mod cancelled;
mod served;
mod simulated;
mod streams;
mod worlds;
