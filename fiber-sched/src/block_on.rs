//! Runs a future on the current thread.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Runs one future to its end on this thread: a minimal executor.
///
/// Use it to wait for a [`Handle`](fiber_core::Handle), which is a future of the fiber's outcome, in code outside of
/// fibers.
///
/// ```
/// use fiber_core::Fiber;
/// let pool = fiber_sched::Pool::new();
/// let handle = pool.spawn(Fiber::success(42));
/// assert_eq!(fiber_sched::block_on(handle).unwrap(), 42);
/// ```
///
/// # Blocking
/// The thread sleeps until the future is ready. Do not call it in a fiber; bind
/// [`Handle::join`](fiber_core::Handle::join) or [`Fiber::from_future`](fiber_core::Fiber::from_future) there.
///
/// # Panics
/// If the future panics.
pub fn block_on<F: IntoFuture>(future: F) -> F::Output {
    let mut future = pin!(future.into_future());
    let sleeper = Arc::new(Sleeper { thread: thread::current(), is_woken: AtomicBool::new(false) });
    let waker = Waker::from(sleeper.clone());
    let cx = &mut Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(cx) {
            Poll::Ready(value) => return value,
            Poll::Pending => sleeper.sleep(),
        }
    }
}

/// A thread that waits to be woken. The flag distinguishes a wake-up from an unrelated `unpark`.
struct Sleeper {
    thread: Thread,
    is_woken: AtomicBool,
}

impl Sleeper {
    fn sleep(&self) {
        // Acquire: pairs with the Release of `wake`: the future sees why it was woken.
        while !self.is_woken.swap(false, Ordering::Acquire) {
            thread::park();
        }
    }
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Release: publishes what the waker did to `sleep`.
        self.is_woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}
