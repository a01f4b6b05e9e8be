//! Dropping what may be nested a million deep.
//!
//! A fiber that was never run holds the fibers that it was made of, in its fields and in its closures. Dropping them
//! by recursion would overflow the stack. So the outermost drop collects what is dropped below it, and frees one
//! after the other.

use std::cell::{Cell, RefCell};

use crate::outcome::guard;

thread_local! {
    // A drop has no argument by which it could know that it is nested.
    static IS_BURYING: Cell<bool> = const { Cell::new(false) };
    static WAITING: RefCell<Vec<Box<dyn Buried>>> = const { RefCell::new(Vec::new()) };
}

/// Anything at all.
pub(crate) trait Buried {}
impl<T> Buried for T {}

/// Drops `dead`, without recursion into further `bury` calls.
pub(crate) fn bury(dead: Box<dyn Buried>) {
    if IS_BURYING.get() {
        wait(dead);
    } else {
        let _burial = Burial::begin();
        drop(dead);
        while let Some(next) = next() {
            drop(next);
        }
    }
}

// At the end of a thread the list may be gone already: then the drop recurses after all.

fn wait(dead: Box<dyn Buried>) {
    let _ = WAITING.try_with(|waiting| waiting.borrow_mut().push(dead));
}

fn next() -> Option<Box<dyn Buried>> {
    WAITING.try_with(|waiting| waiting.borrow_mut().pop()).ok().flatten()
}

/// Goes on with the rest when the drop of a value panics: a fiber that is among it waits for its end.
struct Burial;

impl Burial {
    fn begin() -> Self {
        IS_BURYING.set(true);
        Burial
    }
}

impl Drop for Burial {
    fn drop(&mut self) {
        while let Some(next) = next() {
            drop(guard(|| drop(next)));
        }
        IS_BURYING.set(false);
    }
}
