use std::fmt;
use std::num::NonZero;
use std::panic::Location;
use std::thread::available_parallelism;

use fiber_core::Context;

use super::scheduler::PoolScheduler;
use super::settings::Settings;
use super::{Pool, idle};
use crate::direct::Supply;
use crate::observer::{Observer, Observers};
use crate::recorder::Recorder;
use crate::runtime::Runtime;

/// Builds a [`Pool`].
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_sched::{Pool, Settings};
///
/// let settings = Settings::new().on_unobserved(|failure| eprintln!("a lost order: {failure}"));
/// let pool = Pool::builder().workers(1).name("orders").settings(settings).build();
/// assert!(pool.run(Fiber::success(())).is_success());
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct Builder {
    pub(super) workers: usize,
    pub(super) name: String,
    pub(super) polls: Option<usize>,
    pub(super) stacks: Supply,
    pub(super) settings: Settings,
    pub(super) runtime: Runtime,
    pub(super) observers: Observers,
}

impl Builder {
    pub(super) fn new() -> Self {
        Builder {
            workers: available_parallelism().map_or(1, NonZero::get).min(idle::MOST_WORKERS),
            name: "fiber".to_owned(),
            polls: None,
            stacks: Supply::default(),
            settings: Settings::new(),
            runtime: Runtime::default(),
            observers: Observers::default(),
        }
    }

    /// How many threads run fibers at a time. The default is the number of cores.
    ///
    /// The pool has one thread more, which runs fibers in the place of a worker that is [stuck](Settings::on_stuck). It
    /// sleeps while the pool is idle.
    ///
    /// # Panics
    /// If `workers` is zero, or more than 8,190.
    #[track_caller]
    pub fn workers(mut self, workers: usize) -> Self {
        assert!(workers > 0, "a pool needs a worker");
        assert!(workers <= idle::MOST_WORKERS, "a pool has at most {} workers", idle::MOST_WORKERS);
        self.workers = workers;
        self
    }

    /// The prefix of the thread names, as in `name-worker-0`. The default is `fiber`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// How many polls, such as instances of epoll, the workers share for their sockets: at most one for each worker. This has an
    /// effect only with the feature `net`. A socket belongs to the poll
    /// of the worker that makes it. With one poll, any idle worker looks after all sockets. With one for each worker, a server
    /// has less to do per request, but sockets whose worker is busy wait until that worker, or an idle one, looks after them.
    ///
    /// ```
    /// use fiber_core::{Fiber, fiber};
    /// use fiber_core::net::{TcpListener, TcpStream};
    /// use fiber_sched::Pool;
    ///
    /// # #[cfg(feature = "net")] {
    /// let pool = Pool::builder().workers(2).polls(1).build();
    /// let greeting = fiber! {
    ///     let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    ///     let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    ///     do! server.write_all("hello\n");
    ///     return! client.buffered().line();
    /// };
    /// assert_eq!(pool.run(greeting).unwrap().as_deref(), Some("hello"));
    /// # }
    /// ```
    ///
    /// # Panics
    /// If `polls` is zero.
    #[track_caller]
    pub fn polls(mut self, polls: usize) -> Self {
        assert!(polls > 0, "sockets need a poll");
        self.polls = Some(polls);
        self
    }

    /// The stacks of its direct fibers; see [`Fiber::direct`](fiber_core::Fiber::direct). The default is 16,384 stacks of 256 KiB.
    ///
    /// ```
    /// use fiber_core::{Fiber, StackSupply};
    /// use fiber_sched::Pool;
    ///
    /// let pool = Pool::builder().workers(1).stacks(StackSupply::default().most(10).size(1024 * 1024)).build();
    /// assert_eq!(pool.run(Fiber::direct(|d| d.wait(Fiber::success(1)))).unwrap(), 1);
    /// ```
    #[cfg(feature = "direct")]
    pub fn stacks(mut self, supply: fiber_core::StackSupply) -> Self {
        self.stacks = supply;
        self
    }

    /// Sets the limits and hooks, which [`Pool::reconfigure`] can change later.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Adds an observer, which sees the events and turns of the fibers. See [`Observer`] for an example.
    ///
    /// ```
    /// use fiber_core::scheduler::Event;
    /// use fiber_core::{Context, Fiber};
    /// use fiber_sched::{Observer, Pool, block_on};
    /// use std::sync::{Arc, Mutex};
    ///
    /// /// The names of the fibers that were cancelled.
    /// #[derive(Default)]
    /// struct Cancelled(Mutex<Vec<String>>);
    ///
    /// impl Observer for Cancelled {
    ///     fn event(&self, fiber: &Context, event: Event<'_>) {
    ///         if let Event::Cancelled = event {
    ///             self.0.lock().unwrap().extend(fiber.name().map(str::to_owned));
    ///         }
    ///     }
    /// }
    ///
    /// let cancelled = Arc::new(Cancelled::default());
    /// let pool = Pool::builder().workers(1).observer(cancelled.clone()).build();
    /// let request = pool.spawn(Fiber::<()>::never().named("request"));
    /// request.cancel_now();
    /// assert!(block_on(request).is_cancelled());
    /// assert_eq!(*cancelled.0.lock().unwrap(), ["request"]);
    /// ```
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.observers = self.observers.with(observer);
        self
    }

    /// Records the order of the turns: which fiber had which turn, on which thread. [`Pool::recording`] gives the last
    /// `capacity` of them, and [`Explore::recorded`](https://docs.rs/fiber-test/latest/fiber_test/struct.Explore.html#method.recorded)
    /// follows them on one thread, to repeat a failure of production in a test.
    ///
    /// A pool that records is slower, and behaves as a test does: every bind is noted under a lock that all threads share,
    /// every branch gets a turn of its own, and none is lent from the stack. Its fibers yield to others as seldom as
    /// usual. A turn takes about a hundred bytes. Without this call, nothing is noted.
    ///
    /// ```
    /// use fiber_core::scheduler::TurnKind;
    /// use fiber_core::Fiber;
    /// use fiber_sched::{Pool, block_on};
    ///
    /// let pool = Pool::builder().workers(1).record(1_000).build();
    /// block_on(pool.spawn(Fiber::success(1).bind(|n| Fiber::success(n + 1)))).unwrap();
    /// let recording = pool.recording().expect("it records");
    /// let turns: Vec<_> = recording.turns().iter().map(|turn| (&*turn.fiber, turn.kind)).collect();
    /// assert_eq!(turns, [("0", TurnKind::Start), ("0", TurnKind::Bind)]);
    /// ```
    ///
    /// # Panics
    /// If `capacity` is zero.
    #[track_caller]
    pub fn record(mut self, capacity: usize) -> Self {
        assert!(capacity > 0, "a recording of 0 turns shows nothing; it has to be at least 1");
        self.observers = self.observers.with_recorder(Recorder::new(capacity));
        self
    }

    /// Lets the futures in the pool's fibers find a tokio runtime, so `tokio::net`, `reqwest`, `sqlx` and `tokio::spawn` work
    /// there. The runtime has to outlive them.
    ///
    /// The runtime serves the sockets, on threads of its own, which wake the pool's workers; each such wake-up costs a
    /// switch of threads. A program that mostly waits for sockets runs its fibers on the runtime itself: see
    /// [`TokioScheduler`](crate::TokioScheduler). A pool beside the runtime suits work that computes.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::Pool;
    /// use std::time::Duration;
    ///
    /// let runtime = tokio::runtime::Runtime::new().unwrap();
    /// let pool = Pool::builder().tokio(runtime.handle().clone()).build();
    /// let sleep = || async { Ok::<_, std::io::Error>(tokio::time::sleep(Duration::from_millis(1)).await) };
    /// assert!(pool.run(Fiber::block(sleep)).is_success());
    /// ```
    #[cfg(feature = "tokio")]
    pub fn tokio(mut self, runtime: tokio::runtime::Handle) -> Self {
        self.runtime = Runtime::of(runtime);
        self
    }

    /// Starts the pool.
    ///
    /// # Panics
    /// If the operating system cannot start the threads.
    #[track_caller]
    pub fn build(self) -> Pool {
        let site = Location::caller();
        let scheduler = PoolScheduler::start(self)
            .unwrap_or_else(|error| panic!("no threads for the pool of {site}: {error}"));
        Pool { root: Context::root(scheduler.clone()), scheduler, is_shut_down: false }
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("workers", &self.workers)
            .field("name", &self.name)
            .field("settings", &self.settings)
            .finish()
    }
}
