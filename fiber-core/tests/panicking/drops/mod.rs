//! A user value that the engine drops may panic. Whatever it is, and wherever the engine drops it, the finalizers around it run
//! once, all other values are dropped once, and the panic is the outcome.

mod bomb;
mod discarded;
mod frame;
mod kept;
mod parts;
mod refused;
