//! Notes the order of the turns of a pool, for [`Builder::record`](crate::Builder::record).
//!
//! All turns go through one lock, which gives them one order: a turn that begins after another one has ended comes later.
//! Of two that overlap, the one that begins first does.

use std::collections::{HashMap, VecDeque};
use std::thread::{self, ThreadId};

use fiber_core::{Context, RecordedTurn, Recording, Task, TaskKind, TurnKind};
use parking_lot::Mutex;

/// The last turns, up to a number.
pub(crate) struct Recorder {
    capacity: usize,
    log: Mutex<Log>,
}

#[derive(Default)]
struct Log {
    turns: VecDeque<RecordedTurn>,
    /// How many earlier ones were thrown away.
    lost: u64,
    /// In the order in which they were seen first.
    threads: HashMap<ThreadId, u32>,
}

impl Recorder {
    pub(crate) fn new(capacity: usize) -> Self {
        Recorder { capacity, log: Mutex::default() }
    }

    /// A turn begins.
    pub(crate) fn begins(&self, task: &Task) {
        let kind = match task.kind() {
            Some(TaskKind::Start) => TurnKind::Start,
            _ => TurnKind::Resume,
        };
        if let Some(fiber) = task.context().filter(|_| !task.is_void()) {
            self.note(fiber, kind);
        }
    }

    /// A fiber goes on at a bind.
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
