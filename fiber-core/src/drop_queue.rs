//! Drops values that may be nested a million deep.
//!
//! A fiber that was never run holds, in its fields and closures, the fibers that it was built from; the value of a
//! fiber may hold the handle of another one. Dropping such a chain by recursion alone would overflow the stack. A value
//! that is nested too deep goes onto a list instead, and the outermost drop works through the list.
//!
//! A drop is user code: it may panic, and it may run a program. The list is therefore not borrowed during a drop. A
//! program that runs inside a drop has a list of its own ([`with_own_queue`]), so the drops that it waits for happen while
//! it runs.

use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;
use std::thread::panicking;

use crate::outcome::{Panic, discard_part};
use crate::stack;

/// How far drops nest on the host's stack: hundreds of them, and a small part of a thread's 2 MiB.
const DEEPEST: usize = 64 * 1024;

thread_local! {
    // A thread-local, because a drop has no argument that says whether it is nested.
    /// The stack address where the outermost drop began; 0 if no drop is running.
    static BASE: Cell<usize> = const { Cell::new(0) };
    static WAITING: RefCell<Vec<Box<dyn Nested>>> = const { RefCell::new(Vec::new()) };
}

/// Any type; erases values to be dropped.
pub(crate) trait Nested {}
impl<T> Nested for T {}

/// Drops `dead` now, or at the end of the outermost drop if it is nested too deep.
///
/// # Panics
/// Panics if a drop does. Everything else is dropped first; further panics are suppressed into the first.
pub(crate) fn drop_nested(dead: Box<dyn Nested>) {
    match BASE.get() {
        0 => drop_all(dead),
        // Two panics in one drop would abort the process.
        base if panicking() || base.abs_diff(stack::address()) > DEEPEST => wait(dead),
        _ => drop(dead),
    }
}

fn drop_all(dead: Box<dyn Nested>) {
    BASE.set(stack::address());
    let mut torn = Vec::new();
    let mut next = Some(dead);
    while let Some(dead) = next {
        discard_part(dead, &mut torn);
        next = take_next();
    }
    BASE.set(0);
    match Panic::join(torn) {
        Some(panic) if !panicking() => resume_unwind(panic.into_thrown()),
        _ => {}
    }
}

// While a thread ends, the list may already be destroyed; the drop then recurses.

fn wait(dead: Box<dyn Nested>) {
    let _ = WAITING.try_with(|waiting| waiting.borrow_mut().push(dead));
}

fn take_next() -> Option<Box<dyn Nested>> {
    WAITING.try_with(|waiting| waiting.borrow_mut().pop()).ok().flatten()
}

/// Runs a part of a program with a list of its own. Inside a drop, the program's drops do not wait for the end of that
/// drop.
#[inline]
pub(crate) fn with_own_queue<T>(f: impl FnOnce() -> T) -> T {
    if BASE.get() == 0 {
        return f();
    }
    let _outer = Outer { base: BASE.replace(0), waiting: WAITING.take() };
    f()
}

/// The state of the surrounding drop, restored when this is dropped.
struct Outer {
    base: usize,
    waiting: Vec<Box<dyn Nested>>,
}

impl Drop for Outer {
    fn drop(&mut self) {
        BASE.set(self.base);
        WAITING.set(std::mem::take(&mut self.waiting));
    }
}
