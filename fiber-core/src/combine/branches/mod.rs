//! Combinators that run several fibers at a time.

pub(crate) mod arms;
pub(crate) mod choice;
pub(crate) mod dataflow;
pub(crate) mod each;
pub(crate) mod failures;
pub(crate) mod first_success;
pub(crate) mod first_successes;
pub(crate) mod gather;
pub(crate) mod hedge;
pub(crate) mod pair;
pub(crate) mod parallel;
pub(crate) mod race;
pub(crate) mod race_all;
pub(crate) mod race_with;
pub(crate) mod with_token;
pub(crate) mod within;
pub(crate) mod zip;

pub use race_with::Raced;
