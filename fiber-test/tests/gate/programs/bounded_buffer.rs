//! A buffer for one item, with one notification for both "there is room" and "there is an item". A notification of one
//! fiber may reach the wrong kind: a producer wakes a producer, and all wait.

use std::ops::ControlFlow::{self, Break, Continue};

use fiber_core::Fiber;

use crate::support::{Listener, Notification, Shared};

#[derive(Clone)]
struct Buffer {
    is_full: Shared<bool>,
    changed: Notification,
    tell: fn(&Notification),
}

impl Buffer {
    /// Fills or empties it, as soon as it is in the other state.
    fn change(&self, to_full: bool) -> Fiber<()> {
        let buffer = self.clone();
        let round = move |()| {
            let Buffer { is_full, changed, tell } = buffer.clone();
            is_full.step(move |is_full| {
                if *is_full == to_full {
                    return Err(changed.listen());
                }
                *is_full = to_full;
                tell(&changed);
                Ok(())
            })
        };
        let wait_or_end = |result: Result<(), Listener>| match result {
            Ok(()) => Fiber::success(Break(())).boxed(),
            Err(listener) => listener.wait().map(Continue::<(), ()>).boxed(),
        };
        let round = move |state| -> Fiber<ControlFlow<(), ()>> { round(state).bind(wait_or_end).boxed() };
        Fiber::iterate((), round).boxed()
    }
}

/// Two producers and two consumers, of one item each.
fn program(tell: fn(&Notification)) -> Fiber<()> {
    let buffer = Buffer { is_full: Shared::new(false), changed: Notification::default(), tell };
    Fiber::parallel([true, true, false, false].map(|to_full| buffer.change(to_full))).map(drop).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    program(|changed| {
        changed.notify_one();
    })
}

pub(crate) fn corrected() -> Fiber<()> {
    program(Notification::notify_all)
}
