//! The network of the operating system, in the polls in which workers sleep.
//!
//! | file | what |
//! |---|---|
//! | `polls` | the polls of a scheduler, and the workers that serve each |
//! | `reactor` | one poll: its sockets, and how a thread waits in it |
//! | `turn` | which thread is in a poll |
//! | `timer` | deadlines finer than the milliseconds of a poll |
//! | `path` | the addresses of Unix sockets |
//! | `peek` | whether a read would return something |
//! | `options` | what mio has no function for |
//! | `socket` | the common part of all sockets; connections of all kinds |
//! | `tcp`, `udp`, `unix`, `pipe` | the sockets that fibers use |
//! | `pidfd` | the end of a process |

#[cfg(target_os = "linux")]
mod options;
#[cfg(not(target_os = "linux"))]
#[path = "no_options.rs"]
mod options;
#[cfg(target_os = "linux")]
mod path;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "no_abstract.rs"]
mod path;
mod peek;
#[cfg(all(feature = "process", target_os = "linux"))]
mod pidfd;
#[cfg(all(feature = "process", unix, not(target_os = "linux")))]
#[path = "no_pidfd.rs"]
mod pidfd;
#[cfg(all(feature = "process", unix))]
mod pipe;
mod polls;
mod reactor;
mod socket;
mod tcp;
#[cfg(target_os = "linux")]
mod timer;
#[cfg(not(target_os = "linux"))]
#[path = "no_timer.rs"]
mod timer;
mod turn;
mod udp;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
#[path = "no_unix.rs"]
mod unix;

#[cfg(all(feature = "process", unix))]
pub(crate) use polls::Here;
pub(crate) use polls::Polls;
pub(crate) use reactor::Happened;
#[cfg(all(feature = "tokio", unix))]
pub(crate) use reactor::Reactor;
