//! A pool whose fibers stay on their workers, [`AffinityPool`].
//!
//! The tag of a fiber's context is the number of its worker. Contexts made below it inherit the tag, and every task
//! goes to the worker of its fiber's tag, whichever thread schedules it: see
//! [`Scheduler::has_places`]. A fiber that changes its tag and yields moves to another worker, which is all that
//! [`OnKey::on`] does.
//!
//! | file | what |
//! |---|---|
//! | `builder` | the settings of a new pool |
//! | `key` | fibers on the worker of a key |
//! | `scheduler` | the `Scheduler` that its fibers see |
//! | `worker` | the threads that run tasks, and their queues |
//! | `inbox` | tasks from other threads; sleeping and waking, with the proof that no wake-up is lost |
//! | `thread` | the `Worker` that a fiber sees |

mod builder;
mod inbox;
mod key;
mod scheduler;
mod thread;
mod worker;

use std::fmt;
use std::hash::Hash;
use std::panic::Location;
use std::sync::Arc;

use fiber_core::scheduler::Scheduler;
use fiber_core::{Context, Dump, Fiber, Group, Handle, Outcome, Run};

pub use self::builder::AffinityBuilder;
pub use self::key::OnKey;
pub(crate) use self::scheduler::AffinityScheduler;
use self::scheduler::KeyHash;
use self::worker::Workers;
use crate::block_on::block_on;
use crate::metrics::Metrics;
use crate::shutdown::{Shutdown, Stops};
use crate::unfinished::Unfinished;

/// A pool of threads, each with fibers of its own. All fibers of a key run on the same worker.
///
/// Use it for state that is divided by a key (an order book per symbol, a session per user), where a
/// [`Pool`](crate::Pool) would make its fibers wait for each other's locks, and would move the state from cache to cache.
/// Rust still wants a lock around state that several fibers share, but no other thread ever holds it here. (State that is not `Send` belongs in a
/// future [`on_this_thread`](crate::on_this_thread).)
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_sched::{AffinityPool, block_on};
/// use std::sync::{Arc, Mutex};
///
/// let pool = AffinityPool::builder().workers(2).build();
/// let prices = Arc::new(Mutex::new(Vec::new())); // of the symbol "ABC"
/// let trades = (1..=3).map(|price| {
///     let prices = prices.clone();
///     pool.spawn_on("ABC", Fiber::lazy(move || prices.try_lock().unwrap().push(price)))
/// });
/// for trade in trades.collect::<Vec<_>>() {
///     assert!(block_on(trade).is_success());
/// }
/// assert_eq!(*prices.lock().unwrap(), [1, 2, 3]);
/// ```
///
/// # Where a fiber runs
/// * A fiber of a key ([`spawn_on`](AffinityPool::spawn_on), [`on`](OnKey::on)) runs on the worker of the key: a number
///   that depends only on the hash of the key and the number of workers. Several keys share a worker.
/// * Its forks, branches and detached fibers run there too, unless they use an `on` of their own.
/// * Any other fiber also stays on one worker: that of the fiber that spawns it. Fibers that are spawned from outside are
///   distributed round-robin.
/// * After a timer, a wake-up by another thread, or a blocking call, a fiber continues on its worker.
///
/// No worker steals, so branches of one fiber do not run at the same time.
///
/// Four things run elsewhere: the closures of [`Fiber::blocking`] and [`Fiber::dedicated`]; the function of a direct fiber, if its worker
/// has no stack free; the fibers that [`Context::spawn_here`](fiber_core::Context::spawn_here) starts, until they wait; and the drop of the
/// closures of a fiber that is cancelled before it has started.
///
/// # Turns
/// A fiber that waits or yields ends its turn. So does a fiber that has spent its budget of 1,024 binds while another
/// one waits for its worker, so an endless loop of binds starves no other fiber. Turns are not cut by time: unlike a
/// `Pool`, this pool has no [quantum](crate::Settings::quantum).
///
/// A closure that computes or blocks for long keeps the other fibers of its worker waiting, with their forks, timers and
/// sockets. No other thread may run them meanwhile, so the pool does not look for stuck workers, and has no counterpart of
/// [`on_stuck`](crate::Settings::on_stuck). The [`metrics`](AffinityPool::metrics) show how many tasks wait for each
/// worker. Long computations and blocking calls belong in [`Fiber::blocking`].
///
/// # Order
/// Fibers of one key that one thread spawns with `spawn_on`, or that one fiber spawns with it or forks on the key
/// (`fiber.on(key).fork()`) while it stays on its worker, *start* in the order in which they were submitted. There are two
/// exceptions. A fork begins on the worker of its parent and moves from there, so a fiber that is spawned with `spawn_on` after it may
/// start before it. A [`join`](Handle::join) on the same worker starts a fiber that has not started.
///
/// Their ends are not ordered: when a fiber waits or yields, the next one runs. Between two waits, no other fiber of its
/// key runs, unless the fiber spends its budget and other fibers take their turns. A closure is
/// thus exclusive among all closures of its key. If a whole fiber has to be exclusive, the next fiber joins it first:
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_sched::{AffinityPool, block_on};
/// use std::time::Duration;
///
/// let pool = AffinityPool::builder().workers(2).build();
/// let slow = pool.spawn_on("ABC", Fiber::delay(Duration::from_millis(1)).map(|()| vec!["first"]));
/// let next = pool.spawn_on("ABC", slow.join().map(|mut done| {
///     done.push("second");
///     done
/// }));
/// assert_eq!(block_on(next).unwrap(), ["first", "second"]);
/// ```
///
/// # Cancellation
/// As with a [`Pool`](crate::Pool): dropping it cancels all remaining fibers and waits until they have ended, finalizers
/// included; then it waits for its threads. [`shutdown`](AffinityPool::shutdown) limits the wait. Fibers that are spawned
/// meanwhile or later end as cancelled.
///
/// # Blocking
/// Dropping it blocks, except in a fiber or blocking closure of its own. In that case the pool ends in the background.
pub struct AffinityPool {
    root: Context,
    scheduler: Arc<AffinityScheduler>,
    is_shut_down: bool,
}

impl AffinityPool {
    /// Makes a pool with one worker for each core.
    ///
    /// # Panics
    /// If the operating system cannot start the threads.
    pub fn new() -> Self {
        AffinityPool::builder().build()
    }

    /// A builder for a pool with other settings.
    pub fn builder() -> AffinityBuilder {
        AffinityBuilder::new()
    }

    /// Runs a fiber on a worker, and waits for its outcome.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let pool = fiber_sched::AffinityPool::builder().workers(2).build();
    /// assert_eq!(pool.run(Fiber::success(6).map(|n| n * 7)).unwrap(), 42);
    /// ```
    ///
    /// # Blocking
    /// Until the fiber has ended.
    ///
    /// # Panics
    /// If it is called in a fiber or blocking closure of the same pool, because it would block their thread. Bind the
    /// fiber there instead.
    #[track_caller]
    pub fn run<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Outcome<T> {
        let inside = self.scheduler.id().enter_blocking("AffinityPool::run");
        let handle = self.root.spawn(fiber);
        drop(inside);
        handle.try_outcome().unwrap_or_else(block_on)
    }

    /// Starts a fiber and returns its handle. Called in a fiber of the pool, it starts the new one on the same worker;
    /// otherwise it distributes the fibers round-robin. The new fiber is not a child of the caller.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let pool = fiber_sched::AffinityPool::builder().workers(2).build();
    /// assert_eq!(fiber_sched::block_on(pool.spawn(Fiber::success(42))).unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn spawn<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Handle<T> {
        self.root.spawn(fiber)
    }

    /// Starts a fiber on the worker of `key` and returns its handle. Fibers of one key that one thread spawns start in this
    /// order.
    ///
    /// Unlike `spawn(fiber.on(key))`, it does not pass through another worker.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::block_on;
    /// use std::thread;
    ///
    /// let pool = fiber_sched::AffinityPool::builder().workers(2).build();
    /// let spawn = || pool.spawn_on("ABC", Fiber::lazy(|| thread::current().id()));
    /// assert_eq!(block_on(spawn()).unwrap(), block_on(spawn()).unwrap());
    /// ```
    #[track_caller]
    pub fn spawn_on<T, R>(&self, key: impl Hash, fiber: Fiber<T, R>) -> Handle<T>
    where
        T: Send + 'static,
        R: Run<Out = T>,
    {
        self.root.spawn_tagged(fiber, Workers::tag(self.worker_of(key)), Location::caller())
    }

    /// A [`Group`] of fibers: they can be cancelled, drained and awaited together, apart from the other fibers of the pool.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::{OnKey, block_on};
    ///
    /// let pool = fiber_sched::AffinityPool::builder().workers(2).build();
    /// let orders = pool.group();
    /// let order = orders.spawn(Fiber::success("placed").on("ABC"));
    /// block_on(orders.drain());
    /// assert_eq!(block_on(order).unwrap(), "placed");
    /// ```
    pub fn group(&self) -> Group {
        self.root.group()
    }

    /// The number of the worker that runs the fibers of `key`, from 0. It is part of the name of the worker's thread.
    ///
    /// ```
    /// let pool = fiber_sched::AffinityPool::builder().workers(2).build();
    /// assert!(pool.worker_of("ABC") < 2);
    /// assert_eq!(pool.worker_of("ABC"), pool.worker_of(String::from("ABC")));
    /// ```
    pub fn worker_of(&self, key: impl Hash) -> usize {
        self.scheduler.worker_of(KeyHash::of(key))
    }

    /// The root context of all fibers of the pool, for spawning without access to the pool and for cancelling all
    /// fibers. Do not [close](Context::close) it: a pool whose root other code has closed stops without waiting for its
    /// fibers.
    pub fn context(&self) -> &Context {
        &self.root
    }

    /// The scheduler of the fibers, for code that takes a [`Scheduler`].
    pub fn scheduler(&self) -> Arc<dyn Scheduler> {
        self.scheduler.clone()
    }

    /// The live fibers of the pool, and what each of them waits for, as data and as text. The pool continues meanwhile; see
    /// [`Dump`] for the consequences.
    ///
    /// ```
    /// use fiber_core::Fiber;
    ///
    /// let pool = fiber_sched::AffinityPool::builder().workers(2).build();
    /// let reader = pool.spawn_on("ABC", Fiber::<()>::never().named("reader"));
    /// assert!(pool.dump().to_string().contains("fiber 0 \"reader\""));
    /// # drop(reader);
    /// ```
    pub fn dump(&self) -> Dump {
        self.root.dump()
    }

    /// The work that the pool has done and its pending work, in the form of [`Pool::metrics`](crate::Pool::metrics). Cheap
    /// enough to be read every second.
    ///
    /// ```
    /// use fiber_core::scheduler::TaskKind;
    /// use fiber_core::Fiber;
    /// use fiber_sched::{AffinityPool, block_on};
    ///
    /// let pool = AffinityPool::builder().workers(2).build();
    /// assert!(block_on(pool.spawn_on("ABC", Fiber::success(()))).is_success());
    /// let metrics = pool.metrics();
    /// assert_eq!(metrics.workers[pool.worker_of("ABC")].tasks(TaskKind::Start), 1);
    /// println!("{metrics}");
    /// ```
    pub fn metrics(&self) -> Metrics {
        self.scheduler.metrics(self.root.live_children())
    }

    /// Ends the pool within time limits, in the steps of [`Pool::shutdown`](crate::Pool::shutdown).
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::{AffinityPool, Shutdown};
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let pool = AffinityPool::builder().workers(2).build();
    /// let request = pool.spawn_on("ABC", Fiber::delay(Duration::from_millis(5)).map(|()| "served"));
    /// pool.shutdown(Shutdown::within(10 * second).after_draining(60 * second)).unwrap();
    /// assert_eq!(request.try_outcome().unwrap().unwrap(), "served");
    /// ```
    ///
    /// # Errors
    /// [`Unfinished`], if fibers or threads have not ended within the limit. It names them, with their fork sites.
    ///
    /// # Cancellation
    /// Like the drop of a pool, but after the time for draining.
    ///
    /// # Blocking
    /// At most for the time to drain and the limit. In a fiber or blocking closure of the same pool, it does not block:
    /// the pool ends in the background, in the same steps, and the error names all live fibers, the caller included.
    pub fn shutdown(mut self, plan: Shutdown) -> Result<(), Unfinished> {
        self.is_shut_down = true;
        plan.begin(&self.root, &self.scheduler)
    }
}

impl Default for AffinityPool {
    fn default() -> Self {
        AffinityPool::new()
    }
}

impl Drop for AffinityPool {
    fn drop(&mut self) {
        if !self.is_shut_down {
            _ = Shutdown::without_limit().begin(&self.root, &self.scheduler);
        }
    }
}

impl fmt::Debug for AffinityPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AffinityPool")
            .field("workers", &self.scheduler.workers().count())
            .field("fibers", &self.root.live_children())
            .finish_non_exhaustive()
    }
}
