//! Records the order of the turns of a pool, for [`Builder::record`](crate::Builder::record).
//!
//! All turns pass through one lock, which orders them by their beginnings: a turn that begins after another one has ended
//! comes later; of two that overlap, the one that begins first comes first.

use std::collections::{HashMap, VecDeque};
use std::thread::{self, ThreadId};

use fiber_core::scheduler::{RecordedTurn, Task, TaskKind, TurnKind};
use fiber_core::{Context, Recording};
use parking_lot::Mutex;

/// The latest turns, up to a maximum number.
pub(crate) struct Recorder {
    capacity: usize,
    log: Mutex<Log>,
}

#[derive(Default)]
struct Log {
    turns: VecDeque<RecordedTurn>,
    /// The number of earlier turns that were discarded.
    lost: u64,
    /// Each thread gets the next number when its first turn begins.
    threads: HashMap<ThreadId, u32>,
}

impl Recorder {
    pub(crate) fn new(capacity: usize) -> Self {
        Recorder { capacity, log: Mutex::default() }
    }

    /// A turn begins.
    pub(crate) fn begins(&self, task: &Task) {
        let kind = match task.kind() {
            TaskKind::Start => TurnKind::Start,
            _ => TurnKind::Resume,
        };
        if let Some(fiber) = task.context().filter(|_| !task.is_void()) {
            self.note(fiber, kind);
        }
    }

    /// A fiber continues at a bind.
    pub(crate) fn goes_on(&self, fiber: &Context) {
        self.note(fiber, TurnKind::Bind);
    }

    fn note(&self, fiber: &Context, kind: TurnKind) {
        let fiber = fiber.fiber_id();
        let mut log = self.log.lock();
        let next = log.threads.len() as u32;
        let thread = *log.threads.entry(thread::current().id()).or_insert(next);
        if log.turns.len() == self.capacity {
            log.turns.pop_front();
            log.lost += 1;
        }
        log.turns.push_back(RecordedTurn { thread, fiber, kind });
    }

    pub(crate) fn recording(&self) -> Recording {
        let log = self.log.lock();
        Recording::new(log.turns.iter().cloned().collect(), log.lost)
    }
}
