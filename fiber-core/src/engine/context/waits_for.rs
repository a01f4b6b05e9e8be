//! The kinds of waits.

use std::fmt;

/// Declares the kinds, each with its text in reports.
macro_rules! waits_for {
    ($($(#[$doc:meta])* $kind:ident: $text:literal,)*) => {
        /// What a fiber waits for, for reports.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum WaitsFor {
            $($(#[$doc])* $kind,)*
        }

        impl WaitsFor {
            const ALL: &[WaitsFor] = &[$(WaitsFor::$kind),*];
        }

        impl fmt::Display for WaitsFor {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(WaitsFor::$kind => $text,)*
                })
            }
        }
    };
}

waits_for! {
    /// Nothing: the fiber runs, or is runnable.
    Nothing: "nothing, it can run",
    /// A timer.
    Timer: "a timer",
    /// The end of a computation to which a test has assigned a duration.
    Computation: "the end of its computation",
    /// The end of a fiber that it joins or cancels.
    Fiber: "the end of another fiber",
    /// The end of its branches or children.
    Children: "the end of its children",
    /// The end of the forks of a [`Scope`](crate::Scope).
    Forks: "the end of the forks of a scope",
    /// A [`Resume`](crate::Resume).
    Callback: "a callback",
    /// A closure on a blocking thread.
    Blocking: "a blocking call",
    /// A future.
    Future: "a future",
    /// A lock that another fiber holds.
    Lock: "a lock",
    /// Permits of a [`Semaphore`](crate::sync::Semaphore).
    Permits: "permits",
    /// An item from a channel.
    Item: "an item",
    /// Room for an item in a channel.
    Room: "room for an item",
    /// A signal from another fiber: a notification, a promise, a barrier, a reply.
    Signal: "a signal",
    /// Data from a socket.
    Data: "data from a socket",
    /// Room for data in a socket.
    Sending: "room for data in a socket",
    /// A connection: to be accepted, or to be made.
    Connection: "a connection",
    /// An event that never happens.
    Never: "nothing that will ever happen (never)",
    /// One of several events, of which the first one ends a [race](crate::Fiber::race).
    Either: "one of several events",
    /// The event of a [`Wait`](crate::scheduler::Wait) from outside the library.
    Other: "an event",
}

impl WaitsFor {
    pub(super) fn from_code(code: u32) -> Self {
        Self::ALL[code as usize]
    }
}
