//! Real schedulers for [`fiber_core`]: a work-stealing thread pool, a pool that keeps fibers on their threads, and the
//! current thread.
//!
//! ```
//! use fiber_core::Fiber;
//! use fiber_sched::Pool;
//! use std::time::Duration;
//!
//! let pool = Pool::new();
//! let slow = Fiber::delay(Duration::from_millis(2)).map(|()| 40);
//! let fiber = slow.zip(Fiber::lazy(|| 2)).map(|(a, b)| a + b);
//! assert_eq!(pool.run(fiber).unwrap(), 42);
//! ```
//!
//! | to run a fiber | use |
//! |---|---|
//! | in a program or test, without any setup | [`run`] |
//! | on a chosen number of named threads, which end with their owner | [`Pool`] |
//! | on the thread of a key, such as a symbol or an account, so that its state is never contended | [`AffinityPool`] |
//! | on this thread only | [`CurrentThread`] |
//! | on the tokio runtime that the program already has | `TokioScheduler`, with the feature `tokio` |
//! | no fiber, but closures that borrow, in parallel | [`join`], [`scope()`], [`par_map`], [`par_for_each`], [`par_reduce`] |
//! | by its [`Handle`](fiber_core::Handle), or any other future, from code outside of fibers | [`block_on`] |
//!
//! [`guide`] has pages on services, and for those who come from tokio.

mod affinity;
mod bed;
mod bell;
mod block_on;
mod blocking;
#[cfg(any(feature = "inspector", feature = "tracing"))]
mod by_fiber;
mod clock;
mod compute;
#[cfg(feature = "tracing")]
mod console;
mod contain;
mod cores;
mod current_thread;
#[cfg(feature = "direct")]
mod direct;
#[cfg(not(feature = "direct"))]
#[path = "no_direct.rs"]
mod direct;
mod discard;
mod dump_on_panic;
#[cfg(all(feature = "signal", unix))]
mod dump_on_signal;
// Its programs use these features.
#[cfg(all(
    doc,
    any(
        not(doctest),
        all(unix, feature = "inspector", feature = "tokio", feature = "tower", feature = "tracing")
    )
))]
pub mod guide;
mod inside;
#[cfg(feature = "inspector")]
mod inspector;
mod local;
mod metrics;
#[cfg(feature = "net")]
mod net;
#[cfg(not(feature = "net"))]
#[path = "no_net.rs"]
mod net;
mod observer;
mod on_this_thread;
#[cfg(feature = "tokio")]
mod on_tokio;
mod patience;
mod pool;
mod primitive;
#[cfg(all(feature = "process", unix))]
pub mod process;
mod random;
mod recorder;
mod runtime;
mod shared;
mod shutdown;
#[cfg(all(feature = "signal", unix))]
mod signal;
#[cfg(feature = "inspector")]
mod source;
mod stdio;
mod steal;
mod threads;
mod timer;
#[cfg(feature = "tower")]
pub mod tower;
#[cfg(feature = "tracing")]
mod traced;
mod unfinished;

pub use affinity::{AffinityBuilder, AffinityPool, OnKey};
pub use block_on::block_on;
pub use compute::{join, par_for_each, par_map, par_reduce, scope};
#[cfg(feature = "tracing")]
pub use console::ConsoleTasks;
pub use current_thread::CurrentThread;
pub use dump_on_panic::dump_on_panic;
#[cfg(all(feature = "signal", unix))]
pub use dump_on_signal::dump_on_signal;
#[cfg(feature = "inspector")]
pub use inspector::{History, Inspector};
pub use metrics::{Metrics, WorkerMetrics};
pub use observer::Observer;
pub use on_this_thread::{AnotherThread, on_this_thread};
#[cfg(feature = "tokio")]
pub use on_tokio::{TokioBuilder, TokioScheduler};
pub use pool::{Builder, Pool, Settings, Stuck};
pub use shared::run;
pub use shutdown::Shutdown;
#[cfg(all(feature = "signal", unix))]
pub use signal::{Signal, Signals};
pub use stdio::{eprint, print, stdin};
#[cfg(feature = "tracing")]
pub use traced::Traced;
pub use unfinished::Unfinished;
