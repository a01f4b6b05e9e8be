//! The pairs of steps that an exploration has seen in one order only.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::primitive::Site;
use crate::trace::{Effect, Trace};

/// The number of turns of a run that are examined: all of a program that is worth enumerating.
const MAX_TURNS: usize = 200;

/// The number of different steps that are distinguished, with their pairs: a few megabytes.
const MAX_STEPS: usize = 500;

/// Two steps of different fibers that an exploration has seen in one order only, although nothing in the program forced that
/// order in these runs: see [`Explore::pairs`](crate::Explore::pairs).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneWay {
    /// The step that always came first, such as `fiber 0.0.0, bind at src/bank.rs:12`.
    pub first: String,
    /// The step that always came second.
    pub second: String,
}

impl fmt::Display for OneWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} always before {}", self.first, self.second)
    }
}

/// The pairs of all runs so far.
#[derive(Default)]
pub(crate) struct Pairs {
    numbers: BTreeMap<Step, usize>,
    names: Vec<String>,
    /// The first came before the second in some run.
    seen: BTreeSet<(usize, usize)>,
    /// In some run, neither had to come before the other; the smaller number first.
    free: BTreeSet<(usize, usize)>,
}

/// The step of a fiber from one place on, for the nth time.
type Step = (String, &'static str, Option<Site>, usize);

impl Pairs {
    pub(crate) fn add(&mut self, trace: &Trace) {
        let turns = &trace.turns[..trace.turns.len().min(MAX_TURNS)];
        let mut times: BTreeMap<(usize, &str, Option<Site>), usize> = BTreeMap::new();
        let mut last_of_lane: BTreeMap<usize, usize> = BTreeMap::new();
        let (mut causes, mut ended) = (Vec::<Causes>::new(), Vec::new());
        let mut steps: Vec<Option<(usize, usize)>> = Vec::new();
        for (number, turn) in turns.iter().enumerate() {
            let before = turn.lane.and_then(|lane| last_of_lane.insert(lane, number));
            // Children that have ended count as awaited: most are, and for the others it is not known that they are not.
            let is_child = |lane: &&usize| trace.lanes[**lane].parent == turn.lane && turn.lane.is_some();
            let children = ended.iter().filter(is_child).filter_map(|lane| last_of_lane.get(lane));
            let direct = before.into_iter().chain(turn.since).chain(children.copied());
            causes.push(Causes::of(&causes, direct));
            ended.extend(turn.effects.iter().filter_map(|effect| match effect {
                Effect::End(lane, _) => Some(*lane),
                _ => None,
            }));
            let step = turn.lane.and_then(|lane| {
                let nth = times.entry((lane, turn.operator, turn.site)).or_default();
                *nth += 1;
                let step = (trace.lanes[lane].id.clone(), turn.operator, turn.site, *nth);
                Some((self.number(step)?, lane))
            });
            for (earlier, other) in steps.iter().enumerate() {
                if let (Some((first, lane_of_first)), Some((second, lane))) = (other, step)
                    && *lane_of_first != lane
                {
                    self.seen.insert((*first, second));
                    if !causes[number].has(earlier) {
                        self.free.insert((second.min(*first), second.max(*first)));
                    }
                }
            }
            steps.push(step);
        }
    }

    fn number(&mut self, step: Step) -> Option<usize> {
        let next = self.names.len();
        if next == MAX_STEPS && !self.numbers.contains_key(&step) {
            return None;
        }
        let names = &mut self.names;
        Some(*self.numbers.entry(step).or_insert_with_key(|(fiber, operator, site, nth)| {
            let place = site.map_or_else(String::new, |site| format!(" at {}:{}", site.file(), site.line()));
            let nth = if *nth == 1 { String::new() } else { format!(" (time {nth})") };
            names.push(format!("fiber {fiber}, {operator}{place}{nth}"));
            next
        }))
    }

    /// The pairs that were seen in one order only.
    pub(crate) fn one_way(&self) -> Vec<OneWay> {
        let one_way = self.free.iter().filter_map(|(one, other)| {
            let (first, second) =
                match (self.seen.contains(&(*one, *other)), self.seen.contains(&(*other, *one))) {
                    (true, false) => (one, other),
                    (false, true) => (other, one),
                    _ => return None,
                };
            Some(OneWay { first: self.names[*first].clone(), second: self.names[*second].clone() })
        });
        one_way.collect()
    }
}

/// The turns that had to come before a turn: those of its fiber and of its children that have ended, the one that made it possible, and what had
/// to come before them.
#[derive(Clone, Copy, Default)]
struct Causes([u64; MAX_TURNS.div_ceil(64)]);

impl Causes {
    fn of(all: &[Causes], direct: impl Iterator<Item = usize>) -> Self {
        let mut causes = Causes::default();
        for turn in direct.filter(|turn| *turn < all.len()) {
            causes.0.iter_mut().zip(all[turn].0).for_each(|(word, other)| *word |= other);
            causes.0[turn / 64] |= 1 << (turn % 64);
        }
        causes
    }

    fn has(&self, turn: usize) -> bool {
        self.0[turn / 64] & (1 << (turn % 64)) != 0
    }
}
