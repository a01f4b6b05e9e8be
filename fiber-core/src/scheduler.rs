//! The interface of the engine: for schedulers, combinators and waits of your own. Programs that use those of the library need nothing of it.
//!
//! # A scheduler
//! A [`Scheduler`] is a clock and a place for [`Task`]s: each runs one fiber until it has to wait. This one is a thread and a queue:
//!
//! ```
//! use fiber_core::scheduler::{Scheduler, Task, TimerKey};
//! use fiber_core::{Context, Fiber, Instant};
//! use std::collections::BTreeMap;
//! use std::hash::{BuildHasher, Hasher, RandomState};
//! use std::sync::atomic::{AtomicU64, Ordering};
//! use std::sync::{Arc, Condvar, Mutex};
//! use std::time::{Duration, SystemTime};
//!
//! struct Queue { began: std::time::Instant, tasks: Mutex<BTreeMap<(Instant, u64), Task>>, keys: AtomicU64, added: Condvar }
//!
//! impl Scheduler for Queue {
//!     fn schedule(&self, task: Task) {
//!         self.schedule_at(self.now(), task);
//!     }
//!     fn schedule_at(&self, at: Instant, task: Task) -> TimerKey {
//!         let key = self.keys.fetch_add(1, Ordering::Relaxed);
//!         self.tasks.lock().unwrap().insert((at, key), task);
//!         self.added.notify_one();
//!         TimerKey::new(key)
//!     }
//!     fn cancel_timer(&self, key: TimerKey) -> bool {
//!         let mut tasks = self.tasks.lock().unwrap();
//!         let place = tasks.keys().find(|(_, other)| *other == key.get()).copied();
//!         let task = place.and_then(|place| tasks.remove(&place));
//!         drop(tasks); // before the task, whose drop may call the scheduler
//!         task.is_some()
//!     }
//!     fn now(&self) -> Instant { Instant::EPOCH + self.began.elapsed() }
//!     fn utc_now(&self) -> SystemTime { SystemTime::now() }
//!     fn random_u64(&self) -> u64 { RandomState::new().build_hasher().finish() }
//!     fn schedule_blocking(&self, task: Task) { std::thread::spawn(|| task.run()); }
//! }
//!
//! impl Queue {
//!     /// Runs the next task, when it is due.
//!     fn turn(&self) {
//!         let mut tasks = self.tasks.lock().unwrap();
//!         let due = loop {
//!             let first = tasks.first_key_value().map(|((at, _), _)| *at);
//!             let now = self.now();
//!             match first {
//!                 Some(at) if at <= now => break tasks.pop_first(),
//!                 Some(at) => tasks = self.added.wait_timeout(tasks, at - now).unwrap().0,
//!                 None => tasks = self.added.wait(tasks).unwrap(),
//!             }
//!         };
//!         drop(tasks);
//!         due.into_iter().for_each(|(_, task)| task.run());
//!     }
//! }
//!
//! let began = std::time::Instant::now();
//! let queue = Arc::new(Queue { began, tasks: Mutex::default(), keys: AtomicU64::new(0), added: Condvar::new() });
//! let root = Context::root(queue.clone());
//! let both = Fiber::delay(Duration::from_millis(2)).zip(Fiber::blocking(|| 6 * 7));
//! let handle = root.spawn(both);
//! while !handle.is_finished() {
//!     queue.turn();
//! }
//! assert_eq!(handle.try_outcome().unwrap().unwrap().1, 42);
//! root.cancel();
//! ```
//!
//! `fiber_test::scheduler_laws!` makes a test of each law that schedulers keep. Everything beyond these seven methods is optional:
//!
//! | to offer | implement |
//! |---|---|
//! | branches that other threads take, stacks, borrowed tasks | [`Worker`], and run tasks by [`Task::run_on`]; [`serve`] for closures that borrow |
//! | fairness between fibers that do not wait | [`Scheduler::checkpoint`] |
//! | counts, dumps, traces | [`Scheduler::observe`], which gets every [`Event`] |
//! | sockets and files | [`Scheduler::net`] and [`Scheduler::files`], with the traits in [`net`] and [`fs`] |
//! | exploring without equivalent orders | [`footprint`] |
//!
//! # A combinator, a step, a wait
//! Most combinators are functions of other combinators, and need nothing from here. Below that are three traits:
//!
//! | trait | is | example |
//! |---|---|---|
//! | [`Run`](crate::Run) | a description, which decides something before its fiber runs | a switch, a limit |
//! | [`Follow`] | a step after an outcome: [`follow_with`](crate::Fiber::follow_with) | a counter of failures |
//! | [`Wait`] | an event that fibers wait for: [`Fiber::wait`](crate::Fiber::wait) | a primitive with a queue |
//!
//! The guide [`extending`](https://docs.rs/fiber-core/latest/fiber_core/guide/extending/) builds one thing on each.

pub use crate::engine::borrow::{is_served, serve};
pub use crate::engine::context::{Cx, WaitsFor, Wakeup};
pub use crate::engine::event::{Ending, Event};
pub use crate::engine::fate::{Fate, Fates};
pub use crate::engine::frames::Waiting;
pub use crate::engine::lend::{BranchDeque, BranchStealer, Progress};
pub use crate::engine::scheduler::{Checkpoint, Scheduler, SwitchPoint, TimerKey, Unobserved, Worker};
#[cfg(feature = "direct")]
pub use crate::engine::stacks::Stacks;
pub use crate::engine::step::{Follow, Step};
pub use crate::engine::subject::{Contents, Subject};
pub use crate::engine::task::{Task, TaskKind, TaskRunner};
pub use crate::leaf::{Leaf, Wait};
pub use crate::recording::{RecordedTurn, TurnKind};

/// The sockets that a scheduler may offer; see [`Scheduler::net`].
pub mod net {
    pub use crate::engine::network::{
        AtSocket, Attempted, DatagramSocket, ListenerSocket, Net, PathListenerSocket, Place, Readiness,
        Socket, StreamOption, StreamSocket, Waking,
    };
}

/// The files that a scheduler may offer; see [`Scheduler::files`].
pub mod fs {
    pub use crate::engine::files::{Files, OpenFile, Opening};
}

/// The shared state that a step of a fiber reads and writes.
///
/// With this, a scheduler for tests need not run two orders that differ only in independent steps. The primitives of
/// [`sync`](crate::sync) and the engine record what they touch. A program records accesses to its own state by
/// [`touch`](footprint::touch) and [`touch_read`](footprint::touch_read). In production no scheduler listens: a touch costs a load
/// and a branch that is never taken.
pub mod footprint {
    pub use crate::footprint::{
        Access, Listening, Object, Side, Touch, Touched, made_by, take, touch, touch_read, touch_unknown,
    };
}
