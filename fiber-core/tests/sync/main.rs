//! The primitives that fibers coordinate with: fair, and nothing is lost, whoever is cancelled when.

mod everywhere;
mod semaphore;
mod token;
