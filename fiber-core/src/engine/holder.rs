//! The holder of a lock or permits, for schedulers that observe events.

use std::panic::Location;

use crate::engine::context::{Context, Cx};
use crate::engine::event::Event;
use crate::engine::subject::Subject;

/// The fiber that holds a lock or permits, and the place where it acquired them, if its scheduler observes events.
#[derive(Clone, Debug)]
pub(crate) struct Holder(Option<(Context, &'static Location<'static>)>);

impl Holder {
    /// Reports that the fiber of `cx` holds the subject. `None`: a plain thread holds it.
    #[inline]
    pub(crate) fn new(
        cx: Option<&Cx<'_>>,
        of: &Subject,
        permits: usize,
        site: &'static Location<'static>,
    ) -> Self {
        match cx {
            Some(cx) if cx.is_observed() => Holder::observed(cx.context(), of, permits, site),
            _ => Holder(None),
        }
    }

    #[cold]
    fn observed(context: &Context, of: &Subject, permits: usize, site: &'static Location<'static>) -> Self {
        context.observe(Event::Acquires { of, permits, site });
        Holder(Some((context.clone(), site)))
    }

    /// Reports that it was released.
    #[inline]
    pub(crate) fn release(&self, of: &Subject, permits: usize) {
        if let Some((context, site)) = &self.0 {
            Holder::released(context, of, permits, site);
        }
    }

    #[cold]
    fn released(context: &Context, of: &Subject, permits: usize, site: &'static Location<'static>) {
        context.observe(Event::Releases { of, permits, site });
    }
}
