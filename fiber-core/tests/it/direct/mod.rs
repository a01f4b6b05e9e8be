//! Direct fibers: ordinary code that waits.

mod cancelled;
mod elsewhere;
mod explored;
mod laws;
#[cfg(unix)]
mod overflow;
mod pools;
mod threads;
mod waits;

use fiber_core::{Direct, Error, Fiber};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// The events, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// Logs its drop.
    fn on_drop(&self, name: &'static str) -> Noted {
        Noted(self.clone(), name)
    }
}

struct Noted(Log, &'static str);

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.add(format!("{} dropped", self.1));
    }
}

/// A recursion that waits at its deepest point.
fn dig(d: &Direct<'_>, depth: u32) -> Result<u32, Error> {
    if depth == 0 {
        return d.wait(Fiber::delay(SECOND).map(|()| 0));
    }
    let local = [depth; 4];
    Ok(dig(d, depth - 1)? + std::hint::black_box(&local)[0] / depth)
}
