//! The primitives that fibers coordinate with: fair, and nothing is lost, whoever is cancelled when.

mod broadcast;
mod channel;
mod channel_cancelled;
mod channel_laws;
#[cfg(feature = "stream")]
mod channel_stream;
mod everywhere;
mod pipeline;
mod semaphore;
mod watch;
