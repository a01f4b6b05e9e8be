//! The tasks that the fibers of a machine schedule while this thread drives it.
//!
//! They are kept apart until somebody on this thread takes the lock of the machine the next time, which is before the
//! machine can change. So they come into the queue as if they had been put there at once, and scheduling them takes no
//! lock. Half of the time of a schedule is that of atomic operations.

use std::cell::{Cell, RefCell};
use std::ptr;

use fiber_core::Task;

use super::Machine;

thread_local! {
    // A scheduler has no argument that leads to the thread it is called on.
    /// The machine that the thread drives. If a fiber drives another one, the first.
    static DRIVEN: Cell<*const Machine> = const { Cell::new(ptr::null()) };
    /// Whether there is anything in `TASKS`.
    static HAS_TASKS: Cell<bool> = const { Cell::new(false) };
    /// What was scheduled on that machine.
    static TASKS: RefCell<Vec<Task>> = const { RefCell::new(Vec::new()) };
}

/// As long as it lives, this thread drives the machine.
pub(super) struct Driven<'a>(Option<&'a Machine>);

impl<'a> Driven<'a> {
    pub(super) fn here(machine: &'a Machine) -> Self {
        let is_first = DRIVEN.get().is_null();
        if is_first {
            DRIVEN.set(machine);
        }
        Driven(is_first.then_some(machine))
    }
}

impl Drop for Driven<'_> {
    fn drop(&mut self) {
        if let Some(machine) = self.0 {
            drop(machine.state());
            DRIVEN.set(ptr::null());
        }
    }
}

fn is_driven(machine: &Machine) -> bool {
    ptr::eq(DRIVEN.get(), machine)
}

/// Keeps a task if this thread drives the machine; otherwise returns it.
pub(super) fn keep(machine: &Machine, task: Task) -> Option<Task> {
    if !is_driven(machine) {
        return Some(task);
    }
    let mut task = Some(task);
    // At the end of a thread, the list may be gone.
    let _ = TASKS.try_with(|tasks| tasks.borrow_mut().extend(task.take()));
    HAS_TASKS.set(true);
    task
}

/// Hands over what was kept, in its order. To `push` it calls no code of the program.
#[inline]
pub(super) fn hand_over(machine: &Machine, push: impl FnMut(Task)) {
    if HAS_TASKS.get() && is_driven(machine) {
        hand_over_all(push);
    }
}

fn hand_over_all(push: impl FnMut(Task)) {
    HAS_TASKS.set(false);
    let _ = TASKS.try_with(|tasks| tasks.borrow_mut().drain(..).for_each(push));
}
