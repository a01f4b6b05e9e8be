//! Frames below a running fiber on the host's stack, which cannot act until the fiber returns.
//!
//! * A part with a time limit sets its timer only when it has to wait. Until then, the running fiber has to read the
//!   clock for it.
//! * A fiber that waits for another one may run it inline, in its own turn. The waiting fiber sees its own cancellation only
//!   when it continues.
//!
//! ```text
//!  the fiber that runs ──> host: the fiber that joins it ──> limit: the part of that fiber ──> None
//! ```
//!
//! A fiber that has spent its budget follows these links. Each link is stored in the frame that it describes.

use std::iter::successors;

use super::limit::Resumed;
use super::part::{Part, Place};
use super::turn::{Cx, TurnView};
use crate::instant::Instant;

/// One such frame, linked to those below it.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    place: Place<'a>,
    role: Role,
    below: Option<&'a Watch<'a>>,
}

#[derive(Clone, Copy)]
enum Role {
    /// The deadline of the part, which has no timer yet. The far future stands for no limit.
    Limited(Instant),
    /// The fiber waits for the fiber that runs inline above.
    Host,
}

impl<'a> Watch<'a> {
    /// `part` of the fiber of `cx` runs above, with the deadline `until`.
    #[inline]
    pub(crate) fn limit(cx: &Cx<'a>, part: &'a Part<'a>, until: Option<Instant>) -> Self {
        let role = Role::Limited(until.unwrap_or(Instant::FAR_FUTURE));
        Watch { place: Place::Part(part), role, below: cx.below() }
    }

    /// A limit that has waited runs above. It has a timer, but its thread may be this one.
    #[inline]
    pub(crate) fn resumed(limit: &'a Resumed<'a>, view: TurnView<'a>) -> Self {
        Watch { place: Place::Limit(limit), role: Role::Limited(limit.until()), below: view.below() }
    }

    /// The fiber of `cx` waits for the fiber that runs above.
    #[inline]
    pub(crate) fn host(cx: &Cx<'a>) -> Self {
        Watch { place: cx.place(), role: Role::Host, below: cx.below() }
    }

    /// Cancels the parts that have taken longer than their time limit. At the limit itself, which a fiber may reach in virtual time, only a
    /// timer decides: whether a fiber comes here or yields, and sets that timer, must make no difference.
    pub(super) fn time_out(&self) {
        if !self.all().any(|watch| watch.until() < Instant::FAR_FUTURE) {
            return;
        }
        let now = self.place.nearest().0.scheduler().now();
        // The outermost first, because its end makes the inner limits irrelevant. The list is usually empty, and then not
        // allocated.
        let over: Vec<_> = self.all().filter(|watch| watch.until() < now).collect();
        over.iter().rev().for_each(|watch| watch.place.context().time_out());
    }

    /// Whether a fiber below was cancelled; that fiber sees it only when it continues.
    pub(super) fn is_wanted(&self) -> bool {
        self.all().any(|watch| matches!(watch.role, Role::Host) && watch.place.is_interrupted())
    }

    fn all(&self) -> impl Iterator<Item = &Watch<'a>> {
        successors(Some(self), |watch| watch.below)
    }

    fn until(&self) -> Instant {
        match self.role {
            Role::Limited(until) => until,
            Role::Host => Instant::FAR_FUTURE,
        }
    }
}
