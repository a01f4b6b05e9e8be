//! Replaces the network in a build without the feature `net`: there are no polls.

use std::sync::Arc;
use std::time::Instant;

use fiber_core::scheduler::net::Net;

use crate::bell::Bell;
use crate::inside::SchedulerId;
use crate::primitive::Unparker;

pub(crate) struct Polls;

/// A poll that does not exist.
pub(crate) enum Held {}

/// No event.
#[derive(Default)]
pub(crate) struct Happened(());

impl Polls {
    pub(crate) fn new(_: SchedulerId, _: usize) -> Arc<Self> {
        Arc::new(Polls)
    }

    pub(crate) fn are_used(&self, _: usize) -> bool {
        false
    }

    pub(crate) fn tell_of_first_use(&self, _: usize, _: &Arc<Bell>, _: &Unparker) {}

    pub(crate) fn settle(&self, _: usize) {}

    pub(crate) fn hold_to_sleep(&self, _: usize) -> Option<Held> {
        None
    }

    pub(crate) fn wake(&self, _: usize) {}

    #[inline]
    pub(crate) fn look(&self, _: usize) {}

    pub(crate) fn look_at_neglected(&self) {}

    #[inline]
    pub(crate) fn catch_up(&self, _: usize) {}

    #[inline]
    pub(crate) fn catch_up_all(&self) {}

    pub(crate) fn is_any_deserted(&self) -> bool {
        false
    }

    pub(crate) fn stop(&self) {}

    pub(crate) fn net(&self) -> Option<&dyn Net> {
        None
    }
}

impl Held {
    pub(crate) fn wait(self, _: Option<Instant>, _: &mut Happened) {
        match self {}
    }
}

impl Happened {
    pub(crate) fn fire(self) {}
}
