//! Sequential combinators, which run in the context of one fiber.

pub(crate) mod attempt;
pub(crate) mod bind;
pub(crate) mod bracket;
pub(crate) mod catch;
pub(crate) mod conditions;
pub(crate) mod dedicated;
pub(crate) mod ensure;
mod follow_with;
pub(crate) mod map;
mod setting;
pub(crate) mod tap;
pub(crate) mod then;
pub(crate) mod timed;
pub(crate) mod try_map;
pub(crate) mod uncancelable;
pub(crate) mod with_local;

pub use attempt::{Attempt, CatchErr, WithContext};
pub use bind::Bind;
pub use bracket::Bracket;
pub use catch::{Catch, CatchPanic};
pub use conditions::{FilterOr, When};
pub use dedicated::Dedicated;
pub use ensure::{Ensure, OnCancel, OnFailure, OnOutcome};
pub use follow_with::Own;
pub use map::{Map, MapOutcome};
pub use tap::Tap;
pub use then::Then;
pub use timed::Timed;
pub use try_map::{OrElse, TryMap};
pub(crate) use uncancelable::Interruptible;
pub use uncancelable::{Masked, Restore, Restored, Uncancelable, uncancelable};
pub use with_local::{Local, WithLocal};
