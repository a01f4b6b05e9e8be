//! What an [`Inspector`](crate::Inspector) sees at one moment: the dump, and what its history and earlier samples add to it.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use fiber_core::scheduler::{Subject, WaitsFor};
use fiber_core::{Dump, DumpedFiber, DumpedState, Instant};

use super::history::{History, Holding, Life, Wait};
use super::lane::{Seen, label};

/// A fiber that was cancelled so long ago, and has not ended, is leaked.
const SLOW_END: Duration = Duration::from_secs(5);
/// A fiber that outlives its deadline by so much is leaked.
const LATE: Duration = Duration::from_secs(1);
/// A turn that lasts so long is stuck, unless it is a blocking call.
const LONG_TURN: Duration = Duration::from_millis(100);
/// Ids of fibers that are deeper in the tree are shortened: all ids of a long chain together would be too long.
const DEEPEST: usize = 128;

/// A fiber, or a part of one.
pub(super) struct Row<'a> {
    pub(super) fiber: DumpedFiber<'a>,
    pub(super) id: Rc<str>,
    pub(super) life: Option<Life>,
    /// How long it has been in its present wait.
    pub(super) lasts: Option<Lasts>,
    /// How long ago it was cancelled.
    pub(super) cancelled: Option<Lasts>,
    /// The primitive at which it waits.
    pub(super) primitive: Option<usize>,
    /// How long its turn has lasted, if that is long.
    pub(super) stuck: Option<Duration>,
}

/// For how long something has lasted, and whether it may have lasted longer.
#[derive(Clone, Copy)]
pub(super) struct Lasts {
    pub(super) time: Duration,
    pub(super) is_at_least: bool,
}

/// A primitive at which fibers wait, and who holds it.
pub(super) struct Primitive {
    pub(super) subject: Subject,
    pub(super) holders: Vec<Holder>,
}

pub(super) struct Holder {
    /// `None`: the fiber has ended.
    pub(super) row: Option<usize>,
    pub(super) label: String,
    pub(super) permits: usize,
    pub(super) holding: Holding,
}

/// What was seen of fibers before, by their keys.
#[derive(Default)]
pub(super) struct Memory(HashMap<usize, Known>);

struct Known {
    /// Tells fibers apart that have had the same key, and are below the same fiber.
    index: u32,
    waits: u64,
    since: Instant,
    cancelled: Option<Instant>,
}

impl Memory {
    /// Remembers what this dump shows, and forgets the fibers that have ended.
    pub(super) fn update(&mut self, dump: &Dump) {
        let at = dump.at();
        let mut now = HashMap::with_capacity(self.0.len());
        // By their positions. What is below a fiber that was not there was not there either, though its key and index may have been.
        let mut were_there: Vec<bool> = Vec::with_capacity(dump.len());
        for fiber in dump.fibers() {
            let was_above = fiber.above().is_none_or(|above| were_there[above.position()]);
            let before = self.0.get(&fiber.key()).filter(|_| was_above);
            let before = before.filter(|before| before.index == fiber.index());
            were_there.push(before.is_some());
            let same = before.filter(|before| before.waits == fiber.waits());
            let cancelled = before.and_then(|before| before.cancelled).or(Some(at));
            now.entry(fiber.key()).or_insert(Known {
                index: fiber.index(),
                waits: fiber.waits(),
                since: same.map_or(at, |same| same.since),
                cancelled: cancelled.filter(|_| fiber.is_cancelled()),
            });
        }
        self.0 = now;
    }
}

impl Row<'_> {
    pub(super) fn waits_for(&self) -> Option<WaitsFor> {
        match self.fiber.state() {
            DumpedState::Waiting { what, .. } => Some(what),
            _ => None,
        }
    }

    /// The present wait, if a history knows it.
    pub(super) fn wait(&self) -> Option<&Wait> {
        self.life.as_ref()?.wait.as_ref().filter(|_| self.waits_for().is_some())
    }

    /// The number of permits that it waits for.
    pub(super) fn asks(&self) -> usize {
        self.wait().map_or(1, |wait| wait.asks)
    }

    /// The deadline, if it is not that of the fiber above.
    pub(super) fn own_deadline(&self) -> Option<Instant> {
        let above = self.fiber.above().and_then(|above| above.deadline());
        self.fiber.deadline().filter(|deadline| above != Some(*deadline))
    }

    /// Why the fiber should have ended.
    pub(super) fn leaked(&self, now: Instant) -> Option<&'static str> {
        let is_late = self.own_deadline().is_some_and(|deadline| now - deadline >= LATE);
        let is_slow = self.cancelled.is_some_and(|cancelled| cancelled.time >= SLOW_END);
        match (is_slow, is_late) {
            (true, _) => Some("it was cancelled, and has not ended"),
            (false, true) => Some("its deadline has passed"),
            _ => None,
        }
    }
}

/// The rows of a dump, and the primitives at which they wait.
pub(super) fn rows<'a>(
    dump: &'a Dump,
    history: Option<&History>,
    memory: &Memory,
    threads: &[Seen],
) -> (Vec<Row<'a>>, Vec<Primitive>) {
    let now = dump.at();
    let mut rows: Vec<Row<'a>> = Vec::with_capacity(dump.len());
    for fiber in dump.fibers() {
        let above = fiber.above().map(|above| &*rows[above.position()].id);
        let id = id(&fiber, above);
        rows.push(row(fiber, id, history, memory, now));
    }
    let by_key = by_key(&rows);
    mark_stuck(&mut rows, &by_key, threads, now);
    let primitives = history.map(|history| connect(&mut rows, &by_key, history));
    (rows, primitives.unwrap_or_default())
}

fn id(fiber: &DumpedFiber<'_>, above: Option<&str>) -> Rc<str> {
    match above {
        None => fiber.id().into(),
        Some(_) if fiber.depth() > DEEPEST => format!("..{}", fiber.index()).into(),
        Some(above) => format!("{above}.{}", fiber.index()).into(),
    }
}

fn row<'a>(
    fiber: DumpedFiber<'a>,
    id: Rc<str>,
    history: Option<&History>,
    memory: &Memory,
    now: Instant,
) -> Row<'a> {
    let life = history.and_then(|history| history.life(fiber.key()));
    let known = memory.0.get(&fiber.key());
    let exact = |since: Instant| Lasts { time: now - since, is_at_least: false };
    let seen = |since: Instant| Lasts { time: now - since, is_at_least: true };
    let wait = life.as_ref().and_then(|life| life.wait.as_ref());
    let lasts = wait.map(|wait| exact(wait.since)).or_else(|| known.map(|known| seen(known.since)));
    let cancelled = life.as_ref().and_then(|life| life.cancelled).map(exact);
    let cancelled = cancelled.or_else(|| known.and_then(|known| known.cancelled).map(seen));
    let (waits, is_cancelled) = (matches!(fiber.state(), DumpedState::Waiting { .. }), fiber.is_cancelled());
    Row {
        fiber,
        id,
        life,
        lasts: lasts.filter(|_| waits),
        cancelled: cancelled.filter(|_| is_cancelled),
        primitive: None,
        stuck: None,
    }
}

fn by_key(rows: &[Row<'_>]) -> HashMap<usize, usize> {
    let mut by_key = HashMap::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        // A limit without a context has the key of its fiber, which comes first.
        by_key.entry(row.fiber.key()).or_insert(at);
    }
    by_key
}

fn mark_stuck(rows: &mut [Row<'_>], by_key: &HashMap<usize, usize>, threads: &[Seen], now: Instant) {
    for turn in threads.iter().filter_map(|thread| thread.turn.as_ref()) {
        let time = now - turn.since;
        let row = by_key.get(&turn.fiber.key()).filter(|_| time >= LONG_TURN && !turn.is_blocking_call);
        if let Some(row) = row {
            rows[*row].stuck = Some(time);
        }
    }
}

/// Finds the primitives at which fibers wait, and the rows of their holders.
fn connect(rows: &mut [Row<'_>], by_key: &HashMap<usize, usize>, history: &History) -> Vec<Primitive> {
    let mut places: HashMap<usize, usize> = HashMap::new();
    let mut subjects = Vec::new();
    for row in rows.iter_mut() {
        let Some(subject) = row.wait().and_then(|wait| wait.at.as_ref()) else { continue };
        let place = *places.entry(subject.key()).or_insert_with(|| {
            subjects.push(subject.clone());
            subjects.len() - 1
        });
        row.primitive = Some(place);
    }
    // A part that has ended holds for its fiber, which is found by its id.
    let by_id = LazyCell::new(|| by_id(rows));
    let holder = |holding: Holding| Holder {
        row: by_key.get(&holding.fiber.key()).or_else(|| by_id.get(&*holding.fiber.fiber_id())).copied(),
        label: label(&holding.fiber),
        permits: holding.permits,
        holding,
    };
    let primitive = |subject: Subject| {
        let holders = history.holders(&subject).into_iter().map(holder).collect();
        Primitive { subject, holders }
    };
    subjects.into_iter().map(primitive).collect()
}

fn by_id(rows: &[Row<'_>]) -> HashMap<Rc<str>, usize> {
    rows.iter().enumerate().map(|(at, row)| (row.id.clone(), at)).collect()
}
