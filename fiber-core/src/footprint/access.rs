//! What a step touches, and how.

/// An access of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Touch {
    /// The state.
    pub what: Touched,
    /// The kind of access.
    pub access: Access,
}

/// The state that a step can touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Touched {
    /// A primitive, or the state of a program. The number is the same in all runs in which the same step of the same fiber
    /// has made it, if the scheduler has [named](super::made_by) that step.
    Object(u64),
    /// A side of the fiber whose context has this [tag](crate::Context::tag).
    Fiber(u64, Side),
    /// State that a step uses [without saying which](super::touch_unknown).
    Unknown(&'static str),
}

/// The sides of a fiber that other fibers touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Whether it was cancelled, and whether its wait is over. Each step of the fiber itself reads this.
    Life,
    /// Its outcome, which other fibers wait for, or no longer want.
    End,
    /// The number of its children.
    Children,
    /// The results of its branches so far.
    Branches,
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// It commutes with other reads.
    Read,
    /// It changes the state, such as a count, in a way that commutes with other such changes.
    Commute,
    /// As [`Commute`](Access::Commute), but the next change will be the last one, which has an effect; or the step makes several changes.
    LastButOne,
    /// It may change anything, and commutes with nothing.
    Write,
    /// The task that is scheduled next continues after all steps that have made a [commutative](Access::Commute) change here.
    Join,
}

impl Access {
    /// Whether two steps with these accesses to the same state may behave differently in the other order.
    ///
    /// ```
    /// use fiber_core::scheduler::footprint::Access;
    ///
    /// assert!(Access::Read.depends_on(Access::Write));
    /// assert!(!Access::Read.depends_on(Access::Read));
    /// ```
    pub fn depends_on(self, other: Access) -> bool {
        use Access::{Commute, Join, LastButOne, Read};
        !matches!(
            (self, other),
            (Read, Read) | (Commute | LastButOne, Commute | LastButOne) | (Join, _) | (_, Join)
        )
    }
}
