//! What a fiber has set in its context, beside the parent of its forks.
//!
//! A block and a fiber that it awaits share a context until that fiber has to wait. Then either continues with settings of its own.

use std::mem;

use crate::engine::context::{Context, Cx};
use crate::engine::suppress::discard;
use crate::local::Locals;

/// The settings of a fiber in its context.
pub(super) struct Settings {
    /// The number of uncancelable regions that it is in.
    pub(super) masks: u32,
    pub(super) locals: Option<Locals>,
    /// Where its scheduler runs it, if that has places.
    place: u64,
}

impl Settings {
    /// The settings of the fiber of `cx`. Those of an awaited fiber that is ready are the same at its end.
    // Inlined: otherwise such a fiber moves all of it through memory.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn of(cx: &Cx<'_>) -> Self {
        let context = cx.context();
        Settings { masks: cx.masks(), locals: context.locals(), place: context.tag() }
    }

    /// Whether the context has these settings.
    #[inline]
    pub(super) fn hold(&self, cx: &Cx<'_>) -> bool {
        let context = cx.context();
        cx.masks() == self.masks && context.place().is_none() && are_same(&self.locals, &context.locals())
    }

    /// Continues with the other settings.
    pub(super) fn swap(&mut self, cx: &Cx<'_>) {
        let context = cx.context();
        let outside = Settings::of(cx);
        let inside = mem::replace(self, outside);
        cx.set_masks(inside.masks);
        if inside.locals.is_some() || self.locals.is_some() {
            discard(context.set_locals(inside.locals), context);
        }
        set_place(context, inside.place);
    }

    /// Begins with these settings in a new context.
    pub(super) fn enter_new(self, context: &Context) {
        discard(context.set_locals(self.locals), context);
        set_place(context, self.place);
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
