//! The primitives that fibers coordinate with: fair, and nothing is lost, whoever is cancelled when.

mod everywhere;
mod mutex;
mod rw_lock;
mod semaphore;

#[path = "../support/mod.rs"]
mod support;
