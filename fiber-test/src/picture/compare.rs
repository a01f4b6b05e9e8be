//! Two traces side by side: each fiber in the same column, and the places where the schedules differ.

use std::collections::{BTreeMap, VecDeque};

use super::arrows::{self, Arrow};
use super::columns::Column;
use super::input::Picture;
use super::life::{self, Life};
use super::words;
use crate::primitive::Site;
use crate::trace::{Lane, Trace, Turn};

/// The number of turns that are drawn; of a longer trace, the last ones.
pub(super) const MOST_TURNS: usize = 2_000;

/// One of the traces, prepared for drawing.
pub(super) struct View<'a> {
    pub(super) trace: &'a Trace,
    /// The turns before this one are left out.
    pub(super) first: usize,
    /// The column of each lane; `None` if the lane had ended before `first`.
    pub(super) columns: Vec<Option<usize>>,
    /// The column of turns that belong to no fiber.
    pub(super) outside: Option<usize>,
    /// The two turns whose order differs, in the failing trace's order.
    pub(super) pair: [Option<usize>; 2],
    /// The first turn that differs between the traces.
    pub(super) parting: Option<usize>,
    pub(super) arrows: Vec<Vec<Arrow>>,
    pub(super) lives: Vec<Life>,
}

impl<'a> View<'a> {
    fn of(trace: &'a Trace) -> Self {
        let arrows = arrows::of_turns(trace);
        let lives = life::of_lanes(trace, &arrows);
        let first = trace.turns().len().saturating_sub(MOST_TURNS);
        let columns = vec![None; trace.lanes().len()];
        View { trace, first, columns, outside: None, pair: [None; 2], parting: None, arrows, lives }
    }

    /// The turns that are drawn, with their indices.
    pub(super) fn turns(&self) -> impl DoubleEndedIterator<Item = (usize, &'a Turn)> + use<'a> {
        self.trace.turns().iter().enumerate().skip(self.first)
    }

    /// The column of a turn.
    pub(super) fn column(&self, turn: &Turn) -> Option<usize> {
        match turn.lane {
            Some(lane) => self.columns.get(lane).copied().flatten(),
            None => self.outside,
        }
    }

    /// The letter of a turn whose place differs.
    pub(super) fn letter(&self, turn: usize) -> Option<&'static str> {
        let [a, b] = self.pair;
        [(a, "A"), (b, "B")]
            .into_iter()
            .find_map(|(of_pair, letter)| (of_pair == Some(turn)).then_some(letter))
    }

    /// Whether any of the lane is visible.
    pub(super) fn shows(&self, lane: usize) -> bool {
        let life = &self.lives[lane];
        life.open.is_some() || life.last.is_some_and(|last| last >= self.first)
    }

    /// The two turns whose order decides, if they are known.
    pub(super) fn pair_in_words(&self) -> Option<[String; 2]> {
        let [Some(earlier), Some(later)] = self.pair else { return None };
        Some([earlier, later].map(|turn| words::in_short(self.trace, &self.trace.turns()[turn])))
    }

    fn has_outside(&self) -> bool {
        self.turns().any(|(_, turn)| turn.lane.is_none())
    }
}

/// The columns, and the traces that are drawn in them.
pub(super) struct Comparison<'a> {
    pub(super) columns: Vec<Column<'a>>,
    pub(super) failing: View<'a>,
    pub(super) passing: Option<View<'a>>,
}

impl<'a> Comparison<'a> {
    pub(super) fn of(picture: &Picture<'a>) -> Self {
        let mut failing = View::of(picture.failing);
        let mut passing = picture.passing.map(View::of);
        let columns = assign(&mut failing, passing.as_mut());
        mark_pair(&mut failing, passing.as_mut(), picture.pair);
        if let Some(passing) = &mut passing {
            let parting = parting(failing.trace, passing.trace);
            (failing.parting, passing.parting) = (parting, parting);
        }
        Comparison { columns, failing, passing }
    }

    /// The conclusion from the pair, as far as known.
    pub(super) fn moral(&self) -> &'static str {
        if self.passing.is_some() { "The other way round, it passes." } else { "" }
    }
}

/// The failing trace's lanes in order, then those that occur only in the passing one.
fn assign<'a>(failing: &mut View<'a>, passing: Option<&mut View<'a>>) -> Vec<Column<'a>> {
    let mut views: Vec<&mut View<'a>> = vec![failing];
    views.extend(passing);
    let mut columns = Vec::new();
    if views.iter().any(|view| view.has_outside()) {
        columns.push(Column::Outside);
        views.iter_mut().for_each(|view| view.outside = Some(0));
    }
    let keys: Vec<Vec<LaneKey<'a>>> = views.iter().map(|view| lane_keys(view.trace)).collect();
    let mut places = BTreeMap::new();
    for (view, keys) in views.iter().zip(&keys) {
        for (lane, key) in keys.iter().enumerate().filter(|(lane, _)| view.shows(*lane)) {
            places.entry(*key).or_insert_with(|| {
                columns.push(Column::Fiber(&view.trace.lanes()[lane]));
                columns.len() - 1
            });
        }
    }
    for (view, keys) in views.iter_mut().zip(&keys) {
        view.columns = keys.iter().map(|key| places.get(key).copied()).collect();
    }
    columns
}

/// Identifies a lane in two traces: its id, and its number among the lanes with that id.
type LaneKey<'a> = (&'a str, usize);

fn lane_keys(trace: &Trace) -> Vec<LaneKey<'_>> {
    let mut seen = BTreeMap::new();
    let key = |lane: &'_ Lane| -> usize {
        let count = seen.entry(lane.id.clone()).or_insert(0);
        *count += 1;
        *count
    };
    let counts: Vec<usize> = trace.lanes().iter().map(key).collect();
    trace.lanes().iter().map(|lane| lane.id.as_str()).zip(counts).collect()
}

/// Identifies a turn in two traces, except for repetitions: its fiber, its operator, and its place.
type TurnKey<'a> = (Option<&'a str>, &'static str, Option<Site>);

fn turn_key<'a>(trace: &'a Trace, turn: &Turn) -> TurnKey<'a> {
    let lane = turn.lane.and_then(|lane| trace.lanes().get(lane));
    (lane.map(|lane| lane.id.as_str()), turn.operator, turn.site)
}

/// For each turn of `trace`, the corresponding one of `other`: the same fiber at the same operator, with the same number of
/// repetitions.
pub(super) fn twins(trace: &Trace, other: &Trace) -> Vec<Option<usize>> {
    let mut indices: BTreeMap<TurnKey<'_>, VecDeque<usize>> = BTreeMap::new();
    for (index, turn) in other.turns().iter().enumerate() {
        indices.entry(turn_key(other, turn)).or_default().push_back(index);
    }
    let twin = |turn| indices.get_mut(&turn_key(trace, turn)).and_then(VecDeque::pop_front);
    trace.turns().iter().map(twin).collect()
}

fn mark_pair(failing: &mut View<'_>, passing: Option<&mut View<'_>>, pair: Option<(usize, usize)>) {
    let Some((earlier, later)) = pair else { return };
    let known = |turn: usize| (turn < failing.trace.turns().len()).then_some(turn);
    failing.pair = [known(earlier), known(later)];
    if let Some(passing) = passing {
        let twins = twins(failing.trace, passing.trace);
        passing.pair = failing.pair.map(|turn| twins[turn?]);
    }
}

fn parting(failing: &Trace, passing: &Trace) -> Option<usize> {
    let both = failing.turns().iter().zip(passing.turns());
    let same = both.take_while(|(a, b)| turn_key(failing, a) == turn_key(passing, b)).count();
    (same < failing.turns().len().max(passing.turns().len())).then_some(same)
}
