//! What lies below a running fiber on the host's stack, and cannot look after itself until the fiber returns.
//!
//! * A part with a limit of time sets its timer only when it has to wait. Until then somebody has to look at the clock.
//! * A fiber that waits for another one may run it inline, in its own turn. It sees its own cancellation only when it
//!   goes on.
//!
//! ```text
//!  the fiber that runs ──> host: the fiber that joins it ──> limit: the part of that fiber ──> None
//! ```
//!
//! A fiber that has spent its budget follows these links. Each lies in the frame of the call that it speaks of.

use std::iter::successors;

use super::part::{Part, Place};
use super::turn::Cx;
use crate::instant::Instant;

/// One such frame, and those below it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch<'a> {
    place: Place<'a>,
    role: Role,
    below: Option<&'a Watch<'a>>,
}

#[derive(Clone, Copy, Debug)]
enum Role {
    /// The part has to have ended by then, and has no timer yet. Never, in the far future.
    Limited(Instant),
    /// The fiber waits for the one that runs inline above.
    Host,
}

impl<'a> Watch<'a> {
    /// `part` of the fiber of `cx` runs above, until `until`.
    #[inline]
    pub(crate) fn limit(cx: &Cx<'a>, part: &'a Part<'a>, until: Option<Instant>) -> Self {
        let role = Role::Limited(until.unwrap_or(Instant::FAR_FUTURE));
        Watch { place: Place::Part(part), role, below: cx.below() }
    }

    /// The fiber of `cx` waits for the one that runs above.
    #[inline]
    pub(crate) fn host(cx: &Cx<'a>) -> Self {
        Watch { place: cx.place(), role: Role::Host, below: cx.below() }
    }

    /// Cancels the parts whose time is over.
    pub(super) fn time_out(&self) {
        if !self.all().any(|watch| watch.until() < Instant::FAR_FUTURE) {
            return;
        }
        let now = self.place.nearest().0.scheduler().now();
        // The outermost first, whose end makes the limits below it void. Empty as a rule, and then not allocated.
        let over: Vec<_> = self.all().filter(|watch| watch.until() <= now).collect();
        over.iter().rev().for_each(|watch| watch.place.context().time_out());
    }

    /// Whether a fiber below was cancelled, and sees that only when it goes on.
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
