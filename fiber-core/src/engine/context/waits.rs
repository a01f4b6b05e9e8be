//! The waits of a fiber: each has one event, which has a key.

use super::Context;
use super::waits_for::WaitsFor;
use crate::cell::{EventKey, Fired, Unparked};
use crate::engine::event::Event;
use crate::engine::side::Awaited;
use crate::engine::task::Waiter;
use crate::error::Site;
use crate::footprint::{Access, Side};

impl Context {
    /// Ends the wait for this event, if the wait is not over.
    #[inline]
    pub(super) fn fire(&self, event: EventKey) -> Fired<Waiter> {
        self.touch(Side::Life, Access::Write);
        self.0.parking().fire(event)
    }

    /// Abandons the wait for this event, if the wait is not over, and returns the rest of the fiber, to be dropped.
    pub(super) fn abandon_wait(&self, event: EventKey) -> Option<Waiter> {
        self.touch(Side::Life, Access::Write);
        self.0.parking().abandon(event)
    }

    /// Begins a wait for one event: returns its key, for the wake-up to leave with the event.
    #[inline]
    pub(crate) fn begin_wait(&self, site: Site, awaited: Awaited<'_>) -> EventKey {
        self.state().own.set_waits_for(awaited.what);
        if self.is_observed() {
            self.observe_wait(site, awaited);
        }
        self.0.begin_wait()
    }

    #[cold]
    #[inline(never)]
    fn observe_wait(&self, site: Site, awaited: Awaited<'_>) {
        let Awaited { what, on, at } = awaited;
        let asks = at.map_or(1, |(_, asks)| u32::try_from(asks).unwrap_or(u32::MAX));
        self.observe(Event::Waits { what, site, on, at: at.map(|(of, _)| of), asks });
    }

    /// Ends a wait whose event had already happened.
    pub(crate) fn end_wait(&self) {
        self.0.end_wait();
        self.runs_again();
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn park(&self, waiter: Waiter, shielded: bool) -> Result<(), Unparked<Waiter>> {
        let shielded = shielded || self.is_masked();
        let (in_limit, parking) = (self.is_in_limit(), self.0.parking());
        if in_limit { parking.park_limited(waiter, shielded) } else { parking.park(waiter, shielded) }
    }

    /// The number of the event that ended the last wait of the fiber. Called by the fiber itself.
    pub(crate) fn last_event(&self) -> u64 {
        self.0.last_event()
    }

    /// Records that the fiber never starts: it exists to be cancelled.
    pub(crate) fn never_starts(&self) {
        self.state().own.set_waits_for(WaitsFor::Never);
    }

    /// Records that the wait is over.
    pub(crate) fn runs_again(&self) {
        self.state().own.set_waits_for(WaitsFor::Nothing);
    }
}
