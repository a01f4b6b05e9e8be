//! Timers: the [`Wheel`] keeps them in order.
//!
//! | file | what |
//! |---|---|
//! | `wheel` | all timers |
//! | `front` | the timers that are due next, sorted |
//! | `shards` | a wheel for each worker of a pool |
//! | `slot` | the timers of a range of time |
//! | `slab` | the memory of timers, and their keys |

mod front;
mod shards;
mod slab;
mod slot;
mod wheel;

pub(crate) use shards::Timers;
pub(crate) use wheel::Wheel;
