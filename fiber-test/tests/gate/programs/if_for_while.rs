//! Waits until there is an item, and takes it without checking again: another fiber may have been faster.

use std::ops::ControlFlow::{self, Break, Continue};

use fiber_core::Fiber;

use crate::support::{Listener, Notification, Shared};

#[derive(Clone, Default)]
struct Queue {
    items: Shared<i32>,
    filled: Notification,
}

impl Queue {
    fn put(&self) -> Fiber<()> {
        let Queue { items, filled } = self.clone();
        let put = items.step(move |items| {
            *items += 1;
            filled.notify_all();
        });
        put.boxed()
    }

    /// A listener for an item, if there is none.
    fn look(&self) -> Fiber<Option<Listener>> {
        let Queue { items, filled } = self.clone();
        items.step(move |items| (*items == 0).then(|| filled.listen())).boxed()
    }

    /// Takes an item, or nothing if there is none.
    fn try_take(&self) -> Fiber<bool> {
        let take = self.items.step(|items| {
            let is_there = *items > 0;
            *items -= i32::from(is_there);
            is_there
        });
        take.boxed()
    }

    fn wait(&self) -> Fiber<()> {
        let wait = |listener: Option<Listener>| match listener {
            Some(listener) => listener.wait(),
            None => Fiber::success(()).boxed(),
        };
        self.look().bind(wait).boxed()
    }

    fn take_once(&self) -> Fiber<()> {
        let queue = self.clone();
        let take = self.wait().bind(move |()| queue.try_take());
        take.map(|is_there| assert!(is_there, "took from an empty queue")).boxed()
    }

    fn take_again(&self) -> Fiber<()> {
        let queue = self.clone();
        let round = move |()| -> Fiber<ControlFlow<(), ()>> {
            let taking = queue.clone();
            let take = queue.wait().bind(move |()| taking.try_take());
            take.map(|is_there| if is_there { Break(()) } else { Continue(()) }).boxed()
        };
        Fiber::iterate((), round).boxed()
    }
}

/// Two takers, and one fiber that puts twice.
fn program(take: fn(&Queue) -> Fiber<()>) -> Fiber<()> {
    let queue = Queue::default();
    let again = queue.put();
    let put = queue.put().bind(move |()| again).boxed();
    Fiber::parallel([take(&queue), take(&queue), put]).map(drop).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    program(Queue::take_once)
}

pub(crate) fn corrected() -> Fiber<()> {
    program(Queue::take_again)
}
