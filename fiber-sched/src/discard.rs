//! Throwing tasks away when their scheduler is gone.

use std::cell::RefCell;

use fiber_core::Task;

use crate::contain::contain;

thread_local! {
    /// What is still to be dropped; `None` while this thread drops nothing.
    static WAITING: RefCell<Option<Vec<Task>>> = const { RefCell::new(None) };
}

/// Drops a task, which abandons its fiber. Never unwinds.
///
/// The end of one fiber schedules those that wait for it, which is how a drop leads to the next: a chain as long as the
/// program likes. So a task that is discarded while another one is being dropped waits for its turn, in place of a
/// recursion.
pub(crate) fn discard(task: Task) {
    let mut next = put_off(task);
    while let Some(task) = next {
        contain(|| drop(task));
        next = next_waiting();
    }
}

/// Leaves the task to the call that is dropping already; gives it back if there is none.
fn put_off(task: Task) -> Option<Task> {
    let mut task = Some(task);
    // A thread that ends has no list any more: then the task goes at once.
    _ = WAITING.try_with(|waiting| match &mut *waiting.borrow_mut() {
        Some(waiting) => waiting.extend(task.take()),
        none => *none = Some(Vec::new()),
    });
    task
}

/// The next task. `None`: this thread drops nothing any more.
fn next_waiting() -> Option<Task> {
    let next = |waiting: &mut Option<Vec<Task>>| {
        let task = waiting.as_mut()?.pop();
        if task.is_none() {
            *waiting = None;
        }
        task
    };
    WAITING.try_with(|waiting| next(&mut waiting.borrow_mut())).ok().flatten()
}
