//! Silences the panic hook while schedules are explored: a failure is reported once, when it is understood. The hook alone
//! knows where a panic is, so it remembers that for the report.
//!
//! A test may install a hook of its own at any time, in place of ours. So each exploration asks, by a panic that ours
//! recognises, and installs it again above another one.

use std::cell::{Cell, RefCell};
use std::panic::{self, PanicHookInfo, panic_any};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use parking_lot::Mutex;

/// Panics of a run that are remembered: more than a program has that does not panic in a loop.
const MOST_PLACES: usize = 64;

/// One exploration at a time looks which hook there is.
static INSTALLING: Mutex<()> = Mutex::new(());

/// The panic that asks whether our hook is installed.
struct Question;

thread_local! {
    /// Our hook has seen the question.
    static IS_ANSWERED: Cell<bool> = const { Cell::new(false) };
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
    /// The panics since the thread was silenced last.
    static PLACES: RefCell<Vec<Place>> = const { RefCell::new(Vec::new()) };
}

struct Place {
    message: String,
    /// File, line and column.
    at: String,
}

/// Runs `f`, whose panics on this thread are not printed, once the hook is [installed](install).
pub(crate) fn quietly<T>(f: impl FnOnce() -> T) -> T {
    let loud = Loud(IS_QUIET.replace(true));
    if !loud.0 {
        PLACES.with_borrow_mut(Vec::clear);
    }
    f()
}

/// Where the first panic was whose message is like this, of those since the thread was silenced last.
pub(crate) fn place(mut is_message: impl FnMut(&str) -> bool) -> Option<String> {
    PLACES.with_borrow(|places| {
        places.iter().find(|place| is_message(&place.message)).map(|place| place.at.clone())
    })
}

/// Panics are printed again as before when this is dropped, also by a panic.
struct Loud(bool);

impl Drop for Loud {
    fn drop(&mut self) {
        IS_QUIET.set(self.0);
    }
}

/// To be called before schedules are explored.
pub(crate) fn install() {
    // A thread that panics already may not panic again, nor change the hook.
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
    // Asking the usual hook for the first time would print the question.
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
