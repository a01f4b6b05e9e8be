//! A waiting reader and the events of its socket, under every interleaving that the memory model allows.
//!
//! `RUSTFLAGS="--cfg fiber_loom" cargo test -p fiber-core --lib --release readiness`

use std::io::ErrorKind;
use std::sync::Arc as Plain;
use std::task::{Wake, Waker};

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::{Arc, Notify};

use super::{Attempted, Readiness};
use crate::engine::context::Wakeup;
use crate::primitive::{beside, model_with_a_bound};

/// The operating system's side of a socket: the bytes, each arrival of which it reports once.
struct Socket {
    readiness: Readiness,
    bytes: AtomicUsize,
}

impl Socket {
    fn new() -> Arc<Self> {
        Arc::new(Socket { readiness: Readiness::new(), bytes: AtomicUsize::new(0) })
    }

    fn arrives(&self) {
        self.bytes.fetch_add(1, Ordering::SeqCst);
        self.readiness.event(false).fire();
    }

    /// Reads all bytes that have arrived. `is_short`: the caller learns that no more are there.
    fn try_read(&self, is_short: bool) -> Option<usize> {
        let read = self.readiness.attempt(|| match self.bytes.swap(0, Ordering::SeqCst) {
            0 => Err(ErrorKind::WouldBlock.into()),
            some if is_short => Ok(Attempted::Last(some)),
            some => Ok(Attempted::Done(some)),
        });
        read.map(Result::unwrap)
    }
}

struct Bell(Notify);

impl Wake for Bell {
    fn wake(self: Plain<Self>) {
        self.0.notify();
    }
}

/// Reads this many bytes. If a wake-up is lost, loom reports a deadlock.
fn read_all(socket: &Socket, bytes: usize, is_short: bool) {
    let bell = Plain::new(Bell(Notify::new()));
    let mut left = bytes;
    while left > 0 {
        if let Some(read) = socket.try_read(is_short) {
            left -= read;
        } else if socket.readiness.wait(Wakeup::from(Waker::from(bell.clone()))).is_ok() {
            bell.0.wait();
        }
    }
}

fn two_bytes_arrive(is_short: bool) {
    model_with_a_bound(move || {
        let socket = Socket::new();
        let reader = beside(&socket, move |socket| read_all(socket, 2, is_short));
        socket.arrives();
        socket.arrives();
        reader.join().unwrap();
    });
}

#[test]
fn no_event_is_lost_between_an_attempt_and_a_wait() {
    two_bytes_arrive(false);
}

#[test]
fn no_event_is_lost_after_a_short_read() {
    two_bytes_arrive(true);
}

#[test]
fn who_waits_when_it_stops_is_told() {
    model_with_a_bound(|| {
        let readiness = Arc::new(Readiness::new());
        let waiter = beside(&readiness, |readiness| {
            let bell = Plain::new(Bell(Notify::new()));
            let fails = || readiness.attempt(|| Err::<Attempted<()>, _>(ErrorKind::WouldBlock.into()));
            while fails().is_none() {
                if readiness.wait(Wakeup::from(Waker::from(bell.clone()))).is_ok() {
                    bell.0.wait();
                }
            }
        });
        readiness.stop().fire();
        waiter.join().unwrap();
    });
}
