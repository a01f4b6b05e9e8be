//! Signals of the operating system as fibers.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock, Weak};
use std::thread;

use fiber_core::sync::Notify;
use fiber_core::{Error, Fiber, Run};
use parking_lot::Mutex;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals as Delivered;

/// A signal by which the operating system or its user makes a request of a program. Needs the feature `signal`, and Unix.
///
/// ```no_run
/// use fiber_core::Fiber;
/// use fiber_sched::{Pool, Shutdown, Signal};
/// use std::time::Duration;
///
/// let pool = Pool::new();
/// let _server = pool.spawn(Fiber::<()>::never());
/// pool.run(Signal::Interrupt.received().race(Signal::Terminate.received())).unwrap();
/// let second = Duration::from_secs(1);
/// if let Err(unfinished) = pool.shutdown(Shutdown::within(5 * second).after_draining(20 * second)) {
///     eprintln!("{unfinished}");
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Signal {
    /// Ctrl-C: `SIGINT`.
    Interrupt,
    /// The usual request to end, sent by `kill` and by container managers: `SIGTERM`.
    Terminate,
    /// The terminal is gone; by convention, a service reads its configuration again: `SIGHUP`.
    HangUp,
}

impl Signal {
    const ALL: [Signal; 3] = [Signal::Interrupt, Signal::Terminate, Signal::HangUp];

    /// Waits for the next signal of this kind. A signal that arrives while no fiber waits is lost; for a loop, see
    /// [`subscribe`](Signal::subscribe).
    ///
    /// The first use replaces the default effect of the signal for the rest of the program: the signal then ends the program
    /// only if a fiber makes it do so.
    ///
    /// ```
    /// use fiber_core::{Either, Fiber};
    /// use fiber_sched::Signal;
    ///
    /// let work = Fiber::yield_now().map(|()| "done");
    /// let first = fiber_sched::run(Signal::Terminate.received().race(work)).unwrap();
    /// assert_eq!(first, Either::Right("done"), "no signal has come");
    /// ```
    ///
    /// # Errors
    /// An `io::Error`, if the operating system refuses the handler.
    ///
    /// # Cancellation
    /// The wait ends at once.
    #[track_caller]
    pub fn received(self) -> Fiber<(), impl Run<Out = ()>> {
        Fiber::try_lazy(move || Watcher::of(self)).bind(|watcher| watcher.waiting.wait())
    }

    /// The signals of this kind that arrive from now on, one after the other. None is lost between two waits.
    ///
    /// Like [`received`](Signal::received), it replaces the default effect of the signal. Every subscription gets every signal.
    ///
    /// ```no_run
    /// use fiber_core::{Either, Fiber, fiber};
    /// use fiber_sched::Signal;
    ///
    /// fn reads_its_configuration() -> Fiber<()> {
    ///     Fiber::success(()).boxed()
    /// }
    ///
    /// let (hang_ups, ends) = (Signal::HangUp.subscribe()?, Signal::Terminate.subscribe()?);
    /// let service = fiber! {
    ///     loop {
    ///         let! first = hang_ups.next().race(ends.next());
    ///         match first {
    ///             // A signal that comes meanwhile is the next one.
    ///             Either::Left(()) => do! reads_its_configuration(),
    ///             Either::Right(()) => break,
    ///         }
    ///     }
    /// };
    /// fiber_sched::Pool::new().run(service).unwrap();
    /// # Ok::<(), fiber_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// An `io::Error`, if the operating system refuses the handler.
    #[track_caller]
    pub fn subscribe(self) -> Result<Signals, Error> {
        let arrived = Arc::new(Notify::new());
        Watcher::of(self)?.add(&arrived);
        Ok(Signals { signal: self, arrived })
    }

    fn number(self) -> i32 {
        match self {
            Signal::Interrupt => SIGINT,
            Signal::Terminate => SIGTERM,
            Signal::HangUp => SIGHUP,
        }
    }
}

/// A subscription to one kind of signal: see [`Signal::subscribe`].
pub struct Signals {
    signal: Signal,
    /// Stores a signal that no fiber waits for.
    arrived: Arc<Notify>,
}

impl Signals {
    /// Waits for the next signal. Signals that arrive while no fiber waits count as one, as those do that the operating system has not
    /// delivered yet. Several fibers may wait; each signal wakes one of them.
    ///
    /// ```
    /// use fiber_core::{Either, Fiber};
    /// use fiber_sched::Signal;
    ///
    /// let ends = Signal::Terminate.subscribe()?;
    /// let work = Fiber::yield_now().map(|()| "done");
    /// let first = fiber_sched::run(ends.next().race(work)).unwrap();
    /// assert_eq!(first, Either::Right("done"), "no signal has come");
    /// # Ok::<(), fiber_core::Error>(())
    /// ```
    ///
    /// [`subscribe`](Signal::subscribe) shows a service that waits in a loop.
    ///
    /// # Cancellation
    /// A cancelled fiber has taken no signal, and neither has one that loses a [race](Fiber::race) with another single wait.
    #[track_caller]
    pub fn next(&self) -> Fiber<(), impl Run<Out = ()> + Clone + use<>> {
        // The wait keeps the subscription, which may be dropped meanwhile.
        let subscription = self.arrived.clone();
        self.arrived.wait().map(move |()| drop(subscription))
    }
}

impl fmt::Debug for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Signals").field(&self.signal).finish()
    }
}

/// The waits for one kind of signal. The operating system delivers a signal in a context in which hardly anything is
/// allowed, so a separate thread has to wake the fibers.
struct Watcher {
    /// Those of [`Signal::received`].
    waiting: Notify,
    subscriptions: Mutex<Vec<Weak<Notify>>>,
}

impl Watcher {
    /// The watcher of a signal. The first call starts its thread. After an error, the next call tries again.
    fn of(signal: Signal) -> Result<&'static Arc<Watcher>, Error> {
        static WATCHERS: [OnceLock<Arc<Watcher>>; Signal::ALL.len()] = [const { OnceLock::new() }; _];
        static STARTS: Mutex<()> = Mutex::new(());
        let watcher = &WATCHERS[signal as usize];
        if let Some(watcher) = watcher.get() {
            return Ok(watcher);
        }
        let _starts = STARTS.lock();
        if watcher.get().is_none() {
            let started = Watcher::start(signal);
            _ = watcher.set(started.map_err(|error| Error::new(error).context("waiting for a signal"))?);
        }
        Ok(watcher.get().expect("it was set"))
    }

    fn start(signal: Signal) -> io::Result<Arc<Watcher>> {
        let mut signals = Delivered::new([signal.number()])?;
        let watcher = Arc::new(Watcher { waiting: Notify::new(), subscriptions: Mutex::default() });
        let watching = watcher.clone();
        let watch = move || signals.forever().for_each(|_| watching.arrived());
        thread::Builder::new().name(format!("signal-{signal:?}")).spawn(watch)?;
        Ok(watcher)
    }

    fn arrived(&self) {
        self.waiting.notify_all();
        let subscribed = self.subscribed();
        subscribed.iter().for_each(|subscription| subscription.notify_one());
    }

    fn add(&self, subscription: &Arc<Notify>) {
        // Forgets those that are gone.
        drop(self.subscribed());
        self.subscriptions.lock().push(Arc::downgrade(subscription));
    }

    /// The subscriptions that are not gone.
    fn subscribed(&self) -> Vec<Arc<Notify>> {
        let mut subscriptions = self.subscriptions.lock();
        let alive: Vec<_> = subscriptions.iter().filter_map(Weak::upgrade).collect();
        *subscriptions = alive.iter().map(Arc::downgrade).collect();
        alive
    }
}
