//! Timers: the [`Wheel`] keeps them in order.
//!
//! | file | what |
//! |---|---|
//! | `wheel` | all timers |
//! | `front` | the timers that are due next, sorted |
//! | `shards` | a wheel for each worker of a pool |
//! | `slot` | those of a range of time |
//! | `slab` | their memory, and their keys |

mod front;
mod shards;
mod slab;
mod slot;
mod wheel;

pub(crate) use shards::Timers;
pub(crate) use wheel::Wheel;
