//! Takes tasks out of queues that other threads also use.

use std::hint::spin_loop;
use std::iter;

use crossbeam_deque::{Steal, Worker};
use fiber_core::Context;
use fiber_core::scheduler::Task;

/// Retries as long as other threads interfere. `None`: the queue is empty.
pub(crate) fn until_clear(mut steal: impl FnMut() -> Steal<Task>) -> Option<Task> {
    loop {
        match steal() {
            Steal::Success(task) => return Some(task),
            Steal::Empty => return None,
            Steal::Retry => spin_loop(),
        }
    }
}

/// Takes tasks until the queue is empty.
pub(crate) fn all(mut steal: impl FnMut() -> Steal<Task>) -> impl Iterator<Item = Task> {
    iter::from_fn(move || until_clear(&mut steal))
}

/// Takes the task that starts `fiber` out of a deque of this thread, if it is the only one there.
pub(crate) fn take_back(deque: &Worker<Task>, fiber: &Context) -> Option<Task> {
    let task = (deque.len() == 1).then(|| deque.pop()).flatten()?;
    if task.starts(fiber) {
        return Some(task);
    }
    deque.push(task);
    None
}
