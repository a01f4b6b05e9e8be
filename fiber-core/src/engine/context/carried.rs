//! What a fiber carries: its locals, and the place of its forks.

use std::mem::replace;
use std::sync::atomic::Ordering;

use super::Context;
use super::state::{FiberState, Origin, Own};
use crate::instant::Instant;
use crate::local::Locals;

/// The parent of a fiber's forks.
pub(crate) struct Forks {
    /// 0: the fiber itself. [`Own::APART`]: a block in the fiber, in which the forking fiber is awaited. With [`Own::SHIELDS`], its place is
    /// shielded from a cancellation of the fiber, because the block is in an uncancelable region.
    flags: u32,
    /// The place in the block. It is made with the first fork.
    place: Option<Context>,
}

impl Forks {
    /// The bits that say where forks go.
    const FLAGS: u32 = Own::APART | Own::SHIELDS;

    #[inline]
    pub(crate) fn apart(place: Option<Context>, shielded: bool) -> Self {
        Forks { flags: Own::APART | Own::flag(Own::SHIELDS, shielded), place }
    }

    #[inline]
    pub(crate) fn place(&self) -> Option<&Context> {
        self.place.as_ref()
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

    /// Those that a fork inherits: not the values of a single fiber.
    #[inline]
    pub(crate) fn locals_of_fork(&self) -> Option<Locals> {
        self.locals().map(Locals::for_fork)
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
        let flags = self.state().own.replace(Forks::FLAGS, forks.flags) & Forks::FLAGS;
        let have_place = forks.place.is_some() || flags != 0 && self.has_fork_place();
        Forks { flags, place: if have_place { self.set_fork_place(forks.place) } else { None } }
    }

    /// `false`: no place for forks that are apart was ever made in this context. `true` is not certain.
    #[inline]
    pub(crate) fn may_have_had_fork_place(&self) -> bool {
        self.state().rare().is_some()
    }

    /// Whether there is a place for forks that are apart.
    #[inline]
    pub(crate) fn has_fork_place(&self) -> bool {
        // Relaxed: only the fiber itself uses it.
        self.state().rare().is_some_and(|rare| rare.has_fork_place.load(Ordering::Relaxed))
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
        let rare = self.state().rare_made();
        rare.has_fork_place.store(place.is_some(), Ordering::Relaxed);
        replace(&mut rare.carried.lock().fork_place, place)
    }

    /// Makes the place below this fiber for awaited fibers that move apart from a block, and for their forks.
    pub(crate) fn place_of_awaited(&self, shielded: bool) -> Context {
        let place = self.part(shielded, Instant::FAR_FUTURE, AWAIT, Origin::unnamed(self.fork_site()));
        place.keep_locals(self.locals());
        place.announce(self);
        place
    }
}
