//! The numbers of the fibers of a run.

/// A fiber of the run, with what its combinators made of its parts. Numbered in the order in which they are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lane(pub(crate) u32);

impl Lane {
    /// What is not a fiber: a wake-up of a foreign future.
    pub(crate) const NONE: Lane = Lane(u32::MAX);

    pub(crate) fn index(self) -> Option<usize> {
        (self != Lane::NONE).then_some(self.0 as usize)
    }
}
