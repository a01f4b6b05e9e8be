//! What fibers coordinate with: permits, locks, channels, signals.
//!
//! Every primitive here is a handle: its clones share one state. All are fair: who came first is served first. A waiter
//! that is cancelled leaves its queue at once, and what was already on its way to it goes to the next one, so nothing is
//! lost. No operation runs another fiber on its own stack: it schedules it.
//!
//! * [`operation`]: operations that may have to wait, of fibers and of plain threads.
//! * [`wait_queue`]: the queue of those who wait.
//! * [`permits`]: counted permits.
//! * [`mod@channel`]: items that are handed from fiber to fiber.

mod channel;
mod operation;
mod permits;
mod semaphore;
mod wait_queue;

pub use channel::{
    Channel, Closed, Receiver, Receiving, ReceivingMany, SendError, Sender, Sending, SendingAll,
    TryRecvError, TrySendError,
};
pub use operation::{Attempt, Operation};
pub use semaphore::{Acquire, Permit, Semaphore, TooManyPermits};
