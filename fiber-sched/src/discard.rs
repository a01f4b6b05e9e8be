//! Drops tasks whose scheduler is gone.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use fiber_core::scheduler::{Task, TaskKind};

use crate::contain::contain;

thread_local! {
    /// The tasks still to be dropped; `None` while this thread drops nothing. It needs no drop, so it exists until the very end of
    /// the thread.
    static WAITING: RefCell<ManuallyDrop<Option<Vec<Task>>>> = const { RefCell::new(ManuallyDrop::new(None)) };
}

/// Drops a task, which abandons its fiber. Never unwinds.
///
/// The end of one fiber schedules its waiters, so one drop leads to the next, in a chain of any length. To avoid
/// recursion, a task that is discarded during the drop of another one waits in a list.
pub(crate) fn discard(task: Task) {
    let mut next = put_off(task);
    while let Some(task) = next {
        contain(|| drop(task));
        next = next_waiting();
    }
}

/// Leaves the task to the enclosing call of `discard` on this thread. Returns it if there is none.
fn put_off(task: Task) -> Option<Task> {
    let mut task = Some(task);
    WAITING.with_borrow_mut(|waiting| match &mut **waiting {
        Some(waiting) => waiting.extend(task.take()),
        none => *none = Some(Vec::new()),
    });
    task
}

/// Drops the task of a timer that was removed. Never unwinds.
pub(crate) fn discard_timer(task: Task) {
    match task.kind() {
        // Its drop ends no fiber: at most it wakes one.
        TaskKind::TimeOut => contain(|| drop(task)),
        _ => discard(task),
    }
}

/// The next task. `None`: the list is empty, and this thread stops dropping.
fn next_waiting() -> Option<Task> {
    WAITING.with_borrow_mut(|waiting| {
        let task = waiting.as_mut()?.pop();
        if task.is_none() {
            **waiting = None;
        }
        task
    })
}
