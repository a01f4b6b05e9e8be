//! One representative of all schedules that differ only in the order of independent steps (after Abdulla, Aronis, Jonsson, Sagonas:
//! "Optimal dynamic partial order reduction", 2014; `docs/decisions/exploring.md` says what differs).
//!
//! Every run shows which of its steps [could be reversed](causes). Each such pair is one more schedule, in which the later
//! step comes first. A task that was run from a point of the path [sleeps](Sleeper) there: it is not run again until a step has
//! happened that it depends on. So the memory grows with the depth of the program.
//!
//! At the end, a few random walks check these assumptions: what they show must have been seen. Otherwise some step has
//! touched state without declaring it.

mod causes;
mod reduced;
#[cfg(all(test, feature = "proptest"))]
mod tests;
mod wakeup;

use std::collections::HashSet;
use std::sync::Arc;

use super::kinds::Search;
use super::run::Execution;
use super::source::{Open, Planned, Source};
use crate::machine::{Counts, Course, Footprint, Steps, both};
use crate::random::SplitMix64;
use crate::strategy::{Branch, Decided, Guide, RandomWalk, Sleeper, Strategy, Taken};
use causes::{Causes, is_named};
pub(crate) use reduced::Reduced;

/// The number of traces that are distinguished: a few megabytes.
const MAX_TRACES: usize = 100_000;

/// The number of random walks that check for unseen traces.
const WALKS: u32 = 16;

pub(crate) struct Reduction {
    /// The seed of the program's random numbers.
    seed: u64,
    /// The path of the last run.
    path: Vec<Node>,
    /// The tasks that sleep at the last task of the path, and the steps to take after it.
    tree: Vec<Branch>,
    /// The length of the path that the current run was given.
    given: usize,
    state: Progress,
    causes: Causes,
    steps: Option<Box<Steps>>,
    /// Whether the runs depend only on the choices.
    is_sound: bool,
    /// Whether a run could not be guided: fibers had spun for too long, or the program decides something by itself.
    is_broken_off: bool,
    found: Reduced,
    traces: HashSet<u64>,
    random: SplitMix64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// The next run is ready.
    Ready,
    /// A run is in progress.
    UnderWay,
    /// All were run. This many random walks are left to be run, and this many results are outstanding.
    Checks { left: u32, outstanding: u32 },
    /// Everything is done.
    Over,
}

/// A decision on the path.
struct Node {
    taken: Taken,
    sleep: Vec<Sleeper>,
    /// Other steps to take here.
    others: Vec<Branch>,
    /// The objects that the taken step has touched, in all runs.
    touched: Option<Sleeper>,
}

impl From<Decided> for Node {
    fn from(Decided { taken, sleep, others }: Decided) -> Self {
        Node { taken, sleep, others, touched: None }
    }
}

impl Reduction {
    pub(crate) fn new(seed: u64) -> Self {
        Reduction {
            seed,
            path: Vec::new(),
            tree: Vec::new(),
            given: 0,
            state: Progress::Ready,
            causes: Causes::default(),
            steps: None,
            is_sound: true,
            is_broken_off: false,
            found: Reduced::default(),
            traces: HashSet::new(),
            random: SplitMix64::new(seed).split(),
        }
    }

    /// The run that follows the path.
    fn course(&mut self) -> Course {
        self.given = self.path.len();
        let beginning = self.path.iter().map(|node| node.taken).collect();
        let last = self.path.iter().rev().find(|node| matches!(node.taken, Taken::Task(_)));
        let sleep = last.map_or_else(Vec::new, |node| node.sleep.clone());
        let guide = Guide::new(beginning, sleep, std::mem::take(&mut self.tree));
        let steps = Some(self.steps.take().unwrap_or_default());
        Course { strategy: Strategy::Guide(Box::new(guide)), seed: self.seed, steps, ..Course::default() }
    }

    fn learn_run(&mut self, guide: Guide, steps: &Steps) {
        let count = guide.redundant_from.map_or(steps.all().len(), |step| step as usize);
        self.path.extend(guide.decided.into_iter().map(Node::from));
        // The step of the last given decision is the first one that may differ from before.
        let is_task = |node: &&Node| matches!(node.taken, Taken::Task(_));
        let before = self.path[..self.given].iter().filter(is_task).count();
        let new = before.saturating_sub(1);
        self.note_touched(steps, new, count);
        self.causes.learn(steps, count, new);
        if guide.redundant_from.is_some() {
            self.found.redundant += 1;
        } else {
            self.found.traces += 1;
            if self.traces.len() < MAX_TRACES {
                self.traces.insert(self.causes.trace());
            }
        }
        self.found.steps += steps.all().len() as u64;
        self.found.silent += u64::from(steps.silent);
        self.plan_races(steps, new);
    }

    /// Adds the objects that each step has touched to its decision.
    fn note_touched(&mut self, steps: &Steps, new: usize, count: usize) {
        let tasks = self.path.iter_mut().filter(|node| matches!(node.taken, Taken::Task(_)));
        for (node, step) in tasks.zip(&steps.all()[..count]).skip(new) {
            let footprint = steps.footprint(step);
            match &mut node.touched {
                Some(touched) if *touched.footprint == *footprint => {}
                Some(touched) => touched.footprint = union(&touched.footprint, footprint),
                None => {
                    let touches_all = step.touches_all;
                    node.touched =
                        Some(Sleeper { task: step.task, touches_all, footprint: footprint.into() });
                }
            }
        }
    }

    /// Every pair of steps that could be reversed is one more schedule, unless that is already planned or was
    /// run.
    fn plan_races(&mut self, steps: &Steps, new: usize) {
        let Reduction { path, causes, .. } = self;
        let tasks = path.iter().enumerate().filter(|(_, node)| matches!(node.taken, Taken::Task(_)));
        let places: Vec<usize> = tasks.map(|(place, _)| place).collect();
        for (first, last) in causes.races() {
            let (first, last) = (*first as usize, *last as usize);
            let node = &mut path[places[first]];
            let sleeper = node.sleep.iter().find(|sleeper| sleeper.task == steps.all()[last].task);
            let sequence = match sleeper {
                None if last < new => continue,
                _ => causes.without(first, last),
            };
            match sleeper.cloned().filter(|_| sequence.len() == 1) {
                None if last >= new => wakeup::plan(&mut node.others, &node.sleep, sequence, steps, causes),
                None => {}
                // It sleeps, and touches other objects than here. So a step that wakes it goes first.
                Some(sleeper) => {
                    for waker in causes.beside(first, last).filter(|waker| last.max(*waker) >= new) {
                        if sleeper.is_woken_by(&steps.all()[waker], steps) {
                            let mut sequence = causes.without(first, waker);
                            sequence.push(last);
                            wakeup::plan(&mut node.others, &node.sleep, sequence, steps, causes);
                        }
                    }
                }
            }
        }
    }

    /// Returns to the last decision that has another step to take.
    fn advance(&mut self) {
        while let Some(node) = self.path.last_mut() {
            match &mut node.taken {
                Taken::Number { value, most } if *value + 1 < *most => {
                    *value += 1;
                    return;
                }
                Taken::Number { .. } => {}
                Taken::Task(task) => {
                    node.sleep.extend(node.touched.take());
                    while !node.others.is_empty() {
                        let next = node.others.remove(0);
                        if node.sleep.iter().any(|sleeper| sleeper.task == next.task) {
                            continue;
                        }
                        *task = next.task;
                        self.tree = next.next;
                        return;
                    }
                }
            }
            self.path.pop();
        }
        // Without all traces, or if a step belongs to no fiber, nothing can be compared.
        let can_check = self.is_sound && self.traces.len() < MAX_TRACES;
        self.state = match can_check {
            true => Progress::Checks { left: WALKS, outstanding: 0 },
            false => Progress::Over,
        };
    }

    /// A random walk.
    fn walk(&mut self) -> Planned {
        let strategy = Strategy::RandomWalk(RandomWalk::new(self.random.split()));
        let steps = Some(self.steps.take().unwrap_or_default());
        let course = Course { strategy, seed: self.seed, steps, ..Course::default() };
        Planned { course, search: Search::RandomWalk, open: None }
    }

    /// Checks that everything that a random walk shows was seen.
    fn learn_walk(&mut self, steps: Option<Box<Steps>>, counts: Counts) {
        self.found.orders += counts.orders / f64::from(WALKS);
        let Some(steps) = steps else { return };
        self.causes.learn(&steps, steps.all().len(), steps.all().len());
        let is_unknown = is_named(steps.all()) && !self.traces.contains(&self.causes.trace());
        self.found.unknown += u64::from(is_unknown);
        self.is_sound &= !is_unknown;
        self.steps = Some(steps);
    }
}

fn union(one: &Footprint, other: &Footprint) -> Arc<Footprint> {
    let mut all: Vec<_> = one.iter().chain(other).copied().collect();
    all.sort_unstable();
    all.dedup_by(|later, earlier| {
        let is_same = later.0 == earlier.0;
        if is_same {
            earlier.1 = both(earlier.1, later.1);
        }
        is_same
    });
    all.into()
}

impl Source for Reduction {
    fn next(&mut self) -> Option<Planned> {
        match &mut self.state {
            Progress::UnderWay | Progress::Over | Progress::Checks { left: 0, .. } => return None,
            Progress::Checks { left, outstanding } => {
                *left -= 1;
                *outstanding += 1;
                return Some(self.walk());
            }
            Progress::Ready => self.state = Progress::UnderWay,
        }
        Some(Planned { course: self.course(), search: Search::Exhaustive, open: None })
    }

    fn learn(&mut self, _: Option<Open>, execution: &mut Execution) {
        let steps = execution.steps.take();
        if let Some(what) = steps.as_ref().and_then(|steps| steps.unknown) {
            panic!(
                "{what} cannot be explored with reduced(), which has to know what each step touches: leave reduced() out"
            );
        }
        if let Progress::Checks { left, outstanding } = &mut self.state {
            *outstanding -= 1;
            if *left == 0 && *outstanding == 0 {
                self.state = Progress::Over;
            }
            return self.learn_walk(steps, execution.counts);
        }
        self.state = Progress::Ready;
        let strategy = std::mem::take(&mut execution.strategy);
        self.is_sound &= !execution.counts.has_drawn && !execution.counts.is_forced;
        match (strategy, steps) {
            (Strategy::Guide(guide), Some(steps)) => {
                self.is_sound &= !guide.is_off;
                self.is_broken_off |= guide.is_off;
                if !guide.is_off {
                    self.learn_run(*guide, &steps);
                }
                self.steps = Some(steps);
            }
            _ => self.is_sound = false,
        }
        self.advance();
    }

    fn is_complete(&self) -> bool {
        self.state == Progress::Over && self.is_sound
    }

    fn is_broken_off(&self) -> bool {
        self.is_broken_off
    }

    fn reduced(&self) -> Option<Reduced> {
        Some(self.found)
    }
}
