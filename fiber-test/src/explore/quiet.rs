//! Silences the panic hook while schedules are explored: a failure is reported once, when it is understood.

use std::cell::Cell;
use std::panic;
use std::sync::Once;

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f`, whose panics on this thread are not printed.
pub(crate) fn quietly<T>(f: impl FnOnce() -> T) -> T {
    install_hook();
    let _loud = Loud(IS_QUIET.replace(true));
    f()
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
            if !IS_QUIET.get() {
                print(info);
            }
        }));
    });
}
