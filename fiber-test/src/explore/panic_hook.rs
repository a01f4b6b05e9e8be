//! Silences the panic hook while schedules are explored: a failure is reported once, when it is understood. The hook alone
//! knows where a panic is, so it remembers that for the report.

use std::cell::{Cell, RefCell};
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

/// Panics of a run that are remembered: more than a program has that does not panic in a loop.
const MOST_PLACES: usize = 64;

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
    /// The panics since the thread was silenced last.
    static PLACES: RefCell<Vec<Place>> = const { RefCell::new(Vec::new()) };
}

struct Place {
    message: String,
    /// File, line and column.
    at: String,
}

/// Runs `f`, whose panics on this thread are not printed.
pub(crate) fn quietly<T>(f: impl FnOnce() -> T) -> T {
    install_hook();
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

fn install_hook() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if IS_QUIET.get() {
                remember(info);
            } else {
                print(info);
            }
        }));
    });
}

fn remember(info: &PanicHookInfo<'_>) {
    let (Some(message), Some(at)) = (info.payload_as_str(), info.location()) else { return };
    PLACES.with_borrow_mut(|places| {
        if places.len() < MOST_PLACES {
            places.push(Place { message: message.to_owned(), at: at.to_string() });
        }
    });
}
