//! All schedules, those with few preemptions before those with more (Musuvathi, Qadeer: "Iterative context bounding for
//! systematic testing of multithreaded programs", 2007).
//!
//! A schedule is a prefix, after which each fiber runs until it waits. One that was run shows where it could have gone another way past
//! its prefix: every such choice is one more schedule. They are run depth first, in passes: the first one without preemptions,
//! the next one with at most one, and so on. So what is remembered grows with the depth of the program and not with the number of its schedules.
//!
//! A pass goes through the schedules of the passes before it, to find what is behind them. As long as there is room, it is remembered what they
//! showed; later, they are run again. Once a pass has fewer new schedules than all before it together, the next one has no bound.

use std::collections::BTreeMap;

use super::kinds::Search;
use super::run::Execution;
use super::source::{Open, Planned, Source};
use crate::machine::{Course, OpenFaults};
use crate::random::SplitMix64;
use crate::schedule::Deviation;
use crate::strategy::{Point, Step, Strategy};

/// The number of schedules that are run before their results are used, so that several threads have work.
const MAX_OUTSTANDING: usize = 64;

/// The number of decisions that are stored for schedules that a later pass repeats: a few megabytes.
const MAX_KNOWN: usize = 200_000;

pub(crate) struct Enumeration {
    random: SplitMix64,
    /// Where the program's random numbers start.
    seed: u64,
    max_preemptions: usize,
    pass: Option<Pass>,
    /// What was run and is to be gone through, the deepest last.
    stack: Vec<Node>,
    outstanding: usize,
    known: BTreeMap<Vec<Step>, Vec<Point>>,
    known_points: usize,
    /// Whether nothing but the choices makes a difference.
    is_sound: bool,
    is_over: bool,
    /// Whether the decisions of a run could not be repeated.
    is_broken_off: bool,
    /// The preemptions of the first pass.
    first: usize,
    /// Faults of the network, each a choice like a random number.
    faults: OpenFaults,
}

struct Pass {
    preemptions: usize,
    /// Schedules with at most this many preemptions were run in earlier passes.
    before: Option<usize>,
    is_begun: bool,
    /// Whether something was left out that has more preemptions.
    is_cut: bool,
    new: u64,
    old: u64,
}

/// A schedule that was run.
struct Node {
    prefix: Vec<Step>,
    preemptions: usize,
    /// Where it could have gone another way.
    points: Vec<Point>,
    /// How many ways of the last point were taken.
    taken: u32,
}

impl Enumeration {
    pub(crate) fn new(seed: u64, max_preemptions: Option<u32>) -> Self {
        Enumeration {
            random: SplitMix64::new(seed).split(),
            seed,
            max_preemptions: max_preemptions.map_or(usize::MAX, |most| most as usize),
            pass: None,
            stack: Vec::new(),
            outstanding: 0,
            known: BTreeMap::new(),
            known_points: 0,
            is_sound: true,
            is_over: false,
            is_broken_off: false,
            first: 0,
            faults: OpenFaults::default(),
        }
    }

    /// Before each turn, one of these may happen.
    pub(crate) fn with_faults(self, faults: OpenFaults) -> Self {
        Enumeration { faults, ..self }
    }

    /// Begins with a pass of at most this many preemptions instead of none.
    pub(crate) fn from(self, preemptions: usize) -> Self {
        Enumeration { first: preemptions, ..self }
    }

    /// The next schedule to be run.
    pub(crate) fn open(&mut self) -> Option<Open> {
        while self.outstanding < MAX_OUTSTANDING && !self.is_over {
            let Some((prefix, preemptions)) = self.next_prefix() else {
                if self.outstanding > 0 {
                    return None;
                }
                self.next_pass();
                continue;
            };
            let before = self.pass.as_ref().and_then(|pass| pass.before);
            let is_new = before.is_none_or(|before| preemptions > before);
            match self.known.get(&prefix).filter(|_| !is_new) {
                Some(points) => {
                    let points = points.clone();
                    self.push(prefix, preemptions, points);
                }
                None => {
                    self.outstanding += 1;
                    return Some(Open { prefix, preemptions, is_new });
                }
            }
        }
        None
    }

    /// Whether it has to learn from the schedules that it has given before it can give the rest.
    pub(crate) fn is_waiting(&self) -> bool {
        self.outstanding > 0 && self.is_sound
    }

    /// All of one pass was run.
    fn next_pass(&mut self) {
        let next = match &self.pass {
            None => {
                let preemptions = self.first.min(self.max_preemptions);
                Pass { preemptions, before: None, is_begun: false, is_cut: false, new: 0, old: 0 }
            }
            Some(pass) if !pass.is_cut || pass.preemptions >= self.max_preemptions => {
                self.is_over = true;
                return;
            }
            Some(pass) => {
                let is_last = pass.old > 0 && pass.new < pass.old;
                let preemptions = if is_last { self.max_preemptions } else { pass.preemptions + 1 };
                let (before, old) = (Some(pass.preemptions), pass.old + pass.new);
                Pass { preemptions, before, is_begun: false, is_cut: false, new: 0, old }
            }
        };
        self.pass = Some(next);
    }

    /// One more choice than something that was run.
    fn next_prefix(&mut self) -> Option<(Vec<Step>, usize)> {
        let pass = self.pass.as_mut()?;
        if !pass.is_begun {
            pass.is_begun = true;
            return Some((Vec::new(), 0));
        }
        while let Some(node) = self.stack.last_mut() {
            let Some(point) = node.points.last() else {
                self.stack.pop();
                continue;
            };
            let Some((decision, cost)) = other_way(point, node.taken) else {
                node.points.pop();
                node.taken = 0;
                continue;
            };
            node.taken += 1;
            let preemptions = node.preemptions + cost;
            if preemptions > pass.preemptions {
                pass.is_cut = true;
                continue;
            }
            let mut prefix = node.prefix.clone();
            // The bound of a number is the same in all runs.
            let choices = if decision.is_number() { 0 } else { point.choices };
            prefix.push(Step { decision, choices });
            return Some((prefix, preemptions));
        }
        None
    }

    fn push(&mut self, prefix: Vec<Step>, preemptions: usize, mut points: Vec<Point>) {
        for at in (1..points.len()).rev() {
            points.swap(at, self.random.below(at + 1));
        }
        self.stack.push(Node { prefix, preemptions, points, taken: 0 });
    }

    /// A schedule was run.
    pub(crate) fn learn(&mut self, open: Open, execution: &mut Execution) {
        self.outstanding -= 1;
        if let Some(pass) = &mut self.pass {
            pass.new += u64::from(open.is_new);
        }
        self.is_sound &=
            !(execution.counts.has_drawn || execution.counts.is_forced || execution.counts.leaves_out);
        let strategy = std::mem::take(&mut execution.strategy);
        let points = match strategy {
            Strategy::Script(script) => script.into_points(),
            _ => None,
        };
        let Some(points) = points else {
            self.is_sound = false;
            self.is_broken_off = true;
            return;
        };
        if open.is_new && self.known_points + points.len() <= MAX_KNOWN {
            self.known_points += points.len();
            self.known.insert(open.prefix.clone(), points.clone());
        }
        self.push(open.prefix, open.preemptions, points);
    }
}

/// One of the ways that were not taken at a point, and whether it costs a preemption.
fn other_way(point: &Point, number: u32) -> Option<(Deviation, usize)> {
    let Point { turn, usual, choices, is_preemption, may_be_later, draw } = *point;
    if let Some(nth) = draw {
        return (number + 1 < choices).then(|| (Deviation::number(turn, nth, number + 1), 0));
    }
    // From another place at every turn, so that not always the same fiber comes first.
    let others = choices - 1;
    if number < others {
        let choice = (usual + 1 + (number + turn) % others) % choices;
        return Some((Deviation { turn, choice }, usize::from(is_preemption)));
    }
    let is_last = number == others && may_be_later;
    is_last.then_some((Deviation { turn, choice: Deviation::LATER }, 1))
}

impl Source for Enumeration {
    fn next(&mut self) -> Option<Planned> {
        let open = self.open()?;
        let open_faults = self.faults.clone();
        let course = Course { strategy: open.strategy(), seed: self.seed, open_faults, ..Course::default() };
        Some(Planned { course, search: Search::Exhaustive, open: Some(open) })
    }

    fn learn(&mut self, open: Option<Open>, execution: &mut Execution) {
        if let Some(open) = open {
            Enumeration::learn(self, open, execution);
        }
    }

    fn is_complete(&self) -> bool {
        self.is_over && self.is_sound
    }

    fn is_broken_off(&self) -> bool {
        self.is_broken_off
    }

    fn orders(&self) -> Option<u64> {
        let pass = self.pass.as_ref().filter(|_| self.is_complete())?;
        Some(pass.old + pass.new)
    }
}
