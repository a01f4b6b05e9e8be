//! What becomes of items, for reports of those that are lost: who took them, and where they were dropped.
//!
//! The primitives tell it in drops and in operations of any thread, which have no argument that leads to a scheduler. So it is recorded per
//! thread, and only while a scheduler [listens](Fates). A receive asks whether any does where it would ask for its footprint anyway. A read of a
//! stream, and a race whose loser has succeeded, ask once, which is a load and a branch.

use std::cell::RefCell;
use std::mem;

use crate::engine::subject::Subject;
use crate::error::Site;
use crate::footprint::{self, Listening, is_listening};

/// What has become of items, or of bytes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Fate {
    /// The running fiber took them.
    Taken {
        /// The primitive that they were in.
        of: Subject,
        /// How many.
        count: usize,
        /// `item` or `byte`.
        unit: &'static str,
        /// The place in the program, if the operation knows it.
        site: Option<Site>,
    },
    /// They were dropped before a fiber took them.
    Dropped {
        /// The primitive that they were in.
        of: Subject,
        /// How many.
        count: usize,
        /// `item` or `byte`.
        unit: &'static str,
        /// Why: `with the last receiver`.
        why: &'static str,
    },
    /// The value of a fiber that had lost its race was dropped.
    Unwanted,
}

/// The unit of channels.
pub(crate) const ITEM: &str = "item";
/// The unit of streams.
pub(crate) const BYTE: &str = "byte";

thread_local! {
    // A thread-local, because drops of a program have no argument for this.
    static FATES: RefCell<Option<Vec<Fate>>> = const { RefCell::new(None) };
}

/// Records the [`Fate`] of all items on this thread while this lives.
///
/// ```
/// use fiber_core::sync::Channel;
/// use fiber_core::scheduler::{Fate, Fates};
///
/// let fates = Fates::listen();
/// let (sender, receiver) = Channel::unbounded();
/// sender.try_send("order").unwrap();
/// drop(receiver);
/// let mut dropped = Vec::new();
/// Fates::take(|fate| if let Fate::Dropped { count, why, .. } = fate { dropped.push((count, why)) });
/// assert_eq!(dropped, [(1, "with the last receiver")]);
/// drop(fates);
/// ```
#[must_use = "listening ends when this is dropped"]
#[derive(Debug)]
pub struct Fates {
    /// The record of a listener that began earlier on this thread.
    before: Option<Vec<Fate>>,
    _listening: Listening,
}

impl Fates {
    /// Begins to listen. A [footprint](crate::scheduler::footprint) is not recorded meanwhile.
    pub fn listen() -> Self {
        let before = FATES.with_borrow_mut(|fates| fates.replace(Vec::new()));
        Fates { before, _listening: Listening::begin() }
    }

    /// Calls `f` with everything that was recorded on this thread since the last call, in order.
    pub fn take(f: impl FnMut(Fate)) {
        let fates = FATES.try_with(|fates| fates.borrow_mut().as_mut().map(mem::take));
        let Some(fates) = fates.ok().flatten() else { return };
        // Nobody asks for it, and it would grow.
        footprint::take(|_| {});
        fates.into_iter().for_each(f);
    }
}

impl Drop for Fates {
    fn drop(&mut self) {
        let before = self.before.take();
        // A thread that is ending no longer has the record.
        let _ = FATES.try_with(|fates| *fates.borrow_mut() = before);
    }
}

/// Records it. Called only if some thread listens.
#[cold]
#[inline(never)]
fn note(fate: Fate) {
    // Dropped without the borrow, if this thread does not listen.
    let mut fate = Some(fate);
    let _ = FATES.try_with(|fates| fates.borrow_mut().as_mut().map(|fates| fates.extend(fate.take())));
}

/// The running fiber has taken them.
#[cold]
#[inline(never)]
pub(crate) fn taken(of: &Subject, count: usize, unit: &'static str, site: Option<Site>) {
    note(Fate::Taken { of: of.clone(), count, unit, site });
}

/// They are dropped, if there are any.
#[inline]
pub(crate) fn dropped(of: &Subject, count: usize, unit: &'static str, why: &'static str) {
    if count > 0 && is_listening() {
        note_dropped(of, count, unit, why);
    }
}

#[cold]
#[inline(never)]
fn note_dropped(of: &Subject, count: usize, unit: &'static str, why: &'static str) {
    note(Fate::Dropped { of: of.clone(), count, unit, why });
}

/// The value of a fiber that has lost its race is dropped.
#[inline]
pub(crate) fn unwanted() {
    if is_listening() {
        note(Fate::Unwanted);
    }
}
