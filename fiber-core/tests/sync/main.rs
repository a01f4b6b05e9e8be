//! The primitives that fibers coordinate with: fair, and nothing is lost, whoever is cancelled when.

mod everywhere;
mod gates;
mod mutex;
mod notify;
mod promise;
mod rw_lock;
mod semaphore;

#[path = "../support/mod.rs"]
mod support;
