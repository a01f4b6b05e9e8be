//! The kinds of waits.

use std::fmt;

/// What a fiber waits for, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum WaitsFor {
    /// Nothing: the fiber runs, or is runnable.
    Nothing = 0,
    /// A timer.
    Timer,
    /// The end of a computation to which a test has assigned a duration.
    Computation,
    /// The end of a fiber that it joins or cancels.
    Fiber,
    /// The end of its branches or children.
    Children,
    /// The end of the forks of a [`Scope`](crate::Scope).
    Forks,
    /// A [`Resume`](crate::Resume).
    Callback,
    /// A closure on a blocking thread.
    Blocking,
    /// A future.
    Future,
    /// A lock that another fiber holds.
    Lock,
    /// Permits of a [`Semaphore`](crate::sync::Semaphore).
    Permits,
    /// An item from a channel.
    Item,
    /// Room for an item in a channel.
    Room,
    /// A signal from another fiber: a notification, a promise, a barrier.
    Signal,
    /// Data from a socket.
    Data,
    /// Room for data in a socket.
    Sending,
    /// A connection: to be accepted, or to be made.
    Connection,
    /// An event that never happens.
    Never,
    /// One of two events, of which one ends a [race](crate::Fiber::race).
    Either,
    /// The event of a [`Wait`](crate::scheduler::Wait) from outside the library.
    Other,
}

impl WaitsFor {
    const ALL: [WaitsFor; 20] = [
        WaitsFor::Nothing,
        WaitsFor::Timer,
        WaitsFor::Computation,
        WaitsFor::Fiber,
        WaitsFor::Children,
        WaitsFor::Forks,
        WaitsFor::Callback,
        WaitsFor::Blocking,
        WaitsFor::Future,
        WaitsFor::Lock,
        WaitsFor::Permits,
        WaitsFor::Item,
        WaitsFor::Room,
        WaitsFor::Signal,
        WaitsFor::Data,
        WaitsFor::Sending,
        WaitsFor::Connection,
        WaitsFor::Never,
        WaitsFor::Either,
        WaitsFor::Other,
    ];

    pub(super) fn from_code(code: u32) -> Self {
        Self::ALL[code as usize]
    }
}

impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WaitsFor::Nothing => "nothing, it can run",
            WaitsFor::Timer => "a timer",
            WaitsFor::Computation => "the end of its computation",
            WaitsFor::Fiber => "the end of another fiber",
            WaitsFor::Children => "the end of its children",
            WaitsFor::Forks => "the end of the forks of a scope",
            WaitsFor::Callback => "a callback",
            WaitsFor::Blocking => "a blocking call",
            WaitsFor::Future => "a future",
            WaitsFor::Lock => "a lock",
            WaitsFor::Permits => "permits",
            WaitsFor::Item => "an item",
            WaitsFor::Room => "room for an item",
            WaitsFor::Signal => "a signal",
            WaitsFor::Data => "data from a socket",
            WaitsFor::Sending => "room for data in a socket",
            WaitsFor::Connection => "a connection",
            WaitsFor::Never => "nothing that will ever happen (never)",
            WaitsFor::Either => "one of two events",
            WaitsFor::Other => "an event",
        })
    }
}
