//! The primitives that fibers coordinate with: fair, and nothing is lost, whoever is cancelled when.

mod channel;
mod channel_cancelled;
mod channel_laws;
mod everywhere;
mod semaphore;
