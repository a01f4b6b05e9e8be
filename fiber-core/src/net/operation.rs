//! One call of a socket as a leaf of a fiber: the call comes first, and the fiber waits only if it would block.

use std::fmt;
use std::io;

use crate::engine::context::{Cx, WaitsFor, Wakeup};
use crate::engine::network::{Net, Place, Readiness};
use crate::engine::subject::Subject;
use crate::engine::task::Task;
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::leaf::{Leaf, Wait};
use crate::outcome::Outcome;

/// After this many wake-ups without progress, a fiber yields before it tries again. Sockets of the operating system
/// hardly ever reach it; a stream of futures may, if it tells its task to yield.
pub(super) const MOST_ROUNDS: usize = 4;

/// An operation of a fiber on a socket.
pub trait Operation: Send + Sized + 'static {
    /// The value of a success.
    type Out: Send + 'static;

    /// The kind of wait.
    #[doc(hidden)]
    const WAITS_FOR: WaitsFor;

    /// The operator, in the trace of a failure.
    #[doc(hidden)]
    fn operator(&self) -> &'static str;

    /// Tries the operation. `None` if it has to wait for [`readiness`](Operation::readiness).
    #[doc(hidden)]
    fn attempt(&mut self, cx: &Cx<'_>) -> Option<Outcome<Self::Out>>;

    /// The readiness to wait for. `None` if it never has to wait.
    #[doc(hidden)]
    fn readiness(&self) -> Option<&Readiness>;

    /// The socket, as reports name it.
    #[doc(hidden)]
    fn subject(&self) -> Option<&Subject>;
}

/// The wait of an [`Operation`].
#[derive(Clone)]
pub struct SocketWait<O: Operation> {
    operation: O,
    site: Site,
    place: Left,
}

/// The place of the wake-up in the readiness. A clone has none.
struct Left(Option<Place>);

impl Clone for Left {
    fn clone(&self) -> Self {
        Left(None)
    }
}

impl<O: Operation> SocketWait<O> {
    /// A fiber that runs the operation.
    pub(crate) fn fiber(operation: O, site: Site) -> Fiber<O::Out, Leaf<SocketWait<O>>> {
        Fiber::new(Leaf::new(SocketWait { operation, site, place: Left(None) }, site))
    }

    /// Tries the operation. A failure passes it.
    fn attempt(&mut self, cx: &Cx<'_>) -> Option<Outcome<O::Out>> {
        let mut outcome = self.operation.attempt(cx);
        if let Some(Outcome::Failure(error)) = &mut outcome {
            error.pass(Frame::new(self.operation.operator(), self.site));
        }
        outcome
    }

    fn leave(&mut self) {
        if let Some(place) = self.place.0.take()
            && let Some(readiness) = self.operation.readiness()
        {
            readiness.leave(place);
        }
    }
}

impl<O: Operation> Wait for SocketWait<O> {
    type Out = O::Out;
    const CAN_LOSE: bool = true;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<O::Out>> {
        // The event has taken the wake-up.
        self.place = Left(None);
        self.attempt(cx)
    }

    fn register(&mut self, cx: &Cx<'_>, mut wakeup: Wakeup) -> Option<Outcome<O::Out>> {
        for _ in 0..MOST_ROUNDS {
            // Without a socket, this side of a race has made no attempt yet, because another side held the race.
            let Some(readiness) = self.operation.readiness() else { break };
            match readiness.wait(wakeup) {
                Ok(place) => {
                    self.place = Left(Some(place));
                    return None;
                }
                Err(back) => wakeup = back,
            }
            if wakeup.is_raced() {
                // The other side may have won. Only a wake-up tells.
                break;
            }
            let outcome = self.attempt(cx);
            if outcome.is_some() {
                return outcome;
            }
        }
        cx.scheduler().schedule(Task::fire(wakeup));
        None
    }

    fn deregister(&mut self, _: &Cx<'_>) {
        self.leave();
    }

    fn waits_for(&self) -> WaitsFor {
        O::WAITS_FOR
    }

    fn waits_at(&self) -> Option<&Subject> {
        self.operation.subject()
    }
}

impl<O: Operation> Drop for SocketWait<O> {
    /// An abandoned fiber does not call `deregister`.
    fn drop(&mut self) {
        self.leave();
    }
}

impl<O: Operation> fmt::Debug for SocketWait<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wait for {}", O::WAITS_FOR)?;
        self.operation.subject().map_or(Ok(()), |subject| write!(f, " at {subject}"))
    }
}

/// The network of the fiber's scheduler.
pub(super) fn network<'a>(cx: &Cx<'a>) -> io::Result<&'a dyn Net> {
    cx.scheduler().net().ok_or_else(none)
}

pub(super) fn none() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "the scheduler of this fiber has no network")
}

/// Names a socket by its addresses, if reports need the name.
pub(super) fn name(cx: &Cx<'_>, subject: &Subject, name: impl FnOnce() -> io::Result<String>) {
    if cx.is_observed()
        && let Ok(name) = name()
    {
        subject.set_name(&name);
    }
}
