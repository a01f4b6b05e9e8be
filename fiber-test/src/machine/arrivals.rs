//! The tasks that the fibers of a machine schedule while this thread drives it.
//!
//! They are kept apart until this thread takes the lock of the machine the next time, which is before the machine can change.
//! So they come into the queue as if they had been put there at once, and scheduling them takes no lock: nearly half of the
//! time of a schedule is spent on atomic operations. Only what another thread schedules meanwhile may come before them.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::ptr;

use fiber_core::scheduler::Task;

thread_local! {
    // A scheduler has no argument that leads to the thread it is called on.
    /// The machine that the thread drives. If a fiber drives another one, the first.
    static DRIVEN: Cell<Key> = const { Cell::new(ptr::null()) };
    /// The first task that was scheduled on that machine, mostly the only one. Without a drop, so that a thread reaches it without a
    /// check: the drop of `Driven` hands it over.
    static FIRST: Cell<Option<ManuallyDrop<Task>>> = const { Cell::new(None) };
    /// Whether there is anything in `FURTHER`.
    static HAS_FURTHER: Cell<bool> = const { Cell::new(false) };
    /// Those after it.
    static FURTHER: RefCell<Vec<Task>> = const { RefCell::new(Vec::new()) };
}

/// Tells one machine from another: its address.
pub(super) type Key = *const ();

/// While it lives, this thread drives the machine. At the end, `hand_over` hands over what is left.
pub(super) struct Driven<F: Fn()> {
    is_first: bool,
    hand_over: F,
}

impl<F: Fn()> Driven<F> {
    pub(super) fn here(machine: Key, hand_over: F) -> Self {
        let is_first = DRIVEN.get().is_null();
        if is_first {
            DRIVEN.set(machine);
        }
        Driven { is_first, hand_over }
    }
}

impl<F: Fn()> Drop for Driven<F> {
    fn drop(&mut self) {
        if self.is_first {
            if has_first() {
                (self.hand_over)();
            }
            DRIVEN.set(ptr::null());
        }
    }
}

fn is_driven(machine: Key) -> bool {
    ptr::eq(DRIVEN.get(), machine)
}

fn has_first() -> bool {
    let first = FIRST.take();
    let is_there = first.is_some();
    FIRST.set(first);
    is_there
}

/// Keeps a task if this thread drives the machine; otherwise returns it.
pub(super) fn keep(machine: Key, task: Task) -> Option<Task> {
    if !is_driven(machine) {
        return Some(task);
    }
    if has_first() {
        return keep_further(task);
    }
    FIRST.set(Some(ManuallyDrop::new(task)));
    None
}

#[inline(never)]
fn keep_further(task: Task) -> Option<Task> {
    let mut task = Some(task);
    // At the end of a thread, the list may be gone.
    let _ = FURTHER.try_with(|further| {
        further.borrow_mut().extend(task.take());
        HAS_FURTHER.set(true);
    });
    task
}

/// Hands over the kept tasks, in their order. `push` must not call code of the program.
#[inline]
pub(super) fn hand_over(machine: Key, mut push: impl FnMut(Task)) {
    if is_driven(machine)
        && let Some(first) = FIRST.take()
    {
        push(ManuallyDrop::into_inner(first));
        if HAS_FURTHER.get() {
            hand_over_further(push);
        }
    }
}

#[inline(never)]
fn hand_over_further(push: impl FnMut(Task)) {
    HAS_FURTHER.set(false);
    let _ = FURTHER.try_with(|further| further.borrow_mut().drain(..).for_each(push));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fiber_core::Fiber;
    use parking_lot::Mutex;

    use crate::TestScheduler;

    /// A fiber drives another scheduler, whose fiber schedules on the first one.
    #[test]
    fn tasks_of_a_nested_run_come_in_the_order_in_which_they_were_scheduled() {
        let test = TestScheduler::new();
        let order = Arc::new(Mutex::new(Vec::new()));
        let note = {
            let (order, outer) = (order.clone(), test.context().clone());
            move |number| {
                let order = order.clone();
                drop(outer.spawn(Fiber::lazy(move || order.lock().push(number))));
            }
        };
        let program = Fiber::lazy(move || {
            note(1);
            let inner = note.clone();
            TestScheduler::new().run(Fiber::lazy(move || inner(2))).unwrap();
            note(3);
        });
        test.run(program).unwrap();
        test.run_until_idle();
        assert_eq!(*order.lock(), [1, 2, 3]);
    }

    /// It was scheduled in the last turn of the call.
    #[test]
    fn a_task_that_was_scheduled_last_is_there_when_the_call_returns() {
        let test = TestScheduler::new();
        let outer = test.context().clone();
        test.run(Fiber::lazy(move || drop(outer.spawn(Fiber::success(()))))).unwrap();
        assert_eq!(test.live_fibers(), 1);
        test.run_until_idle();
        test.assert_no_leaks();
    }
}
