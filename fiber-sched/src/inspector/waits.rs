//! Which fibers wait for each other in a circle.
//!
//! A fiber that waits for a lock waits for its holders; one that joins another waits for that one; and so on. Not every fiber on a circle
//! is stuck: one of several holders of permits may release its own. So the search covers only the fibers that no event from outside can
//! free, those that do not *go on*:
//!
//! | waits for | goes on if |
//! |---|---|
//! | an event from outside, or nothing | always |
//! | the end of another fiber, or of all its branches | all of them go on |
//! | the first of its branches | one of them goes on |
//! | a lock or permits | enough are free without those that fibers hold that do not go on |

use std::collections::HashSet;

use fiber_core::DumpedState;
use fiber_core::scheduler::WaitsFor;

use super::sample::{Primitive, Row};

/// The operators that end with the first of their branches.
const RACES: [&str; 6] = ["race", "race_all", "race_with", "first_success", "first_successes", "hedge"];

/// More passes mean a graph that was made to be slow; nothing is found in it.
const MOST_PASSES: usize = 100;

/// A fiber of a circle, and why it waits for the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Link {
    /// The position of the fiber in the dump.
    pub(super) from: usize,
    pub(super) why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Why {
    End,
    Branch,
    Part,
    /// It holds the primitive at which the other one waits.
    Holds,
}

/// The circles, and the fibers that only wait for those in a circle.
pub(super) struct Circles {
    pub(super) all: Vec<Vec<Link>>,
    pub(super) behind: HashSet<usize>,
}

struct Graph<'a> {
    rows: &'a [Row<'a>],
    primitives: &'a [Primitive],
    /// The rows directly below each row.
    below: Vec<Vec<usize>>,
}

/// The fibers that are known to go on, and what the others hold.
struct Search {
    go_on: Vec<bool>,
    /// For each row, the primitives that it holds, with the numbers of permits.
    holdings: Vec<Vec<(usize, usize)>>,
    /// The permits of each primitive that are held by fibers that are not known to go on.
    held: Vec<usize>,
}

pub(super) fn circles(rows: &[Row<'_>], primitives: &[Primitive]) -> Circles {
    let mut below = vec![Vec::new(); rows.len()];
    for (at, row) in rows.iter().enumerate() {
        if let Some(above) = row.fiber.above() {
            below[above.position()].push(at);
        }
    }
    let graph = Graph { rows, primitives, below };
    let goes_on = graph.go_on();
    let all = graph.circles(&goes_on);
    let mut behind: HashSet<usize> = (0..rows.len()).filter(|at| !goes_on[*at]).collect();
    all.iter().flatten().for_each(|link| _ = behind.remove(&link.from));
    Circles { all, behind }
}

impl Search {
    fn new(rows: usize, primitives: &[Primitive]) -> Self {
        let mut holdings = vec![Vec::new(); rows];
        let mut held = vec![0_usize; primitives.len()];
        for (place, primitive) in primitives.iter().enumerate() {
            for (row, permits) in primitive.holders.iter().filter_map(|one| Some((one.row?, one.permits))) {
                holdings[row].push((place, permits));
                held[place] += permits;
            }
        }
        Search { go_on: vec![false; rows], holdings, held }
    }

    fn goes_on(&mut self, at: usize) {
        self.go_on[at] = true;
        for (primitive, permits) in &self.holdings[at] {
            self.held[*primitive] -= permits;
        }
    }
}

impl Graph<'_> {
    /// The first fiber for which a fiber waits and that does not go on, as far as known.
    fn next(&self, at: usize, go_on: &[bool]) -> Option<(Why, usize)> {
        let stuck = |row: &usize| !go_on[*row];
        let (why, row) = match self.rows[at].fiber.state() {
            DumpedState::InPart(part) => (Why::Part, Some(part.position()).filter(stuck)),
            DumpedState::Waiting { on: Some(on), .. } => (Why::End, Some(on.position()).filter(stuck)),
            DumpedState::Waiting { what: WaitsFor::Children, .. } => {
                (Why::Branch, self.below[at].iter().copied().find(stuck))
            }
            _ => {
                let (primitive, _) = self.wanted(at)?;
                let mut holders = self.primitives[primitive].holders.iter().filter_map(|holder| holder.row);
                (Why::Holds, holders.find(stuck))
            }
        };
        row.map(|row| (why, row))
    }

    /// The lock or permits for which a fiber waits, and how many.
    fn wanted(&self, at: usize) -> Option<(usize, usize)> {
        let row = &self.rows[at];
        let is_held = row.waits_for().is_some_and(|what| matches!(what, WaitsFor::Lock | WaitsFor::Permits));
        is_held.then_some((row.primitive?, row.asks()))
    }

    fn go_on(&self) -> Vec<bool> {
        let mut search = Search::new(self.rows.len(), self.primitives);
        for _ in 0..MOST_PASSES {
            let mut has_changed = false;
            // An awaited fiber is usually below, so its row is further down.
            for at in (0..self.rows.len()).rev().chain(0..self.rows.len()) {
                if !search.go_on[at] && self.goes_on(at, &search) {
                    search.goes_on(at);
                    has_changed = true;
                }
            }
            if !has_changed {
                return search.go_on;
            }
        }
        vec![true; self.rows.len()]
    }

    fn goes_on(&self, at: usize, search: &Search) -> bool {
        let fiber = &self.rows[at].fiber;
        let below = || self.below[at].iter().map(|branch| search.go_on[*branch]);
        match fiber.state() {
            DumpedState::InPart(part) => search.go_on[part.position()],
            DumpedState::Waiting { on: Some(on), .. } => search.go_on[on.position()],
            DumpedState::Waiting { what: WaitsFor::Children, .. } => {
                let is_race = fiber.is_structure() && fiber.name().is_some_and(|name| RACES.contains(&name));
                if is_race { below().any(|goes_on| goes_on) } else { below().all(|goes_on| goes_on) }
            }
            _ => self.wanted(at).is_none_or(|(primitive, asks)| {
                let total = self.primitives[primitive].subject.total();
                asks <= total.saturating_sub(search.held[primitive])
            }),
        }
    }

    /// Follows one link of each fiber that does not go on: such a way ends in a circle.
    fn circles(&self, goes_on: &[bool]) -> Vec<Vec<Link>> {
        let (mut is_done, mut circles) = (goes_on.to_vec(), Vec::new());
        for start in 0..is_done.len() {
            let (mut way, mut at) = (Vec::<Link>::new(), start);
            while !is_done[at] {
                is_done[at] = true;
                let Some((why, to)) = self.next(at, goes_on) else { break };
                way.push(Link { from: at, why });
                at = to;
            }
            if let Some(begin) = way.iter().position(|link| link.from == at) {
                circles.push(beginning_first(way.split_off(begin)));
            }
        }
        circles
    }
}

/// The same circle, starting at the fiber with the smallest id.
fn beginning_first(mut circle: Vec<Link>) -> Vec<Link> {
    let first = circle.iter().enumerate().min_by_key(|(_, link)| link.from).map_or(0, |(at, _)| at);
    circle.rotate_left(first);
    circle
}
