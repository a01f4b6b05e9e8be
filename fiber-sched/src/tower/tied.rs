//! The fiber of a request, as its task sees it.

use std::pin::Pin;
use std::task::{Context, Poll};

use fiber_core::{Error, Handle, Outcome};

/// Waits for the end of the fiber. A drop cancels the fiber, unless that may go on.
#[derive(Debug)]
pub(super) struct Tied {
    end: <Handle<()> as IntoFuture>::IntoFuture,
    /// The fiber, as long as a drop cancels it.
    cancels: Option<fiber_core::Context>,
}

impl Tied {
    pub(super) fn new(fiber: Handle<()>, is_cancelled_by_drop: bool) -> Self {
        let cancels = is_cancelled_by_drop.then(|| fiber.context().clone());
        Tied { end: fiber.into_future(), cancels }
    }

    /// The error with which the fiber has ended. One that has succeeded without giving a response, because `each` has put another fiber in
    /// its place, counts as cancelled.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        Pin::new(&mut self.end).poll(cx).map(|outcome| {
            self.release();
            let ended = if outcome.is_success() { Outcome::Cancelled } else { outcome };
            ended.into_result().expect_err("it has not succeeded")
        })
    }

    /// The fiber ends by itself from now on.
    pub(super) fn release(&mut self) {
        self.cancels = None;
    }
}

impl Drop for Tied {
    fn drop(&mut self) {
        if let Some(fiber) = self.cancels.take() {
            fiber.cancel();
        }
    }
}
