//! The place of a program's code: the part that it ends with, and the cancellations that may end its waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A part of the program that ends before the part around it.
#[derive(Clone, Default)]
pub(crate) struct Part(Option<Arc<PartState>>);

#[derive(Default)]
struct PartState {
    has_ended: AtomicBool,
    around: Part,
}

impl Part {
    pub(crate) fn inside(&self) -> Part {
        Part(Some(Arc::new(PartState { has_ended: AtomicBool::new(false), around: self.clone() })))
    }

    pub(crate) fn end(&self) {
        if let Some(state) = &self.0 {
            state.has_ended.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        let mut at = self;
        while let Some(state) = &at.0 {
            if state.has_ended.load(Ordering::Relaxed) {
                return true;
            }
            at = &state.around;
        }
        false
    }
}

/// One fiber, as the engine sees it: sequential code with one node in the cancel tree.
#[derive(Clone, Default)]
pub(crate) struct Strand(Arc<AtomicBool>);

impl Strand {
    /// Code in it ended as cancelled.
    pub(crate) fn sees_cancellation(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_seen_cancellation(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn is_same(&self, other: &Strand) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The cancellations that may end a wait at a place of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reach {
    /// The cancellation of the whole program.
    Everything,
    /// Not that, but perhaps a race or a timeout around it; so a wait has to end by itself.
    Perhaps,
    /// Nothing: there is an uncancelable region around it, with nothing in between.
    Nothing,
}

impl Reach {
    /// In a separate fiber.
    pub(crate) fn inside(self) -> Reach {
        if self == Reach::Everything { Reach::Everything } else { Reach::Perhaps }
    }
}
