//! may's coroutines. may calls them unsafe, because a coroutine may continue on another thread, and overflow its stack.
#![allow(unsafe_code)]

use ::may::coroutine::{Coroutine, JoinHandle, spawn};

/// Starts a coroutine, which must use neither thread-locals nor much of its stack.
pub fn spawn_on_may<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    // SAFETY: the coroutines of the benchmarks only yield, count and sleep.
    unsafe { spawn(f) }
}

/// Cancels a coroutine.
pub fn cancel_on_may(coroutine: &Coroutine) {
    // SAFETY: as above; nothing is lost when the coroutine is unwound.
    unsafe { coroutine.cancel() };
}
