//! The building blocks of the programs under test: a variable, a lock, a notification.
#![allow(dead_code, unreachable_pub, unused_imports, reason = "each test file uses a part of it")]

mod lock;
mod noted;
mod notification;
mod shared;

pub use lock::{Held, Lock};
pub use notification::{Listener, Notification};
pub use shared::Shared;
