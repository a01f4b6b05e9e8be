//! The hand-overs of a branch, under every interleaving that the memory model allows.
//!
//! `RUSTFLAGS="--cfg fiber_loom" cargo test -p fiber-core --lib --release`

use std::sync::atomic::{AtomicUsize as Plain, Ordering::Relaxed};
use std::task::{Wake, Waker};

use loom::model;
use loom::sync::Arc;
use loom::thread;

use crate::combine::fork::result_cell::ResultCell;
use crate::engine::context::Wakeup;
use crate::outcome::Outcome;

/// Counts how often it was fired.
#[derive(Default)]
struct Bell(Plain);

impl Wake for Bell {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

fn bell() -> (std::sync::Arc<Bell>, Wakeup) {
    let bell = std::sync::Arc::new(Bell::default());
    (bell.clone(), Wakeup::from(Waker::from(bell)))
}

#[test]
fn who_waits_while_the_fiber_ends_is_told_or_sees_it() {
    model(|| {
        let cell = Arc::new(ResultCell::default());
        let fiber = thread::spawn({
            let cell = cell.clone();
            move || assert!(!cell.complete(Outcome::Success(Box::new(7))))
        });
        let (bell, wakeup) = bell();
        let waits = cell.wait(wakeup).is_ok();
        let seen = if waits { None } else { cell.take() };
        fiber.join().unwrap();
        if waits {
            assert_eq!(bell.0.load(Relaxed), 1);
            assert_eq!(cell.take().and_then(Outcome::success).as_deref(), Some(&7));
        } else {
            assert_eq!(seen.and_then(Outcome::success).as_deref(), Some(&7));
        }
    });
}

#[test]
fn one_who_leaves_while_the_fiber_ends_takes_nobody_else_s_wake_up() {
    model(|| {
        let cell = Arc::new(ResultCell::<u8>::default());
        let (stays, staying) = bell();
        let (_, leaving) = bell();
        assert!(cell.wait(staying).is_ok());
        let key = cell.wait(leaving).expect("the fiber has not ended");
        let fiber = thread::spawn({
            let cell = cell.clone();
            move || assert!(!cell.complete(Outcome::Cancelled))
        });
        cell.unwait(key);
        fiber.join().unwrap();
        assert_eq!(stays.0.load(Relaxed), 1);
    });
}

#[test]
fn an_outcome_that_nobody_takes_is_dropped_with_the_cell() {
    model(|| {
        let value = Arc::new(());
        let cell = Arc::new(ResultCell::default());
        let fiber = thread::spawn({
            let (cell, value) = (cell.clone(), value.clone());
            move || assert!(!cell.complete(Outcome::Success(value)))
        });
        drop(cell);
        fiber.join().unwrap();
        assert_eq!(Arc::strong_count(&value), 1);
    });
}
