//! What reports call the primitives at which fibers wait, and who holds them.

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

use crate::engine::context::{Context, Cx};
use crate::engine::event::Event;

/// A primitive that fibers coordinate with, as reports name it: "Mutex `accounts`", or by the place where it was made.
#[derive(Debug)]
pub struct Subject {
    kind: &'static str,
    name: OnceLock<Arc<str>>,
    site: &'static Location<'static>,
}

impl Subject {
    pub(crate) fn new(kind: &'static str, site: &'static Location<'static>) -> Self {
        Subject { kind, name: OnceLock::new(), site }
    }

    /// Names the primitive, unless it already has a name.
    pub(crate) fn set_name(&self, name: &str) {
        self.name.get_or_init(|| name.into());
    }

    /// The type of the primitive.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Its name, if it was given one.
    pub fn name(&self) -> Option<&str> {
        self.name.get().map(|name| &**name)
    }

    /// Where in the program it was made.
    pub fn site(&self) -> &'static Location<'static> {
        self.site
    }

    /// Distinguishes it from all other primitives that live at the same time.
    pub fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} `{name}`", self.kind),
            None => write!(f, "the {} of {}", self.kind, self.site),
        }
    }
}

/// The fiber that holds a lock or permits, if its scheduler looks at events.
#[derive(Clone, Debug)]
pub(crate) struct Holder(Option<Context>);

impl Holder {
    /// Reports that the fiber of `cx` holds something. `None`: a plain thread holds it.
    #[inline]
    pub(crate) fn new(
        cx: Option<&Cx<'_>>,
        of: &Subject,
        permits: usize,
        site: &'static Location<'static>,
    ) -> Self {
        let context = cx.filter(|cx| cx.is_observed()).map(Cx::context);
        if let Some(context) = context {
            context.observe(Event::Acquires { of, permits, site });
        }
        Holder(context.cloned())
    }

    /// Reports that it was given back.
    #[inline]
    pub(crate) fn release(&self, of: &Subject, permits: usize) {
        if let Some(context) = &self.0 {
            context.observe(Event::Releases { of, permits });
        }
    }
}
