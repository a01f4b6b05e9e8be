//! Signals of the operating system as fibers.

use std::io;
use std::sync::{Arc, OnceLock};
use std::thread;

use fiber_core::sync::Notify;
use fiber_core::{Error, Fiber, Run};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

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

    /// Waits for the next signal of this kind.
    ///
    /// The first use replaces the default effect of the signal for the rest of the program: the signal then ends the program
    /// only if a fiber makes it do so. A signal that arrives while no fiber waits is lost.
    ///
    /// # Errors
    /// An `io::Error`, if the operating system refuses the handler.
    ///
    /// # Cancellation
    /// The wait ends at once.
    pub fn received(self) -> Fiber<(), impl Run<Out = ()>> {
        Fiber::defer(move || match Watcher::of(self) {
            Ok(arrivals) => arrivals.wait().boxed(),
            Err(error) => Fiber::fail(error).boxed(),
        })
    }

    fn number(self) -> i32 {
        match self {
            Signal::Interrupt => SIGINT,
            Signal::Terminate => SIGTERM,
            Signal::HangUp => SIGHUP,
        }
    }
}

/// The thread that receives one kind of signal. The operating system delivers a signal in a context in which hardly
/// anything is allowed, so a separate thread has to wake the fibers.
struct Watcher(Result<Notify, Arc<io::Error>>);

impl Watcher {
    /// The notification of a signal. The first call starts the thread.
    fn of(signal: Signal) -> Result<&'static Notify, Error> {
        static WATCHERS: [OnceLock<Watcher>; Signal::ALL.len()] = [const { OnceLock::new() }; _];
        let watcher = WATCHERS[signal as usize].get_or_init(|| Watcher(start(signal).map_err(Arc::new)));
        watcher.0.as_ref().map_err(|error| Error::new(error.clone()).context("waiting for a signal"))
    }
}

fn start(signal: Signal) -> io::Result<Notify> {
    let mut signals = Signals::new([signal.number()])?;
    let arrivals = Notify::new();
    let notified = arrivals.clone();
    let watch = move || signals.forever().for_each(|_| notified.notify_all());
    thread::Builder::new().name(format!("signal-{signal:?}")).spawn(watch)?;
    Ok(arrivals)
}
