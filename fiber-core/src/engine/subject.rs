//! The identity of the primitives at which fibers wait, and of the fibers that hold them, for reports.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A primitive that fibers coordinate with, as reports name it: "Mutex `accounts`", or the place where it was made.
///
/// A clone stands for the same primitive, and may outlive it.
#[derive(Debug)]
pub struct Subject {
    kind: &'static str,
    name: OnceLock<Arc<str>>,
    site: &'static Location<'static>,
    /// 0 until the key is asked for.
    key: AtomicUsize,
    total: usize,
    is_counted: bool,
}

/// The next key. Only schedulers that observe events ask for keys, so programs in production do not share this counter.
static NEXT_KEY: AtomicUsize = AtomicUsize::new(1);

impl Subject {
    /// A lock, or a primitive that cannot be held.
    pub(crate) fn new(kind: &'static str, site: &'static Location<'static>) -> Self {
        Subject { kind, name: OnceLock::new(), site, key: AtomicUsize::new(0), total: 1, is_counted: false }
    }

    /// A primitive with this many permits, which reports count.
    pub(crate) fn with_permits(self, total: usize) -> Self {
        Subject { total, is_counted: true, ..self }
    }

    /// A lock that many may hold at the same time, to read.
    pub(crate) fn with_readers(self) -> Self {
        Subject { total: u32::MAX as usize, ..self }
    }

    /// Sets the name of the primitive, unless it already has one.
    pub(crate) fn set_name(&self, name: &str) {
        self.name.get_or_init(|| name.into());
    }

    /// The type of the primitive.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The name, if the program gave it one.
    pub fn name(&self) -> Option<&str> {
        self.name.get().map(|name| &**name)
    }

    /// The place in the program where it was made.
    pub fn site(&self) -> &'static Location<'static> {
        self.site
    }

    /// Distinguishes it from all other primitives of the process, including dropped ones.
    pub fn key(&self) -> usize {
        // Relaxed, here and below: a number, which publishes nothing. If two threads ask first, the compare-and-swap decides.
        match self.key.load(Ordering::Relaxed) {
            0 => {
                let key = NEXT_KEY.fetch_add(1, Ordering::Relaxed);
                let set = self.key.compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed);
                set.map_or_else(|before| before, |_| key)
            }
            key => key,
        }
    }

    /// The number of permits, held or not. 1 for a lock. `u32::MAX` for a lock that readers share: a reader has one or two of them,
    /// a writer has all.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Whether it has permits, which reports count. Otherwise it is a lock, or a primitive that cannot be held.
    pub fn is_counted(&self) -> bool {
        self.is_counted
    }
}

impl Clone for Subject {
    fn clone(&self) -> Self {
        let Subject { kind, name, site, total, is_counted, .. } = self;
        let key = AtomicUsize::new(self.key());
        Subject { kind, name: name.clone(), site, key, total: *total, is_counted: *is_counted }
    }
}

/// Counts the items in a primitive, for a scheduler that observes [events](crate::scheduler::Event::Uses).
///
/// ```
/// use fiber_core::scheduler::Event;
///
/// /// How many items are in the primitive that a fiber uses.
/// fn items(event: Event<'_>) -> Option<usize> {
///     let Event::Uses { contents, .. } = event else { return None };
///     Some(contents.upgrade()?.items())
/// }
/// assert_eq!(items(Event::Cancelled), None);
/// ```
pub trait Contents: Send + Sync {
    /// The number of items.
    fn items(&self) -> usize;
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} `{name}`", self.kind),
            None => write!(f, "the {} of {}", self.kind, self.site),
        }
    }
}
