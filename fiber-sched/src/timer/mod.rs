//! Timers: the [`Wheel`] keeps them in order.
//!
//! | file | what |
//! |---|---|
//! | `wheel` | all timers |
//! | `front` | the timers that are due next, sorted |
//! | `shards` | a wheel for each worker of a pool |
//! | `slab` | the memory of timers, and their keys |

mod front;
mod shards;
mod slab;
mod wheel;

pub(crate) use shards::Timers;
pub(crate) use wheel::Wheel;
