use std::fmt;
use std::panic::Location;

use crate::engine::context::{Cx, WaitsFor, Wakeup};
use crate::engine::fate::{ITEM, dropped};
use crate::engine::side::Single;
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::error::Frame;
use crate::fiber::Fiber;
use crate::footprint::is_listening;
use crate::leaf::{self, Leaf, Receiver, Resume, Wait, cancelled_or, is_abandoned};
use crate::outcome::Outcome;

/// A single value from one fiber to another: a handle to send it, and a fiber that waits for it.
///
/// ```
/// use fiber_core::{Fiber, Resume, sync::one_shot};
///
/// struct Request { number: u32, reply: Resume<u32> }
///
/// let (reply, answer) = one_shot();
/// let request = Request { number: 6, reply };
/// let server = Fiber::lazy(move || request.reply.send(request.number * 7));
/// assert_eq!(fiber_sched::run(answer.zip(server)).unwrap(), (42, Ok(())));
/// ```
///
/// The value need not be [`Clone`]. The fiber can be run once, like any fiber that is not `Clone`.
///
/// # Errors
/// The fiber fails with [`Abandoned`](crate::error::Abandoned) if the [`Resume`] is dropped unused.
///
/// # Cancellation
/// The wait ends at once. [`Resume::send`] returns a value that is sent afterwards: the sender ends the wait
/// first, and moves the value only if the wait had not been cancelled. The same holds if the fiber is dropped.
///
/// A value that was sent earlier arrives: the fiber succeeds with it, even if it is cancelled before it begins to wait. It is dropped
/// only together with an answer that is never run, or that has lost a race. To know that a value was received, send it through a
/// [rendezvous](super::Channel::rendezvous).
#[doc(alias = "oneshot")]
#[track_caller]
pub fn one_shot<T: Send + 'static>() -> (Resume<T>, Fiber<T, impl Run<Out = T>>) {
    one_shot_at(Location::caller())
}

/// For combinators built on this one: `site` is the place where the user calls them.
pub(super) fn one_shot_at<T: Send + 'static>(
    site: &'static Location<'static>,
) -> (Resume<T>, Fiber<T, Leaf<Reply<T>>>) {
    let (sender, receiver) = leaf::one_shot();
    (Resume::of(sender), Fiber::new(Leaf::new(Reply { receiver, site }, site)))
}

/// The wait of [`one_shot`].
pub(crate) struct Reply<T> {
    receiver: Receiver<T>,
    site: &'static Location<'static>,
}

impl<T> Reply<T> {
    /// The outcome that has arrived.
    fn given(&self, outcome: Outcome<T>, cx: &Cx<'_>) -> Outcome<T> {
        self.passed(cancelled_or(outcome, Some(cx)))
    }

    fn passed(&self, outcome: Outcome<T>) -> Outcome<T> {
        outcome.passed(Frame::new("one_shot", self.site))
    }
}

impl<T: Send + 'static> Wait for Reply<T> {
    type Out = T;
    const CAN_LOSE: bool = true;
    const SINGLE: Single = Single::REFUSES;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<T>> {
        let outcome = self.receiver.take()?;
        Some(self.given(outcome, cx))
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<T>> {
        let outcome = self.receiver.take_or_wait(wakeup)?;
        Some(self.given(outcome, cx))
    }

    /// The wake-up stays, so that a value which is sent now is refused: its wait is over.
    fn deregister(&mut self, _: &Cx<'_>) {}

    /// A dropped [`Resume`] has sent nothing, so the fiber is cancelled, as it is at every other wait.
    fn close(&mut self) -> Option<Outcome<T>> {
        let sent = self.receiver.close().filter(|outcome| !is_abandoned(outcome));
        sent.map(|outcome| self.passed(outcome))
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Signal
    }
}

impl<T> Drop for Reply<T> {
    /// A fiber that never runs, was cancelled, or has lost a race, no longer wants the value.
    fn drop(&mut self) {
        let unwanted = self.receiver.close();
        if let Some(Outcome::Success(_)) = unwanted
            && is_listening()
        {
            dropped(&Subject::new("one-shot", self.site), 1, ITEM, "with its answer, which no longer waited");
        }
    }
}

impl<T> fmt::Debug for Reply<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one-shot at {}", self.site)
    }
}
