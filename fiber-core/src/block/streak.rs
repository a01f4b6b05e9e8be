//! Futures and streams of the library that succeed at once, again and again.

use std::task::{Context, Poll};

/// The number of polls in a row that have not had to wait. A future whose polls never have to wait would keep its thread, and would not notice
/// its cancellation.
#[derive(Debug, Default)]
pub(crate) struct Streak(u8);

/// As many operations as a task of tokio may do before it yields.
const LONGEST: u8 = 128;

impl Streak {
    /// Polls, unless the streak is too long: then the future is woken at once, and polled again after others.
    #[inline]
    pub(crate) fn poll<T>(
        &mut self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        if self.0 == LONGEST {
            self.0 = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let polled = poll(cx);
        self.0 = if polled.is_ready() { self.0 + 1 } else { 0 };
        polled
    }
}
