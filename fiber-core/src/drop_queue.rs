//! Drops values that may be nested a million deep.
//!
//! A fiber that was never run holds, in its fields and closures, the fibers that it was built from; the value of a
//! fiber may hold the handle of another one. Dropping such a chain by recursion alone would overflow the stack. A value
//! that is nested too deep goes onto a list instead, and the outermost drop works through the list.
//!
//! A drop is user code: it may panic, and it may run a program. The list is therefore not borrowed during a drop. A
//! program that runs inside a drop has a list of its own ([`with_own_queue`]), so the drops that it waits for happen while
//! it runs.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::mem::{ManuallyDrop, take};
use std::thread::panicking;

use crate::panic::{Panic, discard_part};
use crate::stack;

/// How far drops nest on the host's stack: hundreds of them, and a small part of a thread's 2 MiB.
const DEEPEST: usize = 64 * 1024;

thread_local! {
    // A thread-local, because a drop has no argument that says whether it is nested.
    /// The stack address where the outermost drop began; 0 if no drop is running.
    static BASE: Cell<usize> = const { Cell::new(0) };
    /// It needs no drop, so it exists until the very end of the thread, whose other thread-locals may hold fibers. Without an
    /// outermost drop it is empty, and has no memory.
    static WAITING: RefCell<Waiting> = const { RefCell::new(Waiting::new(Vec::new())) };
}

type Waiting = ManuallyDrop<Vec<Box<dyn Any>>>;

/// Drops `dead` now, or at the end of the outermost drop if it is nested too deep; then it gets a box.
///
/// # Panics
/// Panics if a drop does. Everything else is dropped first; further panics are suppressed into the first.
pub(crate) fn drop_nested<T: 'static>(dead: T) {
    match BASE.get() {
        0 => drop_all(dead),
        // Two panics in one drop would abort the process.
        base if panicking() || base.abs_diff(stack::address()) > DEEPEST => wait(Box::new(dead)),
        _ => drop(dead),
    }
}

fn drop_all<T>(dead: T) {
    BASE.set(stack::address());
    let mut torn = Vec::new();
    discard_part(dead, &mut torn);
    while let Some(dead) = take_next() {
        discard_part(dead, &mut torn);
    }
    BASE.set(0);
    Panic::rethrow(torn);
}

fn wait(dead: Box<dyn Any>) {
    WAITING.with_borrow_mut(|waiting| waiting.push(dead));
}

fn take_next() -> Option<Box<dyn Any>> {
    WAITING.with_borrow_mut(|waiting| {
        let next = waiting.pop();
        if next.is_none() {
            waiting.shrink_to_fit();
        }
        next
    })
}

/// Runs a part of a program with a list of its own. Inside a drop, the program's drops do not wait for the end of that
/// drop.
#[inline]
pub(crate) fn with_own_queue<T>(f: impl FnOnce() -> T) -> T {
    // One call of `f`, so that it can be inlined.
    let _outer = (BASE.get() != 0).then(Outer::put_aside);
    f()
}

/// The state of the surrounding drop, restored when this is dropped.
struct Outer {
    base: usize,
    waiting: Waiting,
}

impl Outer {
    #[cold]
    fn put_aside() -> Self {
        Outer { base: BASE.replace(0), waiting: WAITING.take() }
    }
}

impl Drop for Outer {
    #[cold]
    fn drop(&mut self) {
        BASE.set(self.base);
        WAITING.set(take(&mut self.waiting));
    }
}
