//! Makes contexts: of fibers that start later, of fibers that already run, and of parts of a fiber.

use super::Context;
use super::state::{FiberState, Origin, Own, Shares, Structure};
use crate::cell::{Node, Offer, Seed};
use crate::engine::event::Event;
use crate::engine::task::take_back;
use crate::instant::Instant;
use crate::local::Locals;

/// A fiber that no other thread sees yet.
#[must_use = "the fiber never starts"]
pub(crate) struct NewFiber {
    both: [Context; 2],
    is_held_back: bool,
}

impl NewFiber {
    /// To set what the fiber carries. It must not be published, cancelled or ended yet.
    pub(crate) fn context(&self) -> &Context {
        &self.both[0]
    }

    /// Lets any thread start the fiber. The second context is for the task that does.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn show(self) -> [Context; 2] {
        let [context, _] = &self.both;
        if let Some(offer) = Node::link_fiber(&context.0, self.is_held_back) {
            context.introduce(offer);
        }
        self.both
    }
}

impl Context {
    /// Makes the context of a fiber below this one, with its description, to be [shown](NewFiber::show).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn child(&self, locals: Option<Locals>, origin: Origin, seed: Seed<FiberState>) -> NewFiber {
        let state = self.state_with(locals, false, origin);
        // The observer sees the fiber before the fiber can end, and may cancel it at once.
        let is_held_back = self.is_observed();
        NewFiber { both: Node::fiber(&self.0, None, state, seed, is_held_back), is_held_back }
    }

    /// The same, but calls `introduce` before any thread can start the fiber or take it back. `introduce` may pass the
    /// context on, or cancel the fiber, which then ends at once. A fiber that may have a host gets one, if its scheduler can be one.
    pub(crate) fn introduced(
        &self,
        origin: Origin,
        seed: Seed<FiberState>,
        introduce: impl FnOnce(&Context),
    ) -> [Context; 2] {
        let state = self.state_with(self.locals_of_fork(), false, origin);
        let nested = if seed.nests() { self.0.top().hosting() } else { None };
        let both = Node::fiber(&self.0, nested, state, seed, true);
        let offer = Node::link_fiber(&both[0].0, true);
        both[0].announce(self);
        introduce(&both[0]);
        both[0].offer(offer.expect("it was held back"));
        both
    }

    /// Shows a fiber to the observer, and offers it.
    #[cold]
    fn introduce(&self, offer: Offer) {
        self.announce(self.around().expect("a fiber is below another context"));
        self.offer(offer);
    }

    /// Lets threads start the fiber. If it was cancelled before, it ends.
    fn offer(&self, offer: Offer) {
        if self.0.offer(offer) {
            take_back(self);
        }
    }

    /// Makes the context of a running fiber below this one.
    pub(crate) fn begun(&self, shielded: bool, origin: Origin, seed: Seed<FiberState>) -> Context {
        let state = self.state_with(self.locals(), shielded, origin);
        Context(Node::child(&self.0, shielded, state, seed))
    }

    /// Makes the context of a part of this fiber, for `operator`. The part has to end by `deadline`.
    ///
    /// `shielded`: a cancellation of this context does not reach the part (it is the structure of an uncancelable
    /// region).
    pub(crate) fn part(
        &self,
        shielded: bool,
        deadline: Instant,
        operator: &'static str,
        origin: Origin,
    ) -> Context {
        self.sharing::<()>(shielded, deadline, operator, origin)
    }

    /// The same for a part whose branches [share](Context::shared) an `S`.
    pub(crate) fn sharing<S: Default + Send + Sync + 'static>(
        &self,
        shielded: bool,
        deadline: Instant,
        operator: &'static str,
        origin: Origin,
    ) -> Context {
        // The deadline of this context acts by a cancellation, which does not reach a shielded part.
        let above = self.deadline().filter(|_| !shielded);
        let deadline = above.map_or(deadline, |above| above.min(deadline));
        let state = self.structure_below(deadline, origin);
        let seed = Seed::without((Structure::new(operator, deadline), Shares(S::default())));
        Context(Node::child(&self.0, shielded, state, seed))
    }

    #[inline]
    pub(super) fn structure_below(
        &self,
        deadline: Instant,
        origin: Origin,
    ) -> impl FnOnce(u32) -> FiberState {
        let flags = Own::STRUCTURE
            | Own::flag(Own::IS_LIMITED, deadline != Instant::FAR_FUTURE)
            | Own::flag(Own::RACED, self.is_raced());
        let tag = self.place().unwrap_or_default();
        // It finds the locals of the fiber by looking up.
        move |number| FiberState::new(number, origin, flags, tag, None)
    }

    /// What the branches of this part share, if it is an `S`.
    #[inline]
    pub(crate) fn shared<S: Send + Sync + 'static>(&self) -> Option<&S> {
        self.0.body::<Shares<S>>().map(|Shares(shared)| shared)
    }

    /// The state of a fiber below this one, which a deadline from above reaches unless it is `shielded`.
    fn state_with(
        &self,
        locals: Option<Locals>,
        shielded: bool,
        origin: Origin,
    ) -> impl FnOnce(u32) -> FiberState {
        let flags = Own::flag(Own::IS_LIMITED, self.is_limited() && !shielded);
        let tag = self.place().unwrap_or_default();
        move |number| FiberState::new(number, origin, flags, tag, locals)
    }

    /// Reports to the scheduler that this context exists. The function that makes a part, or a fiber that already runs,
    /// calls this without holding a lock.
    pub(crate) fn announce(&self, parent: &Context) {
        self.observe(Event::Created { parent });
    }
}
