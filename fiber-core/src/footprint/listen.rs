//! The schedulers that listen to what steps touch.
//!
//! Production code reads only one count of all listeners in the process: it is zero, and its cache line is never written.
//! Touches are recorded per thread, because many of them happen in drops and closures, which have no argument that leads
//! to a scheduler.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::access::{Access, Touch, Touched};

static LISTENERS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    // A thread-local, because drops and closures of a program have no argument for this.
    static NOTES: RefCell<Option<Notes>> = const { RefCell::new(None) };
}

#[derive(Debug, Default)]
struct Notes {
    touched: Vec<Touch>,
    /// The running step, and the number of objects it has made.
    maker: u64,
    made: u64,
}

/// Whether any thread listens.
#[inline]
pub(crate) fn is_listening() -> bool {
    // Relaxed: a listener listens on its own thread, where it has incremented the count before.
    LISTENERS.load(Ordering::Relaxed) > 0
}

/// Records everything that is touched on this thread while this lives; see [`take`].
///
/// ```
/// use fiber_core::scheduler::footprint::{self, Access, Listening};
///
/// let listening = Listening::begin();
/// footprint::touch("account");
/// let mut touched = Vec::new();
/// footprint::take(|one| touched.push(one.access));
/// assert_eq!(touched, [Access::Write]);
/// drop(listening);
/// ```
#[must_use = "listening ends when this is dropped"]
#[derive(Debug)]
pub struct Listening {
    /// The notes of a listener that began earlier on this thread.
    before: Option<Notes>,
    /// Makes the type belong to its thread.
    thread: PhantomData<*const ()>,
}

impl Listening {
    /// Begins to listen.
    pub fn begin() -> Self {
        // Relaxed: see `is_listening`.
        LISTENERS.fetch_add(1, Ordering::Relaxed);
        let before = NOTES.with_borrow_mut(|notes| notes.replace(Notes::default()));
        Listening { before, thread: PhantomData }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let before = self.before.take();
        // A thread that is ending no longer has notes.
        let _ = NOTES.try_with(|notes| *notes.borrow_mut() = before);
        // Relaxed: as above.
        LISTENERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Records a touch, if this thread listens.
#[inline]
pub(crate) fn note(what: Touched, access: Access) {
    if is_listening() {
        note_touch(Touch { what, access });
    }
}

#[cold]
fn note_touch(touch: Touch) {
    with_notes(|notes| notes.touched.push(touch));
}

fn with_notes<T>(f: impl FnOnce(&mut Notes) -> T) -> Option<T> {
    // A thread that is ending does not listen.
    NOTES.try_with(|notes| notes.borrow_mut().as_mut().map(f)).ok().flatten()
}

/// Calls `f` with everything that was touched on this thread since the last call, in order, and clears the record.
pub fn take(mut f: impl FnMut(Touch)) {
    let touched = with_notes(|notes| mem::take(&mut notes.touched));
    let Some(mut touched) = touched else { return };
    touched.drain(..).for_each(&mut f);
    // The allocation is reused.
    with_notes(|notes| {
        if notes.touched.is_empty() {
            notes.touched = touched;
        }
    });
}

/// Names the step that runs from now on: objects that it makes have the same numbers in every run in which a step has
/// this name.
///
/// ```
/// use fiber_core::scheduler::footprint::{self, Listening};
/// use fiber_core::sync::Ref;
///
/// let listening = Listening::begin();
/// let made_and_read = |step| {
///     footprint::made_by(step);
///     let _ = Ref::new(1).load();
///     let mut touched = Vec::new();
///     footprint::take(|one| touched.push(one));
///     touched
/// };
/// assert_eq!(made_and_read(1), made_and_read(1));
/// assert_ne!(made_and_read(1), made_and_read(2));
/// drop(listening);
/// ```
pub fn made_by(step: u64) {
    with_notes(|notes| {
        notes.maker = step;
        notes.made = 0;
    });
}

/// The number of a new object. 0 if no thread listens.
#[cold]
pub(super) fn new_number() -> u64 {
    let number = with_notes(|notes| {
        notes.made += 1;
        mixed(notes.maker, notes.made)
    });
    number.unwrap_or(0)
}

/// Spreads the bits of two numbers over one: the last steps of SplitMix64 (Steele, Lea, Flood 2014).
pub(super) fn mixed(one: u64, other: u64) -> u64 {
    let number = one.wrapping_add(other.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (number ^ (number >> 31)).max(1)
}
