//! Who is in a poll: a worker that sleeps there, or somebody who only looks.
//!
//! ```text
//!   FREE ── begin_sleep ──> SLEPT_IN ── end ──> FREE
//!     └──── begin_look ───> LOOKED_AT ── end ──> FREE
//! ```
//!
//! The workers that look after a poll sleep in it, one at a time; the others of them sleep elsewhere. Any worker may look. **A
//! worker does not sleep elsewhere because of a look**: whoever looks may be the lookout, which sleeps in another poll
//! afterwards, and then nobody would be in this one. So the worker waits for the end of the look, which takes a microsecond.

use crate::primitive::{AtomicUsize, Ordering};

pub(super) struct Turn(AtomicUsize);

const FREE: usize = 0;
const SLEPT_IN: usize = 1;
const LOOKED_AT: usize = 2;

impl Turn {
    pub(super) fn new() -> Self {
        Turn(AtomicUsize::new(FREE))
    }

    /// `false`: a worker sleeps there, or is on its way out, and tries again before it sleeps.
    pub(super) fn begin_sleep(&self) -> bool {
        loop {
            match self.begin(SLEPT_IN) {
                Ok(()) => return true,
                Err(SLEPT_IN) => return false,
                Err(_) => std::thread::yield_now(),
            }
        }
    }

    /// `false`: somebody else is there.
    pub(super) fn begin_look(&self) -> bool {
        // Relaxed: a hint, which spares the cache line of a poll in which somebody sleeps.
        self.0.load(Ordering::Relaxed) == FREE && self.begin(LOOKED_AT).is_ok()
    }

    fn begin(&self, state: usize) -> Result<(), usize> {
        // Acquire: what the one before has done there is over.
        self.0.compare_exchange(FREE, state, Ordering::Acquire, Ordering::Relaxed).map(drop)
    }

    pub(super) fn end(&self) {
        // Release: pairs with `begin`.
        self.0.store(FREE, Ordering::Release);
    }
}
