//! [`dump_on_panic`]: the fibers around a panic.

use std::io::{self, Write};
use std::iter::successors;
use std::panic;

use fiber_core::Context;

/// The most fibers of a tree that are printed.
const MOST: usize = 100;

/// From now on, a panic in a fiber prints the tree of the fiber to stderr, after the message: the topmost fiber above it with everything
/// below, and what each of them waits for.
///
/// It adds to the panic hook that is set, and changes nothing for panics outside of fibers. Call it once, at the start of the program,
/// after libraries have set their hooks.
///
/// ```
/// use fiber_core::Fiber;
///
/// fiber_sched::dump_on_panic();
/// let broken = Fiber::lazy(|| panic!("no such order")).named("order");
/// let outcome = fiber_sched::run(broken.fork().bind(|order| order.join()).named("request"));
/// assert!(outcome.is_panicked());
/// ```
///
/// After the message of the panic, it prints
///
/// ```text
/// it is in fiber 0.0 "order", of which this is the tree
/// 2 fibers at 62.1us
///   fiber 0 "request" (forked at src/main.rs:5) waits for the end of fiber 0.0 (wait 1)
///     fiber 0.0 "order" (forked at src/main.rs:5) runs, or is about to
/// ```
///
/// A panic that `catch_panic` handles is printed too, as with any other hook. A fiber that runs in the call of
/// [`Pool::run`](crate::Pool::run) and has not waited yet has no context, and so no tree.
pub fn dump_on_panic() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        before(info);
        if let Some(report) = Context::current().and_then(report) {
            // Whether or not anybody reads it: a panic of the hook would end the process.
            _ = writeln!(io::stderr(), "{report}");
        }
    }));
}

fn report(fiber: Context) -> Option<String> {
    // The last one is the root, which is no fiber.
    let all: Vec<Context> = successors(Some(fiber.clone()), Context::above).collect();
    let top = all.iter().rev().nth(1)?;
    let name = fiber.name().map(|name| format!(" {name:?}")).unwrap_or_default();
    Some(format!("it is in fiber {}{name}, of which this is the tree\n{:.MOST$}", fiber.id(), top.dump()))
}
