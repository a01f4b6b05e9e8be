//! Silences the panic hook while schedules are explored: a failure is reported once, after its analysis. Only the hook
//! knows the location of a panic, so it remembers that for the report.
//!
//! A test may replace our hook by its own at any time. So each exploration checks, by a panic that our hook
//! recognises, whether it is still installed, and if not, installs it again on top of the other one.

use std::cell::{Cell, RefCell};
use std::panic::{self, PanicHookInfo, panic_any};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use parking_lot::Mutex;

/// The number of panics of a run that are remembered: more than a program has that does not panic in a loop.
const MOST_PLACES: usize = 64;

/// Only one exploration at a time checks the installed hook.
static INSTALLING: Mutex<()> = Mutex::new(());

/// The payload of the panic that checks whether our hook is installed.
struct Question;

thread_local! {
    /// Our hook has seen the check.
    static IS_ANSWERED: Cell<bool> = const { Cell::new(false) };
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
    /// The panics since the thread was last silenced.
    static PLACES: RefCell<Vec<Place>> = const { RefCell::new(Vec::new()) };
}

struct Place {
    message: String,
    /// File, line and column.
    at: String,
}

/// Runs `f` without printing panics on this thread, once the hook is [installed](install).
pub(crate) fn quietly<T>(f: impl FnOnce() -> T) -> T {
    let loud = Loud(IS_QUIET.replace(true));
    if !loud.0 {
        PLACES.with_borrow_mut(Vec::clear);
    }
    f()
}

/// The location of the first panic with the longest matching message since the thread was last silenced: what matches in a text may be the
/// beginning of another message.
pub(crate) fn place(is_message: impl Fn(&str) -> bool) -> Option<String> {
    PLACES.with_borrow(|places| {
        let matching = places.iter().rev().filter(|place| is_message(&place.message));
        matching.max_by_key(|place| place.message.len()).map(|place| place.at.clone())
    })
}

/// Its drop, which may be part of an unwinding, restores the printing of panics.
struct Loud(bool);

impl Drop for Loud {
    fn drop(&mut self) {
        IS_QUIET.set(self.0);
    }
}

/// To be called before schedules are explored.
pub(crate) fn install() {
    // A thread that already panics must not panic again, and cannot change the hook.
    if thread::panicking() {
        return;
    }
    let _one = INSTALLING.lock();
    if !is_installed() {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if info.payload().is::<Question>() {
                IS_ANSWERED.set(true);
            } else if IS_QUIET.get() {
                remember(info);
            } else {
                print(info);
            }
        }));
    }
}

fn is_installed() -> bool {
    // With the usual hook, the first check would be printed.
    static HAS_INSTALLED: AtomicBool = AtomicBool::new(false);
    // Relaxed: under the lock.
    if !HAS_INSTALLED.swap(true, Ordering::Relaxed) {
        return false;
    }
    IS_ANSWERED.set(false);
    let _ = panic::catch_unwind(|| panic_any(Question));
    IS_ANSWERED.get()
}

fn remember(info: &PanicHookInfo<'_>) {
    let (Some(message), Some(at)) = (info.payload_as_str(), info.location()) else { return };
    PLACES.with_borrow_mut(|places| {
        if places.len() < MOST_PLACES {
            places.push(Place { message: message.to_owned(), at: at.to_string() });
        }
    });
}
