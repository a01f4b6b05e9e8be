//! The rule of a policy: a short list of [`Part`]s, each after the parts that it modifies or combines.
//!
//! ```text
//!   (exponential(5ms).jittered() & recurs(3)).while_input(..)
//!   [ Exponential, Jittered, Recurs, Intersection, WhileInput ]
//! ```
//!
//! So a policy is built by appending, and dropped by a loop. A usual one lies in place, and nothing is allocated for it.

use std::mem::{replace, take};
use std::sync::Arc;

use super::part::Part;

/// How many parts lie in place: an exponential pause with a cap and jitter, a number of rounds, and a condition are six. Each further
/// place makes every move of a policy dearer.
pub(super) const FEW: usize = 6;

/// The parts of a policy; `C` is a condition on the result of a round.
#[derive(Clone)]
pub(super) enum Rule<C> {
    Few {
        count: usize,
        /// [`Part::Nothing`] from `count` on.
        parts: [Part<C>; FEW],
    },
    /// Shared by all runs until the first round of one of them has failed.
    Many(Arc<Vec<Part<C>>>),
}

impl<C: Clone> Rule<C> {
    #[inline]
    pub(super) fn of(part: Part<C>) -> Self {
        let mut parts = [const { Part::Nothing }; FEW];
        parts[0] = part;
        Rule::Few { count: 1, parts }
    }

    /// Adds a part that modifies the rule.
    #[inline]
    pub(super) fn push(&mut self, part: Part<C>) {
        match self {
            Rule::Few { count, parts } if *count < FEW => {
                parts[*count] = part;
                *count += 1;
            }
            _ => self.grow(part),
        }
    }

    /// Adds another rule, and the part that combines both.
    #[inline]
    pub(super) fn combine(&mut self, other: Self, part: Part<C>) {
        match other {
            Rule::Few { count, mut parts } => {
                parts.iter_mut().take(count).for_each(|part| self.push(take(part)));
            }
            Rule::Many(parts) => parts.iter().for_each(|part| self.push(part.clone())),
        }
        self.push(part);
    }

    #[cold]
    fn grow(&mut self, part: Part<C>) {
        if let Rule::Few { parts, .. } = self {
            let few = replace(parts, [const { Part::Nothing }; FEW]);
            *self = Rule::Many(Arc::new(Vec::from(few)));
        }
        if let Rule::Many(parts) = self {
            Arc::<Vec<_>>::make_mut(parts).push(part);
        }
    }

    /// The parts, to be changed for this run alone.
    pub(super) fn own(&mut self) -> &mut [Part<C>] {
        match self {
            Rule::Few { count, parts } => &mut parts[..*count],
            Rule::Many(parts) => Arc::<Vec<_>>::make_mut(parts),
        }
    }
}

impl<C> Rule<C> {
    pub(super) fn parts(&self) -> &[Part<C>] {
        match self {
            Rule::Few { count, parts } => &parts[..*count],
            Rule::Many(parts) => parts,
        }
    }

    /// Whether the rule depends on the times of a round.
    #[inline]
    pub(super) fn is_timed(&self) -> bool {
        self.parts().iter().any(Part::is_timed)
    }
}
