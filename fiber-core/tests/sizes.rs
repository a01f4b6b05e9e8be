//! Exact sizes of types with many instances, and what else the compiler knows of them.
#![cfg(target_pointer_width = "64")]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::mem::size_of;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use fiber_core::scheduler::Task;
use fiber_core::{Context, Fiber, Handle, Policy, Run};
use support::Queue;

/// Records the requested bytes.
struct Measuring;

thread_local! {
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

#[allow(unsafe_code)]
// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Measuring {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.set(BYTES.get() + layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Measuring = Measuring;

/// The bytes of a fork of `child`: all that is allocated while it is forked and joined, on a thread that has no blocks to
/// reuse.
fn bytes_of_fork<T: Send + 'static, R: Run<Out = T>>(child: fn() -> Fiber<T, R>) -> usize {
    let measured = move || {
        let queue = Arc::new(Queue::default());
        let root = Context::root(queue.clone());
        let fork = Fiber::lazy(|| BYTES.get())
            .bind(move |before| child().fork().bind(Handle::join).map(move |_| BYTES.get() - before));
        let handle = root.spawn(fork);
        queue.drain();
        handle.try_outcome().unwrap().unwrap()
    };
    std::thread::scope(|scope| scope.spawn(measured).join().unwrap())
}

#[test]
fn a_context_a_handle_and_a_task_are_small() {
    assert_eq!(size_of::<Context>(), 8);
    assert_eq!(size_of::<Option<Context>>(), 8);
    assert_eq!(size_of::<Handle<[u64; 4]>>(), 8);
    assert_eq!(size_of::<Task>(), 16);
}

#[test]
fn a_policy_is_six_parts_of_four_words_and_their_number() {
    assert_eq!(size_of::<Policy>(), (6 * 4 + 1) * 8);
}

#[test]
fn the_cell_of_a_fork_is_small() {
    assert_eq!(bytes_of_fork(|| Fiber::success(1)), 184);
}

#[test]
fn a_fiber_of_a_value_that_cannot_exist_is_boxed() {
    #[repr(align(64))]
    struct Aligned(Infallible);

    fn boxed<T: Send + 'static>(value: Result<u8, T>) -> Result<Fiber<u8>, Fiber<T>> {
        value.map(|value| Fiber::success(value).boxed()).map_err(|value| Fiber::success(value).boxed())
    }

    assert!(boxed::<Infallible>(Ok(1)).is_ok());
    assert!(boxed::<Aligned>(Ok(1)).map_err(|fiber| fiber.map(|Aligned(never)| match never {})).is_ok());
}

#[test]
fn a_boxed_fiber_promises_nothing_of_the_closures_in_it() {
    struct Type<T>(PhantomData<T>);

    trait Promises {
        const SYNC: bool = false;
        const UNWIND_SAFE: bool = false;
        const REF_UNWIND_SAFE: bool = false;
    }

    impl<T> Promises for Type<T> {}

    // The compiler prefers these constants, where they exist.
    impl<T: Sync> Type<T> {
        const SYNC: bool = true;
    }

    impl<T: UnwindSafe> Type<T> {
        const UNWIND_SAFE: bool = true;
    }

    impl<T: RefUnwindSafe> Type<T> {
        const REF_UNWIND_SAFE: bool = true;
    }

    assert_eq!((Type::<u8>::SYNC, Type::<u8>::UNWIND_SAFE, Type::<u8>::REF_UNWIND_SAFE), (true, true, true));
    type Boxed = Type<Fiber<u8>>;
    assert_eq!((Boxed::SYNC, Boxed::UNWIND_SAFE, Boxed::REF_UNWIND_SAFE), (false, false, false));
}
