//! [`dump_on_signal`]: the live fibers, when the user asks for them.

use std::io::{self, Write};
use std::thread;

use fiber_core::{Context, Error};
use signal_hook::consts::SIGUSR1;
use signal_hook::iterator::Signals;

/// From now on, `kill -USR1` makes the program print a [dump](Context::dump) of the fibers below `context` to stderr. Needs the feature
/// `signal`, and Unix.
///
/// A thread of its own prints it, so it works while all workers are stuck. Without this call, the signal ends the program. Call it once for
/// each scheduler; the memory of the scheduler then stays until the program ends.
///
/// ```
/// let pool = fiber_sched::Pool::new();
/// fiber_sched::dump_on_signal(pool.context())?;
/// # Ok::<(), fiber_core::Error>(())
/// ```
///
/// # Errors
/// An `io::Error`, if the operating system refuses the handler or the thread.
pub fn dump_on_signal(context: &Context) -> Result<(), Error> {
    let (mut signals, context) = (Signals::new([SIGUSR1])?, context.clone());
    // Whether or not anybody reads it: a panic would end the thread.
    let print = move || signals.forever().for_each(|_| _ = writeln!(io::stderr(), "{}", context.dump()));
    thread::Builder::new().name("signal-dump".to_owned()).spawn(print)?;
    Ok(())
}
