//! The contents of a fiber's cell: its description, its first wait, its outcome. Each is dropped once, immediately, and is aligned
//! correctly.

use std::ptr;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::support::{Queue, Steps};
use fiber_core::{Context, Error, Fiber, Handle};

const SECOND: Duration = Duration::from_secs(1);

/// A queue, and a context on it for fibers that outlive it.
fn queue() -> (Arc<Queue>, Context) {
    let queue = Arc::new(Queue::default());
    let root = Context::root(queue.clone());
    (queue, root)
}

/// A fiber that waits, keeps `value` meanwhile, and returns it.
fn gives(value: &Arc<()>) -> Fiber<Arc<()>> {
    let value = value.clone();
    Fiber::delay(SECOND).map(move |()| value).boxed()
}

#[test]
fn what_is_aligned_more_than_the_cell_lies_aligned() {
    #[repr(align(64))]
    struct Wide(u8);
    fn is_aligned(wide: &Wide) -> bool {
        ptr::from_ref(wide).addr().is_multiple_of(64) && wide.0 == 7
    }
    let (queue, root) = queue();
    let described = Wide(7);
    let waiting = Wide(7);
    let fiber = Fiber::lazy(move || is_aligned(&described)).bind(move |first| {
        let wait = Fiber::delay(SECOND).map(move |()| (first && is_aligned(&waiting), waiting));
        wait.bind(|(before, wide)| Fiber::yield_now().map(move |()| (before && is_aligned(&wide), wide)))
    });
    let handle = root.spawn(fiber.fork().bind(Handle::join));
    queue.drain();
    let (was_aligned, outcome) = handle.try_outcome().unwrap().unwrap();
    assert!(was_aligned && is_aligned(&outcome));
    root.cancel();
}

#[test]
fn a_description_that_never_runs_is_dropped_at_once() {
    let (queue, root) = queue();
    let value = Arc::new(());
    let keeps = |value: &Arc<()>| {
        let value = value.clone();
        Fiber::lazy(move || drop(value))
    };
    let cancelled = root.spawn(keeps(&value));
    cancelled.cancel_now();
    assert_eq!(Arc::strong_count(&value), 1);
    let abandoned = root.spawn(keeps(&value));
    while let Some(task) = queue.pop() {
        drop(task);
    }
    assert_eq!(Arc::strong_count(&value), 1);
    assert!(cancelled.try_outcome().unwrap().is_cancelled());
    assert!(abandoned.try_outcome().unwrap().is_failure());
    root.cancel();
}

#[test]
fn what_a_fiber_waits_with_is_dropped_when_it_is_cancelled_or_abandoned() {
    let value = Arc::new(());
    let ends: [fn(&Queue, &Context); 3] =
        [|_, fiber| fiber.cancel(), |_, fiber| fiber.abandon(), |queue, _| drop(queue.pop())];
    for end in ends {
        let (queue, root) = queue();
        let handle = root.spawn(gives(&value));
        queue.pop().unwrap().run();
        assert_eq!(Arc::strong_count(&value), 2);
        end(&queue, handle.context());
        queue.drain();
        assert!(handle.is_finished());
        assert_eq!(Arc::strong_count(&value), 1);
        root.cancel();
    }
}

#[test]
fn an_outcome_is_dropped_once_whether_it_is_joined_forgotten_or_left() {
    let value = Arc::new(());
    let (queue, root) = queue();
    let joined = root.spawn(gives(&value).fork().bind(Handle::join).map(drop));
    let left = root.spawn(gives(&value));
    drop(root.spawn(gives(&value)));
    queue.drain();
    assert!(joined.is_finished());
    assert_eq!(Arc::strong_count(&value), 2);
    let context = left.context().clone();
    drop(left);
    // The context keeps the cell alive, but none of its contents.
    assert_eq!(Arc::strong_count(&value), 1);
    drop(context);
    root.cancel();
}

#[test]
fn a_context_of_a_branch_keeps_neither_the_iterator_of_parallel_nor_its_values() {
    let value = Arc::new(());
    let ends: [Option<fn(&Context)>; 3] = [None, Some(Context::cancel), Some(Context::abandon)];
    for (end, limit) in ends.into_iter().flat_map(|end| [1, 2, usize::MAX].map(|limit| (end, limit))) {
        let (queue, root) = queue();
        let (kept, given) = (Arc::new(Mutex::new(Vec::new())), value.clone());
        let contexts = kept.clone();
        let branches = (0..4).map(move |_| {
            let (contexts, value) = (contexts.clone(), given.clone());
            let note = Fiber::lazy(move || contexts.lock().unwrap().extend(Context::current()));
            note.bind(move |()| gives(&value))
        });
        let handle = root.spawn(Fiber::parallel(branches).limit(limit).map(drop));
        if let Some(end) = end {
            // The first branch has given its value.
            (0..2).for_each(|_| queue.pop().unwrap().run());
            end(handle.context());
        }
        queue.drain();
        assert!(handle.is_finished());
        assert!(!kept.lock().unwrap().is_empty());
        assert_eq!(Arc::strong_count(&value), 1);
        root.cancel();
    }
}

#[test]
fn a_failure_is_reported_once_whether_its_handle_is_dropped_before_or_after_it() {
    for is_dropped_first in [true, false] {
        let steps = Steps::new(0, 1);
        let mut handle =
            Some(steps.spawn(Fiber::yield_now().bind(|()| Fiber::<()>::fail(Error::msg("lost")))));
        if is_dropped_first {
            handle = None;
        }
        steps.run(usize::MAX);
        assert_eq!(steps.unobserved().len(), usize::from(is_dropped_first));
        drop(handle);
        assert_eq!(steps.unobserved().len(), 1);
    }
}

#[test]
fn a_handle_may_be_dropped_on_another_thread_while_its_fiber_ends() {
    for _ in 0..20 {
        let value = Arc::new(());
        let (queue, root) = queue();
        let handle = root.spawn(gives(&value));
        thread::scope(|scope| {
            scope.spawn(move || drop(handle));
            queue.drain();
        });
        queue.drain();
        assert_eq!(Arc::strong_count(&value), 1);
        root.cancel();
    }
}

#[test]
fn a_cell_goes_with_its_last_reference_on_whatever_thread() {
    let value = Arc::new(());
    for _ in 0..20 {
        let (queue, root) = queue();
        let held = value.clone();
        let handle = root.spawn(Fiber::delay(SECOND).map(move |()| held).fork().bind(Handle::join));
        let contexts = [(); 3].map(|()| handle.context().clone());
        thread::scope(|scope| {
            contexts.into_iter().for_each(|context| drop(scope.spawn(move || context.cancel())));
            queue.drain();
        });
        queue.drain();
        assert!(handle.is_finished());
        root.cancel();
        drop((queue, root, handle));
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
