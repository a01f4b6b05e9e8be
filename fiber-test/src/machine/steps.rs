//! The steps of a run: which task each of them is, what it touches, and which other step has made it runnable.
//!
//! Everything has a name that is the same in all runs in which the same came before it: a task is called by its context and its
//! number among the tasks of that context, a context by its place in the tree, and a primitive by the step that has made it. The
//! parts of one fiber may run beside each other, if an `async` block polls several, so their tasks are not counted together.

use std::collections::BTreeMap;
use std::ops::Range;

use fiber_core::scheduler::footprint::{self, Access, Side, Touch, Touched};
use fiber_core::scheduler::{Task, TaskKind};
use fiber_core::{Context, Instant};

use super::lane::Lane;
use crate::random::mix;
use crate::strategy::{LaneKey, Lanes};

/// Names a task: the rest of a fiber up to its next scheduling point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TaskId(pub(crate) u64);

/// Something that was touched, and how, in the order of the objects.
pub(crate) type Footprint = [(u64, Access)];

/// One turn.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) task: TaskId,
    pub(crate) lane: Lane,
    /// The step that has made it runnable. `None`: a timer did, or code outside of the machine.
    pub(crate) maker: Option<u32>,
    /// It continues after all steps that have made a commutative change to this object.
    pub(crate) joins: Option<u64>,
    pub(crate) at: Instant,
    /// How often timers were looked at before, which happens when no fiber is runnable.
    pub(crate) round: u32,
    touches: Range<u32>,
    /// It belongs to no fiber, so it may touch anything.
    pub(crate) touches_all: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Steps {
    all: Vec<Step>,
    touches: Vec<(u64, Access)>,
    lanes: Lanes,
    /// How many tasks belonged to no fiber.
    nameless: u32,
    /// The fibers and their parts by the tags of their contexts, also those that have ended.
    tags: BTreeMap<u64, Named>,
    /// How many parts each lane has had.
    parts: Vec<u64>,
    /// What was touched since the step began.
    raw: Vec<(u64, Access)>,
    /// The tasks that continue after all steps that have made a commutative change to an object.
    joining: Vec<(TaskId, u64)>,
    /// Steps that have touched nothing.
    pub(crate) silent: u32,
    round: u32,
    /// Something that does not say what it touches.
    pub(crate) unknown: Option<&'static str>,
}

/// A context.
#[derive(Clone, Copy, Debug)]
struct Named {
    /// Its fiber.
    lane: Lane,
    fiber: LaneKey,
    /// Itself.
    own: u64,
    /// How many tasks of each kind it has had.
    tasks: [u32; KINDS],
}

impl Named {
    const NONE: Named = Named::new(Lane::NONE, LaneKey::NONE, 0);

    const fn new(lane: Lane, fiber: LaneKey, own: u64) -> Self {
        Named { lane, fiber, own, tasks: [0; KINDS] }
    }
}

/// The kinds of tasks that are counted.
const KINDS: usize = 8;

fn number_of(kind: TaskKind) -> usize {
    match kind {
        TaskKind::Start => 0,
        TaskKind::Wake => 1,
        TaskKind::Cancel => 2,
        TaskKind::Timer => 3,
        TaskKind::TimeOut => 4,
        TaskKind::Continue => 5,
        TaskKind::Blocking => 6,
        TaskKind::Compute => 7,
    }
}

/// A side of a fiber, or of a part of one, as an object.
fn object(own: u64, side: u64) -> u64 {
    mix(own ^ mix(side + 0x5157))
}

/// Whether a fiber was cancelled, or one of its parts was.
fn life(fiber: LaneKey) -> u64 {
    object(fiber.number(), side_number(Side::Life))
}

fn side_number(side: Side) -> u64 {
    match side {
        Side::Life => 0,
        Side::End => 1,
        Side::Children => 2,
        Side::Branches => 3,
    }
}

/// The numbers that the children of a fiber get.
const NUMBERS: u64 = 4;
/// The numbers that its parts get.
const PARTS: u64 = 5;

impl Steps {
    /// Forgets the run.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.touches.clear();
        self.lanes.clear();
        self.nameless = 0;
        self.tags.clear();
        self.parts.clear();
        self.raw.clear();
        self.joining.clear();
        self.silent = 0;
        self.round = 0;
        self.unknown = None;
    }

    /// No fiber is runnable, and the timers are checked. This is a new round even at the same instant: a delay of nothing comes
    /// after all who can run.
    pub(crate) fn begin_round(&mut self) {
        self.round += 1;
    }

    pub(crate) fn all(&self) -> &[Step] {
        &self.all
    }

    pub(crate) fn footprint(&self, step: &Step) -> &Footprint {
        &self.touches[step.touches.start as usize..step.touches.end as usize]
    }

    /// A context was made, which is a fiber or a part of one. The one above may have ended, and keeps its name.
    pub(crate) fn created(&mut self, context: &Context, lane: Lane, above: &Context) {
        let Named { lane: above, fiber, .. } = self.tags.get(&above.tag()).copied().unwrap_or(Named::NONE);
        if context.is_structure() {
            let parts = above.index().and_then(|lane| self.parts.get_mut(lane));
            let own = parts.map_or(fiber.number(), |parts| {
                *parts += 1;
                // Not the number of a child: its tasks and its sides are others.
                object(fiber.number(), PARTS + *parts)
            });
            self.raw.push((object(fiber.number(), PARTS), Access::Write));
            self.tags.insert(context.tag(), Named::new(above, fiber, own));
            return;
        }
        self.lanes.created(lane, above);
        self.parts.push(0);
        // Whether the fiber above was cancelled, and which number this one gets.
        self.raw.push((life(fiber), Access::Read));
        self.raw.push((object(fiber.number(), NUMBERS), Access::Write));
        let fiber = self.key(lane);
        self.tags.insert(context.tag(), Named::new(lane, fiber, fiber.number()));
    }

    fn key(&self, lane: Lane) -> LaneKey {
        self.lanes.key(lane).unwrap_or(LaneKey::NONE)
    }

    /// A task can run from now on.
    pub(crate) fn scheduled(&mut self, task: &Task) -> TaskId {
        let kind = number_of(task.kind());
        let named = task.context().and_then(|context| self.tags.get_mut(&context.tag()));
        let (own, count) = match named {
            Some(Named { own, tasks, .. }) => (*own, &mut tasks[kind]),
            None => (LaneKey::NONE.number(), &mut self.nameless),
        };
        *count += 1;
        let task = TaskId(mix(own ^ mix((u64::from(*count) << 8) | kind as u64)));
        self.collect();
        if let Some(place) = self.raw.iter().rposition(|(_, access)| *access == Access::Join) {
            let (children, _) = self.raw.swap_remove(place);
            self.joining.push((task, children));
        }
        task
    }

    /// Takes over what was touched on this thread.
    fn collect(&mut self) {
        let Steps { raw, tags, unknown, .. } = self;
        footprint::take(|Touch { what, access }| {
            let what = match what {
                Touched::Object(number) => number,
                Touched::Unknown(what) => {
                    *unknown = Some(what);
                    return;
                }
                Touched::Fiber(tag, side) => {
                    let Named { fiber, own, .. } = tags.get(&tag).copied().unwrap_or(Named::NONE);
                    if side == Side::Life { life(fiber) } else { object(own, side_number(side)) }
                }
            };
            raw.push((what, access));
        });
    }

    /// What came before the first step is before all steps.
    pub(crate) fn begin(&mut self, task: TaskId, lane: Lane, maker: Option<u32>, at: Instant) {
        let joins = match self.joining.iter().position(|(joining, _)| *joining == task) {
            Some(place) => Some(self.joining.swap_remove(place).1),
            None => None,
        };
        let touches = self.touches.len() as u32..self.touches.len() as u32;
        let touches_all = lane.index().is_none();
        self.collect();
        self.raw.clear();
        self.all.push(Step { task, lane, maker, joins, at, round: self.round, touches, touches_all });
        footprint::made_by(task.0);
    }

    /// The step that runs is over, or there is none.
    pub(crate) fn end(&mut self) {
        self.collect();
        let life = life(self.key(self.all.last().map_or(Lane::NONE, |step| step.lane)));
        let Some(step) = self.all.last_mut() else {
            self.raw.clear();
            return;
        };
        self.silent += u32::from(self.raw.is_empty());
        self.raw.push((life, Access::Read));
        self.raw.retain(|(_, access)| *access != Access::Join);
        self.raw.sort_unstable();
        let start = step.touches.start as usize;
        for (object, access) in self.raw.drain(..) {
            match self.touches[start..].last_mut() {
                Some((last, before)) if *last == object => {
                    // Whether the second of two changes is the last one depends on one more of another step.
                    let is_twice = *before == Access::Commute && access == Access::Commute;
                    *before = if is_twice { Access::LastButOne } else { both(*before, access) };
                }
                _ => self.touches.push((object, access)),
            }
        }
        step.touches.end = self.touches.len() as u32;
    }
}

/// Two accesses of one step to the same object.
pub(crate) fn both(one: Access, other: Access) -> Access {
    match (one, other) {
        (Access::Commute, Access::LastButOne) | (Access::LastButOne, Access::Commute) => Access::LastButOne,
        _ if one == other => one,
        _ => Access::Write,
    }
}

/// Whether a step that was seen before another one may behave differently after it.
///
/// One that was not the last to count something down may be the last after it, the more so if it counts down by more than one.
pub(crate) fn may_change(before: &Footprint, by: &Footprint) -> bool {
    let (mut one, mut other) = (before.iter(), by.iter());
    let (mut left, mut right) = (one.next(), other.next());
    while let (Some((a, access)), Some((b, by))) = (left, right) {
        let may_be_last = *access == Access::LastButOne || *by == Access::LastButOne;
        if a == b && (may_be_last || access.depends_on(*by)) {
            return true;
        }
        if a <= b {
            left = one.next();
        }
        if b <= a {
            right = other.next();
        }
    }
    false
}
