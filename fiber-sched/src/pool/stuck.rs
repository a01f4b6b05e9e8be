//! What the lookout reports.

use std::fmt;
use std::panic::Location;

/// A worker of a [`Pool`](super::Pool) that is stuck: for ten quanta, its fiber has neither come to a bind nor ended its
/// turn, because a closure computes or blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stuck {
    /// Where the fiber was forked or spawned.
    pub fork_site: &'static Location<'static>,
}

/// `the fiber forked at file:line keeps its worker from other fibers`.
impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, line) = (self.fork_site.file(), self.fork_site.line());
        write!(f, "the fiber forked at {file}:{line} keeps its worker from other fibers")
    }
}
