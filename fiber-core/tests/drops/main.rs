//! What the engine drops of the user's may panic: whatever it is, and wherever the engine drops it, the finalizers around it run
//! once, everything else is dropped once, and the panic is the outcome.

mod bomb;
mod discarded;
mod frame;
mod kept;
mod parts;
mod refused;

#[path = "../support/mod.rs"]
mod support;
