//! What a fiber has set in its context.
//!
//! A block and a fiber that it awaits share a context until that fiber has to wait. Then either continues with settings of its own.

use crate::engine::context::{Context, Cx, Forks};
use crate::engine::suppress::discard;
use crate::local::Locals;

/// The settings of a fiber in its context.
pub(super) struct Settings {
    /// The number of uncancelable regions that it is in.
    pub(super) masks: u32,
    /// The parent of its forks.
    pub(super) forks: Forks,
    pub(super) locals: Option<Locals>,
    /// Where its scheduler runs it, if that has places.
    place: u64,
}

impl Settings {
    /// The settings of the fiber of `cx`. Others go on with them, but for their forks, which go to `forks`.
    // Inlined, as `end` is: otherwise a fiber that is ready, which hardly needs it, moves all of it through memory.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn begin(cx: &Cx<'_>, forks: Forks) -> Self {
        let context = cx.context();
        let (locals, place) = (context.locals(), context.tag());
        Settings { masks: cx.masks(), forks: context.set_forks(forks), locals, place }
    }

    /// The awaited fiber has ended without a wait: it has ended its own settings, all but the parent of forks, which is returned.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn end(self, cx: &Cx<'_>) -> Forks {
        cx.context().set_forks(self.forks)
    }

    /// Whether the context has these settings, but for the parent of forks, which has no place yet.
    #[inline]
    pub(super) fn hold(&self, cx: &Cx<'_>) -> bool {
        let context = cx.context();
        cx.masks() == self.masks
            && !context.has_fork_place()
            && self.forks.place().is_none()
            && context.place().is_none()
            && are_same(&self.locals, &context.locals())
    }

    /// Continues with these settings. Returns the previous ones.
    pub(super) fn enter(self, cx: &Cx<'_>) -> Self {
        let context = cx.context();
        let outside = Settings::begin(cx, self.forks);
        cx.set_masks(self.masks);
        if self.locals.is_some() || outside.locals.is_some() {
            discard(context.set_locals(self.locals), context);
        }
        set_place(context, self.place);
        outside
    }

    /// Begins with these settings in a new context. Its forks go to `forks` instead, if given.
    pub(super) fn enter_new(self, context: &Context, forks: Option<Forks>) {
        discard(context.set_locals(self.locals), context);
        set_place(context, self.place);
        context.set_forks(forks.unwrap_or(self.forks));
    }
}

fn set_place(context: &Context, place: u64) {
    if context.place().is_some() {
        context.set_tag(place);
    }
}

fn are_same(one: &Option<Locals>, other: &Option<Locals>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => one.is_same(other),
        _ => false,
    }
}
