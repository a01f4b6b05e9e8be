//! Sequential combinators, which run in the context of one fiber.

pub(crate) mod attempt;
pub(crate) mod bind;
pub(crate) mod bracket;
pub(crate) mod catch;
pub(crate) mod conditions;
pub(crate) mod dedicated;
mod either;
pub(crate) mod ensure;
pub(crate) mod fibers;
mod follow_with;
pub(crate) mod map;
mod one_of;
mod setting;
pub(crate) mod tap;
pub(crate) mod then;
pub(crate) mod timed;
pub(crate) mod try_map;
pub(crate) mod uncancelable;
pub(crate) mod with_local;

pub use either::Either;
pub(crate) use one_of::OneOf;
pub(crate) use then::Then;
pub(crate) use uncancelable::Interruptible;
pub use uncancelable::{Restore, uncancelable};
