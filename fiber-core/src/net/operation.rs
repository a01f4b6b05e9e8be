//! One call of a socket as a leaf of a fiber: the call comes first, and the fiber waits only if it would block.

use std::fmt;
use std::io;
use std::panic::Location;

use crate::engine::context::{Cx, WaitsFor, Wakeup};
use crate::engine::network::{Net, Place, Readiness};
use crate::engine::subject::Subject;
use crate::engine::task::Task;
use crate::fiber::Fiber;
use crate::leaf::{Leaf, Wait};
use crate::outcome::Outcome;

/// After so many events that have come to nothing, a fiber lets others run before it tries again. Sockets of the operating system
/// hardly ever come so far; a stream of futures may, if it tells its task to yield.
pub(super) const MOST_ROUNDS: usize = 4;

/// What a fiber does with a socket.
pub trait Operation: Send + Sized + 'static {
    /// The value of a success.
    type Out: Send + 'static;

    /// The kind of wait.
    #[doc(hidden)]
    const WAITS_FOR: WaitsFor;

    /// Does it, if it is possible now. `None`: it waits for [`readiness`](Operation::readiness).
    #[doc(hidden)]
    fn attempt(&mut self, cx: &Cx<'_>) -> Option<Outcome<Self::Out>>;

    /// What it waits for. `None`: it never has to.
    #[doc(hidden)]
    fn readiness(&self) -> Option<&Readiness>;

    /// The socket, for reports.
    #[doc(hidden)]
    fn subject(&self) -> Option<&Subject>;
}

/// The wait of an [`Operation`].
#[derive(Clone)]
pub struct SocketWait<O: Operation> {
    operation: O,
    place: Left,
}

/// Where the wake-up was left. A clone has left none.
struct Left(Option<Place>);

impl Clone for Left {
    fn clone(&self) -> Self {
        Left(None)
    }
}

impl<O: Operation> SocketWait<O> {
    /// A fiber that does the operation.
    pub(super) fn fiber(
        operation: O,
        site: &'static Location<'static>,
    ) -> Fiber<O::Out, Leaf<SocketWait<O>>> {
        Fiber::new(Leaf::new(SocketWait { operation, place: Left(None) }, site))
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
        self.operation.attempt(cx)
    }

    fn register(&mut self, cx: &Cx<'_>, mut wakeup: Wakeup) -> Option<Outcome<O::Out>> {
        for _ in 0..MOST_ROUNDS {
            let readiness = self.operation.readiness().expect("an operation that waits has a socket");
            match readiness.wait(wakeup) {
                Ok(place) => {
                    self.place = Left(Some(place));
                    return None;
                }
                Err(back) => wakeup = back,
            }
            let outcome = self.operation.attempt(cx);
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
    /// A fiber that is abandoned is not asked to deregister.
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

/// Names a socket in reports, if anybody reads them: by its addresses.
pub(super) fn name(cx: &Cx<'_>, subject: &Subject, name: impl FnOnce() -> io::Result<String>) {
    if cx.is_observed()
        && let Ok(name) = name()
    {
        subject.set_name(&name);
    }
}
