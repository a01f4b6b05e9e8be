//! The fiber of a request, as its task sees it.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use fiber_core::{Call, Error, Outcome, Resume};

/// Runs the fiber, and waits for its end. A drop cancels the fiber, unless that may go on.
#[derive(Debug)]
pub(super) struct Tied {
    /// `None` at the end of a drop.
    call: Option<Call<()>>,
    is_cancelled_by_drop: bool,
}

impl Tied {
    pub(super) fn new(call: Call<()>, is_cancelled_by_drop: bool) -> Self {
        Tied { call: Some(call), is_cancelled_by_drop }
    }

    /// The error with which the fiber has ended. One that has succeeded without giving a response, because `each` has put another fiber in
    /// its place, counts as cancelled.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        self.poll(cx).map(|outcome| {
            let ended = if outcome.is_success() { Outcome::Cancelled } else { outcome };
            ended.into_result().expect_err("it has not succeeded")
        })
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Outcome<()>> {
        Pin::new(self.call.as_mut().expect("it is there until the drop")).poll(cx)
    }

    /// Ends the fiber, which waits for `last_byte`. What it cannot do at once, the scheduler does.
    pub(super) fn end(mut self, last_byte: Resume<()>) {
        self.is_cancelled_by_drop = false;
        // The task is not woken for what it does here.
        let nobody = &mut Context::from_waker(Waker::noop());
        if self.poll(nobody).is_pending() {
            // A fiber that has been cancelled meanwhile does not need it.
            _ = last_byte.send(());
            _ = self.poll(nobody);
        }
    }
}

impl Drop for Tied {
    fn drop(&mut self) {
        if !self.is_cancelled_by_drop {
            self.call.take().map(Call::release);
        }
    }
}
