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
    let before = IS_QUIET.replace(true);
    let result = f();
    IS_QUIET.set(before);
    result
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
