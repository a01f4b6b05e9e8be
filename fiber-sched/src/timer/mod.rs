//! Timers: the [`Wheel`] keeps them in order, and the thread of the [`Driver`] waits for the first.
//!
//! | file | what |
//! |---|---|
//! | `driver` | the thread that waits |
//! | `wheel` | all timers |
//! | `front` | those of them that are due next, sorted |
//! | `slab` | their memory, and their keys |

mod driver;
mod front;
mod slab;
mod wheel;

pub(crate) use driver::Driver;
pub(crate) use wheel::Wheel;
