//! Timers: the [`Wheel`] keeps them in order.
//!
//! | file | what |
//! |---|---|
//! | `wheel` | all timers |
//! | `front` | those of them that are due next, sorted |
//! | `slab` | their memory, and their keys |

mod front;
mod slab;
mod wheel;

pub(crate) use wheel::Wheel;
