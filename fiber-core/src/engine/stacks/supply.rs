//! The stacks of a scheduler: a limited number, made on demand and reused.

use std::fmt;
use std::sync::Arc;

use crate::error::counted;
use fiber_stack::Stack;
use parking_lot::Mutex;

/// How many stacks the direct fibers of a scheduler may use at a time, and their size.
///
/// ```
/// use fiber_core::StackSupply;
/// let supply = StackSupply::default().most(100).size(1024 * 1024);
/// assert_eq!(format!("{supply:?}"), "0 of 100 stacks of 1048576 bytes");
/// ```
#[derive(Clone)]
#[must_use = "a supply does nothing until a scheduler has it"]
pub struct StackSupply {
    size: usize,
    most: usize,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    free: Vec<Stack>,
    /// The number of existing stacks, including the free ones.
    made: usize,
}

/// A stack and its guard page are two mappings, and Linux allows a process 65,530 of them.
const DEFAULT_MOST: usize = 16 * 1024;

/// Enough for the calls of most libraries. This is address space: a stack takes memory only for the pages it has used.
const DEFAULT_SIZE: usize = 256 * 1024;

/// The engine itself needs some room, most of all in builds without optimisation.
const SMALLEST: usize = 64 * 1024;

/// No address space has room for a larger one, and its size can be rounded up.
const LARGEST: usize = usize::MAX / 2;

/// The number of free stacks kept for later fibers. Others go back to the system, so that a peak does not keep its memory.
const MOST_KEPT: usize = 1024;

impl Default for StackSupply {
    /// At most 16,384 stacks of 256 KiB.
    fn default() -> Self {
        StackSupply { size: DEFAULT_SIZE, most: DEFAULT_MOST, shared: Arc::default() }
    }
}

impl StackSupply {
    /// The largest number of stacks. Direct fibers beyond that run on threads of their own.
    pub fn most(self, most: usize) -> Self {
        StackSupply { most, ..self }
    }

    /// The size of a stack in bytes, at least 64 KiB, rounded up to pages. A stack takes memory only for the pages it
    /// has used. Where the system has no room for one, direct fibers run on threads of their own.
    pub fn size(self, bytes: usize) -> Self {
        StackSupply { size: bytes.clamp(SMALLEST, LARGEST), ..self }
    }

    /// Takes a free stack, or makes one. `None` if the limit is reached.
    pub(super) fn take(&self) -> Option<Stack> {
        let mut shared = self.shared.lock();
        if let Some(stack) = shared.free.pop() {
            return Some(stack);
        }
        if shared.made >= self.most {
            return None;
        }
        shared.made += 1;
        // Without the lock, because it is a system call.
        drop(shared);
        let stack = Stack::new(self.size).ok();
        if stack.is_none() {
            self.shared.lock().made -= 1;
        }
        stack
    }

    /// Returns a stack to the supply.
    pub(super) fn give(&self, stack: Stack) {
        let mut shared = self.shared.lock();
        if shared.free.len() < MOST_KEPT {
            shared.free.push(stack);
        } else {
            shared.made -= 1;
            drop(shared);
            drop(stack);
        }
    }
}

impl fmt::Debug for StackSupply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made = self.shared.lock().made;
        write!(f, "{made} of {} of {} bytes", counted(self.most, "stack"), self.size)
    }
}
