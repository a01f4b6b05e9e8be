//! A lock is handed to a fiber that has been cancelled, but has had no turn since: it still looks as if it waited. The lock is then held by
//! no fiber, and no fiber can acquire it.

use std::collections::VecDeque;

use fiber_core::{Fiber, Resume};

use crate::support::{Lock, Shared};

#[derive(Default)]
struct State {
    is_taken: bool,
    queue: VecDeque<Resume<()>>,
}

/// A lock that has to be released by hand, and checks whether the next in the queue still waits.
#[derive(Clone, Default)]
pub(crate) struct AskingLock(Shared<State>);

impl AskingLock {
    pub(crate) fn take(&self) -> Fiber<()> {
        let lock = self.clone();
        Fiber::callback(move |resume| lock.enter(resume)).boxed()
    }

    fn enter(&self, resume: Resume<()>) {
        let resume = self.0.with(|state| {
            if state.is_taken {
                state.queue.push_back(resume);
                return None;
            }
            state.is_taken = true;
            Some(resume)
        });
        resume.into_iter().for_each(|resume| resume.success(()));
    }

    pub(crate) fn release(&self) {
        let next = self.0.with(|state| {
            while let Some(next) = state.queue.pop_front() {
                if !next.is_closed() {
                    return Some(next);
                }
            }
            state.is_taken = false;
            None
        });
        next.into_iter().for_each(|next| next.success(()));
    }

    fn hold(&self) -> Fiber<()> {
        let lock = self.clone();
        self.take().bind(move |()| Fiber::lazy(move || lock.release())).boxed()
    }
}

/// Two fibers hold it; one of them does not wait for longer than a third one takes.
pub(crate) fn program(hold: impl Fn() -> Fiber<()>) -> Fiber<()> {
    let impatient = hold().race(Fiber::success(()).bind(|()| Fiber::success(()))).map(drop);
    let all = Fiber::parallel([hold(), impatient.boxed()]);
    let last = hold();
    all.bind(move |_| last).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    let lock = AskingLock::default();
    program(move || lock.hold())
}

/// The handed-over lock is a value, which frees the lock when it is dropped.
pub(crate) fn corrected() -> Fiber<()> {
    let lock = Lock::default();
    program(move || lock.take().bind(|held| Fiber::lazy(move || drop(held))).boxed())
}
