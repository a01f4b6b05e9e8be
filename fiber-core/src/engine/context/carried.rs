//! What a fiber carries: its locals, and the place of its forks.

use std::mem::replace;

use super::Context;
use super::state::{FiberState, Origin, Own};
use crate::instant::Instant;
use crate::local::Locals;

/// The parent of a fiber's forks.
pub(crate) enum Forks {
    /// The fiber itself.
    Here,
    /// A block in the fiber, in which the forking fiber is awaited. The place is made with the first fork. It is
    /// shielded from a cancellation of the fiber if the block is in an uncancelable region.
    Apart { place: Option<Context>, shielded: bool },
}

impl Forks {
    pub(crate) fn place(&self) -> Option<Context> {
        match self {
            Forks::Here => None,
            Forks::Apart { place, .. } => place.clone(),
        }
    }
}

/// The operator that names the place of a block's awaited fibers.
pub(super) const AWAIT: &str = "await";

impl Context {
    /// Whether the fiber carries locals.
    #[inline]
    pub(crate) fn has_locals(&self) -> bool {
        self.carrier().is_some()
    }

    /// The locals of the fiber.
    #[inline]
    pub(crate) fn locals(&self) -> Option<Locals> {
        // Most programs have none.
        self.carrier()?.carried_locals()
    }

    /// Where the locals of the fiber are: in this context, or for a part without any, in the nearest context of the fiber that has some.
    #[inline]
    fn carrier(&self) -> Option<&FiberState> {
        if self.state().own.has(Own::LOCALS | Own::STRUCTURE) { self.find_carrier() } else { None }
    }

    #[inline(never)]
    fn find_carrier(&self) -> Option<&FiberState> {
        let mut node = &self.0;
        loop {
            let state = node.owner();
            if state.own.has(Own::LOCALS) {
                return Some(state);
            }
            // The fiber is inside of the part, so it does not change the locals around it meanwhile.
            node = node.parent().filter(|_| state.own.has(Own::STRUCTURE))?;
        }
    }

    /// Gives a part the locals that its fiber has now. The part does not look up any more: the context above it goes on without the fiber.
    pub(crate) fn keep_locals(&self, locals: Option<Locals>) {
        if !self.state().own.has(Own::LOCALS) {
            // There were none, so nothing is dropped.
            let _ = self.set_locals(locals);
        }
    }

    /// Sets the locals, and returns the previous ones, whose drop is user code.
    #[must_use = "their drop may panic"]
    pub(crate) fn set_locals(&self, locals: Option<Locals>) -> Option<Locals> {
        let own = &self.state().own;
        let had_some = own.has(Own::LOCALS);
        // A part that has had some does not look up for others.
        own.set(Own::LOCALS, locals.is_some() || own.has(Own::STRUCTURE));
        if locals.is_none() && (!had_some || self.state().rare().is_none()) {
            return None;
        }
        replace(&mut self.state().rare_made().carried.lock().locals, locals)
    }

    /// Sets the parent of forks, and returns the previous one.
    #[inline]
    pub(crate) fn set_forks(&self, forks: Forks) -> Forks {
        let (flags, place) = match forks {
            Forks::Here => (0, None),
            Forks::Apart { place, shielded } => (Own::APART | Own::flag(Own::SHIELDS, shielded), place),
        };
        let before = self.state().own.replace(Own::APART | Own::SHIELDS, flags);
        let were_apart = before & Own::APART != 0;
        let is_kept = place.is_some() || were_apart && self.state().rare().is_some();
        let place = if is_kept { self.set_fork_place(place) } else { None };
        if were_apart { Forks::Apart { place, shielded: before & Own::SHIELDS != 0 } } else { Forks::Here }
    }

    /// The context that is the parent of this fiber's forks, unless it is the fiber's own.
    #[inline]
    pub(crate) fn fork_place(&self) -> Option<Context> {
        if self.state().own.has(Own::APART) { Some(self.fork_place_apart()) } else { None }
    }

    #[cold]
    fn fork_place_apart(&self) -> Context {
        let place = self.state().rare().and_then(|rare| rare.carried.lock().fork_place.clone());
        place.unwrap_or_else(|| {
            let place = self.place_of_awaited(self.state().own.has(Own::SHIELDS));
            self.set_fork_place(Some(place.clone()));
            place
        })
    }

    #[cold]
    fn set_fork_place(&self, place: Option<Context>) -> Option<Context> {
        replace(&mut self.state().rare_made().carried.lock().fork_place, place)
    }

    /// Makes the place below this fiber for awaited fibers that move apart from a block, and for their forks.
    pub(crate) fn place_of_awaited(&self, shielded: bool) -> Context {
        let place = self.part(shielded, Instant::FAR_FUTURE, AWAIT, Origin::unnamed(self.fork_site()));
        place.keep_locals(self.locals());
        place.announce(self);
        place
    }
}
